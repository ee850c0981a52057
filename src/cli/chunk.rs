//! `horchunk chunk`: texts in, chunks out.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use horchunk::{Borders, Record, Recorder, SentenceTransformer, SettingsError, TokenCounter, WindowChunker};

use super::dry_run::DryRun;
use super::fragile::Fragile;
use super::html::Entry;
use super::input::{Document, InputArgs};
use super::interrupt;
use super::output::Target;
use super::progress::Progress;
use super::settings::{CounterName, ModelArgs, SplitterName};
use super::text::TextView;
use super::writer::{Described, Writer};
use super::{Failures, Outcome, Talk, Usage, plural, say};

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
    out: OutArgs,
}

/// Where to cut.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to cut")]
pub(super) struct CutArgs {
    /// Close a chunk when its similarity to its first sentence falls below T, from -1 to 1
    #[arg(short, long, value_name = "T", default_value_t = WindowChunker::<SentenceTransformer>::DEFAULT_THRESHOLD, allow_negative_numbers = true)]
    pub(super) threshold: f32,
    /// Most sentences of a chunk (alpha)
    #[arg(short = 'a', long, value_name = "N", default_value_t = WindowChunker::<SentenceTransformer>::DEFAULT_MAX_SENTENCES, allow_negative_numbers = true)]
    pub(super) max_sentences: usize,
    /// Never cross: none, paragraph (line breaks) or blank-line
    #[arg(long, value_name = "KIND", default_value_t = Borders::None)]
    borders: Borders,
    /// Most tokens of a chunk, counted exactly; a longer sentence is split by force
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) max_tokens: Option<usize>,
    /// Join a chunk of fewer tokens to the neighbour that it is more alike
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    min_tokens: usize,
    /// Repeat up to N sentences from the end of the chunk before
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    overlap_sentences: usize,
    /// Find sentences by: unicode, rule, paragraph, token[:N]
    #[arg(long, value_name = "SPLITTER", default_value_t = SplitterName::Unicode)]
    sentences: SplitterName,
    /// Count tokens by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, none, or a tokenizer.json
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
    /// Give white space between chunks to the chunk before it: joined, the chunks are the file
    #[arg(long)]
    keep_whitespace: bool,
}

/// What to write, and where.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct OutArgs {
    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// A file, or a folder (ending in /) with one file a document [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Add the similarity of every step
    #[arg(long)]
    explain: bool,
    /// Add every chunk's unit vector
    #[arg(long)]
    embeddings: bool,
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

impl CutArgs {
    /// The chunker that these words describe.
    fn chunker(
        &self,
        model: SentenceTransformer,
        counter: Option<&Arc<dyn TokenCounter>>,
    ) -> anyhow::Result<WindowChunker<SentenceTransformer>> {
        let splitter = self.sentences.load(counter)?;
        let chunker = self.limits(WindowChunker::new(model)).map_err(|error| Usage(error.to_string()))?;
        let chunker = chunker.with_splitter(splitter).with_borders(self.borders);
        Ok(match counter {
            Some(counter) => chunker.with_counter(Arc::clone(counter)),
            None => chunker.without_counter().map_err(|error| Usage(format!("--tokens none: {error}")))?,
        })
    }

    fn limits(
        &self,
        chunker: WindowChunker<SentenceTransformer>,
    ) -> Result<WindowChunker<SentenceTransformer>, SettingsError> {
        let mut chunker = chunker.with_threshold(self.threshold)?.with_max_sentences(self.max_sentences)?;
        if let Some(max_tokens) = self.max_tokens {
            chunker = chunker.with_max_tokens(max_tokens)?;
        }
        chunker = chunker.with_min_tokens(self.min_tokens)?.with_overlap_sentences(self.overlap_sentences)?;
        if self.keep_whitespace { chunker.with_kept_white_space() } else { Ok(chunker) }
    }

    /// The settings as a reader of the result wants to see them.
    fn described(&self, model: &SentenceTransformer) -> Described {
        let mut all = vec![
            ("model", model.info().name.clone()),
            ("sentences by", self.sentences.to_string()),
            ("tokens by", self.tokens.to_string()),
            ("borders", self.borders.to_string()),
        ];
        all.extend(self.max_tokens.map(|cap| ("token cap", cap.to_string())));
        all.extend((self.min_tokens > 0).then(|| ("at least", plural(self.min_tokens, "token"))));
        all.extend((self.overlap_sentences > 0).then(|| ("overlap", plural(self.overlap_sentences, "sentence"))));
        all.extend(self.keep_whitespace.then(|| ("white space", "kept".to_owned())));
        let others = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Described { threshold: self.threshold, max_sentences: self.max_sentences, others }
    }
}

