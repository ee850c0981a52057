//! One pass over a passage: from its stops, quotations and brackets to its sentences.
//!
//! The pass proposes a border at a stop and takes it back where a pair of marks around it closes and the outer
//! sentence goes on. Every byte is looked at a bounded number of times.

use super::border;
use super::quotes::{Nesting, Open, Side, is_paired};
use super::stops::{Stop, cluster_edge, is_emoji, is_invisible, stop};
use crate::span::Span;

/// A run of stops with what belongs to it: marks on the stops, closing marks, references, emoji.
#[derive(Debug)]
pub(super) struct Run {
    /// First byte of the first stop.
    pub(super) start: usize,
    /// First byte behind the first stop.
    pub(super) first_end: usize,
    /// First byte behind the run.
    pub(super) end: usize,
    /// Full stops in it; three for an ellipsis character.
    pub(super) dots: usize,
    /// Whether white space stands between its full stops.
    pub(super) spaced: bool,
    /// Its question mark, or its exclamation mark where it has no other.
    pub(super) mark: Option<char>,
    /// Whether it has a stop that needs no white space behind it.
    pub(super) full: bool,
    /// The last closing mark in it.
    pub(super) closer: Option<char>,
}

/// Appends the sentences of `text[item]` to `out`.
pub(super) fn sentences(text: &str, item: Span, out: &mut Vec<Span>) {
    let base = out.len();
    let cased = text[item].contains(char::is_uppercase);
    let mut scan = Scan {
        text: &text[item],
        offset: item.start(),
        base,
        out,
        nesting: Nesting::default(),
        cased,
        start: 0,
        wordless: 0,
        worded: false,
    };
    let mut at = 0;
    while let Some((start, c)) = next_mark(scan.text, at) {
        at = match scan.stop_at(start, c) {
            Some(_) => scan.stop(start),
            None => scan.pair(start, c),
        };
    }
    scan.push(scan.text.len());
}

struct Scan<'t, 'o> {
    /// The passage.
    text: &'t str,
    /// Where the passage starts in the source.
    offset: usize,
    /// Sentences before this passage.
    base: usize,
    out: &'o mut Vec<Span>,
    nesting: Nesting,
    /// Whether the passage has a capital at all.
    cased: bool,
    /// Where the sentence that is being read starts.
    start: usize,
    /// Up to where it is known to have no letter and no digit.
    wordless: usize,
    /// Whether it is known to have one.
    worded: bool,
}

impl Scan<'_, '_> {
    /// The kind of stop that `c` is where it stands.
    fn stop_at(&self, at: usize, c: char) -> Option<Stop> {
        match c {
            ';' | ':' => border::colon_stop(self.text, self.start, at, c),
            _ => stop(c),
        }
    }

    /// Reads the stop at `start` and what belongs to it; gives the place to go on from.
    fn stop(&mut self, start: usize) -> usize {
        let mut closed = Vec::new();
        let run = self.run(start, &mut closed);
        let border = border::border(self.text, self.start, self.cased, &run);
        for open in &closed {
            if open.embedded || border.is_none() {
                self.reopen(open);
            }
        }
        if let Some(end) = border {
            self.push(end);
        }
        run.end
    }

    /// The run of stops that begins at `start`. Pairs that it closes go to `closed`.
    fn run(&mut self, start: usize, closed: &mut Vec<Open>) -> Run {
        let mut run =
            Run { start, first_end: start, end: start, dots: 0, spaced: false, mark: None, full: false, closer: None };
        loop {
            let before = run.end;
            self.stops(&mut run);
            self.closers(&mut run, closed);
            if run.end == before {
                break;
            }
        }
        trailing_emoji(self.text, &mut run);
        run
    }

    fn stops(&self, run: &mut Run) {
        while let Some(c) = char_at(self.text, run.end) {
            match self.stop_at(run.end, c) {
                Some(Stop::Dot) => run.dots += 1,
                Some(Stop::Ellipsis) => run.dots += 3,
                Some(Stop::Mark) => {
                    run.mark = run.mark.filter(|_| c == '!').or(Some(c));
                }
                Some(Stop::Full) => run.full = true,
                None if is_invisible(c) => {}
                None if spaced_dot(self.text, run.end)
                    && run.dots > 0
                    && run.mark.is_none()
                    && !run.full
                    && run.closer.is_none() =>
                {
                    run.spaced = true;
                }
                None => break,
            }
            run.end += c.len_utf8();
            if run.first_end == run.start {
                run.first_end = run.end;
            }
        }
        run.end = cluster_edge(self.text, run.end);
    }

    fn closers(&mut self, run: &mut Run, closed: &mut Vec<Open>) {
        while let Some(c) = char_at(self.text, run.end) {
            if c.is_whitespace() {
                // French sets a space before its closing marks, tokenized text before all of them.
                let at = run.end + c.len_utf8();
                match char_at(self.text, at) {
                    Some(next)
                        if is_paired(next)
                            && self.nesting.expects(next)
                            && self.nesting.side(self.text, at, next) == Side::Closes =>
                    {
                        run.end = at;
                    }
                    Some('[') if reference(self.text, at).is_some() => run.end = at,
                    _ => break,
                }
                continue;
            }
            let next = run.end + c.len_utf8();
            let word = char_at(self.text, next).is_some_and(char::is_alphanumeric);
            if is_paired(c)
                && self.nesting.side(self.text, run.end, c) == Side::Closes
                && !(word && matches!(c, '\'' | '’' | '"'))
            {
                closed.extend(self.nesting.close(self.text, run.end, c, self.out.len()));
                run.closer = Some(c);
                run.end = next;
            } else if let Some(end) = reference(self.text, run.end) {
                run.end = end;
            } else if matches!(c, '*' | '_' | '`' | '~' | '"' | '\'') && !word
                || is_superscript(c)
                || is_emoji(c)
                || is_invisible(c)
            {
                run.end = next;
            } else {
                break;
            }
        }
        run.end = cluster_edge(self.text, run.end);
    }

