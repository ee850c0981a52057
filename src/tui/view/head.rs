//! The first line of the screen, the last one, and the bar while runs are embedded.

use horchunk::tuning::Phase;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph, Widget};

use super::Tone;
use crate::tui::action::{KEYS, Serves};
use crate::tui::app::{App, Front};
use crate::tui::text::clean;

impl App {
    pub(super) fn head(&self, area: Rect, buf: &mut Buffer) {
        // A small screen has room for what changes only.
        let title = if area.width < 60 {
            Vec::new()
        } else {
            vec![
                Span::styled("horchunk tune", self.style(Tone::Accent)),
                Span::raw(if self.tuner().is_some() { " · " } else { "" }),
            ]
        };
        let mut left = title;
        if let Some(tuner) = self.tuner() {
            let answered = tuner.answers().count();
            let (phase, more) = tuner.phase();
            let steps = match phase {
                Phase::Searching(left) => format!("step {}, {left} left at most", answered + 1),
                Phase::Confirming(left) => format!("found; {left} to confirm it"),
                Phase::Done => format!("done, {answered} answers"),
            };
            left.push(Span::raw(steps));
            let all = tuner.searches().len();
            if all > 1 {
                left.push(Span::raw(format!(" · text {} of {all}", all - more)));
            }
        }
        let mut right = String::new();
        if let Some(run) = self.run() {
            right = format!("similarity {:.4}", run.similarity);
            let name = clean(self.name(run.text));
            let used = Line::from(left.clone()).width() + right.len() + name.chars().count() + 6;
            if used < usize::from(area.width) {
                left.push(Span::styled(format!(" · {name}"), self.style(Tone::Faint)));
            }
        }
        let width = u16::try_from(right.len()).unwrap_or(area.width);
        let [left_area, right_area] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).spacing(1).areas(area);
        Line::from(left).render(left_area, buf);
        Line::styled(right, self.style(Tone::Accent)).render(right_area, buf);
    }

    /// What was said last, or what is typed, or the keys.
    pub(super) fn foot(&self, area: Rect, buf: &mut Buffer) {
        if let Some(Front::Prompt(prompt)) = &self.front {
            let line = Line::from(vec![
                Span::styled("find: ", self.style(Tone::Accent)),
                Span::raw(prompt.as_str()),
                Span::styled("▏", self.style(Tone::Accent)),
            ]);
            // The end is where one types.
            let over = u16::try_from(line.width()).unwrap_or(u16::MAX).saturating_sub(area.width);
            return Paragraph::new(line).scroll((0, over)).render(area, buf);
        }
        if let Some(notice) = &self.notice {
            let (mark, tone) = if notice.is_error { ("! ", Tone::Warning) } else { ("", Tone::Accent) };
            return Line::styled(format!("{mark}{}", clean(&notice.words)), self.style(tone)).render(area, buf);
        }
        let mut line = Line::default();
        let serves = match (self.tuner(), self.run()) {
            (None, _) => Serves::Always,
            (Some(_), None) => Serves::WithRuns,
            (Some(_), Some(_)) => Serves::ToJudge,
        };
        for key in KEYS.iter().filter(|key| !key.short.is_empty() && key.serves <= serves) {
            let name = key.shown.split(' ').next().unwrap_or("");
            let next = [Span::styled(name, self.style(Tone::Accent)), Span::raw(format!(" {}  ", key.short))];
            // `q quit` and `? help` come last and are always there: others give way.
            let kept = if matches!(name, "?" | "q") { 0 } else { "? help  q quit  ".len() };
            if line.width() + Line::from(next.to_vec()).width() + kept <= usize::from(area.width) + 2 {
                line.spans.extend(next);
            }
        }
        line.render(area, buf);
    }

    pub(super) fn embedding(&self, done: usize, all: usize, area: Rect, buf: &mut Buffer) {
        let [middle] = Layout::vertical([Constraint::Length(3)]).flex(Flex::Center).areas(area);
        let [middle] = Layout::horizontal([Constraint::Max(72)]).flex(Flex::Center).areas(middle);
        let [words, _, bar] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Length(1)]).areas(middle);
        let depth = self.facts.depth;
        let what = if all == 0 {
            "finding sentences".to_owned()
        } else {
            format!("embedding runs of {depth} sentences: {done} of {all}")
        };
        Line::from(what).render(words, buf);
        let ratio = if all == 0 { 0.0 } else { (done as f64 / all as f64).clamp(0.0, 1.0) };
        LineGauge::default()
            .ratio(ratio)
            .filled_symbol("█")
            .unfilled_symbol("░")
            .filled_style(self.style(Tone::Anchor))
            .render(bar, buf);
    }
}
