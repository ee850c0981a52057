//! `horchunk answer`: a question and texts in, the best answer out.

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use clap::ValueEnum;
use horchunk::answer::{
    AnswerError, AnswerIndex, AnswerPipeline, Answered, Bm25, Candidate, ChatReader, Confidence, Delivery,
    EmbeddingSelector, First, LexicalReader, Prices, Reader, Selector, Stem, TfIdf, Usage as Spent, Words,
};
use horchunk::{CharMap, Chunker, SentenceTransformer};
use serde::Serialize;

use super::chunk::cut::CutArgs;
use super::input::{Document, InputArgs};
use super::interrupt::{self, Interruptible};
use super::settings::{ChatArgs, ModelArgs};
use super::words::Harmless;
use super::{Failures, Outcome, Talk, Usage, plural, say};

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
    out: OutArgs,
    #[command(flatten)]
    cut: CutArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

/// How chunks are read, and one of their answers selected.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answer")]
struct ReaderArgs {
    /// Read chunks by
    #[arg(long, value_name = "READER", default_value = "lexical")]
    reader: ReaderName,
    /// Select among the answers by
    #[arg(long, value_name = "SELECTOR", default_value = "confidence")]
    selector: SelectorName,
    /// Read only the K chunks whose vectors are nearest to the question's [default: all]
    #[arg(long, value_name = "K")]
    top_k: Option<NonZeroUsize>,
    /// Compare stems of words in this language, as english or russian (lexical, bm25, tfidf)
    #[arg(long, value_name = "LANGUAGE")]
    stem: Option<String>,
    /// Abstain where a sentence shares less than this of the question, up to 1 (lexical) [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    min_share: Option<f64>,
    /// Ask the language model about N chunks at once
    #[arg(long, value_name = "N", default_value = "4")]
    concurrency: NonZeroUsize,
    /// Say what the language model costs, by the prices of a million tokens in and out, as 0.15,0.6
    #[arg(long, value_name = "IN,OUT")]
    prices: Option<String>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReaderName {
    /// The sentence that shares most words with the question
    Lexical,
    /// A language model that quotes the chunk (with --llm)
    Chat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SelectorName {
    /// The first one
    First,
    /// The one of which the reader is surest
    Confidence,
    /// Okapi BM25 of answer and question
    Bm25,
    /// Cosine of weighed word counts
    Tfidf,
    /// Cosine of vectors
    Embedding,
}

impl ReaderName {
    const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Chat => "chat",
        }
    }
}

impl SelectorName {
    const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Confidence => "confidence",
            Self::Bm25 => "bm25",
            Self::Tfidf => "tfidf",
            Self::Embedding => "embedding",
        }
    }
}

/// An answer as it is written; spans are bytes of the document.
#[derive(Serialize)]
struct AnswerRecord<'a> {
    document: &'a str,
    chunk: usize,
    chunk_start: usize,
    chunk_end: usize,
    answer: Option<&'a str>,
    start: Option<usize>,
    end: Option<usize>,
    line: Option<usize>,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    selector_score: Option<f64>,
}

/// The whole result as it is written.
#[derive(Serialize)]
struct ResultRecord<'a> {
    question: &'a str,
    reader: &'a str,
    selector: &'a str,
    answer: Option<AnswerRecord<'a>>,
    chunks: usize,
    abstained: usize,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<AnswerRecord<'a>>>,
}

