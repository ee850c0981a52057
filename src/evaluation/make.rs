//! Questions on one's own texts, asked of a language model and checked.
//!
//! After Smith and Troynikov (2024): the model sees a window of a text and is to ask one question and to quote what
//! answers it. A quotation must be found in the text (exactly, else white space and case overlooked, else the sentence
//! that is nearly the same); a question whose worst excerpt is too far from it is dropped, and so is one that is nearly
//! another. Every reply is written down before it is looked at, so that a run that stops, for whatever reason, goes on
//! from there and nothing is paid for twice.

mod journal;

use std::ops::Range;
use std::path::PathBuf;

use serde::Deserialize;

use super::dataset::{Corpus, Dataset, Question, Reference};
use super::locate::Locator;
use super::stats::SplitMix;
use crate::embedding::{Cosine, Embedder, EmbeddingError, Similarity, embed_texts};
use crate::llm::{ChatError, ChatModel, ChatRequest};
use crate::span::Span;

pub use journal::{Attempt, Journal};

/// How questions are made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MakeSettings {
    /// Questions wanted of each text.
    pub questions: usize,
    /// Replies a question may take on average before a text is given up.
    pub attempts: usize,
    /// Characters of a text that the model sees at a time.
    pub window: usize,
    /// A question is dropped whose cosine with any of its excerpts is lower.
    pub min_similarity: f32,
    /// A question is dropped whose cosine with an earlier one is at least this.
    pub max_likeness: f32,
    /// Chooses the windows.
    pub seed: u64,
}

impl Default for MakeSettings {
    fn default() -> Self {
        Self { questions: 10, attempts: 5, window: 4000, min_similarity: 0.3, max_likeness: 0.85, seed: 1 }
    }
}

/// Why a reply made no question.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// It is not the JSON that was asked for.
    #[error("the reply is not JSON with a question and its references")]
    NotJson,
    /// It used up its tokens before it came to an end.
    #[error("the reply was cut off at {REPLY} tokens")]
    Truncated,
    /// It quotes nothing, or too much.
    #[error("the reply quotes {0} excerpts, not 1 to 5")]
    References(usize),
    /// It quotes what is not there.
    #[error("the excerpt {0:?} is not in the text")]
    NotFound(String),
    /// Question and excerpt have little to do with each other.
    #[error("an excerpt is too far from the question (cosine {0:.2})")]
    Far(f32),
    /// The question was asked before in other words.
    #[error("the question is nearly one that was asked before (cosine {0:.2})")]
    Duplicate(f32),
}

/// Why making questions stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// The model cannot be asked.
    #[error("the language model gave no reply; what it said before is kept, and the same command goes on from there")]
    Chat(#[from] ChatError),
    /// A question cannot be embedded.
    #[error("a question could not be embedded")]
    Embedding(#[from] EmbeddingError),
    /// The journal cannot be read or written.
    #[error("the journal {path} cannot be used")]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A text that was given up, since too many replies were of no use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{corpus}: {made} of {wanted} questions after {attempts} replies; the last was of no use: {last}. Another model may do better, or fewer questions"
)]
pub struct GivenUp {
    /// The text.
    pub corpus: String,
    /// Questions that were kept.
    pub made: usize,
    /// Questions that were wanted.
    pub wanted: usize,
    /// Replies of this run.
    pub attempts: usize,
    /// What was wrong with the last one.
    pub last: Rejected,
}

/// What came of one reply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The corpus.
    pub corpus: &'a str,
    /// All questions so far.
    pub dataset: &'a Dataset,
    /// Why the reply was of no use; `None` if it made a question.
    pub rejected: Option<&'a Rejected>,
    /// The reply is a new one, not from the journal.
    pub fresh: bool,
}

