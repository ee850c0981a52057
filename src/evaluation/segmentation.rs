//! How near a segmentation comes to one that people made: Pk, WindowDiff, and borders found.
//!
//! Texts in the manner of Choi's benchmark (2000): a line of at least ten `=` stands between two segments. The units
//! that are counted are the sentences of the text, cut at every border of either segmentation, so that no border falls
//! inside a unit.
//!
//! - Pk (Beeferman, Berger and Lafferty 1999): how often two units, half a mean segment apart, are wrongly held to be
//!   in one segment or in two; 0 is perfect.
//! - WindowDiff (Pevzner and Hearst 2002): how often the numbers of borders between such units differ; 0 is perfect.
//! - Precision, recall and F1 of the borders themselves; 1 is perfect.

use serde::Serialize;

use crate::span::Span;

/// The scores of one segmentation against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SegmentationScores {
    /// Pk, from 0 (best) to 1.
    pub pk: f64,
    /// `WindowDiff`, from 0 (best) to 1.
    pub window_diff: f64,
    /// Share of the borders made that are right.
    pub precision: f64,
    /// Share of the right borders that were made.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Units counted.
    pub units: usize,
}

/// A text without its separator lines, and the bytes at which they stood.
#[must_use]
pub fn without_separators(text: &str) -> (String, Vec<usize>) {
    const SHORTEST: usize = 10;
    let mut plain = String::with_capacity(text.len());
    let mut borders = Vec::new();
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        if mark.len() >= SHORTEST && mark.bytes().all(|byte| byte == b'=') {
            borders.push(plain.len());
        } else {
            plain.push_str(line);
        }
    }
    let words = plain.trim_start();
    let first = plain.len() - words.len();
    let last = plain.trim_end().len();
    // A separator in front of everything, or behind it, parts nothing.
    borders.retain(|&border| border > first && border < last);
    borders.dedup();
    (plain, borders)
}

/// Compares borders, given as bytes of a text; `sentences` are its units.
#[must_use]
pub fn segmentation_scores(sentences: &[Span], right: &[usize], made: &[usize]) -> SegmentationScores {
    let starts = units(sentences, right, made);
    let marks = |borders: &[usize]| -> Vec<bool> {
        let mut marks = vec![false; starts.len()];
        for &border in borders {
            // The first unit at the border or behind it begins a segment.
            let at = starts.partition_point(|&start| start < border);
            if at > 0 && at < marks.len() {
                marks[at] = true;
            }
        }
        marks
    };
    let (right, made) = (marks(right), marks(made));
    let count = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count();
    let hits = right.iter().zip(&made).filter(|&(&right, &made)| right && made).count();
    let share = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let (precision, recall) = match (count(&made), count(&right)) {
        (0, 0) => (1.0, 1.0),
        (made, right) => (share(hits, made), share(hits, right)),
    };
    let f1 = if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 };

    // Half a mean segment of the right segmentation, as both measures ask for.
    let k = (starts.len() as f64 / (count(&right) + 1) as f64 / 2.0).round().max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of units")]
    let k = k as usize;
    let windows = starts.len().saturating_sub(k);
    let (right, made) = (sums(&right), sums(&made));
    let between = |sums: &[usize], at: usize| sums[at + k + 1] - sums[at + 1];
    let wrong = |differ: &dyn Fn(usize, usize) -> bool| {
        let wrong = (0..windows).filter(|&at| differ(between(&right, at), between(&made, at))).count();
        share(wrong, windows)
    };
    SegmentationScores {
        pk: wrong(&|right, made| (right == 0) != (made == 0)),
        window_diff: wrong(&|right, made| right != made),
        precision,
        recall,
        f1,
        units: starts.len(),
    }
}

/// How many marks stand in front of every place.
fn sums(marks: &[bool]) -> Vec<usize> {
    let mut sum = 0;
    let sums = marks.iter().map(|&mark| {
        sum += usize::from(mark);
        sum
    });
    [0].into_iter().chain(sums.collect::<Vec<_>>()).collect()
}

/// Starts of the sentences, and the borders that lie inside them.
fn units(sentences: &[Span], right: &[usize], made: &[usize]) -> Vec<usize> {
    let inside = |&border: &usize| {
        let behind = sentences.partition_point(|span| span.start() < border);
        behind.checked_sub(1).is_some_and(|at| border < sentences[at].end())
    };
    let mut starts: Vec<usize> = sentences.iter().map(|span| span.start()).collect();
    starts.extend(right.iter().chain(made).copied().filter(inside));
    starts.sort_unstable();
    starts.dedup();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten sentences of one byte, one byte apart.
    fn ten() -> Vec<Span> {
        (0..10).map(|at| Span::new(2 * at, 2 * at + 1)).collect()
    }

    #[test]
    fn a_perfect_segmentation_has_perfect_scores() {
        let scores = segmentation_scores(&ten(), &[8, 14], &[8, 14]);
        assert_eq!((scores.pk, scores.window_diff, scores.f1, scores.units), (0.0, 0.0, 1.0, 10));
        assert_eq!(segmentation_scores(&ten(), &[], &[]).f1.to_bits(), 1.0_f64.to_bits());
    }

    /// NLTK counts one window more, the one in front of the first unit, and gives 2/9.
    #[test]
    fn a_border_that_is_missed_costs_as_much_as_windows_see_it() {
        // Segments of 4, 3 and 3 units: k is 2, so 8 windows; the missed border is seen by two of them.
        let scores = segmentation_scores(&ten(), &[8, 14], &[8]);
        assert_eq!((scores.pk, scores.window_diff), (0.25, 0.25));
        assert_eq!((scores.precision, scores.recall), (1.0, 0.5));
    }

    #[test]
    fn a_near_miss_costs_less_than_a_far_one() {
        let near = segmentation_scores(&ten(), &[10], &[12]);
        let far = segmentation_scores(&ten(), &[10], &[18]);
        assert!(near.window_diff < far.window_diff && near.f1.to_bits() == far.f1.to_bits(), "{near:?} {far:?}");
    }

    #[test]
    fn two_borders_where_one_belongs_differ_for_window_diff_only() {
        let scores = segmentation_scores(&ten(), &[10], &[10, 12]);
        assert!(scores.window_diff > scores.pk, "{scores:?}");
    }

    #[test]
    fn a_border_inside_a_sentence_parts_it_into_two_units() {
        let scores = segmentation_scores(&[Span::new(0, 20)], &[10], &[10]);
        assert_eq!((scores.units, scores.f1.to_bits()), (2, 1.0_f64.to_bits()));
    }

    #[test]
    fn separators_are_taken_out_and_remembered() {
        let (text, borders) = without_separators("==========\nA.\nB.\n==========\nC.\n============\n");
        assert_eq!((text.as_str(), borders), ("A.\nB.\nC.\n", vec![6]));
        assert!(without_separators("a\n=====\nb").1.is_empty());
    }
}
