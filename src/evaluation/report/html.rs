//! The report as one page of HTML that needs nothing beside it: tables, plots, what the figures mean, and how to
//! repeat the run.
//!
//! The page has no script, and nothing is decided here: it shows what the report says.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use super::{Report, Row};
use crate::evaluation::plot::{self, PlotError};
use crate::evaluation::run::Summary;
use crate::evaluation::stats::{Difference, Moments};

const STYLE: &str = include_str!("page.css");

/// The columns of scores.
const SCORES: [&str; 4] = ["recall", "precision", "precision-omega", "IoU"];

/// What the columns and signs of the tables mean.
const WORDS: [(&str, &str); 7] = [
    (
        "recall",
        "Of the passages that answer a question, the share of characters that the retrieved chunks hold. At 100 \
         nothing is missing.",
    ),
    (
        "precision",
        "Of all characters that were retrieved, the share that belongs to an answer. Long chunks lower it: they bring \
         along what nobody asked for.",
    ),
    (
        "precision-omega",
        "What precision would be if exactly the chunks that touch an answer were retrieved. It judges the cuts alone, \
         whatever the ranking made of them.",
    ),
    (
        "IoU",
        "Intersection over union: the characters rightly retrieved, out of all that were retrieved or should have \
         been. What is missing lowers it, and so does what is superfluous.",
    ),
    (
        "±",
        "The standard deviation over the questions. It says how much questions differ, not how uncertain the mean is; \
         for that see the intervals in the plot of scores.",
    ),
    (
        "*",
        "A difference to row 1 that chance alone would show less than once in twenty. All rows answer the same \
         questions, so these are drawn with replacement many times, for both rows alike (the paired bootstrap): the \
         interval holds the middle 95 % of the mean differences, and p is how often chance would go as far. Among \
         twenty rows that do not differ, one star is to be expected.",
    ),
    (
        "◆",
        "A row of the front: no other row beats it in recall without losing in IoU, or the reverse. Which of them is \
         best depends on what an answer’s missing words cost, and what reading superfluous ones does.",
    ),
];

/// Writes one page with tables and plots.
///
/// # Errors
///
/// Where `out` cannot be written, or, as an error of the kind [`io::ErrorKind::Other`], a plot cannot be drawn.
pub fn write_html(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // Drawn before anything is written: there is a whole page or none.
    let draw = |plot: fn(&Report) -> Result<String, PlotError>| plot(report).map_err(io::Error::other);
    let (trade, bars, sizes) = (draw(plot::trade)?, draw(plot::bars)?, draw(plot::sizes)?);

    write_top(report, out)?;
    write_rows(report, out)?;
    write_plot(out, "Recall against IoU", &trade)?;
    write_plot(out, "Scores", &bars)?;
    write_plot(out, "Sizes of chunks", &sizes)?;
    write_corpora(report, out)?;
    writeln!(out, "<section>\n<h2>How to read this</h2>\n<dl class=\"words\">")?;
    WORDS.iter().try_for_each(|(word, meaning)| writeln!(out, "<dt>{word}</dt>\n<dd>{meaning}</dd>"))?;
    writeln!(out, "</dl>\n</section>")?;
    write_settings(report, out)?;
    writeln!(out, "</main>\n</body>\n</html>")
}

fn write_top(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let stamp = &report.stamp;
    let dataset = Escaped(&stamp.dataset);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>Chunkers on {dataset}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<header>\n<p class=\"mark\">horchunk eval</p>\n<h1>Chunkers on {dataset}</h1>\n"
    )?;
    write_list(out, [("dataset", &*stamp.size), ("model", &stamp.model), ("device", &stamp.device)])?;
    writeln!(out, "</header>\n<main>")
}

fn write_list<'a>(out: &mut dyn Write, items: impl IntoIterator<Item = (&'a str, &'a str)>) -> io::Result<()> {
    writeln!(out, "<dl class=\"stamp\">")?;
    for (term, value) in items {
        writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Escaped(term), Escaped(value))?;
    }
    writeln!(out, "</dl>")
}

