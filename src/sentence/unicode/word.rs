//! The word in front of a stop, and what its shape says.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::stops::is_invisible;

/// How far back a word before a stop is read, in characters.
const WORD: usize = 40;

/// The word in front of a stop.
pub(super) struct Word<'t> {
    /// With the dots, hyphens, slashes and other signs of addresses inside it; spaced initials (`z. B`) are one word without the spaces.
    pub(super) text: Cow<'t, str>,
    /// Where its last part begins.
    pub(super) start: usize,
}

/// The word in front of byte `at`. Tokenized text has a space between.
pub(super) fn word_before(text: &str, at: usize) -> Word<'_> {
    let head = text.split_at(at).0;
    let head = head.strip_suffix(' ').filter(|head| head.ends_with(char::is_alphanumeric)).unwrap_or(head);
    let inner = |c: char| {
        c.is_alphanumeric() || is_mark(c) || matches!(c, '.' | '-' | '/' | '°' | 'º' | '_' | '@' | '=' | '\u{2011}')
    };
    let word = head
        .char_indices()
        .rev()
        .take(WORD)
        .take_while(|&(_, c)| inner(c))
        .last()
        .map_or(head.len(), |(start, _)| start);
    let (before, word) = head.split_at(word);
    let word = word.trim_start_matches(['.', '-', '/', '_']);
    let start = head.len() - word.len();
    let short = word.chars().nth(1).is_none();
    if short && (before.ends_with(|c| c == ' ' || is_invisible(c)) || word.is_empty()) {
        return Word { text: Cow::Owned(spaced_word(head, inner)), start };
    }
    Word { text: Cow::Borrowed(word), start }
}

/// A word with invisible marks, or of letters with full stops and spaces between them.
fn spaced_word(head: &str, inner: impl Fn(char) -> bool) -> String {
    let mut word = String::new();
    let mut letters = 0;
    let mut chars = head.chars().rev().take(16).peekable();
    while let Some(&c) = chars.peek() {
        // A space before a single letter, and a single letter with its full stop before that.
        let joint = c == ' ' && letters == 1 && {
            let mut ahead = chars.clone().skip(1);
            ahead.next() == Some('.')
                && ahead.next().is_some_and(char::is_alphabetic)
                && ahead.next().is_none_or(|c| !c.is_alphanumeric())
        };
        if inner(c) {
            letters = if c == '.' { 0 } else { letters + 1 };
            word.push(c);
        } else if !joint && !is_invisible(c) {
            break;
        }
        chars.next();
    }
    word.chars().rev().collect::<String>().trim_start_matches(['.', '-', '/', '_']).to_owned()
}

/// One letter, or two alike that are its plural in Spanish (`EE. UU.`). In the Dravidian scripts a letter's name
/// stands for it, one cluster long.
pub(super) fn is_initial(word: &str) -> bool {
    let mut letters = word.chars().filter(|&c| !is_mark(c));
    match (letters.next(), letters.next(), letters.next()) {
        (Some('\u{b80}'..='\u{d7f}'), ..) => word.graphemes(true).count() == 1,
        (Some(letter), None, _) => letter.is_alphabetic(),
        (Some(first), Some(second), None) => first == second && first.is_uppercase(),
        _ => false,
    }
}

/// Letters with full stops between them, two at most in a row: `U.S`, `Ph.D`, `LL.AA`.
pub(super) fn is_acronym(word: &str) -> bool {
    word.contains('.')
        && word.split('.').all(|part| (1..=2).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic))
}

/// A Roman numeral of two letters or more.
pub(super) fn is_roman(word: &str) -> bool {
    word.len() >= 2 && word.bytes().all(|byte| b"IVXLCDM".contains(&byte))
}

/// Greek words end in a vowel, nu or sigma, its abbreviations before a vowel: such a word with a full stop is no
/// abbreviation, whatever comes behind.
pub(super) fn is_greek_word(word: &str) -> bool {
    let mut letters = word.chars().rev();
    word.chars().count() >= 4
        && letters.next().is_some_and(|c| "αάεέηήιίϊΐοόυύϋΰωώνς".contains(c))
        && !word.contains('.')
}

/// Combining marks that are no letters by themselves, such as the virama.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{93c}' | '\u{94d}' | '\u{64b}'..='\u{65f}')
}
