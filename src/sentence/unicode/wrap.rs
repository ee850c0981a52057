//! Lines into passages: which line breaks are borders, and which only wrap a line.
//!
//! A passage is one line or several that were wrapped, and no sentence passes its ends. Markdown's line-based parts
//! (headings, tables, fences, quotes, items) and lines without a single stop among them stay lines of their own. A
//! wrapped line is known as a reader knows it: it stops in the middle of a sentence, or it is full, so that the next
//! word had no room.

use super::border::leads_on;
use super::lists::Marker;
use super::stops::{is_invisible, stop};
use crate::span::{Span, first_line_break};

/// Text is wrapped by hand at some width between these, in characters.
const WIDTHS: std::ops::RangeInclusive<usize> = 50..=120;

/// A stretch of text that sentences do not pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Trimmed, not empty.
    pub(super) span: Span,
    /// Code: one sentence as it stands.
    pub(super) verbatim: bool,
}

/// The passages of `text`. With `hard_lines` each line is one.
pub(super) fn passages(text: &str, hard_lines: bool) -> impl Iterator<Item = Passage> {
    let mut lines = Passages { text, at: 0, block: Block::default(), fence: None, hard_lines };
    std::iter::from_fn(move || lines.next_passage())
}

/// Where the last block begins whose lines have nothing to do with those before them, whatever comes: behind a blank
/// line that is not code. Byte order marks look at their neighbours.
pub(super) fn last_block(text: &str) -> Option<usize> {
    let (mut fence, mut text_before, mut blank, mut last) = (None, false, false, None);
    let mut at = 0;
    while at < text.len() {
        let line = line_at(text, at);
        let content = text[line.span].trim();
        if content.is_empty() {
            blank = true;
        } else {
            if blank && text_before && fence.is_none() && !content.starts_with('\u{feff}') {
                last = Some(at);
            }
            blank = false;
            text_before |= content != "\u{feff}";
            fence = fence_behind(fence, self::fence(content));
        }
        at = line.next;
    }
    last
}

/// The fence that is open behind a line that is a fence or none.
fn fence_behind(open: Option<char>, line: Option<char>) -> Option<char> {
    match (open, line) {
        (Some(open), Some(mark)) if open == mark => None,
        (None, mark) => mark,
        (open, _) => open,
    }
}

/// A line without its break, and where the next one starts.
#[derive(Clone, Copy)]
struct Line {
    span: Span,
    next: usize,
    /// Whether its break may be a soft one: a paragraph separator never is.
    soft: bool,
}

/// What the lines between two blank ones have in common.
#[derive(Debug, Default)]
struct Block {
    end: usize,
    /// Characters of the longest line.
    width: usize,
    /// Whether a line ends as a sentence does. Where none does the lines are items, verse or an address.
    prose: bool,
    /// The marker that the next item would have.
    item: Option<String>,
}

struct Passages<'t> {
    text: &'t str,
    at: usize,
    block: Block,
    /// The fence that code began with and waits for.
    fence: Option<char>,
    hard_lines: bool,
}

