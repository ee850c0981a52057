//! The reader that needs no model: the sentence that shares most with the question.

use std::collections::{BTreeSet, HashSet};

use super::{AnswerError, Found, Reader, Reading, Usage, Words};
use crate::sentence::{SentenceSplitter, UnicodeSplitter};

/// Answers with the sentence of the chunk that shares most of the question's words, the first of equal ones.
///
/// A sentence scores the share, from 0 to 1, of the question's words that stand in it, each word once and weighed by
/// how rare it is among the chunk's sentences: `ln(1 + (n - f + 0.5) / (f + 0.5))` for a word in `f` of `n`, the
/// weight of Okapi BM25 in the form that is never negative. So a word of every sentence says little, a word that the
/// chunk lacks speaks against it, and no language needs a list of stop words. A chunk whose best sentence stays below
/// the minimum share abstains.
#[derive(Clone, Debug)]
pub struct LexicalReader {
    words: Words,
    min_share: f64,
}

/// The smallest share of the question that is an answer.
const MIN_SHARE: f64 = 0.1;

impl Default for LexicalReader {
    fn default() -> Self {
        Self { words: Words::default(), min_share: MIN_SHARE }
    }
}

impl LexicalReader {
    /// Compares these words; those of [`Words::default`] if none are given.
    #[must_use]
    pub fn with_words(mut self, words: Words) -> Self {
        self.words = words;
        self
    }

    /// Abstains below this share of the question's words, above 0 and up to 1; 0.1 if none is given.
    ///
    /// # Errors
    ///
    /// [`AnswerError::Setting`] for any other number.
    pub fn with_min_share(mut self, share: f64) -> Result<Self, AnswerError> {
        if !(share > 0.0 && share <= 1.0) {
            let (setting, allowed) = ("the minimum share", "a number above 0 and up to 1");
            return Err(AnswerError::Setting { setting, value: share.to_string(), allowed });
        }
        self.min_share = share;
        Ok(self)
    }
}

impl Reader for LexicalReader {
    fn name(&self) -> &'static str {
        "lexical"
    }

    fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError> {
        // Sorted, so that sums are the same each time.
        let asked: BTreeSet<String> = self.words.of(question).into_iter().collect();
        if asked.is_empty() {
            return Err(AnswerError::EmptyQuestion);
        }
        let spans = UnicodeSplitter::default().split(chunk)?;
        let sentences: Vec<HashSet<String>> =
            spans.iter().map(|&span| self.words.of(&chunk[span]).into_iter().collect()).collect();
        let weights: Vec<f64> = asked
            .iter()
            .map(|word| {
                let holding = sentences.iter().filter(|sentence| sentence.contains(word)).count() as f64;
                ((sentences.len() as f64 - holding + 0.5) / (holding + 0.5)).ln_1p()
            })
            .collect();
        let all: f64 = weights.iter().sum();
        let mut best = (0.0, None);
        for (&span, sentence) in spans.iter().zip(&sentences) {
            let shared = asked.iter().zip(&weights).filter(|(word, _)| sentence.contains(*word));
            let score = shared.map(|(_, weight)| weight).sum::<f64>() / all;
            if score > best.0 {
                best = (score, Some(span));
            }
        }
        let (score, span) = best;
        let span = span.filter(|_| score >= self.min_share);
        let answer = span.map(|span| Found { text: chunk[span].to_owned(), span: Some(span) });
        Ok(Reading { answer, score, usage: Usage::default() })
    }
}
