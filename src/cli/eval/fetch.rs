//! `horchunk eval fetch`: the public benchmark, once, checked.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;

use horchunk::evaluation::{BENCHMARK_URL, fetch_benchmark};

use crate::cli::{Outcome, Talk, plural, say};

/// Words of `horchunk eval fetch`.
#[derive(Debug, clap::Args)]
pub(super) struct FetchArgs {
    /// The folder to put it in [default: horchunk/chunking-evaluation in the user's cache, which --data public names]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Another place to fetch it from
    #[arg(long, value_name = "URL", default_value = BENCHMARK_URL, hide_default_value = true)]
    url: String,
}

/// Where the benchmark is put and looked for: below `XDG_CACHE_HOME` or `~/.cache`.
pub(super) fn folder() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".cache"));
    cache.join("horchunk").join("chunking-evaluation")
}

/// Runs `horchunk eval fetch`.
pub(super) fn run(args: &FetchArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let folder = args.to.clone().unwrap_or_else(folder);
    let fetched = fetch_benchmark(&args.url, &folder, |name| {
        if !talk.quiet {
            say(format_args!("fetching {name}"));
        }
    })?;
    if !talk.quiet {
        let how = if fetched == 0 {
            "all files were there".to_owned()
        } else {
            format!("{} fetched", plural(fetched, "file"))
        };
        say(format_args!("{how}; score on it with: horchunk eval --data {}", folder.display()));
    }
    writeln!(io::stdout(), "{}", folder.display())?;
    Ok(Outcome::Done)
}
