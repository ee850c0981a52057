//! The binary search over judgements, as a state machine without I/O.
//!
//! Positions are ranks in the sorted list of similarities. The state is nothing but the list of answers, so that an
//! undo forgets the last one and a session file is that list.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What a judge says of a run of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It treats one thing: the threshold may be lower.
    Holds,
    /// It drifts apart: the threshold must be higher.
    Drifts,
}

/// An answer to a probe: a verdict, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Rank of the run that was shown.
    pub rank: usize,
    /// The verdict; `None` where the judge could not say.
    pub verdict: Option<Verdict>,
}

/// A search for the lowest rank that holds together.
///
/// ```
/// use horchunk::tuning::{Search, Verdict};
///
/// let mut search = Search::new(100);
/// while let Some(rank) = search.probe() {
///     search.answer(if rank >= 37 { Verdict::Holds } else { Verdict::Drifts });
/// }
/// assert_eq!(search.lowest_holding(), Some(37));
/// assert!(search.answers().len() <= 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    len: usize,
    answers: Vec<Answer>,
}

impl Search {
    /// A search over so many runs.
    #[must_use]
    pub const fn new(len: usize) -> Self {
        Self { len, answers: Vec::new() }
    }

    /// A search that stands where these answers lead; those that no probe asked for are left out.
    #[must_use]
    pub fn resumed(len: usize, answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut search = Self::new(len);
        for answer in answers {
            if search.probe() != Some(answer.rank) {
                break;
            }
            search.answers.push(answer);
        }
        search
    }

    /// Everything that was answered, in order.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// The ranks among which the lowest that holds can still be: its start is the lowest, its end the lowest that is
    /// known to hold, or the number of runs.
    #[must_use]
    pub fn bounds(&self) -> Range<usize> {
        self.answers.iter().fold(0..self.len, |bounds, answer| match answer.verdict {
            Some(Verdict::Holds) => bounds.start..bounds.end.min(answer.rank),
            Some(Verdict::Drifts) => bounds.start.max(answer.rank + 1)..bounds.end,
            None => bounds,
        })
    }

    /// The run to show next: of those still in question and not skipped the one nearest the middle. `None` at the end.
    #[must_use]
    pub fn probe(&self) -> Option<usize> {
        let bounds = self.bounds();
        let middle = bounds.start + bounds.len() / 2;
        let skipped = |rank: &usize| self.answers.iter().any(|answer| answer.rank == *rank && answer.verdict.is_none());
        (0..=bounds.len())
            .flat_map(|distance| [middle.checked_sub(distance), middle.checked_add(distance)])
            .flatten()
            .find(|rank| bounds.contains(rank) && !skipped(rank))
    }

    /// Takes the verdict on the run of [`Self::probe`]; none is wanted at the end.
    pub fn answer(&mut self, verdict: Verdict) {
        self.push(Some(verdict));
    }

    /// Leaves the run of [`Self::probe`] unjudged.
    pub fn skip(&mut self) {
        self.push(None);
    }

    fn push(&mut self, verdict: Option<Verdict>) {
        if let Some(rank) = self.probe() {
            self.answers.push(Answer { rank, verdict });
        }
    }

    /// Forgets the last answer; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        self.answers.pop().is_some()
    }

    /// Verdicts that are still needed at most.
    #[must_use]
    pub fn steps_left(&self) -> u32 {
        // `n` runs leave `n + 1` places for the border between those that drift and those that hold.
        if self.probe().is_none() { 0 } else { usize::BITS - self.bounds().len().leading_zeros() }
    }

    /// The lowest rank that was judged to hold; `None` if none was.
    #[must_use]
    pub fn lowest_holding(&self) -> Option<usize> {
        let holding = self.answers.iter().filter(|answer| answer.verdict == Some(Verdict::Holds));
        holding.map(|answer| answer.rank).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judged(search: &mut Search, border: usize) {
        while let Some(rank) = search.probe() {
            search.answer(if rank >= border { Verdict::Holds } else { Verdict::Drifts });
        }
    }

    /// What looking at every run from below finds.
    fn linear_scan(len: usize, border: usize) -> Option<usize> {
        (0..len).find(|&rank| rank >= border)
    }

    proptest! {
        #[test]
        fn a_consistent_judge_is_led_to_the_place_that_a_linear_scan_finds(len in 0..3000_usize, border in 0..3001_usize) {
            let mut search = Search::new(len);
            let most = search.steps_left();
            prop_assert!(len == 0 || f64::from(most) <= ((len + 1) as f64).log2().ceil());
            judged(&mut search, border);
            prop_assert_eq!(search.lowest_holding(), linear_scan(len, border));
            prop_assert!(search.answers().len() <= most as usize);
            prop_assert_eq!(search.steps_left(), 0);
        }

        #[test]
        fn steps_left_never_promise_too_little(len in 1..500_usize, border in 0..501_usize) {
            let mut search = Search::new(len);
            while let Some(rank) = search.probe() {
                let left = search.steps_left();
                search.answer(if rank >= border { Verdict::Holds } else { Verdict::Drifts });
                prop_assert!(search.steps_left() < left);
            }
        }

        #[test]
        fn undo_brings_every_state_back(len in 1..300_usize, verdicts in prop::collection::vec(0..3_u8, 0..20)) {
            let mut states = vec![Search::new(len)];
            for verdict in verdicts {
                let mut next = states[states.len() - 1].clone();
                match verdict {
                    0 => next.answer(Verdict::Holds),
                    1 => next.answer(Verdict::Drifts),
                    _ => next.skip(),
                }
                if next == states[states.len() - 1] {
                    break;
                }
                states.push(next);
            }
            let mut search = states[states.len() - 1].clone();
            prop_assert_eq!(&Search::resumed(len, search.answers().to_vec()), &search);
            for state in states.iter().rev().skip(1) {
                prop_assert!(search.undo());
                prop_assert_eq!(&search, state);
            }
            prop_assert!(!search.undo());
        }

        #[test]
        fn a_judge_who_skips_everything_comes_to_an_end(len in 0..200_usize) {
            let mut search = Search::new(len);
            for _ in 0..len {
                prop_assert!(search.probe().is_some());
                search.skip();
            }
            prop_assert_eq!((search.probe(), search.lowest_holding()), (None, None));
        }
    }

    #[test]
    fn a_skipped_run_is_replaced_by_its_neighbour() {
        let mut search = Search::new(9);
        assert_eq!(search.probe(), Some(4));
        search.skip();
        assert_eq!(search.probe(), Some(3));
        search.skip();
        assert_eq!(search.probe(), Some(5));
    }

    #[test]
    fn answers_that_no_probe_asked_for_are_left_out() {
        let answers = [Answer { rank: 4, verdict: Some(Verdict::Holds) }, Answer { rank: 8, verdict: None }];
        assert_eq!(Search::resumed(9, answers).answers().len(), 1);
    }
}