/// Runs `horchunk answer`.
pub(super) fn run(args: &AnswerArgs, talk: Talk) -> anyhow::Result<Outcome> {
    if !args.question.contains(char::is_alphanumeric) {
        return Err(Usage(AnswerError::EmptyQuestion.to_string()).into());
    }
    let prices: Option<Prices> = args.read.prices.as_deref().map(str::parse).transpose().map_err(usage)?;
    let words = args.read.words()?;
    let profile = args.cut.profile()?;
    let cap = args.cut.cap()?;
    args.cut.spec(profile.as_ref(), None, cap)?;
    let reader = args.reader(words)?;
    let inputs = args.input.open(None)?;
    let model = args.model.load(talk)?;
    let spec = args.cut.spec(profile.as_ref(), model.info().threshold, cap)?;
    if let Some(profile) = profile {
        profile.check_model(&model.info().name, &model.weights_sha256()?, model.text_prefix())?;
    }
    let counter = args.cut.counter(|| Ok(model.clone()), talk)?;
    let chunker: Box<dyn Chunker> = match args.cut.window(&spec, model.clone(), counter.as_ref(), cap)? {
        Some(chunker) => Box::new(chunker),
        None => CutArgs::whole(&spec, model.clone(), counter.as_ref(), cap, &args.chat)?,
    };
    let mut pipeline = AnswerPipeline::new(chunker, reader, args.read.selector(words, &model));
    if let Some(k) = args.read.top_k {
        let embedder = Interruptible(model);
        pipeline = pipeline.with_top_k(k, Arc::new(Interruptible(embedder.0.queries())), Arc::new(embedder));
    }
    let mut failures = Failures::default();
    let documents: Vec<Document> =
        inputs.documents().filter_map(|document| document.map_err(|error| failures.add(&error)).ok()).collect();
    let mut index = pipeline.empty_index();
    let mut sources = Vec::new();
    for document in &documents {
        match index.add(&document.text).with_context(|| document.name.clone()) {
            Ok(_) => sources.push(Source { document, map: CharMap::new(&document.text) }),
            Err(error) => {
                interrupt::check()?;
                failures.add(&error);
            }
        }
    }
    let run = Run { args, sources, prices, terminal: io::stdout().is_terminal() };
    run.ask(&index, talk)?;
    Ok(failures.outcome())
}

/// An error in the words of the command line.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn usage(error: AnswerError) -> Usage {
    Usage(error.to_string())
}

impl ReaderArgs {
    fn words(&self) -> Result<Words, Usage> {
        let stem: Option<Stem> = self.stem.as_deref().map(str::parse).transpose().map_err(usage)?;
        Ok(stem.map_or_else(Words::default, |stem| Words::default().with_stem(stem)))
    }

    fn selector(&self, words: Words, model: &SentenceTransformer) -> Box<dyn Selector> {
        match self.selector {
            SelectorName::First => Box::new(First),
            SelectorName::Confidence => Box::new(Confidence),
            SelectorName::Bm25 => Box::new(Bm25::default().with_words(words)),
            SelectorName::Tfidf => Box::new(TfIdf::default().with_words(words)),
            SelectorName::Embedding => {
                Box::new(EmbeddingSelector::new(Interruptible(model.queries()), Interruptible(model.clone())))
            }
        }
    }
}

impl AnswerArgs {
    fn reader(&self, words: Words) -> anyhow::Result<Box<dyn Reader>> {
        if self.read.reader == ReaderName::Lexical {
            let reader = LexicalReader::default().with_words(words);
            return Ok(Box::new(match self.read.min_share {
                Some(share) => reader.with_min_share(share).map_err(usage)?,
                None => reader,
            }));
        }
        let Some(model) = self.chat.open()? else {
            return Err(Usage("the reader chat asks a language model: name one with --llm".into()).into());
        };
        Ok(Box::new(ChatReader::new(model).with_at_once(self.read.concurrency)))
    }
}

/// A document with its lines.
struct Source<'a> {
    document: &'a Document,
    map: CharMap<'a>,
}

/// What it takes to write answers.
struct Run<'a> {
    args: &'a AnswerArgs,
    sources: Vec<Source<'a>>,
    prices: Option<Prices>,
    terminal: bool,
}

/// An index of the command's own parts.
type Index<'p, 't> = AnswerIndex<'p, 't, Box<dyn Chunker>, Box<dyn Reader>, Box<dyn Selector>>;

