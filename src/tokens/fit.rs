//! Cuts a span of text into pieces that fit a number of tokens, each as long as can be.
//!
//! Pieces end at words; a word that does not fit is cut at grapheme clusters, a cluster that does not fit
//! at code points. Nothing is known of a counter but its counts: those of prefixes need not grow with the
//! prefix, and one count may cost as much as the text is long. So a piece is searched inside a window of a
//! few times its length, and what is returned was itself counted.

use std::fmt;

use unicode_segmentation::UnicodeSegmentation;

use super::{TokenCounter, TokenError};
use crate::span::Span;

/// What a border that token counts forced goes between, from the natural one to the last resort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Forced {
    /// Words, which white space separates.
    Word,
    /// Grapheme clusters of one word.
    Grapheme,
    /// Code points of one grapheme cluster.
    CodePoint,
}

impl Forced {
    /// The level as records spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Grapheme => "grapheme",
            Self::CodePoint => "code_point",
        }
    }
}

impl fmt::Display for Forced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A part of a span that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it lies; trimmed.
    pub(crate) span: Span,
    /// The finest border it has, `None` where the whole span fits.
    pub(crate) forced: Option<Forced>,
}

/// Why a text could not be cut into pieces that fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The token counter failed.
    #[error("the tokens of a piece could not be counted")]
    Tokens(#[from] TokenError),
    /// A single character has more tokens than a piece may have.
    #[error("the character at byte {byte} has {tokens} tokens, more than the {max_tokens} allowed; allow {tokens}")]
    CapTooSmall {
        /// Where the character starts.
        byte: usize,
        /// Its tokens.
        tokens: usize,
        /// The tokens allowed.
        max_tokens: usize,
    },
}

/// Cuts `span` into pieces of at most `max_tokens` tokens: trimmed, in order, only white space between
/// them, none for a span of white space. Each ends where one more word, cluster or code point would not fit.
pub(crate) fn pieces<C: TokenCounter + ?Sized>(
    text: &str,
    span: Span,
    counter: &C,
    max_tokens: usize,
) -> Result<Vec<Piece>, FitError> {
    let mut pieces = Vec::new();
    let Some(span) = span.trimmed(text) else { return Ok(pieces) };
    let mut search = Search::new(text, span, counter, max_tokens);
    if search.fits(span.start(), span.end())? {
        return Ok(vec![Piece { span, forced: None }]);
    }
    let mut rest = Some(span);
    let mut left = None;
    while let Some(from) = rest.map(Span::start) {
        let (cut, level) = search.cut(from)?;
        let right = (cut < span.end()).then_some(level);
        pieces.push(Piece { span: Span::new(from, cut), forced: left.max(right) });
        left = right;
        rest = Span::new(cut, span.end()).trimmed(text);
    }
    Ok(pieces)
}

/// The way through one span.
struct Search<'a, C: ?Sized> {
    text: &'a str,
    counter: &'a C,
    max_tokens: usize,
    /// Ends of the span, of the word and of the cluster being cut: units known not to fit. One that lies
    /// behind the way already gone says nothing.
    ends: [usize; 3],
    /// Bytes to look at first.
    stride: usize,
}

/// The levels, by their index in [`Search::ends`].
const LEVELS: [Forced; 3] = [Forced::Word, Forced::Grapheme, Forced::CodePoint];

/// What the window before a cut holds.
struct Window {
    end: usize,
    tokens: usize,
}

impl<'a, C: TokenCounter + ?Sized> Search<'a, C> {
    fn new(text: &'a str, span: Span, counter: &'a C, max_tokens: usize) -> Self {
        let ends = [span.end(), span.start(), span.start()];
        let mut search = Self { text, counter, max_tokens, ends, stride: 0 };
        search.stride = search.plenty().saturating_mul(4);
        search
    }

    /// More tokens than any text has of which some continuation fits, as far as counters in use go: an
    /// unfinished word may have several tokens where the finished one has a single one.
    fn plenty(&self) -> usize {
        self.max_tokens.saturating_mul(2).saturating_add(16)
    }

    fn count(&self, from: usize, to: usize) -> Result<usize, TokenError> {
        self.counter.count(self.part(from, to))
    }

