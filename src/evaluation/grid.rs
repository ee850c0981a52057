//! Grids of settings: `t=0.60:0.95:0.01 alpha=2,3,4`, and what is chosen from one honestly.

use std::collections::HashSet;

use super::metrics::Scores;
use crate::chunker::{ChunkerSpec, SpecError};

/// Why a grid cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// An axis is not written as one.
    #[error("{0:?} is no axis of a grid: write setting=a,b,c or setting=from:to:step")]
    Axis(String),
    /// A grid that nobody would wait for.
    #[error("the grid has {0} points: {MOST} are the most")]
    TooLarge(usize),
    /// A point names no chunker.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Most points of a grid.
const MOST: usize = 10_000;

/// The chunkers of a grid: `base` (a name, with settings or without) with every combination of the values of the axes,
/// the last axis the fastest.
///
/// # Errors
///
/// [`GridError`]
///
/// ```
/// let grid = horchunk::evaluation::grid("window", &["t=0.7:0.8:0.05", "alpha=3,6"])?;
/// assert_eq!(grid.len(), 6);
/// assert_eq!(grid[1].to_string(), "window:t=0.7,alpha=6");
/// # Ok::<(), horchunk::evaluation::GridError>(())
/// ```
pub fn grid(base: &str, axes: &[impl AsRef<str>]) -> Result<Vec<ChunkerSpec>, GridError> {
    let mut points = vec![String::new()];
    for axis in axes {
        let (name, values) = axis.as_ref().split_once('=').ok_or_else(|| GridError::Axis(axis.as_ref().to_owned()))?;
        let values = values_of(values).ok_or_else(|| GridError::Axis(axis.as_ref().to_owned()))?;
        if points.len() * values.len() > MOST {
            return Err(GridError::TooLarge(points.len() * values.len()));
        }
        let extend = |point: &String| values.iter().map(|value| format!("{point},{name}={value}")).collect::<Vec<_>>();
        points = points.iter().flat_map(extend).collect();
    }
    let base = if base.contains(':') { base.to_owned() } else { format!("{base}:") };
    let mut seen = HashSet::new();
    let specs = points.into_iter().map(|point| format!("{base}{point}").parse::<ChunkerSpec>());
    let mut all = Vec::new();
    for spec in specs {
        let spec = spec?;
        if seen.insert(spec.to_string()) {
            all.push(spec);
        }
    }
    Ok(all)
}

/// `a,b,c`, or `from:to:step` with both ends.
fn values_of(text: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = text.split(':').collect();
    let [from, to, step] = parts[..] else {
        let values: Vec<String> = text.split(',').map(|value| value.trim().to_owned()).collect();
        return values.iter().all(|value| !value.is_empty()).then_some(values);
    };
    let (first, last, width): (f64, f64, f64) = (from.parse().ok()?, to.parse().ok()?, step.parse().ok()?);
    let count = ((last - first) / width + 1e-9).floor();
    let is_plain = |number: &str| !number.contains(['e', 'E']);
    if !(width > 0.0 && (0.0..MOST as f64).contains(&count) && is_plain(from) && is_plain(step)) {
        return None;
    }
    // As many decimals as were written, so that 0.1 + 0.2 is 0.3.
    let decimals = [from, step].iter().map(|s| s.split_once('.').map_or(0, |(_, tail)| tail.len())).max()?;
    let value = |at: u32| {
        let text = format!("{:.decimals$}", first + f64::from(at) * width);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Some((0..=count as u32).map(value).collect())
}

/// What was chosen on one half of the questions, and how it does on the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chosen {
    /// The point chosen on the even questions and the one chosen on the odd ones.
    pub points: [usize; 2],
    /// Whether each of the two had the recall asked for where it was chosen.
    pub reached: [bool; 2],
    /// The scores of all questions, each under the point that was chosen on the half without it.
    pub scores: Vec<Scores>,
}

/// Chooses the point of the largest IoU among those with at least this recall (the largest recall where none has it),
/// on the even questions for the odd ones and the reverse, so that no question is judged by a choice it had a part in.
/// Of equal points the first wins.
///
/// # Panics
///
/// If there is no point, or points have unequal numbers of questions.
#[must_use]
pub fn choose(points: &[&[Scores]], recall: f64) -> Chosen {
    let pick = |parity: usize| {
        let of = |scores: &[Scores], value: fn(&Scores) -> f64| {
            let half = scores.iter().skip(parity).step_by(2);
            half.clone().map(value).sum::<f64>() / half.count().max(1) as f64
        };
        let key = |scores: &[Scores]| {
            let (found, iou) = (of(scores, |scores| scores.recall), of(scores, |scores| scores.iou));
            if found >= recall { (1, iou) } else { (0, found) }
        };
        let better = |a: (i32, f64), b: (i32, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).is_gt();
        let best =
            (1..points.len()).fold(0, |best, at| if better(key(points[at]), key(points[best])) { at } else { best });
        (best, key(points[best]).0 == 1)
    };
    let [(even, on_even), (odd, on_odd)] = [pick(0), pick(1)];
    let picked = [even, odd];
    let scores = (0..points[0].len()).map(|question| points[picked[1 - question % 2]][question]).collect();
    Chosen { points: picked, reached: [on_even, on_odd], scores }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_a_list_or_a_range_with_both_ends() {
        assert_eq!(values_of("0.60:0.95:0.05").unwrap(), ["0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95"]);
        assert_eq!(values_of("100:300:100").unwrap(), ["100", "200", "300"]);
        assert_eq!(values_of("a, b").unwrap(), ["a", "b"]);
        for broken in ["", "2:1:1", "1:2:0", "1:2:-1", "a:b:c", "1,,2", "0:1:1e-1"] {
            assert_eq!(values_of(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let found: Vec<String> =
            grid("recursive:overlap=10", &["size=100,200"]).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["recursive:size=100,overlap=10", "recursive:size=200,overlap=10"]);
        assert_eq!(grid("window", &["t=0.7,0.70"]).unwrap().len(), 1);
        assert_eq!(grid("window", &[] as &[&str]).unwrap().len(), 1);
        assert!(matches!(grid("window", &["t=0:1:0.001", "alpha=1:20:1"]), Err(GridError::TooLarge(_))));
        assert!(matches!(grid("window", &["size=1"]), Err(GridError::Spec(_))));
    }

    #[test]
    fn a_choice_is_judged_on_the_questions_it_did_not_see() {
        let scores = |values: [(f64, f64); 4]| values.map(|(recall, iou)| Scores { recall, iou, ..Scores::default() });
        // Good on the even questions only, good on the odd ones only, and never good enough.
        let even = scores([(0.9, 0.5), (0.1, 0.1), (0.9, 0.5), (0.1, 0.1)]);
        let odd = scores([(0.2, 0.2), (0.9, 0.4), (0.2, 0.2), (0.9, 0.4)]);
        let poor = scores([(0.5, 0.9); 4]);
        let chosen = choose(&[&poor, &even, &odd], 0.8);
        assert_eq!(chosen.points, [1, 2]);
        assert_eq!(chosen.scores, [odd[0], even[1], odd[2], even[3]]);
        let out_of_reach = choose(&[&poor, &even], 0.95);
        assert_eq!((out_of_reach.points, out_of_reach.reached), ([1, 0], [false, false]), "the largest recall then");
    }
}
