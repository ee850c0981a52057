//! `horchunk eval`: which chunker, which threshold, for this text?

mod answers;
mod budgets;
mod fetch;
mod fidelity;
mod make;
mod plan;
mod questions;
mod report;
mod segments;
mod tables;

use std::collections::HashSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Subcommand, ValueEnum};
use horchunk::evaluation::{Dataset, Evaluation, Evaluator, Mode, Report, Row, Scores, TopK, choose};
use horchunk::{ChunkerParts, ChunkerSpec, MemoEmbedder, ModelLoader, SentenceTransformer};
use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt::{self, Interruptible};
use super::output::{self, Output, Target};
use super::settings::{ChatArgs, CounterName, ModelArgs};
use super::{Failures, Outcome, Talk, Usage, plural, say};

use plan::Plan;
use report::draw;

/// Words of `horchunk eval`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct EvalArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Fetch the public benchmark
    Fetch(fetch::FetchArgs),
    /// Make a benchmark of your own texts, with a language model
    Make(Box<make::MakeArgs>),
    /// Compare chunks with the sections that people marked: Pk, `WindowDiff`, borders
    Segments(Box<segments::SegmentsArgs>),
    /// Score readers and selectors: exact match and F1 of the answers to questions
    Answers(Box<answers::AnswersArgs>),
    /// Hold budgets: how many chunks are too long for a model, and how full the others are
    Budgets(budgets::BudgetsArgs),
    /// Hold token counters against one of them, in many languages
    Fidelity(fidelity::FidelityArgs),
}

/// What to score, on what.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
struct RunArgs {
    /// A folder with `questions_df.csv` and corpora/*.md, or public: what eval fetch fetched [default: the benchmark
    /// inside]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A chunker with its settings, as in window:t=0.72,alpha=6 (repeatable) [default: a selection]
    #[arg(long, value_name = "CHUNKER")]
    chunker: Vec<String>,
    /// The rows of a published table, with its figures beside ours
    #[arg(long, value_name = "NAME", conflicts_with = "chunker")]
    table: Option<Table>,
    /// Every combination of these settings of the last chunker: t=0.60:0.95:0.01 alpha=2,3,4
    #[arg(long, value_name = "AXIS", num_args = 1.., conflicts_with = "table")]
    sweep: Vec<String>,
    /// Choose the row of the largest IoU with at least this recall (percent) on half of the questions and judge it on
    /// the other half, both ways round
    #[arg(long, value_name = "RECALL")]
    choose: Option<f64>,
    /// Leave out the rows of plain sentences and paragraphs, which any model has to beat
    #[arg(long)]
    no_plain: bool,
    /// Chunks to retrieve for a question, or min: as many as touch its references
    #[arg(short = 'k', long, value_name = "K", default_value = "5", value_parser = top_k)]
    retrieve: TopK,
    /// Find spans and count touches as `chunking_evaluation` does
    #[arg(long)]
    compat: bool,
    /// Weights of a chunk's neighbours in its vector, for distance 1, 2, ...; none for without. Every chunker is scored
    /// with each (repeatable)
    #[arg(long, value_name = "W1,W2,...")]
    context: Vec<String>,
    /// Share of the sentence most alike in the similarity of its chunk, from 0 to 1. Every chunker is scored with each
    /// (repeatable)
    #[arg(long, value_name = "SHARE")]
    by_sentence: Vec<f32>,
    /// Retrieve a text that stands more than once only once
    #[arg(long)]
    unique: bool,
    /// Count tokens, and measure sizes, by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, or a
    /// tokenizer.json
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
    /// Show every question: what was retrieved, what was missed (formats table and jsonl)
    #[arg(long)]
    questions: bool,
    /// What to write [default: what the name of --output ends in, otherwise table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also draw scores, recall against IoU, and chunk sizes as SVG files in this folder
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// The model that chunkers look through, named as for --model, which goes on to embed questions and chunks [default:
    /// the same]
    #[arg(long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    chunk_model: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// The twelve rows of Horchunk's authors
    Horchunk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// All figures, each corpus and interval
    Json,
    /// One record a question (with --questions)
    Jsonl,
    /// One record a row
    Csv,
    /// A Markdown table
    Md,
    /// One page with tables and plots
    Html,
}

fn top_k(word: &str) -> Result<TopK, String> {
    match word {
        "min" => Ok(TopK::Minimum),
        _ => match word.parse() {
            Ok(k) if k > 0 => Ok(TopK::Fixed(k)),
            _ => Err("take a number of at least 1, or min".to_owned()),
        },
    }
}

/// A model that embeds nothing twice.
type Memo = MemoEmbedder<Interruptible<SentenceTransformer>>;

/// The models of a run.
struct Models {
    /// Embeds questions and chunks.
    retrieval: Memo,
    /// What chunkers look through, where it is another one.
    chunking: Option<Memo>,
}

impl Models {
    fn chunking(&self) -> &Memo {
        self.chunking.as_ref().unwrap_or(&self.retrieval)
    }

