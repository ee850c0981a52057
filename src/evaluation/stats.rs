//! Means, deviations, and whether two chunkers differ: the paired bootstrap.
//!
//! The bootstrap draws questions with replacement, both chunkers answering the same ones, and looks at the mean
//! difference each time (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). Draws come from a fixed seed,
//! so that a report is the same each time.

use serde::Serialize;

/// Mean and population standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population.
    pub std: f64,
}

impl Moments {
    /// Of these values; both 0 if there are none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64, IntoIter: Clone>) -> Self {
        let values = values.into_iter();
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        Self { mean, std: (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt() }
    }
}

/// A difference of means with what the bootstrap says of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Mean of the second minus mean of the first.
    pub mean: f64,
    /// Lower end of the interval that holds 95 % of the draws.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided: how often chance alone would show a difference of the other sign, doubled; at most 1, and 1 for fewer
    /// than ten pairs, from which no draw can tell.
    pub p: f64,
}

/// Pairs from which a draw can tell anything.
const FEWEST: usize = 10;

/// Draws of the bootstrap.
const DRAWS: usize = 10_000;

/// The mean of `second - first`, paired by place.
///
/// # Panics
///
/// If the lengths differ.
#[must_use]
pub fn paired_bootstrap(first: &[f64], second: &[f64]) -> Difference {
    assert_eq!(first.len(), second.len(), "values are paired");
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
    let (low, high, draws) = interval(&differences);
    let share = |side: fn(f64) -> bool| {
        (draws.iter().filter(|&&draw| side(draw)).count() + 1) as f64 / (draws.len() + 1) as f64
    };
    let p = (2.0 * share(|draw| draw <= 0.0).min(share(|draw| draw >= 0.0))).min(1.0);
    let p = if differences.len() < FEWEST { 1.0 } else { p };
    Difference { mean: mean(&differences), low, high, p }
}

/// The interval that holds 95 % of the bootstrapped means of `values`.
#[must_use]
pub fn confidence(values: &[f64]) -> (f64, f64) {
    let (low, high, _) = interval(values);
    (low, high)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Percentiles 2.5 and 97.5 of the means of draws with replacement, and the means, sorted.
fn interval(values: &[f64]) -> (f64, f64, Vec<f64>) {
    if values.is_empty() {
        return (0.0, 0.0, Vec::new());
    }
    let mut random = SplitMix(0x5eed);
    let draw = |_| (0..values.len()).map(|_| values[random.below(values.len())]).sum::<f64>() / values.len() as f64;
    let mut draws: Vec<f64> = (0..DRAWS).map(draw).collect();
    draws.sort_by(f64::total_cmp);
    (draws[DRAWS / 40], draws[DRAWS - 1 - DRAWS / 40], draws)
}

/// `SplitMix64` (Steele, Lea and Flood 2014): the same numbers on every machine and in every version.
#[derive(Debug)]
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, every one as likely as the others but for a bias of `bound` in 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "the result is below a usize")]
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_population() {
        let moments = Moments::of([1.0, 2.0, 3.0, 4.0]);
        assert!((moments.mean - 2.5).abs() < 1e-12 && (moments.std - 1.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Moments::of([]), Moments::default());
    }

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first outputs for seed 0, as in the reference implementation by Vigna.
        let mut random = SplitMix(0);
        assert_eq!([random.next(), random.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn equal_rows_do_not_differ_and_unequal_ones_do() {
        let first: Vec<f64> = (0..200).map(|at| f64::from(at % 7) / 7.0).collect();
        let same = paired_bootstrap(&first, &first);
        assert_eq!((same.mean, same.low, same.high, same.p), (0.0, 0.0, 0.0, 1.0));
        let better: Vec<f64> =
            first.iter().enumerate().map(|(at, x)| x + if at % 3 == 0 { 0.3 } else { 0.0 }).collect();
        let difference = paired_bootstrap(&first, &better);
        assert!(difference.low > 0.05 && difference.high < 0.15 && difference.p < 0.001, "{difference:?}");
        assert!(difference.low < difference.mean && difference.mean < difference.high);
    }

    #[test]
    fn a_single_question_proves_nothing() {
        assert_eq!(paired_bootstrap(&[0.0], &[1.0]).p.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn noise_is_called_noise() {
        let mut random = SplitMix(7);
        let mut noise = || (0..300).map(|_| random.below(1000) as f64 / 1000.0).collect::<Vec<_>>();
        assert!(paired_bootstrap(&noise(), &noise()).p > 0.05);
    }
}
