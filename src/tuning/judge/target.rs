//! A size to reach: the threshold whose chunks have about so many tokens.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{Judge, JudgeError, Judged, Question};
use crate::chunker::{SettingsError, WindowChunker};
use crate::embedding::Embedder;
use crate::tuning::search::Verdict;

/// Makes the chunks that a threshold would make, and looks at the median of their sizes: where that is not above the
/// target, the threshold may be lower.
///
/// The chunker makes its windows anew for every threshold: give it a [`MemoEmbedder`](crate::MemoEmbedder).
pub struct TargetJudge<'a, F> {
    chunker: F,
    texts: Vec<&'a str>,
    target: usize,
    /// Medians by the bits of the threshold: runs of equal similarity ask twice.
    known: RefCell<HashMap<u32, Option<f64>>>,
}

impl<F> std::fmt::Debug for TargetJudge<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TargetJudge")
            .field("texts", &self.texts.len())
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl<'a, F, E> TargetJudge<'a, F>
where
    F: Fn(f32) -> Result<WindowChunker<E>, SettingsError>,
    E: Embedder,
{
    /// A judge for chunks of `target` tokens, made of these texts by the chunker that `chunker` gives for a threshold.
    #[must_use]
    pub fn new(texts: &[&'a str], target: usize, chunker: F) -> Self {
        Self { chunker, texts: texts.to_vec(), target, known: RefCell::default() }
    }

    /// The median size of the chunks at a threshold, in tokens; `None` where there are none.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Chunk`], [`JudgeError::Settings`]
    pub fn median(&self, threshold: f32) -> Result<Option<f64>, JudgeError> {
        if let Some(&known) = self.known.borrow().get(&threshold.to_bits()) {
            return Ok(known);
        }
        let chunker = (self.chunker)(threshold)?;
        let mut sizes = Vec::new();
        for text in &self.texts {
            let failed = |source| JudgeError::Chunk { threshold, source };
            for chunk in chunker.chunks(text).map_err(failed)? {
                sizes.extend(chunk.map_err(failed)?.tokens);
            }
        }
        let median = median(&mut sizes);
        self.known.borrow_mut().insert(threshold.to_bits(), median);
        Ok(median)
    }
}

impl<F, E> Judge for TargetJudge<'_, F>
where
    F: Fn(f32) -> Result<WindowChunker<E>, SettingsError>,
    E: Embedder,
{
    fn name(&self) -> String {
        format!("target:{}", self.target)
    }

    fn judge(&mut self, question: &Question<'_>) -> Result<Judged, JudgeError> {
        let Some(median) = self.median(question.similarity.clamp(-1.0, 1.0))? else { return Ok(Judged::default()) };
        let verdict = if median <= self.target as f64 { Verdict::Holds } else { Verdict::Drifts };
        Ok(Judged { verdict: Some(verdict), grounds: Some(format!("median of {median} tokens")) })
    }
}

/// The median of some sizes, the mean of the middle two where there is an even number; sorts them.
#[must_use]
pub fn median(sizes: &mut [usize]) -> Option<f64> {
    sizes.sort_unstable();
    let middle = sizes.len() / 2;
    let upper = *sizes.get(middle)? as f64;
    Some(if sizes.len().is_multiple_of(2) { f64::midpoint(sizes[middle - 1] as f64, upper) } else { upper })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::{Embedding, EmbeddingError};

    /// Every sentence added turns the vector further.
    struct Turning;

    impl Embedder for Turning {
        fn dimension(&self) -> usize {
            2
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
            let angle = |text: &&str| (text.matches('.').count() - 1) as f32 * 0.2;
            Ok(texts
                .iter()
                .map(|text| Embedding { vector: vec![angle(text).cos(), angle(text).sin()], truncated: false })
                .collect())
        }
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!([median(&mut []), median(&mut [3]), median(&mut [9, 1, 2, 4])], [None, Some(3.0), Some(3.0)]);
    }

    #[test]
    fn a_threshold_holds_whose_chunks_are_not_larger_than_the_target() {
        let text = "One two. ".repeat(12);
        let judge = |target, similarity| {
            let chunker = |t| WindowChunker::new(Turning).with_threshold(t)?.with_max_sentences(12);
            let mut judge = TargetJudge::new(&[&text], target, chunker);
            judge.judge(&Question { sentences: Vec::new(), similarity }).unwrap().verdict
        };
        // At 0.9 a chunk has three sentences of three tokens.
        assert_eq!(judge(9, 0.9), Some(Verdict::Holds));
        assert_eq!(judge(8, 0.9), Some(Verdict::Drifts));
        assert_eq!(judge(8, 0.99), Some(Verdict::Holds));
    }

    #[test]
    fn a_text_without_chunks_has_no_verdict() {
        let mut judge = TargetJudge::new(&[" "], 9, |_| Ok(WindowChunker::new(Turning)));
        assert_eq!(judge.judge(&Question { sentences: Vec::new(), similarity: 0.5 }).unwrap().verdict, None);
    }
}
