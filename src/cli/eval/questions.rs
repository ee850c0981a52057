//! `--questions`: for every question what was retrieved and what was missed.

use std::io::{self, Write};
use std::ops::Range;

use horchunk::evaluation::{Dataset, Evaluation, Scores};
use serde::Serialize;

/// One question of one row.
#[derive(Serialize)]
struct Record<'a> {
    chunker: &'a str,
    number: usize,
    question: &'a str,
    corpus: &'a str,
    #[serde(flatten)]
    scores: Scores,
    references: Vec<Part<'a>>,
    missed: Vec<Part<'a>>,
    retrieved: Vec<Hit<'a>>,
}

/// Characters of a corpus.
#[derive(Serialize)]
struct Part<'a> {
    char_start: usize,
    char_end: usize,
    text: &'a str,
}

#[derive(Serialize)]
struct Hit<'a> {
    corpus: &'a str,
    similarity: f32,
    /// Whether it holds a part of a reference.
    useful: bool,
    #[serde(flatten)]
    part: Part<'a>,
}

/// Writes all questions of one row.
pub(super) fn write(
    out: &mut dyn Write,
    chunker: &str,
    dataset: &Dataset,
    evaluation: &Evaluation,
    json: bool,
) -> io::Result<()> {
    for number in 0..dataset.questions.len() {
        let record = record(chunker, dataset, evaluation, number);
        if json {
            serde_json::to_writer(&mut *out, &record)?;
            writeln!(out)?;
        } else {
            text(out, &record)?;
        }
    }
    Ok(())
}

fn record<'a>(chunker: &'a str, dataset: &'a Dataset, evaluation: &Evaluation, number: usize) -> Record<'a> {
    let question = &dataset.questions[number];
    let result = &evaluation.questions[number];
    let part = |corpus: usize, characters: Range<usize>| Part {
        char_start: characters.start,
        char_end: characters.end,
        text: dataset.corpora[corpus].excerpt(characters),
    };
    let hit = |chunk: usize, similarity: f32| {
        let chunk = &evaluation.chunks[chunk];
        let useful = chunk.corpus == question.corpus
            && question.references.iter().any(|reference| {
                reference.start_index < chunk.characters.end && chunk.characters.start < reference.end_index
            });
        let corpus = dataset.corpora[chunk.corpus].id.as_str();
        Hit { corpus, similarity, useful, part: part(chunk.corpus, chunk.characters.clone()) }
    };
    Record {
        chunker,
        number: number + 1,
        question: &question.text,
        corpus: &dataset.corpora[question.corpus].id,
        scores: result.scores,
        references: question.references.iter().map(|reference| part(question.corpus, reference.range())).collect(),
        missed: evaluation.missed(dataset, number).into_iter().map(|range| part(question.corpus, range)).collect(),
        retrieved: result.retrieved.iter().map(|found| hit(found.chunk, found.similarity)).collect(),
    }
}

fn text(out: &mut dyn Write, record: &Record<'_>) -> io::Result<()> {
    let scores = &record.scores;
    writeln!(out, "── {} · {} · {}", record.number, record.corpus, record.chunker)?;
    writeln!(out, "   {}", one_line(record.question))?;
    writeln!(
        out,
        "   recall {:.0} %, precision {:.1} %, precision-omega {:.0} %, IoU {:.1} %",
        scores.recall * 100.0,
        scores.precision * 100.0,
        scores.precision_omega * 100.0,
        scores.iou * 100.0
    )?;
    for hit in &record.retrieved {
        let (part, mark) = (&hit.part, if hit.useful { '+' } else { '-' });
        let place = format!("{}:{}..{}", hit.corpus, part.char_start, part.char_end);
        writeln!(out, " {mark} {:.3} {place} {}", hit.similarity, one_line(part.text))?;
    }
    for part in &record.missed {
        writeln!(out, " ! missed {}..{} {}", part.char_start, part.char_end, one_line(part.text))?;
    }
    writeln!(out)
}

/// The beginning of a text without its line breaks.
fn one_line(text: &str) -> String {
    const SHOWN: usize = 100;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let head: String = words.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    if head.len() < words.len() { format!("{head}...") } else { head }
}