    /// Reads the quotation mark or bracket at `at`; gives the place to go on from.
    fn pair(&mut self, at: usize, c: char) -> usize {
        match self.nesting.side(self.text, at, c) {
            Side::Opens => {
                let before = &self.text[Span::new(self.start, at)];
                let embedded = before.chars().take(64).any(char::is_alphanumeric);
                self.nesting.open(c, at, self.start, self.out.len(), embedded);
            }
            // No stop before it: the sentence goes on behind it.
            Side::Closes => {
                if let Some(open) = self.nesting.close(self.text, at, c, self.out.len()) {
                    self.reopen(&open);
                }
            }
            Side::Neither => {}
        }
        at + c.len_utf8()
    }

    /// Takes back the borders inside a pair: its sentences belong to the one that holds it.
    fn reopen(&mut self, open: &Open) {
        if self.out.len() > open.sentences {
            self.out.truncate(open.sentences);
            let before = self.out.get(self.base..).and_then(<[Span]>::last).map_or(0, |span| span.end() - self.offset);
            self.start = open.start.max(before);
            self.worded = true;
        }
    }

    /// Ends the sentence at `end`. What has no letter and no digit is no sentence: it stays with the one before, or
    /// with the next one where there is none.
    fn push(&mut self, end: usize) {
        let Some(span) = Span::new(self.start, end).trimmed(self.text) else { return };
        let source = Span::new(self.offset + span.start(), self.offset + span.end());
        let unknown = Span::new(self.wordless.clamp(span.start(), span.end()), span.end());
        let first = self.out.len() == self.base;
        if self.worded || self.text[unknown].chars().any(char::is_alphanumeric) || first && end == self.text.len() {
            self.out.push(source);
        } else if !first && let Some(last) = self.out.last_mut() {
            *last = Span::new(last.start(), source.end());
        } else {
            self.wordless = end;
            return;
        }
        let rest = self.text.split_at(end).1;
        self.start = self.text.len() - rest.trim_start().len();
        self.worded = false;
    }
}

/// The next character from `at` on that may end a sentence or belongs to a pair.
fn next_mark(text: &str, mut at: usize) -> Option<(usize, char)> {
    loop {
        at += text.as_bytes().get(at..)?.iter().position(|&byte| MARKS[usize::from(byte)])?;
        let c = char_at(text, at)?;
        let mark = match c {
            ';' | ':' => {
                at > 0 && !text.as_bytes()[at - 1].is_ascii() || char_at(text, at + 1).is_none_or(char::is_whitespace)
            }
            '\0'..='\u{7f}' => true,
            // Accented Latin, Greek and Cyrillic letters, the bulk of what is not ASCII.
            '\u{c0}'..='\u{588}' => false,
            _ => stop(c).is_some() || is_paired(c),
        };
        if mark {
            return Some((at, c));
        }
        at += c.len_utf8();
    }
}

/// Bytes at which a mark may begin.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let mut byte = 0x80;
    while byte < 256 {
        marks[byte] = true;
        byte += 1;
    }
    let ascii = b".!?\"'()[]{};:";
    let mut i = 0;
    while i < ascii.len() {
        marks[ascii[i] as usize] = true;
        i += 1;
    }
    marks
};

pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.split_at(at).1.chars().next()
}

/// Whether white space and a full stop that belongs to no word follow: dots with spaces between are one ellipsis.
fn spaced_dot(text: &str, at: usize) -> bool {
    let mut rest = text.split_at(at).1.chars();
    rest.next().is_some_and(char::is_whitespace)
        && rest.next() == Some('.')
        && rest.next().is_none_or(|c| !c.is_alphanumeric() && c != '.')
}

/// The end of a reference such as `[12]` at `at`.
fn reference(text: &str, at: usize) -> Option<usize> {
    let inside = text.split_at(at).1.strip_prefix('[')?;
    let digits = inside.bytes().take(5).take_while(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'-')).count();
    (digits > 0 && inside.as_bytes().get(digits) == Some(&b']')).then_some(at + digits + 2)
}

fn is_superscript(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹')
}

/// Emoji behind a stop and a space decorate the sentence that ended.
fn trailing_emoji(text: &str, run: &mut Run) {
    let rest = text.split_at(run.end).1;
    let trimmed = rest.strip_prefix(' ').unwrap_or(rest);
    let emoji: usize = trimmed.chars().take_while(|&c| is_emoji(c)).map(char::len_utf8).sum();
    let end = run.end + rest.len() - trimmed.len() + emoji;
    if emoji > 0 && char_at(text, end).is_none_or(char::is_whitespace) {
        run.end = end;
    }
}
