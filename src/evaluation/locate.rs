//! Where a chunk's text lies in its corpus, searched for as `chunking_evaluation` does.
//!
//! That program takes chunks as strings and has to find them again: a final full stop is dropped; the first exact
//! match wins, even if the chunk came from another place; otherwise white space and case are overlooked; otherwise the
//! corpus is cut at `.`, `!`, `?` and line ends, and the part that is most alike (98 % or more of the sorted words)
//! is taken. Our own spans need none of this: it is here for [`Mode::Compat`](super::Mode::Compat) and to find
//! excerpts that a language model quotes.

use std::ops::Range;

use rapidfuzz::fuzz;

/// A corpus that texts are looked for in.
pub(super) struct Locator<'t> {
    text: &'t str,
    /// The characters that are no white space, in lower case, each with its byte in `text`.
    blind: String,
    /// Byte in `blind` and byte in `text` of every character of `blind`.
    places: Vec<(usize, usize)>,
}

/// Share of likeness, in percent, under which no part of the corpus is taken for a text.
const ALIKE: f64 = 98.0;

impl<'t> Locator<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut blind = String::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            places.push((blind.len(), at));
            blind.push(lower(c));
        }
        Self { text, blind, places }
    }

    /// The bytes of the corpus that `wanted` is found at.
    pub(super) fn find(&self, wanted: &str) -> Option<Range<usize>> {
        let wanted = wanted.strip_suffix('.').unwrap_or(wanted);
        if let Some(start) = self.text.find(wanted) {
            return Some(start..start + wanted.len());
        }
        self.find_blindly(wanted).or_else(|| self.find_alike(wanted))
    }

    /// The first place that spells the words of `wanted` with any white space or none between them.
    pub(super) fn find_blindly(&self, wanted: &str) -> Option<Range<usize>> {
        let letters: String = wanted.chars().filter(|c| !c.is_whitespace()).map(lower).collect();
        if letters.is_empty() {
            return None;
        }
        let mut from = 0;
        let matches = std::iter::from_fn(|| {
            let rest = self.blind.get(from..)?;
            let at = from + rest.find(&letters)?;
            // The next one may overlap this one.
            from = at + rest.get(at - from..)?.chars().next()?.len_utf8();
            Some(at)
        });
        matches.map(|at| self.unsqueezed(at, letters.len())).find(|place| {
            // White space may stand only where the text has some too.
            let mut words = wanted.split_whitespace();
            let found = self.text.get(place.clone()).unwrap_or_default();
            let mut open = 0;
            found.split_whitespace().all(|piece| {
                let mut rest = piece.chars().count();
                while rest > 0 {
                    if open == 0 {
                        open = words.next().map_or(0, |word| word.chars().count());
                    }
                    if open == 0 || open > rest {
                        return false;
                    }
                    rest -= open;
                    open = 0;
                }
                true
            })
        })
    }

    /// The bytes of `text` that `len` bytes of `blind` from `at` stand for.
    fn unsqueezed(&self, at: usize, len: usize) -> Range<usize> {
        let index = |byte| self.places.partition_point(|&(blind, _)| blind < byte);
        let (first, last) = (self.places[index(at)].1, self.places[index(at + len) - 1].1);
        let width = self.text.split_at(last).1.chars().next().map_or(0, char::len_utf8);
        first..last + width
    }

    /// The part between stops that is most alike, if it is nearly the same.
    pub(super) fn find_alike(&self, wanted: &str) -> Option<Range<usize>> {
        let sorted = sorted_words(wanted);
        if sorted.is_empty() {
            return None;
        }
        let parts = self.text.split(['.', '!', '?', '\n']).map(str::trim_start);
        let scored = parts.map(|part| {
            let other = sorted_words(part);
            // No likeness over the limit is possible between lengths that differ by more than a twentieth.
            let (a, b) = (sorted.chars().count(), other.chars().count());
            let possible = a.abs_diff(b) * 20 <= a.max(b);
            let score = if possible { fuzz::ratio(sorted.chars(), other.chars()) * 100.0 } else { 0.0 };
            (score, part)
        });
        let best = scored.fold((0.0, ""), |best, next| if next.0 > best.0 { next } else { best });
        let start = (best.0 >= ALIKE).then(|| self.text.find(best.1)).flatten()?;
        Some(start..start + best.1.len())
    }
}

/// Lower case where that is one character, as a case-blind regular expression compares.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

/// The words of letters and digits, sorted, in lower case (`token_sort_ratio` of fuzzywuzzy).
fn sorted_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    words.sort_unstable();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Low tide is at noon.\n\nThe  Ferry leaves\nthe pier at ten. The ferry leaves early.";

    fn found(wanted: &str) -> Option<&str> {
        Locator::new(TEXT).find(wanted).and_then(|range| TEXT.get(range))
    }

    #[test]
    fn a_final_full_stop_is_dropped() {
        assert_eq!(found("Low tide is at noon."), Some("Low tide is at noon"));
    }

    #[test]
    fn white_space_and_case_are_overlooked() {
        assert_eq!(found("the ferry leaves the pier"), Some("The  Ferry leaves\nthe pier"));
        assert_eq!(found("noon. The ferry"), Some("noon.\n\nThe  Ferry"));
    }

    #[test]
    fn white_space_inside_a_word_is_not() {
        assert_eq!(found("lowtide"), None);
        assert_eq!(found("l ow tide is"), Some("Low tide is"), "but a text with more of it is found");
    }

    #[test]
    fn a_match_that_overlaps_one_that_is_none_is_found() {
        assert_eq!(Locator::new("a aa").find("AA"), Some(2..4));
    }

    #[test]
    fn punctuation_alone_is_like_nothing() {
        assert_eq!(found("*** ??"), None);
    }

    #[test]
    fn a_part_of_nearly_the_same_words_is_found_in_any_order() {
        assert_eq!(found("early leaves ferry, the"), Some("The ferry leaves early"));
        assert_eq!(found("The ferry leaves much earlier"), None);
    }

    #[test]
    fn places_are_right_behind_characters_of_several_bytes() {
        let text = "\u{c9}t\u{e9}  \u{1f6a2} \u{130}stanbul";
        let range = Locator::new(text).find("\u{e9}t\u{e9} \u{1f6a2}").unwrap();
        assert_eq!(&text[range], "\u{c9}t\u{e9}  \u{1f6a2}");
    }

    #[test]
    fn an_empty_text_is_at_the_start_as_in_python() {
        assert_eq!(Locator::new(TEXT).find("."), Some(0..0));
    }
}
