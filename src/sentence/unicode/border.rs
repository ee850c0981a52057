//! Whether a stop ends its sentence: what stands before it and what comes behind it decide.

use super::abbreviations::{Abbreviation, abbreviation, is_calendar, is_date_part, is_month};
use super::lists::Marker;
use super::scan::{Run, char_at};
use super::starters::{is_determiner, is_particle, is_starter};
use super::stops::{Stop, cluster_edge, is_invisible};
use super::word::{Word, is_acronym, is_greek_word, is_initial, is_roman, word_before};

/// The case of the first letter of the next word, which is the best evidence there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Small,
    Great,
    /// A letter of a script without case.
    None,
    Digit,
    /// No letter and no digit near.
    Sign,
}

/// What comes behind a run of stops.
struct Next<'t> {
    /// White space in front of it.
    gap: bool,
    /// Its first character.
    first: char,
    /// Its first word, quotation marks and brackets in front of it left out.
    word: &'t str,
    case: Case,
    /// The character behind the word.
    behind: Option<char>,
}

impl<'t> Next<'t> {
    /// `None` where the passage ends. Where nothing is `cased`, small letters are no evidence.
    fn of(text: &'t str, at: usize, cased: bool) -> Option<Self> {
        let rest = text.split_at(at).1;
        let tail = skip_escapes(rest);
        let first = tail.chars().find(|&c| !is_invisible(c))?;
        let opening = tail.char_indices().take(8).find(|(_, c)| c.is_alphanumeric()).map_or(tail.len(), |(at, _)| at);
        let word = tail.split_at(opening).1;
        let len =
            word.char_indices().take(24).find(|&(_, c)| !c.is_alphanumeric()).map_or(word.len().min(24), |(at, _)| at);
        let len = (0..=len).rev().find(|&len| word.is_char_boundary(len)).unwrap_or(0);
        let (word, behind) = word.split_at(len);
        let case = match word.chars().next().map_or(Case::Sign, case) {
            Case::Small if !cased => Case::Great,
            case => case,
        };
        Some(Self { gap: tail.len() < rest.len(), first, word, case, behind: behind.chars().next() })
    }

    /// Whether the word is one that opens sentences.
    fn starts_sentence(&self) -> bool {
        // A single letter with a full stop is an initial, whatever word it spells.
        self.case == Case::Great
            && is_starter(self.word)
            && !(self.behind == Some('.') && self.word.chars().count() == 1)
    }

    /// Whether the sentence goes on in spite of the stop: a comma, a closing bracket, a dash before a small letter.
    fn goes_on(&self) -> bool {
        match self.first {
            ',' | ';' | ':' | ')' | ']' | '}' | '、' | '，' | '；' | '：' | '،' | '؛' | '/' | '=' | '&' | '%' => {
                true
            }
            '-' | '–' | '—' | '―' => self.case != Case::Great,
            _ => false,
        }
    }
}

/// `text` without the white space in front, that of escaped text (`\n` in JSON) included.
fn skip_escapes(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(tail) = ["\\n", "\\r", "\\t"].iter().find_map(|escape| rest.strip_prefix(escape)) {
        rest = tail.trim_start();
    }
    rest
}

fn case(c: char) -> Case {
    if c.is_numeric() {
        Case::Digit
    } else if c.is_lowercase() {
        Case::Small
    } else if c.is_uppercase() {
        Case::Great
    } else if c.is_alphabetic() {
        Case::None
    } else {
        Case::Sign
    }
}

/// Where the sentence that begins at `start` ends, if `run` ends it. The end of the passage is left to the scan.
pub(super) fn border(text: &str, start: usize, cased: bool, run: &Run) -> Option<usize> {
    let next = Next::of(text, run.end, cased)?;
    let ends = if is_marker(text, start, run) {
        false
    } else if run.full {
        full_stop_ends(run, &next)
    } else if next.goes_on() {
        false
    } else if !next.gap {
        tight_stop_ends(text, run, &next)
    } else if run.mark.is_some() {
        mark_ends(text, run, &next)
    } else if run.dots >= 3 {
        return ellipsis_end(text, run, &next);
    } else {
        dot_ends(text, start, run, &next)
    };
    let begins =
        run.end + text.split_at(run.end).1.chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum::<usize>();
    (ends && cluster_edge(text, begins) == begins).then_some(run.end)
}

/// Whether the run only closes the marker of an item, which stays with the item.
fn is_marker(text: &str, start: usize, run: &Run) -> bool {
    // No marker is longer, escapes in front of it included.
    if run.end - start > 24 {
        return false;
    }
    let item = skip_escapes(text.split_at(start).1);
    let begin = text.len() - item.len();
    Marker::of(item).is_some_and(|marker| run.end <= begin + marker.len)
}

