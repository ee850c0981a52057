//! `horchunk chunk`: texts in, chunks out.

pub(super) mod cut;

use std::io::{self, IsTerminal};
use std::iter::Peekable;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use horchunk::{
    Chunk, ChunkError, Chunker, ChunkerSpec, ContextWeights, EmbeddedChunker, Record, Recorder, TokenCounter,
};

use super::dry_run::DryRun;
use super::fragile::Fragile;
use super::html::Entry;
use super::input::{Document, InputArgs, Parts, Source, Unread};
use super::interrupt;
use super::output::{self, Target};
use super::progress::Progress;
use super::settings::{ChatArgs, ModelArgs};
use super::text::TextView;
use super::writer::Writer;
use super::{Failures, Outcome, Talk, Usage, plural, say};

use cut::{AnyChunker, ChunkIter, CliWindow, Cut, CutArgs};

/// Words of `horchunk chunk`.
#[derive(Debug, clap::Args)]
pub(super) struct ChunkArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    cut: CutArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
    #[command(flatten)]
    out: OutArgs,
}

/// What to write, and where.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct OutArgs {
    /// What to write [default: what the name of --output ends in, otherwise text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A file, or a folder (ending in /) with one file a document [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Add the similarity of every step
    #[arg(long)]
    explain: bool,
    /// Add every chunk's unit vector
    #[arg(long)]
    embeddings: bool,
    /// Add the vectors of neighbours to every chunk's, with weights for distance 1, 2, ... (with --embeddings)
    #[arg(long, value_name = "W1,W2,...", requires = "embeddings")]
    context: Option<ContextWeights>,
    /// List on standard error the decisions that lie within EPS of the threshold
    #[arg(long, value_name = "EPS", allow_negative_numbers = true)]
    fragile: Option<f32>,
    /// Embed nothing: say how many sentences and windows there are and what they would cost
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// One array of records
    Json,
    /// One record a line
    Jsonl,
    /// One page to look at
    Html,
}

impl OutArgs {
    fn format(&self) -> Format {
        output::format(self.format, self.output.as_deref(), Format::Text)
    }
}

impl Format {
    /// Whether a document is written as a whole, from the [`Entry`] of every chunk.
    pub(super) const fn needs_entries(self) -> bool {
        matches!(self, Self::Html)
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Text => ".txt",
            Self::Json => ".json",
            Self::Jsonl => ".jsonl",
            Self::Html => ".html",
        }
    }
}

impl ChunkArgs {
    fn chunker(&self, cut: &Cut<'_>) -> anyhow::Result<AnyChunker> {
        let (embeddings, context) = (self.out.embeddings, self.out.context.clone().unwrap_or_default());
        let whole: Box<dyn Chunker> = match cut.window()? {
            Some(chunker) if context.is_empty() => {
                return Ok(AnyChunker::Window(Box::new(if embeddings { chunker.with_embeddings() } else { chunker })));
            }
            Some(chunker) => Box::new(chunker.with_embeddings()),
            None => cut.whole(&self.chat)?,
        };
        if !embeddings {
            return Ok(AnyChunker::Whole(whole));
        }
        Ok(AnyChunker::Whole(Box::new(EmbeddedChunker::new(whole, cut.model.clone()).with_context(context))))
    }
}

