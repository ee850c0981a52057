//! Kamradt's chunker as Chroma modified it: cuts where neighbouring groups of pieces are least alike, as many cuts as
//! give a mean size.
//!
//! Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024), after Greg Kamradt's notebook "5 Levels
//! Of Text Splitting". The text is cut into small pieces, each piece is embedded together with three on each side, and
//! a bisection finds the distance that is passed as often as cuts are wanted.

use super::{Chunk, ChunkError, Chunker, SettingsError, groups};
use crate::embedding::Embedder;
use crate::sentence::{RecursiveSplitter, SentenceSplitter};
use crate::tokens::TokenCounter;

/// Pieces on each side that a piece is embedded with.
const BUFFER: usize = 3;

/// Cuts into chunks of a mean size where neighbours are least alike.
pub struct KamradtChunker<E> {
    embedder: E,
    splitter: Box<dyn SentenceSplitter>,
    counter: Box<dyn TokenCounter>,
    mean_size: usize,
}

impl<E: Embedder> KamradtChunker<E> {
    /// Tokens of a piece in the original.
    pub const PIECE_SIZE: usize = 50;

    /// Chunks of `mean_size` tokens of `counter` on average, made of pieces of [`Self::PIECE_SIZE`] by
    /// [`RecursiveSplitter`].
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `mean_size` is 0.
    pub fn new(
        embedder: E,
        counter: impl TokenCounter + Clone + 'static,
        mean_size: usize,
    ) -> Result<Self, SettingsError> {
        if mean_size == 0 {
            return Err(SettingsError::NoTokens);
        }
        let splitter =
            RecursiveSplitter::new(counter.clone(), Self::PIECE_SIZE).map_err(|_| SettingsError::NoTokens)?;
        Ok(Self { embedder, splitter: Box::new(splitter), counter: Box::new(counter), mean_size })
    }

    /// Other pieces.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }
}

impl<E: Embedder> Chunker for KamradtChunker<E> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let pieces = self.splitter.split(text)?;
        let similarities = groups::neighbour_similarities(&self.embedder, text, &pieces, BUFFER)?;
        let mut tokens = 0;
        for &piece in &pieces {
            tokens += self.counter.count(&text[piece])?;
        }
        let limit = bisect(&similarities, tokens / self.mean_size);
        groups::chunks_cut_at(&self.embedder, text, Some(&*self.counter), &pieces, &similarities, |at| {
            distance(similarities[at]) > limit
        })
    }
}

fn distance(similarity: f32) -> f64 {
    1.0 - f64::from(similarity)
}

/// The smallest distance, to a millionth, that at most `cuts` neighbours pass.
fn bisect(similarities: &[f32], cuts: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-6 {
        let limit = f64::midpoint(low, high);
        let passing = similarities.iter().filter(|&&similarity| distance(similarity) > limit).count();
        if passing > cuts {
            low = limit;
        } else {
            high = limit;
        }
    }
    high
}

impl<E> std::fmt::Debug for KamradtChunker<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KamradtChunker").field("mean_size", &self.mean_size).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_one_that_so_many_neighbours_pass() {
        let similarities = [0.9, 0.2, 0.47, 0.8];
        for (cuts, kept) in [(0, 0), (1, 1), (2, 2), (3, 3), (9, 4)] {
            let limit = bisect(&similarities, cuts);
            assert_eq!(similarities.iter().filter(|&&s| distance(s) > limit).count(), kept, "{cuts}: {limit}");
        }
    }
}
