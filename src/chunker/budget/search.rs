//! The plain search for the longest piece that fits, wherever that cuts, as in arXiv 2609.29828.

use super::reach::Reach;
use super::{chunk_of, cuts, next_character};
use crate::chunker::places::Places;
use crate::chunker::{Chunk, ChunkError, Chunker, SettingsError};
use crate::span::Span;
use crate::tokens::{FitError, Forced, TokenCounter};

/// Fills a budget to the last character that fits, found by bisection over the characters: about twice as many counts
/// a chunk as the number of its characters has binary digits.
///
/// A chunk may end in the middle of a word. Unlike the original, it always moves on where the text is dense and chunks
/// overlap, and a chunk whose last word is cut is not taken to be shorter than it is: what is returned was counted.
///
/// ```
/// use horchunk::{BudgetSearchChunker, Chunker, Tiktoken};
///
/// let chunker = BudgetSearchChunker::new(Tiktoken::default(), 4)?;
/// let chunks: Vec<String> = chunker.chunk("Low tide was at noon.")?.iter().map(ToString::to_string).collect();
/// assert_eq!(chunks, ["Low tide was at", "noon."]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BudgetSearchChunker<C> {
    counter: C,
    budget: usize,
    overlap: usize,
}

impl<C: TokenCounter> BudgetSearchChunker<C> {
    /// Chunks of at most `budget` tokens of `counter`.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `budget` is 0.
    pub fn new(counter: C, budget: usize) -> Result<Self, SettingsError> {
        if budget == 0 {
            return Err(SettingsError::NoTokens);
        }
        Ok(Self { counter, budget, overlap: 0 })
    }

    /// Repeats at most so many tokens from the end of the chunk before.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OverlapTokens`] unless the overlap is smaller than the budget.
    pub fn with_overlap(mut self, overlap: usize) -> Result<Self, SettingsError> {
        self.overlap = SettingsError::check_overlap(overlap, self.budget)?;
        Ok(self)
    }
}

impl<C: TokenCounter> Chunker for BudgetSearchChunker<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let mut reach = Reach::new(self.budget).exactly().by_halves();
        let cut = |from: usize| -> Result<_, FitError> {
            let end = from + reach.forwards(text, from, &self.counter)?;
            if end == from {
                let end = next_character(text, from);
                let tokens = self.counter.count(&text[Span::new(from, end)])?;
                return Err(FitError::CapTooSmall { byte: from, tokens, max_tokens: self.budget });
            }
            Ok((end, (end < text.len()).then_some(Forced::CodePoint)))
        };
        let places = Places::new(text, Some(&self.counter));
        let cuts = cuts(text, &self.counter, self.overlap, cut)?;
        cuts.into_iter().map(|(span, forced)| chunk_of(&places, text, span, vec![span], forced)).collect()
    }
}
