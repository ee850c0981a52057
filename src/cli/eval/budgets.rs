//! `horchunk eval budgets`: do chunks keep a language model's budget, and fill it?

use std::sync::Arc;

use horchunk::evaluation::{AnswerSet, BudgetReport, BudgetRow, Corpus, Cutter};
use horchunk::{SentenceTransformer, TokenCounter};

use super::tables::{Sheets, TableArgs};
use crate::cli::for_model::{self, RegistryArgs};
use crate::cli::input::InputArgs;
use crate::cli::interrupt;
use crate::cli::settings::CounterName;
use crate::cli::{Failures, Outcome, Talk, Usage};

/// Words of `horchunk eval budgets`.
///
/// Without a path the ten texts of the set inside are cut.
#[derive(Debug, clap::Args)]
pub(super) struct BudgetsArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Most tokens of a chunk (repeatable) [default: 256, 512, 1024, 2048; with --for-model the model's own]
    #[arg(long, value_name = "N")]
    budget: Vec<usize>,
    /// Count by (repeatable) [default: `o200k_base` and `cl100k_base` unless there is a --for-model]
    #[arg(long, value_name = "COUNTER")]
    tokens: Vec<CounterName>,
    /// Count as this language model does (repeatable)
    #[arg(long, value_name = "LLM")]
    for_model: Vec<String>,
    #[command(flatten)]
    known: RegistryArgs,
    #[command(flatten)]
    tables: TableArgs,
}

/// A counter with the budgets that are cut to.
struct Case {
    name: String,
    counter: Arc<dyn TokenCounter>,
    budgets: Vec<usize>,
}

/// Runs `horchunk eval budgets`.
pub(super) fn run(args: &BudgetsArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let cases = args.cases(talk)?;
    let mut failures = Failures::default();
    let mut files = std::collections::HashSet::new();
    let texts = if args.input.paths.is_empty() {
        AnswerSet::own().documents
    } else {
        let inputs = args.input.open(None)?;
        files = inputs.files();
        let documents = inputs.documents().filter_map(|read| read.map_err(|error| failures.add(&error)).ok());
        documents.map(|document| Corpus { id: document.name, text: document.text }).collect()
    };
    let mut out = args.tables.open(files)?;
    let mut rows = Vec::new();
    for Case { name, counter, budgets } in &cases {
        for &budget in budgets {
            for cutter in Cutter::ALL {
                interrupt::check()?;
                rows.push(BudgetRow::new(name, counter, budget, cutter, &texts)?);
            }
        }
    }
    let report = BudgetReport::new(texts.len(), rows);
    let sheets = Sheets { tables: vec![report.table()], legend: report.legend(), records: report.records() };
    args.tables.write(&mut out, &report, &sheets)?;
    out.finish()?;
    Ok(failures.outcome())
}

impl BudgetsArgs {
    fn cases(&self, talk: Talk) -> anyhow::Result<Vec<Case>> {
        const BUDGETS: [usize; 4] = [256, 512, 1024, 2048];
        if self.budget.contains(&0) {
            return Err(Usage("--budget 0: take at least one token".to_owned()).into());
        }
        let registry = self.known.registry()?;
        let mut cases = Vec::new();
        for name in &self.for_model {
            let usage = |error: horchunk::RegistryError| Usage(format!("--for-model {name}: {error}"));
            let model = registry.find(name).map_err(usage)?;
            let own =
                if self.budget.is_empty() { vec![model.budget(None).map_err(usage)?] } else { self.budget.clone() };
            let counter = for_model::counter(&registry, model, self.known.allow_proxy)?;
            cases.push(Case { name: model.id.clone(), counter, budgets: own });
        }
        let mut counters = self.tokens.clone();
        if counters.is_empty() && self.for_model.is_empty() {
            counters = ["o200k_base", "cl100k_base"].iter().filter_map(|name| name.parse().ok()).collect();
        }
        let budgets = if self.budget.is_empty() { BUDGETS.to_vec() } else { self.budget.clone() };
        for name in counters {
            let counter = name.load(|| Ok(SentenceTransformer::bundled()?), talk)?;
            let counter = counter.ok_or_else(|| Usage("--tokens none: tokens must be counted".to_owned()))?;
            cases.push(Case { name: name.to_string(), counter, budgets: budgets.clone() });
        }
        Ok(cases)
    }
}
