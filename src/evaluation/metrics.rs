//! Recall, precision, precision-omega and IoU of what was retrieved for a question, in characters.
//!
//! The definitions are those of Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024), as their
//! program `chunking_evaluation` computes them:
//!
//! - recall: of the characters of the references, the share that the retrieved chunks hold;
//! - precision: of the characters of the retrieved chunks, the share that is reference. A character that two retrieved
//!   chunks hold counts twice in the denominator: it was handed out twice;
//! - IoU: the characters found, over those retrieved and those missed;
//! - precision-omega: precision if every chunk that touches a reference, and no other, were retrieved, with what no
//!   chunk holds counted as well: the best that the chunker allows.

use std::ops::Range;

use super::ranges::{difference, intersection, size, union};

/// What counts as a touch, and how references that overlap are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Spans are exact; a chunk touches a reference if they share a character; a character that two references hold
    /// counts once.
    #[default]
    Exact,
    /// As `chunking_evaluation` does: spans are searched for (`evaluation/locate.rs`); a chunk that only ends where a
    /// reference starts touches it, which lowers precision-omega; a character that two references hold counts twice in
    /// the denominator of recall.
    Compat,
}

/// The scores of one question, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Scores {
    /// Share of the references that was retrieved.
    pub recall: f64,
    /// Share of what was retrieved that is reference.
    pub precision: f64,
    /// Precision of all chunks that touch a reference.
    pub precision_omega: f64,
    /// Intersection of references and retrieved text over their union.
    pub iou: f64,
}

/// The number of `chunks` of the question's corpus that touch one of its references.
pub(super) fn touching(mode: Mode, references: &[Range<usize>], chunks: &[Range<usize>]) -> usize {
    chunks.iter().filter(|chunk| touches(mode, chunk, references)).count()
}

fn touches(mode: Mode, chunk: &Range<usize>, references: &[Range<usize>]) -> bool {
    references.iter().filter_map(|reference| intersection(chunk, reference)).any(|shared| match mode {
        Mode::Exact => !shared.is_empty(),
        Mode::Compat => true,
    })
}

/// The characters that chunks and references share.
fn shared<'a>(chunks: impl IntoIterator<Item = &'a Range<usize>>, references: &[Range<usize>]) -> Vec<Range<usize>> {
    let pairs = chunks.into_iter().flat_map(|chunk| references.iter().map(move |reference| (chunk, reference)));
    union(pairs.filter_map(|(chunk, reference)| intersection(chunk, reference)).filter(|shared| !shared.is_empty()))
}

/// What all chunks of the corpus allow at best.
fn precision_omega(mode: Mode, references: &[Range<usize>], chunks: &[Range<usize>]) -> f64 {
    let touching: Vec<&Range<usize>> = chunks.iter().filter(|chunk| touches(mode, chunk, references)).collect();
    let found = shared(touching.iter().copied(), references);
    let missed = difference(references, &found);
    let all = union(touching.into_iter().cloned().chain(missed));
    share(size(&found), size(&all))
}

/// What was retrieved for a question.
pub(super) struct Retrieval<'a> {
    /// All chunks of the question's corpus, retrieved or not.
    pub(super) corpus: &'a [Range<usize>],
    /// Those that were retrieved.
    pub(super) own: &'a [Range<usize>],
    /// Characters retrieved from other corpora.
    pub(super) foreign: usize,
}

/// The scores of a question.
pub(super) fn scores(mode: Mode, references: &[Range<usize>], retrieval: &Retrieval<'_>) -> Scores {
    let &Retrieval { corpus, own, foreign } = retrieval;
    let distinct = union(references.iter().cloned());
    let found = shared(own, references);
    let missed = size(&difference(if mode == Mode::Exact { &distinct } else { references }, &found));
    let wanted = size(if mode == Mode::Exact { &distinct } else { references });
    let retrieved = size(own) + foreign;
    let found = size(&found);
    Scores {
        recall: share(found, wanted),
        precision: share(found, retrieved),
        precision_omega: precision_omega(mode, references, corpus),
        iou: share(found, retrieved + missed),
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::single_range_in_vec_init, reason = "one reference")]
    const REFERENCE: [Range<usize>; 1] = [10..20];

    fn scored(mode: Mode, references: &[Range<usize>], own: &[Range<usize>], foreign: usize) -> Scores {
        scores(mode, references, &Retrieval { corpus: own, own, foreign })
    }

    #[test]
    fn half_of_a_reference_in_a_chunk_of_its_size() {
        let scores = scored(Mode::Exact, &REFERENCE, &[5..15, 40..50], 0);
        assert_eq!((scores.recall, scores.precision), (0.5, 0.25));
        assert!((scores.iou - 5.0 / 25.0).abs() < 1e-12);
    }

    #[test]
    fn text_retrieved_twice_or_from_elsewhere_costs_precision_only() {
        let twice = scored(Mode::Exact, &REFERENCE, &[10..20, 10..20], 20);
        assert_eq!((twice.recall, twice.precision, twice.iou), (1.0, 0.25, 0.25));
    }

    #[test]
    fn nothing_retrieved_scores_nothing() {
        assert_eq!(scored(Mode::Exact, &REFERENCE, &[], 0), Scores::default());
    }

    #[test]
    fn a_chunk_that_only_meets_a_reference_touches_it_in_compat_mode_only() {
        let chunks = [0..10, 10..20, 20..30];
        assert_eq!(precision_omega(Mode::Exact, &REFERENCE, &chunks).to_bits(), 1.0_f64.to_bits());
        assert!((precision_omega(Mode::Compat, &REFERENCE, &chunks) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((touching(Mode::Exact, &REFERENCE, &chunks), touching(Mode::Compat, &REFERENCE, &chunks)), (1, 3));
    }

    #[test]
    fn what_no_chunk_holds_lowers_precision_omega() {
        let half = std::slice::from_ref(&(10..15));
        assert!((precision_omega(Mode::Exact, &REFERENCE, half) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn references_that_overlap_can_be_recalled_whole() {
        let references = [10..20, 15..25];
        let whole = 10..25;
        let exact = scored(Mode::Exact, &references, std::slice::from_ref(&whole), 0);
        assert_eq!((exact.recall, exact.precision, exact.iou), (1.0, 1.0, 1.0));
        let compat = scored(Mode::Compat, &references, std::slice::from_ref(&whole), 0);
        assert!((compat.recall - 0.75).abs() < 1e-12, "there each reference counts");
    }
}