impl Run<'_> {
    fn ask(&self, index: &Index<'_, '_>, talk: Talk) -> anyhow::Result<()> {
        let out = &self.args.out;
        let mut stdout = io::stdout().lock();
        let mut written = Ok(());
        let answered = index.ask_each(&self.args.question, Delivery::AsCompleted, |candidate| {
            if out.stream && candidate.answer.is_some() {
                written = self.write(&mut stdout, candidate, None);
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
        if out.json {
            let record = self.record(&answered);
            serde_json::to_writer(&mut stdout, &record).map_err(io::Error::from)?;
            writeln!(stdout)?;
            return Ok(());
        }
        if out.all {
            for (candidate, &score) in answered.candidates.iter().zip(&answered.selection.scores) {
                if score.is_some() {
                    self.write(&mut stdout, candidate, score)?;
                }
            }
        }
        let chosen = answered.chosen();
        if let Some(candidate) = chosen {
            if out.all || out.stream {
                writeln!(stdout, "selected by {}:", self.args.read.selector.name())?;
            }
            self.write(&mut stdout, candidate, None)?;
        } else {
            writeln!(stdout, "no answer found")?;
        }
        stdout.flush()?;
        if !talk.quiet {
            let (chunks, abstained) = (answered.candidates.len(), answered.selection.abstained);
            say(format_args!("{}, {abstained} of them without an answer", plural(chunks, "chunk")));
            let lexical = self.args.read.reader == ReaderName::Lexical;
            if lexical && chunks > 0 && answered.candidates.iter().all(|candidate| candidate.score <= 0.0) {
                say("no chunk shares a word with the question; it may be in another language or script");
            }
            self.say_cost(answered.usage());
        }
        Ok(())
    }

    fn say_cost(&self, usage: Spent) {
        if usage.requests == 0 {
            return;
        }
        let cost = self.prices.map(|prices| format!(", cost {:.6}", prices.cost(usage))).unwrap_or_default();
        let requests = plural(usize::try_from(usage.requests).unwrap_or(usize::MAX), "request");
        say(format_args!("{requests}, {} tokens in, {} out{cost}", usage.input_tokens, usage.output_tokens));
    }

    fn write(&self, out: &mut impl Write, candidate: &Candidate, selector_score: Option<f64>) -> io::Result<()> {
        let record = self.answer(candidate, selector_score);
        if self.args.out.json {
            serde_json::to_writer(&mut *out, &record)?;
            writeln!(out)?;
            return out.flush();
        }
        let text = record.answer.unwrap_or_default();
        if self.terminal {
            writeln!(out, "{}", Harmless(text))?;
        } else {
            writeln!(out, "{text}")?;
        }
        let place = match (record.line, record.start, record.end) {
            (Some(line), Some(start), Some(end)) => format!("line {line}, bytes {start}..{end}"),
            _ => format!("not in its words, bytes {}..{} of the chunk", record.chunk_start, record.chunk_end),
        };
        let scores =
            selector_score.map(|score| format!(", {} {score:.3}", self.args.read.selector.name())).unwrap_or_default();
        let document = Harmless(record.document);
        writeln!(out, "  {document}, chunk {}, {place}, score {:.3}{scores}", record.chunk, record.score)?;
        out.flush()
    }

    fn answer<'c>(&'c self, candidate: &'c Candidate, selector_score: Option<f64>) -> AnswerRecord<'c> {
        let source = self.sources.get(candidate.document);
        let span = candidate.answer.as_ref().and_then(|found| found.span);
        AnswerRecord {
            document: source.map_or("", |source| source.document.name.as_str()),
            chunk: candidate.chunk,
            chunk_start: candidate.chunk_span.start(),
            chunk_end: candidate.chunk_span.end(),
            answer: candidate.answer.as_ref().map(|found| found.text.as_str()),
            start: span.map(horchunk::Span::start),
            end: span.map(horchunk::Span::end),
            line: span.zip(source).map(|(span, source)| source.map.position(span.start()).line),
            score: candidate.score,
            selector_score,
        }
    }

    fn record<'c>(&'c self, answered: &'c Answered) -> ResultRecord<'c> {
        let (args, usage) = (self.args, answered.usage());
        let scored = || answered.candidates.iter().zip(&answered.selection.scores);
        ResultRecord {
            question: &args.question,
            reader: args.read.reader.name(),
            selector: args.read.selector.name(),
            answer: answered.chosen().map(|candidate| {
                self.answer(candidate, answered.selection.chosen.and_then(|at| answered.selection.scores[at]))
            }),
            chunks: answered.candidates.len(),
            abstained: answered.selection.abstained,
            requests: usage.requests,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost: self.prices.map(|prices| prices.cost(usage)),
            candidates: args
                .out
                .all
                .then(|| scored().map(|(candidate, &score)| self.answer(candidate, score)).collect()),
        }
    }
}
