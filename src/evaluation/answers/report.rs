//! What an evaluation of answers says: a row a selector, figures of the reading, times.
//!
//! Shares and scores go from 0 to 1; tables for people show percent.

use std::time::Duration;

use serde::Serialize;

use super::{AnswerEvaluation, AnswerScore, AnswerSet, AnsweredQuestion};
use crate::evaluation::report::Stamp;
use crate::evaluation::stats::{Difference, Moments, confidence, paired_bootstrap};
use crate::evaluation::table::Table;

/// A row against `first`, paired by question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerComparison {
    /// Difference of exact match.
    pub exact: Difference,
    /// Difference of F1.
    pub f1: Difference,
}

/// One selector's result; or that of the oracle, or of whole documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerRow {
    /// Name of the reader.
    pub reader: String,
    /// Name of the selector; `oracle` for the best answer that any chunk gave, `whole` for whole documents.
    pub selector: String,
    /// Questions that count.
    pub questions: usize,
    /// Mean exact match.
    pub exact: f64,
    /// The interval that holds 95 % of its bootstrapped means.
    pub exact_interval: (f64, f64),
    /// Mean F1.
    pub f1: f64,
    /// The interval that holds 95 % of its bootstrapped means.
    pub f1_interval: (f64, f64),
    /// Share of the questions whose answer holds a right one, or that were rightly given none.
    pub holds: f64,
    /// Mean F1 of the questions that have an answer; `None` if there are none.
    pub f1_answerable: Option<f64>,
    /// Share of the questions without an answer that were given none; `None` if there are none.
    pub abstained_rightly: Option<f64>,
    /// Share of the questions whose best score several answers had; `None` where nothing was selected.
    pub ties: Option<f64>,
    /// Against `first` on the same questions.
    pub against_first: Option<AnswerComparison>,
}

/// What the chunks gave, whichever of them is selected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReadingFigures {
    /// Questions that were put.
    pub questions: usize,
    /// Those whose document answers them.
    pub answerable: usize,
    /// Mean chunks of a question's document.
    pub chunks: f64,
    /// Share of the chunks whose reader abstained.
    pub empty_chunks: f64,
    /// Share of the questions to which every chunk abstained.
    pub without_answer: f64,
    /// Share of the answerable questions with a chunk in which a right answer stands word for word.
    pub held: f64,
    /// Mean number, from 1, of the first such chunk; `None` if there is none.
    pub held_by: Option<f64>,
    /// The same as a share of the document: 0 is its first chunk, 1 its last.
    pub held_at: Option<f64>,
    /// Documents that were read whole, where that was asked for.
    pub documents_whole: Option<usize>,
    /// Documents in the set.
    pub documents: usize,
}

/// How long a part of the work took, a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PhaseTime {
    /// `chunking`, `reading`, or `selecting by` a selector.
    pub phase: String,
    /// Half of the questions took at most so many milliseconds.
    pub median_ms: f64,
    /// 95 % of them did.
    pub p95_ms: f64,
}

/// All figures of a run. Only `times` differs from run to run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerReport {
    /// Where it was made.
    pub stamp: Stamp,
    /// One a selector, `first` in front; then the oracle and whole documents.
    pub rows: Vec<AnswerRow>,
    /// What the chunks gave.
    pub reading: ReadingFigures,
    /// How long it took.
    pub times: Vec<PhaseTime>,
}

impl AnswerReport {
    /// Puts the figures of an evaluation together.
    #[must_use]
    pub fn new(stamp: Stamp, set: &AnswerSet, evaluation: &AnswerEvaluation) -> Self {
        let all: Vec<&AnsweredQuestion> = evaluation.questions.iter().collect();
        let mut rows = Vec::new();
        for (at, selector) in evaluation.selectors.iter().enumerate() {
            let mut row = AnswerRow::new(selector, evaluation, &all, |answered| answered.selected[at].score);
            row.ties = Some(share(&all, |answered| answered.selected[at].tied));
            if at == 0 {
                row.against_first = None;
            }
            rows.push(row);
        }
        rows.push(AnswerRow::new("oracle", evaluation, &all, |answered| answered.oracle));
        if evaluation.documents_whole.is_some() {
            let whole: Vec<&AnsweredQuestion> =
                all.iter().copied().filter(|answered| answered.whole.is_some()).collect();
            rows.push(AnswerRow::new("whole", evaluation, &whole, |answered| answered.whole.unwrap_or_default()));
        }
        let reading = ReadingFigures::of(set, evaluation, &all);
        Self { stamp, rows, reading, times: times(evaluation) }
    }

