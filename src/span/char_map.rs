//! From byte offsets to character offsets and line numbers, in one pass over the text.
//!
//! A line ends at CRLF, LF, CR, NEL (U+0085), U+2028 or U+2029; CRLF is one break. Lines count from 1,
//! characters (Unicode scalar values, as Python counts them) from 0.

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
        let mut next = 0;
        let mut before = '\0';
        for (byte, c) in text.char_indices() {
            if byte >= next {
                marks.push((byte, at));
                next = (byte / STRIDE + 1) * STRIDE;
            }
            at = step(at, before, c);
            before = c;
        }
        if marks.is_empty() {
            marks.push((0, at));
        }
        Self { text, marks }
    }

    /// Where `byte` lies; a byte behind the text lies where the text ends, one inside a character where that
    /// character starts.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        let mark = self.marks.partition_point(|&(start, _)| start <= byte).saturating_sub(1);
        let (start, mut at) = self.marks[mark];
        let mut before = self.text[..start].chars().next_back().unwrap_or('\0');
        for c in self.text[start..byte].chars() {
            at = step(at, before, c);
            before = c;
        }
        // Between the CR and the LF of one break the line has not ended yet.
        if before == '\r' && self.text[byte..].starts_with('\n') {
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

/// The position behind `c`, which stands at `at` behind `before`.
fn step(at: Position, before: char, c: char) -> Position {
    let ends_line = is_line_break(c) && !(c == '\n' && before == '\r');
    Position { chars: at.chars + 1, line: at.line + usize::from(ends_line) }
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
