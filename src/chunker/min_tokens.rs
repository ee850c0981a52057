//! Crumbs: a chunk of fewer than `min_tokens` joins the neighbour that it is more alike.
//!
//! Chunks are taken from left to right. A crumb compares its vector with that of the finished chunk on its left and
//! of the coming one on its right; a neighbour is out of question where the joined text would pass the cap or a
//! border lies between. The joined chunk gets a vector of its own. The largest number of sentences does not apply.

use super::window::{Draft, Lanes, Rules};
use super::{ChunkError, units::Units};
use crate::embedding::embed_inputs;

/// Drafts without crumbs.
pub(super) struct Joined<'c> {
    rules: Rules<'c>,
    drafts: Lanes<'c>,
    /// Finished, unless a crumb on its right joins it.
    left: Option<Crumb>,
    /// Taken from `drafts`, not yet looked at.
    right: Option<Crumb>,
}

/// A draft that may be too small.
struct Crumb {
    draft: Draft,
    /// Tokens of its parts and bytes between them: no joined text has more, so that a chunk that grows crumb by crumb
    /// is counted only once it may be large enough.
    at_most: usize,
}

impl<'c> Joined<'c> {
    pub(super) fn new(rules: Rules<'c>) -> Self {
        Self { rules, drafts: Lanes::new(rules), left: None, right: None }
    }

    /// Where the drafts come from.
    pub(super) const fn lanes(&self) -> &Lanes<'c> {
        &self.drafts
    }

    pub(super) const fn lanes_mut(&mut self) -> &mut Lanes<'c> {
        &mut self.drafts
    }

    /// The next draft; `None` at the end of the text.
    pub(super) fn next(&mut self, units: &Units<'_>) -> Result<Option<Draft>, ChunkError> {
        if self.rules.min_tokens == 0 {
            return self.drafts.next(units);
        }
        loop {
            let taken = match self.right.take() {
                Some(crumb) => Some(crumb),
                None => self.draw(units)?,
            };
            let Some(crumb) = taken else { return Ok(self.left.take().map(|last| last.draft)) };
            if let Some(settled) = self.settle(units, crumb)?
                && let Some(finished) = self.left.replace(settled)
            {
                return Ok(Some(finished.draft));
            }
        }
    }

    fn draw(&mut self, units: &Units<'_>) -> Result<Option<Crumb>, ChunkError> {
        let Some(draft) = self.drafts.next(units)? else { return Ok(None) };
        let text = &units.text[units.span(draft.units.clone())];
        let at_most = self.rules.counter.map_or(Ok(0), |counter| counter.count(text))?;
        Ok(Some(Crumb { draft, at_most }))
    }

    /// Joins a crumb to its right as long as that is the better side; `None` if it then joined its left.
    fn settle(&mut self, units: &Units<'_>, mut crumb: Crumb) -> Result<Option<Crumb>, ChunkError> {
        while self.is_crumb(units, &mut crumb)? {
            if self.right.is_none() {
                self.right = self.draw(units)?;
            }
            let left = self.attraction(units, self.left.as_ref(), Some(&crumb))?;
            let right = self.attraction(units, Some(&crumb), self.right.as_ref())?;
            match (left, right) {
                (Some(left), right) if right.is_none_or(|right| left >= right) => {
                    if let Some(before) = self.left.take() {
                        self.left = Some(self.join(units, before, crumb)?);
                    }
                    return Ok(None);
                }
                (_, Some(_)) => {
                    if let Some(behind) = self.right.take() {
                        crumb = self.join(units, crumb, behind)?;
                    }
                }
                (_, None) => break,
            }
        }
        Ok(Some(crumb))
    }

    fn is_crumb(&self, units: &Units<'_>, crumb: &mut Crumb) -> Result<bool, ChunkError> {
        let Some(counter) = self.rules.counter else { return Ok(false) };
        if crumb.at_most >= self.rules.min_tokens {
            crumb.at_most = counter.count(&units.text[units.span(crumb.draft.units.clone())])?;
        }
        Ok(crumb.at_most < self.rules.min_tokens)
    }

    /// Similarity of two neighbours; `None` where they may not join.
    fn attraction(&self, units: &Units<'_>, a: Option<&Crumb>, b: Option<&Crumb>) -> Result<Option<f32>, ChunkError> {
        let (Some(a), Some(b)) = (a.map(|a| &a.draft), b.map(|b| &b.draft)) else { return Ok(None) };
        if units.border_before(b.units.start) || !self.rules.fits(units.chunk_text(a.units.start..b.units.end))? {
            return Ok(None);
        }
        let vectors = a.vector.as_ref().zip(b.vector.as_ref());
        Ok(vectors.map(|(a, b)| self.rules.similarity.between(a, b)))
    }

    fn join(&self, units: &Units<'_>, a: Crumb, b: Crumb) -> Result<Crumb, ChunkError> {
        let gap = units.gap_before(b.draft.units.start);
        let at_most = a.at_most.saturating_add(gap.len()).saturating_add(b.at_most);
        let (mut draft, b) = (a.draft, b.draft);
        draft.units.end = b.units.end;
        (draft.reason, draft.similarity) = (b.reason, b.similarity);
        draft.similarities.extend(b.similarities);
        // What the model cannot see leaves the vector as it is.
        if draft.input.join(&b.input)
            && !draft.truncated
            && let Some(embedding) = embed_inputs(self.rules.embedder, &[&draft.input])?.pop()
        {
            draft.truncated = embedding.truncated;
            draft.vector = Some(embedding.vector);
        }
        draft.truncated |= draft.input.truncated().unwrap_or(false);
        Ok(Crumb { draft, at_most })
    }
}