    /// The rows for people, in percent.
    #[must_use]
    pub fn table(&self) -> Table {
        let headers = [
            "reader",
            "selector",
            "exact",
            "95 %",
            "F1",
            "95 %",
            "holds",
            "F1 if answerable",
            "rightly none",
            "ties",
            "F1 against first",
            "p",
            "questions",
        ];
        let mut table = Table::new(2, headers);
        let interval = |(low, high): (f64, f64)| format!("{}-{}", percent(low), percent(high));
        let some = |value: Option<f64>| value.map_or(String::new(), percent);
        for row in &self.rows {
            let f1 = row.against_first.map(|against| against.f1);
            let against =
                f1.map(|f1| format!("{:+.1} ({:+.1} to {:+.1})", f1.mean * 100.0, f1.low * 100.0, f1.high * 100.0));
            table.push([
                row.reader.clone(),
                row.selector.clone(),
                percent(row.exact),
                interval(row.exact_interval),
                percent(row.f1),
                interval(row.f1_interval),
                percent(row.holds),
                some(row.f1_answerable),
                some(row.abstained_rightly),
                some(row.ties),
                against.unwrap_or_default(),
                f1.map(|f1| probability(f1.p)).unwrap_or_default(),
                row.questions.to_string(),
            ]);
        }
        table
    }

    /// The times for people, in milliseconds a question.
    #[must_use]
    pub fn times_table(&self) -> Table {
        let mut table = Table::new(1, ["ms a question", "median", "95 %"]);
        for time in &self.times {
            table.push([time.phase.clone(), format!("{:.3}", time.median_ms), format!("{:.3}", time.p95_ms)]);
        }
        table
    }

    /// Lines under the tables that say what they show.
    #[must_use]
    pub fn legend(&self) -> Vec<String> {
        let Self { stamp, reading, .. } = self;
        let mut lines = vec![format!("{}: {}; percent", stamp.dataset, stamp.size)];
        let settings: Vec<String> = stamp.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        lines.push(format!("horchunk {}, {} on {}; {}", stamp.version, stamp.model, stamp.device, settings.join(", ")));
        lines.push(format!(
            "{:.1} chunks a question; {} % of them empty, {} % of the questions without any answer",
            reading.chunks,
            percent(reading.empty_chunks),
            percent(reading.without_answer)
        ));
        if let Some((by, at)) = reading.held_by.zip(reading.held_at) {
            lines.push(format!(
                "a right answer stands word for word in a chunk of {} % of the answerable questions, on average in chunk \
                 {by:.1}, {} % of the way from the first to the last",
                percent(reading.held),
                percent(at)
            ));
        }
        if let Some(whole) = reading.documents_whole {
            lines
                .push(format!("whole: one reading of the document, for the {whole} of {} that fit", reading.documents));
        }
        lines.push("holds: a right answer stands in the answer, or none was rightly given".to_owned());
        lines.push(
            "oracle: the best answer that any chunk gave; 95 % intervals and p by the paired bootstrap".to_owned(),
        );
        lines
    }

    /// The rows as records, all figures from 0 to 1.
    #[must_use]
    pub fn records(&self) -> Table {
        let headers = [
            "reader",
            "selector",
            "questions",
            "exact",
            "exact_low",
            "exact_high",
            "f1",
            "f1_low",
            "f1_high",
            "holds",
            "f1_answerable",
            "abstained_rightly",
            "ties",
            "exact_difference",
            "exact_difference_low",
            "exact_difference_high",
            "exact_p",
            "f1_difference",
            "f1_difference_low",
            "f1_difference_high",
            "f1_p",
        ];
        let mut table = Table::new(2, headers);
        let number = |value: f64| format!("{value:.6}");
        let some = |value: Option<f64>| value.map_or(String::new(), number);
        for row in &self.rows {
            let mut cells = vec![row.reader.clone(), row.selector.clone(), row.questions.to_string()];
            let (exact, f1) = (row.exact_interval, row.f1_interval);
            cells.extend([row.exact, exact.0, exact.1, row.f1, f1.0, f1.1, row.holds].map(number));
            cells.extend([row.f1_answerable, row.abstained_rightly, row.ties].map(some));
            for difference in row.against_first.iter().flat_map(|against| [against.exact, against.f1]) {
                cells.extend([difference.mean, difference.low, difference.high, difference.p].map(number));
            }
            table.push(cells);
        }
        table
    }
}

