//! `horchunk models`: which embedding models are at hand, where, how large, and whether they are what they should be;
//! and static ones made of others. `horchunk models llms`: which language models are known.

mod llms;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use horchunk::{
    CachedModel, DistillError, Distiller, HubSettings, Numbers, SentenceTransformer, cached_models, verify_bundled,
    verify_static,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::settings::ModelArgs;
use super::{Outcome, Talk, Usage, report, say};

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

#[derive(Debug, Subcommand)]
enum Action {
    /// Compare the files with their checksums
    Verify,
    /// Make a static model of an encoder: one vector a token, a thousand times as fast
    Distill(Box<DistillArgs>),
    /// Show the language models that are known: context, tokenizer, where the figures are from
    Llms(llms::LlmsArgs),
}

/// Words of `horchunk models distill`.
#[derive(Debug, clap::Args)]
struct DistillArgs {
    /// The folder to write: model.safetensors, tokenizer.json and config.json, as model2vec has them
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Dimensions, at most those of the model
    #[arg(long, value_name = "N", default_value_t = 256)]
    dimension: usize,
    /// Store numbers as i8, f16 or f32
    #[arg(long, value_name = "NUMBERS", default_value_t)]
    numbers: Numbers,
    /// The constant a in the weight a / (a + p) of a token of frequency p
    #[arg(long, value_name = "A", default_value = "1e-5")]
    frequency_constant: f64,
    /// A threshold to write down, which chunking with this model takes where none is given
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    threshold: Option<f32>,
    #[command(flatten)]
    model: ModelArgs,
}

/// A model at hand.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// `bundled`, `static`, or the folder of the cache.
    place: PathBuf,
    bytes: u64,
}

/// Runs `horchunk models`.
pub(super) fn run(args: &ModelsArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let cached = || cached_models(&HubSettings::from_env());
    match &args.action {
        None => list(&cached()?, args.json),
        Some(Action::Verify) => verify(&cached()?),
        Some(Action::Distill(args)) => args.run(talk),
        Some(Action::Llms(args)) => args.run(talk),
    }
}

impl DistillArgs {
    fn run(&self, talk: Talk) -> anyhow::Result<Outcome> {
        if !(self.frequency_constant.is_finite() && self.frequency_constant > 0.0) {
            return Err(Usage(format!("--frequency-constant {}: take a number over 0", self.frequency_constant)).into());
        }
        if let Some(threshold) = self.threshold.filter(|threshold| !(-1.0..=1.0).contains(threshold)) {
            return Err(Usage(format!("--threshold {threshold}: take a number from -1 to 1")).into());
        }
        if self.output.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            let folder = self.output.display();
            return Err(Usage(format!("{folder} holds something already: name a new folder for the model")).into());
        }
        let model = self.model.load(talk)?;
        let mut distiller = Distiller::new()
            .with_dimension(self.dimension)
            .with_numbers(self.numbers)
            .with_frequency_constant(self.frequency_constant);
        if let Some(threshold) = self.threshold {
            distiller = distiller.with_threshold(threshold);
        }
        let visible = !talk.quiet && io::stderr().is_terminal();
        let bar = if visible { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} tokens embedded {eta}") {
            bar.set_style(style);
        }
        let made = distiller.distill(&model, |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let made = made.map_err(|error| match error {
            DistillError::Dimension { .. } => Usage(format!("--dimension {}: {error}", self.dimension)).into(),
            error => anyhow::Error::new(error),
        })?;
        made.write(&self.output).with_context(|| format!("{} cannot be written", self.output.display()))?;
        if talk.verbose {
            let bytes: usize = made.files().iter().map(|(_, bytes)| bytes.len()).sum();
            say(format_args!("{}: {bytes} bytes", self.output.display()));
        }
        Ok(Outcome::Done)
    }
}

fn list(cached: &[CachedModel], json: bool) -> anyhow::Result<Outcome> {
    let mut rows = Vec::new();
    for (place, model) in
        [("bundled", SentenceTransformer::bundled()?), ("static", SentenceTransformer::bundled_static()?)]
    {
        let info = model.info();
        rows.push(Row { name: info.name.clone(), place: place.into(), bytes: info.bytes as u64 });
    }
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
    let bundled = [("bundled".to_owned(), verify_bundled()), ("static".to_owned(), verify_static())].into_iter();
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
