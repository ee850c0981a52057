//! Answers by a model that reads them together with the question.

use super::selector::texts;
use super::{AnswerError, Candidate, Selector};
use crate::embedding::CrossEncoder;

/// The score that a cross-encoder gives an answer beside the question.
#[derive(Debug)]
pub struct CrossEncoderSelector {
    model: CrossEncoder,
}

impl CrossEncoderSelector {
    /// Scores with this model.
    #[must_use]
    pub const fn new(model: CrossEncoder) -> Self {
        Self { model }
    }
}

impl Selector for CrossEncoderSelector {
    fn name(&self) -> &'static str {
        "cross-encoder"
    }

    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        let scores = self.model.scores(question, &texts(answers)).map_err(AnswerError::Model)?;
        Ok(scores.into_iter().map(f64::from).collect())
    }
}