/// Makes questions on `corpora` until each has as many as wanted, beginning with the replies in the journal. `progress`
/// hears of every reply. Texts that were given up come back beside the questions of the others.
///
/// # Errors
///
/// [`MakeError`]; what was replied before is in the journal.
pub fn make_questions(
    corpora: &[Corpus],
    chat: &dyn ChatModel,
    embedder: &dyn Embedder,
    settings: &MakeSettings,
    journal: &mut Journal,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<(Dataset, Vec<GivenUp>), MakeError> {
    let mut dataset = Dataset { name: "made".to_owned(), corpora: corpora.to_vec(), questions: Vec::new() };
    let mut asked: Vec<Vec<f32>> = Vec::new();
    let mut given_up = Vec::new();
    for (number, corpus) in corpora.iter().enumerate() {
        let maker = Maker::new(number, corpus, embedder, settings);
        let had: Vec<Attempt> = journal.replies.iter().filter(|reply| reply.corpus == corpus.id).cloned().collect();
        let known = had.len();
        let mut had = had.into_iter();
        let (mut made, mut attempts, mut last) = (0, 0, Rejected::NotJson);
        loop {
            // What was paid for is used, even if fewer questions are wanted now.
            let old = had.next();
            let fresh = old.is_none();
            let reply = if let Some(reply) = old {
                reply
            } else if made >= settings.questions {
                break;
            } else {
                // Only what this run cost counts, so that it can be taken up again with another model.
                if attempts == settings.questions * settings.attempts {
                    let (corpus, wanted) = (corpus.id.clone(), settings.questions);
                    given_up.push(GivenUp { corpus, made, wanted, attempts, last });
                    break;
                }
                let reply = maker.ask(chat, known + attempts, &dataset)?;
                attempts += 1;
                journal.add(reply.clone())?;
                reply
            };
            let rejected = match maker.read(&reply, &mut asked)? {
                Ok(question) => {
                    dataset.questions.push(question);
                    made += 1;
                    None
                }
                Err(rejected) => Some(rejected),
            };
            progress(Progress { corpus: &corpus.id, dataset: &dataset, rejected: rejected.as_ref(), fresh });
            last = rejected.unwrap_or(last);
        }
    }
    Ok((dataset, given_up))
}

/// Room for a reply.
const REPLY: u32 = 600;

const SYSTEM: &str = "You write questions that test a search engine. You are shown a passage. Ask one question that \
somebody might type who has never seen the passage and whose answer stands in it: specific, and understandable on its \
own. Then quote the parts of the passage that answer it, word for word and as short as they can be: whole sentences, one \
to five of them. Reply with JSON only, in this form: {\"question\": \"...\", \"references\": [\"...\"]}";

/// Questions shown to the model so that it asks something else.
const SHOWN: usize = 20;

/// Makes the questions of one corpus.
struct Maker<'a> {
    number: usize,
    corpus: &'a Corpus,
    /// Byte of every character, and behind the last.
    starts: Vec<usize>,
    locator: Locator<'a>,
    embedder: &'a dyn Embedder,
    settings: &'a MakeSettings,
}

/// What the model is asked for.
#[derive(Deserialize)]
struct Reply {
    question: String,
    references: Vec<String>,
}

impl<'a> Maker<'a> {
    fn new(number: usize, corpus: &'a Corpus, embedder: &'a dyn Embedder, settings: &'a MakeSettings) -> Self {
        let starts = corpus.text.char_indices().map(|(at, _)| at).chain([corpus.text.len()]).collect();
        Self { number, corpus, starts, locator: Locator::new(&corpus.text), embedder, settings }
    }

    /// The window of an attempt: the same one whenever the run is taken up again.
    fn window(&self, attempt: usize) -> Range<usize> {
        let characters = self.starts.len() - 1;
        let room = characters.saturating_sub(self.settings.window);
        let mut random = SplitMix(self.settings.seed ^ ((self.number as u64) << 32) ^ attempt as u64);
        let start = if room == 0 { 0 } else { random.below(room + 1) };
        start..characters.min(start + self.settings.window)
    }

    /// The bytes of a range of characters.
    fn bytes(&self, characters: &Range<usize>) -> Span {
        let last = self.starts.len() - 1;
        Span::new(self.starts[characters.start.min(last)], self.starts[characters.end.min(last)])
    }

