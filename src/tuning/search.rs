//! The binary search over judgements, as a state machine without I/O.
//!
//! Positions are ranks in the sorted list of similarities. The state is nothing but the list of answers, so that an
//! undo forgets the last one and a session file is that list. After the search, runs on both sides of what was found
//! may be shown again: whether those verdicts fit says how far the first ones can be trusted.

use std::collections::BTreeSet;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Rank of the run that was shown.
    pub rank: usize,
    /// The verdict; `None` where the judge could not say.
    pub verdict: Option<Verdict>,
}

/// Where a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The place is looked for; so many verdicts are still needed at most.
    Searching(u32),
    /// The place is found; so many runs around it are still to be shown.
    Confirming(usize),
    /// Nothing is left to ask.
    Done,
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
/// assert_eq!(search.result(), Some(37));
/// assert!(search.answers().len() <= 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    len: usize,
    compat: bool,
    confirm: usize,
    answers: Vec<Answer>,
    state: State,
}

/// What the answers of the search proper lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// The ranks still in question.
    bounds: Range<usize>,
    /// Ranks among them that were skipped.
    skipped: BTreeSet<usize>,
    /// The lowest rank judged to hold.
    holding: Option<usize>,
    /// How many answers the search took.
    answers: usize,
}

impl Search {
    /// A search over so many runs.
    #[must_use]
    pub const fn new(len: usize) -> Self {
        Self { len, compat: false, confirm: 0, answers: Vec::new(), state: State::new(len) }
    }

    /// The search of Horchunk's own tuner, which ends as soon as the middle is an end of what is in question and takes
    /// that middle without asking.
    #[must_use]
    pub const fn with_compat(mut self) -> Self {
        self.compat = true;
        self
    }

    /// After the search shows so many runs around the place found: 1, 2, 4, ... ranks to each side, the farthest first,
    /// since the nearest were shown a moment ago.
    #[must_use]
    pub const fn with_confirm(mut self, runs: usize) -> Self {
        self.confirm = runs;
        self
    }

    /// The search where these answers lead. They need not be those that it would have asked for: each is a fact about
    /// a run. Ranks that do not exist are left out.
    #[must_use]
    pub fn resumed(mut self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.answers = answers.into_iter().filter(|answer| answer.rank < self.len).collect();
        self.replay();
        self
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
        self.state.bounds.clone()
    }

    /// Where the search stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        if self.middle().is_some() {
            // `n` runs leave `n + 1` places for the border between those that drift and those that hold.
            return Phase::Searching(usize::BITS - self.state.bounds.len().leading_zeros());
        }
        match self.unconfirmed().count() {
            0 => Phase::Done,
            left => Phase::Confirming(left),
        }
    }

    /// The run to show next: in the search, of those still in question and not skipped the one nearest the middle.
    /// `None` at the end.
    #[must_use]
    pub fn probe(&self) -> Option<usize> {
        self.middle().or_else(|| self.unconfirmed().next())
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
            let answer = Answer { rank, verdict };
            if self.middle().is_some() {
                self.state.take(answer);
            }
            self.answers.push(answer);
        }
    }

    /// Forgets the last answer; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        let taken_back = self.answers.pop().is_some();
        self.replay();
        taken_back
    }

    /// The rank that was found, once the search proper has ended: the lowest judged to hold, `None` if none was. In
    /// compat mode it is where the search ended, whatever was said of that run.
    #[must_use]
    pub fn result(&self) -> Option<usize> {
        if self.middle().is_some() { None } else { self.found() }
    }

    fn replay(&mut self) {
        self.state = State::new(self.len);
        for answer in self.answers.clone() {
            if self.middle().is_none() {
                break;
            }
            self.state.take(answer);
        }
    }

    /// The next run of the search proper, `None` once that has ended.
    fn middle(&self) -> Option<usize> {
        let bounds = &self.state.bounds;
        if self.compat && bounds.len() <= 2 {
            return None;
        }
        let middle = self.centre(bounds);
        (0..=bounds.len())
            .flat_map(|distance| [middle.checked_sub(distance), middle.checked_add(distance)])
            .flatten()
            .find(|rank| bounds.contains(rank) && !self.state.skipped.contains(rank))
    }

    /// The middle of what is in question; the original rounds it down.
    const fn centre(&self, bounds: &Range<usize>) -> usize {
        let len = bounds.end - bounds.start;
        bounds.start + if self.compat { len.saturating_sub(1) / 2 } else { len / 2 }
    }

    fn found(&self) -> Option<usize> {
        if self.compat && self.len > 0 {
            return Some(self.centre(&self.state.bounds).min(self.len - 1));
        }
        self.state.holding
    }

    /// The runs around the place found that are still to be shown.
    fn unconfirmed(&self) -> impl Iterator<Item = usize> {
        let answered = &self.answers[self.state.answers..];
        self.around().into_iter().filter(move |rank| answered.iter().all(|answer| answer.rank != *rank))
    }

    /// The runs around the place found, in the order in which they are shown.
    fn around(&self) -> Vec<usize> {
        let Some(found) = self.found() else { return Vec::new() };
        let distances = std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2));
        let ranks = distances
            .take_while(|distance| *distance < self.len)
            .flat_map(|distance| [found.checked_sub(distance), found.checked_add(distance)])
            .flatten()
            .filter(|&rank| rank < self.len);
        let mut ranks: Vec<usize> = ranks.take(self.confirm).collect();
        ranks.reverse();
        ranks
    }
}

