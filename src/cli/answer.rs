//! `horchunk answer`: a question and texts in, the best answer out.

pub(super) mod reader;
mod write;

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use horchunk::Chunker;
use horchunk::answer::{
    AnswerError, AnswerIndex, AnswerPipeline, Answered, Delivery, Prices, Reader, Selector, Usage as Spent,
};

use super::cache::{CacheArgs, say_failure};
use super::chunk::cut::CutArgs;
use super::input::{Document, InputArgs};
use super::interrupt::{self, Interruptible};
use super::settings::{ChatArgs, ModelArgs};
use super::{Failures, Outcome, Talk, Usage, plural, say};

use reader::{CrossEncoderArgs, ReaderArgs, ReaderName, SelectorName};
use write::{Sources, Writer};

/// Words of `horchunk answer`.
///
/// Reads every chunk of the texts and selects among the answers. Exit code 0 whether or not an answer was found.
#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    /// What to ask
    #[arg(value_name = "QUESTION")]
    question: String,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    read: ReaderArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    cut: CutArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Which chunks are read, and one of their answers selected.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answer")]
struct SelectArgs {
    /// Select among the answers by
    #[arg(long, value_name = "SELECTOR", default_value = "confidence")]
    selector: SelectorName,
    #[command(flatten)]
    cross_encoder: CrossEncoderArgs,
    /// Read only the K chunks whose vectors are nearest to the question's [default: all]
    #[arg(long, value_name = "K")]
    top_k: Option<NonZeroUsize>,
}

/// What to write.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct OutArgs {
    /// Write one JSON object instead of text; with --stream, one a line
    #[arg(long)]
    json: bool,
    /// Show the answers of all chunks, not only the selected one
    #[arg(long)]
    all: bool,
    /// Show every answer as soon as its chunk is read, then the selected one
    #[arg(long, conflicts_with = "all")]
    stream: bool,
}

/// Runs `horchunk answer`.
pub(super) fn run(args: &AnswerArgs, talk: Talk) -> anyhow::Result<Outcome> {
    if !args.question.contains(char::is_alphanumeric) {
        return Err(Usage(AnswerError::EmptyQuestion.to_string()).into());
    }
    let (words, prices) = (args.read.words()?, args.read.prices()?);
    let plan = args.cut.plan()?;
    let inputs = args.input.open(None)?;
    let cut = plan.open(args.model.load(talk)?, talk)?;
    let cache = args.cache.open();
    let reader = args.read.open(&args.chat, cache.clone(), &args.model, talk)?;
    let cross_encoder = || args.select.cross_encoder.load(&args.model, talk);
    let selector = args.select.selector.open(words, &cut.model, cross_encoder)?;
    let mut pipeline = AnswerPipeline::new(cut.remembering(&args.chat, cache.as_ref())?, reader, selector);
    if let Some(k) = args.select.top_k {
        let (questions, texts) = (cut.model.queries(), cut.model);
        pipeline = pipeline.with_top_k(k, Arc::new(Interruptible(questions)), Arc::new(Interruptible(texts)));
    }
    let mut failures = Failures::default();
    let documents: Vec<Document> =
        inputs.documents().filter_map(|document| document.map_err(|error| failures.add(&error)).ok()).collect();
    let mut index = pipeline.empty_index();
    let mut sources = Sources::default();
    for document in &documents {
        match index.add(&document.text).with_context(|| document.name.clone()) {
            Ok(_) => sources.add(document),
            Err(error) => {
                interrupt::check()?;
                failures.add(&error);
            }
        }
    }
    let writer = Writer {
        question: &args.question,
        reader: args.read.name().name(),
        selector: args.select.selector.name(),
        prices,
        json: args.out.json,
        terminal: io::stdout().is_terminal(),
        sources,
    };
    let answered = args.ask(&index, &writer)?;
    say_failure(cache.as_deref());
    if !talk.quiet && !args.out.json {
        args.say_summary(&answered, prices);
    }
    Ok(failures.outcome())
}

/// An index of the command's own parts.
type Index<'t> = AnswerIndex<'t, Box<dyn Chunker>, Box<dyn Reader>, Box<dyn Selector>>;

impl AnswerArgs {
    /// Asks, and writes what comes back.
    fn ask(&self, index: &Index<'_>, writer: &Writer<'_>) -> anyhow::Result<Answered> {
        let mut stdout = io::stdout().lock();
        let mut written = Ok(());
        let answered = index.ask_each(&self.question, Delivery::AsCompleted, |candidate| {
            if self.out.stream && candidate.answer.is_some() {
                written = writer.candidate(&mut stdout, candidate, None);
            }
            if written.is_err() || interrupt::check().is_err() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        written?;
        interrupt::check()?;
        let answered = answered?;
        writer.result(&mut stdout, &answered, self.out.all, self.out.stream)?;
        Ok(answered)
    }

    fn say_summary(&self, answered: &Answered, prices: Option<Prices>) {
        let (chunks, abstained) = (answered.candidates.len(), answered.selection.abstained);
        say(format_args!("{}, {abstained} of them without an answer", plural(chunks, "chunk")));
        let lexical = self.read.name() == ReaderName::Lexical;
        if lexical && chunks > 0 && answered.candidates.iter().all(|candidate| candidate.score <= 0.0) {
            say("no chunk shares a word with the question; it may be in another language or script");
        }
        say_cost(answered.usage(), prices);
    }
}

/// Says what was asked of a language model, if anything was.
pub(super) fn say_cost(usage: Spent, prices: Option<Prices>) {
    if usage.cached > 0 {
        let replies = if usage.cached == 1 { "1 reply".to_owned() } else { format!("{} replies", usage.cached) };
        say(format_args!("{replies} from the cache, which cost nothing this time"));
    }
    if usage.requests == 0 {
        return;
    }
    let cost = prices.map(|prices| format!(", cost {:.6}", prices.cost(usage))).unwrap_or_default();
    let requests = plural(usize::try_from(usage.requests).unwrap_or(usize::MAX), "request");
    say(format_args!("{requests}, {} tokens in, {} out{cost}", usage.input_tokens, usage.output_tokens));
}
