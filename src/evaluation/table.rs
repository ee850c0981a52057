//! A table of words and numbers, in the formats that reports are written in.

use std::io::{self, Write};

/// Cells under headers. The first columns hold words, the others numbers.
///
/// ```
/// use horchunk::evaluation::Table;
///
/// let mut table = Table::new(1, ["language", "tokens"]);
/// table.push(["Greek", "512"]);
/// let mut out = Vec::new();
/// table.write_text(&mut out)?;
/// assert_eq!(String::from_utf8_lossy(&out), "language  tokens\nGreek        512\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    words: usize,
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows whose first `words` columns hold words.
    #[must_use]
    pub fn new(words: usize, headers: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { words, headers: headers.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row; cells it lacks are empty.
    pub fn push(&mut self, cells: impl IntoIterator<Item: Into<String>>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.headers.len(), String::new());
        self.rows.push(row);
    }

    /// Writes columns for a terminal: words to the left, numbers to the right.
    ///
    /// # Errors
    ///
    /// Where `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines = || [&self.headers].into_iter().chain(&self.rows);
        let width = |column: usize| lines().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: Vec<usize> = (0..self.headers.len()).map(width).collect();
        lines().try_for_each(|row| {
            let padded = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                if column < self.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(out, "{}", padded.collect::<Vec<_>>().join("  ").trim_end())
        })
    }

    /// Writes a Markdown table.
    ///
    /// # Errors
    ///
    /// Where `out` cannot be written.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "| {} |", self.headers.join(" | "))?;
        writeln!(out, "|{}", "---|".repeat(self.headers.len()))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ").replace('*', "\\*")))
    }

    /// Writes one record a row under a record of headers.
    ///
    /// # Errors
    ///
    /// Where `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.headers)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row))?;
        writer.flush()
    }
}