    fn part(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).expect("units end between characters")
    }

    /// The first end of a character at `byte` or behind it.
    fn character_end(&self, byte: usize) -> usize {
        (byte..self.text.len()).find(|&end| self.text.is_char_boundary(end)).unwrap_or(self.text.len())
    }

    /// The start of `from..end` that has plenty of tokens, or all of it; at least `len` bytes are looked at.
    fn window(&mut self, from: usize, end: usize, mut len: usize) -> Result<Window, TokenError> {
        loop {
            let to = if len >= end - from { end } else { self.character_end(from + len) };
            let tokens = self.count(from, to)?;
            if to == end {
                return Ok(Window { end: to, tokens });
            }
            if tokens > self.plenty() {
                // The next window should be as rich, and a little more to make one count enough.
                self.stride = ((to - from).saturating_mul(self.plenty()) / tokens).saturating_mul(9) / 8 + 8;
                return Ok(Window { end: to, tokens });
            }
            len = len.saturating_mul(2);
        }
    }

    /// Whether all of `from..end` fits.
    fn fits(&mut self, from: usize, end: usize) -> Result<bool, TokenError> {
        // WordPiece gives up on words of more than a hundred characters: one token, however many the start has.
        const LONGEST_WORD: usize = 1024;
        let window = self.window(from, end, self.stride.max(LONGEST_WORD))?;
        Ok(window.end == end && window.tokens <= self.max_tokens)
    }

    /// Where the piece that starts at `from` ends, and what is behind it.
    fn cut(&mut self, from: usize) -> Result<(usize, Forced), FitError> {
        let (mut level, mut cut) = self.first_unit(from)?;
        loop {
            cut = self.longest(level, from, cut)?;
            if cut < self.ends[level] || level == 0 {
                return Ok((cut, LEVELS[level]));
            }
            // The rest of a word that was cut fits: what follows the word may fit as well.
            level -= 1;
        }
    }

    /// The largest unit at `from` that fits: its level and its end.
    fn first_unit(&mut self, from: usize) -> Result<(usize, usize), FitError> {
        for level in 0..LEVELS.len() {
            let known = self.ends.get(level + 1).filter(|&&end| end > from);
            if known.is_some() {
                continue;
            }
            let end = self.edges(level, from, self.ends[level]).next().unwrap_or(self.ends[level]);
            if self.fits(from, end)? {
                return Ok((level, end));
            }
            if let Some(broken) = self.ends.get_mut(level + 1) {
                *broken = end;
            }
        }
        let end = self.character_end(from + 1);
        let (tokens, max_tokens) = (self.count(from, end)?, self.max_tokens);
        Err(FitError::CapTooSmall { byte: from, tokens, max_tokens })
    }

    /// The end of the longest piece of whole units that starts at `from`; up to `fit` it is known to fit.
    fn longest(&mut self, level: usize, from: usize, mut fit: usize) -> Result<usize, TokenError> {
        loop {
            let window = self.window(from, self.ends[level], self.stride.max(2 * (fit - from)))?;
            if window.tokens <= self.max_tokens {
                return Ok(window.end);
            }
            let inside = self.edges(level, from, window.end).take_while(|&edge| edge < window.end);
            let edges: Vec<usize> = inside.collect();
            fit = self.last_fitting(from, fit, &edges, &window)?;
            if edges.last().is_some_and(|&last| fit < last) {
                return Ok(fit);
            }
            // Even the last edge in the window fits, so the unit that reaches out of it may be a short one.
            match self.edges(level, fit, self.ends[level]).next() {
                Some(next) if self.fits(from, next)? => fit = next,
                _ => return Ok(fit),
            }
        }
    }

    /// The last of `edges` where a piece from `from` may end; `fit` is known to be such a place, the end of
    /// the window is none.
    ///
    /// In text of even density the place is where interpolation says; bisection is for the rest.
    fn last_fitting(&self, from: usize, mut fit: usize, edges: &[usize], window: &Window) -> Result<usize, TokenError> {
        const GUESSES: usize = 6;
        let (mut low, mut high) = ((from, 0), (window.end, window.tokens));
        let mut open = edges.partition_point(|&edge| edge <= fit)..edges.len();
        for step in 0.. {
            if open.is_empty() {
                break;
            }
            let mut middle = open.start + open.len() / 2;
            if step < GUESSES {
                let room = (high.0 - low.0).saturating_mul(self.max_tokens - low.1) / (high.1 - low.1);
                let guess = low.0 + room;
                middle = edges.partition_point(|&edge| edge <= guess).clamp(open.start, open.end - 1);
            }
            let edge = edges[middle];
            let tokens = self.count(from, edge)?;
            if tokens <= self.max_tokens {
                (fit, low) = (edge, (edge, tokens));
                open.start = middle + 1;
            } else {
                high = (edge, tokens);
                open.end = middle;
            }
        }
        Ok(fit)
    }

    /// Where the units in `from..end` end, the last at `end`, whether it ends there or is cut off.
    fn edges(&self, level: usize, from: usize, end: usize) -> Box<dyn Iterator<Item = usize> + 'a> {
        let rest = self.part(from, end);
        match LEVELS[level] {
            Forced::Word => {
                let mut before = ' ';
                let ends = rest.char_indices().filter_map(move |(offset, c)| {
                    let ends_word = c.is_whitespace() && !before.is_whitespace();
                    before = c;
                    ends_word.then_some(from + offset)
                });
                Box::new(ends.chain([end]))
            }
            Forced::Grapheme => {
                Box::new(rest.grapheme_indices(true).map(move |(at, cluster)| from + at + cluster.len()))
            }
            Forced::CodePoint => Box::new(rest.char_indices().map(move |(at, c)| from + at + c.len_utf8())),
        }
    }
}

#[cfg(test)]
mod tests;
