//! Who says whether a run holds together: a language model, a script, a size to reach. A person answers the same
//! questions through the terminal app or line by line.

mod llm;
mod script;
mod target;

use super::search::Verdict;
use super::tuner::Tuner;
use crate::chunker::ChunkError;
use crate::llm::ChatError;

pub use llm::LlmJudge;
pub use script::{ScriptJudge, UnknownVerdict, parse_verdict};
pub use target::{TargetJudge, median};

/// A run to judge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question<'a> {
    /// Its sentences, the anchor first.
    pub sentences: Vec<&'a str>,
    /// Cosine of the anchor and the whole run.
    pub similarity: f32,
}

/// What a judge said, and on what grounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The verdict; `None` where the judge could not say.
    pub verdict: Option<Verdict>,
    /// The grounds in words, for those who watch: the votes, the size reached.
    pub grounds: Option<String>,
}

/// Why a judge stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// A script has no verdict left, or whoever was asked has left.
    #[error("there are no more verdicts, and the search wants another")]
    Ended,
    /// The language model cannot be asked.
    #[error("the language model gave no answer")]
    Chat(#[from] ChatError),
    /// The language model never says yes or no.
    #[error("{model} gave no yes or no on {runs} runs in a row; it said {reply:?}: take another model")]
    Unclear {
        /// The model.
        model: String,
        /// Runs it was asked about.
        runs: usize,
        /// The beginning of its last reply.
        reply: String,
    },
    /// The texts cannot be chunked at a threshold.
    #[error("the texts could not be chunked at the threshold {threshold}")]
    Chunk {
        /// The threshold.
        threshold: f32,
        /// Why.
        #[source]
        source: ChunkError,
    },
    /// The settings of a judge contradict each other.
    #[error("the chunks cannot be made as asked")]
    Settings(#[from] crate::chunker::SettingsError),
    /// A judge outside this crate failed.
    #[error("the judge failed")]
    Custom(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Says whether runs hold together.
pub trait Judge {
    /// Who judges, as a profile records it: `person`, `llm:ID`, `script`.
    fn name(&self) -> String;

    /// The verdict on one run.
    ///
    /// # Errors
    ///
    /// [`JudgeError`]: no verdict can be had; what was said before stands.
    fn judge(&mut self, question: &Question<'_>) -> Result<Judged, JudgeError>;
}

impl<J: Judge + ?Sized> Judge for &mut J {
    fn name(&self) -> String {
        (**self).name()
    }

    fn judge(&mut self, question: &Question<'_>) -> Result<Judged, JudgeError> {
        (**self).judge(question)
    }
}

impl<J: Judge + ?Sized> Judge for Box<J> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn judge(&mut self, question: &Question<'_>) -> Result<Judged, JudgeError> {
        (**self).judge(question)
    }
}

impl Tuner {
    /// The question to ask next on these texts; `None` at the end.
    #[must_use]
    pub fn question<'a>(&self, texts: &[&'a str]) -> Option<Question<'a>> {
        let run = self.run()?;
        Some(Question { sentences: run.words(texts), similarity: run.similarity })
    }

    /// Asks `judge` until nothing is left to ask. `answered` hears every answer once it is taken, with the similarity
    /// that it was about; its error ends the course.
    ///
    /// # Errors
    ///
    /// Those of the judge and of `answered`. All answers before stand.
    pub fn ask<E: From<JudgeError>>(
        &mut self,
        judge: &mut dyn Judge,
        texts: &[&str],
        mut answered: impl FnMut(&Self, f32, &Judged) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(question) = self.question(texts) {
            let judged = judge.judge(&question)?;
            self.answer(judged.verdict);
            answered(self, question.similarity, &judged)?;
        }
        Ok(())
    }
}