impl State {
    const fn new(len: usize) -> Self {
        Self { bounds: 0..len, skipped: BTreeSet::new(), holding: None, answers: 0 }
    }

    fn take(&mut self, answer: Answer) {
        self.answers += 1;
        let bounds = &mut self.bounds;
        match answer.verdict {
            Some(Verdict::Holds) => {
                bounds.end = bounds.end.min(answer.rank);
                self.holding = Some(self.holding.map_or(answer.rank, |lowest| lowest.min(answer.rank)));
            }
            Some(Verdict::Drifts) => bounds.start = bounds.start.max(answer.rank + 1),
            None => {
                self.skipped.insert(answer.rank);
            }
        }
        bounds.end = bounds.end.max(bounds.start);
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

    fn steps_left(search: &Search) -> u32 {
        if let Phase::Searching(left) = search.phase() { left } else { 0 }
    }

    /// What looking at every run from below finds.
    fn linear_scan(len: usize, border: usize) -> Option<usize> {
        (0..len).find(|&rank| rank >= border)
    }

    /// The loop of the original, word for word in its issue: where it ends, and how often it asks.
    fn original(len: usize, border: usize) -> (usize, usize) {
        let (mut low, mut high, mut asked) = (0, len - 1, 0);
        loop {
            let middle = usize::midpoint(low, high);
            if middle == low || middle == high {
                return (middle, asked);
            }
            asked += 1;
            if middle >= border { high = middle - 1 } else { low = middle + 1 }
        }
    }

    proptest! {
        #[test]
        fn a_consistent_judge_is_led_to_the_place_that_a_linear_scan_finds(len in 0..3000_usize, border in 0..3001_usize) {
            let mut search = Search::new(len);
            let most = steps_left(&search);
            prop_assert!(len == 0 || f64::from(most) <= ((len + 1) as f64).log2().ceil());
            judged(&mut search, border);
            prop_assert_eq!(search.result(), linear_scan(len, border));
            prop_assert!(search.answers().len() <= most as usize);
            prop_assert_eq!(search.phase(), Phase::Done);
        }

        #[test]
        fn steps_left_never_promise_too_little(len in 1..500_usize, border in 0..501_usize) {
            let mut search = Search::new(len);
            while let Some(rank) = search.probe() {
                let left = steps_left(&search);
                search.answer(if rank >= border { Verdict::Holds } else { Verdict::Drifts });
                prop_assert!(steps_left(&search) < left);
            }
        }

        #[test]
        fn compat_asks_and_ends_as_the_original_does(len in 1..1500_usize, border in 0..1501_usize) {
            let mut search = Search::new(len).with_compat();
            judged(&mut search, border);
            prop_assert_eq!((search.result(), search.answers().len()), {
                let (ended, asked) = original(len, border);
                (Some(ended), asked)
            });
        }

        #[test]
        fn undo_brings_every_state_back(
            len in 1..300_usize, confirm in 0..9_usize, verdicts in prop::collection::vec(0..3_u8, 0..25)
        ) {
            let mut states = vec![Search::new(len).with_confirm(confirm)];
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
            prop_assert_eq!(&Search::new(len).with_confirm(confirm).resumed(search.answers().to_vec()), &search);
            for state in states.iter().rev().skip(1) {
                prop_assert!(search.undo());
                prop_assert_eq!(&search, state);
                prop_assert_eq!(search.probe(), state.probe());
            }
            prop_assert!(!search.undo());
        }

        #[test]
        fn a_judge_who_skips_everything_comes_to_an_end(len in 0..200_usize, compat: bool) {
            let search = Search::new(len).with_confirm(6);
            let mut search = if compat { search.with_compat() } else { search };
            for _ in 0..len + 7 {
                search.skip();
            }
            prop_assert_eq!(search.probe(), None);
            prop_assert!(search.answers().len() <= len + 6);
        }

        #[test]
        fn answers_of_another_order_never_break_the_search(
            len in 1..100_usize, compat: bool, answers in prop::collection::vec((0..120_usize, 0..3_u8), 0..40)
        ) {
            let search = Search::new(len).with_confirm(6);
            let search = if compat { search.with_compat() } else { search };
            let verdict = |number| [Some(Verdict::Holds), Some(Verdict::Drifts), None][usize::from(number)];
            let answers = answers.into_iter().map(|(rank, number)| Answer { rank, verdict: verdict(number) });
            let mut search = search.resumed(answers);
            for _ in 0..len + 7 {
                if search.probe().is_none() { break }
                search.answer(Verdict::Holds);
            }
            prop_assert_eq!(search.phase(), Phase::Done);
            prop_assert!(search.result().is_none_or(|rank| rank < len));
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

    fn confirmed(len: usize, border: usize, confirm: usize) -> Vec<usize> {
        let mut search = Search::new(len).with_confirm(confirm);
        judged(&mut search, border);
        let searched = (0..=search.answers().len()).find(|&taken| {
            let answers = search.answers()[..taken].to_vec();
            !matches!(Search::new(len).with_confirm(confirm).resumed(answers).phase(), Phase::Searching(_))
        });
        search.answers()[searched.unwrap()..].iter().map(|answer| answer.rank).collect()
    }

    #[test]
    fn runs_on_both_sides_of_what_was_found_are_shown_the_farthest_first() {
        assert_eq!(confirmed(100, 37, 6), [41, 33, 39, 35, 38, 36]);
        assert_eq!(confirmed(100, 37, 2), [38, 36]);
        assert_eq!(confirmed(100, 0, 3), [4, 2, 1], "there is nothing below");
        assert_eq!(confirmed(3, 1, 6), [2, 0], "there is nothing else");
        assert_eq!(confirmed(100, 100, 6), [0_usize; 0], "nothing holds");
    }

    #[test]
    fn what_is_said_of_the_runs_around_does_not_move_the_result() {
        let mut search = Search::new(100).with_confirm(6);
        while matches!(search.phase(), Phase::Searching(_)) {
            let rank = search.probe().unwrap();
            search.answer(if rank >= 37 { Verdict::Holds } else { Verdict::Drifts });
        }
        assert_eq!(search.phase(), Phase::Confirming(6));
        while search.probe().is_some() {
            search.answer(Verdict::Holds);
        }
        assert_eq!((search.result(), search.phase()), (Some(37), Phase::Done));
    }
}
