//! Exact token counts.
//!
//! A [`TokenCounter`] counts the tokens of a named encoding on one text. Special tokens are never counted,
//! and text that spells one is plain text. Truncation and padding stored in a tokenizer file are off.
//! Counts do not add up: the tokens of a joined text can be fewer or more than those of its parts, so the
//! chunkers always count the resulting text.

mod estimate;
mod fit;
mod frame;
mod hf;
mod registry;
mod tiktoken;
mod wordpiece;

use std::path::{Path, PathBuf};

pub use estimate::{CharacterGuess, ProxyCounter};
pub use fit::{FitError, Forced};
pub(crate) use fit::{Piece, pieces};
pub(crate) use frame::Frame;
pub use hf::TokenizerFile;
pub use registry::{Llm, LlmRegistry, LlmTokenizer, Proxy, RegistryError, RegistryFinding, TokenizerPlace};
pub use tiktoken::{Tiktoken, TiktokenEncoding};
pub use wordpiece::WordPiece;

/// Why tokens could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A tokenizer file could not be read or understood.
    #[error("the tokenizer {path} could not be loaded")]
    Load {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The tokenizer refused a text.
    #[error("the tokenizer {name} failed on a text of {bytes} bytes")]
    Encode {
        /// Name of the tokenizer.
        name: String,
        /// Length of the text.
        bytes: usize,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No encoding has this name.
    #[error("there is no token counter named {name:?}; known are o200k_base, cl100k_base, p50k_base and r50k_base")]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// A number of tokens nothing fits.
    #[error("pieces of no tokens cannot hold any text; allow at least one token")]
    ZeroTokens,
}

impl TokenError {
    /// The tokenizer file `path` could not be loaded because of `source`.
    fn load(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Load { path: path.to_owned(), source: source.into() }
    }
}

/// Counts the tokens of a text.
///
/// ```
/// use horchunk::{Tiktoken, TiktokenEncoding, TokenCounter};
///
/// let counter = Tiktoken::new(TiktokenEncoding::Cl100kBase);
/// assert_eq!(counter.name(), "cl100k_base");
/// assert_eq!(counter.count("Tides are driven by the Moon.")?, 8);
/// # Ok::<(), horchunk::TokenError>(())
/// ```
pub trait TokenCounter: Send + Sync {
    /// Name of the encoding, as records carry it.
    fn name(&self) -> &str;

    /// Tokens of `text`, special tokens not counted.
    ///
    /// # Errors
    ///
    /// [`TokenError::Encode`] where the tokenizer refuses the text.
    fn count(&self, text: &str) -> Result<usize, TokenError>;

    /// Where each token of `text` ends, in bytes, ascending, the last at the end of the text; a token may end inside a
    /// character. `None` from a counter that only counts.
    ///
    /// # Errors
    ///
    /// As [`Self::count`].
    fn token_ends(&self, text: &str) -> Result<Option<Vec<usize>>, TokenError> {
        let _ = text;
        Ok(None)
    }

    /// Whether the counts are those of the encoding itself, and not of something that stands in for it.
    fn is_exact(&self) -> bool {
        true
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<C: TokenCounter + ?Sized> TokenCounter for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }
            fn count(&self, text: &str) -> Result<usize, TokenError> {
                (**self).count(text)
            }
            fn token_ends(&self, text: &str) -> Result<Option<Vec<usize>>, TokenError> {
                (**self).token_ends(text)
            }
            fn is_exact(&self) -> bool {
                (**self).is_exact()
            }
        }
    )*};
}

forward!(&C, Box<C>, std::sync::Arc<C>);

/// A token a character, so that lengths are easy to follow.
#[cfg(test)]
pub(crate) struct Letters;

#[cfg(test)]
impl TokenCounter for Letters {
    fn name(&self) -> &'static str {
        "letters"
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(text.chars().count())
    }
}
