//! Writes chunks in the format asked for, document by document.

use std::io::{self, Write};

use horchunk::{Chunk, Record};

use super::chunk::Format;
use super::html::{Entry, Page};
use super::input::Document;
use super::output::{Output, Target};
use super::text::TextView;

/// What the page says of the settings.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub(super) threshold: Option<f32>,
    pub(super) max_sentences: Option<usize>,
    pub(super) others: Vec<(String, String)>,
}

/// The open output and what its format needs to remember.
pub(super) struct Writer {
    format: Format,
    target: Target,
    view: TextView,
    described: Described,
    output: Option<Output>,
    page: Page,
    /// Something was written already, so that a comma is due.
    begun: bool,
    /// Where the document began, to go back to if it fails.
    mark: (Option<u64>, bool),
}

impl Writer {
    pub(super) fn new(format: Format, target: Target, view: TextView, described: Described) -> anyhow::Result<Self> {
        let page = described.page();
        let mut writer =
            Self { format, target, view, described, output: None, page, begun: false, mark: (None, false) };
        if !writer.target.is_folder() {
            writer.open("")?;
        }
        Ok(writer)
    }

    /// Whether every document is written to a file of its own.
    pub(super) const fn has_own_files(&self) -> bool {
        self.target.is_folder()
    }

    /// A document begins.
    pub(super) fn begin(&mut self, document: &Document) -> anyhow::Result<()> {
        if self.target.is_folder() {
            self.open(&document.name)?;
        }
        self.mark = (self.output.as_mut().map(Output::mark).transpose()?.flatten(), self.begun);
        Ok(())
    }

    /// The next chunk of the document.
    pub(super) fn chunk(&mut self, record: &Record<'_>, chunk: &Chunk<'_>) -> anyhow::Result<()> {
        let Some(out) = &mut self.output else { return Ok(()) };
        match self.format {
            Format::Text => self.view.chunk(out, record, chunk)?,
            Format::Json | Format::Jsonl => {
                if self.format == Format::Json && self.begun {
                    out.write_all(b",\n")?;
                }
                serde_json::to_writer(&mut *out, record).map_err(io::Error::from)?;
                if self.format == Format::Jsonl {
                    out.write_all(b"\n")?;
                }
            }
            // A page needs the document as a whole.
            Format::Html => {}
        }
        self.begun = true;
        Ok(())
    }

    /// Whoever reads along gets what is written so far.
    pub(super) fn flush(&mut self) -> anyhow::Result<()> {
        match &mut self.output {
            Some(Output::Stream(out)) => Ok(out.flush()?),
            _ => Ok(()),
        }
    }

    /// The document has ended; `entries` are its chunks, where [`Format::needs_entries`].
    pub(super) fn end(&mut self, document: &Document, entries: &[Entry<'_>]) -> anyhow::Result<()> {
        if self.format.needs_entries() {
            self.page.add(&document.name, &document.text, entries);
        }
        if self.target.is_folder() { self.close() } else { self.flush() }
    }

    /// The document failed on the way: a file of its own does not appear, and from a common one it goes. What went to
    /// standard output cannot be taken back.
    pub(super) fn abandon(&mut self) -> anyhow::Result<()> {
        if self.target.is_folder() {
            self.output = None;
        } else if let (Some(output), (Some(mark), begun)) = (&mut self.output, self.mark) {
            output.go_back(mark)?;
            self.begun = begun;
        }
        Ok(())
    }

    /// No document is to come. Where all of them failed, a file stays as it was.
    pub(super) fn finish(mut self, all_failed: bool) -> anyhow::Result<()> {
        match self.output {
            Some(Output::File { .. }) if all_failed => Ok(()),
            _ => self.close(),
        }
    }

    fn open(&mut self, document: &str) -> anyhow::Result<()> {
        let mut output = self.target.open(document)?;
        if self.format == Format::Json {
            output.write_all(b"[\n")?;
        }
        self.output = Some(output);
        self.page = self.described.page();
        self.begun = false;
        Ok(())
    }

    fn close(&mut self) -> anyhow::Result<()> {
        let Some(mut output) = self.output.take() else { return Ok(()) };
        match self.format {
            Format::Json => output.write_all(if self.begun { b"\n]\n" } else { b"]\n" })?,
            Format::Html => self.page.write(&mut output)?,
            Format::Text | Format::Jsonl => {}
        }
        output.finish()
    }
}

impl Described {
    fn page(&self) -> Page {
        Page::new(self.threshold, self.max_sentences, self.others.clone())
    }
}
