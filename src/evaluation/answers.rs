//! How well a question is answered chunk by chunk: readers and selectors, scored as SQuAD scores answers.
//!
//! An [`AnswerEvaluator`] cuts the documents of an [`AnswerSet`], has every chunk read, lets each selector choose among
//! the same answers, and scores what it chose by exact match and token F1. The questions are those of `ChunkRank` (arXiv
//! 2609.29828): how much does a selector gain over taking the first answer, and how far is it from the best answer
//! there was?
//!
//! Nothing here depends on the number of threads but the times, which are kept apart.

mod load;
mod metrics;
mod report;
mod run;
mod set;
#[cfg(test)]
mod tests;

pub use load::{AnswerFormat, BrokenRecord, LoadError, Loaded};
pub use metrics::AnswerScore;
pub use report::{AnswerComparison, AnswerReport, AnswerRow, PhaseTime, ReadingFigures};
pub use run::{AnswerEvaluation, AnswerEvaluator, AnswerFailure, AnsweredQuestion, QuestionTimes, SelectedAnswer};
pub use set::{AnswerQuestion, AnswerSet};
