//! `horchunk chunk`: texts in, chunks out.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;
use horchunk::{
    Borders, CappedChunker, Chunk, ChunkError, Chunker, ChunkerParts, ChunkerSpec, ContextWeights, EmbeddedChunker,
    Record, Recorder, SentenceTransformer, SettingsError, SpecError, SplitterName, TokenCounter, WindowChunker,
};

use super::dry_run::DryRun;
use super::fragile::Fragile;
use super::html::Entry;
use super::input::{Document, InputArgs};
use super::interrupt::{self, Interruptible};
use super::output::{self, Target};
use super::progress::Progress;
use super::settings::{ChatArgs, CounterName, ModelArgs};
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
    chat: ChatArgs,
    #[command(flatten)]
    out: OutArgs,
}

/// Where to cut.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to cut")]
pub(super) struct CutArgs {
    /// The chunker, with settings behind a colon where it has some, as in recursive:size=250,overlap=50; one of window,
    /// sentences, recursive, fixed-token, kamradt, percentile, cluster, llm
    #[arg(long, value_name = "CHUNKER", default_value = "window")]
    chunker: String,
    /// Close a chunk when its similarity to its first sentence falls below T, from -1 to 1 [default: 0.72]
    #[arg(short, long, value_name = "T", allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// Most sentences of a chunk (alpha) [default: 6]
    #[arg(short = 'a', long, value_name = "N", allow_negative_numbers = true)]
    max_sentences: Option<usize>,
    /// Never cross: none, paragraph (line breaks) or blank-line [default: none]
    #[arg(long, value_name = "KIND")]
    borders: Option<Borders>,
    /// Most tokens of a chunk, counted exactly; a longer sentence is split by force
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) max_tokens: Option<usize>,
    /// Join a chunk of fewer tokens to the neighbour that it is more alike (window only)
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    min_tokens: usize,
    /// Repeat up to N sentences from the end of the chunk before (window only)
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    overlap_sentences: usize,
    /// Repeat up to N tokens from the end of the chunk before (recursive, fixed-token)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    overlap_tokens: Option<usize>,
    /// Find sentences by: unicode, rule, paragraph, token[:N], recursive[:N] [default: unicode]
    #[arg(long, value_name = "SPLITTER")]
    sentences: Option<SplitterName>,
    /// Count tokens by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, none, or a tokenizer.json
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
    /// Give white space between chunks to the chunk before it: joined, the chunks are the file (window only)
    #[arg(long)]
    keep_whitespace: bool,
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

impl CutArgs {
    /// The chunker that is meant: flags are settings in other words.
    fn spec(&self) -> Result<ChunkerSpec, Usage> {
        let mut words = self.chunker.clone();
        let mut set = |setting: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push(if words.contains(':') { ',' } else { ':' });
                words.extend([setting, "=", &value]);
            }
        };
        set("t", self.threshold.map(|threshold| threshold.to_string()));
        set("alpha", self.max_sentences.map(|most| most.to_string()));
        set("borders", self.borders.map(|borders| borders.to_string()));
        set("sentences", self.sentences.map(|sentences| sentences.to_string()));
        set("overlap", self.overlap_tokens.map(|overlap| overlap.to_string()));
        let spec: ChunkerSpec = words.parse().map_err(|error: SpecError| Usage(format!("--chunker: {error}")))?;
        if self.sentences.is_some_and(SplitterName::needs_counter) && self.tokens == CounterName::None {
            return Err(Usage("--sentences by tokens needs a counter: not --tokens none".to_owned()));
        }
        let only_window = [
            ("--min-tokens", self.min_tokens > 0),
            ("--overlap-sentences", self.overlap_sentences > 0),
            ("--keep-whitespace", self.keep_whitespace),
        ];
        match only_window.iter().find(|(_, given)| *given && spec.name() != "window") {
            Some((flag, _)) => Err(Usage(format!("{flag} is for the chunker window, not for {}", spec.name()))),
            None => Ok(spec),
        }
    }

    /// The dynamic window with all its settings.
    fn window(
        &self,
        spec: &ChunkerSpec,
        model: SentenceTransformer,
        counter: Option<&Arc<dyn TokenCounter>>,
    ) -> anyhow::Result<Option<WindowChunker<SentenceTransformer>>> {
        let ChunkerSpec::Window { threshold, max_sentences, borders, sentences } = *spec else { return Ok(None) };
        let limited = || {
            let mut chunker = WindowChunker::new(model).with_threshold(threshold)?.with_max_sentences(max_sentences)?;
            if let Some(max_tokens) = self.max_tokens {
                chunker = chunker.with_max_tokens(max_tokens)?;
            }
            chunker = chunker.with_min_tokens(self.min_tokens)?.with_overlap_sentences(self.overlap_sentences)?;
            if self.keep_whitespace { chunker.with_kept_white_space() } else { Ok(chunker) }
        };
        let chunker = limited().map_err(|error: SettingsError| Usage(error.to_string()))?;
        let chunker = chunker.with_splitter(sentences.splitter(counter)?).with_borders(borders);
        Ok(Some(match counter {
            Some(counter) => chunker.with_counter(Arc::clone(counter)),
            None => chunker.without_counter().map_err(|error| Usage(format!("--tokens none: {error}")))?,
        }))
    }

    /// The settings as a reader of the result wants to see them.
    fn described(&self, spec: &ChunkerSpec, model: &SentenceTransformer) -> Described {
        let mut all = vec![("model", model.info().name.clone()), ("tokens by", self.tokens.to_string())];
        let (mut threshold, mut max_sentences) = (None, None);
        if let ChunkerSpec::Window { threshold: t, max_sentences: most, borders, sentences } = spec {
            (threshold, max_sentences) = (Some(*t), Some(*most));
            all.insert(1, ("sentences by", sentences.to_string()));
            all.push(("borders", borders.to_string()));
        } else {
            all.insert(0, ("chunker", spec.to_string()));
        }
        all.extend(self.max_tokens.map(|cap| ("token cap", cap.to_string())));
        all.extend((self.min_tokens > 0).then(|| ("at least", plural(self.min_tokens, "token"))));
        all.extend((self.overlap_sentences > 0).then(|| ("overlap", plural(self.overlap_sentences, "sentence"))));
        all.extend(self.keep_whitespace.then(|| ("white space", "kept".to_owned())));
        let others = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Described { threshold, max_sentences, others }
    }
}

