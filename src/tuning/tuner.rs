//! One or several searches as one course of questions, and what comes of them.
//!
//! Several texts are searched one after the other and their thresholds averaged, as Horchunk's own evaluation does, or
//! all their runs are pooled into one search.

use super::sample::{Run, Sample};
use super::search::{Answer, Phase, Search, Verdict};

/// How a threshold is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TunerSettings {
    /// One search over the runs of all texts, not one a text.
    pub pooled: bool,
    /// Runs around the place found that are shown again; see [`Search::with_confirm`].
    pub confirm: usize,
    /// The original's search; see [`Search::with_compat`].
    pub compat: bool,
}

impl Default for TunerSettings {
    fn default() -> Self {
        Self { pooled: false, confirm: 6, compat: false }
    }
}

/// The course of questions.
///
/// ```
/// use std::ops::ControlFlow;
/// use horchunk::tuning::{Sampler, Tuner, TunerSettings, Verdict};
/// use horchunk::{SentenceTransformer, UnicodeSplitter};
///
/// let text = "The ferry leaves at ten. It takes an hour. Salt the cod for two days. Dry it in the wind.";
/// let model = SentenceTransformer::bundled()?;
/// let sample = Sampler::new(2).sample(&[text], &UnicodeSplitter::default(), &model, |_, _| ControlFlow::Continue(()))?;
/// let mut tuner = Tuner::new(sample, TunerSettings::default());
/// while let Some(run) = tuner.run() {
///     // Whoever reads this run says whether it holds together.
///     let verdict = if run.similarity >= 0.7 { Verdict::Holds } else { Verdict::Drifts };
///     tuner.answer(Some(verdict));
/// }
/// assert!(tuner.found().is_some_and(|found| found.threshold.is_some_and(|threshold| threshold >= 0.7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tuner {
    searches: Vec<(Sample, Search)>,
    /// The search that each answer was given to, in the order in which they were given.
    given: Vec<usize>,
}

/// A verdict on a run, by the run's similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Cosine of the run's first sentence and the whole run.
    pub similarity: f32,
    /// What was said of it.
    pub verdict: Verdict,
}

/// What came of a course of questions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The mean of all searches that found something; `None` if no run was judged to hold.
    pub threshold: Option<f32>,
    /// What each search found, in the order of the texts.
    pub thresholds: Vec<Option<f32>>,
    /// How well the judgements agree with the thresholds, each with that of its own search.
    pub agreement: Agreement,
}

/// How well judgements agree with a threshold.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// Verdicts given.
    pub verdicts: usize,
    /// Those that fit: a run that holds is not below the threshold, one that drifts is.
    pub fitting: usize,
    /// The lowest similarity judged to hold.
    pub lowest_holding: Option<f32>,
    /// The highest similarity judged to drift.
    pub highest_drifting: Option<f32>,
    /// Pairs that no threshold can suit: one that holds, one at least as alike that drifts.
    pub contradictions: Vec<(Judgement, Judgement)>,
}

impl Tuner {
    /// Questions on a sample. Texts too short for a run are passed over.
    #[must_use]
    pub fn new(sample: Sample, settings: TunerSettings) -> Self {
        let samples = if settings.pooled { vec![sample] } else { sample.by_text() };
        let searches = samples.into_iter().filter(|sample| !sample.runs.is_empty()).map(|sample| {
            let search = Search::new(sample.runs.len()).with_confirm(settings.confirm);
            (sample, if settings.compat { search.with_compat() } else { search })
        });
        Self { searches: searches.collect(), given: Vec::new() }
    }

    /// The samples with their searches, in the order of the texts.
    #[must_use]
    pub fn searches(&self) -> &[(Sample, Search)] {
        &self.searches
    }

    /// Number of the search that is under way; at the end, of the last one.
    #[must_use]
    pub fn current(&self) -> usize {
        let open = self.searches.iter().position(|(_, search)| search.probe().is_some());
        open.unwrap_or(self.searches.len().saturating_sub(1))
    }

