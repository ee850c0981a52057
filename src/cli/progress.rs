//! Progress on standard error, where that is a terminal.

use std::io::{self, IsTerminal};
use std::path::Path;

use horchunk::Download;
use indicatif::{ProgressBar, ProgressStyle};

use super::Talk;

/// A bar over the bytes of all documents.
pub(super) struct Progress {
    bar: ProgressBar,
    before: u64,
}

impl Progress {
    /// A bar of so many bytes, a spinner where nobody knows how many; hidden where nobody would see it, and where it
    /// would write over the output on the same terminal.
    pub(super) fn new(talk: Talk, output: Option<&Path>, bytes: Option<u64>) -> Self {
        let collides = output.is_none() && io::stdout().is_terminal();
        let bar = match bytes {
            _ if talk.quiet || collides || !io::stderr().is_terminal() => ProgressBar::hidden(),
            Some(bytes) => ProgressBar::new(bytes)
                .with_style(style("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta} {wide_msg}")),
            None => ProgressBar::new_spinner().with_style(style("{spinner} {bytes} {bytes_per_sec} {wide_msg}")),
        };
        Self { bar, before: 0 }
    }

    /// A document begins.
    pub(super) fn document(&mut self, name: &str) {
        self.before = self.bar.position();
        self.bar.set_message(name.to_owned());
    }

    /// So many bytes of the document are done.
    pub(super) fn bytes(&self, done: usize) {
        self.bar.set_position(self.before + done as u64);
    }

    /// Runs `write` with the bar out of its way: for text that goes to the same terminal.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for each file that is fetched.
pub(super) struct Downloads {
    bar: ProgressBar,
}

impl Downloads {
    pub(super) fn new(visible: bool) -> Self {
        let bar = if visible { ProgressBar::new(0) } else { ProgressBar::hidden() };
        Self { bar: bar.with_style(style("{bar:32} {bytes}/{total_bytes} {bytes_per_sec} {wide_msg}")) }
    }

    pub(super) fn show(&self, download: Download<'_>) {
        self.bar.set_length(download.total);
        self.bar.set_position(download.done);
        self.bar.set_message(download.file.to_owned());
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
