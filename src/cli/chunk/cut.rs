//! Where `horchunk chunk` cuts: from flags to a chunker.

use std::sync::Arc;

use horchunk::cache::Cache;
use horchunk::tuning::Profile;
use horchunk::{
    Borders, CachedChunker, CappedChunker, Chunk, ChunkError, Chunker, ChunkerParts, ChunkerSpec, Chunks, Embedder,
    Precision, Prefer, SentenceTransformer, SettingsError, SpecError, SplitterName, TokenCounter, WindowChunker,
};

use crate::cli::for_model::{BudgetArgs, ForModel};
use crate::cli::interrupt::Interruptible;
use crate::cli::settings::{ChatArgs, CounterName, at_threshold_of_model};
use crate::cli::tune::profile_folders;
use crate::cli::writer::Described;
use crate::cli::{Talk, Usage, plural};

/// Where to cut.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Where to cut")]
pub(in crate::cli) struct CutArgs {
    /// The chunker, with settings behind a colon where it has some, as in recursive:size=250,overlap=50; one of window,
    /// sentences, recursive, fixed-token, kamradt, percentile, cluster, llm, budget, budget-search
    #[arg(long, value_name = "CHUNKER", default_value = "window")]
    chunker: String,
    /// Take threshold, alpha and sentences from a profile that horchunk tune wrote: a path, or a name in ./tuning, in
    /// the folder of settings or inside (see horchunk tune profiles); flags beat it
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Close a chunk when its similarity to its first sentence falls below T, from -1 to 1 [default: the model's own, or
    /// 0.72]
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
    max_tokens: Option<usize>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Join a chunk of fewer tokens to the neighbour that it is more alike (window only)
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    min_tokens: usize,
    /// Repeat up to N sentences from the end of the chunk before (window only)
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    overlap_sentences: usize,
    /// Repeat up to N tokens from the end of the chunk before (recursive, fixed-token, budget, budget-search)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    overlap_tokens: Option<usize>,
    /// Where fill and paragraphs are at odds: fill, or structure, which leaves room rather than cut a paragraph (budget
    /// only) [default: fill]
    #[arg(long, value_name = "WHAT")]
    prefer: Option<Prefer>,
    /// Find sentences by: unicode, rule, paragraph, token[:N], recursive[:N] [default: unicode]
    #[arg(long, value_name = "SPLITTER")]
    sentences: Option<SplitterName>,
    /// Count tokens by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, none, chars/4, a tokenizer.json
    /// or a folder or Hugging Face id that has one [default: as --for-model counts, otherwise `cl100k_base`]
    #[arg(long, value_name = "COUNTER")]
    tokens: Option<CounterName>,
    /// Give white space between chunks to the chunk before it: joined, the chunks are the file (window only)
    #[arg(long)]
    keep_whitespace: bool,
}

impl CutArgs {
    /// What is meant. What cannot be meant is said here, before a model is loaded.
    pub(in crate::cli) fn plan(&self) -> anyhow::Result<CutPlan<'_>> {
        self.plan_with(&[])
    }