/// The colon that is a full stop in Armenian and closes the announcing clause in Arabic; the semicolon that asks in
/// Greek.
pub(super) fn colon_stop(text: &str, start: usize, at: usize, c: char) -> Option<Stop> {
    let head = text.split_at(at).0;
    let letter = head.chars().rev().take(8).find(|c| c.is_alphabetic())?;
    let next = text.split_at(at + c.len_utf8()).1;
    match (c, letter) {
        (';', '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}') | (':', '\u{531}'..='\u{587}') => Some(Stop::Mark),
        // Direct speech, announced by one word or set in quotation marks, stays with what announces it.
        (':', '\u{600}'..='\u{6ff}') => {
            let clause = text.get(start..at)?;
            let announced =
                next.starts_with(' ') && matches!(next.trim_start().chars().next(), Some('\u{620}'..='\u{6d3}'));
            (announced && clause.chars().take(64).any(char::is_whitespace)).then_some(Stop::Mark)
        }
        _ => None,
    }
}

/// A stop of a script that sets no space behind it ends the sentence but where the next mark or word says otherwise.
fn full_stop_ends(run: &Run, next: &Next) -> bool {
    // The particles that take up a quotation in Japanese.
    let taken_up = || {
        matches!(run.closer, Some('」' | '』' | '）' | '”' | '"' | ')'))
            && !next.gap
            && matches!(next.first, 'と' | 'っ' | 'は' | 'が' | 'を' | 'に' | 'の' | 'も' | 'で' | 'や')
    };
    // The marks of a title name something; a stop inside them is part of the name.
    let title = matches!(run.closer, Some('》' | '〉'));
    !(next.goes_on() || title || taken_up() || run.closer.is_some() && next.case == Case::Small)
}

/// A stop without white space behind it ends a sentence only where no name, number or address is written so.
fn tight_stop_ends(text: &str, run: &Run, next: &Next) -> bool {
    let before = char_at_end(text, run.start);
    let caseless = before.is_some_and(|c| case(c) == Case::None);
    if caseless && next.case == Case::None && (run.mark.is_some() || text.split_at(run.start).1.starts_with('．')) {
        return !is_armenian(before);
    }
    let word = word_before(text, run.start);
    let word = &*word.text;
    let common = word.chars().count() >= 3
        && (word.chars().all(char::is_lowercase) || word.bytes().all(|byte| byte.is_ascii_digit()));
    let plain = run.dots == 1 && run.closer.is_none() && common;
    // Code and addresses are written in Latin letters; elsewhere the space was forgotten.
    let latin = word.is_ascii();
    plain
        && next.case == Case::Great
        && abbreviation(word).is_none()
        && (!latin || next.starts_sentence())
        && next.first.is_alphabetic()
}

/// Before a small letter only a mark without closing marks or dots ends a sentence, and an exclamation mark only where
/// it is not part of a name (`Yahoo! in Rome`).
fn mark_ends(text: &str, run: &Run, next: &Next) -> bool {
    let name = || run.mark == Some('!') && word_before(text, run.start).text.starts_with(char::is_uppercase);
    next.case != Case::Small || run.dots == 0 && run.closer.is_none() && !name()
}

/// Where an ellipsis ends its sentence: before a capital, `I` excepted, which is one everywhere.
fn ellipsis_end(text: &str, run: &Run, next: &Next) -> Option<usize> {
    let omission = matches!(char_at_end(text, run.start), Some('[' | '(')) && run.closer.is_some();
    let capital = next.case == Case::Great && next.word != "I" && !is_armenian(last_letter(text, run.start));
    if omission || !capital {
        return None;
    }
    // Four spaced dots, the first at its word: a full stop, then an omission that opens the next sentence.
    let stop_first = run.dots == 4
        && run.spaced
        && char_at(text, run.first_end) == Some(' ')
        && char_at_end(text, run.start).is_some_and(char::is_alphanumeric);
    Some(if stop_first { run.first_end } else { run.end })
}

/// Whether a single full stop with white space behind it ends its sentence.
fn dot_ends(text: &str, start: usize, run: &Run, next: &Next) -> bool {
    if is_armenian(last_letter(text, run.start)) || matches!(next.first, '№' | '§' | '#') {
        return false;
    }
    // An ellipsis at the next word opens its sentence.
    if matches!(next.first, '.' | '…') && next.word.len() > 1 {
        return true;
    }
    let word = word_before(text, run.start);
    match next.case {
        Case::Sign => run.dots == 1 && abbreviation(&word.text).is_none() && !is_initial(&word.text),
        Case::Small => run.closer.is_none() && is_greek_word(&word.text),
        _ if run.dots == 2 || run.closer.is_some() => true,
        _ if !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit()) => {
            number_ends(text, start, &word, next)
        }
        _ if is_roman(&word.text) => {
            !(next.case == Case::Great && dots_its_ordinals(text, run.start) || opens(text, start, &word))
        }
        _ => word_ends(text, start, run, &word, next),
    }
}

