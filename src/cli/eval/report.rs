//! What a run says of its rows: the stamp, the formats, the plots.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use horchunk::SentenceTransformer;
use horchunk::evaluation::{Dataset, Report, Stamp, TopK, plot, write_csv, write_html, write_markdown, write_table};

use super::{Format, RunArgs};
use crate::cli::output::Output;
use crate::cli::plural;

impl RunArgs {
    pub(super) fn write(&self, report: &Report, out: &mut Output) -> anyhow::Result<()> {
        match self.format() {
            Format::Table | Format::Jsonl => write_table(report, out)?,
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, report).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Format::Csv => write_csv(report, out)?,
            Format::Md => write_markdown(report, out)?,
            Format::Html => write_html(report, out)?,
        }
        Ok(())
    }

    /// Where and how the report was made.
    pub(super) fn stamp(
        &self,
        dataset: &Dataset,
        model: &SentenceTransformer,
        chunk_model: Option<&SentenceTransformer>,
        started: Instant,
    ) -> Stamp {
        let characters: usize = dataset.corpora.iter().map(|corpus| corpus.text.chars().count()).sum();
        let retrieve = match self.retrieve {
            TopK::Fixed(k) => k.to_string(),
            TopK::Minimum => "min".to_owned(),
        };
        let spans = if self.compat { "searched (compat)" } else { "exact" };
        let mut settings = vec![
            ("retrieve", if self.unique { format!("{retrieve} different") } else { retrieve }),
            ("spans", spans.to_owned()),
            ("tokens by", self.tokens.to_string()),
            ("threads", rayon::current_num_threads().to_string()),
            ("seconds", format!("{:.0}", started.elapsed().as_secs_f64())),
        ];
        settings.extend(chunk_model.map(|model| ("chunkers look through", model.info().name.clone())));
        settings.extend(self.choose.map(|recall| ("chosen by", format!("recall of {recall}"))));
        Stamp {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.info().name.clone(),
            device: model.info().device.to_string(),
            dataset: dataset.name.clone(),
            size: format!(
                "{}, {}, {characters} characters",
                plural(dataset.corpora.len(), "text"),
                plural(dataset.questions.len(), "question")
            ),
            settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}

/// Writes every plot of the report into the folder.
pub(super) fn draw(report: &Report, folder: &Path) -> anyhow::Result<()> {
    let plots =
        [("scores.svg", plot::bars(report)?), ("trade.svg", plot::trade(report)?), ("sizes.svg", plot::sizes(report)?)];
    for (name, svg) in plots {
        let path = folder.join(name);
        fs::write(&path, svg).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}
