//! Crumbs: a chunk of fewer than `min_tokens` joins the neighbour that it is more alike.
//!
//! Chunks are taken from left to right. A crumb compares its vector with that of the finished chunk on its left and
//! of the coming one on its right; a neighbour is out of question where the joined text would pass the cap or a
//! border lies between. The joined chunk gets a vector of its own. The largest number of sentences does not apply.

use super::window::{Draft, Drafts, Rules};
use super::{ChunkError, units::Units};
use crate::embedding::{Input, embed_inputs};

/// Drafts without crumbs.
pub(super) struct Joined<'c> {
    rules: Rules<'c>,
    drafts: Drafts<'c>,
    /// Finished, unless a crumb on its right joins it.
    left: Option<Draft>,
    /// Taken from `drafts`, not yet looked at.
    right: Option<Draft>,
}

impl<'c> Joined<'c> {
    pub(super) const fn new(rules: Rules<'c>) -> Self {
        Self { rules, drafts: Drafts::new(rules), left: None, right: None }
    }

    /// The next draft; `None` at the end of the text.
    pub(super) fn next(&mut self, units: &Units<'_>) -> Result<Option<Draft>, ChunkError> {
        if self.rules.min_tokens == 0 {
            return self.drafts.next(units);
        }
        loop {
            let taken = match self.right.take() {
                Some(draft) => Some(draft),
                None => self.drafts.next(units)?,
            };
            let Some(draft) = taken else { return Ok(self.left.take()) };
            if let Some(draft) = self.settle(units, draft)?
                && let Some(finished) = self.left.replace(draft)
            {
                return Ok(Some(finished));
            }
        }
    }

    /// Joins a crumb to its right as long as that is the better side; `None` if it then joined its left.
    fn settle(&mut self, units: &Units<'_>, mut draft: Draft) -> Result<Option<Draft>, ChunkError> {
        while self.is_crumb(units, &draft)? {
            self.right = self.drafts.next(units)?;
            let left = self.attraction(units, self.left.as_ref(), Some(&draft))?;
            let right = self.attraction(units, Some(&draft), self.right.as_ref())?;
            match (left, right) {
                (Some(left), right) if right.is_none_or(|right| left >= right) => {
                    if let Some(before) = self.left.take() {
                        self.left = Some(self.join(units, before, draft)?);
                    }
                    return Ok(None);
                }
                (_, Some(_)) => {
                    if let Some(behind) = self.right.take() {
                        draft = self.join(units, draft, behind)?;
                    }
                }
                (_, None) => break,
            }
        }
        Ok(Some(draft))
    }

    fn is_crumb(&self, units: &Units<'_>, draft: &Draft) -> Result<bool, ChunkError> {
        let Some(counter) = self.rules.counter else { return Ok(false) };
        Ok(counter.count(&units.text[units.span(draft.units.clone())])? < self.rules.min_tokens)
    }

    /// Similarity of two neighbours; `None` where they may not join.
    fn attraction(&self, units: &Units<'_>, a: Option<&Draft>, b: Option<&Draft>) -> Result<Option<f32>, ChunkError> {
        let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
        if units.border_before(b.units.start) || !self.rules.fits(units.chunk_text(a.units.start..b.units.end))? {
            return Ok(None);
        }
        let vectors = a.vector.as_ref().zip(b.vector.as_ref());
        Ok(vectors.map(|(a, b)| self.rules.similarity.between(a, b)))
    }

    fn join(&self, units: &Units<'_>, a: Draft, b: Draft) -> Result<Draft, ChunkError> {
        let range = a.units.start..b.units.end;
        let mut input = Input::new(self.rules.embedder, units.unit_text(range.start))?;
        for index in range.start + 1..range.end {
            input.join(&Input::new(self.rules.embedder, units.unit_text(index))?);
        }
        let embedding = embed_inputs(self.rules.embedder, &[&input])?.pop();
        Ok(Draft {
            units: range,
            reason: b.reason,
            similarity: b.similarity,
            similarities: [a.similarities, b.similarities].concat(),
            truncated: embedding.as_ref().is_some_and(|embedding| embedding.truncated),
            blind: a.blind,
            vector: embedding.map(|embedding| embedding.vector),
        })
    }
}
