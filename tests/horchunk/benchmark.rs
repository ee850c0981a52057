//! Agreement with the framework whose scores we report: rows that it produced itself, with the same model on the same
//! data, against ours in compat mode.
//!
//! Whole rows take minutes each, so one whole row is run here; of the others precision-omega, which depends on every
//! border but on no vector. `horchunk eval --table horchunk --compat` compares all of them.

use std::collections::HashMap;

use horchunk::evaluation::{Dataset, Evaluator, Mode};
use horchunk::{ChunkerParts, ChunkerSpec, Embedder, Embedding, EmbeddingError, Tiktoken};
use serde::Deserialize;

use crate::support::{BUNDLED, shared};

#[derive(Deserialize)]
struct Golden {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    chunker: String,
    parameters: String,
    recall_mean: f64,
    precision_mean: f64,
    precision_omega_mean: f64,
    iou_mean: f64,
    per_corpus: HashMap<String, HashMap<String, f64>>,
}

fn golden() -> Option<(Dataset, Vec<Row>)> {
    let rows = std::fs::read(shared("golden/framework_rows.json")?).unwrap();
    let golden: Golden = serde_json::from_slice(&rows).unwrap();
    Some((Dataset::load(shared("chunking-evaluation")?).unwrap(), golden.rows))
}

/// The chunker of a row of sizes, `size 250, overlap 125`.
fn spec(row: &Row) -> Option<ChunkerSpec> {
    let name = match row.chunker.as_str() {
        "recursive" => "recursive",
        "fixed token" => "fixed-token",
        _ => return None,
    };
    let settings = row.parameters.replace("size ", "size=").replace(", overlap ", ",overlap=");
    Some(format!("{name}:{settings}").parse().unwrap())
}

/// Gives every text the same vector: for scores that depend on none.
#[derive(Clone)]
struct Blank;

impl Embedder for Blank {
    fn dimension(&self) -> usize {
        1
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        Ok(texts.iter().map(|_| Embedding { vector: vec![1.0], truncated: false }).collect())
    }
}

#[test]
fn the_borders_of_the_size_chunkers_are_those_of_the_framework() {
    let Some((dataset, rows)) = golden() else { return };
    let evaluator = Evaluator::new(&dataset, &Blank).unwrap().with_mode(Mode::Compat);
    let parts = ChunkerParts::new(Blank, Tiktoken::default());
    let mut compared = 0;
    for row in &rows {
        let Some(spec) = spec(row) else { continue };
        let evaluation = evaluator.run(&*spec.build(&parts).unwrap()).unwrap();
        for (corpus, scores) in &row.per_corpus {
            let number = dataset.corpora.iter().position(|found| found.id == *corpus).unwrap();
            let ours = evaluation.of_corpus(&dataset, number).precision_omega.mean * 100.0;
            assert!((ours - scores["precision_omega"]).abs() < 0.05, "{spec} {corpus}: {ours} {scores:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 30);
}

#[test]
fn a_whole_row_is_that_of_the_framework() {
    let Some((dataset, rows)) = golden() else { return };
    let row = rows.iter().find(|row| row.chunker == "recursive" && row.parameters == "size 200, overlap 0").unwrap();
    let model = &*BUNDLED;
    let evaluator = Evaluator::new(&dataset, model).unwrap().with_mode(Mode::Compat);
    let chunker = spec(row).unwrap().build(&ChunkerParts::new(model, Tiktoken::default())).unwrap();
    let ours = evaluator.run(&*chunker).unwrap().summary();
    for (name, ours, theirs) in [
        ("recall", ours.recall, row.recall_mean),
        ("precision", ours.precision, row.precision_mean),
        ("precision-omega", ours.precision_omega, row.precision_omega_mean),
        ("IoU", ours.iou, row.iou_mean),
    ] {
        assert!((ours.mean * 100.0 - theirs).abs() < 0.3, "{name}: {} {theirs}", ours.mean * 100.0);
    }
}
