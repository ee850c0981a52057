//! Pieces by a ladder of separators: blank lines first, then lines, sentences, words, characters.
//!
//! The method is that of LangChain's `RecursiveCharacterTextSplitter` in the form that Chroma's `chunking_evaluation`
//! (Smith and Troynikov 2024) uses: a separator starts the part behind it, parts shorter than the size are merged as
//! long as they fit, a longer part goes down the ladder. Lengths are sums of the parts' token counts, as there, so a
//! piece may have a few tokens more or less than its parts; a hard cap is another thing.

use super::{SentenceError, SentenceSplitter};
use crate::span::Span;
use crate::tokens::{TokenCounter, TokenError};

/// Cuts a text at the first separator of a ladder that gives small enough pieces.
///
/// ```
/// use horchunk::{RecursiveSplitter, SentenceSplitter, Tiktoken};
///
/// let splitter = RecursiveSplitter::new(Tiktoken::default(), 6)?;
/// let text = "Low tide.\n\nHigh tide is at noon and at midnight.";
/// let pieces: Vec<&str> = splitter.split(text)?.into_iter().map(|span| &text[span]).collect();
/// assert_eq!(pieces, ["Low tide.", "High tide is at noon", "and at midnight", "."]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecursiveSplitter<C> {
    counter: C,
    size: usize,
    separators: Vec<String>,
}

impl<C: TokenCounter> RecursiveSplitter<C> {
    /// The ladder, unless another one is given; the last one stands between any two characters.
    pub const SEPARATORS: [&str; 7] = ["\n\n", "\n", ".", "?", "!", " ", ""];

    /// Pieces of about `size` tokens of `counter` at most.
    ///
    /// # Errors
    ///
    /// [`TokenError::ZeroTokens`] if `size` is 0.
    pub fn new(counter: C, size: usize) -> Result<Self, TokenError> {
        if size == 0 {
            return Err(TokenError::ZeroTokens);
        }
        Ok(Self { counter, size, separators: Self::SEPARATORS.map(str::to_owned).to_vec() })
    }

    /// Another ladder, the coarsest separator first. Without the empty one at its end a part that no separator cuts
    /// stays whole, however long it is.
    #[must_use]
    pub fn with_separators(mut self, separators: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.separators = separators.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) const fn counter(&self) -> &C {
        &self.counter
    }

    /// The pieces, trimmed; each but the first repeats up to `overlap` tokens from the end of the one before.
    pub(crate) fn pieces(&self, text: &str, overlap: usize) -> Result<Vec<Span>, TokenError> {
        let mut run = Run { text, splitter: self, overlap, pieces: Vec::new() };
        run.descend(Span::new(0, text.len()), &self.separators)?;
        Ok(run.pieces)
    }
}

impl<C: TokenCounter> SentenceSplitter for RecursiveSplitter<C> {
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
        Ok(self.pieces(text, 0)?)
    }
}

/// The way through one text.
struct Run<'a, C> {
    text: &'a str,
    splitter: &'a RecursiveSplitter<C>,
    overlap: usize,
    pieces: Vec<Span>,
}

/// A part and its tokens.
type Part = (Span, usize);

impl<C: TokenCounter> Run<'_, C> {
    fn descend(&mut self, span: Span, ladder: &[String]) -> Result<(), TokenError> {
        let text = &self.text[span];
        let found = ladder.iter().position(|separator| text.contains(separator.as_str()));
        let Some(rung) = found else {
            self.push(span);
            return Ok(());
        };
        let (separator, finer) = (ladder[rung].as_str(), &ladder[rung + 1..]);
        let mut short: Vec<Part> = Vec::new();
        for part in parts(text, span.start(), separator) {
            let tokens = self.splitter.counter.count(&self.text[part])?;
            if tokens < self.splitter.size {
                short.push((part, tokens));
                continue;
            }
            self.merge(&short);
            short.clear();
            if finer.is_empty() {
                self.push(part);
            } else {
                self.descend(part, finer)?;
            }
        }
        self.merge(&short);
        Ok(())
    }

    /// Joins neighbours as long as they fit.
    fn merge(&mut self, parts: &[Part]) {
        let size = self.splitter.size;
        let (mut first, mut total) = (0, 0);
        for (index, &(_, tokens)) in parts.iter().enumerate() {
            if total + tokens > size && first < index {
                self.push(parts[first].0.to(parts[index - 1].0));
                while total > self.overlap || total + tokens > size && total > 0 {
                    total -= parts[first].1;
                    first += 1;
                }
            }
            total += tokens;
        }
        if let (Some(first), Some(last)) = (parts.get(first), parts.last()) {
            self.push(first.0.to(last.0));
        }
    }

    fn push(&mut self, span: Span) {
        self.pieces.extend(span.trimmed(self.text));
    }
}

