//! Answers to a question from a chunked text: every chunk is read by itself, and one of the answers is selected.
//!
//! That is the order of `ChunkRank` (arXiv 2609.29828): no chunk is left out because its vector lies far from the
//! question's. A [`Reader`] answers from one chunk or abstains; a [`Selector`] scores what the readers found, and
//! [`select`] takes the best. There are three ways in: [`answer`] for one question to one text, an
//! [`AnswerPipeline`] that chunks once and is asked often, and the parts, for callers with a reader of their own:
//!
//! ```
//! use horchunk::Span;
//! use horchunk::answer::{Bm25, Candidate, LexicalReader, Reader, select};
//!
//! let question = "Who carved the bowls?";
//! let chunks = ["Ana kept bees. She sold honey.", "Her brother carved bowls."];
//! let reader = LexicalReader::default();
//! let mut candidates = Vec::new();
//! for (index, chunk) in chunks.iter().enumerate() {
//!     let reading = reader.read(question, chunk)?;
//!     candidates.push(Candidate::new(0, index, Span::new(0, chunk.len()), reading));
//! }
//! let selection = select(&Bm25::default(), question, &candidates)?;
//! let chosen = selection.chosen.and_then(|at| candidates[at].answer.as_ref());
//! assert_eq!(chosen.map(|found| found.text.as_str()), Some("Her brother carved bowls."));
//! # Ok::<(), horchunk::answer::AnswerError>(())
//! ```

#[cfg(feature = "async")]
mod asking;
mod bm25;
mod chat;
mod cross_encoder;
mod embedded;
mod extractive;
mod lexical;
mod pipeline;
mod read;
mod selector;
#[cfg(test)]
mod tests;
mod tfidf;
mod usage;
mod words;

use crate::chunker::ChunkError;
use crate::embedding::EmbeddingError;
use crate::llm::ChatError;
use crate::sentence::SentenceError;
use crate::span::Span;

#[cfg(feature = "async")]
pub use asking::Asking;
pub use bm25::Bm25;
pub use chat::ChatReader;
pub use cross_encoder::CrossEncoderSelector;
pub use embedded::EmbeddingSelector;
pub use extractive::ExtractiveReader;
pub use lexical::LexicalReader;
pub use pipeline::{AnswerIndex, AnswerPipeline, Answered, answer};
pub use read::{Delivery, Passage};
pub use selector::{Confidence, First, Selection, Selector, select};
pub use tfidf::TfIdf;
pub use usage::{Prices, Usage};
pub use words::{Stem, Words};

/// Why a question could not be answered. That no chunk answers it is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// There is no word in the question.
    #[error("the question holds no word; ask with at least one")]
    EmptyQuestion,
    /// The question is too long for the reader's model.
    #[error(
        "the question has {tokens} tokens, but the reader's model has room for {max} beside a text; ask a shorter one"
    )]
    LongQuestion {
        /// Its length, special tokens not counted.
        tokens: usize,
        /// The longest question.
        max: usize,
    },
    /// No stemmer has this name.
    #[error("there is no stemmer for {name:?}; known are {}", words::LANGUAGES.join(", "))]
    UnknownStem {
        /// The name asked for.
        name: String,
    },
    /// This build has no stemmers.
    #[error("this build has no stemmers; build it with the feature `answer`")]
    NotCompiled,
    /// A setting that nothing could obey.
    #[error("{setting} cannot be {value}; take {allowed}")]
    Setting {
        /// What was set.
        setting: &'static str,
        /// To what.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// A price list is none.
    #[error("{text:?} names no prices; write those of a million tokens in and out, as in 0.15,0.6")]
    Prices {
        /// What was given.
        text: String,
    },
    /// The text could not be chunked.
    #[error("the text could not be chunked")]
    Chunk(#[from] ChunkError),
    /// The sentences of a chunk could not be found.
    #[error("a chunk could not be split into sentences")]
    Sentences(#[from] SentenceError),
    /// The question or the chunks could not be embedded.
    #[error("question and texts could not be compared by their vectors")]
    Embedding(#[from] EmbeddingError),
    /// The model of a reader or selector failed.
    #[error("the model could not read question and text")]
    Model(#[source] EmbeddingError),
    /// The language model gave no reply.
    #[error("the language model could not be asked")]
    Chat(#[from] ChatError),
    /// The runtime was shut down before the question was answered.
    #[error("the runtime was shut down before the question was answered")]
    Stopped,
    /// A selector gave another number of scores than there are answers.
    #[error("the selector was asked for {asked} scores and gave {found}")]
    Count {
        /// Answers it was given.
        asked: usize,
        /// Scores that came back.
        found: usize,
    },
    /// A reader or selector outside this crate failed.
    #[error("the reader or selector failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Words that answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The answer.
    pub text: String,
    /// Where it stands, in bytes of the text that was read; `None` for words that do not stand there.
    pub span: Option<Span>,
}

/// What a reader makes of one chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The answer; `None` where the reader abstains.
    pub answer: Option<Found>,
    /// How sure the reader is, on a scale of its own: higher is surer. Of an abstention, how near it came.
    pub score: f64,
    /// What the reading cost.
    pub usage: Usage,
}

/// Answers a question from one chunk.
pub trait Reader: Send + Sync {
    /// The reader's name, such as `lexical`.
    fn name(&self) -> &str;

    /// The answer that `chunk` gives to `question`, its span in bytes of `chunk`, or an abstention. The same for the
    /// same two texts, whatever was read before.
    ///
    /// # Errors
    ///
    /// Where the chunk could not be read; that it holds no answer is none.
    fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError>;

    /// How many chunks are read at once at most; `None` for as many as there are threads to compute with.
    fn at_once(&self) -> Option<usize> {
        None
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<R: Reader + ?Sized> Reader for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError> {
                (**self).read(question, chunk)
            }

            fn at_once(&self) -> Option<usize> {
                (**self).at_once()
            }
        }
    )*};
}

forward!(&R, Box<R>, std::sync::Arc<R>);

/// What one chunk answered, with its place in the source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Number of the document, from 0.
    pub document: usize,
    /// Number of the chunk in its document, from 0.
    pub chunk: usize,
    /// The chunk, in bytes of its document.
    pub chunk_span: Span,
    /// The answer, its span in bytes of the document; `None` where the reader abstained.
    pub answer: Option<Found>,
    /// The reader's score.
    pub score: f64,
    /// What the reading cost.
    pub usage: Usage,
}

impl Candidate {
    /// The reading of the chunk that lies at `chunk_span` of its document. White space is no answer.
    #[must_use]
    pub fn new(document: usize, chunk: usize, chunk_span: Span, reading: Reading) -> Self {
        let answer = reading.answer.filter(|found| !found.text.trim().is_empty()).map(|mut found| {
            found.span = found.span.map(|span| span.moved_by(chunk_span.start()));
            found
        });
        Self { document, chunk, chunk_span, answer, score: reading.score, usage: reading.usage }
    }
}