/// Whether a number and its full stop end a sentence, rather than being an ordinal or the marker of an item.
fn number_ends(text: &str, start: usize, number: &Word, next: &Next) -> bool {
    let name = next.case == Case::Great && !next.starts_sentence();
    let short = number.text.len() <= 2;
    let head = text.split_at(number.start).0;
    let before = head.trim_end_matches(' ');
    let ordinal = name
        && (short && is_month(next.word)
            || number.text.len() <= 3 && is_determiner(&word_before(text, before.len()).text));
    // `1. Oslo, 2. Bergen`: a list that runs on.
    let running =
        name && short && (before.len() < head.len() && before.ends_with([',', ';', ':']) || before.ends_with('('));
    !(ordinal || running || opens(text, start, number))
}

/// Whether a word and its full stop end a sentence, rather than being an abbreviation.
fn word_ends(text: &str, start: usize, run: &Run, word: &Word, next: &Next) -> bool {
    let numbered = || {
        next.case == Case::Digit
            || is_roman(next.word)
            || next.word.chars().any(char::is_numeric)
            || is_initial(next.word)
    };
    match abbreviation(&word.text) {
        // Nothing but a date has a month or a day of the week before a number.
        _ if next.case == Case::Digit && (is_date_part(&word.text) || is_measure(text, word)) => false,
        Some(Abbreviation::Leads) => false,
        Some(Abbreviation::Numbers) => !numbered(),
        Some(Abbreviation::Times) => time_ends(text, start, run, next),
        Some(Abbreviation::Trails) => next.starts_sentence() || next.case == Case::Great && is_particle(next.word),
        // Of small letters the Cyrillic ones are all in use as abbreviations.
        None if is_initial(&word.text)
            && word.text.starts_with(|c: char| matches!(c, '\u{430}'..='\u{52f}'))
            && !word.text.starts_with(char::is_uppercase) =>
        {
            false
        }
        None if is_initial(&word.text) || is_acronym(&word.text) => next.starts_sentence() && !opens(text, start, word),
        None => true,
    }
}

/// Whether a time of day or an era ends its sentence. At the head of a sentence it is a short adverbial; further in, a
/// capital begins the next sentence, unless it belongs to the time: a day, a month, a zone.
fn time_ends(text: &str, start: usize, run: &Run, next: &Next) -> bool {
    let words = text
        .get(start..run.start)
        .filter(|head| head.len() < 80)
        .map_or(5, |head| head.split_whitespace().take(5).count());
    let zone = next.word.chars().all(char::is_uppercase) && next.word.len() > 1;
    next.starts_sentence() || words == 5 && next.case == Case::Great && !zone && !is_calendar(next.word)
}

/// Whether `word` is a unit between two numbers (`6 ft. 2 in.`).
fn is_measure(text: &str, word: &Word) -> bool {
    let head = text.split_at(word.start).0;
    word.text.chars().count() <= 4 && head.ends_with(' ') && head.trim_end().ends_with(char::is_numeric)
}

/// Whether `word` is the first of its sentence: a marker with its full stop, then.
fn opens(text: &str, start: usize, word: &Word) -> bool {
    text.get(start..word.start).is_none_or(|lead| lead.len() <= 24 && !lead.contains(char::is_alphanumeric))
}

fn char_at_end(text: &str, at: usize) -> Option<char> {
    text.split_at(at).0.chars().rev().find(|&c| !is_invisible(c))
}

/// The last letter before byte `at`, if it is near.
fn last_letter(text: &str, at: usize) -> Option<char> {
    text.split_at(at).0.chars().rev().take(8).find(|c| c.is_alphabetic())
}

/// In Armenian a full stop divides like a colon.
fn is_armenian(letter: Option<char>) -> bool {
    matches!(letter, Some('\u{531}'..='\u{587}'))
}

/// Letters of Latin Extended-A near by: the languages that write them (Czech, Slovak, Polish, Hungarian, Croatian,
/// Turkish and others) write ordinals with a full stop.
fn dots_its_ordinals(text: &str, at: usize) -> bool {
    text.split_at(at).0.chars().rev().take(80).any(|c| matches!(c, '\u{100}'..='\u{17f}'))
}

/// Whether `text` ends in an abbreviation that leads to another word, or in an initial.
pub(super) fn leads_on(text: &str) -> bool {
    text.strip_suffix('.').is_some_and(|text| {
        let word = word_before(text, text.len());
        is_initial(&word.text) || matches!(abbreviation(&word.text), Some(Abbreviation::Leads))
    })
}
