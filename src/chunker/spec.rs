//! Chunkers in words: `window:t=0.72,alpha=6`, `recursive:size=250,overlap=125`.
//!
//! What the command line, tables and sweeps name; each spelling is read back as it is written.

mod words;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{
    Borders, Breakpoints, BudgetChunker, BudgetSearchChunker, Chunker, ClusterChunker, FixedTokenChunker,
    KamradtChunker, LlmChunker, PercentileChunker, Prefer, RecursiveChunker, SentenceChunker, SettingsError,
    WindowChunker,
};
use crate::embedding::Embedder;
use crate::llm::ChatModel;
use crate::sentence::SplitterName;
use crate::tokens::TokenCounter;

use words::Settings;

/// A chunker with its settings.
///
/// ```
/// use horchunk::{ChunkerParts, ChunkerSpec, SentenceTransformer, Tiktoken};
///
/// let spec: ChunkerSpec = "recursive:size=200".parse()?;
/// assert_eq!((spec.name(), spec.parameters().as_str()), ("recursive", "size=200,overlap=0"));
/// let model = SentenceTransformer::bundled()?;
/// let parts = ChunkerParts::new(&model, Tiktoken::default());
/// let chunks = spec.build(&parts)?.chunk("Low tide is at noon.")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChunkerSpec {
    /// [`WindowChunker`]
    Window {
        /// A window that is less alike closes the chunk.
        threshold: f32,
        /// Most sentences of a chunk.
        max_sentences: usize,
        /// Where a chunk always ends.
        borders: Borders,
        /// How sentences are found.
        sentences: SplitterName,
    },
    /// [`SentenceChunker`]
    Sentences {
        /// Sentences of a chunk.
        max_sentences: usize,
        /// Where a chunk always ends.
        borders: Borders,
        /// How sentences are found.
        sentences: SplitterName,
    },
    /// [`RecursiveChunker`]
    Recursive {
        /// Tokens of a chunk at most.
        size: usize,
        /// Tokens repeated.
        overlap: usize,
    },
    /// [`FixedTokenChunker`]
    FixedToken {
        /// Tokens of a chunk.
        size: usize,
        /// Tokens repeated.
        overlap: usize,
    },
    /// [`KamradtChunker`]
    Kamradt {
        /// Tokens of a chunk on average.
        size: usize,
    },
    /// [`PercentileChunker`]
    Percentile {
        /// Which distances are cut.
        breakpoints: Breakpoints,
        /// How sentences are found.
        sentences: SplitterName,
    },
    /// [`ClusterChunker`]
    Cluster {
        /// Tokens of a chunk at most.
        size: usize,
        /// Tokens of the pieces that are put together.
        piece: usize,
    },
    /// [`LlmChunker`]
    Llm,
    /// [`BudgetChunker`]
    Budget {
        /// Tokens of a chunk at most.
        size: usize,
        /// Tokens repeated.
        overlap: usize,
        /// What is given up for the other.
        prefer: Prefer,
    },
    /// [`BudgetSearchChunker`]
    BudgetSearch {
        /// Tokens of a chunk at most.
        size: usize,
        /// Tokens repeated.
        overlap: usize,
    },
}

/// What a chunker is built from.
#[derive(Clone)]
pub struct ChunkerParts<E> {
    /// Embeds, for those that look at meaning.
    pub embedder: E,
    /// Counts tokens and measures sizes.
    pub counter: Arc<dyn TokenCounter>,
    /// Is asked by [`ChunkerSpec::Llm`].
    pub chat: Option<Arc<dyn ChatModel>>,
}

impl<E> ChunkerParts<E> {
    /// Parts without a language model.
    #[must_use]
    pub fn new(embedder: E, counter: impl TokenCounter + 'static) -> Self {
        Self { embedder, counter: Arc::new(counter), chat: None }
    }

    /// The same with a language model.
    #[must_use]
    pub fn with_chat(mut self, chat: Option<Arc<dyn ChatModel>>) -> Self {
        self.chat = chat;
        self
    }
}

impl<E> fmt::Debug for ChunkerParts<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkerParts")
            .field("counter", &self.counter.name())
            .field("chat", &self.chat.as_ref().map(|chat| chat.name().to_owned()))
            .finish_non_exhaustive()
    }
}

