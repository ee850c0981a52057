//! The chunks of the preview as they come in, and which of them is in sight.

use std::cell::Cell;

use crate::tui::worker::{Part, Piece, Request};

/// The chunks that the threshold in question makes.
#[derive(Debug, Default)]
pub(in crate::tui) struct Preview {
    pub(in crate::tui) wanted: Option<Request>,
    pub(in crate::tui) chunks: Vec<Piece>,
    pub(in crate::tui) complete: bool,
    /// The first chunk shown, and the first of its lines; drawing brings it back to what there is.
    pub(in crate::tui) top: Cell<(usize, usize)>,
    /// The byte that is to be in sight as soon as its chunk is there.
    pub(super) target: Option<usize>,
    /// The chunks are those of an earlier request until the first of this one come.
    pub(super) stale: bool,
}

impl Preview {
    pub(super) fn take(&mut self, part: Part) {
        if std::mem::take(&mut self.stale) {
            self.chunks.clear();
            self.top.set((0, 0));
        }
        self.chunks.extend(part.chunks);
        self.complete = part.complete;
        self.reach();
    }

    /// Brings the target into sight if its chunk is there.
    fn reach(&mut self) {
        let Some(target) = self.target.filter(|_| !self.stale) else { return };
        let found = self.chunks.partition_point(|chunk| chunk.span.end() <= target);
        if found < self.chunks.len() || self.complete {
            self.top.set((found.min(self.chunks.len().saturating_sub(1)), 0));
            self.target = None;
        }
    }

    pub(super) fn aim(&mut self, byte: usize) {
        self.target = Some(byte);
        self.reach();
    }

    /// The byte at the top of what is shown, or that will be.
    pub(super) fn place(&self) -> Option<usize> {
        self.target.or_else(|| self.chunks.get(self.top.get().0).map(|chunk| chunk.span.start()))
    }

    /// Lines up within a chunk, then chunk by chunk; the widget knows how many lines a chunk has.
    pub(super) fn scroll(&mut self, lines: isize) {
        self.target = None;
        let (chunk, line) = self.top.get();
        self.top.set(match lines {
            0.. => (chunk, line.saturating_add_signed(lines)),
            _ if line > 0 => (chunk, line.saturating_add_signed(lines)),
            _ => (chunk.saturating_sub(lines.unsigned_abs().div_ceil(3)), 0),
        });
    }

    /// Bytes of the text that are cut.
    pub(in crate::tui) fn done(&self) -> usize {
        if self.stale { 0 } else { self.chunks.last().map_or(0, |chunk| chunk.span.end()) }
    }
}
