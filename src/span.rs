//! A half-open byte range of a source text, and the map from bytes to characters and lines.
//!
//! Every splitter and chunker of this crate returns [`Span`]s into the caller's text, never re-joined
//! strings: `&text[span]` gives the words back, and what lies between two spans can be looked at.

mod char_map;

use std::fmt;
use std::ops::{Index, Range};

pub use char_map::{CharMap, Position, is_line_break};
pub(crate) use char_map::{first_line_break, line_breaks, line_starts};

/// A half-open range of bytes, `start..end`, with `start <= end`.
///
/// A span says nothing of the text it belongs to. Indexing a `str` with one panics, as any range does,
/// when it passes the end of the text or cuts a character; the spans this crate makes for a text never do
/// either.
///
/// ```
/// use horchunk::Span;
///
/// let text = "Old maps lie. New maps lie too.";
/// let span = Span::new(0, 13);
/// assert_eq!(&text[span], "Old maps lie.");
/// assert_eq!(span.len(), 13);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// The span of the bytes `start..end`.
    ///
    /// # Panics
    ///
    /// If `start > end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        assert!(start <= end, "a span cannot end before it starts");
        Self { start, end }
    }

    /// First byte of the span.
    #[must_use]
    pub const fn start(self) -> usize {
        self.start
    }

    /// First byte behind the span.
    #[must_use]
    pub const fn end(self) -> usize {
        self.end
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span holds no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that holds both, and what lies between them.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        let start = if self.start < other.start { self.start } else { other.start };
        let end = if self.end > other.end { self.end } else { other.end };
        Self { start, end }
    }

    /// The same bytes seen from a part of the text that starts at byte `origin`, at or before the span.
    #[must_use]
    pub const fn relative_to(self, origin: usize) -> Self {
        Self { start: self.start - origin, end: self.end - origin }
    }

    /// The same bytes in a text that has `bytes` more in front.
    #[must_use]
    pub const fn moved_by(self, bytes: usize) -> Self {
        Self { start: self.start + bytes, end: self.end + bytes }
    }

    /// The span without the white space at its two ends, by [`char::is_whitespace`]; `None` where nothing is left.
    #[must_use]
    pub fn trimmed(self, text: &str) -> Option<Self> {
        let inside = &text[self];
        let rest = inside.trim_start();
        let start = self.end - rest.len();
        let len = rest.trim_end().len();
        (len > 0).then(|| Self::new(start, start + len))
    }

    /// The span as a standard range.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.range()
    }
}

impl Index<Span> for str {
    type Output = str;

    fn index(&self, span: Span) -> &str {
        &self[span.range()]
    }
}

impl Index<Span> for String {
    type Output = str;

    fn index(&self, span: Span) -> &str {
        &self.as_str()[span]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_keeps_what_is_not_white_space() {
        let text = " \u{a0}a\u{200b}b\u{2003} ";
        let span = Span::new(0, text.len()).trimmed(text).unwrap();
        assert_eq!(&text[span], "a\u{200b}b");
        assert_eq!(Span::new(0, 3).trimmed(text), None);
    }

    #[test]
    fn joining_spans_keeps_the_gap() {
        assert_eq!(Span::new(4, 6).to(Span::new(9, 12)), Span::new(4, 12));
        assert_eq!(Span::new(9, 12).to(Span::new(4, 6)), Span::new(4, 12));
    }

    #[test]
    #[should_panic(expected = "cannot end before it starts")]
    fn a_span_that_ends_before_it_starts_is_refused() {
        let _ = Span::new(2, 1);
    }
}