/// Why words name no chunker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no such chunker.
    #[error("unknown chunker {0:?}: take one of {names}", names = ChunkerSpec::NAMES.join(", "))]
    Name(String),
    /// The chunker has no such setting.
    #[error("the chunker {chunker} has no setting {setting:?}: it has {}", if known.is_empty() { "none" } else { known })]
    Setting {
        /// The chunker.
        chunker: &'static str,
        /// What was set.
        setting: String,
        /// What it has.
        known: String,
    },
    /// A setting has a value that it cannot have.
    #[error("{setting}={value} of the chunker {chunker}: {reason}")]
    Value {
        /// The chunker.
        chunker: &'static str,
        /// What was set.
        setting: String,
        /// To what.
        value: String,
        /// Why that cannot be.
        reason: String,
    },
    /// A setting is given more than once.
    #[error("the setting {setting} of the chunker {chunker} is given twice")]
    Twice {
        /// The chunker.
        chunker: &'static str,
        /// What was set.
        setting: String,
    },
    /// Words that are no setting.
    #[error("{words:?} is no setting of the chunker {chunker}: write setting=value, parted by commas")]
    NoSetting {
        /// The chunker.
        chunker: &'static str,
        /// The words.
        words: String,
    },
}

impl ChunkerSpec {
    /// All names.
    pub const NAMES: [&str; 10] = [
        "window",
        "sentences",
        "recursive",
        "fixed-token",
        "kamradt",
        "percentile",
        "cluster",
        "llm",
        "budget",
        "budget-search",
    ];

    /// The name in front of the settings.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Window { .. } => "window",
            Self::Sentences { .. } => "sentences",
            Self::Recursive { .. } => "recursive",
            Self::FixedToken { .. } => "fixed-token",
            Self::Kamradt { .. } => "kamradt",
            Self::Percentile { .. } => "percentile",
            Self::Cluster { .. } => "cluster",
            Self::Llm => "llm",
            Self::Budget { .. } => "budget",
            Self::BudgetSearch { .. } => "budget-search",
        }
    }

    /// The settings; borders and splitters only where they are not the default.
    #[must_use]
    pub fn parameters(&self) -> String {
        let optional = |borders: Borders, sentences: SplitterName| {
            let borders = (borders != Borders::None).then(|| format!(",borders={borders}"));
            let sentences = (sentences != SplitterName::default()).then(|| format!(",sentences={sentences}"));
            borders.unwrap_or_default() + &sentences.unwrap_or_default()
        };
        match self {
            Self::Window { threshold, max_sentences, borders, sentences } => {
                format!("t={threshold},alpha={max_sentences}{}", optional(*borders, *sentences))
            }
            Self::Sentences { max_sentences, borders, sentences } => {
                format!("alpha={max_sentences}{}", optional(*borders, *sentences))
            }
            Self::Recursive { size, overlap }
            | Self::FixedToken { size, overlap }
            | Self::BudgetSearch { size, overlap } => format!("size={size},overlap={overlap}"),
            Self::Budget { size, overlap, prefer } => {
                let prefer = (*prefer != Prefer::default()).then(|| format!(",prefer={prefer}"));
                format!("size={size},overlap={overlap}{}", prefer.unwrap_or_default())
            }
            Self::Kamradt { size } => format!("size={size}"),
            Self::Percentile { breakpoints, sentences } => {
                format!("rule={breakpoints}{}", optional(Borders::None, *sentences))
            }
            Self::Cluster { size, piece } => format!("size={size},piece={piece}"),
            Self::Llm => String::new(),
        }
    }

    /// The chunker, with vectors where it comes by them.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] for settings that cannot be, or a part that is missing.
    pub fn build<'e, E: Embedder + Clone + 'e>(
        &self,
        parts: &ChunkerParts<E>,
    ) -> Result<Box<dyn Chunker + 'e>, SettingsError> {
        let counter = &parts.counter;
        let embedder = parts.embedder.clone();
        let splitter = |name: SplitterName| name.splitter(Some(counter)).map_err(|_| SettingsError::NoTokens);
        let own = || Arc::clone(counter);
        Ok(match *self {
            Self::Window { threshold, max_sentences, borders, sentences } => Box::new(
                WindowChunker::new(embedder)
                    .with_threshold(threshold)?
                    .with_max_sentences(max_sentences)?
                    .with_splitter(splitter(sentences)?)
                    .with_borders(borders)
                    .with_counter(own())
                    .with_embeddings(),
            ),
            Self::Sentences { max_sentences, borders, sentences } => Box::new(
                SentenceChunker::new(max_sentences)?
                    .with_splitter(splitter(sentences)?)
                    .with_borders(borders)
                    .with_counter(own()),
            ),
            Self::Recursive { size, overlap } => Box::new(RecursiveChunker::new(own(), size)?.with_overlap(overlap)?),
            Self::FixedToken { size, overlap } => Box::new(FixedTokenChunker::new(own(), size)?.with_overlap(overlap)?),
            Self::Kamradt { size } => Box::new(KamradtChunker::new(embedder, own(), size)?),
            Self::Percentile { breakpoints, sentences } => Box::new(
                PercentileChunker::new(embedder, breakpoints)?.with_splitter(splitter(sentences)?).with_counter(own()),
            ),
            Self::Cluster { size, piece } => Box::new(ClusterChunker::new(embedder, own(), size, piece)?),
            Self::Llm => {
                let chat = parts.chat.clone().ok_or(SettingsError::NoChatModel)?;
                Box::new(LlmChunker::new(chat, own()))
            }
            Self::Budget { size, overlap, prefer } => {
                Box::new(BudgetChunker::new(own(), size)?.with_overlap(overlap)?.with_preference(prefer))
            }
            Self::BudgetSearch { size, overlap } => {
                Box::new(BudgetSearchChunker::new(own(), size)?.with_overlap(overlap)?)
            }
        })
    }
}

