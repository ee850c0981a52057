//! One document of the page: its text in rows, a chunk each, with the curve and the reason beside it.
//!
//! All of the source is in the rows, in order and once: white space between two chunks stands behind the first,
//! without taking room. What a chunk takes over from the one before it is shown once more, dimmed.

use std::fmt::{self, Display};

use horchunk::{CutReason, Forced, Record, is_line_break};

use super::curve::{Axis, Curve, Lines};
use super::escape::Escaped;
use super::summary::{Bytes, Grouped, Place};
use super::{Entry, Settings};
use crate::cli::words::Shortfall;

/// Chunks that a browser lays out, or leaves alone while they are out of sight, as one.
const RUN: usize = 32;

/// A document to render.
pub(super) struct Document<'a> {
    pub(super) settings: &'a Settings,
    /// Number on the page, from 1.
    pub(super) number: usize,
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) entries: &'a [Entry<'a>],
}

impl Document<'_> {
    fn axis(&self) -> Axis {
        let steps = self.entries.iter().filter_map(|entry| entry.record.similarities.as_ref()).flatten();
        Axis::new(self.settings.threshold.unwrap_or(1.0), steps.copied().flatten())
    }

    /// The source from `start` to `end`; nothing where they pass each other.
    fn part(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn row(&self, index: usize, axis: Axis) -> Row<'_> {
        let Entry { record, sentences } = &self.entries[index];
        let end_before = index.checked_sub(1).map_or(0, |before| self.entries[before].record.end);
        let start_behind = self.entries.get(index + 1).map_or(self.text.len(), |next| next.record.start);
        let own = end_before.clamp(record.start, record.end);
        Row {
            settings: self.settings,
            place: Place { document: self.number, chunk: index + 1 },
            record,
            axis,
            lines: Lines::new(self.part(record.start, record.end), record.start, sentences),
            after_break: index > 0 && self.part(end_before, record.start).contains(is_line_break),
            before: if index == 0 { self.part(0, record.start) } else { "" },
            overlap: self.part(record.start, own),
            own: self.part(own, record.end),
            behind: self.part(record.end, start_behind),
        }
    }

    fn head(&self, f: &mut fmt::Formatter<'_>, axis: Axis) -> fmt::Result {
        let Self { number, name, text, entries, settings } = self;
        let name = Escaped(name);
        let (chunks, plural, bytes) = (Grouped(entries.len()), plural(entries.len()), Bytes(text.len()));
        match settings.threshold {
            Some(threshold) => writeln!(f, "<section id=\"{number}\" style=\"--t:{}%\">", axis.x(threshold) / 10.0)?,
            None => writeln!(f, "<section id=\"{number}\" class=\"plain\">")?,
        }
        write!(f, "<div class=\"head\"><h2 dir=\"auto\">{name}</h2><p>{chunks} chunk{plural}, {bytes}</p>")?;
        if let Some(threshold) = settings.threshold.filter(|_| !entries.is_empty()) {
            let low = axis.low();
            write!(f, "<p class=\"axis\" aria-hidden=\"true\"><i>{low}</i><i>{threshold}</i><i>1</i></p>")?;
        }
        f.write_str("</div>\n")?;
        if entries.first().is_some_and(|entry| entry.record.lossy) {
            writeln!(f, "<p class=\"note\">The source is not valid UTF-8: byte ranges refer to the decoded text.</p>")?;
        }
        if entries.is_empty() {
            let what = if text.is_empty() { "The document is empty." } else { "There is only white space here." };
            writeln!(f, "<p class=\"note\">{what}</p>")?;
        }
        Ok(())
    }
}

impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axis = self.axis();
        self.head(f, axis)?;
        for first in (0..self.entries.len()).step_by(RUN) {
            let rows: Vec<Row<'_>> =
                (first..self.entries.len().min(first + RUN)).map(|index| self.row(index, axis)).collect();
            let height: usize = rows.iter().map(Row::height).sum();
            writeln!(f, "<ol start=\"{}\" style=\"--lines:{height}\">", first + 1)?;
            rows.iter().try_for_each(|row| writeln!(f, "{row}"))?;
            writeln!(f, "</ol>")?;
        }
        writeln!(f, "</section>")
    }
}

/// A chunk with what is shown of it.
struct Row<'a> {
    settings: &'a Settings,
    place: Place,
    record: &'a Record<'a>,
    axis: Axis,
    lines: Lines,
    /// A line of the source ends in front of the chunk.
    after_break: bool,
    /// White space at the start of the text.
    before: &'a str,
    overlap: &'a str,
    own: &'a str,
    /// White space up to the next chunk.
    behind: &'a str,
}

