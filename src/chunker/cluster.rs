//! Chroma's cluster semantic chunker: the segmentation whose chunks are most alike inside.
//!
//! Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024). The reward of a chunk is the sum of the
//! similarities of all its pairs of pieces, each lessened by the mean over all pairs of the text; a dynamic programme
//! finds the segmentation of the largest sum under a limit of pieces a chunk. The original holds all n x n
//! similarities; only those inside the largest chunk are ever used, each once, and the mean follows from the sum of the
//! vectors, so memory here is that of the vectors. Unlike the original, the first pieces of a text obey the limit too
//! where they are less alike than the mean.

use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError, groups};
use crate::embedding::{Cosine, Dot, Embedder, Similarity};
use crate::sentence::{RecursiveSplitter, SentenceSplitter};
use crate::tokens::TokenCounter;

/// Cuts so that the pieces of a chunk are as alike as can be.
pub struct ClusterChunker<E> {
    embedder: E,
    splitter: Box<dyn SentenceSplitter>,
    counter: Box<dyn TokenCounter>,
    max_pieces: usize,
}

impl<E: Embedder> ClusterChunker<E> {
    /// Tokens of a piece in the original.
    pub const DEFAULT_PIECE: usize = 50;

    /// Chunks of about `max_size` tokens of `counter` at most, made of pieces of `piece_size` by
    /// [`RecursiveSplitter`].
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if a size is 0, [`SettingsError::Pieces`] if a piece is larger than a chunk.
    pub fn new(
        embedder: E,
        counter: impl TokenCounter + Clone + 'static,
        max_size: usize,
        piece_size: usize,
    ) -> Result<Self, SettingsError> {
        if max_size < piece_size {
            return Err(SettingsError::Pieces { piece: piece_size, size: max_size });
        }
        let splitter = RecursiveSplitter::new(counter.clone(), piece_size).map_err(|_| SettingsError::NoTokens)?;
        let max_pieces = max_size / piece_size;
        Ok(Self { embedder, splitter: Box::new(splitter), counter: Box::new(counter), max_pieces })
    }

    /// Other pieces; a chunk still has as many at most as the sizes allow.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }
}

impl<E: Embedder> Chunker for ClusterChunker<E> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let pieces = self.splitter.split(text)?;
        let mut vectors = Vec::with_capacity(pieces.len());
        groups::for_each_vector(&self.embedder, text, &pieces, 0, |vector| vectors.push(vector))?;
        let runs = segment(&vectors, self.max_pieces).into_iter().map(|run| {
            let cut = match run.end {
                end if end == pieces.len() => (CutReason::End, None),
                _ if run.len() == self.max_pieces => (CutReason::Size, None),
                end => (CutReason::Similarity, Some(Cosine.between(&vectors[end - 1], &vectors[end]))),
            };
            (run, cut)
        });
        let mut chunks = groups::chunks(text, Some(&*self.counter), &pieces, runs)?;
        groups::mark_truncated(&self.embedder, &mut chunks)?;
        Ok(chunks)
    }
}

/// The runs of at most `most` vectors with the largest sum of rewards; of equal ones those whose last run is shortest.
fn segment(vectors: &[Vec<f32>], most: usize) -> Vec<std::ops::Range<usize>> {
    let mean = mean_of_pairs(vectors);
    // Of the best segmentation that ends with a vector: its reward, and where its last run starts.
    let mut best: Vec<(f64, usize)> = Vec::with_capacity(vectors.len());
    // Rewards of the runs that end with the vector before, the shortest first.
    let mut rewards: Vec<f64> = Vec::new();
    for end in 0..vectors.len() {
        let longest = rewards.len().min(most - 1);
        let mut grown = Vec::with_capacity(longest + 1);
        grown.push(0.0);
        let mut added = 0.0;
        for (length, reward) in rewards.iter().take(longest).enumerate() {
            // Each pair stands twice in the original's matrix.
            added += 2.0 * (f64::from(Dot.between(&vectors[end - 1 - length], &vectors[end])) - mean);
            grown.push(reward + added);
        }
        rewards = grown;
        let mut found = (f64::NEG_INFINITY, end);
        for (start, reward) in (0..=end).rev().zip(&rewards) {
            let before = start.checked_sub(1).map_or(0.0, |last| best[last].0);
            if before + reward > found.0 {
                found = (before + reward, start);
            }
        }
        best.push(found);
    }
    let mut runs = Vec::new();
    let mut end = vectors.len();
    while let Some(last) = end.checked_sub(1) {
        runs.push(best[last].1..end);
        end = best[last].1;
    }
    runs.reverse();
    runs
}

/// The mean similarity of all pairs: of the square of the sum of all vectors, what is not a vector with itself.
fn mean_of_pairs(vectors: &[Vec<f32>]) -> f64 {
    let Some(dimension) = vectors.first().map(Vec::len).filter(|_| vectors.len() > 1) else { return 0.0 };
    let mut sum = vec![0.0_f64; dimension];
    let mut own = 0.0;
    for vector in vectors {
        own += f64::from(Dot.between(vector, vector));
        sum.iter_mut().zip(vector).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    let count = vectors.len() as f64;
    (sum.iter().map(|x| x * x).sum::<f64>() - own) / (count * (count - 1.0))
}

impl<E> std::fmt::Debug for ClusterChunker<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterChunker").field("max_pieces", &self.max_pieces).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sum of rewards of a segmentation, from all pairs.
    fn reward(vectors: &[Vec<f32>], runs: &[std::ops::Range<usize>]) -> f64 {
        let dot = |a: usize, b: usize| f64::from(Dot.between(&vectors[a], &vectors[b]));
        let n = vectors.len();
        let pairs: Vec<f64> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(|(a, b)| dot(a, b)).collect();
        let mean = if pairs.is_empty() { 0.0 } else { pairs.iter().sum::<f64>() / pairs.len() as f64 };
        let of_run = |run: &std::ops::Range<usize>| {
            let pairs = run.clone().flat_map(|a| (a + 1..run.end).map(move |b| (a, b)));
            pairs.map(|(a, b)| 2.0 * (dot(a, b) - mean)).sum::<f64>()
        };
        runs.iter().map(of_run).sum()
    }

    /// Every way to cut `n` pieces into runs of at most `most`.
    fn all(n: usize, most: usize) -> Vec<Vec<std::ops::Range<usize>>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        (1..=most.min(n))
            .flat_map(|last| {
                all(n - last, most).into_iter().map(move |mut runs| {
                    runs.push(n - last..n);
                    runs
                })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn no_segmentation_has_a_larger_reward(
            angles in prop::collection::vec(0.0..6.2_f32, 0..9),
            most in 1..5_usize,
        ) {
            let vectors: Vec<Vec<f32>> = angles.iter().map(|angle| vec![angle.cos(), angle.sin()]).collect();
            let runs = segment(&vectors, most);
            prop_assert!(runs.iter().all(|run| (1..=most).contains(&run.len())));
            prop_assert_eq!(runs.iter().map(std::ops::Range::len).sum::<usize>(), vectors.len());
            let largest = all(vectors.len(), most).iter().map(|runs| reward(&vectors, runs)).fold(f64::MIN, f64::max);
            prop_assert!((reward(&vectors, &runs) - largest).abs() < 1e-5);
        }
    }
}
