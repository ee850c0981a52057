//! The chunks as one page of HTML that needs nothing beside it: texts, cuts, the similarity at every step and why
//! each chunk ends.
//!
//! [`Page::add`] renders a document at once, so that a page holds a few times its text and no text twice;
//! [`Page::write`] puts head, totals and index in front. Everything is in the markup: the style sheet colours it, the
//! script only moves the focus. Nothing here decides or counts; it shows what the records say.

mod curve;
mod document;
mod escape;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};
use std::io;

use horchunk::{Record, Span};

use document::Document;
use escape::Escaped;
use summary::{Bar, Bytes, Grouped, REASONS, Summary};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// A chunk to show.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// Its record, with the similarity of every step.
    pub(super) record: Record<'a>,
    /// The spans of its sentences, those taken over from the chunk before it included; they place the steps.
    pub(super) sentences: Vec<Span>,
}

/// How the texts were cut.
#[derive(Debug)]
struct Settings {
    /// The chunker's, where it has one; without it there is no curve.
    threshold: Option<f32>,
    max_sentences: Option<usize>,
    /// All others, as words.
    others: Vec<(String, String)>,
}

/// A document that was added.
#[derive(Debug)]
struct Rendered {
    name: String,
    summary: Summary,
    html: String,
}

/// A page in the making.
#[derive(Debug)]
pub(super) struct Page {
    settings: Settings,
    documents: Vec<Rendered>,
}

impl Page {
    /// A page without documents; `others` are settings to name in its head beside threshold and largest number of
    /// sentences.
    pub(super) const fn new(
        threshold: Option<f32>,
        max_sentences: Option<usize>,
        others: Vec<(String, String)>,
    ) -> Self {
        Self { settings: Settings { threshold, max_sentences, others }, documents: Vec::new() }
    }

    /// Adds a document and its chunks, in order.
    pub(super) fn add(&mut self, name: &str, text: &str, entries: &[Entry<'_>]) {
        let number = self.documents.len() + 1;
        let document = Document { settings: &self.settings, number, name, text, entries };
        let mut html = document.to_string();
        html.shrink_to_fit();
        self.documents.push(Rendered { name: name.to_owned(), summary: Summary::new(number, text, entries), html });
    }

    /// Writes the page.
    pub(super) fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let total: Summary = self.documents.iter().map(|document| &document.summary).sum();
        write!(out, "{}", Top { page: self, total: &total })?;
        if self.documents.len() > 1 {
            write!(out, "{}", Index(&self.documents))?;
        }
        out.write_all(b"<main>\n")?;
        for document in &self.documents {
            out.write_all(document.html.as_bytes())?;
        }
        writeln!(out, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>")
    }
}

/// Everything in front of the index: the head, and the header with totals, settings and how to read the page.
struct Top<'a> {
    page: &'a Page,
    total: &'a Summary,
}

impl Top<'_> {
    fn title(&self) -> String {
        match self.page.documents.as_slice() {
            [document] => document.name.clone(),
            documents => format!("{} documents", Grouped(documents.len())),
        }
    }

    fn how_to_read(&self) -> String {
        let Some(threshold) = self.page.settings.threshold else {
            return "Every numbered block is one chunk; beside it stands why it ends.".to_owned();
        };
        format!(
            "Every numbered block is one chunk, and its curve runs down beside it. The curve starts at\u{a0}1 with the \
             chunk’s first sentence; each dot adds the next sentence and shows how similar the chunk still is to its \
             first. A dot left of the dashed line, below {threshold}, has strayed too far: the chunk is cut, and that \
             sentence opens the next one. A square on the curve is a cut made for another reason."
        )
    }

    fn totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total;
        let mut item = |term: &str, value: &dyn Display| writeln!(f, "<div><dt>{term}</dt><dd>{value}</dd></div>");
        item("chunks", &Grouped(total.chunks))?;
        item("sentences", &Grouped(total.sentences))?;
        if let Some(tokens) = total.tokens() {
            item("tokens", &Grouped(tokens.all))?;
            item("smallest", &Grouped(tokens.min))?;
            item("median", &Grouped(tokens.median))?;
            item("largest", &Grouped(tokens.max))?;
        }
        Ok(())
    }

    fn settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { threshold, max_sentences, others } = &self.page.settings;
        let mut item =
            |term: &str, value: &str| writeln!(f, "<div><dt>{}</dt><dd>{}</dd></div>", Escaped(term), Escaped(value));
        threshold.iter().try_for_each(|threshold| item("threshold", &threshold.to_string()))?;
        max_sentences.iter().try_for_each(|most| item("max sentences", &most.to_string()))?;
        others.iter().try_for_each(|(term, value)| item(term, value))
    }

    fn reasons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (reason, label) in REASONS {
            let (count, first) = self.total.cuts(reason);
            if let Some(first) = first {
                let share = (200 * count + self.total.chunks) / (2 * self.total.chunks);
                let count = Grouped(count);
                write!(f, "<li class=\"{reason}\"><a href=\"#{first}\">{label}</a> ")?;
                writeln!(f, "{count} <small>{share}\u{a0}%</small></li>")?;
            }
        }
        Ok(())
    }
}

impl Display for Top<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.title();
        let title = Escaped(&title);
        write!(
            f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
             style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title} in chunks</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<header>\n<p class=\"mark\">horchunk</p>\n<h1 dir=\"auto\">{title}</h1>\n<dl class=\"totals\">\n"
        )?;
        self.totals(f)?;
        write!(f, "</dl>\n<section aria-label=\"Why chunks end\">\n{}\n<ul class=\"reasons\">\n", Bar(self.total))?;
        self.reasons(f)?;
        write!(
            f,
            "</ul>\n</section>\n<p class=\"how\">{}<span class=\"keys\"> <kbd>j</kbd> and <kbd>k</kbd> move from chunk to \
             chunk.</span></p>\n<dl class=\"settings\">\n",
            self.how_to_read()
        )?;
        self.settings(f)?;
        f.write_str("</dl>\n</header>\n")
    }
}

/// The list of documents.
struct Index<'a>(&'a [Rendered]);

impl Display for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "<nav aria-label=\"Documents\">\n<table>\n<thead><tr><th scope=\"col\">document</th>\
             <th scope=\"col\">chunks</th><th scope=\"col\">sentences</th><th scope=\"col\">median tokens</th>\
             <th scope=\"col\">size</th><th scope=\"col\">why chunks end</th></tr></thead>\n<tbody>\n",
        )?;
        for (number, Rendered { name, summary, .. }) in (1..).zip(self.0) {
            let name = Escaped(name);
            write!(f, "<tr><th scope=\"row\" dir=\"auto\"><a href=\"#{number}\">{name}</a></th>")?;
            write!(f, "<td>{}</td><td>{}</td><td>", Grouped(summary.chunks), Grouped(summary.sentences))?;
            if let Some(tokens) = summary.tokens() {
                write!(f, "{}", Grouped(tokens.median))?;
            }
            writeln!(f, "</td><td>{}</td><td>{}</td></tr>", Bytes(summary.bytes), Bar(summary))?;
        }
        f.write_str("</tbody>\n</table>\n</nav>\n")
    }
}
