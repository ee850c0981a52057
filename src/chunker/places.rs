//! From a span to a chunk that knows its words, its place and its count.

use super::{Chunk, ChunkError, CutReason};
use crate::span::{CharMap, Position, Span};
use crate::tokens::TokenCounter;

/// A text that chunks are made of.
pub(super) struct Places<'c, 't> {
    text: &'t str,
    map: CharMap<'t>,
    counter: Option<&'c dyn TokenCounter>,
}

impl<'c, 't> Places<'c, 't> {
    pub(super) fn new(text: &'t str, counter: Option<&'c dyn TokenCounter>) -> Self {
        Self { text, map: CharMap::new(text), counter }
    }

    /// Where `byte` lies.
    pub(super) fn position(&self, byte: usize) -> Position {
        self.map.position(byte)
    }

    /// The chunk at `span`; what no counter and no place can tell is empty.
    pub(super) fn chunk(&self, span: Span, sentences: Vec<Span>, reason: CutReason) -> Result<Chunk<'t>, ChunkError> {
        let text = &self.text[span];
        let (start, end) = self.map.ends(span);
        Ok(Chunk {
            text,
            span,
            start,
            end,
            sentences,
            overlap_sentences: 0,
            tokens: self.counter.map(|counter| counter.count(text)).transpose()?,
            reason,
            similarity: None,
            similarities: Vec::new(),
            forced: None,
            truncated: false,
            blind: false,
            embedding: None,
        })
    }
}
