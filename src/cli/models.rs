//! `horchunk models`: which embedding models are at hand, where, how large, and whether they are what they should be.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Subcommand;
use horchunk::{CachedModel, HubSettings, SentenceTransformer, cached_models, verify_bundled};
use serde::Serialize;

use super::{Outcome, Talk, report};

/// Words of `horchunk models`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum Action {
    /// Compare the files with their checksums
    Verify,
}

/// A model at hand.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// `bundled`, or the folder of the cache.
    place: PathBuf,
    bytes: u64,
}

/// Runs `horchunk models`.
pub(super) fn run(args: &ModelsArgs, _talk: Talk) -> anyhow::Result<Outcome> {
    let cached = cached_models(&HubSettings::from_env())?;
    match args.action {
        None => list(&cached, args.json),
        Some(Action::Verify) => verify(&cached),
    }
}

fn list(cached: &[CachedModel], json: bool) -> anyhow::Result<Outcome> {
    let bundled = SentenceTransformer::bundled()?;
    let info = bundled.info();
    let mut rows = vec![Row { name: info.name.clone(), place: "bundled".into(), bytes: info.bytes as u64 }];
    rows.extend(cached.iter().map(|model| Row {
        name: model.id.to_string(),
        place: model.folder.clone(),
        bytes: model.bytes,
    }));
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &rows).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &rows {
        let megabytes = row.bytes.div_ceil(100_000);
        writeln!(out, "{:width$}  {:>5}.{} MB  {}", row.name, megabytes / 10, megabytes % 10, row.place.display())?;
    }
    Ok(Outcome::Done)
}

fn verify(cached: &[CachedModel]) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    let mut out = io::stdout().lock();
    let bundled = std::iter::once(("bundled".to_owned(), verify_bundled()));
    let cached = cached.iter().map(|model| (model.id.to_string(), model.verify()));
    for (name, result) in bundled.chain(cached) {
        match result {
            Ok(()) => writeln!(out, "{name}: ok")?,
            Err(error) => {
                report(&anyhow::Error::new(error).context(name));
                outcome = Outcome::SomeFailed;
            }
        }
    }
    Ok(outcome)
}
