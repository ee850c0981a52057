//! Kamradt's chunker as LangChain has it (`SemanticChunker`): a sentence is embedded with one neighbour on each side,
//! and the distances of neighbours are cut where they pass a limit that the text itself sets.

use std::fmt;
use std::str::FromStr;

use super::{Chunk, ChunkError, Chunker, SettingsError, groups};
use crate::embedding::Embedder;
use crate::sentence::{SentenceSplitter, UnicodeSplitter};
use crate::tokens::{Tiktoken, TiktokenEncoding, TokenCounter};

/// Which distances of neighbours are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Breakpoints {
    /// Those over this percentile of all.
    Percentile(f64),
    /// Those over the mean by so many standard deviations.
    StandardDeviation(f64),
    /// Those over the mean by so many times the distance between the quartiles.
    Interquartile(f64),
    /// Those whose slope is over this percentile of all slopes.
    Gradient(f64),
}

impl Breakpoints {
    /// The rules with the values that they have unless others are given (`LangChain`'s).
    pub const DEFAULTS: [Self; 4] =
        [Self::Percentile(95.0), Self::StandardDeviation(3.0), Self::Interquartile(1.5), Self::Gradient(95.0)];

    const fn parts(self) -> (&'static str, f64) {
        match self {
            Self::Percentile(value) => ("percentile", value),
            Self::StandardDeviation(value) => ("standard_deviation", value),
            Self::Interquartile(value) => ("interquartile", value),
            Self::Gradient(value) => ("gradient", value),
        }
    }

    const fn with_value(self, value: f64) -> Self {
        match self {
            Self::Percentile(_) => Self::Percentile(value),
            Self::StandardDeviation(_) => Self::StandardDeviation(value),
            Self::Interquartile(_) => Self::Interquartile(value),
            Self::Gradient(_) => Self::Gradient(value),
        }
    }

    fn check(self) -> Result<(), SettingsError> {
        match self {
            Self::Percentile(value) | Self::Gradient(value) if !(0.0..=100.0).contains(&value) => {
                Err(SettingsError::Percentile(value))
            }
            Self::StandardDeviation(value) | Self::Interquartile(value) if !(value.is_finite() && value >= 0.0) => {
                Err(SettingsError::Factor(value))
            }
            _ => Ok(()),
        }
    }

    /// Whether each of the distances is cut.
    fn cuts(self, distances: &[f64]) -> Vec<bool> {
        if distances.is_empty() {
            return Vec::new();
        }
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let over = |values: &[f64], limit: f64| values.iter().map(|&value| value > limit).collect();
        match self {
            Self::Percentile(rank) => over(distances, percentile(distances, rank)),
            Self::StandardDeviation(factor) => {
                let squares = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>();
                over(distances, mean + factor * (squares / distances.len() as f64).sqrt())
            }
            Self::Interquartile(factor) => {
                over(distances, mean + factor * (percentile(distances, 75.0) - percentile(distances, 25.0)))
            }
            Self::Gradient(rank) => {
                let slopes = gradient(distances);
                over(&slopes, percentile(&slopes, rank))
            }
        }
    }
}

impl Default for Breakpoints {
    fn default() -> Self {
        Self::DEFAULTS[0]
    }
}

impl fmt::Display for Breakpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = self.parts();
        write!(f, "{name}/{value}")
    }
}

/// No rule has this name, or its value is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown breakpoints {0:?}: take percentile, standard_deviation, interquartile or gradient, with /VALUE behind it where the default does not serve"
)]
pub struct UnknownBreakpoints(pub String);

impl FromStr for Breakpoints {
    type Err = UnknownBreakpoints;

    fn from_str(words: &str) -> Result<Self, UnknownBreakpoints> {
        let unknown = || UnknownBreakpoints(words.to_owned());
        let (name, value) = words.split_once('/').map_or((words, None), |(name, value)| (name, Some(value)));
        let rule = Self::DEFAULTS.into_iter().find(|rule| rule.parts().0 == name).ok_or_else(unknown)?;
        match value {
            None => Ok(rule),
            Some(value) => value.parse().map(|value| rule.with_value(value)).map_err(|_| unknown()),
        }
    }
}

