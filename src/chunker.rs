//! From sentences to chunks.
//!
//! A [`Chunker`] cuts a text into [`Chunk`]s: spans of the caller's text, each with the reason why it ends where
//! it does. The pipeline of the [`WindowChunker`] reads from left to right in the modules: `units` (sentences,
//! forced pieces, borders), `window` (the loop that decides), `min_tokens`, `overlap`, `white_space`.

mod budget;
mod cached;
mod cap;
mod chunks;
mod cluster;
mod embedded;
mod fixed_token;
mod groups;
mod kamradt;
mod llm;
mod min_tokens;
mod overlap;
mod percentile;
mod places;
mod recursive;
mod sentences;
mod settings;
mod spec;
mod stream;
#[cfg(test)]
mod tests;
mod units;
mod white_space;
mod window;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::embedding::EmbeddingError;
use crate::sentence::SentenceError;
use crate::span::{Position, Span};
use crate::tokens::{FitError, Forced, TokenError};

pub use budget::{BudgetChunker, BudgetSearchChunker, Prefer, UnknownPreference};
pub use cached::CachedChunker;
pub use cap::CappedChunker;
pub use chunks::Chunks;
pub use cluster::ClusterChunker;
pub use embedded::{ContextWeights, EmbeddedChunker};
pub use fixed_token::FixedTokenChunker;
pub use kamradt::KamradtChunker;
pub use llm::LlmChunker;
pub use percentile::{Breakpoints, PercentileChunker, UnknownBreakpoints};
pub use recursive::RecursiveChunker;
pub use sentences::SentenceChunker;
pub use settings::SettingsError;
pub use spec::{ChunkerParts, ChunkerSpec, SpecError};
pub use stream::ChunkStream;
pub use units::{Borders, UnknownBorders};
pub use window::WindowChunker;

/// Why a chunk ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CutReason {
    /// The next sentence would have brought the similarity below the threshold.
    Similarity,
    /// The chunk has as many sentences as allowed.
    MaxSentences,
    /// The next sentence would have passed the token cap.
    MaxTokens,
    /// A paragraph ends here and chunks may not cross it.
    Border,
    /// The chunk has the size asked for.
    Size,
    /// A separator stands here, or the part behind it would not have fitted.
    Separator,
    /// A language model said so.
    Model,
    /// The text ends.
    End,
}

impl CutReason {
    /// The reason as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Similarity => "similarity",
            Self::MaxSentences => "max_sentences",
            Self::MaxTokens => "max_tokens",
            Self::Border => "border",
            Self::Size => "size",
            Self::Separator => "separator",
            Self::Model => "model",
            Self::End => "end",
        }
    }
}

impl fmt::Display for CutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A piece of the source whose sentences belong together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chunk<'t> {
    /// The chunk's own words: the source at `span`.
    pub text: &'t str,
    /// Bytes of the source.
    pub span: Span,
    /// Characters and line (from 1) of the source before the chunk's first byte.
    pub start: Position,
    /// Characters before the first byte behind the chunk, and the line of the chunk's last character.
    pub end: Position,
    /// Spans of the chunk's sentences, those taken over from the chunk before it included. Pieces of a sentence
    /// that was split by force count as sentences.
    pub sentences: Vec<Span>,
    /// How many of `sentences` were taken over from the chunk before it; they come first.
    pub overlap_sentences: usize,
    /// Exact number of tokens of `text`; `None` where nothing counts them.
    pub tokens: Option<usize>,
    /// Why the chunk ends here.
    pub reason: CutReason,
    /// The similarity that ended the chunk; `None` for every reason but [`CutReason::Similarity`].
    pub similarity: Option<f32>,
    /// One entry a step, the step that ended the chunk included: the similarity of the first sentence and the
    /// window that grew by one sentence, `None` for a step that was decided without one.
    pub similarities: Vec<Option<f32>>,
    /// Where a sentence was split by force at one of the chunk's ends or inside it, the finest way used.
    pub forced: Option<Forced>,
    /// The model did not see all of the chunk's text.
    pub truncated: bool,
    /// The first sentence alone fills the model's input: every similarity is 1 and meaning cannot cut.
    pub blind: bool,
    /// The chunk's own unit vector, where asked for.
    pub embedding: Option<Vec<f32>>,
}

impl Chunk<'_> {
    /// The chunk's sentences, those taken over from the chunk before it included.
    #[must_use]
    pub fn sentence_texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.sentences.iter().map(|span| &self.text[span.relative_to(self.span.start())])
    }

    /// The text the model saw: the chunk's own sentences joined by one space, those taken over left out.
    #[must_use]
    pub fn joined(&self) -> String {
        self.sentence_texts().skip(self.overlap_sentences).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Chunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text)
    }
}

/// Why a text could not be chunked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The sentences could not be found.
    #[error("the text could not be split into sentences")]
    Sentences(#[from] SentenceError),
    /// The tokens could not be counted.
    #[error("the tokens of a chunk could not be counted")]
    Tokens(#[from] TokenError),
    /// A sentence could not be split under the token cap.
    #[error("a sentence could not be split under the token cap")]
    Fit(#[from] FitError),
    /// The embedder failed.
    #[error("a sentence could not be embedded")]
    Embedding(#[from] EmbeddingError),
    /// A chunker outside this crate failed.
    #[error("the chunker failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Cuts texts into chunks.
///
/// Chunks come in order and without overlap (unless overlap is asked for); between them lies white space only.
pub trait Chunker: Send + Sync {
    /// The chunks of `text`; none for a text of white space only.
    ///
    /// # Errors
    ///
    /// Where sentences, tokens or vectors cannot be had.
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError>;

    /// The chunks of several texts, in order; the error of one is nothing to the others. The same as one text after the
    /// other, and faster for chunkers that embed: their batches are filled from all of them.
    fn chunk_all<'t>(&self, texts: &[&'t str]) -> Vec<Result<Vec<Chunk<'t>>, ChunkError>> {
        texts.iter().map(|text| self.chunk(text)).collect()
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<C: Chunker + ?Sized> Chunker for $pointer {
            fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
                (**self).chunk(text)
            }
            fn chunk_all<'t>(&self, texts: &[&'t str]) -> Vec<Result<Vec<Chunk<'t>>, ChunkError>> {
                (**self).chunk_all(texts)
            }
        }
    )*};
}

forward!(&C, Box<C>, std::sync::Arc<C>);