    /// The same where other flags are given that only the dynamic window obeys.
    pub(super) fn plan_with(&self, only_window: &[(&str, bool)]) -> anyhow::Result<CutPlan<'_>> {
        let profile = self.profile()?;
        let llm = self.budget.model()?;
        let cap = self.max_tokens.into_iter().chain(llm.as_ref().map(|llm| llm.budget)).min();
        let spec = self.spec(profile.as_ref(), None, cap)?;
        let own = [
            ("--min-tokens", self.min_tokens > 0),
            ("--overlap-sentences", self.overlap_sentences > 0),
            ("--keep-whitespace", self.keep_whitespace),
        ];
        let unheeded = own.iter().chain(only_window).find(|(_, given)| *given && spec.name() != "window");
        if let Some((flag, _)) = unheeded {
            return Err(Usage(format!("{flag} is for the chunker window, not for {}", spec.name())).into());
        }
        Ok(CutPlan { args: self, profile, llm, cap })
    }

    /// The profile, where one is named.
    fn profile(&self) -> anyhow::Result<Option<Profile>> {
        let Some(name) = &self.profile else { return Ok(None) };
        let profile = Profile::find(name, &profile_folders())?;
        if self.chunker.split(':').next() != Some("window") {
            return Err(Usage(format!("--profile is for the chunker window, not for {}", self.chunker)).into());
        }
        Ok(Some(profile))
    }

    /// The chunker that is meant: flags are settings in other words, and so is a profile where no flag is given. The
    /// model's own threshold stands in for one that nobody names.
    fn spec(&self, profile: Option<&Profile>, of_model: Option<f32>, cap: Option<usize>) -> Result<ChunkerSpec, Usage> {
        let mut words = self.chunker.clone();
        let mut set = |setting: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push(if words.contains(':') { ',' } else { ':' });
                words.extend([setting, "=", &value]);
            }
        };
        let settings = self.chunker.split_once(':').map_or("", |(_, settings)| settings);
        let open = |setting: &str| settings.split(',').all(|given| given.split('=').next() != Some(setting));
        let of_profile = |setting: &str, value: fn(&Profile) -> String| profile.filter(|_| open(setting)).map(value);
        let threshold = self.threshold.map(|threshold| threshold.to_string());
        set("t", threshold.or_else(|| of_profile("t", |profile| profile.threshold.to_string())));
        let most = self.max_sentences.map(|most| most.to_string());
        set("alpha", most.or_else(|| of_profile("alpha", |profile| profile.max_sentences.to_string())));
        set("borders", self.borders.map(|borders| borders.to_string()));
        let sentences = self.sentences.map(|sentences| sentences.to_string());
        set("sentences", sentences.or_else(|| of_profile("sentences", |profile| profile.sentences.clone())));
        let fills = matches!(self.chunker.split(':').next(), Some("budget" | "budget-search"));
        set("size", cap.filter(|_| fills && open("size")).map(|cap| cap.to_string()));
        set("overlap", self.overlap_tokens.map(|overlap| overlap.to_string()));
        set("prefer", self.prefer.map(|prefer| prefer.to_string()));
        let words = at_threshold_of_model(&words, of_model);
        let spec: ChunkerSpec = words.parse().map_err(|error: SpecError| Usage(format!("--chunker: {error}")))?;
        let by_tokens = matches!(spec, ChunkerSpec::Window { sentences, .. } if sentences.needs_counter());
        if by_tokens && self.tokens == Some(CounterName::None) {
            return Err(Usage("--sentences by tokens needs a counter: not --tokens none".to_owned()));
        }
        Ok(spec)
    }
}

/// What the flags mean, before there is a model to do it.
pub(in crate::cli) struct CutPlan<'a> {
    args: &'a CutArgs,
    profile: Option<Profile>,
    /// The language model that the chunks are for.
    llm: Option<ForModel>,
    cap: Option<usize>,
}

impl<'a> CutPlan<'a> {
    /// What the language model that the chunks are for takes, where one is named.
    pub(in crate::cli) fn model_budget(&self) -> Option<usize> {
        self.llm.as_ref().map(|llm| llm.budget)
    }

    /// The plan with a model.
    pub(in crate::cli) fn open(self, model: SentenceTransformer, talk: Talk) -> anyhow::Result<Cut<'a>> {
        let Self { args, profile, llm, cap } = self;
        let spec = args.spec(profile.as_ref(), model.info().threshold, cap)?;
        if let Some(profile) = profile {
            profile.check_model(&model.info().name, &model.weights_sha256()?, model.text_prefix())?;
        }
        let own_tokenizer = || Ok(model.clone());
        let counter = match (&args.tokens, llm) {
            (Some(tokens), _) => tokens.load(own_tokenizer, talk)?,
            (None, Some(llm)) => Some(llm.counter(talk)?),
            (None, None) => CounterName::default().load(own_tokenizer, talk)?,
        };
        Ok(Cut { args, model, spec, counter, cap })
    }
}

