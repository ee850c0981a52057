//! One text in several lanes, so that a batch is filled and the chunks are those of one lane.
//!
//! The window loop needs one vector before it knows which to ask for next, and a model that is asked for one vector at
//! a time idles. But where a chunk ends depends on its start alone. So further lanes start further on, each at a unit
//! that may or may not be the start of a chunk. The first lane is exact. Where one of its chunks starts at the same unit
//! as one of the next lane's they are one chain from there on: what that lane found before is thrown away, what it
//! found behind counts, and it is the exact lane now. Chains that start at different units soon meet, since every step
//! is a chance, so that little is thrown away ([`Lanes::discarded`] counts it).

use std::collections::VecDeque;

use super::Rules;
use super::steps::{Draft, Next, Steps, Version};
use crate::chunker::ChunkError;
use crate::chunker::units::Units;
use crate::embedding::{EmbeddingError, Input, embed_drafts, embed_inputs};

/// Units from where a lane is to the start of the next one. What a lane finds before it meets the one on its left is
/// some ten units, and lost. Tests want lanes to meet on short texts.
const SPACING: usize = if cfg!(test) { 6 } else { 128 };

/// Drafts that a lane makes in advance, at most, so that one that needs no vectors does not run through the text.
const AHEAD: usize = 64;

/// The drafts of one text, in order.
pub(in crate::chunker) struct Lanes<'c> {
    rules: Rules<'c>,
    /// From left to right; the first is exact.
    running: VecDeque<Lane<'c>>,
    /// Exact, not yet taken.
    ready: VecDeque<Draft>,
    /// Whether more lanes may start.
    spreads: bool,
    asked: usize,
    discarded: usize,
}

/// The loop from one unit on.
struct Lane<'c> {
    start: usize,
    steps: Steps<'c>,
    /// What it found, with the number of inputs embedded for each.
    found: VecDeque<(Draft, usize)>,
    /// Inputs embedded for the chunk being built.
    asked: usize,
    /// Whether its requests are to be answered.
    waits: bool,
}

impl<'c> Lane<'c> {
    fn new(rules: Rules<'c>, start: usize) -> Self {
        Self { start, steps: Steps::from(rules, start), found: VecDeque::new(), asked: 0, waits: false }
    }

    /// Whether one of its chunks starts at a unit.
    fn starts_at(&self, unit: usize) -> bool {
        self.steps.left() == unit || self.found.iter().any(|(draft, _)| draft.units.start == unit)
    }

    /// Whether it goes on: not where it met the lane on its right, nor where it is further than that one; nor with so
    /// many drafts, unless the lane on its left waits for it.
    fn goes_on(&self, left: Option<&Self>, right: Option<&Self>) -> bool {
        let at = self.steps.left();
        let free = |right: &Self| at < right.start || (at < right.steps.left() && !right.starts_at(at));
        let awaited = left.is_some_and(|left| left.steps.left() >= at);
        right.is_none_or(free) && (self.found.len() < AHEAD || awaited)
    }

    /// Tokens of what it waits for.
    fn requested_tokens(&self) -> usize {
        let versions = [Version::Draft, Version::Exact];
        versions.into_iter().flat_map(|version| self.steps.requests(version)).map(Input::tokens).sum()
    }

    /// Goes on as the lane on its right, which it met; says how many inputs that one had embedded in vain.
    fn join(&mut self, mut right: Self) -> usize {
        let left = self.steps.left();
        let lost = right.found.iter().take_while(|(draft, _)| draft.units.start < left).count();
        let lost = right.found.drain(..lost).map(|(_, asked)| asked).sum();
        self.found.append(&mut right.found);
        *self = Self { start: self.start, found: std::mem::take(&mut self.found), ..right };
        lost
    }

    /// Runs until it waits for vectors or need not go on. An error ends the lane before the chunk that it comes from.
    fn run(&mut self, units: &Units<'_>, left: Option<&Self>, right: Option<&Self>) -> Result<(), ChunkError> {
        while self.goes_on(left, right) {
            match self.steps.poll(units)? {
                Next::Vectors => {
                    self.waits = true;
                    break;
                }
                Next::Chunk(draft) => self.found.push_back((draft, std::mem::take(&mut self.asked))),
                Next::End => break,
            }
        }
        Ok(())
    }
}

impl<'c> Lanes<'c> {
    pub(in crate::chunker) fn new(rules: Rules<'c>) -> Self {
        let (running, spreads) = (VecDeque::from([Lane::new(rules, 0)]), rules.embedder.tokens_at_once() > 0);
        Self { rules, running, ready: VecDeque::new(), spreads, asked: 0, discarded: 0 }
    }

    /// Inputs embedded so far.
    pub(in crate::chunker) const fn asked(&self) -> usize {
        self.asked
    }

    /// Those of them that were embedded in vain.
    pub(in crate::chunker) const fn discarded(&self) -> usize {
        self.discarded
    }

    /// The next draft; `None` at the end of the text.
    pub(in crate::chunker) fn next(&mut self, units: &Units<'_>) -> Result<Option<Draft>, ChunkError> {
        while self.ready.is_empty()
            && let Some(asked) = self.poll(units, self.rules.embedder.tokens_at_once())?
        {
            let rules = self.rules;
            if asked > 0
                && let Err(error) = embed(&rules, &mut [self])
            {
                if self.running.len() == 1 {
                    return Err(error.into());
                }
                // The exact lane may do without what could not be embedded.
                self.keep(1);
            }
        }
        Ok(self.ready.pop_front())
    }

