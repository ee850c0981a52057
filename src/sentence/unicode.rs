//! Sentences by the stops of Unicode, made right for real text: the default splitter.
//!
//! The ground is UAX #29 (sentence boundaries): its terminators, its closing marks that stay with the sentence
//! they close, its rule that a full stop before a small letter ends nothing. On top of it lie, from the outside in,
//!
//! 1. `wrap`: lines become passages; a blank line is a border, a soft wrap is not;
//! 2. `lists`: an item of a list is a sentence even without a stop;
//! 3. `scan`: stops become borders, unless they lie in a quotation whose outer sentence goes on;
//! 4. `border`: whether one stop ends a sentence: abbreviations, initials, ordinals, ellipses, scripts.
//!
//! One set of rules serves every language; none is told and none is guessed from the whole text. Case and script
//! of the neighbours decide, and tables of abbreviations and of words that open sentences (the two cues of Kiss
//! and Strunk, *Unsupervised Multilingual Sentence Boundary Detection*, 2006). What it does not do: find borders
//! that only meaning shows, such as those of Thai.
//!
//! The sentence iterator of the crate unicode-segmentation is not used, since its time grows with the square of
//! a run of spaces or brackets behind a full stop; a test holds our terminators equal to its own.

mod abbreviations;
mod border;
mod lists;
mod quotes;
mod scan;
mod starters;
mod stops;
mod word;
mod wrap;

#[cfg(test)]
mod tests;

use super::{SentenceError, SentenceSplitter};
use crate::span::Span;

/// Sentences in any language, by Unicode's stops with abbreviations, lists, quotations and wrapped lines understood.
///
/// ```
/// use horchunk::{SentenceSplitter, UnicodeSplitter};
///
/// let text = "Dr. Oak met us in Bonn\nat 5 p.m. \"Sit down,\" she said.";
/// let spans = UnicodeSplitter::default().split(text)?;
/// let sentences: Vec<&str> = spans.iter().map(|&span| &text[span]).collect();
/// assert_eq!(sentences, ["Dr. Oak met us in Bonn\nat 5 p.m.", "\"Sit down,\" she said."]);
/// # Ok::<(), horchunk::SentenceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnicodeSplitter {
    hard_lines: bool,
}

impl UnicodeSplitter {
    /// Whether every line break is a border, as in logs, verse and transcripts. Off by default: a single line
    /// break inside running prose is a soft wrap.
    #[must_use]
    pub fn with_hard_lines(mut self, hard_lines: bool) -> Self {
        self.hard_lines = hard_lines;
        self
    }
}

impl SentenceSplitter for UnicodeSplitter {
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
        let mut sentences = Vec::new();
        for passage in wrap::passages(text, self.hard_lines) {
            if passage.verbatim {
                sentences.push(passage.span);
            } else {
                for item in lists::items(text, passage.span) {
                    scan::sentences(text, item, &mut sentences);
                }
            }
        }
        join_byte_order_mark(text, &mut sentences);
        Ok(sentences)
    }

    fn safe_cut(&self, text: &str) -> Option<usize> {
        wrap::last_block(text)
    }
}

/// A byte order mark on a line of its own is no sentence: it belongs to the first one.
fn join_byte_order_mark(text: &str, sentences: &mut Vec<Span>) {
    if let [mark, first, ..] = sentences[..]
        && &text[mark] == "\u{feff}"
    {
        sentences[1] = Span::new(mark.start(), first.end());
        sentences.remove(0);
    }
}