impl AnswerRow {
    /// The row of these questions, against what `first` made of them.
    fn new(
        selector: &str,
        evaluation: &AnswerEvaluation,
        questions: &[&AnsweredQuestion],
        score: impl Fn(&AnsweredQuestion) -> AnswerScore,
    ) -> Self {
        let values = |of: fn(AnswerScore) -> f64| questions.iter().map(|answered| of(score(answered))).collect();
        let first =
            |of: fn(AnswerScore) -> f64| questions.iter().map(|answered| of(answered.selected[0].score)).collect();
        let (exact, f1): (Vec<f64>, Vec<f64>) = (values(|score| score.exact), values(|score| score.f1));
        let (first_exact, first_f1): (Vec<f64>, Vec<f64>) = (first(|score| score.exact), first(|score| score.f1));
        let mean_where = |is_answerable: bool| {
            let asked = questions.iter().zip(&f1).filter(|(answered, _)| answered.is_answerable == is_answerable);
            mean(asked.map(|(_, &f1)| f1).collect())
        };
        Self {
            reader: evaluation.reader.clone(),
            selector: selector.to_owned(),
            questions: questions.len(),
            exact: Moments::of(exact.iter().copied()).mean,
            exact_interval: confidence(&exact),
            f1: Moments::of(f1.iter().copied()).mean,
            f1_interval: confidence(&f1),
            holds: Moments::of(questions.iter().map(|answered| score(answered).holds)).mean,
            f1_answerable: mean_where(true),
            abstained_rightly: mean_where(false),
            ties: None,
            against_first: Some(AnswerComparison {
                exact: paired_bootstrap(&first_exact, &exact),
                f1: paired_bootstrap(&first_f1, &f1),
            }),
        }
    }
}

impl ReadingFigures {
    fn of(set: &AnswerSet, evaluation: &AnswerEvaluation, questions: &[&AnsweredQuestion]) -> Self {
        let answerable: Vec<&AnsweredQuestion> =
            questions.iter().copied().filter(|answered| answered.is_answerable).collect();
        let held = answerable.iter().filter_map(|answered| Some((answered.held_by?, answered.chunks)));
        let chunks: usize = questions.iter().map(|answered| answered.chunks).sum();
        let empty: usize = questions.iter().map(|answered| answered.empty).sum();
        Self {
            questions: questions.len(),
            answerable: answerable.len(),
            chunks: chunks as f64 / questions.len().max(1) as f64,
            empty_chunks: empty as f64 / chunks.max(1) as f64,
            without_answer: share(questions, |answered| answered.empty == answered.chunks),
            held: share(&answerable, |answered| answered.held_by.is_some()),
            held_by: mean(held.clone().map(|(at, _)| (at + 1) as f64).collect()),
            held_at: mean(held.map(|(at, chunks)| at as f64 / (chunks - 1).max(1) as f64).collect()),
            documents_whole: evaluation.documents_whole,
            documents: set.documents.len(),
        }
    }
}

fn times(evaluation: &AnswerEvaluation) -> Vec<PhaseTime> {
    let phase = |phase: String, of: &dyn Fn(&AnsweredQuestion) -> Duration| {
        let mut times: Vec<Duration> = evaluation.questions.iter().map(of).collect();
        times.sort_unstable();
        // The smallest time that so many percent do not pass.
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).max(1) - 1);
        let milliseconds = |percent: usize| at(percent).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        PhaseTime { phase, median_ms: milliseconds(50), p95_ms: milliseconds(95) }
    };
    let mut times = vec![
        phase("chunking".to_owned(), &|answered| answered.times.chunking),
        phase("reading".to_owned(), &|answered| answered.times.reading),
    ];
    for (at, selector) in evaluation.selectors.iter().enumerate() {
        times.push(phase(format!("selecting by {selector}"), &|answered| answered.times.selecting[at]));
    }
    times
}

fn share(questions: &[&AnsweredQuestion], is: impl Fn(&AnsweredQuestion) -> bool) -> f64 {
    questions.iter().filter(|answered| is(answered)).count() as f64 / questions.len().max(1) as f64
}

fn mean(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| Moments::of(values).mean)
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}