    /// Runs lanes until they wait for so many tokens, but one at least; says for how many. None where drafts are ready
    /// that should be taken first, and `None` where no more come: at the end of the text, and before an error.
    fn poll(&mut self, units: &Units<'_>, tokens: usize) -> Result<Option<usize>, ChunkError> {
        self.running.iter_mut().for_each(|lane| lane.waits = false);
        loop {
            let ran = self.run(units, tokens);
            self.settle();
            let ended = self.running.len() == 1 && self.running[0].steps.left() == units.len();
            match ran {
                Err(error) if self.ready.is_empty() => return Err(error),
                Err(_) => return Ok(None),
                Ok(0) if ended => return Ok(None),
                Ok(0) if self.ready.is_empty() => {}
                Ok(asked) => return Ok(Some(asked)),
            }
        }
    }

    /// Every lane as far as it comes.
    fn run(&mut self, units: &Units<'_>, tokens: usize) -> Result<usize, ChunkError> {
        let (mut asked, mut at) = (0, 0);
        while asked < tokens.max(1) && (at < self.running.len() || self.spread(units)) {
            let (left, rest) = self.running.make_contiguous().split_at_mut(at);
            let Some((lane, right)) = rest.split_first_mut() else { break };
            match lane.run(units, left.last(), right.first()) {
                Ok(()) => {
                    asked += if lane.waits { lane.requested_tokens() } else { 0 };
                    at += 1;
                }
                // Whether that is an error the exact lane will say when it comes here.
                Err(_) if at > 0 => self.keep(at),
                Err(error) => return Err(error),
            }
        }
        Ok(asked)
    }

    /// Starts another lane where the last one waits, if enough is left of the text.
    fn spread(&mut self, units: &Units<'_>) -> bool {
        let Some(last) = self.running.back().filter(|last| last.waits && self.spreads) else { return false };
        let start = last.steps.left() + SPACING;
        let spreads = start + SPACING / 2 <= units.len();
        if spreads {
            // A chunk starts at a border whatever comes before it.
            let border = (start..start + SPACING / 2).find(|&unit| units.border_before(unit));
            self.running.push_back(Lane::new(self.rules, border.unwrap_or(start)));
        }
        spreads
    }

    /// Makes one of lanes that met, and takes what is exact.
    fn settle(&mut self) {
        for at in (1..self.running.len()).rev() {
            let (left, right) = (&self.running[at - 1], &self.running[at]);
            if right.start <= left.steps.left() && right.starts_at(left.steps.left()) {
                let right = self.running.remove(at);
                self.discarded += right.map_or(0, |right| self.running[at - 1].join(right));
            }
        }
        let exact = self.running.front_mut().into_iter().flat_map(|first| first.found.drain(..));
        self.ready.extend(exact.map(|(draft, _)| draft));
    }

    /// Goes on with the first `count` lanes only.
    fn keep(&mut self, count: usize) {
        self.spreads = false;
        for lane in self.running.drain(count..) {
            self.discarded += lane.asked + lane.found.iter().map(|(_, asked)| asked).sum::<usize>();
        }
    }
}

/// Runs several texts together until every draft is ready. Where that fails each text is left as far as it came, and
/// will find its own error.
pub(in crate::chunker) fn advance(rules: &Rules<'_>, texts: &mut [(&mut Lanes<'_>, &Units<'_>)]) {
    let tokens = rules.embedder.tokens_at_once();
    let mut running: Vec<_> = texts.iter_mut().map(|(lanes, units)| (&mut **lanes, *units, 0)).collect();
    while tokens > 0 && !running.is_empty() {
        let mut asked = 0;
        // The exact lanes first, of which nothing is lost; then others, as far as there is room.
        running.retain_mut(|(lanes, units, own)| {
            let polled = if asked < tokens { lanes.poll(units, 1).unwrap_or(None) } else { Some(0) };
            *own = polled.unwrap_or(0);
            asked += *own;
            polled.is_some()
        });
        for (lanes, units, own) in running.iter_mut().filter(|(.., own)| *own > 0) {
            if asked < tokens {
                let all = lanes.poll(units, tokens - asked + *own).unwrap_or(None).unwrap_or(0);
                asked = asked - *own + all;
            }
        }
        let waiting = running.iter_mut().filter(|(.., own)| *own > 0).map(|(lanes, ..)| &mut **lanes);
        if embed(rules, &mut waiting.collect::<Vec<_>>()).is_err() {
            break;
        }
    }
    // What could not be embedded together need not be needed.
    running.iter_mut().for_each(|(lanes, ..)| lanes.keep(1));
}

/// Embeds what the lanes of some texts wait for.
fn embed(rules: &Rules<'_>, texts: &mut [&mut Lanes<'_>]) -> Result<(), EmbeddingError> {
    for version in [Version::Draft, Version::Exact] {
        let waiting = texts.iter().flat_map(|text| text.running.iter().filter(|lane| lane.waits));
        let inputs: Vec<&Input> = waiting.flat_map(|lane| lane.steps.requests(version)).collect();
        if inputs.is_empty() {
            continue;
        }
        let mut embeddings = match (version, rules.draft) {
            (Version::Draft, Some(draft)) => embed_drafts(rules.embedder, draft, &inputs)?,
            _ => embed_inputs(rules.embedder, &inputs)?,
        }
        .into_iter();
        for text in &mut *texts {
            for lane in text.running.iter_mut().filter(|lane| lane.waits) {
                let before = embeddings.len();
                lane.steps.answer(version, &mut embeddings);
                lane.asked += before - embeddings.len();
                text.asked += before - embeddings.len();
            }
        }
    }
    Ok(())
}