/// The chunker of a run.
enum AnyChunker {
    /// Hands out a chunk as soon as it is cut.
    Window(Box<WindowChunker<SentenceTransformer>>),
    /// Cuts the whole text first.
    Whole(Box<dyn Chunker>),
}

/// The chunks of one text, in order.
type ChunkIter<'a> = Box<dyn Iterator<Item = Result<Chunk<'a>, ChunkError>> + 'a>;

impl AnyChunker {
    fn chunks<'a>(&'a self, text: &'a str) -> Result<ChunkIter<'a>, ChunkError> {
        Ok(match self {
            Self::Window(chunker) => Box::new(chunker.chunks(text)?),
            Self::Whole(chunker) => Box::new(chunker.chunk(text)?.into_iter().map(Ok)),
        })
    }
}

impl ChunkArgs {
    fn chunker(
        &self,
        spec: &ChunkerSpec,
        model: &SentenceTransformer,
        counter: Option<&Arc<dyn TokenCounter>>,
    ) -> anyhow::Result<AnyChunker> {
        let window = self.cut.window(spec, model.clone(), counter)?;
        let (embeddings, context) = (self.out.embeddings, self.out.context.clone().unwrap_or_default());
        let whole: Box<dyn Chunker> = match window {
            Some(chunker) if context.is_empty() => {
                return Ok(AnyChunker::Window(Box::new(if embeddings { chunker.with_embeddings() } else { chunker })));
            }
            Some(chunker) => Box::new(chunker.with_embeddings()),
            None => {
                let counter = counter.ok_or_else(|| {
                    Usage(format!("--tokens none is for the chunker window, not for {}", spec.name()))
                })?;
                let parts = ChunkerParts::new(Interruptible(model.clone()), Arc::clone(counter))
                    .with_chat(if *spec == ChunkerSpec::Llm { self.chat.open()? } else { None });
                let usage = |error: SettingsError| match error {
                    SettingsError::NoChatModel => {
                        Usage("the chunker llm asks a language model: name one with --llm".into())
                    }
                    error => Usage(format!("--chunker {spec}: {error}")),
                };
                let chunker = spec.build(&parts).map_err(usage)?;
                match self.cut.max_tokens {
                    None => chunker,
                    Some(cap) => Box::new(CappedChunker::new(chunker, Arc::clone(counter), cap).map_err(usage)?),
                }
            }
        };
        if !embeddings {
            return Ok(AnyChunker::Whole(whole));
        }
        Ok(AnyChunker::Whole(Box::new(EmbeddedChunker::new(whole, model.clone()).with_context(context))))
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
    let spec = args.cut.spec()?;
    let inputs = args.input.open(args.out.output.as_deref())?;
    let model = args.model.load(talk)?;
    let counter = args.cut.tokens.load(|| Ok(model.clone()))?;
    let chunker = args.chunker(&spec, &model, counter.as_ref())?;
    if args.out.dry_run {
        let ChunkerSpec::Window { max_sentences, sentences, .. } = spec else {
            return Err(Usage(format!("--dry-run is for the chunker window, not for {}", spec.name())).into());
        };
        let splitter = sentences.splitter(counter.as_ref())?;
        return DryRun::new(&model, &*splitter, max_sentences).run(inputs);
    }
    let described = args.cut.described(&spec, &model);
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
        chunker,
        counter,
        progress: Progress::new(talk, args.out.output.as_deref(), inputs.bytes()),
        writer: Writer::new(args.out.format(), target, view, described)?,
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
    threshold: Option<f32>,
    chunker: AnyChunker,
    counter: Option<Arc<dyn TokenCounter>>,
    progress: Progress,
    writer: Writer,
    documents: usize,
    chunks: usize,
}

impl Run<'_> {
    /// Chunks one document. The outer error ends the run (nothing can be written), the inner one is the document's.
    fn document(&mut self, document: &Document) -> anyhow::Result<anyhow::Result<()>> {
        self.progress.document(&document.name);
        let chunks = match self.chunker.chunks(&document.text).with_context(|| document.name.clone()) {
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
        let counter = self.counter.as_deref().map(TokenCounter::name);
        let mut recorder = self.args.recorder(document, counter);
        let near = self.args.out.fragile.zip(self.threshold);
        let mut fragile = near.map(|(eps, threshold)| Fragile::new(eps, threshold, &document.name));
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
            if self.args.out.format().needs_entries() {
                entries.push(Entry { record, sentences: chunk.sentences });
            }
        }
        self.progress.bytes(document.text.len());
        if let Err(error) = self.writer.end(document, &entries) {
            // A file of the document's own is nothing to the others.
            return if self.writer.has_own_files() { Ok(Err(error)) } else { Err(error) };
        }
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
        if self.out.explain || self.out.format().needs_entries() { recorder.with_similarities() } else { recorder }
    }

    fn view(&self, talk: Talk, threshold: Option<f32>) -> TextView {
        TextView {
            color: talk.colored(self.out.output.is_none()),
            terminal: self.out.output.is_none() && io::stdout().is_terminal(),
            explain: self.out.explain,
            threshold,
        }
    }
}
