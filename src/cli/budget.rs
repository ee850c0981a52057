//! `horchunk budget`: which language models a text fits into.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context;
use horchunk::{BudgetChunker, Chunker, Llm, TokenCounter};
use serde::Serialize;

use super::for_model::{self, BudgetArgs};
use super::input::InputArgs;
use super::settings::CounterName;
use super::words::Harmless;
use super::{Failures, Outcome, Talk, Usage, plural};

/// Words of `horchunk budget`.
#[derive(Debug, clap::Args)]
pub(super) struct BudgetCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Every model that is known, not only the one of each provider that takes most
    #[arg(long, conflicts_with = "for_model")]
    all_models: bool,
    /// Count by this tokenizer.json (or the folder or Hugging Face id that has it) for the model of --for-model
    #[arg(long, value_name = "COUNTER", requires = "for_model")]
    tokens: Option<CounterName>,
    /// Write one JSON object a document and model
    #[arg(long)]
    json: bool,
}

/// How a document fits a model.
#[derive(Debug, Serialize)]
struct Row<'a> {
    model: &'a str,
    provider: &'a str,
    context: usize,
    reserve: usize,
    tokens: usize,
    token_counter: &'a str,
    tokens_estimated: bool,
    /// Chunks that the text is cut into; 1 where it fits whole.
    chunks: usize,
    fits: bool,
}

/// Runs `horchunk budget`.
pub(super) fn run(args: &BudgetCommand, talk: Talk) -> anyhow::Result<Outcome> {
    let registry = args.budget.known.registry()?;
    let models: Vec<Llm> = match &args.budget.for_model {
        Some(name) => vec![registry.find(name).map_err(|error| Usage(format!("--for-model: {error}")))?.clone()],
        None if args.all_models => registry.models().cloned().collect(),
        None => largest_of_each(registry.models()),
    };
    // Of one model a stand-in must be allowed; of many it is shown beside its row.
    let allow_proxy = args.budget.known.allow_proxy || args.budget.for_model.is_none();
    let mut counters: Vec<(Llm, usize, Arc<dyn TokenCounter>)> = Vec::new();
    for model in models {
        let budget = model.budget(args.budget.reserve).map_err(|error| Usage(error.to_string()))?;
        let counter = match &args.tokens {
            Some(tokens) => {
                let bundled = || Ok(horchunk::SentenceTransformer::bundled()?);
                let counter = tokens.load(bundled, talk)?;
                counter.ok_or_else(|| Usage("--tokens none: tokens must be counted".to_owned()))?
            }
            None => for_model::counter(&registry, &model, allow_proxy)?,
        };
        counters.push((model, budget, counter));
    }
    let mut out = io::stdout().lock();
    let mut failures = Failures::default();
    for document in args.input.open(None)?.documents() {
        let rows = document.and_then(|document| {
            let rows = rows(&document.text, &counters, args.budget.reserve).with_context(|| document.name.clone())?;
            Ok((document.name, rows))
        });
        match rows {
            Ok((name, rows)) if args.json => {
                for row in rows {
                    serde_json::to_writer(&mut out, &Named { document: &name, row }).map_err(io::Error::from)?;
                    writeln!(out)?;
                }
            }
            Ok((name, rows)) => table(&mut out, &name, &rows)?,
            Err(error) => failures.add(&error),
        }
    }
    Ok(failures.outcome())
}

/// A row with its document in front.
#[derive(Serialize)]
struct Named<'a> {
    document: &'a str,
    #[serde(flatten)]
    row: Row<'a>,
}

/// Of each provider the model that takes most.
fn largest_of_each<'a>(models: impl Iterator<Item = &'a Llm>) -> Vec<Llm> {
    let mut largest: BTreeMap<&str, &Llm> = BTreeMap::new();
    for model in models {
        let best = largest.entry(&model.provider).or_insert(model);
        if model.context > best.context {
            *best = model;
        }
    }
    largest.into_values().cloned().collect()
}

/// A row for each model. What two models have in common is counted once.
fn rows<'a>(
    text: &str,
    models: &'a [(Llm, usize, Arc<dyn TokenCounter>)],
    reserve: Option<usize>,
) -> anyhow::Result<Vec<Row<'a>>> {
    let mut tokens: HashMap<&str, usize> = HashMap::new();
    let mut chunks: HashMap<(&str, usize), usize> = HashMap::new();
    let row = |(model, budget, counter): &'a (Llm, usize, Arc<dyn TokenCounter>)| {
        let name = counter.name();
        let tokens = match tokens.get(name) {
            Some(&tokens) => tokens,
            None => *tokens.entry(name).or_insert(counter.count(text.trim())?),
        };
        let fits = tokens <= *budget;
        let chunks = match chunks.get(&(name, *budget)) {
            _ if fits => 1,
            Some(&chunks) => chunks,
            None => {
                let chunker = BudgetChunker::new(counter, *budget)?;
                *chunks.entry((name, *budget)).or_insert(chunker.chunk(text)?.len())
            }
        };
        Ok(Row {
            model: &model.id,
            provider: &model.provider,
            context: model.context,
            reserve: reserve.unwrap_or(model.reserve),
            tokens,
            token_counter: name,
            tokens_estimated: !counter.is_exact(),
            chunks,
            fits,
        })
    };
    models.iter().map(row).collect()
}

fn table(out: &mut impl Write, name: &str, rows: &[Row<'_>]) -> io::Result<()> {
    let width = rows.iter().map(|row| row.model.len()).max().unwrap_or(0);
    writeln!(out, "{}", Harmless(name))?;
    for row in rows {
        let about = if row.tokens_estimated { "~" } else { "" };
        let verdict = if row.fits { "fits whole: no need to chunk".to_owned() } else { plural(row.chunks, "chunk") };
        writeln!(
            out,
            "  {:width$}  {:>10} tokens of {:>8} - {:<6}  {verdict}",
            row.model,
            format!("{about}{}", row.tokens),
            row.context,
            row.reserve,
        )?;
    }
    Ok(())
}
