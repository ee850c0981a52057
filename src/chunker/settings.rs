//! Settings that cannot be: one error for the builders of all chunkers.

/// Why a chunker refused a setting.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The threshold is no cosine.
    #[error("the threshold is {0}: a cosine lies between -1 and 1")]
    Threshold(f32),
    /// A chunk without sentences was asked for.
    #[error("the largest number of sentences is 0: a chunk has at least one")]
    NoSentences,
    /// A chunk without tokens was asked for.
    #[error("a size of 0 tokens: a chunk has at least one token")]
    NoTokens,
    /// The overlap would fill a chunk.
    #[error(
        "an overlap of {overlap} sentences needs chunks of more than {max_sentences}: lower it, or raise the largest number of sentences"
    )]
    Overlap {
        /// Sentences to take over.
        overlap: usize,
        /// Most sentences of a chunk.
        max_sentences: usize,
    },
    /// The smallest size passes the largest.
    #[error("chunks of at least {min} tokens cannot keep a cap of {max}: lower the minimum, or raise the cap")]
    MinTokens {
        /// Fewest tokens.
        min: usize,
        /// Most tokens.
        max: usize,
    },
    /// A cap or a minimum without a counter.
    #[error("a token cap or minimum needs a token counter")]
    NoCounter,
    /// Overlap and kept white space exclude each other.
    #[error("chunks that overlap cannot give the file back byte for byte: take either overlap or kept white space")]
    OverlapWithWhiteSpace,
    /// An overlap that leaves no room to move on.
    #[error("an overlap of {overlap} tokens needs chunks of more than {size}: lower it, or raise the size")]
    OverlapTokens {
        /// Tokens to repeat.
        overlap: usize,
        /// Tokens of a chunk.
        size: usize,
    },
    /// Pieces that are larger than the chunks to be made of them.
    #[error("pieces of {piece} tokens cannot make chunks of {size}: lower the one, or raise the other")]
    Pieces {
        /// Tokens of a piece.
        piece: usize,
        /// Tokens of a chunk.
        size: usize,
    },
    /// A percentile that is none.
    #[error("{0} is no percentile: take a number from 0 to 100")]
    Percentile(f64),
    /// A factor that is no number, or negative.
    #[error("the factor is {0}: take a number of at least 0")]
    Factor(f64),
    /// A chunker that asks a language model has none to ask.
    #[error("this chunker asks a language model, and none is named")]
    NoChatModel,
    /// A weight or share that is none.
    #[error("the weight is {0}: take a number from 0 to 1")]
    Share(f32),
}

impl SettingsError {
    /// An overlap in tokens, which must leave room in chunks of `size`.
    pub(super) const fn check_overlap(overlap: usize, size: usize) -> Result<usize, Self> {
        if overlap < size { Ok(overlap) } else { Err(Self::OverlapTokens { overlap, size }) }
    }
}
