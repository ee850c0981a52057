//! Text as HTML: nothing in it can become markup, and every character that HTML forbids or hides gets a visible sign.
//!
//! All line breaks become LF, the only one that every browser breaks a preformatted line at. CR is not left to the
//! browser either: it would read CR and the LF of a NEL behind it as one break.

use std::fmt::{self, Display, Write};

use horchunk::is_line_break;

use crate::cli::words::sign;

/// A text, safe as the content of an element and of a quoted attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.0.split_inclusive(is_special).peekable();
        while let Some(piece) = pieces.next() {
            let mut plain = piece.chars();
            match plain.next_back() {
                Some(c) if is_special(c) => {
                    f.write_str(plain.as_str())?;
                    let half_of_break = c == '\r' && pieces.peek().is_some_and(|next| next.starts_with('\n'));
                    if !half_of_break {
                        write_special(f, c)?;
                    }
                }
                _ => f.write_str(piece)?,
            }
        }
        Ok(())
    }
}

const fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\'')
        || matches!(c, '\0'..'\t' | '\u{b}'..' ' | '\u{7f}'..'\u{a0}' | '\u{2028}' | '\u{2029}')
        || is_noncharacter(c)
}

/// Code points that Unicode keeps for internal use.
const fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe
}

fn write_special(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '&' => f.write_str("&amp;"),
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        _ if is_line_break(c) => f.write_char('\n'),
        _ => f.write_char(sign(c)),
    }
}