impl fmt::Display for ChunkerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameters().as_str() {
            "" => f.write_str(self.name()),
            parameters => write!(f, "{}:{parameters}", self.name()),
        }
    }
}

impl FromStr for ChunkerSpec {
    type Err = SpecError;

    fn from_str(words: &str) -> Result<Self, SpecError> {
        let (name, settings) = words.split_once(':').unwrap_or((words, ""));
        let Some(&chunker) = Self::NAMES.iter().find(|known| **known == name) else {
            return Err(SpecError::Name(name.to_owned()));
        };
        let mut settings = Settings::new(chunker, settings)?;
        let spec = match chunker {
            "window" => Self::Window {
                threshold: settings.take("t", WindowChunker::<&dyn Embedder>::DEFAULT_THRESHOLD)?,
                max_sentences: settings.take("alpha", WindowChunker::<&dyn Embedder>::DEFAULT_MAX_SENTENCES)?,
                borders: settings.take("borders", Borders::None)?,
                sentences: settings.take("sentences", SplitterName::default())?,
            },
            "sentences" => Self::Sentences {
                max_sentences: settings.take("alpha", 3)?,
                borders: settings.take("borders", Borders::None)?,
                sentences: settings.take("sentences", SplitterName::default())?,
            },
            "recursive" => Self::Recursive { size: settings.take("size", 250)?, overlap: settings.take("overlap", 0)? },
            "fixed-token" => {
                Self::FixedToken { size: settings.take("size", 250)?, overlap: settings.take("overlap", 0)? }
            }
            "kamradt" => Self::Kamradt { size: settings.take("size", 200)? },
            "percentile" => Self::Percentile {
                breakpoints: settings.take("rule", Breakpoints::default())?,
                sentences: settings.take("sentences", SplitterName::default())?,
            },
            "llm" => Self::Llm,
            "budget" => Self::Budget {
                size: settings.take("size", 512)?,
                overlap: settings.take("overlap", 0)?,
                prefer: settings.take("prefer", Prefer::default())?,
            },
            "budget-search" => {
                Self::BudgetSearch { size: settings.take("size", 512)?, overlap: settings.take("overlap", 0)? }
            }
            _ => Self::Cluster {
                size: settings.take("size", 200)?,
                piece: settings.take("piece", ClusterChunker::<&dyn Embedder>::DEFAULT_PIECE)?,
            },
        };
        settings.finish()?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_as_they_are_written() {
        for words in [
            "window:t=0.72,alpha=6",
            "window:t=0.8,alpha=3,borders=paragraph,sentences=rule",
            "sentences:alpha=3,borders=blank-line",
            "recursive:size=250,overlap=125",
            "fixed-token:size=200,overlap=0",
            "kamradt:size=250",
            "percentile:rule=gradient/90",
            "cluster:size=200,piece=50",
            "budget:size=512,overlap=64",
            "budget:size=512,overlap=0,prefer=structure",
            "budget-search:size=512,overlap=0",
        ] {
            assert_eq!(words.parse::<ChunkerSpec>().unwrap().to_string(), words);
        }
        for name in ChunkerSpec::NAMES {
            let spec: ChunkerSpec = name.parse().unwrap();
            assert_eq!((spec.name(), spec.to_string().parse::<ChunkerSpec>().as_ref()), (name, Ok(&spec)));
        }
    }

    #[test]
    fn words_that_name_no_chunker_say_what_would() {
        for (words, part) in [
            ("windows", "take one of window, sentences"),
            ("window:size=3", "it has t, alpha, borders, sentences"),
            ("recursive:size=many", "size=many of the chunker recursive"),
            ("recursive:250", "\"250\" is no setting"),
            ("window:t=0.5,t=0.6", "t of the chunker window is given twice"),
            ("window:borders=x", "take none, paragraph or blank-line"),
            ("percentile:rule=median", "rule=median"),
        ] {
            let error = words.parse::<ChunkerSpec>().unwrap_err().to_string();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