/// The table of all rows; of many, first that of row 1 and the front.
fn write_rows(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section>\n<h2>Results</h2>")?;
    write!(
        out,
        "<p>Percent, mean <small>± standard deviation</small> over the questions; the best of a column is bold."
    )?;
    if report.rows.iter().any(|row| row.published.is_some()) {
        write!(out, " In small type below: what others published for the same row.")?;
    }
    writeln!(out, "</p>")?;
    if report.rows.len() <= plot::MANY {
        write_table(report, &all(report), out)?;
    } else {
        write_table(report, &first_and_front(report), out)?;
        writeln!(out, "<details>\n<summary>All {} rows</summary>", report.rows.len())?;
        write_table(report, &all(report), out)?;
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")
}

fn all(report: &Report) -> Vec<usize> {
    (0..report.rows.len()).collect()
}

fn first_and_front(report: &Report) -> Vec<usize> {
    let front = report.front.iter().copied().filter(|&at| at > 0);
    [0].into_iter().chain(front).collect()
}

fn write_table(report: &Report, rows: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let compared = report.rows.len() > 1;
    let differences = if compared { &["recall − row 1", "IoU − row 1"][..] } else { &[] };
    write_head(out, &[&SCORES[..], &["chunks", "mean tokens"], differences].concat())?;
    writeln!(out, "<tbody>")?;
    let best = Best::of(report.rows.iter().map(|row| &row.summary));
    for &at in rows {
        let row = &report.rows[at];
        write_name(report, at, out)?;
        best.write(&row.summary, row.published.map(|published| published.percent), out)?;
        write!(out, "<td>{}</td>", Known(row.sizes.chunks > 0, row.sizes.chunks))?;
        write!(out, "<td>{:.0}</td>", Known(!row.sizes.all.is_empty(), row.sizes.mean))?;
        if compared {
            let against = row.against_first.as_ref();
            for difference in [against.map(|against| against.recall), against.map(|against| against.iou)] {
                write!(out, "<td>{}</td>", Signed(difference))?;
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")
}

/// Opens a table, up to the end of its head.
fn write_head(out: &mut dyn Write, columns: &[&str]) -> io::Result<()> {
    // Who has no mouse scrolls a box that takes the focus.
    writeln!(out, "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"scores\">\n<table>\n<thead>")?;
    write!(out, "<tr><td></td><th scope=\"col\">chunker</th>")?;
    columns.iter().try_for_each(|column| write!(out, "<th scope=\"col\">{column}</th>"))?;
    writeln!(out, "</tr>\n</thead>")
}

/// Opens a row of a table: number, chunker and settings.
fn write_name(report: &Report, at: usize, out: &mut dyn Write) -> io::Result<()> {
    let Row { chunker, parameters, .. } = &report.rows[at];
    let front = if report.front.contains(&at) { " <i>◆</i>" } else { "" };
    // Settings break where the next one starts.
    let settings = Escaped(parameters).to_string().replace(',', ",<wbr>");
    let (number, chunker) = (at + 1, Escaped(chunker));
    write!(out, "<tr><td>{number}</td><th scope=\"row\">{chunker}{front} <small>{settings}</small></th>")
}

/// The scores of each corpus, under its name; of many rows only row 1 and the front, folded up.
fn write_corpora(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = report.rows.iter().take(1).flat_map(|row| &row.corpora).map(|(name, _)| &**name).collect();
    if names.len() < 2 {
        return Ok(());
    }
    let many = report.rows.len() > plot::MANY;
    let rows = if many { first_and_front(report) } else { all(report) };
    let (open, corpora) = (if many { "" } else { " open" }, names.len());
    writeln!(
        out,
        "<section>\n<h2>By corpus</h2>\n<details{open}>\n<summary>{} rows on {corpora} texts</summary>",
        rows.len()
    )?;
    write_head(out, &SCORES)?;
    for (corpus, name) in names.iter().enumerate() {
        writeln!(
            out,
            "<tbody>\n<tr class=\"corpus\"><th colspan=\"6\" scope=\"rowgroup\">{}</th></tr>",
            Escaped(name)
        )?;
        let of_corpus = |&at: &usize| Some((at, &report.rows[at].corpora.get(corpus)?.1));
        let best = Best::of(rows.iter().filter_map(of_corpus).map(|(_, summary)| summary));
        for (at, summary) in rows.iter().filter_map(of_corpus) {
            write_name(report, at, out)?;
            best.write(summary, None, out)?;
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</tbody>")?;
    }
    writeln!(out, "</table>\n</div>\n</details>\n</section>")
}

fn write_plot(out: &mut dyn Write, title: &str, svg: &str) -> io::Result<()> {
    writeln!(out, "<section>\n<h2>{title}</h2>\n<figure tabindex=\"0\">\n{svg}</figure>\n</section>")
}

fn write_settings(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let stamp = &report.stamp;
    writeln!(
        out,
        "<section>\n<h2>How to repeat it</h2>\n<p>The same version gives the same figures for the same model, dataset \
         and settings; another device or processor may move the last digits. The bootstrap draws from a fixed seed.</p>"
    )?;
    let made = [
        ("horchunk", &*stamp.version),
        ("model", &stamp.model),
        ("device", &stamp.device),
        ("dataset", &stamp.dataset),
        ("size", &stamp.size),
    ];
    write_list(out, made.into_iter().chain(stamp.settings.iter().map(|(name, value)| (&**name, &**value))))?;
    writeln!(out, "</section>")
}

fn scores(summary: &Summary) -> [Moments; 4] {
    [summary.recall, summary.precision, summary.precision_omega, summary.iou]
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// The best mean of each score, as it is written.
struct Best([String; 4]);

impl Best {
    fn of<'a>(summaries: impl Iterator<Item = &'a Summary>) -> Self {
        let most = summaries
            .map(scores)
            .fold([0.0; 4], |most: [f64; 4], scores| std::array::from_fn(|score| most[score].max(scores[score].mean)));
        Self(most.map(percent))
    }

    /// Writes the cells of four scores, those published below ours.
    fn write(&self, summary: &Summary, published: Option<[f64; 4]>, out: &mut dyn Write) -> io::Result<()> {
        for (score, (moments, best)) in scores(summary).iter().zip(&self.0).enumerate() {
            let mean = percent(moments.mean);
            let mean = if mean == *best { format!("<b>{mean}</b>") } else { mean };
            write!(out, "<td>{mean} <small>± {}</small>", percent(moments.std))?;
            if let Some(published) = published {
                write!(out, "<em>{:.1}</em>", published[score])?;
            }
            write!(out, "</td>")?;
        }
        Ok(())
    }
}

/// A figure, or a dash where it is not known.
struct Known<T>(bool, T);

impl<T: Display> Display for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 { self.1.fmt(f) } else { f.write_str("–") }
    }
}

/// A difference in points, with a star where chance hardly explains it, and what the bootstrap says.
struct Signed(Option<Difference>);

impl Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Difference { mean, low, high, p }) = self.0 else { return Ok(()) };
        let [mean, low, high] = [mean, low, high].map(|share| format!("{:+.1}", share * 100.0).replace('-', "−"));
        let star = if p < 0.05 { "*" } else { "" };
        let p = if p < 0.001 { "&lt; 0.001".to_owned() } else { format!("= {p:.3}") };
        write!(f, "{mean}{star}<em>{low} to {high}, p {p}</em>")
    }
}

