//! Words that several commands share, and the objects they name: token counters, models.

use std::io::{self, IsTerminal};
use std::num::NonZeroU64;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use horchunk::cache::Cache;
use horchunk::llm::{ChatApi, ChatEndpoint, ChatModel, Retry};
use horchunk::{
    CharacterGuess, Device, HubId, HubSettings, ModelError, ModelLoader, ModelSource, Precision, ProxyCounter,
    SentenceTransformer, Tiktoken, TiktokenEncoding, TokenCounter, TokenizerFile, locate_tokenizer,
};

use super::progress::Downloads;
use super::{Talk, Usage, interrupt, say};

/// Which model embeds, and where it runs.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// bundled, static, a model folder, or a Hugging Face id (org/name, org/name@revision)
    #[arg(long, value_name = "MODEL", env = "HORCHUNK_MODEL", default_value = "bundled", value_parser = NonEmptyStringValueParser::new())]
    pub(super) model: String,
    /// auto, cpu, cuda, cuda:N or metal
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// f32, int8 (faster on processors with VNNI; a few cuts fall elsewhere) or checked (faster there, too; the bundled model's cuts are those of f32)
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Threads to compute with [default: all cores, or what `RAYON_NUM_THREADS` says]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Put in front of every text that is embedded, for models that want it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    text_prefix: String,
    /// Put in front of every question instead [default: as --text-prefix]
    #[arg(long, value_name = "TEXT")]
    query_prefix: Option<String>,
}

impl ModelArgs {
    /// Sets the number of threads and loads the model.
    pub(super) fn load(&self, talk: Talk) -> anyhow::Result<SentenceTransformer> {
        let model = self.open("--model", &self.model, talk, ModelLoader::load)?;
        let query = self.query_prefix.as_deref().unwrap_or(&self.text_prefix);
        Ok(model.with_text_prefix(&self.text_prefix).with_query_prefix(query))
    }

    /// Loads another model, named by `flag`, as this one is: a second one after [`Self::load`].
    pub(super) fn load_beside<M>(
        &self,
        flag: &str,
        name: &str,
        talk: Talk,
        load: impl FnOnce(ModelLoader<'static>) -> Result<M, ModelError>,
    ) -> anyhow::Result<M> {
        // What the first model is computed in need not do for the second.
        let args = Self { device: "auto".to_owned(), precision: Precision::F32, threads: None, ..self.clone() };
        args.open(flag, name, talk, load)
    }

    fn open<M>(
        &self,
        flag: &str,
        name: &str,
        talk: Talk,
        load: impl FnOnce(ModelLoader<'static>) -> Result<M, ModelError>,
    ) -> anyhow::Result<M> {
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
            pool.build_global().context("the threads could not be started")?;
        }
        let device: Device = self.device.parse().map_err(|error| Usage(format!("--device: {error}")))?;
        let source: ModelSource = name.parse().with_context(|| format!("{flag} {name}"))?;
        if !self.precision.is_accelerated() && !talk.quiet {
            say(format_args!(
                "--precision {}: this processor has no 8-bit products; f32 is faster here",
                self.precision
            ));
        }
        let downloads = Downloads::new(!talk.quiet && io::stderr().is_terminal());
        let loader = ModelLoader::new(source)
            .with_device(device)
            .with_precision(self.precision)
            .with_progress(move |download| downloads.show(download));
        load(loader).map_err(|error| match error {
            ModelError::NotCompiled { .. } => Usage(format!("--device {device}: {error}")).into(),
            ModelError::Static { .. } => Usage(format!("{flag} {name}: {error}")).into(),
            error => anyhow::Error::new(error).context(format!("the model {name} cannot be used")),
        })
    }
}

/// A chunker in words, at the threshold of its model where it has one and the words name none.
pub(super) fn at_threshold_of_model(words: &str, threshold: Option<f32>) -> String {
    let (name, settings) = words.split_once(':').unwrap_or((words, ""));
    let given = settings.split(',').any(|given| given.split('=').next().is_some_and(|name| name.trim() == "t"));
    match threshold.filter(|_| name == "window" && !given) {
        Some(threshold) if settings.is_empty() => format!("{name}:t={threshold}"),
        Some(threshold) => format!("{name}:t={threshold},{settings}"),
        None => words.to_owned(),
    }
}

/// Which language model is asked, by what asks one.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Language model")]
pub(super) struct ChatArgs {
    /// The language model to ask; its key is read from `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`
    #[arg(long = "llm", value_name = "MODEL", env = "HORCHUNK_LLM")]
    llm: Option<String>,
    /// Its address, as <http://localhost:11434/v1> [default: the vendor's, or `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`]
    #[arg(long = "llm-url", value_name = "URL", requires = "llm")]
    url: Option<String>,
    /// How it wants to be asked
    #[arg(long = "llm-api", value_name = "API", default_value = "openai", requires = "llm")]
    api: Api,
    /// Seconds that it may take for a reply
    #[arg(long = "llm-timeout", value_name = "SECONDS", default_value = "300", requires = "llm")]
    timeout: NonZeroU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Api {
    /// `OpenAI`, Ollama, vLLM, llama.cpp and most others
    Openai,
    /// Anthropic
    Anthropic,
}

impl ChatArgs {
    /// The model, if one is named. No request is made yet.
    pub(super) fn open(&self) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
        self.open_with(None)
    }

