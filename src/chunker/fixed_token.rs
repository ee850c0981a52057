//! Chunks of a fixed number of tokens, wherever that cuts: the plainest baseline.
//!
//! The text is tokenized once and every chunk has the same number of its tokens (Chroma's `FixedTokenChunker`,
//! LangChain's `TokenTextSplitter`). Where a token ends inside a character, the chunk ends behind the character.
//! Counted again on its own text a chunk can have a token more or less.

use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError, groups};
use crate::span::Span;
use crate::tokens::{TokenCounter, TokenError};

/// Cuts every so many tokens.
///
/// ```
/// use horchunk::{Chunker, FixedTokenChunker, Tiktoken};
///
/// let chunker = FixedTokenChunker::new(Tiktoken::default(), 4)?.with_overlap(1)?;
/// let chunks: Vec<String> = chunker.chunk("Low tide is at noon.")?.iter().map(ToString::to_string).collect();
/// assert_eq!(chunks, ["Low tide is at", " at noon."]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedTokenChunker<C> {
    counter: C,
    size: usize,
    overlap: usize,
}

/// The counter only counts.
#[derive(Debug, thiserror::Error)]
#[error("the token counter {0} cannot say where tokens end; take a tiktoken encoding or a tokenizer.json")]
struct OnlyCounts(String);

impl<C: TokenCounter> FixedTokenChunker<C> {
    /// Chunks of `size` tokens of `counter`, which must tell where tokens end ([`TokenCounter::token_ends`]).
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `size` is 0.
    pub fn new(counter: C, size: usize) -> Result<Self, SettingsError> {
        if size == 0 {
            return Err(SettingsError::NoTokens);
        }
        Ok(Self { counter, size, overlap: 0 })
    }

    /// Repeats so many tokens from the end of the chunk before.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OverlapTokens`] unless the overlap is smaller than the size.
    pub fn with_overlap(mut self, overlap: usize) -> Result<Self, SettingsError> {
        self.overlap = SettingsError::check_overlap(overlap, self.size)?;
        Ok(self)
    }

    fn ends(&self, text: &str) -> Result<Vec<usize>, TokenError> {
        let ends = self.counter.token_ends(text)?;
        ends.ok_or_else(|| TokenError::Encode {
            name: self.counter.name().to_owned(),
            bytes: text.len(),
            source: OnlyCounts(self.counter.name().to_owned()).into(),
        })
    }
}

impl<C: TokenCounter> Chunker for FixedTokenChunker<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let mut ends = self.ends(text)?;
        // Some tokenizers make nothing of characters that are no white space; the text is there all the same.
        if ends.is_empty() && !text.trim().is_empty() {
            ends.push(text.len());
        }
        let edge = |token: usize| match token.checked_sub(1) {
            None => 0,
            Some(last) => (ends[last]..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len()),
        };
        let mut spans: Vec<Span> = Vec::new();
        for start in (0..ends.len()).step_by(self.size - self.overlap) {
            let span = Span::new(edge(start), edge(ends.len().min(start + self.size)));
            // A character of many tokens may hold whole chunks.
            let is_new = spans.last().is_none_or(|before| before.end() < span.end());
            if is_new && span.trimmed(text).is_some() {
                spans.push(span);
            }
            if start + self.size >= ends.len() {
                break;
            }
        }
        let reason = |at| if at + 1 == spans.len() { CutReason::End } else { CutReason::Size };
        let runs = (0..spans.len()).map(|at| (at..at + 1, (reason(at), None)));
        groups::chunks(text, Some(&self.counter), &spans, runs)
    }
}
