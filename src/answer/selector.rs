//! One of many answers.

use super::{AnswerError, Candidate};

/// Scores answers to a question.
pub trait Selector: Send + Sync {
    /// The selector's name, such as `bm25`.
    fn name(&self) -> &str;

    /// One score an answer, in order; the highest is best, and NaN is worst. No candidate abstained.
    ///
    /// # Errors
    ///
    /// Where the answers could not be compared.
    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: Selector + ?Sized> Selector for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
                (**self).scores(question, answers)
            }
        }
    )*};
}

forward!(&S, Box<S>, std::sync::Arc<S>);

/// What was selected.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Selection {
    /// Place of the best answer among the candidates; `None` if all of them abstained.
    pub chosen: Option<usize>,
    /// The selector's score of each candidate; `None` for those that abstained.
    pub scores: Vec<Option<f64>>,
    /// How many candidates abstained.
    pub abstained: usize,
}

/// The best of the candidates that answered; of equal ones the first.
///
/// # Errors
///
/// Those of the selector, and [`AnswerError::Count`].
pub fn select(
    selector: &(impl Selector + ?Sized),
    question: &str,
    candidates: &[Candidate],
) -> Result<Selection, AnswerError> {
    let (places, answers): (Vec<_>, Vec<_>) =
        candidates.iter().enumerate().filter(|(_, candidate)| candidate.answer.is_some()).unzip();
    let mut selection =
        Selection { chosen: None, scores: vec![None; candidates.len()], abstained: candidates.len() - answers.len() };
    if answers.is_empty() {
        return Ok(selection);
    }
    let scores = selector.scores(question, &answers)?;
    if scores.len() != answers.len() {
        return Err(AnswerError::Count { asked: answers.len(), found: scores.len() });
    }
    let mut best = f64::NEG_INFINITY;
    for (&place, score) in places.iter().zip(scores) {
        selection.scores[place] = Some(score);
        if selection.chosen.is_none() || score > best {
            selection.chosen = Some(place);
            best = if score.is_nan() { f64::NEG_INFINITY } else { score };
        }
    }
    Ok(selection)
}

/// Texts of the answers, in order.
pub(super) fn texts<'a>(answers: &[&'a Candidate]) -> Vec<&'a str> {
    answers.iter().map(|candidate| candidate.answer.as_ref().map_or("", |found| found.text.as_str())).collect()
}

/// The first answer of the document, whatever the others say: each scores 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct First;

impl Selector for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn scores(&self, _question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        Ok(vec![0.0; answers.len()])
    }
}

/// The answer of which its reader is surest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Confidence;

impl Selector for Confidence {
    fn name(&self) -> &'static str {
        "confidence"
    }

    fn scores(&self, _question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        Ok(answers.iter().map(|candidate| candidate.score).collect())
    }
}
