//! Chunks as large as a budget of tokens allows, cut at the best place near its end.
//!
//! A chunk grows until not one character more would fit. It then ends at the coarsest border in the last twentieth of
//! the budget (or its last eight tokens): a blank line, a line, a sentence, a word, and where a script has none of these,
//! a grapheme cluster. So no chunk but the last fills less than 95 % of 160 tokens or more unless its text cannot be cut
//! finer, and none is over the budget: what is returned was counted itself.
//!
//! `reach` looks for how much fits, `search` is the plain search of the paper.

mod reach;
mod search;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use unicode_segmentation::UnicodeSegmentation;

use super::places::Places;
use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError};
use crate::sentence::{SentenceSplitter, UnicodeSplitter};
use crate::span::{Span, line_breaks};
use crate::tokens::{FitError, Forced, TokenCounter};

use reach::Reach;
pub use search::BudgetSearchChunker;

/// What a chunk gives up for the other: fill or structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefer {
    /// Chunks are full to 95 % at least, if need be in the middle of a paragraph or sentence.
    #[default]
    Fill,
    /// A paragraph that fits into a chunk is never cut, however much room that leaves.
    Structure,
}

/// Nothing to prefer has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot be preferred: take fill or structure")]
pub struct UnknownPreference(pub String);

impl fmt::Display for Prefer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fill => "fill",
            Self::Structure => "structure",
        })
    }
}

impl FromStr for Prefer {
    type Err = UnknownPreference;

    fn from_str(name: &str) -> Result<Self, UnknownPreference> {
        let all = [Self::Fill, Self::Structure];
        all.into_iter().find(|prefer| prefer.to_string() == name).ok_or_else(|| UnknownPreference(name.to_owned()))
    }
}

/// Fills a budget of tokens, such as what a language model's context leaves for text.
///
/// ```
/// use horchunk::{BudgetChunker, Chunker, Tiktoken};
///
/// let text = "Low tide was at noon. The boats lay dry on the sand. At four the water came back.";
/// let chunks: Vec<String> = BudgetChunker::new(Tiktoken::default(), 14)?.chunk(text)?.iter().map(ToString::to_string).collect();
/// assert_eq!(chunks, ["Low tide was at noon. The boats lay dry on the sand.", "At four the water came back."]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BudgetChunker<C> {
    counter: C,
    budget: usize,
    overlap: usize,
    prefer: Prefer,
}

impl<C: TokenCounter> BudgetChunker<C> {
    /// Chunks of at most `budget` tokens of `counter`.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `budget` is 0.
    pub fn new(counter: C, budget: usize) -> Result<Self, SettingsError> {
        if budget == 0 {
            return Err(SettingsError::NoTokens);
        }
        Ok(Self { counter, budget, overlap: 0, prefer: Prefer::default() })
    }

    /// Repeats at most so many tokens from the end of the chunk before: as many as can be without cutting a character.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OverlapTokens`] unless the overlap is smaller than the budget.
    pub fn with_overlap(mut self, overlap: usize) -> Result<Self, SettingsError> {
        self.overlap = SettingsError::check_overlap(overlap, self.budget)?;
        Ok(self)
    }

    /// What to give up where fill and structure are at odds.
    #[must_use]
    pub const fn with_preference(mut self, prefer: Prefer) -> Self {
        self.prefer = prefer;
        self
    }

    /// Fewest tokens of a chunk that ends at a border. In a small budget a twentieth is less than a word.
    fn floor(&self) -> usize {
        self.budget - self.slack()
    }

    fn slack(&self) -> usize {
        const WORD: usize = 8;
        (self.budget / 20).max(WORD.min(self.budget / 2))
    }