    /// The run to judge next; `None` at the end.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        let (sample, search) = self.searches.get(self.current())?;
        sample.runs.get(search.probe()?)
    }

    /// The threshold in question: while a search is under way the similarity of the run to judge, then what it found,
    /// at the end the threshold of all.
    #[must_use]
    pub fn standing(&self) -> Option<f32> {
        let Some(run) = self.run() else { return self.found()?.threshold };
        let (sample, search) = &self.searches[self.current()];
        Some(search.result().map_or(run.similarity, |rank| sample.runs[rank].similarity))
    }

    /// Takes the verdict on [`Self::run`], or leaves it unjudged.
    pub fn answer(&mut self, verdict: Option<Verdict>) {
        let current = self.current();
        if let Some((_, search)) = self.searches.get_mut(current).filter(|(_, search)| search.probe().is_some()) {
            match verdict {
                Some(verdict) => search.answer(verdict),
                None => search.skip(),
            }
            self.given.push(current);
        }
    }

    /// Forgets the last answer, be it of an earlier text; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        let last = self.given.pop();
        last.and_then(|search| self.searches.get_mut(search)).is_some_and(|(_, search)| search.undo())
    }

    /// Brings back answers, each to its search, in the order in which they were given.
    pub(super) fn resume(&mut self, answers: &[(usize, Answer)]) {
        for (number, (_, search)) in self.searches.iter_mut().enumerate() {
            let own = answers.iter().filter(|(search, _)| *search == number).map(|(_, answer)| *answer);
            *search = search.clone().resumed(own);
        }
        self.given = answers.iter().map(|(search, _)| *search).collect();
    }

    /// All runs answered so far with what was said of them, in the order in which it was said.
    pub fn answers(&self) -> impl Iterator<Item = (&Run, Option<Verdict>)> {
        let mut next = vec![0; self.searches.len()];
        self.given.iter().filter_map(move |&number| {
            let (sample, search) = &self.searches[number];
            let answer = search.answers().get(next[number])?;
            next[number] += 1;
            Some((&sample.runs[answer.rank], answer.verdict))
        })
    }

    /// Where the search under way stands, and how many searches follow it.
    #[must_use]
    pub fn phase(&self) -> (Phase, usize) {
        let current = self.current();
        let phase = self.searches.get(current).map_or(Phase::Done, |(_, search)| search.phase());
        (phase, self.searches.len().saturating_sub(current + 1))
    }

    /// What was found; `None` before the end.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        if self.run().is_some() {
            return None;
        }
        let (mut thresholds, mut agreement) = (Vec::new(), Agreement::default());
        for (sample, search) in &self.searches {
            let threshold = search.result().map(|rank| sample.runs[rank].similarity);
            thresholds.push(threshold);
            let judgements: Vec<Judgement> = answered(sample, search).filter_map(judgement).collect();
            // Where nothing holds, every threshold above all runs fits.
            agreement.add(Agreement::with(threshold.unwrap_or(f32::INFINITY), &judgements));
        }
        let known: Vec<f64> = thresholds.iter().flatten().map(|&threshold| f64::from(threshold)).collect();
        #[expect(clippy::cast_possible_truncation, reason = "the mean of numbers of that type")]
        let mean = (known.iter().sum::<f64>() / known.len() as f64) as f32;
        Some(Found { threshold: (!known.is_empty()).then_some(mean), thresholds, agreement })
    }
}

fn answered<'a>(sample: &'a Sample, search: &'a Search) -> impl Iterator<Item = (&'a Run, Option<Verdict>)> {
    search.answers().iter().map(|answer| (&sample.runs[answer.rank], answer.verdict))
}

fn judgement((run, verdict): (&Run, Option<Verdict>)) -> Option<Judgement> {
    Some(Judgement { similarity: run.similarity, verdict: verdict? })
}

impl Agreement {
    /// The agreement of these judgements with a threshold.
    #[must_use]
    pub fn with(threshold: f32, judgements: &[Judgement]) -> Self {
        let of = |verdict| judgements.iter().filter(move |judgement| judgement.verdict == verdict);
        // A run that was judged twice alike contradicts another only once.
        let once = |verdict| {
            let mut all: Vec<Judgement> = of(verdict).copied().collect();
            all.sort_by(|a, b| a.similarity.total_cmp(&b.similarity));
            all.dedup();
            all
        };
        let drifting = once(Verdict::Drifts);
        let contradictions = once(Verdict::Holds).into_iter().flat_map(|holds| {
            let against = drifting.iter().filter(move |drifts| drifts.similarity >= holds.similarity);
            against.map(move |&drifts| (holds, drifts)).collect::<Vec<_>>()
        });
        Self {
            verdicts: judgements.len(),
            fitting: judgements.iter().filter(|judgement| judgement.fits(threshold)).count(),
            lowest_holding: of(Verdict::Holds).map(|judgement| judgement.similarity).min_by(f32::total_cmp),
            highest_drifting: of(Verdict::Drifts).map(|judgement| judgement.similarity).max_by(f32::total_cmp),
            contradictions: contradictions.collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.verdicts += other.verdicts;
        self.fitting += other.fitting;
        let ends = |one: Option<f32>, other: Option<f32>, pick: fn(f32, f32) -> f32| match (one, other) {
            (Some(one), Some(other)) => Some(pick(one, other)),
            (one, other) => one.or(other),
        };
        self.lowest_holding = ends(self.lowest_holding, other.lowest_holding, f32::min);
        self.highest_drifting = ends(self.highest_drifting, other.highest_drifting, f32::max);
        self.contradictions.extend(other.contradictions);
    }
}

impl Judgement {
    /// Whether a chunker of this threshold would do as the verdict says.
    #[must_use]
    pub fn fits(self, threshold: f32) -> bool {
        (self.similarity >= threshold) == (self.verdict == Verdict::Holds)
    }
}

impl Found {
    /// Standard deviation of the thresholds of several texts; `None` for fewer than two.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        let known: Vec<f64> = self.thresholds.iter().flatten().map(|&threshold| f64::from(threshold)).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let squares: f64 = known.iter().map(|threshold| (threshold - mean).powi(2)).sum();
        (known.len() > 1).then(|| (squares / known.len() as f64).sqrt())
    }
}