    fn all(&self) -> impl Iterator<Item = &Memo> {
        [&self.retrieval].into_iter().chain(&self.chunking)
    }

    fn asked(&self) -> u64 {
        self.all().map(Memo::asked).sum()
    }

    fn embedded(&self) -> u64 {
        self.all().map(Memo::embedded).sum()
    }
}

/// Runs `horchunk eval`.
pub(super) fn run(args: &EvalArgs, talk: Talk) -> anyhow::Result<Outcome> {
    match &args.action {
        None => args.run.run(talk),
        Some(Action::Fetch(args)) => fetch::run(args, talk),
        Some(Action::Make(args)) => make::run(args, talk),
        Some(Action::Segments(args)) => segments::run(args, talk),
        Some(Action::Answers(args)) => answers::run(args, talk),
        Some(Action::Budgets(args)) => budgets::run(args, talk),
        Some(Action::Fidelity(args)) => fidelity::run(args, talk),
    }
}

impl RunArgs {
    fn run(&self, talk: Talk) -> anyhow::Result<Outcome> {
        let started = Instant::now();
        self.check()?;
        // What cannot be meant is said before a model is loaded.
        self.plans(None)?;
        let dataset = self.dataset()?;
        let model = self.model.load(talk)?;
        let chunk_model = self.chunk_model.as_ref();
        let chunk_model = chunk_model
            .map(|name| self.model.load_beside("--chunk-model", name, talk, ModelLoader::load))
            .transpose()?;
        let plans = self.plans(chunk_model.as_ref().unwrap_or(&model).info().threshold)?;
        let counter = self.tokens.load(|| Ok(model.clone()), talk)?;
        let counter = counter.ok_or_else(|| Usage("--tokens none: sizes must be counted".to_owned()))?;
        let chat = if plans.iter().any(|plan| plan.spec == ChunkerSpec::Llm) { self.chat.open()? } else { None };

        let bar = progress(talk, plans.len());
        let ticks = bar.clone();
        let memo = MemoEmbedder::new(Interruptible(model.clone()))
            .with_progress(move |embedded| ticks.set_message(format!("{embedded} texts embedded")));
        let chunking = chunk_model.clone().map(|model| MemoEmbedder::new(Interruptible(model)));
        let models = Models { retrieval: memo, chunking };
        let parts = ChunkerParts::new(models.chunking(), Arc::clone(&counter)).with_chat(chat);
        // Nothing is computed for settings that cannot be, or for what cannot be written.
        for plan in &plans {
            plan.spec.build(&parts).map_err(|error| Usage(format!("--chunker {}: {error}", plan.spec)))?;
        }
        let mut out = self.target()?.open("")?;
        if let Some(folder) = &self.plots {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        let mode = if self.compat { Mode::Compat } else { Mode::Exact };
        let evaluator = Evaluator::with_queries(&dataset, &models.retrieval, &Interruptible(model.queries()))?;
        let mut evaluator = evaluator.with_top_k(self.retrieve).with_mode(mode).with_unique(self.unique);
        if models.chunking.is_some() {
            evaluator = evaluator.with_own_vectors();
        }

        let (mut rows, outcome) = self.rows(&plans, &evaluator, &parts, &models, (&bar, &mut out))?;
        if rows.is_empty() {
            return Ok(outcome);
        }
        let few = rows.iter().filter(|row| self.has_few(row)).count();
        if few > 0 && !talk.quiet {
            say(format_args!("{} had fewer chunks than are to be retrieved: all were", plural(few, "row")));
        }
        say_costs(talk, &rows, models.embedded(), started);
        let plain =
            plans.iter().filter(|plan| plan.plain).map(|plan| format!("{} {}", plan.spec.name(), plan.parameters()));
        self.add_chosen(&dataset, &plain.collect(), &mut rows);
        let report = Report::new(self.stamp(&dataset, &model, chunk_model.as_ref(), started), rows);
        if !self.questions {
            self.write(&report, &mut out)?;
        }
        Output::finish(out)?;
        if let Some(folder) = &self.plots {
            draw(&report, folder)?;
        }
        Ok(outcome)
    }

    /// Scores every plan, and shows its questions if asked to; one that fails is reported and the others go on.
    fn rows(
        &self,
        plans: &[Plan],
        evaluator: &Evaluator<'_>,
        parts: &ChunkerParts<&Memo>,
        models: &Models,
        (bar, out): (&ProgressBar, &mut Output),
    ) -> anyhow::Result<(Vec<Row>, Outcome)> {
        let mut rows = Vec::new();
        let mut failures = Failures::default();
        for plan in plans {
            match row(plan, evaluator, parts, models) {
                Ok((row, evaluation)) => {
                    if self.questions {
                        let json = self.format() == Format::Jsonl;
                        questions::write(out, &row.label(), evaluator.dataset(), &evaluation, json)?;
                    }
                    rows.push(row);
                }
                Err(error) => {
                    interrupt::check()?;
                    bar.suspend(|| failures.add(&error.context(plan.spec.to_string())));
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok((rows, failures.outcome()))
    }

    fn format(&self) -> Format {
        output::format(self.format, self.output.as_deref(), Format::Table)
    }

    /// Words that cannot be meant together.
    fn check(&self) -> Result<(), Usage> {
        if self.questions != (self.format() == Format::Jsonl) && self.format() != Format::Table {
            let message = "--questions comes as --format table or jsonl, and jsonl is for --questions";
            return Err(Usage(message.to_owned()));
        }
        if let Some(recall) = self.choose.filter(|recall| !(0.0..=100.0).contains(recall)) {
            return Err(Usage(format!("--choose {recall}: take a recall in percent, from 0 to 100")));
        }
        if let Some(share) = self.by_sentence.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(Usage(format!("--by-sentence {share}: take a share from 0 to 1")));
        }
        Ok(())
    }

    fn dataset(&self) -> anyhow::Result<Dataset> {
        let Some(folder) = &self.data else { return Ok(Dataset::own()) };
        if folder.as_os_str() == "public" && !folder.exists() {
            let fetched = fetch::folder();
            if !fetched.exists() {
                bail!("--data public: the public benchmark is not there; horchunk eval fetch fetches it");
            }
            return Dataset::load(fetched).context("--data public");
        }
        Dataset::load(folder).context("--data")
    }

    /// Where the report goes: one file, which may be none of the dataset's.
    fn target(&self) -> anyhow::Result<Target> {
        let mut inputs = HashSet::new();
        if let Some(folder) = &self.data {
            let corpora = fs::read_dir(folder.join("corpora")).into_iter().flatten().flatten();
            let files = corpora.map(|entry| entry.path()).chain([folder.join("questions_df.csv")]);
            inputs.extend(files.filter_map(|file| fs::canonicalize(file).ok()));
        }
        let target = Target::new(self.output.as_deref(), "", inputs);
        if target.is_folder() {
            let path = self.output.as_deref().unwrap_or(Path::new("")).display();
            bail!(Usage(format!("--output {path} is a folder: a report is one file")));
        }
        Ok(target)
    }

    /// Whether there are fewer chunks than are to be retrieved.
    fn has_few(&self, row: &Row) -> bool {
        matches!(self.retrieve, TopK::Fixed(k) if k > row.sizes.chunks)
    }

    /// The row that was chosen on one half of the questions for the other; the plain rows are no choice.
    fn add_chosen(&self, dataset: &Dataset, plain: &HashSet<String>, rows: &mut Vec<Row>) {
        let Some(recall) = self.choose else { return };
        let candidates: Vec<usize> = (0..rows.len()).filter(|&at| !plain.contains(&rows[at].label())).collect();
        if candidates.is_empty() {
            return;
        }
        let points: Vec<&[Scores]> = candidates.iter().map(|&at| rows[at].scores.as_slice()).collect();
        let chosen = choose(&points, recall / 100.0);
        let [even, odd] = chosen.points.map(|at| rows[candidates[at]].label());
        let aim = if chosen.reached == [true, true] {
            format!("recall>={recall}")
        } else {
            format!("recall>={recall} out of reach, so the largest")
        };
        let parameters = format!("{aim}: by questions 1, 3, 5, ... {even}; by questions 2, 4, 6, ... {odd}");
        rows.push(Row::of_scores("chosen", &parameters, dataset, &chosen.scores));
    }
}

/// One chunker, scored.
fn row(
    plan: &Plan,
    evaluator: &Evaluator<'_>,
    parts: &ChunkerParts<&Memo>,
    models: &Models,
) -> anyhow::Result<(Row, Evaluation)> {
    let (started, asked) = (Instant::now(), models.asked());
    let chunker = plan.spec.build(parts)?;
    let evaluator = evaluator.clone().with_context(plan.context.clone()).with_sentence_weight(plan.by_sentence)?;
    let evaluation = evaluator.run(&*chunker)?;
    let mut row = Row::new(plan.spec.name(), &plan.parameters(), evaluator.dataset(), &evaluation);
    row.seconds = started.elapsed().as_secs_f64();
    row.texts = models.asked() - asked;
    row.published = plan.published;
    Ok((row, evaluation))
}

fn say_costs(talk: Talk, rows: &[Row], embedded: u64, started: Instant) {
    if talk.quiet {
        return;
    }
    let done = format!("{} in {:.0} s", plural(rows.len(), "row"), started.elapsed().as_secs_f64());
    // A static model embeds no texts: it adds up.
    if embedded == 0 {
        return say(done);
    }
    let dearest = rows.iter().map(|row| row.texts).max().unwrap_or_default().max(1);
    let share = embedded as f64 / dearest as f64;
    say(format_args!("{done}: {embedded} texts embedded, {share:.1} times those of the dearest row"));
}

/// A bar over the rows.
fn progress(talk: Talk, rows: usize) -> ProgressBar {
    if talk.quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:32} row {pos} of {len} {elapsed} {wide_msg}");
    ProgressBar::new(rows as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
