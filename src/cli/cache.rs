//! Chunks and replies of language models that are remembered: `--no-cache`, and `horchunk cache`.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use horchunk::cache::Cache;
use serde::Serialize;

use super::{Outcome, Usage, causes, say};

/// The environment variable that names the folder.
const FOLDER: &str = "HORCHUNK_CACHE";

/// Whether what was paid for is remembered.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Cache")]
pub(super) struct CacheArgs {
    /// Cut texts and ask the language model again, whatever was done before; nothing is remembered
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// The cache, unless it is not wanted or there is no folder for it.
    pub(super) fn open(&self) -> Option<Arc<Cache>> {
        folder().filter(|_| !self.no_cache).map(|folder| Arc::new(Cache::new(folder)))
    }
}

/// Says where something could not be remembered; the results are the same.
pub(super) fn say_failure(cache: Option<&Cache>) {
    if let Some(failure) = cache.and_then(Cache::failure) {
        say(format_args!("horchunk: results are not remembered: {}", causes(failure)));
    }
}

/// Words of `horchunk cache`.
#[derive(Debug, clap::Args)]
pub(super) struct CacheCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the folder (`HORCHUNK_CACHE`), the number of results in it and their size
    Stats {
        /// Write JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget all results
    Clear,
}

/// What `horchunk cache stats --json` writes; sizes in bytes.
#[derive(Serialize)]
struct Stats {
    folder: PathBuf,
    entries: u64,
    bytes: u64,
    limit: u64,
}

/// Runs `horchunk cache`.
pub(super) fn run(args: &CacheCommand) -> anyhow::Result<Outcome> {
    let folder = folder().ok_or_else(|| Usage(format!("there is no home folder for a cache: name one by {FOLDER}")))?;
    let cache = Cache::new(folder);
    let mut out = io::stdout().lock();
    match args.action {
        Action::Stats { json } => {
            let (stats, limit) = (cache.stats(), cache.limit());
            if json {
                let folder = cache.folder().to_owned();
                let stats = Stats { folder, entries: stats.entries, bytes: stats.bytes, limit };
                writeln!(out, "{}", serde_json::to_string(&stats)?)?;
            } else {
                writeln!(out, "folder   {}", cache.folder().display())?;
                writeln!(out, "entries  {}", stats.entries)?;
                writeln!(out, "bytes    {} of {limit}", stats.bytes)?;
            }
        }
        Action::Clear => {
            let cleared = cache.clear()?;
            writeln!(out, "{} entries removed, {} bytes", cleared.entries, cleared.bytes)?;
        }
    }
    Ok(Outcome::Done)
}

/// The folder that the environment names, or else the program's in the user's cache.
fn folder() -> Option<PathBuf> {
    let named = env::var_os(FOLDER).filter(|name| !name.is_empty()).map(PathBuf::from);
    named.or_else(|| dirs::cache_dir().map(|cache| cache.join("horchunk")))
}
