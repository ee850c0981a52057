//! What the window loop moves: sentences, or pieces of those that pass the token cap, each knowing whether a
//! border lies in front of it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::ChunkError;
use crate::sentence::SentenceSplitter;
use crate::span::{Span, line_breaks};
use crate::tokens::{FitError, Forced, Piece, TokenCounter, pieces};

/// Where a chunk always ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Borders {
    /// Nowhere: meaning and limits alone decide.
    #[default]
    None,
    /// Where a line break lies between two sentences.
    Paragraph,
    /// Where a blank line lies between two sentences; for text whose lines are wrapped.
    BlankLine,
}

impl Borders {
    /// Whether the white space `gap` between two sentences is a border.
    fn lie_in(self, gap: &str) -> bool {
        match self {
            Self::None => false,
            Self::Paragraph => line_breaks(gap) > 0,
            Self::BlankLine => line_breaks(gap) > 1,
        }
    }
}

impl fmt::Display for Borders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Paragraph => "paragraph",
            Self::BlankLine => "blank-line",
        })
    }
}

/// No kind of border has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown borders {0:?}: take none, paragraph or blank-line")]
pub struct UnknownBorders(pub String);

impl FromStr for Borders {
    type Err = UnknownBorders;

    fn from_str(name: &str) -> Result<Self, UnknownBorders> {
        let all = [Self::None, Self::Paragraph, Self::BlankLine];
        all.into_iter().find(|borders| borders.to_string() == name).ok_or_else(|| UnknownBorders(name.to_owned()))
    }
}

/// A sentence, or a piece of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) span: Span,
    /// How the sentence was split, where the unit is only a piece of it.
    pub(super) forced: Option<Forced>,
    /// Whether a chunk must end in front of the unit.
    pub(super) border: bool,
}

/// The most tokens a unit may have, and who counts them.
pub(super) struct Cap<'c> {
    pub(super) counter: &'c dyn TokenCounter,
    pub(super) max_tokens: usize,
    /// Leave room for the white space behind a unit, which will be part of its chunk.
    pub(super) with_white_space: bool,
}

impl Cap<'_> {
    /// The sentence at `span` in pieces that keep the cap.
    fn pieces(&self, text: &str, span: Span) -> Result<Vec<Piece>, FitError> {
        // One token less leaves room for the space behind a piece; only a cap that is too small for that goes without.
        if self.with_white_space
            && self.max_tokens > 1
            && let Ok(found) = pieces(text, span, self.counter, self.max_tokens - 1)
        {
            return Ok(found);
        }
        pieces(text, span, self.counter, self.max_tokens)
    }
}

/// A text and its units.
#[derive(Debug)]
pub(super) struct Units<'t> {
    pub(super) text: &'t str,
    all: Vec<Unit>,
    /// Chunks own the white space behind them (and the first one that in front of it).
    with_white_space: bool,
}

impl<'t> Units<'t> {
    pub(super) fn new(
        text: &'t str,
        splitter: &dyn SentenceSplitter,
        borders: Borders,
        cap: Option<&Cap<'_>>,
        with_white_space: bool,
    ) -> Result<Self, ChunkError> {
        Self::resumed(text, Vec::new(), 0, splitter, borders, cap, with_white_space)
    }

    /// The units of a text of which those before byte `from` are known, where the splitter says it can be divided.
    pub(super) fn resumed(
        text: &'t str,
        known: Vec<Unit>,
        from: usize,
        splitter: &dyn SentenceSplitter,
        borders: Borders,
        cap: Option<&Cap<'_>>,
        with_white_space: bool,
    ) -> Result<Self, ChunkError> {
        let mut units = known;
        let mut behind = units.last().map(|unit| unit.span.end());
        for span in splitter.split(&text[from..])? {
            let span = span.moved_by(from);
            let border = behind.is_some_and(|end| borders.lie_in(&text[Span::new(end, span.start())]));
            behind = Some(span.end());
            match cap {
                None => units.push(Unit { span, forced: None, border }),
                Some(cap) => {
                    let pieces = cap.pieces(text, span)?.into_iter();
                    units.extend(pieces.map(|piece| Unit {
                        span: piece.span,
                        forced: piece.forced,
                        border: border && piece.span.start() == span.start(),
                    }));
                }
            }
        }
        Ok(Self { text, all: units, with_white_space })
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn units(&self, range: Range<usize>) -> &[Unit] {
        &self.all[range]
    }

    pub(super) fn unit_text(&self, index: usize) -> &'t str {
        &self.text[self.all[index].span]
    }

    /// Whether a chunk must end in front of a unit.
    pub(super) fn border_before(&self, index: usize) -> bool {
        self.all[index].border
    }

    /// The white space between a unit that is not the first and the one before it.
    pub(super) fn gap_before(&self, index: usize) -> &'t str {
        &self.text[Span::new(self.all[index - 1].span.end(), self.all[index].span.start())]
    }

    /// From the first unit of a range (not empty) to its last, white space around them left out.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        self.all[range.start].span.to(self.all[range.end - 1].span)
    }

    /// The words that a chunk of these units will have.
    pub(super) fn chunk_text(&self, range: Range<usize>) -> &'t str {
        &self.text[if self.with_white_space { self.span_with_white_space(range) } else { self.span(range) }]
    }

    /// The span with the white space behind it and, at the start of the text, that in front of it.
    pub(super) fn span_with_white_space(&self, range: Range<usize>) -> Span {
        let start = if range.start == 0 { 0 } else { self.all[range.start].span.start() };
        let end = self.all.get(range.end).map_or(self.text.len(), |next| next.span.start());
        Span::new(start, end)
    }
}
