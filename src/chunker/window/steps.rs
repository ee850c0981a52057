//! The loop of the dynamic window as a state machine that asks for vectors and never computes one.
//!
//! [`Steps::poll`] runs until it needs vectors or has a chunk. Whoever drives it embeds the inputs it asks for,
//! alone or in one batch with those of other texts, and hands the vectors back through [`Steps::answer`]: what is
//! decided depends on the vectors only, never on how they were batched. Where a chunk ends depends on where it starts
//! and on nothing before, so that the loop may start anywhere: see `lanes`.
//!
//! Cost: each anchor is embedded once, each window at most once, a window that is cut for another reason than its
//! similarity never, and nothing that the model would see unchanged. Where the embedder has a faster version
//! ([`DraftEmbedder`](crate::DraftEmbedder)) that one is asked first, and the exact one for decisions that are near.

use std::ops::Range;

use super::Rules;
use crate::chunker::units::Units;
use crate::chunker::{ChunkError, CutReason};
use crate::embedding::{Embedding, Input};

/// A chunk as the loop leaves it: units and vectors, not yet text.
#[derive(Clone, Debug)]
pub(in crate::chunker) struct Draft {
    pub(in crate::chunker) units: Range<usize>,
    pub(in crate::chunker) reason: CutReason,
    pub(in crate::chunker) similarity: Option<f32>,
    pub(in crate::chunker) similarities: Vec<Option<f32>>,
    pub(in crate::chunker) truncated: bool,
    pub(in crate::chunker) blind: bool,
    /// What the model was shown of it.
    pub(in crate::chunker) input: Input,
    /// The chunk's own vector, where the loop came by it or was told to.
    pub(in crate::chunker) vector: Option<Vec<f32>>,
}

/// What the loop wants next.
#[derive(Debug)]
pub(super) enum Next {
    /// The vectors of [`Steps::requests`].
    Vectors,
    /// Nothing: here is a chunk.
    Chunk(Draft),
    /// Nothing: the text has ended.
    End,
}

/// Which version of the embedder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Draft,
    Exact,
}

/// The loop over the units of one text.
pub(super) struct Steps<'c> {
    rules: Rules<'c>,
    /// The window holds the units `left..right`; `right` is the one it would grow by.
    left: usize,
    right: usize,
    /// The chunk being built; `None` where its first unit is still to be looked at.
    open: Option<Open>,
}

/// A chunk being built.
struct Open {
    anchor: Seen,
    /// The units `left..right`; `None` while the model sees no more than the anchor.
    window: Option<Seen>,
    /// Similarity of the window; 1 while the model sees no more than the anchor.
    similarity: f32,
    similarities: Vec<Option<f32>>,
    /// The step to decide.
    grown: Option<Grown>,
}

/// A window grown by one unit, and that unit alone: the next anchor if the step cuts.
struct Grown {
    window: Seen,
    unit: Input,
}

/// An input of the model and, once known, what came out.
struct Seen {
    input: Input,
    draft: Option<Embedding>,
    exact: Option<Embedding>,
    /// What was asked for and did not come yet.
    wanted: Option<Version>,
}

impl<'c> Steps<'c> {
    /// The loop whose first chunk starts at a unit.
    pub(super) const fn from(rules: Rules<'c>, start: usize) -> Self {
        Self { rules, left: start, right: start, open: None }
    }

    /// The unit that starts the chunk being built.
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Runs until vectors are needed, a chunk is closed or the text ends.
    pub(super) fn poll(&mut self, units: &Units<'_>) -> Result<Next, ChunkError> {
        let embedder = self.rules.embedder;
        while self.left < units.len() {
            let open = if let Some(open) = &mut self.open {
                open
            } else {
                self.right = self.left + 1;
                self.open.insert(Open::new(Input::new(embedder, units.unit_text(self.left))?))
            };
            let mut cut = None;
            if open.grown.is_none() {
                cut = self.rules.cut_without_similarity(units, self.left, self.right)?.map(|reason| (reason, None));
                if cut.is_none() && !open.grow(Input::new(embedder, units.unit_text(self.right))?) {
                    self.right += 1;
                    continue;
                }
            }
            if cut.is_none() {
                let Some(similarity) = open.similarity_of_grown(&self.rules) else { return Ok(Next::Vectors) };
                // Different inputs are never perfectly alike, though rounding may say so.
                if similarity < self.rules.threshold || (self.rules.threshold >= 1.0 && similarity <= 1.0) {
                    cut = Some((CutReason::Similarity, Some(similarity)));
                } else {
                    open.accept(similarity);
                    self.right += 1;
                }
            }
            if let Some((reason, similarity)) = cut {
                if self.rules.lacks_vector(open) {
                    return Ok(Next::Vectors);
                }
                return Ok(self.close(reason, similarity));
            }
        }
        Ok(Next::End)
    }

    /// What to embed before the next poll, in this version.
    pub(super) fn requests(&self, version: Version) -> impl Iterator<Item = &Input> {
        let seen = self.open.iter().flat_map(Open::seen);
        seen.filter(move |seen| seen.wanted == Some(version)).map(|seen| &seen.input)
    }

    /// Takes as many embeddings as there are [`Self::requests`] of this version, in order.
    pub(super) fn answer(&mut self, version: Version, embeddings: &mut impl Iterator<Item = Embedding>) {
        let seen = self.open.iter_mut().flat_map(Open::seen_mut);
        for seen in seen.filter(|seen| seen.wanted == Some(version)) {
            seen.wanted = None;
            match version {
                Version::Draft => seen.draft = embeddings.next(),
                Version::Exact => seen.exact = embeddings.next(),
            }
        }
    }