/// A threshold cut down to two decimals, never rounded up: the run that was judged to hold still does.
///
/// ```
/// use horchunk::tuning::cut_down;
///
/// assert_eq!(cut_down(0.719_999), 0.71);
/// assert_eq!(cut_down(0.72), 0.72);
/// assert_eq!(cut_down(-0.001), -0.01);
/// ```
#[must_use]
pub fn cut_down(threshold: f32) -> f32 {
    // The candidates are read as a person writes them, so that 0.72 stays what it is.
    let hundredths = (f64::from(threshold) * 100.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "the nearest number of that type is meant")]
    let written = |hundredths: f64| (hundredths / 100.0) as f32;
    if written(hundredths) <= threshold { written(hundredths) } else { written(hundredths - 1.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::span::Span;

    fn run(text: usize, similarity: f32) -> Run {
        Run { text, sentences: vec![Span::new(0, 1)], similarity }
    }

    fn sample(runs: impl IntoIterator<Item = (usize, f32)>) -> Sample {
        Sample { runs: runs.into_iter().map(|(text, similarity)| run(text, similarity)).collect() }
    }

    fn settings(pooled: bool, confirm: usize) -> TunerSettings {
        TunerSettings { pooled, confirm, compat: false }
    }

    fn judge(tuner: &mut Tuner, border: impl Fn(usize) -> f32) {
        while let Some(run) = tuner.run() {
            let verdict = if run.similarity >= border(run.text) { Verdict::Holds } else { Verdict::Drifts };
            tuner.answer(Some(verdict));
        }
    }

    #[test]
    fn texts_are_searched_one_by_one_and_their_thresholds_averaged() {
        let runs = [(0, 0.2), (1, 0.3), (0, 0.4), (1, 0.5), (0, 0.6), (1, 0.7)];
        let mut tuner = Tuner::new(sample(runs), settings(false, 0));
        assert_eq!((tuner.searches().len(), tuner.found()), (2, None));
        judge(&mut tuner, |text| [0.4, 0.7][text]);
        let found = tuner.found().unwrap();
        assert_eq!(found.thresholds, [Some(0.4), Some(0.7)]);
        assert!((found.threshold.unwrap() - 0.55).abs() < 1e-6);
        assert!((found.spread().unwrap() - 0.15).abs() < 1e-6);
        assert_eq!((found.agreement.verdicts, found.agreement.fitting), (4, 4));
    }

    #[test]
    fn pooled_texts_share_one_search() {
        let runs = [(0, 0.2), (1, 0.3), (0, 0.4), (1, 0.5)];
        let mut tuner = Tuner::new(sample(runs), settings(true, 0));
        judge(&mut tuner, |_| 0.3);
        assert_eq!(tuner.found().unwrap().thresholds, [Some(0.3)]);
    }

    #[test]
    fn undo_goes_back_into_the_text_before() {
        let mut tuner = Tuner::new(sample([(0, 0.2), (1, 0.3)]), settings(false, 0));
        judge(&mut tuner, |_| 0.0);
        assert_eq!(tuner.current(), 1);
        assert!(tuner.undo() && tuner.undo() && !tuner.undo());
        assert_eq!((tuner.current(), tuner.answers().count()), (0, 0));
    }

    #[test]
    fn where_nothing_holds_there_is_no_threshold() {
        let mut tuner = Tuner::new(sample([(0, 0.2), (0, 0.3)]), settings(false, 6));
        judge(&mut tuner, |_| 1.0);
        let found = tuner.found().unwrap();
        assert_eq!((found.threshold, found.agreement.highest_drifting), (None, Some(0.3)));
        assert_eq!((found.agreement.fitting, found.agreement.verdicts), (1, 1));
    }

    #[test]
    fn judgements_that_no_threshold_suits_are_shown_in_pairs() {
        let judgement = |similarity, verdict| Judgement { similarity, verdict };
        let (low, high) = (judgement(0.6, Verdict::Holds), judgement(0.8, Verdict::Drifts));
        let all = [low, judgement(0.5, Verdict::Drifts), high, judgement(0.9, Verdict::Holds)];
        let agreement = Agreement::with(0.6, &[all, all].concat());
        assert_eq!((agreement.verdicts, agreement.fitting), (8, 6));
        assert_eq!((agreement.lowest_holding, agreement.highest_drifting), (Some(0.6), Some(0.8)));
        assert_eq!(agreement.contradictions, [(low, high)]);
    }

    proptest! {
        #[test]
        fn a_threshold_cut_down_is_one_of_two_decimals_that_the_run_still_holds_at(threshold in -1.0..=1.0_f32) {
            let cut = cut_down(threshold);
            prop_assert!(cut <= threshold && threshold - cut < 0.010_001);
            let written = format!("{cut}");
            prop_assert!(written.split('.').nth(1).is_none_or(|decimals| decimals.len() <= 2), "{}", written);
        }
    }
}
