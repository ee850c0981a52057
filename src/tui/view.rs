//! The screen as a widget: what is shown where, for a screen of any size.
//!
//! Sixteen colours at most, and none where they are not wanted: whatever a colour says, a sign or a word says too.

mod head;
mod histogram;
mod history;
mod overlay;
mod preview;
mod run;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, BorderType, Paragraph, Widget};

use super::app::{App, Front, Pane, Stage};

/// The smallest screen on which a run can be judged.
pub(super) const SMALLEST: (u16, u16) = (40, 12);

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Faint,
    Anchor,
    Accent,
    Holds,
    Drifts,
    Warning,
}

impl App {
    fn style(&self, tone: Tone) -> Style {
        let (color, modifier) = match tone {
            Tone::Plain => return Style::new(),
            Tone::Faint => (Color::DarkGray, Modifier::empty()),
            Tone::Anchor => (Color::Cyan, Modifier::BOLD),
            Tone::Accent => (Color::Yellow, Modifier::BOLD),
            Tone::Holds => (Color::Green, Modifier::empty()),
            Tone::Drifts => (Color::Magenta, Modifier::empty()),
            Tone::Warning => (Color::Red, Modifier::BOLD),
        };
        let style = Style::new().add_modifier(modifier);
        if self.facts.color { style.fg(color) } else { style }
    }

    /// The frame of a pane; the one in front has a thick one and a mark.
    fn frame<'a>(&self, pane: Pane, title: &str) -> Block<'a> {
        let in_front = self.focus == pane && !self.zoom || self.zoom && pane == Pane::Preview;
        let (mark, border, style) = if in_front {
            ("▸ ", BorderType::Thick, self.style(Tone::Accent))
        } else {
            ("", BorderType::Plain, self.style(Tone::Faint))
        };
        Block::bordered().border_type(border).border_style(style).title(Line::styled(format!(" {mark}{title} "), style))
    }
}

impl Widget for &App {
    fn render(self, area: Rect, buf: &mut Buffer) {
        self.visible.set(area.width >= SMALLEST.0 && area.height >= SMALLEST.1);
        if !self.visible.get() {
            return too_small(area, buf);
        }
        self.run_drawn.set(false);
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(area);
        self.head(head, buf);
        match &self.stage {
            Stage::Embedding(done, all) => self.embedding(*done, *all, body, buf),
            Stage::Judging(_) => self.judging(body, buf),
        }
        self.foot(foot, buf);
        if self.front == Some(Front::Help) {
            self.help(area, buf);
        }
    }
}

fn too_small(area: Rect, buf: &mut Buffer) {
    let (width, height) = SMALLEST;
    let words =
        format!("This screen is {}x{}; at least {width}x{height} is needed. q leaves.", area.width, area.height);
    Paragraph::new(words).wrap(ratatui::widgets::Wrap { trim: true }).render(area, buf);
}

impl App {
    fn judging(&self, area: Rect, buf: &mut Buffer) {
        if self.zoom {
            return self.preview(area, buf);
        }
        if area.width >= 120 && area.height >= 24 {
            return self.wide(area, buf);
        }
        if area.width >= 60 && area.height >= 20 {
            return self.stacked(area, buf);
        }
        // A small screen shows the pane in front, and where the search stands.
        let [pane, histogram] = Layout::vertical([Constraint::Fill(1), Constraint::Length(3)]).areas(area);
        match self.focus {
            Pane::Run => self.question(pane, buf),
            Pane::History => self.history(pane, buf),
            Pane::Preview => self.preview(pane, buf),
        }
        self.histogram(histogram, buf);
    }

    fn wide(&self, area: Rect, buf: &mut Buffer) {
        let [left, right] = Layout::horizontal([Constraint::Percentage(50), Constraint::Fill(1)]).areas(area);
        let [run, histogram, history] =
            Layout::vertical([Constraint::Percentage(40), Constraint::Max(11), Constraint::Fill(1)]).areas(left);
        self.question(run, buf);
        self.framed_histogram(histogram, buf);
        self.history(history, buf);
        self.preview(right, buf);
    }

    fn stacked(&self, area: Rect, buf: &mut Buffer) {
        let [run, middle, preview] =
            Layout::vertical([Constraint::Percentage(38), Constraint::Length(7), Constraint::Fill(1)]).areas(area);
        let [histogram, history] = Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).areas(middle);
        self.question(run, buf);
        self.framed_histogram(histogram, buf);
        self.history(history, buf);
        self.preview(preview, buf);
    }

    /// The run to judge, or what came of it all.
    fn question(&self, area: Rect, buf: &mut Buffer) {
        match self.result() {
            Some(lines) => self.outcome(&lines, area, buf),
            None => self.judged_run(area, buf),
        }
    }

    fn framed_histogram(&self, area: Rect, buf: &mut Buffer) {
        let style = self.style(Tone::Faint);
        let block = Block::bordered().border_style(style).title(Line::styled(" all runs by similarity ", style));
        let inside = block.inner(area);
        block.render(area, buf);
        self.histogram(inside, buf);
    }
}

/// Shows lines from the `top`-th on, which is brought back to where the last line is still to be seen.
fn scrolled(lines: Vec<Line<'_>>, top: &std::cell::Cell<usize>, area: Rect, buf: &mut Buffer) {
    top.set(top.get().min(lines.len().saturating_sub(usize::from(area.height).max(1))));
    let (above, below) = (top.get() > 0, lines.len() > top.get() + usize::from(area.height));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(top.get()).take(area.height.into()).collect();
    Text::from(shown).render(area, buf);
    // On the frame, where it hides no word: there is more than can be seen.
    if below && area.height > 0 {
        buf.set_string(area.right().saturating_sub(6), area.bottom(), "▼ more", Style::new());
    }
    if above && area.height > 0 {
        buf.set_string(area.right().saturating_sub(6), area.top().saturating_sub(1), "▲ more", Style::new());
    }
}

#[cfg(test)]
mod tests;
