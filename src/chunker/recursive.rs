//! Chunks by the ladder of separators of [`RecursiveSplitter`], with overlap: what most programs do without a model.

use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError, groups};
use crate::sentence::RecursiveSplitter;
use crate::tokens::TokenCounter;

/// Cuts at separators, the coarsest first; see [`RecursiveSplitter`].
///
/// ```
/// use horchunk::{Chunker, RecursiveChunker, Tiktoken};
///
/// let chunker = RecursiveChunker::new(Tiktoken::default(), 7)?.with_overlap(3)?;
/// let text = "Low tide was at noon, high tide in the evening";
/// let chunks: Vec<String> = chunker.chunk(text)?.iter().map(ToString::to_string).collect();
/// assert_eq!(chunks, ["Low tide was at noon, high", "noon, high tide in the evening"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecursiveChunker<C> {
    splitter: RecursiveSplitter<C>,
    size: usize,
    overlap: usize,
}

impl<C: TokenCounter> RecursiveChunker<C> {
    /// Chunks of about `size` tokens of `counter` at most.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `size` is 0.
    pub fn new(counter: C, size: usize) -> Result<Self, SettingsError> {
        let splitter = RecursiveSplitter::new(counter, size).map_err(|_| SettingsError::NoTokens)?;
        Ok(Self { splitter, size, overlap: 0 })
    }

    /// Repeats up to so many tokens from the end of the chunk before.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OverlapTokens`] unless the overlap is smaller than the size.
    pub fn with_overlap(mut self, overlap: usize) -> Result<Self, SettingsError> {
        self.overlap = SettingsError::check_overlap(overlap, self.size)?;
        Ok(self)
    }

    /// Another ladder, see [`RecursiveSplitter::with_separators`].
    #[must_use]
    pub fn with_separators(mut self, separators: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.splitter = self.splitter.with_separators(separators);
        self
    }
}

impl<C: TokenCounter> Chunker for RecursiveChunker<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let pieces = self.splitter.pieces(text, self.overlap)?;
        let reason = |at| if at + 1 == pieces.len() { CutReason::End } else { CutReason::Separator };
        let runs = (0..pieces.len()).map(|at| (at..at + 1, (reason(at), None)));
        groups::chunks(text, Some(self.splitter.counter()), &pieces, runs)
    }
}