/// Everything that decides where to cut.
pub(in crate::cli) struct Cut<'a> {
    args: &'a CutArgs,
    pub(in crate::cli) model: SentenceTransformer,
    pub(in crate::cli) spec: ChunkerSpec,
    /// Who counts tokens, where they are counted.
    pub(in crate::cli) counter: Option<Arc<dyn TokenCounter>>,
    /// The most tokens of a chunk.
    cap: Option<usize>,
}

impl Cut<'_> {
    /// The chunker, whichever it is.
    pub(in crate::cli) fn chunker(&self, chat: &ChatArgs) -> anyhow::Result<Box<dyn Chunker>> {
        match self.window()? {
            Some(chunker) => Ok(Box::new(chunker)),
            None => self.whole(chat),
        }
    }

    /// The same with its chunks remembered, where that saves work and they follow from what is inside this program:
    /// other models and tokenizers may change behind their names.
    pub(in crate::cli) fn remembering(
        &self,
        chat: &ChatArgs,
        cache: Option<&Arc<Cache>>,
    ) -> anyhow::Result<Box<dyn Chunker>> {
        let chunker = self.chunker(chat)?;
        let (args, model) = (self.args, self.model.info());
        let counter = self.counter.as_deref().map_or("none", TokenCounter::name);
        let is_inside = model.folder.is_none() && !matches!(counter.parse(), Ok(CounterName::File(_)) | Err(_));
        let with_an_encoder = model.max_length < usize::MAX
            && matches!(
                self.spec,
                ChunkerSpec::Window { .. }
                    | ChunkerSpec::Kamradt { .. }
                    | ChunkerSpec::Percentile { .. }
                    | ChunkerSpec::Cluster { .. }
            );
        let Some(cache) = cache.filter(|_| is_inside && with_an_encoder) else { return Ok(chunker) };
        let identity = [
            self.spec.to_string(),
            format!("{:?}", self.cap),
            args.min_tokens.to_string(),
            args.overlap_sentences.to_string(),
            args.keep_whitespace.to_string(),
            counter.to_owned(),
            model.name.clone(),
            model.precision.to_string(),
            model.device.to_string(),
            self.model.text_prefix().to_owned(),
        ];
        Ok(Box::new(CachedChunker::new(chunker, Arc::clone(cache), identity)))
    }

    /// The dynamic window with all its settings, if it is the chunker.
    pub(super) fn window(&self) -> anyhow::Result<Option<CliWindow>> {
        let ChunkerSpec::Window { threshold, max_sentences, borders, sentences } = self.spec else { return Ok(None) };
        let args = self.args;
        let limited = || {
            let chunker = WindowChunker::new(Interruptible(self.model.clone())).with_threshold(threshold)?;
            let mut chunker = chunker.with_max_sentences(max_sentences)?;
            if let Some(max_tokens) = self.cap {
                chunker = chunker.with_max_tokens(max_tokens)?;
            }
            chunker = chunker.with_min_tokens(args.min_tokens)?.with_overlap_sentences(args.overlap_sentences)?;
            if args.keep_whitespace { chunker.with_kept_white_space() } else { Ok(chunker) }
        };
        let chunker = limited().map_err(|error: SettingsError| Usage(error.to_string()))?;
        let chunker = chunker.with_splitter(sentences.splitter(self.counter.as_ref())?).with_borders(borders);
        Ok(Some(match &self.counter {
            Some(counter) => chunker.with_counter(Arc::clone(counter)),
            None => chunker.without_counter().map_err(|error| Usage(format!("--tokens none: {error}")))?,
        }))
    }

    /// Any other chunker, which cuts the whole text before it hands out a chunk.
    pub(super) fn whole(&self, chat: &ChatArgs) -> anyhow::Result<Box<dyn Chunker>> {
        let spec = &self.spec;
        let counter = self
            .counter
            .as_ref()
            .ok_or_else(|| Usage(format!("--tokens none is for the chunker window, not for {}", spec.name())))?;
        let parts = ChunkerParts::new(Interruptible(self.model.clone()), Arc::clone(counter))
            .with_chat(if *spec == ChunkerSpec::Llm { chat.open()? } else { None });
        let usage = |error: SettingsError| match error {
            SettingsError::NoChatModel => Usage("the chunker llm asks a language model: name one with --llm".into()),
            error => Usage(format!("--chunker {spec}: {error}")),
        };
        let chunker = spec.build(&parts).map_err(usage)?;
        Ok(match self.cap {
            None => chunker,
            Some(cap) => Box::new(CappedChunker::new(chunker, Arc::clone(counter), cap).map_err(usage)?),
        })
    }

    /// The settings as a reader of the result wants to see them.
    pub(in crate::cli) fn described(&self) -> Described {
        let (args, model) = (self.args, self.model.info());
        let counter = self.counter.as_deref().map_or("none", TokenCounter::name);
        let mut all = vec![("model", model.name.clone()), ("tokens by", counter.to_owned())];
        if model.precision != Precision::F32 {
            all.insert(1, ("precision", model.precision.to_string()));
        }
        let (mut threshold, mut max_sentences) = (None, None);
        if let ChunkerSpec::Window { threshold: t, max_sentences: most, borders, sentences } = &self.spec {
            (threshold, max_sentences) = (Some(*t), Some(*most));
            all.insert(1, ("sentences by", sentences.to_string()));
            all.push(("borders", borders.to_string()));
        } else {
            all.insert(0, ("chunker", self.spec.to_string()));
        }
        all.extend(self.cap.map(|cap| ("token cap", cap.to_string())));
        all.extend((args.min_tokens > 0).then(|| ("at least", plural(args.min_tokens, "token"))));
        all.extend((args.overlap_sentences > 0).then(|| ("overlap", plural(args.overlap_sentences, "sentence"))));
        all.extend(args.keep_whitespace.then(|| ("white space", "kept".to_owned())));
        let others = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Described { threshold, max_sentences, others }
    }
}