/// Runs `horchunk chunk`.
pub(super) fn run(args: &ChunkArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    if let Some(eps) = args.out.fragile.filter(|eps| !(0.0..=2.0).contains(eps)) {
        return Err(Usage(format!("--fragile {eps}: take a distance from 0 to 2")).into());
    }
    if args.out.embeddings && !matches!(args.out.format(), Format::Json | Format::Jsonl) {
        return Err(Usage("--embeddings: take --format json or jsonl, the others show no vectors".into()).into());
    }
    let only_window =
        [("--explain", args.out.explain), ("--fragile", args.out.fragile.is_some()), ("--dry-run", args.out.dry_run)];
    let plan = args.cut.plan_with(&only_window)?;
    let inputs = args.input.open(args.out.output.as_deref())?;
    let cut = plan.open(args.model.load(talk)?, talk)?;
    let chunker = args.chunker(&cut)?;
    if args.out.dry_run {
        let ChunkerSpec::Window { max_sentences, sentences, .. } = cut.spec else {
            return Err(Usage(format!("--dry-run is for the chunker window, not for {}", cut.spec.name())).into());
        };
        let splitter = sentences.splitter(cut.counter.as_ref())?;
        return DryRun::new(&cut.model, &*splitter, max_sentences).run(inputs);
    }
    let described = cut.described();
    if talk.verbose {
        let others: Vec<String> = described.others.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let threshold = described.threshold.map(|threshold| format!("threshold {threshold}, "));
        let most = described.max_sentences.map(|most| format!("at most {}, ", plural(most, "sentence")));
        say(format_args!("{}{}{}", threshold.unwrap_or_default(), most.unwrap_or_default(), others.join(", ")));
    }
    let threshold = described.threshold;
    let target = Target::new(args.out.output.as_deref(), args.out.format().ending(), inputs.files());
    let view = args.view(talk, threshold);
    let mut run = Run {
        args,
        threshold,
        counter: cut.counter.as_deref(),
        progress: Progress::new(talk, args.out.output.as_deref(), inputs.bytes()),
        writer: Writer::new(args.out.format(), target, view, described)?,
        documents: 0,
        chunks: 0,
    };
    let mut failures = Failures::default();
    // What comes through a pipe is answered as it comes.
    let together = if chunker.is_faster_together() && inputs.bytes().is_some() { TOGETHER } else { 0 };
    // A page shows the whole text.
    let in_parts = chunker.window().filter(|_| !args.out.format().needs_entries());
    let mut sources = inputs.sources().peekable();
    while let Some(first) = sources.next() {
        let first = match (first, in_parts) {
            (Ok(Source::Long(text)), Some(chunker)) => {
                if let Err(error) = run.long(text, chunker)? {
                    run.progress.suspend(|| failures.add(&error));
                }
                continue;
            }
            (first, _) => first.and_then(Source::document),
        };
        let group = match first {
            Ok(first) => group(first, &mut sources, together),
            Err(error) => {
                run.progress.suspend(|| failures.add(&error));
                continue;
            }
        };
        let texts: Vec<&str> = group.iter().map(|document| document.text.as_str()).collect();
        for (document, chunks) in group.iter().zip(chunker.chunks(&texts)) {
            if let Err(error) = run.document(document, chunks)? {
                run.progress.suspend(|| failures.add(&error));
            }
        }
    }
    run.progress.finish();
    let outcome = failures.outcome();
    run.writer.finish(outcome == Outcome::SomeFailed && run.documents == 0)?;
    if talk.verbose {
        let (documents, chunks) = (plural(run.documents, "document"), plural(run.chunks, "chunk"));
        say(format_args!("{documents}, {chunks}, {:.2} s", started.elapsed().as_secs_f64()));
    }
    Ok(outcome)
}

/// Bytes of the documents that are cut together, at most: a few seconds of work.
const TOGETHER: usize = 1 << 15;

/// Most documents that are cut together.
const DOCUMENTS: usize = 256;

/// A document with those behind it that are cut together with it.
fn group(
    first: Document,
    rest: &mut Peekable<impl Iterator<Item = anyhow::Result<Source>>>,
    bytes: usize,
) -> Vec<Document> {
    let mut left = bytes.saturating_sub(first.text.len());
    let mut group = vec![first];
    // With nothing left to take, the next document is not even read.
    while left > 0
        && group.len() < DOCUMENTS
        && let Some(Ok(Source::Document(next))) =
            rest.next_if(|next| matches!(next, Ok(Source::Document(next)) if next.text.len() <= left))
    {
        left -= next.text.len();
        group.push(next);
    }
    group
}

/// What runs through all documents.
struct Run<'a> {
    args: &'a ChunkArgs,
    threshold: Option<f32>,
    counter: Option<&'a dyn TokenCounter>,
    progress: Progress,
    writer: Writer,
    documents: usize,
    chunks: usize,
}

impl<'a> Run<'a> {
    /// Writes the chunks of one document. The outer error ends the run (nothing can be written), the inner one is the
    /// document's.
    fn document(
        &mut self,
        document: &Document,
        chunks: Result<ChunkIter<'_>, ChunkError>,
    ) -> anyhow::Result<anyhow::Result<()>> {
        self.progress.document(&document.name);
        let chunks = match chunks.with_context(|| document.name.clone()) {
            Ok(chunks) => chunks,
            Err(error) => {
                interrupt::check()?;
                return Ok(Err(error));
            }
        };
        if let Err(error) = self.writer.begin(document) {
            return Ok(Err(error));
        }
        let mut entries = Vec::new();
        let mut records = self.records(document);
        for chunk in chunks {
            interrupt::check()?;
            let chunk = match chunk.with_context(|| document.name.clone()) {
                Ok(chunk) => chunk,
                Err(error) => {
                    self.writer.abandon()?;
                    return Ok(Err(error));
                }
            };
            let record = self.chunk(&mut records, &chunk)?;
            if self.args.out.format().needs_entries() {
                entries.push(Entry { record, sentences: chunk.sentences });
            }
        }
        self.progress.bytes(document.text.len());
        self.end(document, &entries)
    }

