//! The chunks that the threshold in question makes of the text: what the number will do.

use horchunk::{CutReason, Span as Bytes};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::Tone;
use crate::cli::plural;
use crate::tui::app::{App, Pane};
use crate::tui::text;
use crate::tui::worker::Piece;

impl App {
    pub(super) fn preview(&self, area: Rect, buf: &mut Buffer) {
        let Some(wanted) = self.preview.wanted else { return };
        let block = self.frame(Pane::Preview, &format!("chunks at t = {:.3}", wanted.threshold));
        let inside = block.inner(area);
        block.render(area, buf);
        let [facts, chunks] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(inside);
        Line::styled(self.spread(wanted.text), self.style(Tone::Holds)).render(facts, buf);
        self.chunks(wanted.text, chunks, buf);
    }

    /// How many chunks there are, and how large.
    fn spread(&self, text: usize) -> String {
        let chunks = &self.preview.chunks;
        let mut sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.tokens).collect();
        sizes.sort_unstable();
        let at = |share: usize| sizes.get(share * sizes.len().saturating_sub(1) / 100).copied().unwrap_or(0);
        let alike = chunks.iter().filter(|chunk| chunk.reason == CutReason::Similarity).count();
        let mut line = plural(chunks.len(), "chunk");
        if !self.preview.complete {
            let (done, all) = (self.preview.done(), self.text(text).len().max(1));
            line = format!("cutting {} % · {line}", done * 100 / all);
        }
        let (least, low, middle, high, most) = (at(0), at(10), at(50), at(90), at(100));
        let spread = format!("median {middle} tokens, most from {low} to {high}, all from {least} to {most}");
        line + &format!(" · {spread} · {alike} cut by meaning")
    }

    fn chunks(&self, text: usize, area: Rect, buf: &mut Buffer) {
        let preview = &self.preview;
        let (mut first, mut skip) = preview.top.get();
        first = first.min(preview.chunks.len().saturating_sub(1));
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut top = None;
        for (at, chunk) in preview.chunks.iter().enumerate().skip(first) {
            let rows = self.chunk(at, chunk, text, area.width);
            let is_last = at + 1 == preview.chunks.len();
            if rows.len() <= skip && !is_last {
                skip -= rows.len();
                continue;
            }
            // Scrolling ends at the last line.
            let from = if top.is_none() { skip.min(rows.len().saturating_sub(1)) } else { 0 };
            top = top.or(Some((at, from)));
            lines.extend(rows.into_iter().skip(from));
            if lines.len() >= usize::from(area.height) {
                break;
            }
        }
        preview.top.set(top.unwrap_or((0, 0)));
        lines.truncate(area.height.into());
        Text::from(lines).render(area, buf);
    }

    /// A chunk under a line that says why it ends.
    fn chunk(&self, at: usize, chunk: &Piece, text: usize, width: u16) -> Vec<Line<'static>> {
        let reason = match (chunk.reason, chunk.similarity) {
            (CutReason::Similarity, Some(similarity)) => format!("cut at {similarity:.3}"),
            (CutReason::MaxSentences, _) => format!("cut at {}", plural(self.facts.max_sentences, "sentence")),
            (CutReason::End, _) => "end of the text".to_owned(),
            (reason, _) => reason.to_string(),
        };
        let facts = format!(
            "── {} · {} · {} · {reason} ",
            at + 1,
            plural(chunk.sentences, "sentence"),
            plural(chunk.tokens, "token")
        );
        let mut head = vec![Span::styled(facts, self.style(Tone::Faint))];
        if self.run().is_some_and(|run| run.text == text && touch(run.span(), chunk.span)) {
            head.push(Span::styled("◀ the run", self.style(Tone::Anchor)));
        }
        let words = text::lines(&self.text(text)[chunk.span], width.into());
        std::iter::once(Line::from(head)).chain(words.into_iter().map(Line::from)).collect()
    }
}

fn touch(one: Bytes, other: Bytes) -> bool {
    one.start() < other.end() && other.start() < one.end()
}