/// A text, safe as the content of an element.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().map(plot::legible).try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            _ => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Comparison, Published};
    use super::*;
    use crate::evaluation::plot::tests::{HOSTILE, report, row, sweep, tags};

    fn page(report: &Report) -> String {
        let mut out = Vec::new();
        write_html(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// What is between each `open` and the `close` behind it.
    fn between<'h>(html: &'h str, open: &str, close: &str) -> Vec<&'h str> {
        html.split(open).skip(1).map(|rest| rest.split_once(close).unwrap().0).collect()
    }

    fn difference(mean: f64, p: f64) -> Difference {
        Difference { mean, low: mean - 0.01, high: mean + 0.01, p }
    }

    #[test]
    fn nothing_in_a_report_becomes_markup() {
        let mut report = report(vec![row(HOSTILE, 0.7, 0.1), row("b", 0.6, 0.2)]);
        HOSTILE.clone_into(&mut report.rows[1].parameters);
        report.rows.iter_mut().for_each(|row| HOSTILE.clone_into(&mut row.corpora[0].0));
        let stamp = &mut report.stamp;
        for word in [&mut stamp.version, &mut stamp.model, &mut stamp.device, &mut stamp.dataset, &mut stamp.size] {
            HOSTILE.clone_into(word);
        }
        stamp.settings.push((HOSTILE.to_owned(), HOSTILE.to_owned()));
        let html = page(&report);
        tags(&html);
        assert!(!html.contains("<script") && html.matches("&lt;script&gt;").count() > 10);
        assert!(!html.contains(|c: char| c != '\n' && plot::legible(c) != c));
        assert_eq!(between(&html, "<title>", "</title>").len(), 1);
    }

    #[test]
    fn a_page_asks_for_nothing_outside_itself() {
        let html = page(&sweep(3)).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for word in ["http:", "https:", "src=", "url(", "@import", "<script"] {
            assert!(!html.contains(word), "{word}");
        }
    }

    #[test]
    fn reports_of_no_row_and_of_one_are_pages() {
        let none = page(&report(Vec::new()));
        tags(&none);
        assert!(none.contains("There is nothing to show.") && !none.contains("By corpus"));
        let one = page(&report(vec![row("window", 0.7, 0.1)]));
        tags(&one);
        assert!(one.contains("<td><b>70.0</b> <small>± 25.0</small></td>") && !one.contains("− row 1"));
        assert_eq!(one.matches("<svg").count(), 3);
    }

    #[test]
    fn published_figures_stand_below_ours_and_the_best_is_bold() {
        let mut report = report(vec![row("a", 0.7, 0.1), row("b", 0.6, 0.2)]);
        assert!(!page(&report).contains("published"));
        report.rows[1].published = Some(Published { percent: [61.5, 20.0, 60.0, 19.9] });
        let html = page(&report);
        assert!(html.contains("published"));
        assert!(html.contains("<td>60.0 <small>± 25.0</small><em>61.5</em></td>"));
        assert!(html.contains("<td><b>20.0</b> <small>± 25.0</small><em>19.9</em></td>"));
    }

    #[test]
    fn a_difference_has_its_interval_and_a_star_only_where_chance_is_unlikely() {
        let written = |mean, p| Signed(Some(difference(mean, p))).to_string();
        assert_eq!(written(0.052, 0.0002), "+5.2*<em>+4.2 to +6.2, p &lt; 0.001</em>");
        assert_eq!(written(-0.015, 0.05), "−1.5<em>−2.5 to −0.5, p = 0.050</em>");
        let mut report = report(vec![row("a", 0.7, 0.1), row("b", 0.6, 0.2)]);
        report.rows[1].against_first = Some(Comparison { recall: difference(-0.1, 0.01), iou: difference(0.1, 0.2) });
        let html = page(&report);
        assert!(html.contains("<td>−10.0*<em>−11.0 to −9.0, p = 0.010</em></td><td>+10.0<em>"));
    }

    #[test]
    fn what_was_not_counted_is_a_dash() {
        let mut report = report(vec![row("a", 0.7, 0.1)]);
        assert!(page(&report).contains("<td>4</td><td>60</td>"));
        report.rows[0].sizes = super::super::Sizes::default();
        assert!(page(&report).contains("<td>–</td><td>–</td>"));
    }

    #[test]
    fn of_many_rows_the_front_comes_first_and_the_rest_is_folded_up() {
        let report = sweep(60);
        let html = page(&report);
        tags(&html);
        let tables = between(&html, "<tbody>", "</tbody>");
        let rows: Vec<usize> = tables.iter().map(|table| table.matches("<tr><td>").count()).collect();
        assert_eq!(rows, [22, 60, 22, 22], "front, all, front of each corpus");
        assert!(tables[0].trim_start().starts_with("<tr><td>1</td>"));
        assert_eq!((html.matches("<details>").count(), html.matches("<details open>").count()), (2, 0));
        assert_eq!(page(&sweep(24)).matches("<details open>").count(), 1, "few rows are not folded up");
    }

    #[test]
    fn the_settings_of_the_run_are_named() {
        let html = page(&sweep(2));
        let terms = between(&html, "<dt>", "</dt>");
        for term in ["horchunk", "model", "device", "dataset", "size", "retrieve", "recall", "*"] {
            assert!(terms.contains(&term), "{term}");
        }
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut room = [0; 5000];
        let error = write_html(&sweep(3), &mut &mut room[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }
}
