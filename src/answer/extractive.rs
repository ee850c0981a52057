//! The reader that marks the answer: a model with a question-answering head.

use super::{AnswerError, Found, Reader, Reading, Usage};
use crate::embedding::{EmbeddingError, QuestionAnswerer};

/// Answers with the span that a model for extractive question answering marks in the chunk.
///
/// The score is the margin of `SQuAD` 2.0: by how much the logits of the answer pass those of no answer. A chunk whose
/// margin stays below the model's least ([`QuestionAnswerer::with_min_margin`]) abstains. Long chunks are read in
/// windows.
///
/// ```no_run
/// use horchunk::answer::{ExtractiveReader, Reader};
/// use horchunk::{ModelLoader, ModelSource};
///
/// let model = ModelLoader::new(ModelSource::Folder("minilm-squad2".into())).load_question_answerer()?;
/// let reading = ExtractiveReader::new(model).read("When is low tide?", "Low tide is at noon.")?;
/// println!("{:?} ({:.2})", reading.answer, reading.score);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExtractiveReader {
    model: QuestionAnswerer,
}

impl ExtractiveReader {
    /// Reads with this model.
    #[must_use]
    pub const fn new(model: QuestionAnswerer) -> Self {
        Self { model }
    }
}

impl Reader for ExtractiveReader {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError> {
        let best = self.model.best(question, chunk).map_err(|error| match error {
            EmbeddingError::Question { tokens, max } => AnswerError::LongQuestion { tokens, max },
            error => AnswerError::Model(error),
        })?;
        let Some(best) = best else {
            return Ok(Reading { score: f64::NEG_INFINITY, ..Reading::default() });
        };
        let margin = best.margin();
        let found = Found { text: chunk[best.span].to_owned(), span: Some(best.span) };
        let answer = (margin >= self.model.min_margin()).then_some(found);
        Ok(Reading { answer, score: margin.into(), usage: Usage::default() })
    }
}
