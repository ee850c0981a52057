//! Large language models: how much text fits into which one, and who counts it.
//!
//! The registry inside is data, `models/llms.toml`, with its sources; files of the same form and rows made in code
//! add to it. A name that nobody knows is an error with the names that are near, never a model by default.

mod check;
mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use time::Date;

use super::{ProxyCounter, Tiktoken, TiktokenEncoding, TokenCounter};

pub use check::RegistryFinding;

/// The rows that ship with this crate.
const BUNDLED: &str = include_str!("../../models/llms.toml");

/// What errors call them.
const INSIDE_NAME: &str = "the registry inside";

/// A language model: what of it matters for fitting text into it. All sizes are tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Llm {
    /// Its name, in lower case as its vendor's API spells it.
    pub id: String,
    /// Other names of it.
    pub aliases: Vec<String>,
    /// Who makes or serves it.
    pub provider: String,
    /// Tokens of question, text and answer together.
    pub context: usize,
    /// Tokens of the largest answer.
    pub max_output: usize,
    /// Id of its tokenizer, an [`LlmTokenizer`] of the same registry.
    pub tokenizer: String,
    /// Tokens kept back for question and answer unless another number is asked for.
    pub reserve: usize,
    /// The page where these facts stand.
    pub source: String,
    /// The day they were looked at.
    pub date: Date,
    /// What else is to be said of them.
    pub note: Option<String>,
}

/// How the tokens of a model are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmTokenizer {
    /// What models call it.
    pub id: String,
    /// Where it is.
    pub place: TokenizerPlace,
    /// What stands in for it.
    pub proxy: Option<Proxy>,
}

/// Where a tokenizer is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenizerPlace {
    /// In this crate.
    Built(TiktokenEncoding),
    /// In a `tokenizer.json` that anyone can get.
    File {
        /// A Hugging Face repository that has it.
        hub: String,
    },
    /// With its vendor only.
    Unpublished,
}

/// An encoding that stands in for a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proxy {
    /// Whose tokens are counted.
    pub encoding: TiktokenEncoding,
    /// What their number is multiplied by: the worst ratio that was measured over 18 languages.
    pub factor: f64,
    /// Whether it was measured with this very tokenizer; if not, the worst one of its kind stands.
    pub measured: bool,
}

/// Why a model or its budget could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nobody knows the model.
    #[error("no language model is named {name:?}{}; `horchunk models llms` lists all, a file of yours can add more", listed(.near))]
    Unknown {
        /// The name asked for.
        name: String,
        /// Names that look like it, the nearest first.
        near: Vec<String>,
    },
    /// A file could not be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// A row is not as rows must be.
    #[error("{place}, line {line}: {message}")]
    Row {
        /// The file, or another word for where the rows come from.
        place: String,
        /// From 1.
        line: usize,
        /// The row, the field, and what is wrong with it.
        message: String,
    },
    /// Nothing is left for text.
    #[error("a reserve of {reserve} tokens leaves nothing of the {context} that {model} takes: keep back less")]
    Reserve {
        /// The model.
        model: String,
        /// Tokens to keep back.
        reserve: usize,
        /// Tokens it takes.
        context: usize,
    },
    /// The model's tokenizer must be fetched first.
    #[error(
        "the tokenizer of {model} is not built in: name its tokenizer.json or a folder that holds one with --tokens (it \
         is that of the Hugging Face repository {hub}), or take --allow-proxy to count by {proxy}"
    )]
    NotAtHand {
        /// The model.
        model: String,
        /// A repository that has it.
        hub: String,
        /// What would stand in for it.
        proxy: String,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; near to it are {}", names.join(", ")) }
}

/// Language models by name.
///
/// ```
/// use horchunk::LlmRegistry;
///
/// let registry = LlmRegistry::bundled();
/// let model = registry.find("gpt-4o-mini")?;
/// assert_eq!((model.context, model.budget(Some(1024))?), (128_000, 126_976));
/// assert_eq!(registry.counter(model, false)?.name(), "o200k_base");
///
/// let error = registry.find("gpt-4o-mimi").unwrap_err();
/// assert!(error.to_string().contains("near to it are gpt-4o-mini"));
/// # Ok::<(), horchunk::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LlmRegistry {
    models: BTreeMap<String, Llm>,
    tokenizers: BTreeMap<String, LlmTokenizer>,
}

impl LlmRegistry {
    /// The models that this crate knows.
    ///
    /// # Panics
    ///
    /// Never: a test reads the rows inside.
    #[must_use]
    pub fn bundled() -> Self {
        static INSIDE: LazyLock<LlmRegistry> = LazyLock::new(|| {
            let mut registry = LlmRegistry::default();
            registry.add_rows(INSIDE_NAME, BUNDLED).expect("the rows inside keep the laws");
            registry
        });
        INSIDE.clone()
    }

    /// The tokenizers that this crate knows, and no model: for a file of models to be compared with.
    #[must_use]
    pub fn bundled_tokenizers() -> Self {
        Self { models: BTreeMap::new(), ..Self::bundled() }
    }

