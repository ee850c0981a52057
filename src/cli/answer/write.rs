//! An answer as it is written: for people, or as JSON.

use std::io::{self, Write};

use horchunk::answer::{Answered, Candidate, Prices};
use horchunk::{CharMap, Span};
use serde::Serialize;

use crate::cli::input::Document;
use crate::cli::words::Harmless;

/// An answer as it is written; spans are bytes of the document.
#[derive(Serialize)]
struct AnswerRecord<'a> {
    document: &'a str,
    chunk: usize,
    chunk_start: usize,
    chunk_end: usize,
    answer: Option<&'a str>,
    start: Option<usize>,
    end: Option<usize>,
    line: Option<usize>,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    selector_score: Option<f64>,
}

/// The whole result as it is written.
#[derive(Serialize)]
struct ResultRecord<'a> {
    question: &'a str,
    reader: &'a str,
    selector: &'a str,
    answer: Option<AnswerRecord<'a>>,
    chunks: usize,
    abstained: usize,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<AnswerRecord<'a>>>,
}

/// The documents, in the order of their numbers.
#[derive(Default)]
pub(super) struct Sources<'a>(Vec<(&'a str, CharMap<'a>)>);

impl<'a> Sources<'a> {
    pub(super) fn add(&mut self, document: &'a Document) {
        self.0.push((&document.name, CharMap::new(&document.text)));
    }
}

/// Writes the answers to a question.
pub(super) struct Writer<'a> {
    pub(super) question: &'a str,
    /// Names of reader and selector.
    pub(super) reader: &'a str,
    pub(super) selector: &'a str,
    pub(super) prices: Option<Prices>,
    pub(super) json: bool,
    /// Whether the reader is a terminal, which a text must not steer.
    pub(super) terminal: bool,
    pub(super) sources: Sources<'a>,
}

impl Writer<'_> {
    /// One answer; with the score that the selector gave it, where that is of interest.
    pub(super) fn candidate(
        &self,
        out: &mut impl Write,
        candidate: &Candidate,
        selector_score: Option<f64>,
    ) -> io::Result<()> {
        let record = self.record(candidate, selector_score);
        if self.json {
            return json(out, &record);
        }
        let text = record.answer.unwrap_or_default();
        if self.terminal {
            writeln!(out, "{}", Harmless(text))?;
        } else {
            writeln!(out, "{text}")?;
        }
        let place = match (record.line, record.start, record.end) {
            (Some(line), Some(start), Some(end)) => format!("line {line}, bytes {start}..{end}"),
            _ => format!("not in its words, bytes {}..{} of the chunk", record.chunk_start, record.chunk_end),
        };
        let scores = selector_score.map(|score| format!(", {} {score:.3}", self.selector)).unwrap_or_default();
        let document = Harmless(record.document);
        writeln!(out, "  {document}, chunk {}, {place}, score {:.3}{scores}", record.chunk, record.score)?;
        out.flush()
    }

    /// The whole result: one JSON object, or the selected answer, behind those of all other chunks if `all` are wanted
    /// or some were written before.
    pub(super) fn result(
        &self,
        out: &mut impl Write,
        answered: &Answered,
        all: bool,
        others_before: bool,
    ) -> io::Result<()> {
        if self.json {
            return json(out, &self.whole_record(answered, all));
        }
        if all {
            for (candidate, &score) in scored(answered).filter(|(_, score)| score.is_some()) {
                self.candidate(out, candidate, score)?;
            }
        }
        if let Some(chosen) = answered.chosen() {
            if all || others_before {
                writeln!(out, "selected by {}:", self.selector)?;
            }
            self.candidate(out, chosen, None)
        } else {
            writeln!(out, "no answer found")?;
            out.flush()
        }
    }

    fn record<'c>(&'c self, candidate: &'c Candidate, selector_score: Option<f64>) -> AnswerRecord<'c> {
        let source = self.sources.0.get(candidate.document);
        let span = candidate.answer.as_ref().and_then(|found| found.span);
        AnswerRecord {
            document: source.map_or("", |source| source.0),
            chunk: candidate.chunk,
            chunk_start: candidate.chunk_span.start(),
            chunk_end: candidate.chunk_span.end(),
            answer: candidate.answer.as_ref().map(|found| found.text.as_str()),
            start: span.map(Span::start),
            end: span.map(Span::end),
            line: span.zip(source).map(|(span, source)| source.1.position(span.start()).line),
            score: candidate.score,
            selector_score,
        }
    }

    fn whole_record<'c>(&'c self, answered: &'c Answered, all: bool) -> ResultRecord<'c> {
        let usage = answered.usage();
        let chosen = answered.selection.chosen.and_then(|at| scored(answered).nth(at));
        ResultRecord {
            question: self.question,
            reader: self.reader,
            selector: self.selector,
            answer: chosen.map(|(candidate, &score)| self.record(candidate, score)),
            chunks: answered.candidates.len(),
            abstained: answered.selection.abstained,
            requests: usage.requests,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached: usage.cached,
            cost: self.prices.map(|prices| prices.cost(usage)),
            candidates: all
                .then(|| scored(answered).map(|(candidate, &score)| self.record(candidate, score)).collect()),
        }
    }
}

/// Every candidate with what the selector gave it.
fn scored(answered: &Answered) -> impl Iterator<Item = (&Candidate, &Option<f64>)> {
    answered.candidates.iter().zip(&answered.selection.scores)
}

fn json(out: &mut impl Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    writeln!(out)?;
    out.flush()
}
