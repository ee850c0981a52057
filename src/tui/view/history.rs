//! What was said so far, the last first.

use horchunk::tuning::Verdict;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Tone, scrolled};
use crate::tui::app::{App, Pane};
use crate::tui::text::clean;

/// More of a sentence is never seen in a line.
const SHOWN: usize = 400;

impl App {
    pub(super) fn history(&self, area: Rect, buf: &mut Buffer) {
        let block = self.frame(Pane::History, "verdicts");
        let inside = block.inner(area);
        block.render(area, buf);
        let Some(tuner) = self.tuner() else { return };
        let mut lines: Vec<Line<'_>> = tuner
            .answers()
            .map(|(run, verdict)| {
                let (sign, word, tone) = match verdict {
                    Some(Verdict::Holds) => ("+", "holds ", Tone::Holds),
                    Some(Verdict::Drifts) => ("-", "drifts", Tone::Drifts),
                    None => (".", "skip  ", Tone::Faint),
                };
                let source = self.text(run.text).get(run.span().start()..).unwrap_or("");
                let beginning = clean(source.get(..source.floor_char_boundary(SHOWN)).unwrap_or(""));
                Line::from(vec![
                    Span::styled(format!("{sign} {word} {:.3} ", run.similarity), self.style(tone)),
                    Span::styled(beginning, self.style(Tone::Faint)),
                ])
            })
            .collect();
        lines.reverse();
        if lines.is_empty() {
            lines.push(Line::styled("none yet", self.style(Tone::Faint)));
        }
        scrolled(lines, &self.history_top, inside, buf);
    }
}
