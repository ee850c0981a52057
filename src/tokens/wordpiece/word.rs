//! BERT's normalizer and splitter as one automaton: characters in, words out.
//!
//! The steps and their order are those of `BertNormalizer` and `BertPreTokenizer` of the crate
//! `tokenizers`, and so are the Unicode tables: control characters go, white space and Chinese characters
//! end words, characters are decomposed and lose their accents, become lower case, and each punctuation
//! character is a word. White space that is a control character too (form feed, U+0085) therefore ends no
//! word but vanishes.

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::file::Normalizer;

/// The letters of one word.
#[derive(Clone, Copy)]
pub(super) enum Letters<'w> {
    /// All of them, at least one.
    All(&'w str),
    /// More than a word may have.
    TooMany,
}

/// Gathers the characters of a text into words.
pub(super) struct Words {
    normalizer: Normalizer,
    max_chars: usize,
    /// The word so far: its characters while they are few enough, and how many there are.
    letters: String,
    chars: usize,
    /// Where the run of reorderable marks at the end of `letters` starts.
    marks: usize,
}

impl Words {
    /// Words of at most `max_chars` characters, longer ones without their letters.
    pub(super) fn new(normalizer: Normalizer, max_chars: usize) -> Self {
        Self { normalizer, max_chars, letters: String::new(), chars: 0, marks: 0 }
    }

    /// Takes the next character of the text and hands each word it completes to `found`.
    pub(super) fn push(&mut self, c: char, mut found: impl FnMut(Letters<'_>)) {
        if c.is_ascii_alphanumeric() {
            let lower = if self.normalizer.lowercase { c.to_ascii_lowercase() } else { c };
            self.append(lower);
        } else if self.normalizer.clean_text && is_dropped(c) {
        } else if c.is_whitespace() {
            self.finish(found);
        } else if self.normalizer.split_chinese && is_chinese(c) {
            self.finish(&mut found);
            self.push_plain(c, &mut found);
            self.finish(found);
        } else {
            self.push_plain(c, found);
        }
    }

    /// Ends the word, if there is one.
    pub(super) fn finish(&mut self, mut found: impl FnMut(Letters<'_>)) {
        match self.chars {
            0 => {}
            few if few <= self.max_chars => found(Letters::All(&self.letters)),
            _ => found(Letters::TooMany),
        }
        self.letters.clear();
        self.chars = 0;
        self.marks = 0;
    }

    /// Whether it holds no letter: what comes next begins a word.
    pub(super) const fn is_empty(&self) -> bool {
        self.chars == 0
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.letters.capacity()
    }

    /// Strips accents, turns to lower case and splits at punctuation.
    fn push_plain(&mut self, c: char, mut found: impl FnMut(Letters<'_>)) {
        if !self.normalizer.strip_accents {
            return self.push_letter(c, &mut found);
        }
        decompose_canonical(c, |part| {
            if !part.is_mark_nonspacing() {
                self.push_letter(part, &mut found);
            } else if canonical_combining_class(part) == 0 {
                // Dropped, but nothing moves past it.
                self.marks = self.letters.len();
            }
        });
    }

    fn push_letter(&mut self, c: char, mut found: impl FnMut(Letters<'_>)) {
        if is_punctuation(c) {
            self.finish(&mut found);
            self.append(c);
            self.finish(found);
        } else if self.normalizer.strip_accents && canonical_combining_class(c) != 0 {
            self.insert_mark(c);
        } else if self.normalizer.lowercase {
            c.to_lowercase().for_each(|lower| self.append(lower));
        } else {
            self.append(c);
        }
    }

    fn append(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= self.max_chars {
            self.letters.push(c);
            self.marks = self.letters.len();
        }
    }

    /// Puts a mark that is no accent (a few spacing ones) behind those of its class or a lower one: the
    /// canonical order, which decomposition includes.
    fn insert_mark(&mut self, mark: char) {
        self.chars += 1;
        if self.chars <= self.max_chars {
            let class = canonical_combining_class(mark);
            let run = self.letters.get(self.marks..).unwrap_or_default();
            let behind = run.char_indices().find(|&(_, c)| canonical_combining_class(c) > class);
            let at = behind.map_or(self.letters.len(), |(offset, _)| self.marks + offset);
            self.letters.insert(at, mark);
        }
    }
}

fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => c.is_other(),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

/// The blocks of Chinese characters, as BERT has them (extension E starts late there).
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
