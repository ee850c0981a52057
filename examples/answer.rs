//! Answers from a text with a reader of your own: index once, ask often.
//!
//!     cargo run --release --example answer
//!
//! A [`Reader`] sees one chunk and answers or abstains. Here it is plain code; yours may ask a model.

use horchunk::answer::{AnswerError, AnswerPipeline, Confidence, Found, Reader, Reading};
use horchunk::{SentenceChunker, Span};

const TEXT: &str = "\
The ferry leaves at 7:10. It takes fifty minutes to the first island. \
Passengers should be at the pier five minutes before. The last boat home leaves at 21:45.";

/// Answers with the first time of day in a chunk that shares a word with the question.
struct Timetable;

impl Reader for Timetable {
    fn name(&self) -> &'static str {
        "timetable"
    }

    fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError> {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).map(str::to_lowercase).collect()
        };
        let here = words(chunk);
        let shared = words(question).iter().filter(|word| here.contains(word)).count();
        let time = chunk.split_whitespace().map(|word| word.trim_end_matches('.')).find(|word| word.contains(':'));
        // The place is in bytes of the chunk; the pipeline moves it to where the chunk stands in the text.
        let answer = time.filter(|_| shared > 0).and_then(|time| {
            let start = chunk.find(time)?;
            Some(Found { text: time.to_owned(), span: Some(Span::new(start, start + time.len())) })
        });
        Ok(Reading { answer, score: shared as f64, ..Reading::default() })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One sentence a chunk; the answer of which the reader is surest is selected.
    let pipeline = AnswerPipeline::new(SentenceChunker::new(1)?, Timetable, Confidence);
    let index = pipeline.index(TEXT)?;

    for question in ["When does the ferry leave?", "When is the last boat?", "Who mends the nets?"] {
        let answered = index.ask(question)?;
        match answered.chosen().and_then(|candidate| candidate.answer.as_ref()) {
            Some(Found { text, span: Some(span) }) => println!("{question} {text} (bytes {span})"),
            Some(Found { text, span: None }) => println!("{question} {text} (not in these words)"),
            None => println!("{question} No chunk says."),
        }
    }
    Ok(())
}
