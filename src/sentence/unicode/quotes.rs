//! Quotation marks and brackets: which open, which close, and what is open at a place.
//!
//! A border inside a pair holds only while the outer sentence does not go on, which shows at the closing mark;
//! so the scan proposes borders as it goes and takes them back here. Depth and reach are bounded: a mark that is
//! never closed, or closed far away, holds nothing back.

use super::stops::is_invisible;

/// How many pairs may lie in each other; a mark deeper inside is not followed.
const DEPTH: usize = 8;

/// How many bytes a pair may span. Longer ones are speeches, whose sentences are sentences.
const REACH: usize = 800;

/// A pair whose end has not come yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    closers: &'static str,
    at: usize,
    /// Start of the sentence that it opened in.
    pub(super) start: usize,
    /// Sentences found before it opened.
    pub(super) sentences: usize,
    /// Whether it opened inside a sentence, which then holds all of it.
    pub(super) embedded: bool,
    /// Whether it can hold borders back. Braces hold data, and so do the marks inside them.
    holds: bool,
}

/// What a mark does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Opens,
    Closes,
    Neither,
}

/// The marks open at a place, outermost first.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    open: Vec<Open>,
}

impl Nesting {
    /// What `c`, at byte `at` of `text`, does.
    pub(super) fn side(&self, text: &str, at: usize, c: char) -> Side {
        let (head, tail) = text.split_at(at);
        let before = head.chars().next_back();
        let after = tail.chars().skip(1).find(|&c| !is_invisible(c));
        if c == '\'' && is_clitic(tail) {
            return Side::Neither;
        }
        match c {
            ')' | ']' | '}' | '”' | '’' | '）' | '］' | '｝' | '」' | '』' | '】' | '》' | '〉' | '〕' | '〗'
            | '〟' | '｣' => Side::Closes,
            '»' | '›' if self.expects(c) || !opens_word(before, after) => Side::Closes,
            // The marks of which some languages make the opposite use, and the straight ones, show by their sides.
            '"' | '\'' | '“' | '‘' | '«' | '‹' => {
                let expected = self.expects(c);
                match (before.is_none_or(char::is_whitespace), after.is_none_or(char::is_whitespace)) {
                    (true, true) if expected => Side::Closes,
                    // A single one between spaces is an apostrophe or a slip.
                    (true, true) if c == '\'' => Side::Neither,
                    (true, true) => Side::Opens,
                    (false, true) => Side::Closes,
                    (false, _) if expected && after.is_none_or(|c| !c.is_alphanumeric()) => Side::Closes,
                    _ if matches!(c, '“' | '‘' | '«' | '‹') || opens_word(before, after) => Side::Opens,
                    _ => Side::Neither,
                }
            }
            _ if closers(c).is_some() => Side::Opens,
            _ => Side::Neither,
        }
    }

    /// Opens the pair of `c`.
    pub(super) fn open(&mut self, c: char, at: usize, start: usize, sentences: usize, embedded: bool) {
        // What opened out of reach can hold nothing back any more.
        self.open.retain(|open| at - open.at <= REACH || open.closers == "}");
        let holds = c != '{' && self.open.iter().all(|open| open.closers != "}");
        if let Some(closers) = closers(c)
            && self.open.len() < DEPTH
        {
            self.open.push(Open { closers, at, start, sentences, embedded, holds });
        }
    }

    /// Whether a pair is open that `c` would close.
    pub(super) fn expects(&self, c: char) -> bool {
        self.open.iter().any(|open| open.closers.contains(c))
    }

    /// Closes the innermost pair that `c`, at byte `at` of `text`, can close, and all inside it.
    pub(super) fn close(&mut self, text: &str, at: usize, c: char, sentences: usize) -> Option<Open> {
        let depth = self.open.iter().rposition(|open| open.closers.contains(c))?;
        let open = self.open[depth];
        // Behind a letter it is an apostrophe rather than the end of a quotation that holds whole sentences.
        let letter = text.split_at(at).0.chars().next_back().is_some_and(char::is_alphabetic);
        if matches!(c, '\'' | '’') && letter && sentences > open.sentences {
            return None;
        }
        self.open.truncate(depth);
        (open.holds && at - open.at <= REACH).then_some(open)
    }
}

/// Whether a mark between these two stands in front of a word.
fn opens_word(before: Option<char>, after: Option<char>) -> bool {
    before.is_none_or(|c| {
        c.is_whitespace()
            || matches!(c, '(' | '[' | '{' | '—' | '–' | '-' | '/' | '*' | '_' | ':' | '"' | '“' | '«' | ',')
    }) && after.is_some_and(|c| !c.is_whitespace())
}

/// Whether an apostrophe and one or two letters follow (`'s`, `'ll`), or a year without its century (`'68`).
fn is_clitic(text: &str) -> bool {
    let word = text.chars().skip(1).take(3).take_while(|c| c.is_alphanumeric()).count();
    (1..=2).contains(&word) || text.chars().nth(1).is_some_and(char::is_numeric)
}

/// What can close the pair that `c` opens.
fn closers(c: char) -> Option<&'static str> {
    Some(match c {
        '(' => ")",
        '[' => "]",
        '{' => "}",
        '"' => "\"",
        '\'' => "'’",
        '“' => "”\"",
        '‘' => "’'",
        '„' | '‟' => "“”\"",
        '‚' => "‘’",
        '«' => "»",
        '»' => "«",
        '‹' => "›",
        '›' => "‹",
        '（' => "）)",
        '［' => "］",
        '｛' => "｝",
        '「' => "」",
        '『' => "』",
        '【' => "】",
        '《' => "》",
        '〈' => "〉",
        '〔' => "〕",
        '〖' => "〗",
        '〝' => "〟",
        '｢' => "｣",
        _ => return None,
    })
}

/// Whether `c` is a quotation mark or a bracket.
pub(super) fn is_paired(c: char) -> bool {
    closers(c).is_some()
        || matches!(
            c,
            ')' | ']'
                | '}'
                | '”'
                | '’'
                | '）'
                | '］'
                | '｝'
                | '」'
                | '』'
                | '】'
                | '》'
                | '〉'
                | '〕'
                | '〗'
                | '〟'
                | '｣'
        )
}