    /// Closes the open chunk before the unit `right`.
    fn close(&mut self, reason: CutReason, similarity: Option<f32>) -> Next {
        let units = self.left..self.right;
        self.left = self.right;
        let Some(mut open) = self.open.take() else { return Next::End };
        if let Some(grown) = open.grown.take() {
            self.right = self.left + 1;
            self.open = Some(Open::new(grown.unit));
        }
        if reason != CutReason::End {
            open.similarities.push(similarity);
        }
        let blind = open.anchor.is_full();
        let seen = open.window.unwrap_or(open.anchor);
        Next::Chunk(Draft {
            units,
            reason,
            similarity,
            similarities: open.similarities,
            truncated: seen.truncated(),
            blind,
            input: seen.input,
            vector: seen.exact.map(|embedding| embedding.vector).filter(|_| self.rules.wants_vectors()),
        })
    }
}

impl Rules<'_> {
    /// Why a chunk of the units `left..right` may not grow, whatever it means.
    fn cut_without_similarity(
        &self,
        units: &Units<'_>,
        left: usize,
        right: usize,
    ) -> Result<Option<CutReason>, ChunkError> {
        Ok(if right == units.len() {
            Some(CutReason::End)
        } else if units.border_before(right) {
            Some(CutReason::Border)
        } else if right - left == self.max_sentences {
            Some(CutReason::MaxSentences)
        } else if !self.fits(units.chunk_text(left..right + 1))? {
            Some(CutReason::MaxTokens)
        } else {
            None
        })
    }

    /// Whether chunks get vectors.
    const fn wants_vectors(&self) -> bool {
        self.embeddings || self.min_tokens > 0
    }

    /// Whether a chunk that closes must get a vector first: because it was asked for, or because only the embedder
    /// knows whether it saw all of the text.
    fn lacks_vector(&self, open: &mut Open) -> bool {
        let seen = open.window.as_mut().unwrap_or(&mut open.anchor);
        let unknown = seen.input.truncated().is_none() && seen.any().is_none();
        (self.wants_vectors() || unknown) && seen.wants(Version::Exact)
    }
}

impl Open {
    const fn new(anchor: Input) -> Self {
        let anchor = Seen::new(anchor);
        Self { anchor, window: None, similarity: 1.0, similarities: Vec::new(), grown: None }
    }

    fn seen(&self) -> impl Iterator<Item = &Seen> {
        let grown = self.grown.as_ref().map(|grown| &grown.window);
        std::iter::once(&self.anchor).chain(&self.window).chain(grown)
    }

    fn seen_mut(&mut self) -> impl Iterator<Item = &mut Seen> {
        let grown = self.grown.as_mut().map(|grown| &mut grown.window);
        std::iter::once(&mut self.anchor).chain(&mut self.window).chain(grown)
    }

    /// Grows the window by a unit. Where the model sees nothing of it the step is decided at once and `false` comes
    /// back.
    fn grow(&mut self, unit: Input) -> bool {
        let seen = self.window.as_mut().unwrap_or(&mut self.anchor);
        if seen.is_full() {
            seen.input.join(&unit);
            self.similarities.push(Some(self.similarity));
            return false;
        }
        let mut input = seen.input.clone();
        if !input.join(&unit) {
            self.similarities.push(Some(self.similarity));
            return false;
        }
        self.grown = Some(Grown { window: Seen::new(input), unit });
        true
    }

    /// Similarity of anchor and grown window, as exact as the decision needs it; `None` where a vector is missing.
    fn similarity_of_grown(&mut self, rules: &Rules<'_>) -> Option<f32> {
        let (anchor, window) = (&mut self.anchor, &mut self.grown.as_mut()?.window);
        if let Some(draft) = rules.draft
            && (anchor.exact.is_none() || window.exact.is_none())
        {
            // Both, so that their errors have much in common.
            let similarity = similarity(rules, Version::Draft, anchor, window)?;
            if (similarity - rules.threshold).abs() > draft.margin() {
                return Some(similarity);
            }
        }
        similarity(rules, Version::Exact, anchor, window)
    }

    /// Keeps the grown window.
    fn accept(&mut self, similarity: f32) {
        self.similarity = similarity;
        self.similarities.push(Some(similarity));
        self.window = self.grown.take().map(|grown| grown.window);
    }
}

/// Similarity of two inputs in one version; asks for what is missing.
fn similarity(rules: &Rules<'_>, version: Version, a: &mut Seen, b: &mut Seen) -> Option<f32> {
    // Both are asked for before one is found missing: they are embedded together.
    a.wants(version);
    b.wants(version);
    Some(rules.similarity.between(&a.get(version)?.vector, &b.get(version)?.vector))
}

impl Seen {
    const fn new(input: Input) -> Self {
        Self { input, draft: None, exact: None, wanted: None }
    }

    const fn get(&self, version: Version) -> Option<&Embedding> {
        match version {
            Version::Draft => self.draft.as_ref(),
            Version::Exact => self.exact.as_ref(),
        }
    }

    /// Asks for an embedding if it is not there; says whether it was asked for.
    const fn wants(&mut self, version: Version) -> bool {
        let missing = self.get(version).is_none();
        if missing {
            self.wanted = Some(version);
        }
        missing
    }

    /// What is known, whatever version.
    fn any(&self) -> Option<&Embedding> {
        self.exact.as_ref().or(self.draft.as_ref())
    }

    /// Whether the model sees nothing of what is joined from now on.
    fn is_full(&self) -> bool {
        self.input.is_full() || self.truncated()
    }

    fn truncated(&self) -> bool {
        self.input.truncated().or(self.any().map(|embedding| embedding.truncated)).unwrap_or(false)
    }
}