/// The dynamic window as the program uses it.
pub(super) type CliWindow = WindowChunker<Interruptible<SentenceTransformer>>;

/// The chunker of a run.
pub(super) enum AnyChunker {
    /// Hands out a chunk as soon as it is cut.
    Window(Box<CliWindow>),
    /// Cuts the whole text first.
    Whole(Box<dyn Chunker>),
}

/// The chunks of one text, in order.
pub(super) type ChunkIter<'a> = Box<dyn Iterator<Item = Result<Chunk<'a>, ChunkError>> + 'a>;

impl AnyChunker {
    /// The one that hands out chunks as they are cut, if it is that.
    pub(super) fn window(&self) -> Option<&CliWindow> {
        match self {
            Self::Window(chunker) => Some(chunker),
            Self::Whole(_) => None,
        }
    }

    /// Whether several texts are cut faster together.
    pub(super) fn is_faster_together(&self) -> bool {
        match self {
            Self::Window(chunker) => chunker.embedder().tokens_at_once() > 0,
            Self::Whole(_) => false,
        }
    }

    /// The chunks of each text: of one as they are found, of several embedded together before.
    pub(super) fn chunks<'a>(&'a self, texts: &[&'a str]) -> Vec<Result<ChunkIter<'a>, ChunkError>> {
        let boxed = |chunks: Result<Chunks<'a, 'a>, ChunkError>| Ok(Box::new(chunks?) as ChunkIter<'a>);
        match (self, texts) {
            (Self::Window(chunker), [text]) => vec![boxed(chunker.chunks(text))],
            (Self::Window(chunker), texts) => chunker.chunks_of(texts).into_iter().map(boxed).collect(),
            (Self::Whole(chunker), texts) => {
                let each = chunker.chunk_all(texts).into_iter();
                each.map(|chunks| Ok(Box::new(chunks?.into_iter().map(Ok)) as ChunkIter<'a>)).collect()
            }
        }
    }
}
