//! Answers by the cosine of weighed word counts.

use std::collections::BTreeMap;

use super::bm25::{counts, holding};
use super::selector::texts;
use super::{AnswerError, Candidate, Selector, Words};

/// Cosine of the question's and an answer's word counts, weighed as scikit-learn's `TfidfVectorizer` does by default:
/// `ln((1 + n) / (1 + f)) + 1` for a word in `f` of `n` answers, vectors of length 1. Words of the question that no
/// answer has count for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct TfIdf {
    words: Words,
}

impl TfIdf {
    /// Compares these words; those of [`Words::default`] if none are given.
    #[must_use]
    pub fn with_words(mut self, words: Words) -> Self {
        self.words = words;
        self
    }
}

impl Selector for TfIdf {
    fn name(&self) -> &'static str {
        "tfidf"
    }

    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        let documents: Vec<_> = texts(answers).into_iter().map(|text| self.words.of(text)).collect();
        Ok(scores(&self.words.of(question), &documents))
    }
}

fn scores(question: &[String], documents: &[Vec<String>]) -> Vec<f64> {
    let counted: Vec<_> = documents.iter().map(|words| counts(words)).collect();
    let holding = holding(&counted);
    let number = documents.len() as f64;
    let weighed = |counts: &BTreeMap<&str, f64>| {
        let mut vector = BTreeMap::new();
        for (&word, count) in counts {
            if let Some((&word, held)) = holding.get_key_value(word) {
                vector.insert(word, count * (((1.0 + number) / (1.0 + held)).ln() + 1.0));
            }
        }
        let length = vector.values().map(|value| value * value).sum::<f64>().sqrt();
        if length > 0.0 {
            vector.values_mut().for_each(|value| *value /= length);
        }
        vector
    };
    let asked = weighed(&counts(question));
    let score = |counts| {
        let vector = weighed(counts);
        asked.iter().filter_map(|(word, value)| Some(value * vector.get(word)?)).sum()
    };
    counted.iter().map(score).collect()
}
