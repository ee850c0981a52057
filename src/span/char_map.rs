//! From byte offsets to character offsets and line numbers, in one pass over the text.
//!
//! A line ends at CRLF, LF, CR, NEL (U+0085), U+2028 or U+2029; CRLF is one break. Lines count from 1,
//! characters (Unicode scalar values, as Python counts them) from 0.

use std::ops::Range;

use memchr::{memchr_iter, memchr3_iter};

use super::Span;

/// Where a byte lies, counted in characters and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Characters before the byte.
    pub chars: usize,
    /// Line of the byte, from 1.
    pub line: usize,
}

/// How many bytes lie between two remembered positions: small enough that a look-up is a short walk,
/// large enough that the map is a hundredth of the text.
const STRIDE: usize = 1024;

impl Position {
    /// The position in a whole text of what lies here in the part that begins at `origin`.
    pub(crate) const fn moved_by(self, origin: Self) -> Self {
        Self { chars: origin.chars + self.chars, line: origin.line + self.line - 1 }
    }
}

/// Answers where bytes of one text lie, in any order, in constant time.
///
/// ```
/// use horchunk::CharMap;
///
/// let map = CharMap::new("né\r\nzwei");
/// assert_eq!(map.position(3).chars, 2);
/// assert_eq!(map.position(5).line, 2);
/// ```
#[derive(Clone, Debug)]
pub struct CharMap<'t> {
    text: &'t str,
    /// Position of the first character boundary at or behind each multiple of `STRIDE`, with its byte.
    marks: Vec<(usize, Position)>,
}

impl<'t> CharMap<'t> {
    /// Maps `text` in one pass.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let mut marks = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut at = Position { chars: 0, line: 1 };
        let mut start = 0;
        loop {
            marks.push((start, at));
            let next = text.ceil_char_boundary((start / STRIDE + 1) * STRIDE);
            if next >= text.len() {
                return Self { text, marks };
            }
            at = behind(at, text, start..next);
            start = next;
        }
    }

    /// Where `byte` lies; a byte behind the text lies where the text ends, one inside a character where that
    /// character starts.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        let mark = self.marks.partition_point(|&(start, _)| start <= byte).saturating_sub(1);
        let (start, at) = self.marks[mark];
        let mut at = behind(at, self.text, start..byte);
        // Between the CR and the LF of one break the line has not ended yet.
        let head = &self.text.as_bytes()[..byte];
        if head.ends_with(b"\r") && self.text.as_bytes()[byte..].starts_with(b"\n") {
            at.line -= 1;
        }
        at
    }

    /// Where a span starts and where it ends: the characters before its first byte and before the first byte
    /// behind it, the lines of its first and of its last character.
    #[must_use]
    pub fn ends(&self, span: Span) -> (Position, Position) {
        let inside = self.text.get(span.range()).unwrap_or_default();
        let last = span.end() - inside.chars().next_back().map_or(0, char::len_utf8);
        let end = Position { chars: self.position(span.end()).chars, line: self.position(last).line };
        (self.position(span.start()), end)
    }
}

/// Whether `c` ends a line: LF, CR, NEL, U+2028 or U+2029. The LF of a CRLF does so together with its CR.
#[must_use]
pub const fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// How many line breaks `text` holds; CRLF is one.
pub(crate) fn line_breaks(text: &str) -> usize {
    text.chars().filter(|&c| is_line_break(c)).count() - text.matches("\r\n").count()
}

/// The first line break of `text`, sought by the bytes that one can begin with.
pub(crate) fn first_line_break(text: &str) -> Option<(usize, char)> {
    let mut at = 0;
    loop {
        at += text.as_bytes().get(at..)?.iter().position(|byte| matches!(byte, b'\n' | b'\r' | 0xc2 | 0xe2))?;
        let c = text.split_at(at).1.chars().next()?;
        if is_line_break(c) {
            return Some((at, c));
        }
        at += c.len_utf8();
    }
}

/// The byte behind every line break of `text`.
pub(crate) fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (len, c) = first_line_break(&text[at..])?;
        let end = at + len;
        at = end + if text[end..].starts_with("\r\n") { 2 } else { c.len_utf8() };
        Some(at)
    })
}

/// The position behind `part` of the text, which begins at `at` and ends on a character boundary.
fn behind(at: Position, text: &str, part: Range<usize>) -> Position {
    let bytes = &text.as_bytes()[part.clone()];
    let behind_cr = |at: usize| at.checked_sub(1).is_some_and(|before| text.as_bytes()[before] == b'\r');
    let mut lines = memchr_iter(b'\n', bytes).count();
    // Other breaks are rare, and so are the bytes that they begin with. A CR in front of an LF took its place already.
    lines -= usize::from(bytes.starts_with(b"\n") && behind_cr(part.start));
    for at in memchr3_iter(b'\r', 0xc2, 0xe2, bytes) {
        let ends_line = match bytes[at] {
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            0xc2 => bytes[at + 1] == 0x85,
            _ => matches!(bytes[at + 1..], [0x80, 0xa8 | 0xa9, ..]),
        };
        lines += usize::from(ends_line);
    }
    Position { chars: at.chars + text[part].chars().count(), line: at.line + lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plain version: counts from the start every time.
    fn counted(text: &str, byte: usize) -> Position {
        let head = &text[..byte];
        let breaks = head.chars().filter(|&c| is_line_break(c)).count() - head.matches("\r\n").count();
        let inside = head.ends_with('\r') && text[byte..].starts_with('\n');
        Position { chars: head.chars().count(), line: 1 + breaks - usize::from(inside) }
    }

    proptest! {
        #[test]
        fn every_boundary_agrees_with_plain_counting(text in "([a-zé漢🙂 ]{0,40}(\r\n|\n|\r|\u{85}|\u{2028}|\n\r)){0,80}") {
            let map = CharMap::new(&text);
            for (byte, _) in text.char_indices() {
                prop_assert_eq!(map.position(byte), counted(&text, byte));
            }
            prop_assert_eq!(map.position(text.len()), counted(&text, text.len()));
        }
    }

    #[test]
    fn an_empty_text_has_one_line() {
        assert_eq!(CharMap::new("").position(7), Position { chars: 0, line: 1 });
    }
}
