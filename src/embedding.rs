//! From texts to unit vectors.
//!
//! An [`Embedder`] turns texts into vectors of length 1, so that the cosine of two is their dot product.
//! An embedder whose input for joined sentences is the concatenation of their token ids (WordPiece models)
//! also is a [`TokenEmbedder`]: windows are then formed without tokenizing any text twice. One whose vector for joined
//! sentences is the sum of theirs (static models) is a [`SumEmbedder`]: a window then costs one addition.

mod bundled;
#[cfg(any(feature = "cuda", feature = "metal", test))]
mod candle;
mod config;
mod device;
mod digest;
mod distill;
mod encoder;
mod error;
mod folder;
mod heads;
mod hub;
mod input;
mod load;
mod memo;
mod model;
mod precision;
mod similarity;
mod table;
#[cfg(test)]
mod tiny_models;
mod tokenizer;

use crate::tokens::TokenError;

pub use bundled::{BundledFile, bundled_files, static_files, verify_bundled, verify_static};
pub use config::ConfigError;
pub use device::Device;
pub use distill::{DistillError, Distilled, Distiller, Numbers, UnknownNumbers};
pub use encoder::EncoderError;
pub use error::ModelError;
pub use heads::{CrossEncoder, ExtractedAnswer, QuestionAnswerer};
pub use hub::{CachedModel, Download, HubError, HubId, HubSettings, cached_models, cached_tokenizer, locate_tokenizer};
pub use load::{ModelLoader, ModelSource};
pub use memo::MemoEmbedder;
pub use model::{ModelInfo, SentenceTransformer};
pub use precision::{Precision, UnknownPrecision};

pub(crate) use digest::{hex, sha256};
pub(crate) use input::{Input, embed_drafts, embed_inputs, embed_texts};
pub use similarity::{Cosine, Dot, Similarity};

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// Unit vector, [`Embedder::dimension`] long; zero where a static model knows none of the text's tokens.
    pub vector: Vec<f32>,
    /// Whether the text was longer than the model's input, so that its end was not seen.
    pub truncated: bool,
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// The model's tokenizer failed.
    #[error("the model's tokenizer failed")]
    Tokens(#[from] TokenError),
    /// The encoder refused an input.
    #[error("the model cannot take this input")]
    Encoder(#[from] EncoderError),
    /// The device failed.
    #[error("the device failed; the processor (cpu) always works")]
    Device {
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An embedder answered with another number of vectors than it was asked for.
    #[error("the embedder was asked for {asked} vectors and gave {found}")]
    Count {
        /// Texts it was given.
        asked: usize,
        /// Vectors that came back.
        found: usize,
    },
    /// An embedder gave a vector of another length than it says.
    #[error("the embedder gave a vector of {found} numbers, but its dimension is {dimension}")]
    Dimension {
        /// What [`Embedder::dimension`] says.
        dimension: usize,
        /// Length of the vector.
        found: usize,
    },
    /// An embedder gave a vector that holds NaN or infinity.
    #[error("the embedder gave a vector that is not finite")]
    NotFinite,
    /// A question leaves no room for a text beside it.
    #[error("the question has {tokens} tokens, but the model has room for {max} beside a text; ask a shorter one")]
    Question {
        /// Its length, special tokens not counted.
        tokens: usize,
        /// The longest question.
        max: usize,
    },
    /// An embedder outside this crate failed.
    #[error("the embedder failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Turns texts into unit vectors.
///
/// The vector of a text must not depend on the texts beside it.
pub trait Embedder: Send + Sync {
    /// Length of every vector.
    fn dimension(&self) -> usize;

    /// One embedding a text, in order.
    ///
    /// # Errors
    ///
    /// Whatever keeps the model from answering; no text is embedded then.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError>;

    /// The same model taking token ids, where the ids of sentences joined by one space are the
    /// concatenation of theirs.
    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        None
    }

    /// How many tokens, about, are worth being embedded together. A chunker that needs fewer also asks for what it will
    /// probably need next, a little of it in vain; with 0, the default, it never does.
    fn tokens_at_once(&self) -> usize {
        0
    }

    /// The same model as sums, where the vector of sentences joined by one space is the sum of theirs brought to
    /// length 1.
    fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
        None
    }
}

/// An embedder whose input for joined sentences is the concatenation of their token ids.
pub trait TokenEmbedder: Send + Sync {
    /// Most token ids of one input, the model's special tokens not counted.
    fn max_tokens(&self) -> usize;

    /// Token ids of `text` without special tokens; of a longer text at least the first `max_tokens() + 1`.
    ///
    /// # Errors
    ///
    /// [`EmbeddingError::Tokens`] where the tokenizer refuses the text.
    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError>;

    /// One unit vector an input, in order. An input has at most `max_tokens()` ids.
    ///
    /// # Errors
    ///
    /// Whatever keeps the model from answering.
    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError>;

    /// The same model computing faster and less exactly, if there is one.
    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        None
    }
}

/// An embedder's faster version, whose vectors are only nearly the same.
///
/// A decision is taken on its vectors unless it is near; then the exact ones are asked for. Decisions are those of the
/// exact embedder as long as no similarity strays by more than the margin.
pub trait DraftEmbedder: Send + Sync {
    /// How near to the threshold a similarity must lie to be computed again exactly.
    fn margin(&self) -> f32;

    /// Nearly the vectors of [`TokenEmbedder::embed_tokens`].
    ///
    /// # Errors
    ///
    /// As there.
    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError>;
}

/// An embedder whose vector for joined sentences is the sum of theirs brought to length 1.
pub trait SumEmbedder: Send + Sync {
    /// The sum for `text`, [`Embedder::dimension`] long and of any length; zero where the model knows nothing of it.
    ///
    /// # Errors
    ///
    /// [`EmbeddingError::Tokens`] where the tokenizer refuses the text.
    fn sum(&self, text: &str) -> Result<Vec<f32>, EmbeddingError>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<E: Embedder + ?Sized> Embedder for $pointer {
            fn dimension(&self) -> usize {
                (**self).dimension()
            }
            fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
                (**self).embed(texts)
            }
            fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
                (**self).as_token_embedder()
            }
            fn tokens_at_once(&self) -> usize {
                (**self).tokens_at_once()
            }
            fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
                (**self).as_sum_embedder()
            }
        }
    )*};
}

forward!(&E, Box<E>, std::sync::Arc<E>);
