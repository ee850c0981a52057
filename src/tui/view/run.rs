//! The run to judge: its first sentence is the anchor, and the question is whether the rest stays with it.

use horchunk::tuning::Phase;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{Tone, scrolled};
use crate::tui::app::{App, Pane};
use crate::tui::text;

impl App {
    pub(super) fn judged_run(&self, area: Rect, buf: &mut Buffer) {
        let Some(run) = self.run() else { return };
        self.run_drawn.set(true);
        let source = self.text(run.text);
        let confirming = self.tuner().is_some_and(|tuner| matches!(tuner.phase().0, Phase::Confirming(_)));
        let question = if confirming { "Once more: does it hold together?" } else { "Does it hold together?" };
        let block = self.frame(Pane::Run, &format!("{question} · line {}", self.line));
        let inside = block.inner(area);
        block.render(area, buf);
        let mut lines = Vec::new();
        for (at, &sentence) in run.sentences.iter().enumerate() {
            // The anchor is told from the rest by its sign and its weight too.
            let (sign, tone) =
                if at == 0 { ("▶ ".to_owned(), Tone::Anchor) } else { (format!("{} ", at + 1), Tone::Plain) };
            let indent = sign.chars().count();
            let gutter = if at == 0 { "┃ ".to_owned() } else { " ".repeat(indent) };
            let words = text::lines(&source[sentence], usize::from(inside.width).saturating_sub(indent));
            for (row, words) in words.into_iter().enumerate() {
                let gutter = if row == 0 { sign.clone() } else { gutter.clone() };
                let tone_of_gutter = if at == 0 { Tone::Anchor } else { Tone::Faint };
                lines.push(Line::from(vec![
                    Span::styled(gutter, self.style(tone_of_gutter)),
                    Span::styled(words, self.style(tone)),
                ]));
            }
        }
        scrolled(lines, &self.run_top, inside, buf);
    }
}
