//! The view for people: every chunk's words under a line that says why it ends.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use horchunk::{Chunk, CutReason, Record};

use super::words::{Harmless, Shortfall};

use super::plural;

/// Writes the text view.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextView {
    pub(super) color: bool,
    /// It goes to a terminal, which must not take orders from a text.
    pub(super) terminal: bool,
    /// Add the similarity of every step.
    pub(super) explain: bool,
    /// The chunker's, where it has one.
    pub(super) threshold: Option<f32>,
}

const DIM: Style = Style::new().dimmed();

impl TextView {
    /// A chunk under its rule line.
    pub(super) fn chunk(self, out: &mut dyn Write, record: &Record<'_>, chunk: &Chunk<'_>) -> io::Result<()> {
        let name = if record.document == "-" { "stdin" } else { &record.document }.replace('\n', "\u{240a}");
        let name = Harmless(&name);
        let mut facts = vec![plural(record.sentences, "sentence")];
        let about = if record.tokens_estimated { "about " } else { "" };
        facts.extend(record.tokens.map(|tokens| format!("{about}{}", plural(tokens, "token"))));
        facts.extend((record.overlap_sentences > 0).then(|| format!("{} taken over", record.overlap_sentences)));
        facts.extend(record.forced.map(|forced| format!("split at a {}", forced.to_string().replace('_', " "))));
        facts.extend(record.truncated.then(|| "the model saw only its beginning".to_owned()));
        facts.extend(record.blind.then(|| "its first sentence fills the model's input".to_owned()));
        let lines = if record.line_start == record.line_end {
            format!("{}", record.line_start)
        } else {
            format!("{}-{}", record.line_start, record.line_end)
        };
        let dim = self.style(DIM);
        let bright = self.style(color(record.reason).bold());
        let reason = reason(record, self.threshold);
        let facts = facts.join(", ");
        writeln!(
            out,
            "{dim}──{dim:#} {bright}{}{bright:#} {dim}{name}:{lines} · {facts} ·{dim:#} {bright}{reason}{bright:#}",
            record.index + 1
        )?;
        if self.explain && !chunk.similarities.is_empty() {
            let steps = chunk.similarities.iter().map(|step| step.map_or("-".to_owned(), |s| format!("{s:.3}")));
            writeln!(out, "{dim}   steps {}{dim:#}", steps.collect::<Vec<_>>().join(" "))?;
        }
        if self.terminal { writeln!(out, "{}\n", Harmless(&record.text)) } else { writeln!(out, "{}\n", record.text) }
    }

    fn style(self, style: Style) -> Style {
        if self.color { style } else { Style::new() }
    }
}

fn color(reason: CutReason) -> Style {
    AnsiColor::on_default(match reason {
        CutReason::Similarity => AnsiColor::Green,
        CutReason::MaxSentences => AnsiColor::Yellow,
        CutReason::MaxTokens => AnsiColor::Red,
        CutReason::Border => AnsiColor::Blue,
        _ => AnsiColor::Cyan,
    })
}

/// Why the chunk ends, in words.
fn reason(record: &Record<'_>, threshold: Option<f32>) -> String {
    match record.reason {
        CutReason::Similarity => format!("cut: {}", Shortfall(record.similarity, threshold)),
        CutReason::MaxSentences => "cut: largest number of sentences".to_owned(),
        CutReason::MaxTokens => "cut: token cap".to_owned(),
        CutReason::End => "end of the text".to_owned(),
        other => format!("cut: {other}"),
    }
}
