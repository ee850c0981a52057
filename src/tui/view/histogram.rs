//! All similarities as bars, what of them is still in question, and where the search stands.

use horchunk::tuning::{Sample, Tuner};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Tone;
use crate::tui::app::App;

/// Bars from an eighth of a cell to a whole one.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Where similarities lie on a line of cells.
struct Scale {
    low: f32,
    high: f32,
    cells: u16,
}

impl Scale {
    fn new(sample: &Sample, cells: u16) -> Option<Self> {
        let (low, high) = (sample.runs.first()?.similarity, sample.runs.last()?.similarity);
        (cells > 0).then_some(Self { low, high, cells })
    }

    /// The cell of a similarity; those beyond the sample lie at its ends.
    fn cell(&self, similarity: f32) -> u16 {
        let range = self.high - self.low;
        let share = if range > 0.0 { ((similarity - self.low) / range).clamp(0.0, 1.0) } else { 0.5 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the cells")]
        let cell = (share * f32::from(self.cells)) as u16;
        cell.min(self.cells - 1)
    }
}

impl App {
    pub(super) fn histogram(&self, area: Rect, buf: &mut Buffer) {
        let Some(tuner) = self.tuner() else { return };
        let Some((sample, search)) = tuner.searches().get(tuner.current()) else { return };
        let Some(scale) = Scale::new(sample, area.width).filter(|_| area.height >= 3) else { return };
        let bounds = search.bounds();
        let of_rank = |rank: usize| sample.runs.get(rank).map_or(scale.high, |run| run.similarity);
        let open =
            (scale.cell(of_rank(bounds.start)), scale.cell(of_rank(bounds.end.saturating_sub(1).max(bounds.start))));
        let still_open = tuner.run().is_some() && !bounds.is_empty();

        let rows = area.height - 2;
        let counts = counts(sample, &scale);
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        for (cell, &count) in (0..area.width).zip(&counts) {
            let eighths = (count * usize::from(rows) * 8).div_ceil(most);
            let tone = if still_open && (open.0..=open.1).contains(&cell) { Tone::Anchor } else { Tone::Faint };
            for row in 0..rows {
                let filled = eighths.saturating_sub(usize::from(rows - 1 - row) * 8).min(8);
                buf.set_string(area.x + cell, area.y + row, BARS[filled], self.style(tone));
            }
        }
        let standing = tuner.run().map(|run| run.similarity).or_else(|| tuner.standing());
        let standing = standing.map(|similarity| (similarity, scale.cell(similarity)));
        self.axis(&scale, still_open.then_some(open), standing.map(|(_, cell)| cell), area, buf);
        self.labels(&scale, tuner, standing, area, buf);
    }

    /// The line under the bars: `├──┤` spans what is in question, `▲` is where the search stands.
    fn axis(&self, scale: &Scale, open: Option<(u16, u16)>, standing: Option<u16>, area: Rect, buf: &mut Buffer) {
        let y = area.bottom() - 2;
        for cell in 0..scale.cells {
            let (symbol, tone) = match open {
                _ if standing == Some(cell) => ("▲", Tone::Accent),
                Some((from, _)) if cell == from => ("├", Tone::Anchor),
                Some((_, to)) if cell == to => ("┤", Tone::Anchor),
                Some((from, to)) if (from..to).contains(&cell) => ("─", Tone::Anchor),
                _ => ("·", Tone::Faint),
            };
            buf.set_string(area.x + cell, y, symbol, self.style(tone));
        }
    }

    fn labels(&self, scale: &Scale, tuner: &Tuner, standing: Option<(f32, u16)>, area: Rect, buf: &mut Buffer) {
        let y = area.bottom() - 1;
        let (low, high) = (format!("{:.2}", scale.low), format!("{:.2}", scale.high));
        let (low_end, high_start) = (area.x + cells(&low), area.right().saturating_sub(cells(&high)));
        let mut free = (area.x, area.right());
        if let Some((similarity, cell)) = standing {
            let word = if tuner.run().is_some() { "" } else { "t = " };
            let label = format!("{word}{similarity:.3}");
            let width = cells(&label).min(area.width);
            let x = (area.x + cell).saturating_sub(width / 2).clamp(area.x, area.right() - width);
            buf.set_string(x, y, label, self.style(Tone::Accent));
            free = (x, x + width);
        }
        // The ends have a label where there is room for it.
        if standing.is_none() || low_end < free.0 {
            buf.set_string(area.x, y, low, self.style(Tone::Faint));
        }
        if standing.is_none() || free.1 < high_start {
            buf.set_string(high_start, y, high, self.style(Tone::Faint));
        }
    }
}

fn cells(label: &str) -> u16 {
    u16::try_from(label.len()).unwrap_or(u16::MAX)
}

/// Runs in each cell.
fn counts(sample: &Sample, scale: &Scale) -> Vec<usize> {
    let mut counts = vec![0; scale.cells.into()];
    for run in &sample.runs {
        counts[usize::from(scale.cell(run.similarity))] += 1;
    }
    counts
}