/// Runs `horchunk chunk`.
pub(super) fn run(args: &ChunkArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    if let Some(eps) = args.out.fragile.filter(|eps| !(0.0..=2.0).contains(eps)) {
        return Err(Usage(format!("--fragile {eps}: take a distance from 0 to 2")).into());
    }
    if args.out.embeddings && !matches!(args.out.format, Format::Json | Format::Jsonl) {
        return Err(Usage("--embeddings: take --format json or jsonl, the others show no vectors".into()).into());
    }
    let inputs = args.input.open(args.out.output.as_deref())?;
    let model = args.model.load(talk)?;
    let counter = args.cut.tokens.load(|| Ok(model.clone()))?;
    let mut chunker = args.cut.chunker(model.clone(), counter.as_ref())?;
    if args.out.dry_run {
        let splitter = args.cut.sentences.load(counter.as_ref())?;
        return DryRun::new(&model, &*splitter, args.cut.max_sentences).run(inputs);
    }
    if args.out.embeddings {
        chunker = chunker.with_embeddings();
    }
    let described = args.cut.described(&model);
    if talk.verbose {
        let others: Vec<String> = described.others.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let most = plural(described.max_sentences, "sentence");
        say(format_args!("threshold {}, at most {most}, {}", described.threshold, others.join(", ")));
    }
    let target = Target::new(args.out.output.as_deref(), args.out.format.ending(), inputs.files());
    let view = args.view(talk);
    let mut run = Run {
        args,
        chunker,
        counter,
        progress: Progress::new(talk, args.out.output.as_deref(), inputs.bytes()),
        writer: Writer::new(args.out.format, target, view, described)?,
        documents: 0,
        chunks: 0,
    };
    let mut failures = Failures::default();
    for document in inputs.documents() {
        let done = match document {
            Ok(document) => run.document(&document)?,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            run.progress.suspend(|| failures.add(&error));
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

/// What runs through all documents.
struct Run<'a> {
    args: &'a ChunkArgs,
    chunker: WindowChunker<SentenceTransformer>,
    counter: Option<Arc<dyn TokenCounter>>,
    progress: Progress,
    writer: Writer,
    documents: usize,
    chunks: usize,
}

impl Run<'_> {
    /// Chunks one document. The outer error ends the run (nothing can be written), the inner one is the document's.
    fn document(&mut self, document: &Document) -> anyhow::Result<anyhow::Result<()>> {
        let chunks = match self.chunker.chunks(&document.text).with_context(|| document.name.clone()) {
            Ok(chunks) => chunks,
            Err(error) => return Ok(Err(error)),
        };
        self.progress.document(&document.name);
        if let Err(error) = self.writer.begin(document) {
            return Ok(Err(error));
        }
        let mut entries = Vec::new();
        let counter = self.counter.as_deref().map(TokenCounter::name);
        let mut recorder = self.args.recorder(document, counter);
        let mut fragile = self.args.out.fragile.map(|eps| Fragile::new(eps, self.args.cut.threshold, &document.name));
        for chunk in chunks {
            interrupt::check()?;
            let chunk = match chunk.with_context(|| document.name.clone()) {
                Ok(chunk) => chunk,
                Err(error) => {
                    self.writer.abandon()?;
                    return Ok(Err(error));
                }
            };
            let record: Record<'_> = recorder.record(&chunk);
            if let Some(fragile) = &mut fragile {
                for line in fragile.decisions(&record, &chunk) {
                    self.progress.suspend(|| say(line));
                }
            }
            self.writer.chunk(&record, &chunk)?;
            self.chunks += 1;
            self.progress.bytes(chunk.span.end());
            if self.args.out.format.needs_entries() {
                entries.push(Entry { record, sentences: chunk.sentences });
            }
        }
        self.progress.bytes(document.text.len());
        self.writer.end(document, &entries)?;
        self.documents += 1;
        Ok(Ok(()))
    }
}

impl ChunkArgs {
    fn recorder<'d>(&self, document: &'d Document, counter: Option<&'d str>) -> Recorder<'d> {
        let recorder = Recorder::new(document.name.as_str(), counter)
            .with_lossy(document.lossy)
            .with_extra(document.extra.clone());
        // The page draws the similarity curve.
        if self.out.explain || self.out.format.needs_entries() { recorder.with_similarities() } else { recorder }
    }

    fn view(&self, talk: Talk) -> TextView {
        TextView {
            color: talk.colored(self.out.output.is_none()),
            terminal: self.out.output.is_none() && io::stdout().is_terminal(),
            explain: self.out.explain,
            threshold: self.cut.threshold,
        }
    }
}