impl Passages<'_> {
    fn next_passage(&mut self) -> Option<Passage> {
        let (mut line, span) = self.next_line()?;
        let content = &self.text[span];
        let fence = fence(content);
        if self.fence.is_some() || fence.is_some() {
            self.fence = fence_behind(self.fence, fence);
            return Some(Passage { span, verbatim: true });
        }
        if self.at > self.block.end {
            self.block = self.block(line);
        }
        self.note_marker(content);
        let mut passage = span;
        while !self.hard_lines && self.at < self.block.end && line.soft {
            let below = line_at(self.text, self.at);
            if !self.joins(line.span, below.span) {
                break;
            }
            self.at = below.next;
            passage = Span::new(passage.start(), below.span.trimmed(self.text)?.end());
            line = below;
        }
        Some(Passage { span: passage, verbatim: false })
    }

    /// The next line that is not blank, as it stands and trimmed.
    fn next_line(&mut self) -> Option<(Line, Span)> {
        while self.at < self.text.len() {
            let line = line_at(self.text, self.at);
            self.at = line.next;
            if let Some(span) = line.span.trimmed(self.text) {
                return Some((line, span));
            }
        }
        None
    }

    /// Reads ahead from `first` to the next blank line or fence.
    fn block(&self, first: Line) -> Block {
        let mut block = Block::default();
        let mut line = first;
        loop {
            let content = self.text[line.span].trim();
            if content.is_empty() || fence(content).is_some() {
                break;
            }
            block.width = block.width.max(content.chars().count());
            block.prose |= ends_sentence(content);
            block.end = line.next;
            if line.next == self.text.len() {
                break;
            }
            line = line_at(self.text, line.next);
        }
        block
    }

    fn note_marker(&mut self, line: &str) {
        if let Some(marker) = Marker::of(line) {
            self.block.item = Some(marker.successor());
        }
    }

    /// Whether the line `below` goes on with the sentence of the line `above`.
    fn joins(&self, above: Span, below: Span) -> bool {
        let (above, below) = (&self.text[above], self.text[below].trim());
        // Two spaces at the end of a line are Markdown's way to keep it.
        let ended = above.trim_end();
        if above.len() - ended.len() > 1 && above.ends_with("  ") {
            return is_underline(below);
        }
        // No line but a broken one begins with a full stop or a closing mark.
        if below.starts_with(['.', ',', ';', ':', '!', '?', ')', ']', '}', '”', '»', '。', '，', '、'])
            && !below.starts_with("..")
        {
            return !is_structure(ended.trim_start());
        }
        if is_underline(below) {
            return !is_structure(ended.trim_start());
        }
        if is_structure(ended.trim_start())
            || is_structure(below)
            || fence(below).is_some()
            || self.begins_item(ended, below)
        {
            return false;
        }
        let (Some(last), Some(first)) = (ended.chars().next_back(), below.chars().find(|c| c.is_alphanumeric())) else {
            return false;
        };
        if ends_sentence(ended) && !leads_on(ended)
            || matches!(last, ':' | '{' | '}' | '[' | '(' | '=' | '|' | '>' | '\\' | ';')
        {
            return false;
        }
        let full = self.is_full(ended, below);
        let wrapped = full && WIDTHS.contains(&self.block.width);
        match first {
            _ if !self.block.prose => false,
            _ if last == ',' || first.is_lowercase() => true,
            c if c.is_alphabetic() && !c.is_uppercase() => full,
            _ => wrapped,
        }
    }

    /// Whether the first word of `below` had no room at the end of `above`, within an eighth of the width: letters
    /// of print are not all of one width.
    fn is_full(&self, above: &str, below: &str) -> bool {
        let word = match below.chars().next() {
            // Chinese and Japanese break anywhere.
            Some(
                '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}',
            ) => 1,
            _ => below.chars().take(*WIDTHS.end()).take_while(|c| !c.is_whitespace()).count() + 1,
        };
        above.trim_start().chars().count() + word > self.block.width - self.block.width / 8
    }

    /// Whether `below` begins with the marker of an item, rather than with a number that ends a sentence.
    fn begins_item(&self, above: &str, below: &str) -> bool {
        let Some(marker) = Marker::of(below) else { return false };
        marker.is_certain()
            || above.ends_with([':', '.', '!', '?', ';', '。'])
            || self.block.item.as_ref().is_some_and(|item| below.starts_with(item))
    }
}

/// The line that starts at `start`.
fn line_at(text: &str, start: usize) -> Line {
    let rest = text.split_at(start).1;
    let Some((len, c)) = first_line_break(rest) else {
        return Line { span: Span::new(start, text.len()), next: text.len(), soft: false };
    };
    let end = start + len;
    let next = end + if text.split_at(end).1.starts_with("\r\n") { 2 } else { c.len_utf8() };
    Line { span: Span::new(start, end), next, soft: !matches!(c, '\u{2028}' | '\u{2029}') }
}

/// The fence of code that `line` is, if one: the info string holds no fence.
fn fence(line: &str) -> Option<char> {
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.strip_prefix(fence).is_some_and(|info| !info.trim_start_matches(['`', '~']).contains('`')))?
        .chars()
        .next()
}

/// Headings, tables, quotes, tags and rules.
fn is_structure(line: &str) -> bool {
    let line = line.trim_start_matches(is_invisible);
    line.starts_with(['#', '>', '|', '<']) || !line.chars().take(200).any(char::is_alphanumeric) && line.len() > 2
}

/// The line below a heading in Markdown's older way.
fn is_underline(line: &str) -> bool {
    line.len() > 2 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Whether the last of `line`, closing marks apart, is a stop.
fn ends_sentence(line: &str) -> bool {
    let closing = |c: char| {
        matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '“' | '»' | '«' | '」' | '』' | '）' | '*' | '_' | '`')
            || is_invisible(c)
            || c.is_whitespace()
    };
    line.chars().rev().take(16).find(|&c| !closing(c)).is_some_and(|c| stop(c).is_some())
}