/// The parts of `text`, which lies at byte `origin`, none empty; each but the first starts with the separator.
fn parts(text: &str, origin: usize, separator: &str) -> impl Iterator<Item = Span> {
    let starts: Vec<usize> = if separator.is_empty() {
        text.char_indices().map(|(at, _)| at).collect()
    } else {
        [0].into_iter().chain(text.match_indices(separator).map(|(at, _)| at)).collect()
    };
    let ends = starts.iter().skip(1).copied().chain([text.len()]).collect::<Vec<_>>();
    let spans = starts.into_iter().zip(ends).map(move |(start, end)| Span::new(origin + start, origin + end));
    spans.filter(|span| !span.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{Letters, Tiktoken};

    fn pieces(text: &str, size: usize, overlap: usize) -> Vec<&str> {
        let spans = RecursiveSplitter::new(Letters, size).unwrap().pieces(text, overlap).unwrap();
        spans.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn a_part_goes_down_the_ladder_only_where_it_is_too_long() {
        let text = "One.\n\nTwo three.\nFour\n\nFive";
        assert_eq!(pieces(text, 12, 0), ["One.", "Two three.", "Four", "Five"]);
        assert_eq!(pieces(text, 100, 0), [text]);
    }

    #[test]
    fn a_separator_starts_the_part_behind_it() {
        assert_eq!(pieces("aaaa.bbbb.cccc", 6, 0), ["aaaa", ".bbbb", ".cccc"]);
    }

    #[test]
    fn a_word_without_separators_is_cut_between_characters() {
        assert_eq!(pieces("\u{e4}bcdefg", 3, 0), ["\u{e4}bc", "def", "g"]);
    }

    #[test]
    fn an_overlap_repeats_whole_parts_as_far_as_they_fit() {
        assert_eq!(pieces("aa bb cc dd ee", 9, 4), ["aa bb cc", "cc dd ee"]);
        assert_eq!(pieces("aa bb cc dd ee", 9, 7), ["aa bb cc", "bb cc dd", "cc dd ee"]);
    }

    #[test]
    fn without_the_empty_separator_a_long_word_stays_whole() {
        let splitter = RecursiveSplitter::new(Letters, 3).unwrap().with_separators(["|"]);
        let text = "abcdef|gh";
        assert_eq!(splitter.split(text).unwrap(), [Span::new(0, 6), Span::new(6, 9)]);
    }

    proptest! {
        #[test]
        fn pieces_hold_all_the_text_in_order(text in "([a-z]{1,9}|[.?!]| |\n|\r\n|\u{e9}|\u{6f22}){0,60}", size in 1..20_usize) {
            let splitter = RecursiveSplitter::new(Tiktoken::default(), size).unwrap();
            let spans = splitter.split(&text).unwrap();
            let mut end = 0;
            for span in spans {
                prop_assert!(text[Span::new(end, span.start())].trim().is_empty());
                prop_assert_eq!(span.trimmed(&text), Some(span));
                end = span.end();
            }
            prop_assert!(text.split_at(end).1.trim().is_empty());
        }

        #[test]
        fn pieces_with_overlap_move_on_and_lose_nothing(text in "([a-z]{1,9}|[.?!]| |\n){0,60}", size in 2..20_usize, share in 1..10_usize) {
            let splitter = RecursiveSplitter::new(Letters, size).unwrap();
            let spans = splitter.pieces(&text, (size * share / 10).min(size - 1)).unwrap();
            let mut end = 0;
            for pair in spans.windows(2) {
                // White space that is trimmed can make two starts or two ends one.
                prop_assert!(pair[0].start() <= pair[1].start() && pair[0].end() <= pair[1].end());
            }
            for span in spans {
                prop_assert!(text.get(end..span.start()).is_none_or(|gap| gap.trim().is_empty()));
                end = span.end();
            }
            prop_assert!(text.split_at(end).1.trim().is_empty());
        }
    }
}