    /// Where the chunk ends that starts at `from`, and how finely its text had to be cut there.
    fn cut(&self, text: &str, from: usize, borders: &[Border], reach: &mut Reach) -> Result<Cut, FitError> {
        let full = self.whole_word(text, from, from + reach.forwards(text, from, &self.counter)?)?;
        if full == text.len() {
            return Ok((full, None));
        }
        if full == from {
            let end = next_character(text, from);
            let tokens = self.counter.count(&text[Span::new(from, end)])?;
            return Err(FitError::CapTooSmall { byte: from, tokens, max_tokens: self.budget });
        }
        let open = borders.partition_point(|border| border.end <= from);
        let until = borders.partition_point(|border| border.end <= full);
        for level in [Level::BlankLine, Level::Line, Level::Sentence] {
            let floor = if self.prefer == Prefer::Structure && level < Level::Sentence { 1 } else { self.floor() };
            let ends = borders[open..until].iter().rev().filter(|border| border.behind == level);
            if let Some(end) = self.first_that_fits(text, from, ends.map(|border| border.end), floor)? {
                return Ok((end, None));
            }
        }
        // Twice what the slack is on average: tokens are not spread evenly.
        let tail = 2 * (full - from) * self.slack() / self.budget;
        let words = word_ends(text, from, full, full - tail.min(full - from));
        if let Some(end) = self.first_that_fits(text, from, words.into_iter().rev(), self.floor())? {
            return Ok((end, Some(Forced::Word)));
        }
        // A cluster may reach out of what fits.
        let around = Span::new(from, borders.get(until).map_or(text.len(), |border| border.end).max(full));
        let clusters = text[around].grapheme_indices(true).map(|(at, cluster)| from + at + cluster.len());
        let inside: Vec<usize> = clusters.take_while(|&end| end <= full).collect();
        if let Some(end) = self.first_that_fits(text, from, inside.into_iter().rev(), 1)? {
            return Ok((end, Some(Forced::Grapheme)));
        }
        Ok((full, Some(Forced::CodePoint)))
    }

    /// The end of the word that `full` cuts, if that fits: a whole word can have fewer tokens than its start.
    fn whole_word(&self, text: &str, from: usize, full: usize) -> Result<usize, FitError> {
        const LONGEST: usize = 64;
        let rest = text[Span::new(full, text.len())].char_indices().take(LONGEST);
        let mut ends = rest.skip_while(|(_, c)| !c.is_whitespace()).map(|(at, _)| full + at);
        match ends.next() {
            Some(end) if end > full && self.counter.count(&text[Span::new(from, end)])? <= self.budget => Ok(end),
            _ => Ok(full),
        }
    }

    /// The first of some `ends`, which come from the last on, where a chunk from `from` keeps the budget, unless it
    /// holds less than `floor`. Of two prefixes the longer one may have fewer tokens, but hardly ever.
    fn first_that_fits(
        &self,
        text: &str,
        from: usize,
        ends: impl Iterator<Item = usize>,
        floor: usize,
    ) -> Result<Option<usize>, FitError> {
        const TRIES: usize = 4;
        for end in ends.take(TRIES) {
            let tokens = self.counter.count(text[Span::new(from, end)].trim_end())?;
            if tokens <= self.budget {
                return Ok((tokens >= floor).then_some(end));
            }
        }
        Ok(None)
    }
}

/// Where a chunk ends, and how its text was cut there.
type Cut = (usize, Option<Forced>);

impl<C: TokenCounter> Chunker for BudgetChunker<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let sentences = UnicodeSplitter::default().split(text)?;
        let borders = borders(text, &sentences);
        let mut reach = Reach::new(self.budget);
        let cuts = cuts(text, &self.counter, self.overlap, |from| self.cut(text, from, &borders, &mut reach))?;
        let places = Places::new(text, Some(&self.counter));
        let mut first = 0;
        let mut chunks = Vec::with_capacity(cuts.len());
        for (span, forced) in cuts {
            first += sentences[first..].partition_point(|sentence| sentence.end() <= span.start());
            let last = first + sentences[first..].partition_point(|sentence| sentence.start() < span.end());
            let inside = sentences[first..last]
                .iter()
                .map(|sentence| Span::new(sentence.start().max(span.start()), sentence.end().min(span.end())));
            chunks.push(chunk_of(&places, text, span, inside.collect(), forced)?);
        }
        Ok(chunks)
    }
}

