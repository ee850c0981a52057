//! Horchunk's own rule: paragraphs at line-break runs, then white space behind `.`, `!` or `?`.
//!
//! Equal to the Python of Horchunk (commit 5e3cf6b) on its five corpora. It knows no abbreviation, which
//! makes it predictable; for prose in any language use [`UnicodeSplitter`](super::UnicodeSplitter).

use memchr::memchr3_iter;

use super::paragraph::paragraphs;
use super::{ParagraphSplitter, SentenceError, SentenceSplitter};
use crate::span::Span;

/// White space behind a full stop, an exclamation mark or a question mark ends a sentence, as does every
/// line break.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSplitter;

impl SentenceSplitter for RuleSplitter {
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
        let mut sentences = Vec::new();
        for paragraph in paragraphs(text) {
            let mut start = paragraph.start();
            for offset in memchr3_iter(b'.', b'!', b'?', text[paragraph].as_bytes()) {
                let end = paragraph.start() + offset + 1;
                if text[Span::new(end, paragraph.end())].starts_with(char::is_whitespace) {
                    sentences.push(Span::new(start, end));
                    start = end;
                }
            }
            sentences.push(Span::new(start, paragraph.end()));
            // The white space in front of all but the first is not theirs.
        }
        for span in &mut sentences {
            *span = span.trimmed(text).unwrap_or(*span);
        }
        Ok(sentences)
    }

    fn safe_cut(&self, text: &str) -> Option<usize> {
        ParagraphSplitter.safe_cut(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        RuleSplitter.split(text).unwrap().into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn white_space_behind_a_stop_cuts_whatever_follows() {
        assert_eq!(split("At 5 p.m. it ended . Then?!  Rest"), ["At 5 p.m.", "it ended .", "Then?!", "Rest"]);
    }

    #[test]
    fn a_text_can_be_divided_behind_its_last_line() {
        let text = "One. Two\r\nThree. Four";
        let cut = RuleSplitter.safe_cut(text).unwrap();
        assert_eq!([split(&text[..cut]), split(&text[cut..])], [vec!["One.", "Two"], vec!["Three.", "Four"]]);
        assert_eq!(RuleSplitter.safe_cut("One. Two"), None);
    }

    #[test]
    fn a_stop_without_white_space_does_not_cut() {
        assert_eq!(split("v1.2 of a.b\n\n.\n. x"), ["v1.2 of a.b", ".", ".", "x"]);
    }
}
