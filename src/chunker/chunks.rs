//! The last step: from drafts to chunks with their words, places and counts.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use super::min_tokens::Joined;
use super::overlap::overlap;
use super::places::Places;
use super::units::{Unit, Units};
use super::white_space::{self, Grown};
use super::window::{Draft, Lanes, Rules};
use super::{Chunk, ChunkError, CutReason};
use crate::span::{Position, Span};

/// The chunks of one text, each made when it is asked for; see [`WindowChunker::chunks`](super::WindowChunker::chunks).
pub struct Chunks<'c, 't> {
    rules: Rules<'c>,
    units: Units<'t>,
    places: Places<'c, 't>,
    drafts: Joined<'c>,
    ready: VecDeque<Chunk<'t>>,
    /// Nothing is to come but what is ready.
    done: bool,
}

impl<'c, 't> Chunks<'c, 't> {
    pub(super) fn new(rules: Rules<'c>, units: Units<'t>) -> Self {
        let places = Places::new(units.text, rules.counter);
        Self { rules, units, places, drafts: Joined::new(rules), ready: VecDeque::new(), done: false }
    }

    /// Number of sentences of the text, pieces of a sentence that was split by force counted each.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.units.len()
    }

    /// Inputs embedded so far to find where chunks end, and those of them that were embedded in vain: an embedder that
    /// is faster with many ([`Embedder::tokens_at_once`](crate::Embedder::tokens_at_once)) is also asked for windows
    /// that will probably be needed.
    #[must_use]
    pub const fn embedded(&self) -> (usize, usize) {
        let lanes = self.drafts.lanes();
        (lanes.asked(), lanes.discarded())
    }

    /// What the drafts come from, and the units they are made of.
    pub(super) fn lanes(&mut self) -> (&mut Lanes<'c>, &Units<'t>) {
        (self.drafts.lanes_mut(), &self.units)
    }

    /// Where `byte` of the text lies.
    pub(super) fn position(&self, byte: usize) -> Position {
        self.places.position(byte)
    }

    /// The units of the text.
    pub(super) fn units(&self) -> &[Unit] {
        self.units.units(0..self.units.len())
    }

    /// Makes the next chunks ready.
    fn advance(&mut self) -> Result<(), ChunkError> {
        if self.units.len() == 0 {
            self.done = true;
            return if self.rules.keep_white_space { self.only_white_space() } else { Ok(()) };
        }
        if let Some(draft) = self.drafts.next(&self.units)? {
            self.finish(draft)
        } else {
            self.done = true;
            Ok(())
        }
    }

    fn finish(&mut self, draft: Draft) -> Result<(), ChunkError> {
        let overlap_sentences = overlap(&self.rules, &self.units, &draft.units)?;
        let range = draft.units.start - overlap_sentences..draft.units.end;
        let mut grown = Grown::none(self.units.span(range.clone()));
        if self.rules.keep_white_space {
            let whole = self.units.span_with_white_space(range.clone());
            grown = white_space::grow(&self.rules, self.units.text, grown.own, whole)?;
        }
        for span in grown.before {
            self.push_white_space(span, CutReason::MaxTokens)?;
        }
        let (reason, similarity) = (draft.reason, draft.similarity);
        let chunk = self.chunk(grown.own, range, draft, overlap_sentences)?;
        self.ready.push_back(chunk);
        // What ended the chunk ends the white space behind it; between them lies the cap.
        for span in grown.behind {
            if let Some(before) = self.ready.back_mut() {
                (before.reason, before.similarity) = (CutReason::MaxTokens, None);
            }
            self.push_white_space(span, reason)?;
            if let Some(last) = self.ready.back_mut() {
                last.similarity = similarity;
            }
        }
        Ok(())
    }

    fn chunk(
        &self,
        span: Span,
        range: Range<usize>,
        draft: Draft,
        overlap_sentences: usize,
    ) -> Result<Chunk<'t>, ChunkError> {
        let units = self.units.units(range);
        Ok(Chunk {
            overlap_sentences,
            similarity: draft.similarity,
            similarities: draft.similarities,
            forced: units.iter().filter_map(|unit| unit.forced).max(),
            truncated: draft.truncated,
            blind: draft.blind,
            embedding: draft.vector.filter(|_| self.rules.embeddings),
            ..self.places.chunk(span, units.iter().map(|unit| unit.span).collect(), draft.reason)?
        })
    }

    /// A text of white space only.
    fn only_white_space(&mut self) -> Result<(), ChunkError> {
        let spans = white_space::pieces(&self.rules, self.units.text, Span::new(0, self.units.text.len()))?;
        let last = spans.len().saturating_sub(1);
        for (index, span) in spans.into_iter().enumerate() {
            self.push_white_space(span, if index == last { CutReason::End } else { CutReason::MaxTokens })?;
        }
        Ok(())
    }

    fn push_white_space(&mut self, span: Span, reason: CutReason) -> Result<(), ChunkError> {
        let chunk = self.places.chunk(span, Vec::new(), reason)?;
        self.ready.push_back(chunk);
        Ok(())
    }
}

impl<'t> Iterator for Chunks<'_, 't> {
    type Item = Result<Chunk<'t>, ChunkError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.done {
            if let Err(error) = self.advance() {
                self.done = true;
                self.ready.clear();
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

impl fmt::Debug for Chunks<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("sentences", &self.sentences()).field("done", &self.done).finish_non_exhaustive()
    }
}
