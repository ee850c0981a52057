//! `horchunk eval segments`: chunks against the sections that people marked.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::{Context, bail};
use horchunk::evaluation::{Moments, SegmentationScores, segmentation_scores, without_separators};
use horchunk::{Chunker, ChunkerParts, ChunkerSpec, SpecError, SplitterName};
use serde::Serialize;

use crate::cli::input::InputArgs;
use crate::cli::interrupt::{self, Interruptible};
use crate::cli::settings::{ChatArgs, CounterName, ModelArgs, at_threshold_of_model};
use crate::cli::{Failures, Outcome, Talk, Usage};

/// Words of `horchunk eval segments`.
#[derive(Debug, clap::Args)]
pub(super) struct SegmentsArgs {
    #[command(flatten)]
    input: InputArgs,
    /// A chunker with its settings, as in window:t=0.72,alpha=6 (repeatable)
    #[arg(long, value_name = "CHUNKER", default_value = "window", value_parser = words)]
    chunker: Vec<String>,
    /// The units that are counted
    #[arg(long, value_name = "SPLITTER", default_value_t)]
    sentences: SplitterName,
    /// Measure sizes by this counter
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
    /// Write one JSON record a text and chunker
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

/// The words of a chunker that there is.
fn words(words: &str) -> Result<String, SpecError> {
    words.parse::<ChunkerSpec>().map(|_| words.to_owned())
}

#[derive(Serialize)]
struct Record<'a> {
    document: &'a str,
    chunker: String,
    #[serde(flatten)]
    scores: SegmentationScores,
}

/// Runs `horchunk eval segments`.
pub(super) fn run(args: &SegmentsArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let inputs = args.input.open(None)?;
    let model = args.model.load(talk)?;
    let counter = args.tokens.load(|| Ok(model.clone()), talk)?;
    let counter = counter.ok_or_else(|| Usage("--tokens none: sizes must be counted".to_owned()))?;
    let splitter = args.sentences.splitter(Some(&counter))?;
    let threshold = model.info().threshold;
    let specs = args.chunker.iter().map(|words| at_threshold_of_model(words, threshold).parse());
    let specs: Vec<ChunkerSpec> = specs.collect::<Result<_, SpecError>>()?;
    let chat = if specs.contains(&ChunkerSpec::Llm) { args.chat.open()? } else { None };
    let parts = ChunkerParts::new(Interruptible(model), Arc::clone(&counter)).with_chat(chat);
    let build = |spec: &ChunkerSpec| spec.build(&parts).map_err(|error| Usage(format!("--chunker {spec}: {error}")));
    let chunkers = specs.iter().map(build).collect::<Result<Vec<_>, _>>()?;
    let mut scores: Vec<Vec<SegmentationScores>> = vec![Vec::new(); chunkers.len()];
    let mut failures = Failures::default();
    let mut out = io::stdout().lock();
    for document in inputs.documents() {
        let found = document.and_then(|document| {
            let (text, right) = without_separators(&document.text);
            if right.is_empty() {
                bail!("{}: no line of at least ten = parts it into sections", document.name);
            }
            let units = splitter.split(&text).with_context(|| document.name.clone())?;
            let score = |chunker: &dyn Chunker| {
                let chunks = chunker.chunk(&text).with_context(|| document.name.clone())?;
                // Where chunks overlap, the new one begins behind the one before.
                let cuts = chunks.windows(2).map(|pair| pair[1].span.start().max(pair[0].span.end()));
                let made: Vec<usize> = cuts.collect();
                Ok(segmentation_scores(&units, &right, &made))
            };
            Ok((
                document.name.clone(),
                chunkers.iter().map(|chunker| score(&**chunker)).collect::<anyhow::Result<Vec<_>>>()?,
            ))
        });
        match found {
            Err(error) => {
                interrupt::check()?;
                failures.add(&error);
            }
            Ok((name, found)) => {
                for ((all, scores), spec) in scores.iter_mut().zip(found).zip(&specs) {
                    if args.json {
                        let record = Record { document: &name, chunker: spec.to_string(), scores };
                        serde_json::to_writer(&mut out, &record).map_err(io::Error::from)?;
                        writeln!(out)?;
                    }
                    all.push(scores);
                }
            }
        }
    }
    if !args.json && scores.iter().any(|all| !all.is_empty()) {
        table(&mut out, &specs, &scores)?;
    }
    Ok(failures.outcome())
}

fn table(out: &mut impl Write, specs: &[ChunkerSpec], scores: &[Vec<SegmentationScores>]) -> io::Result<()> {
    let width = specs.iter().map(|spec| spec.to_string().len()).max().unwrap_or_default();
    writeln!(
        out,
        "{:width$}  {:>6}  {:>10}  {:>9}  {:>6}  {:>6}",
        "chunker", "Pk", "WindowDiff", "precision", "recall", "F1"
    )?;
    for (spec, all) in specs.iter().zip(scores) {
        let mean = |of: fn(&SegmentationScores) -> f64| Moments::of(all.iter().map(of)).mean * 100.0;
        writeln!(
            out,
            "{:width$}  {:>6.1}  {:>10.1}  {:>9.1}  {:>6.1}  {:>6.1}",
            spec.to_string(),
            mean(|scores| scores.pk),
            mean(|scores| scores.window_diff),
            mean(|scores| scores.precision),
            mean(|scores| scores.recall),
            mean(|scores| scores.f1)
        )?;
    }
    let texts = scores.first().map_or(0, Vec::len);
    writeln!(out, "\nmean over {texts} texts, percent; Pk and WindowDiff: less is better")
}