impl Row<'_> {
    /// Lines that the row takes on the page, about.
    fn height(&self) -> usize {
        self.lines.count.max(2) + usize::from(self.after_break)
    }

    fn text(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<p dir=\"auto\" lang=\"\">")?;
        write!(f, "{}", Gap(self.before))?;
        if !self.overlap.is_empty() {
            write!(f, "<span class=\"overlap\">{}</span>", Escaped(self.overlap))?;
        }
        write!(f, "{}{}</p>", Escaped(self.own), Gap(self.behind))
    }

    fn curve(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let curve = Curve {
            axis: self.axis,
            threshold: self.settings.threshold.unwrap_or(-1.0),
            lines: &self.lines,
            anchor: self.record.overlap_sentences,
            steps: self.record.similarities.as_deref().unwrap_or_default(),
            reason: self.record.reason,
        };
        write!(f, "{curve}")
    }

    /// Why the chunk ends; `cut:` stands in front where it does not end with the text.
    fn why(&self) -> String {
        let Settings { threshold, max_sentences, .. } = self.settings;
        match self.record.reason {
            CutReason::Similarity => Shortfall(self.record.similarity, *threshold).to_string(),
            CutReason::MaxSentences => max_sentences.map_or("sentences".to_owned(), |most| format!("{most} sentences")),
            CutReason::MaxTokens => "token cap".to_owned(),
            CutReason::Border => "paragraph border".to_owned(),
            CutReason::Model => "a language model".to_owned(),
            CutReason::End => "end of text".to_owned(),
            other => other.to_string(),
        }
    }

    /// What a reader of the chunk should know.
    fn warnings(&self) -> impl Iterator<Item = String> {
        let record = self.record;
        let overlap = (record.overlap_sentences > 0).then(|| match record.overlap_sentences {
            1 => "overlap: starts with the last sentence of the chunk before".to_owned(),
            n => format!("overlap: starts with the last {n} sentences of the chunk before"),
        });
        let forced = record.forced.map(|forced| {
            let place = match forced {
                Forced::Word => "between words",
                Forced::Grapheme => "between letters",
                _ => "inside a letter",
            };
            format!("forced: a sentence over the token cap was split {place}")
        });
        let blind =
            record.blind.then(|| "blind: the first sentence fills the model’s input, so meaning cannot cut".to_owned());
        let truncated = record.truncated.then(|| "truncated: the model did not see all of this chunk".to_owned());
        let blank = (record.sentences == 0).then(|| "white space only".to_owned());
        [overlap, forced, blind, truncated, blank].into_iter().flatten()
    }

    fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = self.record;
        let cut = if record.reason == CutReason::End { "" } else { "<i>cut: </i>" };
        write!(f, "<div><b>{cut}{}</b>", Escaped(&self.why()))?;
        if let Some(tokens) = record.tokens {
            write!(f, " {}\u{a0}token{}", Grouped(tokens), plural(tokens))?;
        }
        self.warnings().try_for_each(|warning| write!(f, "<em>{}</em>", Escaped(&warning)))?;
        let (start, end) = (record.line_start, record.line_end);
        write!(f, "<small><i>{} sentence{}, ", Grouped(record.sentences), plural(record.sentences))?;
        if start == end { write!(f, "line {start}") } else { write!(f, "lines {start}–{end}") }?;
        write!(f, "</i><i>bytes {}..{}</i>", record.start, record.end)?;
        if let Some(steps) = record.similarities.as_deref().filter(|steps| !steps.is_empty()) {
            f.write_str("<i>steps")?;
            steps.iter().try_for_each(|step| match step {
                Some(similarity) => write!(f, " {similarity:.3}"),
                None => f.write_str(" –"),
            })?;
            f.write_str("</i>")?;
        }
        write!(f, "<code>{}</code></small></div>", Escaped(&record.id))
    }
}

impl Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, record: Record { reason, .. }, .. } = self;
        let after_break = if self.after_break { " break" } else { "" };
        write!(f, "<li id=\"{place}\" class=\"{reason}{after_break}\"><a href=\"#{place}\">{}</a>", place.chunk)?;
        self.text(f)?;
        self.curve(f)?;
        self.notes(f)?;
        f.write_str("</li>")
    }
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// White space outside all chunks. Where it would take room it is marked, so that the style sheet can fold it.
struct Gap<'a>(&'a str);

impl Display for Gap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" | " " | "\n" | "\r\n" => write!(f, "{}", Escaped(self.0)),
            gap => write!(f, "<span class=\"gap\">{}</span>", Escaped(gap)),
        }
    }
}
