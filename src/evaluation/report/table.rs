//! Reports as text: a table for people, Markdown, CSV.

use std::io::{self, Write};

use super::{Comparison, Report, Row};
use crate::evaluation::stats::Moments;
use crate::evaluation::table::Table;

fn percent(moments: Moments) -> String {
    format!("{:.1} ± {:.1}", moments.mean * 100.0, moments.std * 100.0)
}

/// The cells of a row, as the table for people and Markdown show them.
fn cells(report: &Report, row: &Row) -> Vec<String> {
    let summary = &row.summary;
    let mut cells = vec![row.chunker.clone(), row.parameters.clone()];
    cells.extend([summary.recall, summary.precision, summary.precision_omega, summary.iou].map(percent));
    // A row that was put together from others has no chunks of its own.
    let has_chunks = row.sizes.chunks > 0;
    cells.push(if has_chunks { row.sizes.chunks.to_string() } else { String::new() });
    cells.push(if has_chunks { format!("{:.0}", row.sizes.mean) } else { String::new() });
    if report.rows.len() > 1 {
        cells.push(row.against_first.map_or(String::new(), |comparison| against(&comparison)));
    }
    if has_published(report) {
        cells.push(
            row.published
                .map_or(String::new(), |published| published.percent.map(|value| format!("{value:.1}")).join(" / ")),
        );
    }
    cells
}

fn has_published(report: &Report) -> bool {
    report.rows.iter().any(|row| row.published.is_some())
}

fn headers(report: &Report) -> Vec<&'static str> {
    let mut headers = vec!["chunker", "settings", "recall", "precision", "precision-omega", "IoU", "chunks", "tokens"];
    if report.rows.len() > 1 {
        headers.push("recall, IoU against row 1");
    }
    if has_published(report) {
        headers.push("published");
    }
    headers
}

/// Two differences in points, each with a star where chance would show it less than once in twenty.
fn against(comparison: &Comparison) -> String {
    let points = |difference: super::Difference| {
        format!("{:+.1}{}", difference.mean * 100.0, if difference.p < 0.05 { "*" } else { "" })
    };
    format!("{}, {}", points(comparison.recall), points(comparison.iou))
}

/// Lines under a table that say what it shows.
fn legend(report: &Report) -> Vec<String> {
    let stamp = &report.stamp;
    let mut lines =
        vec![format!("{}: {}; percent, mean ± standard deviation over questions", stamp.dataset, stamp.size)];
    let settings: Vec<String> = stamp.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.push(format!("horchunk {}, {} on {}; {}", stamp.version, stamp.model, stamp.device, settings.join(", ")));
    if report.rows.len() > 1 {
        lines
            .push("* chance alone would show such a difference less than once in twenty (paired bootstrap)".to_owned());
        let front = report.front.iter().map(|&at| report.rows[at].label());
        lines.push(format!("best trades of recall for IoU: {}", front.collect::<Vec<_>>().join("; ")));
    }
    if has_published(report) {
        lines.push("published: recall / precision / precision-omega / IoU of others, see eval/README.md".to_owned());
    }
    lines
}

fn table(report: &Report) -> Table {
    let mut table = Table::new(2, headers(report));
    report.rows.iter().for_each(|row| table.push(cells(report, row)));
    table
}

/// Writes the table for a terminal or a text file.
///
/// # Errors
///
/// Where `out` cannot be written.
pub fn write_table(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    table(report).write_text(out)?;
    writeln!(out)?;
    legend(report).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes a Markdown table.
///
/// # Errors
///
/// Where `out` cannot be written.
pub fn write_markdown(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    table(report).write_markdown(out)?;
    writeln!(out)?;
    legend(report).iter().try_for_each(|line| writeln!(out, "{}  ", line.replace('*', "\\*")))
}

/// Writes one record a row; scores, intervals and differences in percent.
///
/// # Errors
///
/// Where `out` cannot be written.
pub fn write_csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header: Vec<String> = ["chunker", "settings"].map(str::to_owned).to_vec();
    for metric in ["recall", "precision", "precision_omega", "iou"] {
        header.extend([format!("{metric}_mean"), format!("{metric}_std")]);
    }
    let rest = [
        "recall_low",
        "recall_high",
        "iou_low",
        "iou_high",
        "recall_difference",
        "recall_p",
        "iou_difference",
        "iou_p",
        "chunks",
        "tokens_mean",
        "tokens_p10",
        "tokens_p50",
        "tokens_p90",
        "tokens_max",
        "texts_embedded",
        "seconds",
    ];
    header.extend(rest.map(str::to_owned));
    for corpus in report.rows.first().iter().flat_map(|row| &row.corpora) {
        header.extend(["recall", "precision", "precision_omega", "iou"].map(|metric| format!("{}_{metric}", corpus.0)));
    }
    writer.write_record(&header)?;
    let number = |value: f64| format!("{:.4}", value * 100.0);
    for row in &report.rows {
        let mut record = vec![row.chunker.clone(), row.parameters.clone()];
        let summary = &row.summary;
        for moments in [summary.recall, summary.precision, summary.precision_omega, summary.iou] {
            record.extend([number(moments.mean), number(moments.std)]);
        }
        let (recall, iou) = (row.recall_interval, row.iou_interval);
        record.extend([recall.0, recall.1, iou.0, iou.1].map(number));
        match &row.against_first {
            Some(Comparison { recall, iou }) => record.extend([
                number(recall.mean),
                format!("{:.4}", recall.p),
                number(iou.mean),
                format!("{:.4}", iou.p),
            ]),
            None => record.extend(std::iter::repeat_n(String::new(), 4)),
        }
        record.push(row.sizes.chunks.to_string());
        record.push(format!("{:.2}", row.sizes.mean));
        record.extend(row.sizes.percentiles.map(|size| size.to_string()));
        record.extend([row.texts.to_string(), format!("{:.2}", row.seconds)]);
        for (_, summary) in &row.corpora {
            let means = [summary.recall, summary.precision, summary.precision_omega, summary.iou];
            record.extend(means.map(|moments| number(moments.mean)));
        }
        writer.write_record(&record)?;
    }
    writer.flush()
}
