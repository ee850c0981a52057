//! The vectors that a vector database stores: one a chunk, from its own text and, if asked for, from its neighbours'.

use super::{Chunk, ChunkError, Chunker, SettingsError};
use crate::embedding::{Embedder, embed_texts};

/// Weights of a chunk's neighbours in its vector: the first for those next to it, the second for the next but one...
///
/// The stored vector is the chunk's own plus the weighted vectors of its neighbours in the document, normalised again.
/// What surrounds a chunk helps to find it, at no cost: no text is embedded for it, and any vector database stores it.
///
/// ```
/// use horchunk::ContextWeights;
///
/// let weights: ContextWeights = "0.5".parse()?;
/// let vectors = weights.apply(&[vec![1.0, 0.0], vec![0.0, 1.0]]);
/// assert!((vectors[0][1] / vectors[0][0] - 0.5).abs() < 1e-6);
/// # Ok::<(), horchunk::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextWeights(Vec<f32>);

impl ContextWeights {
    /// One weight a distance; none leaves vectors as they are.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Share`] for a weight below 0, over 1, or no number.
    pub fn new(weights: Vec<f32>) -> Result<Self, SettingsError> {
        match weights.iter().find(|weight| !(0.0..=1.0).contains(*weight)) {
            Some(&weight) => Err(SettingsError::Share(weight)),
            None => Ok(Self(weights)),
        }
    }

    /// Whether vectors stay as they are.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The vectors of one document's chunks, in order, with their neighbours in them; all have one length.
    #[must_use]
    pub fn apply(&self, vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
        (0..vectors.len()).map(|at| self.mixed(vectors, at)).collect()
    }

    fn mixed(&self, vectors: &[Vec<f32>], at: usize) -> Vec<f32> {
        let mut mixed = vectors[at].clone();
        if self.is_empty() {
            return mixed;
        }
        for (distance, &weight) in (1..).zip(&self.0) {
            let sides = [at.checked_sub(distance), Some(at + distance)];
            for neighbour in sides.into_iter().flatten().filter_map(|side| vectors.get(side)) {
                mixed.iter_mut().zip(neighbour).for_each(|(sum, &x)| *sum += weight * x);
            }
        }
        let norm = mixed.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm > 0.0 {
            mixed.iter_mut().for_each(|x| *x /= norm);
        }
        mixed
    }
}

impl std::str::FromStr for ContextWeights {
    type Err = SettingsError;

    /// Reads numbers parted by commas.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let weights = text.split(',').map(|weight| weight.trim().parse().unwrap_or(f32::NAN)).collect();
        Self::new(weights)
    }
}

impl std::fmt::Display for ContextWeights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

/// Gives every chunk of another chunker its vector.
#[derive(Clone, Debug)]
pub struct EmbeddedChunker<C, E> {
    inner: C,
    embedder: E,
    context: ContextWeights,
}

/// Chunks embedded at a time.
const BATCH: usize = 256;

impl<C: Chunker, E: Embedder> EmbeddedChunker<C, E> {
    /// The chunks of `inner`; those that have no vector are embedded as [`Chunk::joined`] shows them.
    #[must_use]
    pub const fn new(inner: C, embedder: E) -> Self {
        Self { inner, embedder, context: ContextWeights(Vec::new()) }
    }

    /// Puts the neighbours into every vector.
    #[must_use]
    pub fn with_context(mut self, context: ContextWeights) -> Self {
        self.context = context;
        self
    }
}

impl<C: Chunker, E: Embedder> Chunker for EmbeddedChunker<C, E> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let mut chunks = self.inner.chunk(text)?;
        let mut bare: Vec<&mut Chunk<'t>> = chunks.iter_mut().filter(|chunk| chunk.embedding.is_none()).collect();
        for batch in bare.chunks_mut(BATCH) {
            let texts: Vec<String> = batch.iter().map(|chunk| chunk.joined()).collect();
            let embeddings = embed_texts(&self.embedder, &texts.iter().map(String::as_str).collect::<Vec<_>>())?;
            for (chunk, embedding) in batch.iter_mut().zip(embeddings) {
                chunk.truncated |= embedding.truncated;
                chunk.embedding = Some(embedding.vector);
            }
        }
        if !self.context.is_empty() {
            let own: Vec<Vec<f32>> = chunks.iter().filter_map(|chunk| chunk.embedding.clone()).collect();
            for (chunk, vector) in chunks.iter_mut().zip(self.context.apply(&own)) {
                chunk.embedding = Some(vector);
            }
        }
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_reach_as_far_as_there_are_some_and_never_out_of_the_document() {
        let weights: ContextWeights = "0.5,0.25".parse().unwrap();
        let axes: Vec<Vec<f32>> =
            (0..4).map(|at| (0..4).map(|axis| f32::from(u8::from(at == axis))).collect()).collect();
        let mixed = weights.apply(&axes);
        let is = |at: usize, axis: usize, weight: f32| (mixed[at][axis] / mixed[at][at] - weight).abs() < 1e-6;
        assert!(is(0, 1, 0.5) && is(0, 2, 0.25) && is(0, 3, 0.0), "{mixed:?}");
        assert!(is(2, 0, 0.25) && is(2, 1, 0.5) && is(2, 3, 0.5), "{mixed:?}");
        assert!(mixed.iter().all(|vector| (vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6));
    }

    #[test]
    fn weights_that_are_no_numbers_are_refused() {
        for text in ["", "a", "0.5,-1", "inf", "1.5", "0.1,,0.2"] {
            assert!(text.parse::<ContextWeights>().is_err(), "{text}");
        }
        assert_eq!("0.25, 0.1".parse::<ContextWeights>().unwrap().to_string(), "0.25,0.1");
    }
}
