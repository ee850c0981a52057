//! What an evaluation run says: one row a chunker, the environment, and the formats they are written in.
//!
//! Scores are kept from 0 to 1; what is written for people is percent, as the field prints it.

mod html;
mod table;

use serde::Serialize;

use super::dataset::Dataset;
use super::metrics::Scores;
use super::run::{Evaluation, QuestionResult, Summary};
use super::stats::{Difference, confidence, paired_bootstrap};

pub use html::write_html;
pub use table::{write_csv, write_markdown, write_table};

/// Where and how a report was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stamp {
    /// Version of this program.
    pub version: String,
    /// The model that embedded.
    pub model: String,
    /// The device it ran on.
    pub device: String,
    /// The dataset.
    pub dataset: String,
    /// Corpora, questions and characters.
    pub size: String,
    /// Settings of the run, as name and value.
    pub settings: Vec<(String, String)>,
}

/// Scores that somebody else published for a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Recall, precision, precision-omega and IoU, in percent as they were published.
    pub percent: [f64; 4],
}

/// How long the chunks are, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sizes {
    /// Number of chunks.
    pub chunks: usize,
    /// Mean number of tokens.
    pub mean: f64,
    /// The 10th, 50th and 90th percentile, and the largest.
    pub percentiles: [usize; 4],
    /// Every chunk's tokens, for plots.
    #[serde(skip)]
    pub all: Vec<usize>,
}

impl Sizes {
    fn of(evaluation: &Evaluation) -> Self {
        let mut all: Vec<usize> = evaluation.chunks.iter().filter_map(|chunk| chunk.tokens).collect();
        all.sort_unstable();
        let at = |percent: usize| all.get((all.len().saturating_sub(1)) * percent / 100).copied().unwrap_or_default();
        let mean = all.iter().sum::<usize>() as f64 / all.len().max(1) as f64;
        Self { chunks: evaluation.chunks.len(), mean, percentiles: [at(10), at(50), at(90), at(100)], all }
    }
}

/// A row's recall and IoU against those of another row, paired by question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Difference of recall.
    pub recall: Difference,
    /// Difference of IoU.
    pub iou: Difference,
}

impl Comparison {
    /// Of `scores` minus `baseline`.
    #[must_use]
    pub fn of(baseline: &[Scores], scores: &[Scores]) -> Self {
        let paired = |of: fn(&Scores) -> f64| {
            let values = |scores: &[Scores]| scores.iter().map(of).collect::<Vec<_>>();
            paired_bootstrap(&values(baseline), &values(scores))
        };
        Self { recall: paired(|scores| scores.recall), iou: paired(|scores| scores.iou) }
    }
}

/// One chunker's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The chunker's name.
    pub chunker: String,
    /// Its settings.
    pub parameters: String,
    /// Means and deviations over all questions, from 0 to 1.
    pub summary: Summary,
    /// The interval that holds 95 % of the bootstrapped means of recall.
    pub recall_interval: (f64, f64),
    /// The same of IoU.
    pub iou_interval: (f64, f64),
    /// The same figures for each corpus.
    pub corpora: Vec<(String, Summary)>,
    /// How large the chunks are.
    pub sizes: Sizes,
    /// Seconds of cutting, embedding and scoring; what an earlier row embedded costs a later one nothing.
    pub seconds: f64,
    /// Texts that the chunker asked to be embedded, chunks included.
    pub texts: u64,
    /// Against the first row of the report.
    pub against_first: Option<Comparison>,
    /// What others published for the same row.
    pub published: Option<Published>,
    /// Every question's scores, for comparisons.
    #[serde(skip)]
    pub scores: Vec<Scores>,
}

impl Row {
    /// The row of one evaluation.
    #[must_use]
    pub fn new(chunker: &str, parameters: &str, dataset: &Dataset, evaluation: &Evaluation) -> Self {
        let scores: Vec<Scores> = evaluation.questions.iter().map(|question| question.scores).collect();
        let interval = |of: fn(&Scores) -> f64| confidence(&scores.iter().map(of).collect::<Vec<_>>());
        let corpora = dataset.corpora.iter().enumerate();
        Self {
            chunker: chunker.to_owned(),
            parameters: parameters.to_owned(),
            summary: evaluation.summary(),
            recall_interval: interval(|scores| scores.recall),
            iou_interval: interval(|scores| scores.iou),
            corpora: corpora.map(|(at, corpus)| (corpus.id.clone(), evaluation.of_corpus(dataset, at))).collect(),
            sizes: Sizes::of(evaluation),
            seconds: 0.0,
            texts: 0,
            against_first: None,
            published: None,
            scores,
        }
    }

    /// The row of scores that belong to no single chunker.
    #[must_use]
    pub fn of_scores(chunker: &str, parameters: &str, dataset: &Dataset, scores: &[Scores]) -> Self {
        let questions = scores.iter().map(|&scores| QuestionResult { scores, retrieved: Vec::new(), touching: 0 });
        Self::new(chunker, parameters, dataset, &Evaluation { chunks: Vec::new(), questions: questions.collect() })
    }

    /// Name and settings.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", self.chunker, self.parameters)
    }
}

/// All rows of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Where it was made.
    pub stamp: Stamp,
    /// One a chunker, in the order asked for.
    pub rows: Vec<Row>,
    /// Numbers of the rows that no other row beats in both recall and IoU, by recall.
    pub front: Vec<usize>,
}

impl Report {
    /// Puts rows together: each is compared with the first.
    #[must_use]
    pub fn new(stamp: Stamp, mut rows: Vec<Row>) -> Self {
        if let Some((first, others)) = rows.split_first_mut() {
            for row in others {
                row.against_first = Some(Comparison::of(&first.scores, &row.scores));
            }
        }
        let points: Vec<(f64, f64)> = rows.iter().map(|row| (row.summary.recall.mean, row.summary.iou.mean)).collect();
        Self { stamp, front: pareto_front(&points), rows }
    }
}

/// Numbers of the points that no other point beats in one coordinate without losing in the other, by the first.
#[must_use]
pub fn pareto_front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        points[b].0.total_cmp(&points[a].0).then(points[b].1.total_cmp(&points[a].1)).then(a.cmp(&b))
    });
    let mut best = f64::NEG_INFINITY;
    order.retain(|&at| {
        let better = points[at].1 > best;
        best = best.max(points[at].1);
        better
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_of_the_front_is_beaten() {
        let points = [(0.7, 0.1), (0.8, 0.05), (0.7, 0.12), (0.6, 0.12), (0.5, 0.2), (0.8, 0.05)];
        assert_eq!(pareto_front(&points), [1, 2, 4]);
        assert!(pareto_front(&[]).is_empty());
    }
}