/// The chunk at `span`, which ends because the budget is used up or the text is.
fn chunk_of<'t>(
    places: &Places<'_, 't>,
    text: &'t str,
    span: Span,
    sentences: Vec<Span>,
    forced: Option<Forced>,
) -> Result<Chunk<'t>, ChunkError> {
    let rest = Span::new(span.end(), text.len());
    let reason = if rest.trimmed(text).is_some() { CutReason::MaxTokens } else { CutReason::End };
    Ok(Chunk { forced, ..places.chunk(span, sentences, reason)? })
}

/// The chunks of a text from `cut`, which says where one ends that starts at a byte; each repeats up to `overlap`
/// tokens of the one before. Every chunk reaches further than the one before it.
fn cuts<C: TokenCounter>(
    text: &str,
    counter: &C,
    overlap: usize,
    mut cut: impl FnMut(usize) -> Result<Cut, FitError>,
) -> Result<Vec<(Span, Option<Forced>)>, FitError> {
    let mut cuts: Vec<(Span, Option<Forced>)> = Vec::new();
    let mut left = None;
    let mut backwards = Reach::new(overlap).exactly();
    let mut rest = Span::new(0, text.len()).trimmed(text);
    while let Some(open) = rest {
        let mut start = open.start();
        let before = cuts.last().map(|(span, _)| *span).filter(|_| overlap > 0);
        if let Some(before) = before {
            let repeated = backwards.backwards(text, before, counter)?;
            let again = Span::new(before.end() - repeated, before.end()).trimmed(text);
            start = again.map_or(start, Span::start);
        }
        let (mut end, mut forced) = cut(start)?;
        if start < open.start() && end <= open.start() {
            // What is repeated leaves no room for anything new.
            start = open.start();
            (end, forced) = cut(start)?;
        }
        if let Some(span) = Span::new(start, end).trimmed(text) {
            // A cut shows on both sides of it.
            cuts.push((span, forced.max(left)));
            left = forced;
        }
        rest = Span::new(end, text.len()).trimmed(text);
    }
    Ok(cuts)
}

/// What lies behind a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    BlankLine,
    Line,
    Sentence,
}

/// The end of a sentence.
#[derive(Clone, Copy, Debug)]
struct Border {
    end: usize,
    behind: Level,
}

fn borders(text: &str, sentences: &[Span]) -> Vec<Border> {
    let starts = sentences.iter().skip(1).map(|next| next.start()).chain([text.len()]);
    let border = |(sentence, next): (&Span, usize)| {
        let gap = &text[Span::new(sentence.end(), next)];
        let behind = match line_breaks(gap) {
            0 => Level::Sentence,
            1 => Level::Line,
            _ => Level::BlankLine,
        };
        Border { end: sentence.end(), behind }
    };
    sentences.iter().zip(starts).map(border).collect()
}

/// Where words end between `start`, or a little behind it, and `full`. In front of white space where there is any there,
/// otherwise by the rules of Unicode (UAX #29), which know words in scripts without spaces as far as that goes.
fn word_ends(text: &str, from: usize, full: usize, start: usize) -> Vec<usize> {
    let start = (start..full).find(|&at| text.is_char_boundary(at)).unwrap_or(from);
    let part = &text[Span::new(start, full)];
    let behind = text[Span::new(full, text.len())].chars().next();
    let mut ends: Vec<usize> = Vec::new();
    let mut before = ' ';
    for (at, c) in part.char_indices().chain(behind.map(|c| (part.len(), c))) {
        if c.is_whitespace() && !before.is_whitespace() && at > 0 {
            ends.push(start + at);
        }
        before = c;
    }
    if ends.is_empty() {
        // The last piece may be the start of a word only.
        let whole = Span::new(from, next_character(text, full));
        let pieces = text[whole].split_word_bound_indices().map(|(at, piece)| from + at + piece.len());
        ends = pieces.filter(|&end| end > start && end <= full).collect();
    }
    ends
}

fn next_character(text: &str, at: usize) -> usize {
    text[Span::new(at, text.len())].chars().next().map_or(at, |c| at + c.len_utf8())
}
