//! The loop of the dynamic window as a state machine that asks for vectors and never computes one.
//!
//! [`Steps::poll`] runs until it needs vectors or has a chunk. Whoever drives it embeds the inputs it asks for,
//! alone or in one batch with those of other texts, and hands the vectors back through [`Steps::answer`]: what is
//! decided depends on the vectors only, never on how they were batched. [`Drafts`] is the plain driver.
//!
//! Cost: each anchor is embedded once, each window at most once, a window that is cut for another reason than its
//! similarity never, and nothing that the model would see unchanged.

use std::ops::Range;

use super::Rules;
use crate::chunker::units::Units;
use crate::chunker::{ChunkError, CutReason};
use crate::embedding::{Embedding, Input, embed_inputs};

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
enum Next {
    /// The vectors of [`Steps::requests`].
    Vectors,
    /// Nothing: here is a chunk.
    Chunk(Draft),
    /// Nothing: the text has ended.
    End,
}

/// The loop over the units of one text.
struct Steps<'c> {
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
    embedding: Option<Embedding>,
}

impl<'c> Steps<'c> {
    const fn new(rules: Rules<'c>) -> Self {
        Self { rules, left: 0, right: 0, open: None }
    }

    /// Runs until vectors are needed, a chunk is closed or the text ends.
    fn poll(&mut self, units: &Units<'_>) -> Result<Next, ChunkError> {
        let embedder = self.rules.embedder;
        while self.left < units.len() {
            let open = if let Some(open) = &mut self.open {
                open
            } else {
                self.right = self.left + 1;
                self.open.insert(Open::new(Input::new(embedder, units.unit_text(self.left))?))
            };
            if open.grown.is_none() {
                if let Some(reason) = self.rules.cut_without_similarity(units, self.left, self.right)? {
                    if self.rules.needs_vector(open) {
                        return Ok(Next::Vectors);
                    }
                    return Ok(self.close(reason, None));
                }
                if !open.grow(Input::new(embedder, units.unit_text(self.right))?) {
                    self.right += 1;
                    continue;
                }
            }
            let Some(similarity) = open.similarity_of_grown(&self.rules) else { return Ok(Next::Vectors) };
            // Different inputs are never perfectly alike, though rounding may say so.
            if similarity < self.rules.threshold || (self.rules.threshold >= 1.0 && similarity <= 1.0) {
                return Ok(self.close(CutReason::Similarity, Some(similarity)));
            }
            open.accept(similarity);
            self.right += 1;
        }
        Ok(Next::End)
    }

    /// What to embed before the next poll.
    fn requests(&self) -> Vec<&Input> {
        let seen =
            self.open.iter().flat_map(|open| [Some(&open.anchor), open.grown.as_ref().map(|grown| &grown.window)]);
        seen.flatten().filter(|seen| seen.embedding.is_none()).map(|seen| &seen.input).collect()
    }

    /// Takes the embeddings of [`Self::requests`], in order.
    fn answer(&mut self, embeddings: Vec<Embedding>) {
        let seen = self
            .open
            .iter_mut()
            .flat_map(|open| [Some(&mut open.anchor), open.grown.as_mut().map(|grown| &mut grown.window)]);
        let missing = seen.flatten().filter(|seen| seen.embedding.is_none());
        for (seen, embedding) in missing.zip(embeddings) {
            seen.embedding = Some(embedding);
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
            vector: seen.embedding.map(|embedding| embedding.vector),
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

    /// Whether a chunk that closes without a vector must get one: because it was asked for, or because only the
    /// embedder knows whether it saw all of the text.
    fn needs_vector(&self, open: &Open) -> bool {
        let wanted = self.embeddings || self.min_tokens > 0 || open.anchor.input.truncated().is_none();
        wanted && open.window.is_none() && open.anchor.embedding.is_none()
    }
}

impl Open {
    const fn new(anchor: Input) -> Self {
        let anchor = Seen { input: anchor, embedding: None };
        Self { anchor, window: None, similarity: 1.0, similarities: Vec::new(), grown: None }
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
        self.grown = Some(Grown { window: Seen { input, embedding: None }, unit });
        true
    }

    /// Similarity of anchor and grown window; `None` where a vector is missing.
    fn similarity_of_grown(&self, rules: &Rules<'_>) -> Option<f32> {
        let anchor = self.anchor.embedding.as_ref()?;
        let window = self.grown.as_ref()?.window.embedding.as_ref()?;
        Some(rules.similarity.between(&anchor.vector, &window.vector))
    }

    /// Keeps the grown window.
    fn accept(&mut self, similarity: f32) {
        self.similarity = similarity;
        self.similarities.push(Some(similarity));
        self.window = self.grown.take().map(|grown| grown.window);
    }
}

impl Seen {
    /// Whether the model sees nothing of what is joined from now on.
    fn is_full(&self) -> bool {
        self.input.is_full() || self.truncated()
    }

    fn truncated(&self) -> bool {
        self.input.truncated().or(self.embedding.as_ref().map(|embedding| embedding.truncated)).unwrap_or(false)
    }
}

/// The drafts of one text, each made when it is asked for.
pub(in crate::chunker) struct Drafts<'c> {
    steps: Steps<'c>,
}

impl<'c> Drafts<'c> {
    pub(in crate::chunker) const fn new(rules: Rules<'c>) -> Self {
        Self { steps: Steps::new(rules) }
    }

    /// The next draft; `None` at the end of the text.
    pub(in crate::chunker) fn next(&mut self, units: &Units<'_>) -> Result<Option<Draft>, ChunkError> {
        loop {
            match self.steps.poll(units)? {
                Next::Vectors => {
                    let embeddings = embed_inputs(self.steps.rules.embedder, &self.steps.requests())?;
                    self.steps.answer(embeddings);
                }
                Next::Chunk(draft) => return Ok(Some(draft)),
                Next::End => return Ok(None),
            }
        }
    }
}