    /// Writes the chunks of a text that is read part by part; errors as [`Self::document`] has them.
    fn long(&mut self, text: Unread, chunker: &CliWindow) -> anyhow::Result<anyhow::Result<()>> {
        let document = text.without_text();
        self.progress.document(&document.name);
        if let Err(error) = self.writer.begin(&document) {
            return Ok(Err(error));
        }
        let mut records = self.records(&document);
        match self.parts(text.parts(), chunker, &mut records) {
            Ok(()) => self.end(&document, &[]),
            Err(Halt::Run(error)) => Err(error),
            Err(Halt::Document(error)) => {
                interrupt::check()?;
                self.writer.abandon()?;
                Ok(Err(error.context(document.name.clone())))
            }
        }
    }

    fn parts(&mut self, mut parts: Parts, chunker: &CliWindow, records: &mut Records<'_>) -> Result<(), Halt> {
        let mut stream = chunker.stream();
        let mut each = |run: &mut Self, chunk: Chunk<'_>| -> Result<(), Halt> {
            interrupt::check().map_err(|error| Halt::Run(error.into()))?;
            run.chunk(records, &chunk).map(|_| ()).map_err(Halt::Run)
        };
        while let Some(part) = parts.next_part().map_err(Halt::Document)? {
            stream.push(&part, |chunk| each(self, chunk))?;
            self.writer.flush().map_err(Halt::Run)?;
        }
        stream.finish(|chunk| each(self, chunk))
    }

    fn records<'d>(&self, document: &'d Document) -> Records<'d>
    where
        'a: 'd,
    {
        let near = self.args.out.fragile.zip(self.threshold);
        Records {
            recorder: self.args.recorder(document, self.counter),
            fragile: near.map(|(eps, threshold)| Fragile::new(eps, threshold, &document.name)),
        }
    }

    /// Writes a chunk.
    fn chunk<'t, 'd: 't>(&mut self, records: &mut Records<'d>, chunk: &Chunk<'t>) -> anyhow::Result<Record<'t>> {
        let record = records.recorder.record(chunk);
        if let Some(fragile) = &mut records.fragile {
            for line in fragile.decisions(&record, chunk) {
                self.progress.suspend(|| say(line));
            }
        }
        self.writer.chunk(&record, chunk)?;
        self.chunks += 1;
        self.progress.bytes(chunk.span.end());
        Ok(record)
    }

    fn end(&mut self, document: &Document, entries: &[Entry<'_>]) -> anyhow::Result<anyhow::Result<()>> {
        if let Err(error) = self.writer.end(document, entries) {
            // A file of the document's own is nothing to the others.
            return if self.writer.has_own_files() { Ok(Err(error)) } else { Err(error) };
        }
        self.documents += 1;
        Ok(Ok(()))
    }
}

/// What runs through the chunks of one document.
struct Records<'d> {
    recorder: Recorder<'d>,
    fragile: Option<Fragile<'d>>,
}

/// What ends the work on a document: an error of its own, or one that ends the run.
enum Halt {
    Document(anyhow::Error),
    Run(anyhow::Error),
}

impl From<ChunkError> for Halt {
    fn from(error: ChunkError) -> Self {
        Self::Document(error.into())
    }
}

impl ChunkArgs {
    fn recorder<'d>(&self, document: &'d Document, counter: Option<&'d dyn TokenCounter>) -> Recorder<'d> {
        let recorder = Recorder::new(document.name.as_str(), counter.map(TokenCounter::name))
            .with_lossy(document.lossy)
            .with_estimates(counter.is_some_and(|counter| !counter.is_exact()))
            .with_extra(document.extra.clone());
        // The page draws the similarity curve.
        if self.out.explain || self.out.format().needs_entries() { recorder.with_similarities() } else { recorder }
    }

    fn view(&self, talk: Talk, threshold: Option<f32>) -> TextView {
        TextView {
            color: talk.colored(self.out.output.is_none() && io::stdout().is_terminal()),
            terminal: self.out.output.is_none() && io::stdout().is_terminal(),
            explain: self.out.explain,
            threshold,
        }
    }
}
