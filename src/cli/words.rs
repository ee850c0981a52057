//! Words and signs that more than one view needs.

use std::fmt::{self, Display, Write};

/// A text of which a terminal takes no orders: control characters but tab and line feed appear as signs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Harmless<'a>(pub(super) &'a str);

impl Display for Harmless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        // The CR of a CRLF does no harm.
        while let Some(at) = rest.find(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
            let (plain, control) = rest.split_at(at);
            f.write_str(plain)?;
            let mut behind = control.chars();
            let c = behind.next().unwrap_or_default();
            rest = behind.as_str();
            if !(c == '\r' && rest.starts_with('\n')) {
                f.write_char(sign(c))?;
            }
        }
        f.write_str(rest)
    }
}

/// The sign of a character that cannot be shown: a control picture where there is one.
pub(crate) fn sign(c: char) -> char {
    match u32::from(c) {
        control @ 0..=0x1f => char::from_u32(0x2400 + control).unwrap_or(char::REPLACEMENT_CHARACTER),
        0x7f => '\u{2421}',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// A similarity that cut and the threshold it missed, with as many decimals as it takes to tell them apart; either may
/// be unknown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shortfall(pub(super) Option<f32>, pub(super) Option<f32>);

impl Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (similarity, threshold) = match *self {
            Self(None, None) => return f.write_str("similarity"),
            Self(None, Some(threshold)) => return write!(f, "similarity < {threshold}"),
            Self(Some(similarity), None) => return write!(f, "similarity {similarity:.3}"),
            Self(Some(similarity), Some(threshold)) => (similarity, threshold),
        };
        let same = |decimals: &usize| format!("{similarity:.decimals$}") == format!("{threshold:.decimals$}");
        let decimals = (3..10).find(|decimals| !same(decimals)).unwrap_or(10);
        write!(f, "similarity {similarity:.decimals$} < {threshold}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_takes_no_orders_from_a_text() {
        let text = "a\u{1b}[2Jb\r\nc\rd\te\u{9b}f\u{7f}";
        assert_eq!(Harmless(text).to_string(), "a\u{241b}[2Jb\nc\u{240d}d\te\u{fffd}f\u{2421}");
    }

    #[test]
    fn a_similarity_shows_that_it_is_below_the_threshold() {
        assert_eq!(Shortfall(Some(0.641_237), Some(0.72)).to_string(), "similarity 0.641 < 0.72");
        assert_eq!(Shortfall(Some(0.719_999_97), Some(0.72)).to_string(), "similarity 0.71999997 < 0.72");
    }
}