    /// The same with replies remembered, where there is a cache.
    pub(super) fn open_with(&self, cache: Option<Arc<Cache>>) -> anyhow::Result<Option<Arc<dyn ChatModel>>> {
        let Some(model) = &self.llm else { return Ok(None) };
        let api = match self.api {
            Api::Openai => ChatApi::OpenAi,
            Api::Anthropic => ChatApi::Anthropic,
        };
        let endpoint = ChatEndpoint::from_env(api, model.as_str());
        let mut endpoint = endpoint.with_timeout(Duration::from_secs(self.timeout.get()));
        if let Some(url) = &self.url {
            endpoint = endpoint.with_base_url(url);
        }
        if let Some(cache) = cache {
            endpoint = endpoint.with_cache(cache);
        }
        interrupt::listen();
        let endpoint = endpoint.with_retry(Retry::default().with_sleep(|time| {
            if time.as_secs() >= 2 {
                say(format_args!("the language model's server wants to be asked again in {} s", time.as_secs()));
            }
            interrupt::sleep(time)
        }));
        Ok(Some(Arc::new(interrupt::Interruptible(endpoint.open().context("--llm")?))))
    }
}

/// Counters that have a name.
const COUNTERS: &str = "o200k_base, cl100k_base, p50k_base, r50k_base, wordpiece, chars/4 and none";

/// `--tokens`: who counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CounterName {
    Tiktoken(TiktokenEncoding),
    Proxy(ProxyCounter),
    WordPiece,
    Guess,
    None,
    /// A file, a folder or a hub id.
    File(String),
}

impl Default for CounterName {
    fn default() -> Self {
        Self::Tiktoken(TiktokenEncoding::default())
    }
}

impl FromStr for CounterName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            // What a model's own counter calls itself where it is no WordPiece.
            "wordpiece" | "model" => Ok(Self::WordPiece),
            CharacterGuess::NAME => Ok(Self::Guess),
            "none" => Ok(Self::None),
            "" => Err(format!("name one of {COUNTERS}, or a tokenizer.json")),
            name => Ok(name
                .parse()
                .map(Self::Tiktoken)
                .or_else(|_| name.parse().map(Self::Proxy))
                .unwrap_or_else(|_| Self::File(name.to_owned()))),
        }
    }
}

impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tiktoken(encoding) => encoding.fmt(f),
            Self::Proxy(proxy) => f.write_str(proxy.name()),
            Self::WordPiece => f.write_str("wordpiece"),
            Self::Guess => f.write_str(CharacterGuess::NAME),
            Self::None => f.write_str("none"),
            Self::File(path) => f.write_str(path),
        }
    }
}

impl CounterName {
    /// The counter; `model` gives its own tokenizer for `wordpiece`.
    pub(super) fn load(
        &self,
        model: impl FnOnce() -> anyhow::Result<SentenceTransformer>,
        talk: Talk,
    ) -> anyhow::Result<Option<Arc<dyn TokenCounter>>> {
        Ok(match self {
            Self::None => None,
            Self::Tiktoken(encoding) => Some(Arc::new(Tiktoken::new(*encoding))),
            Self::Proxy(proxy) => Some(Arc::new(proxy.clone())),
            Self::WordPiece => Some(Arc::new(model()?)),
            Self::Guess => {
                say("--tokens chars/4 guesses: in many languages a text has twice as many tokens or more");
                Some(Arc::new(CharacterGuess))
            }
            Self::File(name) => Some(Arc::new(
                tokenizer(name, talk)
                    .with_context(|| format!("--tokens {name}: neither one of {COUNTERS}, nor a tokenizer.json"))?,
            )),
        })
    }
}

/// The tokenizer of a file, a folder, or a repository of the hub.
fn tokenizer(name: &str, talk: Talk) -> anyhow::Result<TokenizerFile> {
    let path = Path::new(name);
    let id = if path.exists() { None } else { name.parse::<HubId>().ok() };
    let Some(id) = id else {
        let inside = path.join("tokenizer.json");
        return Ok(TokenizerFile::from_path(if path.is_dir() { &inside } else { path })?);
    };
    let downloads = Downloads::new(!talk.quiet && io::stderr().is_terminal());
    let file = locate_tokenizer(&id, &HubSettings::from_env(), &mut |download| downloads.show(download))?;
    named_tokenizer(name, &file)
}

/// The tokenizer of a file, under another name than the file's.
pub(super) fn named_tokenizer(name: &str, file: &Path) -> anyhow::Result<TokenizerFile> {
    let bytes = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(TokenizerFile::from_bytes(name, &bytes)?)
}