    /// Adds the rows of a file of the form of `models/llms.toml`; a row replaces one of the same id.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Read`]; [`RegistryError::Row`] for the first row that breaks a law. Nothing is added then.
    pub fn add_file(&mut self, path: impl AsRef<Path>) -> Result<(), RegistryError> {
        let path = path.as_ref();
        let rows =
            std::fs::read_to_string(path).map_err(|source| RegistryError::Read { path: path.to_owned(), source })?;
        self.add_rows(&path.display().to_string(), &rows)
    }

    /// Adds rows in TOML, which come from `place`.
    ///
    /// # Errors
    ///
    /// As [`Self::add_file`].
    pub fn add_rows(&mut self, place: &str, rows: &str) -> Result<(), RegistryError> {
        let rows = file::Rows::read(place, rows)?;
        let mut registry = self.clone();
        let problem = registry.add_all(&rows).into_iter().next();
        if let Some(problem) = problem {
            return Err(rows.error(&problem));
        }
        *self = registry;
        Ok(())
    }

    /// Adds or replaces a model.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Row`] if it breaks a law: a name that another model has, no such tokenizer, a reserve that
    /// leaves nothing.
    pub fn add(&mut self, model: Llm) -> Result<(), RegistryError> {
        if let Some((field, message)) = self.flaws(&model).into_iter().next() {
            let message = format!("model {:?}: {field}: {message}", model.id);
            return Err(RegistryError::Row { place: "a model made in code".to_owned(), line: 1, message });
        }
        self.models.insert(model.id.clone(), model);
        Ok(())
    }

    /// Adds or replaces a tokenizer.
    pub fn add_tokenizer(&mut self, tokenizer: LlmTokenizer) {
        self.tokenizers.insert(tokenizer.id.clone(), tokenizer);
    }

    /// All models, by id.
    pub fn models(&self) -> impl Iterator<Item = &Llm> {
        self.models.values()
    }

    /// The model of this id or alias, in any case.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Unknown`] with the names that are near.
    pub fn find(&self, name: &str) -> Result<&Llm, RegistryError> {
        let wanted = name.trim().to_lowercase();
        let by_alias = || self.models().find(|model| model.aliases.contains(&wanted));
        self.models
            .get(&wanted)
            .or_else(by_alias)
            .ok_or_else(|| RegistryError::Unknown { name: name.to_owned(), near: self.near(&wanted) })
    }

    fn near(&self, wanted: &str) -> Vec<String> {
        const SHOWN: usize = 3;
        const ALIKE: f64 = 0.8;
        let names = self.models().flat_map(|model| [&model.id].into_iter().chain(&model.aliases));
        let mut near: Vec<(f64, &String)> =
            names.map(|name| (strsim::jaro_winkler(wanted, name), name)).filter(|(alike, _)| *alike >= ALIKE).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        near.into_iter().take(SHOWN).map(|(_, name)| name.clone()).collect()
    }

    /// How the tokens of a model of this registry are counted; `None` for a model of another one.
    #[must_use]
    pub fn tokenizer(&self, model: &Llm) -> Option<&LlmTokenizer> {
        self.tokenizers.get(&model.tokenizer)
    }

    /// Who counts the tokens of `model`, as far as that is built in. A tokenizer that nobody publishes has only its
    /// proxy; for one that must be fetched the proxy stands in only where that is allowed.
    ///
    /// # Errors
    ///
    /// [`RegistryError::NotAtHand`]
    pub fn counter(&self, model: &Llm, allow_proxy: bool) -> Result<Arc<dyn TokenCounter>, RegistryError> {
        let tokenizer = self.tokenizer(model);
        let proxy = tokenizer.and_then(|tokenizer| tokenizer.proxy).unwrap_or(Proxy::OF_THE_UNKNOWN);
        let counter = ProxyCounter::new(proxy.encoding, proxy.factor);
        match tokenizer.map(|tokenizer| &tokenizer.place) {
            Some(TokenizerPlace::Built(encoding)) => Ok(Arc::new(Tiktoken::new(*encoding))),
            Some(TokenizerPlace::File { hub }) if !allow_proxy => Err(RegistryError::NotAtHand {
                model: model.id.clone(),
                hub: hub.clone(),
                proxy: counter.name().to_owned(),
            }),
            _ => Ok(Arc::new(counter)),
        }
    }
}

impl Proxy {
    /// The worst of large vocabularies; see `models/llms.toml`.
    const OF_THE_UNKNOWN: Self = Self { encoding: TiktokenEncoding::Cl100kBase, factor: 1.36, measured: false };
}

impl Llm {
    /// Tokens of text that fit beside a reserve, the model's own if none is given.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Reserve`] if nothing is left.
    pub fn budget(&self, reserve: Option<usize>) -> Result<usize, RegistryError> {
        let reserve = reserve.unwrap_or(self.reserve);
        let left = self.context.checked_sub(reserve).filter(|&left| left > 0);
        left.ok_or_else(|| RegistryError::Reserve { model: self.id.clone(), reserve, context: self.context })
    }
}

#[cfg(test)]
mod tests;
