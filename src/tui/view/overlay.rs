//! What stands in front of the rest: help, and at the end what was found.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::{Tone, scrolled};
use crate::tui::action::KEYS;
use crate::tui::app::{App, Pane};
use crate::tui::text;

/// Columns of the help at most.
const WIDTH: u16 = 64;

/// Columns of the names of keys.
const NAMES: usize = 10;

impl App {
    pub(super) fn help(&self, area: Rect, buf: &mut Buffer) {
        let width = usize::from(area.width.min(WIDTH)).saturating_sub(2);
        let plain = |words: &str| text::lines(words, width).into_iter().map(Line::from).collect::<Vec<_>>();
        let mut lines = plain("Does the run stay with what its first sentence (▶) opens?");
        for key in KEYS {
            let rows = text::lines(key.help, width.saturating_sub(NAMES));
            lines.extend(rows.into_iter().enumerate().map(|(row, words)| {
                let name = if row == 0 { key.shown } else { "" };
                Line::from(vec![Span::styled(format!("{name:NAMES$}"), self.style(Tone::Accent)), Span::raw(words)])
            }));
        }
        lines.extend(plain(&format!("answers: {}", self.facts.session)));
        let high = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
        let [middle] = Layout::vertical([Constraint::Max(high)]).flex(Flex::Center).areas(area);
        let [middle] = Layout::horizontal([Constraint::Max(WIDTH)]).flex(Flex::Center).areas(middle);
        Clear.render(middle, buf);
        let block = Block::bordered().border_style(self.style(Tone::Accent)).title(" keys ");
        let inside = block.inner(middle);
        block.render(middle, buf);
        scrolled(lines, &self.help_top, inside, buf);
    }

    /// What was found, in the place of the run.
    pub(super) fn outcome(&self, result: &[String], area: Rect, buf: &mut Buffer) {
        let block = self.frame(Pane::Run, "found");
        let inside = block.inner(area);
        block.render(area, buf);
        let mut lines = Vec::new();
        for (at, line) in result.iter().enumerate() {
            let tone = if at == 0 { Tone::Anchor } else { Tone::Plain };
            let rows = text::lines(line, inside.width.into());
            lines.extend(rows.into_iter().map(|row| Line::styled(row, self.style(tone))));
        }
        let next = if self.written {
            format!("in {}", self.facts.profile)
        } else {
            format!("w writes {}", self.facts.profile)
        };
        let rows = text::lines(&format!("{next}; u takes the last answer back, q leaves"), inside.width.into());
        lines.extend(rows.into_iter().map(|row| Line::styled(row, self.style(Tone::Accent))));
        scrolled(lines, &self.run_top, inside, buf);
    }
}
