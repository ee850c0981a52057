//! Answers by the vectors of an embedder.

use std::fmt;

use super::selector::texts;
use super::{AnswerError, Candidate, Selector};
use crate::embedding::{Cosine, Embedder, Embedding, EmbeddingError, Similarity};

/// Cosine of the question's vector and each answer's.
pub struct EmbeddingSelector<E> {
    questions: E,
    texts: E,
}

impl<E> fmt::Debug for EmbeddingSelector<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingSelector").finish_non_exhaustive()
    }
}

impl<E: Embedder> EmbeddingSelector<E> {
    /// Questions embedded by the one, answers by the other; a model without prefixes serves as both. For others see
    /// [`SentenceTransformer::queries`](crate::SentenceTransformer::queries).
    #[must_use]
    pub const fn new(questions: E, texts: E) -> Self {
        Self { questions, texts }
    }
}

impl<E: Embedder> Selector for EmbeddingSelector<E> {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        let asked = vector_of(&self.questions, question)?;
        let vectors = vectors_of(&self.texts, &texts(answers))?;
        Ok(vectors.iter().map(|vector| f64::from(Cosine.between(&asked, vector))).collect())
    }
}

/// The vector of one text.
pub(super) fn vector_of(embedder: &(impl Embedder + ?Sized), text: &str) -> Result<Vec<f32>, EmbeddingError> {
    let vector = vectors_of(embedder, &[text])?.pop();
    vector.ok_or(EmbeddingError::Count { asked: 1, found: 0 })
}

/// The vectors of texts, as many and as long as they must be.
pub(super) fn vectors_of(embedder: &(impl Embedder + ?Sized), texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
    let vectors: Vec<_> = embedder.embed(texts)?.into_iter().map(|Embedding { vector, .. }| vector).collect();
    let dimension = embedder.dimension();
    if vectors.len() != texts.len() {
        return Err(EmbeddingError::Count { asked: texts.len(), found: vectors.len() });
    }
    match vectors.iter().find(|vector| vector.len() != dimension) {
        Some(vector) => Err(EmbeddingError::Dimension { dimension, found: vector.len() }),
        None => Ok(vectors),
    }
}
