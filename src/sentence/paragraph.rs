//! Paragraphs: what lies between runs of line breaks, each one sentence.

use super::{SentenceError, SentenceSplitter};
use crate::span::{Span, first_line_break, line_starts};

/// Every line-break run ends a sentence and nothing else does.
///
/// Line breaks are LF, CR, CRLF, NEL, U+2028 and U+2029.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParagraphSplitter;

impl SentenceSplitter for ParagraphSplitter {
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
        Ok(paragraphs(text).collect())
    }

    fn safe_cut(&self, text: &str) -> Option<usize> {
        line_starts(text).last()
    }
}

/// The paragraphs of `text`, trimmed, those of white space only left out.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = Span> {
    let mut start = 0;
    let lines = std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let (len, next) = first_line_break(rest).map_or((rest.len(), 0), |(len, c)| (len, c.len_utf8()));
        let line = Span::new(start, start + len);
        start = line.end() + next;
        Some(line)
    });
    lines.filter_map(|line| line.trimmed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_break_ends_a_paragraph() {
        let text = "\u{feff}one\r\ntwo\rthree\u{85}four\u{2028}five\u{2029}\n \n six ";
        let found: Vec<&str> = paragraphs(text).map(|span| &text[span]).collect();
        assert_eq!(found, ["\u{feff}one", "two", "three", "four", "five", "six"]);
    }
}
