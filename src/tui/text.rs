//! Words on a screen: broken into lines of a width, without anything that a terminal would obey.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter};

use crate::cli::words::sign;

/// More than this of a passage is not looked at for one screen.
const SHOWN: usize = 1 << 16;

/// The passage in lines of at most `width` columns; white space of the source is one space.
pub(super) fn lines(passage: &str, width: usize) -> Vec<String> {
    if width == 0 {
        return Vec::new();
    }
    let end = passage.floor_char_boundary(SHOWN);
    let mut clean = clean(passage.get(..end).unwrap_or(passage));
    if end < passage.len() {
        clean.push('…');
    }
    let options = Options::new(width)
        .word_separator(WordSeparator::UnicodeBreakProperties)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(&clean, options).into_iter().map(Cow::into_owned).collect()
}

/// The passage on one line.
pub(super) fn clean(passage: &str) -> String {
    let visible = |c: char| if c.is_control() { sign(c) } else { c };
    let mut clean = String::with_capacity(passage.len());
    for word in passage.split_whitespace() {
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.extend(word.chars().filter(|c| !is_unseen(*c)).map(visible));
    }
    clean
}

/// Characters that take no room or turn what follows round: terminals disagree about them, and lines break.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The first byte at or behind `from` where `words` stand in `text`, in any case and however they are broken into
/// lines; from the beginning if there are none behind.
pub(super) fn find(text: &str, words: &str, from: usize) -> Option<usize> {
    let wanted: Vec<char> = folded(words.trim()).collect();
    let first = *wanted.first()?;
    let stands_at = |(byte, c): &(usize, char)| {
        c.to_lowercase().next() == Some(first)
            && text.get(*byte..).is_some_and(|rest| {
                let mut found = folded(rest);
                wanted.iter().all(|&wanted| found.next() == Some(wanted))
            })
    };
    let from = text.ceil_char_boundary(from.min(text.len()));
    let (before, behind) = text.split_at(from);
    let behind = behind.char_indices().map(|(byte, c)| (byte + from, c)).find(stands_at);
    behind.or_else(|| before.char_indices().find(stands_at)).map(|(byte, _)| byte)
}

/// The text in small letters, with one space for any white space.
fn folded(text: &str) -> impl Iterator<Item = char> {
    let mut space = false;
    let folded = move |c: char| {
        let again = space && c.is_whitespace();
        space = c.is_whitespace();
        let c = if space { ' ' } else { c };
        (!again).then_some(c)
    };
    text.chars().filter_map(folded).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_no_wider_than_the_screen() {
        let passage = "The tide  turns.\n\t日本語の文章です。👩‍👩‍👧 Donaudampfschifffahrtsgesellschaft";
        for width in 1..40 {
            let lines = lines(passage, width);
            assert!(lines.iter().all(|line| textwrap::core::display_width(line) <= width.max(2)), "{width}: {lines:?}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(passage), "{width}");
        }
        assert_eq!(lines(passage, 0), [""; 0]);
    }

    #[test]
    fn a_terminal_takes_no_orders_from_a_text() {
        assert_eq!(lines("a\u{1b}[2Jb \u{7f}", 20), ["a\u{241b}[2Jb \u{2421}"]);
        assert_eq!(lines("\u{feff}so\u{ad}ft \u{202e}zero\u{200b}", 20), ["soft zero"]);
    }

    #[test]
    fn a_passage_without_end_is_cut_short() {
        let lines = lines(&"é".repeat(SHOWN), 80);
        assert!(lines.last().unwrap().ends_with('…') && lines.len() < 1000);
    }

    #[test]
    fn words_are_found_in_any_case_and_round_the_end() {
        let text = "Die Straße. DIE STRASSE. Élan.";
        assert_eq!(find(text, "die", 0), Some(0));
        assert_eq!(find(text, "die", 1), Some(text.find("DIE").unwrap()));
        assert_eq!(find(text, "die", 20), Some(0));
        assert_eq!(find(text, "élan", 0), text.find("Élan"));
        assert_eq!(find("so\n  wide a\ttide", "wide  A tide ", 0), Some(5));
        assert_eq!(find(text, "tide", 0), None);
        assert_eq!(find(text, "", 0), None);
        assert_eq!(find(text, "x", 900), None);
    }
}
