//! From text to sentences: the smallest units that the chunkers move.
//!
//! A [`SentenceSplitter`] returns spans of the source, in order and without overlap. What lies between two
//! of them is white space only, so no splitter can lose text; none is empty and none starts or ends with
//! white space. Splitters never look at meaning.

mod name;
mod paragraph;
mod recursive;
mod rule;
mod token;
mod unicode;

use crate::span::Span;
use crate::tokens::{FitError, TokenError};

pub use name::{SplitterName, UnknownSplitter};
pub use paragraph::ParagraphSplitter;
pub use recursive::RecursiveSplitter;
pub use rule::RuleSplitter;
pub use token::TokenSplitter;
pub use unicode::UnicodeSplitter;

/// Why a text could not be split.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SentenceError {
    /// A paragraph could not be cut into pieces of so many tokens.
    #[error("a paragraph could not be cut into pieces of so many tokens")]
    Fit(#[from] FitError),
    /// The token counter failed.
    #[error("the tokens of a piece could not be counted")]
    Tokens(#[from] TokenError),
    /// A splitter outside this crate failed.
    #[error("the splitter failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Cuts a text into sentences.
///
/// ```
/// use horchunk::{RuleSplitter, SentenceSplitter};
///
/// let text = "It rained.  We stayed in.\nThe next day was dry.";
/// let spans = RuleSplitter.split(text)?;
/// let sentences: Vec<&str> = spans.iter().map(|&span| &text[span]).collect();
/// assert_eq!(sentences, ["It rained.", "We stayed in.", "The next day was dry."]);
/// # Ok::<(), horchunk::SentenceError>(())
/// ```
pub trait SentenceSplitter: Send + Sync {
    /// The sentences of `text`, in order: not empty, without overlap, trimmed, only white space between them.
    ///
    /// # Errors
    ///
    /// Only where a splitter counts tokens and the counter fails.
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError>;

    /// The last byte at which a text that may go on can be divided: whatever comes behind `text`, the part before that
    /// byte and the one from there on have alone the sentences that they have together. `None`, where there is no such
    /// place or none is known: the sentences then have to wait for the end of the text.
    fn safe_cut(&self, text: &str) -> Option<usize> {
        let _ = text;
        None
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: SentenceSplitter + ?Sized> SentenceSplitter for $pointer {
            fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
                (**self).split(text)
            }

            fn safe_cut(&self, text: &str) -> Option<usize> {
                (**self).safe_cut(text)
            }
        }
    )*};
}

forward!(&S, Box<S>, std::sync::Arc<S>);
