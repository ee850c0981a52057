//! Reports that are tables: how they are written, and where.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;
use horchunk::evaluation::Table;
use serde::Serialize;

use crate::cli::Usage;
use crate::cli::output::{self, Output, Target};

/// How a report is written.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct TableArgs {
    /// What to write [default: what the name of --output ends in, otherwise table]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// All figures
    Json,
    /// One record a row
    Csv,
    /// Markdown tables
    Md,
}

/// A report as tables.
pub(super) struct Sheets {
    /// For people, one below the other.
    pub(super) tables: Vec<Table>,
    /// Lines under them.
    pub(super) legend: Vec<String>,
    /// One record a row, with all digits.
    pub(super) records: Table,
}

impl TableArgs {
    /// Where the report goes: one file, which may be none of these.
    pub(super) fn open(&self, inputs: HashSet<PathBuf>) -> anyhow::Result<Output> {
        let mut target = Target::new(self.output.as_deref(), "", inputs);
        if let Some(path) = self.output.as_ref().filter(|_| target.is_folder()) {
            bail!(Usage(format!("--output {} is a folder: a report is one file", path.display())));
        }
        target.open("")
    }

    /// Writes the report in the format asked for.
    pub(super) fn write(&self, out: &mut Output, report: &impl Serialize, sheets: &Sheets) -> anyhow::Result<()> {
        match output::format(self.format, self.output.as_deref(), Format::Table) {
            Format::Table => {
                sheets.tables.iter().try_for_each(|table| table.write_text(out).and_then(|()| writeln!(out)))?;
                sheets.legend.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            Format::Md => {
                sheets.tables.iter().try_for_each(|table| table.write_markdown(out).and_then(|()| writeln!(out)))?;
                sheets.legend.iter().try_for_each(|line| writeln!(out, "{line}  "))?;
            }
            Format::Csv => sheets.records.write_csv(out)?,
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::from)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
