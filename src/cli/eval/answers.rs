//! `horchunk eval answers`: which selector, and how much is lost by reading chunk by chunk?

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use horchunk::TokenCounter;
use horchunk::answer::Selector;
use horchunk::evaluation::{AnswerEvaluation, AnswerEvaluator, AnswerFormat, AnswerReport, AnswerSet, Stamp};
use indicatif::{ProgressBar, ProgressStyle};

use super::tables::{Sheets, TableArgs};
use crate::cli::answer::reader::{CrossEncoderArgs, ReaderArgs, SelectorName};
use crate::cli::answer::say_cost;
use crate::cli::cache::{CacheArgs, say_failure};
use crate::cli::chunk::cut::{Cut, CutArgs};
use crate::cli::interrupt;
use crate::cli::settings::{ChatArgs, ModelArgs};
use crate::cli::{Failures, Outcome, Talk, Usage, plural};

/// Words of `horchunk eval answers`.
#[derive(Debug, clap::Args)]
pub(super) struct AnswersArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Select by (repeatable) [default: all that need no model of their own; first is always there, to compare with]
    #[arg(long, value_name = "SELECTOR")]
    selector: Vec<SelectorName>,
    #[command(flatten)]
    cross_encoder: CrossEncoderArgs,
    /// Have documents of at most so many tokens read whole, too; without a number those that the model of --for-model
    /// takes, or all
    #[arg(long, value_name = "TOKENS", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "a flag that may have a number")]
    whole: Option<Option<usize>>,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    read: ReaderArgs,
    #[command(flatten)]
    cut: CutArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Which questions.
#[derive(Debug, clap::Args)]
struct DataArgs {
    /// A file of questions: SQuAD, Natural Questions (simplified), TriviaQA, HotpotQA (distractor), or the form of
    /// eval/answers/questions.jsonl [default: the set inside]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// What that file is: questions, squad, natural-questions, triviaqa or hotpotqa [default: by its content]
    #[arg(long, value_name = "FORMAT", requires = "data")]
    data_format: Option<AnswerFormat>,
    /// The folder with wikipedia/ and web/ that TriviaQA names files of [default: ../evidence beside the file's folder]
    #[arg(long, value_name = "DIR", requires = "data")]
    evidence: Option<PathBuf>,
    /// Only questions to documents of at least N tokens
    #[arg(long, value_name = "N")]
    min_document_tokens: Option<usize>,
    /// Only N questions, drawn by chance
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroUsize>,
    /// Draw others
    #[arg(long, value_name = "N", default_value = "0", requires = "sample")]
    seed: u64,
}

/// Runs `horchunk eval answers`.
pub(super) fn run(args: &AnswersArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let (words, prices) = (args.read.words()?, args.read.prices()?);
    let plan = args.cut.plan()?;
    let model_budget = plan.model_budget();
    let mut failures = Failures::default();
    let set = args.data.load(&mut failures)?;
    let cut = plan.open(args.model.load(talk)?, talk)?;
    let cache = args.cache.open();
    let reader = args.read.open(&args.chat, cache.clone(), &args.model, talk)?;
    let chunker = cut.chunker(&args.chat)?;
    let set = args.data.filtered(set, cut.counter.as_deref())?;
    if set.questions.is_empty() {
        bail!("no question is left to put");
    }
    let cross_encoder = || args.cross_encoder.load(&args.model, talk);
    let selectors = args.selectors().into_iter().map(|name| name.open(words, &cut.model, cross_encoder));
    let selectors: Vec<Box<dyn Selector>> = selectors.collect::<anyhow::Result<_>>()?;
    let mut evaluator = AnswerEvaluator::new(&set, &chunker, &reader);
    for selector in &selectors {
        evaluator = evaluator.with_selector(selector);
    }
    if let Some(budget) = args.whole {
        let counter = cut.counter.as_deref();
        let counter =
            counter.ok_or_else(|| Usage("--whole: documents must be counted, not by --tokens none".into()))?;
        evaluator = evaluator.with_whole(counter, budget.or(model_budget).unwrap_or(usize::MAX));
    }
    let mut out = args.tables.open(args.data.files())?;
    let bar = progress(talk, set.questions.len());
    let evaluation = evaluator.run(|done| {
        bar.set_position(done as u64);
        if interrupt::check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    interrupt::check()?;
    let AnswerEvaluation { questions, .. } = &evaluation;
    let usage = questions.iter().map(|answered| answered.usage).sum();
    let report = AnswerReport::new(stamp(&set, &cut), &set, &evaluation);
    for failure in evaluation.failures {
        failures.add(&failure.into());
    }
    if report.reading.questions == 0 {
        return Ok(failures.outcome());
    }
    let sheets = Sheets {
        tables: vec![report.table(), report.times_table()],
        legend: report.legend(),
        records: report.records(),
    };
    args.tables.write(&mut out, &report, &sheets)?;
    out.finish()?;
    say_failure(cache.as_deref());
    if !talk.quiet {
        say_cost(usage, prices);
    }
    Ok(failures.outcome())
}

impl AnswersArgs {
    /// Those that compete with `first`.
    fn selectors(&self) -> Vec<SelectorName> {
        const ALL: [SelectorName; 4] =
            [SelectorName::Confidence, SelectorName::Bm25, SelectorName::Tfidf, SelectorName::Embedding];
        if self.selector.is_empty() {
            return ALL.to_vec();
        }
        let mut taken = vec![SelectorName::First];
        for &name in &self.selector {
            if !taken.contains(&name) {
                taken.push(name);
            }
        }
        taken.split_off(1)
    }
}

impl DataArgs {
    /// The set. Broken records are reported.
    fn load(&self, failures: &mut Failures) -> anyhow::Result<AnswerSet> {
        let Some(path) = &self.data else { return Ok(AnswerSet::own()) };
        let loaded = AnswerSet::load(path, self.data_format, self.evidence.as_deref()).context("--data")?;
        for broken in &loaded.broken {
            failures.add(&anyhow::anyhow!("{broken}"));
        }
        Ok(loaded.set)
    }

    fn filtered(&self, mut set: AnswerSet, counter: Option<&dyn TokenCounter>) -> anyhow::Result<AnswerSet> {
        if let Some(least) = self.min_document_tokens {
            let none = || Usage("--min-document-tokens: not by --tokens none".to_owned());
            set = set.with_min_tokens(counter.ok_or_else(none)?, least)?;
        }
        Ok(match self.sample {
            Some(most) => set.sampled(most.get(), self.seed),
            None => set,
        })
    }

    /// What may not be written over.
    fn files(&self) -> HashSet<PathBuf> {
        self.data.iter().filter_map(|path| path.canonicalize().ok()).collect()
    }
}

fn stamp(set: &AnswerSet, cut: &Cut<'_>) -> Stamp {
    let unanswerable = set.questions.iter().filter(|question| question.answers.is_empty()).count();
    let mut settings = vec![("chunker".to_owned(), cut.spec.to_string())];
    settings.extend(cut.described().others.into_iter().filter(|(name, _)| name != "chunker" && name != "model"));
    let model = cut.model.info();
    Stamp {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: model.name.clone(),
        device: model.device.to_string(),
        dataset: set.name.clone(),
        size: format!(
            "{}, {}, {unanswerable} of them without an answer",
            plural(set.documents.len(), "document"),
            plural(set.questions.len(), "question")
        ),
        settings,
    }
}

/// A bar over the questions.
fn progress(talk: Talk, questions: usize) -> ProgressBar {
    if talk.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:32} question {pos} of {len} {elapsed} {eta}");
    ProgressBar::new(questions as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
