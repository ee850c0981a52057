//! Answers by Okapi BM25.

use std::collections::BTreeMap;

use super::selector::texts;
use super::{AnswerError, Candidate, Selector, Words};

const K1: f64 = 1.5;
const B: f64 = 0.75;
const EPSILON: f64 = 0.25;

/// Scores the answers' words against the question's, each answer a document, as `BM25Okapi` of the Python package
/// rank-bm25 does: k1 1.5, b 0.75, and a word in more than half of the answers weighs a quarter of the mean weight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bm25 {
    words: Words,
}

impl Bm25 {
    /// Compares these words; those of [`Words::default`] if none are given.
    #[must_use]
    pub fn with_words(mut self, words: Words) -> Self {
        self.words = words;
        self
    }
}

impl Selector for Bm25 {
    fn name(&self) -> &'static str {
        "bm25"
    }

    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        let documents: Vec<_> = texts(answers).into_iter().map(|text| self.words.of(text)).collect();
        Ok(scores(&self.words.of(question), &documents))
    }
}

/// How often each word stands in a document, in the order of words: sums are the same each time.
pub(super) fn counts(words: &[String]) -> BTreeMap<&str, f64> {
    let mut counts = BTreeMap::new();
    words.iter().for_each(|word| *counts.entry(word.as_str()).or_insert(0.0) += 1.0);
    counts
}

/// In how many documents each word stands.
pub(super) fn holding<'a>(documents: &[BTreeMap<&'a str, f64>]) -> BTreeMap<&'a str, f64> {
    let mut holding = BTreeMap::new();
    documents.iter().flat_map(BTreeMap::keys).for_each(|&word| *holding.entry(word).or_insert(0.0) += 1.0);
    holding
}

fn scores(question: &[String], documents: &[Vec<String>]) -> Vec<f64> {
    let counted: Vec<_> = documents.iter().map(|words| counts(words)).collect();
    let number = documents.len() as f64;
    let mean_length = documents.iter().map(Vec::len).sum::<usize>() as f64 / number;
    let weight = |holding: f64| (number - holding + 0.5).ln() - (holding + 0.5).ln();
    let holding = holding(&counted);
    let mean_weight = holding.values().copied().map(weight).sum::<f64>() / holding.len() as f64;
    let weight_of = |word: &str| {
        let weight = weight(*holding.get(word)?);
        Some(if weight < 0.0 { EPSILON * mean_weight } else { weight })
    };
    let score = |(words, counts): (&Vec<String>, &BTreeMap<&str, f64>)| {
        let length = K1 * (1.0 - B + B * words.len() as f64 / mean_length);
        let of_word = |word: &String| {
            let count = counts.get(word.as_str())?;
            Some(weight_of(word)? * (count * (K1 + 1.0) / (count + length)))
        };
        question.iter().filter_map(of_word).sum()
    };
    documents.iter().zip(&counted).map(score).collect()
}
