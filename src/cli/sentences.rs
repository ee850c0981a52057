//! `horchunk sentences`: the units that the chunkers move, to look at or to use.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use horchunk::{CharMap, SentenceTransformer, Span, SplitterName, is_line_break};
use serde::Serialize;

use super::input::{Document, InputArgs};
use super::output::{self, Output, Target};
use super::settings::CounterName;
use super::words::Harmless;
use super::{Failures, Outcome, Talk, Usage};

/// Words of `horchunk sentences`.
#[derive(Debug, clap::Args)]
pub(super) struct SentencesArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Find sentences by: unicode, rule, paragraph, token[:N], recursive[:N]
    #[arg(long, value_name = "SPLITTER", default_value_t)]
    sentences: SplitterName,
    /// Count the tokens of token:N by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, or a tokenizer.json
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
    /// What to write [default: what the name of --output ends in, otherwise text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A file, or a folder (ending in /) with one file a document [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One sentence a line, its own line breaks shown as a space
    Text,
    /// One record a line, with spans
    Jsonl,
}

/// The record of a sentence.
#[derive(Serialize)]
struct SentenceRecord<'a> {
    document: &'a str,
    index: usize,
    start: usize,
    end: usize,
    char_start: usize,
    char_end: usize,
    line_start: usize,
    line_end: usize,
    text: &'a str,
}

/// Runs `horchunk sentences`.
pub(super) fn run(args: &SentencesArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let bundled = || Ok(SentenceTransformer::bundled()?);
    let counter = if args.sentences.needs_counter() { args.tokens.load(bundled, talk)? } else { None };
    if args.sentences.needs_counter() && counter.is_none() {
        return Err(Usage("--sentences by tokens needs a counter: not --tokens none".to_owned()).into());
    }
    let splitter = args.sentences.splitter(counter.as_ref())?;
    let ending = if args.format() == Format::Text { ".txt" } else { ".jsonl" };
    let inputs = args.input.open(args.output.as_deref())?;
    let mut target = Target::new(args.output.as_deref(), ending, inputs.files());
    let mut all = if target.is_folder() { None } else { Some(target.open("")?) };
    let (mut documents, mut failures) = (0, Failures::default());
    for document in inputs.documents() {
        let split = document.and_then(|document| {
            let spans = splitter.split(&document.text).with_context(|| document.name.clone())?;
            let own = if target.is_folder() { Some(target.open(&document.name)?) } else { None };
            Ok((document, spans, own))
        });
        let (document, spans, mut own) = match split {
            Ok(split) => split,
            Err(error) => {
                failures.add(&error);
                continue;
            }
        };
        if let Some(out) = own.as_mut().or(all.as_mut()) {
            args.write(out, &document, &spans)?;
        }
        own.map_or(Ok(()), Output::finish)?;
        documents += 1;
    }
    let outcome = failures.outcome();
    // Where all of them failed, a file stays as it was.
    if documents > 0 || outcome == Outcome::Done {
        all.map_or(Ok(()), Output::finish)?;
    }
    Ok(outcome)
}

impl SentencesArgs {
    fn format(&self) -> Format {
        output::format(self.format, self.output.as_deref(), Format::Text)
    }

    fn write(&self, out: &mut Output, document: &Document, spans: &[Span]) -> anyhow::Result<()> {
        let text = document.text.as_str();
        let map = CharMap::new(text);
        let terminal = self.output.is_none() && std::io::stdout().is_terminal();
        for (index, &span) in spans.iter().enumerate() {
            let words = &text[span];
            if self.format() == Format::Text {
                let lines: Vec<&str> =
                    words.split(is_line_break).map(str::trim).filter(|line| !line.is_empty()).collect();
                let line = lines.join(" ");
                // A terminal must not take orders from a text.
                if terminal {
                    writeln!(out, "{}", Harmless(&line))?;
                } else {
                    writeln!(out, "{line}")?;
                }
                continue;
            }
            let (start, end) = map.ends(span);
            let record = SentenceRecord {
                document: &document.name,
                index,
                start: span.start(),
                end: span.end(),
                char_start: start.chars,
                char_end: end.chars,
                line_start: start.line,
                line_end: end.line,
                text: words,
            };
            serde_json::to_writer(&mut *out, &record).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
