//! How well chunks serve retrieval: questions with known answers, exact retrieval, four scores.
//!
//! An [`Evaluator`] holds a [`Dataset`] and the vectors of its questions; [`Evaluator::run`] cuts the corpora with any
//! [`Chunker`](crate::Chunker), retrieves the chunks most alike to each question and scores them. The method is that of
//! Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024), without a vector database: retrieval is
//! exact.

mod answers;
mod budgets;
mod dataset;
mod fetch;
mod fidelity;
mod grid;
mod locate;
mod make;
mod metrics;
pub mod plot;
mod published;
mod ranges;
mod report;
mod retrieval;
mod run;
mod segmentation;
mod stats;
mod table;

pub use answers::{
    AnswerComparison, AnswerEvaluation, AnswerEvaluator, AnswerFailure, AnswerFormat, AnswerQuestion, AnswerReport,
    AnswerRow, AnswerScore, AnswerSet, AnsweredQuestion, BrokenRecord, LoadError, Loaded, PhaseTime, QuestionTimes,
    ReadingFigures, SelectedAnswer,
};
pub use budgets::{BudgetReport, BudgetRow, Cutter};
pub use dataset::{Corpus, Dataset, DatasetError, Question, Reference};
pub use fetch::{BENCHMARK_URL, FetchError, fetch_benchmark};
pub use fidelity::{CounterFidelity, FidelityReport, LanguageCount, LanguageError, LanguageText, LoadedLanguages};
pub use grid::{Chosen, GridError, choose, grid};
pub use make::{Attempt, GivenUp, Journal, MakeError, MakeSettings, Progress, Rejected, make_questions};
pub use metrics::{Mode, Scores};
pub use published::published_table;
pub use report::{
    Comparison, Published, Report, Row, Sizes, Stamp, pareto_front, write_csv, write_html, write_markdown, write_table,
};
pub use run::{Evaluation, EvaluationError, Evaluator, QuestionResult, Retrievable, Retrieved, Summary, TopK};
pub use segmentation::{SegmentationScores, segmentation_scores, without_separators};
pub use stats::{Difference, Moments, confidence, paired_bootstrap};
pub use table::Table;