    fn ask(&self, chat: &dyn ChatModel, attempt: usize, dataset: &Dataset) -> Result<Attempt, MakeError> {
        let window = self.window(attempt);
        let passage = &self.corpus.text[self.bytes(&window)];
        let own = dataset.questions.iter().rev().filter(|question| question.corpus == self.number).take(SHOWN);
        let asked: Vec<&str> = own.map(|question| question.text.as_str()).collect();
        let mut user = format!("Passage:\n\n{passage}");
        if !asked.is_empty() {
            user.push_str("\n\nThese were asked already; ask something else:\n");
            user.push_str(&asked.join("\n"));
        }
        let request = ChatRequest::new(SYSTEM, user).with_max_tokens(REPLY).with_temperature(0.7);
        let reply = chat.chat(&request)?;
        Ok(Attempt {
            corpus: self.corpus.id.clone(),
            model: chat.name().to_owned(),
            start: window.start,
            end: window.end,
            reply: reply.text,
            input_tokens: reply.input_tokens,
            output_tokens: reply.output_tokens,
            truncated: reply.truncated,
        })
    }

    /// The question of a reply, if it is a good one; its vector joins those in `asked`.
    fn read(&self, attempt: &Attempt, asked: &mut Vec<Vec<f32>>) -> Result<Result<Question, Rejected>, EmbeddingError> {
        let (question, references) = match self.parse(attempt) {
            Ok(parsed) => parsed,
            Err(Rejected::NotJson) if attempt.truncated => return Ok(Err(Rejected::Truncated)),
            Err(rejected) => return Ok(Err(rejected)),
        };
        let texts: Vec<&str> =
            [question.as_str()].into_iter().chain(references.iter().map(|r| r.content.as_str())).collect();
        let mut vectors = embed_texts(self.embedder, &texts)?.into_iter().map(|embedding| embedding.vector);
        let vector = vectors.next().unwrap_or_default();
        let worst = vectors.map(|excerpt| Cosine.between(&vector, &excerpt)).fold(1.0, f32::min);
        if worst < self.settings.min_similarity {
            return Ok(Err(Rejected::Far(worst)));
        }
        let nearest = asked.iter().map(|other| Cosine.between(&vector, other)).fold(-1.0, f32::max);
        if nearest >= self.settings.max_likeness {
            return Ok(Err(Rejected::Duplicate(nearest)));
        }
        asked.push(vector);
        Ok(Ok(Question { text: question, corpus: self.number, references }))
    }

    fn parse(&self, attempt: &Attempt) -> Result<(String, Vec<Reference>), Rejected> {
        let reply = attempt.reply.as_str();
        // Models like to put words or a fence around what they were asked for.
        let json = reply.find('{').zip(reply.rfind('}')).and_then(|(start, end)| reply.get(start..=end));
        let Reply { question, references } =
            json.and_then(|json| serde_json::from_str(json).ok()).ok_or(Rejected::NotJson)?;
        let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
        if question.is_empty() {
            return Err(Rejected::NotJson);
        }
        if !(1..=5).contains(&references.len()) {
            return Err(Rejected::References(references.len()));
        }
        let seen = self.bytes(&(attempt.start..attempt.end));
        let mut found: Vec<Reference> =
            references.iter().map(|excerpt| self.reference(excerpt, seen)).collect::<Result<_, _>>()?;
        found.sort_by_key(|reference| (reference.start_index, reference.end_index));
        found.dedup();
        Ok((question, found))
    }

    /// Where an excerpt lies: in the passage that was shown if it is there, otherwise anywhere in the text.
    fn reference(&self, excerpt: &str, seen: Span) -> Result<Reference, Rejected> {
        let excerpt = excerpt.trim();
        let text = self.corpus.text.as_str();
        let exact = |part: Span| {
            let found = text[part].find(excerpt)?;
            Some(part.start() + found..part.start() + found + excerpt.len())
        };
        let shown = || {
            let shown = Locator::new(&text[seen]).find_blindly(excerpt)?;
            Some(seen.start() + shown.start..seen.start() + shown.end)
        };
        let place = exact(seen)
            .or_else(shown)
            .or_else(|| exact(Span::new(0, text.len())))
            .or_else(|| self.locator.find_blindly(excerpt))
            .or_else(|| self.locator.find_alike(excerpt))
            .filter(|place| !place.is_empty())
            .ok_or_else(|| Rejected::NotFound(excerpt.chars().take(80).collect()))?;
        let character = |byte: usize| self.starts.partition_point(|&start| start < byte);
        Ok(Reference {
            content: text.get(place.clone()).unwrap_or_default().to_owned(),
            start_index: character(place.start),
            end_index: character(place.end),
        })
    }
}

#[cfg(test)]
mod tests;