/// The value that this share of `values` does not pass, linear between neighbours, as numpy's `percentile`.
fn percentile(values: &[f64], rank: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = rank / 100.0 * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor(), place.ceil());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
    let at = |place: f64| sorted[place as usize];
    at(below) + (at(above) - at(below)) * (place - below)
}

/// Central differences, one-sided at the ends, as numpy's `gradient`; a single value has no slope.
fn gradient(values: &[f64]) -> Vec<f64> {
    let last = values.len() - 1;
    let slope = |at: usize| {
        let (from, to) = (at.saturating_sub(1), (at + 1).min(last));
        if from == to { 0.0 } else { (values[to] - values[from]) / (to - from) as f64 }
    };
    (0..values.len()).map(slope).collect()
}

/// Cuts where neighbours are less alike than the text's own neighbours usually are.
pub struct PercentileChunker<E> {
    embedder: E,
    splitter: Box<dyn SentenceSplitter>,
    counter: Option<Box<dyn TokenCounter>>,
    breakpoints: Breakpoints,
}

/// Sentences on each side that a sentence is embedded with.
const BUFFER: usize = 1;

impl<E: Embedder> PercentileChunker<E> {
    /// Cuts by this rule the sentences that [`UnicodeSplitter`] finds; tokens are counted in `cl100k_base`.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] if the rule's value is out of range.
    pub fn new(embedder: E, breakpoints: Breakpoints) -> Result<Self, SettingsError> {
        breakpoints.check()?;
        Ok(Self {
            embedder,
            splitter: Box::new(UnicodeSplitter::default()),
            counter: Some(Box::new(Tiktoken::new(TiktokenEncoding::Cl100kBase))),
            breakpoints,
        })
    }

    /// Other sentences.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }

    /// Counts tokens by another counter.
    #[must_use]
    pub fn with_counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Some(Box::new(counter));
        self
    }

    /// Counts no tokens.
    #[must_use]
    pub fn without_counter(mut self) -> Self {
        self.counter = None;
        self
    }
}

impl<E: Embedder> Chunker for PercentileChunker<E> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let sentences = self.splitter.split(text)?;
        let similarities = groups::neighbour_similarities(&self.embedder, text, &sentences, BUFFER)?;
        let distances: Vec<f64> = similarities.iter().map(|&similarity| 1.0 - f64::from(similarity)).collect();
        let cuts = self.breakpoints.cuts(&distances);
        groups::chunks_cut_at(&self.embedder, text, self.counter.as_deref(), &sentences, &similarities, |at| cuts[at])
    }
}

impl<E> fmt::Debug for PercentileChunker<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PercentileChunker").field("breakpoints", &self.breakpoints).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of numpy 2: `np.percentile(x, q)`, `np.gradient(x)`.
    #[test]
    fn percentiles_and_slopes_are_those_of_numpy() {
        let values = [0.3, 0.1, 0.7, 0.2, 0.9];
        for (rank, expected) in [(0.0, 0.1), (25.0, 0.2), (50.0, 0.3), (75.0, 0.7), (95.0, 0.86), (100.0, 0.9)] {
            assert!((percentile(&values, rank) - expected).abs() < 1e-12, "{rank}");
        }
        let slopes = [-0.2, 0.2, 0.05, 0.1, 0.7];
        assert!(gradient(&values).iter().zip(slopes).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(gradient(&[0.5]), [0.0]);
    }

    #[test]
    fn each_rule_cuts_the_distances_that_stand_out() {
        let distances = [0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
        for rule in &Breakpoints::DEFAULTS[..3] {
            let cuts = rule.cuts(&distances);
            assert_eq!(cuts.iter().position(|&cut| cut), Some(2), "{rule}");
            assert_eq!(cuts.iter().filter(|&&cut| cut).count(), 1, "{rule}");
        }
        let slopes = Breakpoints::Gradient(90.0).cuts(&distances);
        assert_eq!(slopes.iter().position(|&cut| cut), Some(1), "the slope leads up to the distance");
        assert!(Breakpoints::Percentile(95.0).cuts(&[]).is_empty());
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for rule in [Breakpoints::Percentile(101.0), Breakpoints::Gradient(f64::NAN), Breakpoints::Interquartile(-1.0)]
        {
            assert!(rule.check().is_err(), "{rule:?}");
        }
    }
}
