//! A language model says where the text turns.
//!
//! After Chroma's LLM chunker (Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024): the text is
//! cut into small pieces, as many as fit a window are shown with their numbers, and the model names those behind which
//! a new theme begins; the next window starts behind the last one named. Unlike the original, a model that keeps
//! answering nonsense is an error after a few attempts, never an endless loop, and every answer moves on.

use super::{Chunk, ChunkError, Chunker, CutReason, groups};
use crate::llm::{ChatError, ChatModel, ChatRequest};
use crate::sentence::{RecursiveSplitter, SentenceSplitter};
use crate::tokens::TokenCounter;

/// Tokens of a piece.
const PIECE: usize = 50;
/// Tokens of a window after which no piece is added.
const WINDOW: usize = 800;
/// As few pieces as this at the end of a text stay together unasked.
const REST: usize = 4;
/// Answers that may be nonsense before the chunker gives up on a window.
const ATTEMPTS: usize = 3;
/// Room for an answer.
const REPLY: u32 = 200;

const SYSTEM: &str = "You divide texts into sections that each treat one theme. You are shown consecutive pieces of a \
text, each with its number in square brackets in front. Say behind which pieces a new theme begins. Reply with a single \
line: split_after: followed by the numbers, ascending and parted by commas. For example, if pieces 1 and 2 belong \
together and piece 3 begins something new, the line is split_after: 2. If all belong together it is split_after: none";

/// Cuts where a language model says.
pub struct LlmChunker<M> {
    model: M,
    splitter: Box<dyn SentenceSplitter>,
    counter: Box<dyn TokenCounter>,
}

/// The model never gave an answer that could be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "{model} was asked {ATTEMPTS} times where to split pieces {first} to {last} and last said {reply:?}; another model may do better"
)]
struct NoSplit {
    model: String,
    first: usize,
    last: usize,
    reply: String,
}

impl From<ChatError> for ChunkError {
    fn from(error: ChatError) -> Self {
        Self::Custom(error.into())
    }
}

impl<M: ChatModel> LlmChunker<M> {
    /// Asks `model`; pieces and windows are measured by `counter`.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "it never does")]
    pub fn new(model: M, counter: impl TokenCounter + Clone + 'static) -> Self {
        let splitter = RecursiveSplitter::new(counter.clone(), PIECE).expect("pieces have tokens");
        Self { model, splitter: Box::new(splitter), counter: Box::new(counter) }
    }

    /// Other pieces.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }

    /// The numbers of pieces, from 1, behind which the shown ones are to be split; more than `done` and at most `last`;
    /// none if all belong together.
    fn ask(&self, shown: &str, done: usize, last: usize) -> Result<Vec<usize>, ChunkError> {
        let mut reply = String::new();
        for attempt in 0..ATTEMPTS {
            let mut user = format!(
                "{shown}\n\nReply only with the line split_after: and at least one number from {} to {last}.",
                done + 1
            );
            if attempt > 0 {
                user += "\nYour last reply could not be used: ";
                user += &reply;
            }
            // A model that thinks may need more room than an answer takes.
            let request = ChatRequest::new(SYSTEM, user).with_max_tokens(REPLY << (2 * attempt)).with_temperature(0.2);
            let answer = self.model.chat(&request)?;
            reply = answer.text;
            // The last number of an answer that was cut off may be half of one.
            let splits = if answer.truncated { Vec::new() } else { read(&reply) };
            if splits.is_empty() && !answer.truncated && says_none(&reply) {
                return Ok(splits);
            }
            let ascending = splits.windows(2).all(|pair| pair[0] < pair[1]);
            if ascending && splits.first().is_some_and(|&first| first > done) && splits.last() <= Some(&last) {
                return Ok(splits);
            }
        }
        let reply = reply.chars().take(200).collect();
        let error = NoSplit { model: self.model.name().to_owned(), first: done + 1, last, reply };
        Err(ChunkError::Custom(error.into()))
    }
}

/// What stands behind `split_after` on its line.
fn answer(reply: &str) -> &str {
    reply.lines().find_map(|line| line.split_once("split_after")).map_or("", |(_, answer)| answer)
}

/// The numbers behind which to split; none where anything else is among them.
fn read(reply: &str) -> Vec<usize> {
    let words = answer(reply).split([':', ',', ' ', '[', ']', '.', '*', '`']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect::<Option<_>>().unwrap_or_default()
}

/// Whether the model found no new theme.
fn says_none(reply: &str) -> bool {
    answer(reply).to_lowercase().contains("none")
}

impl<M: ChatModel> Chunker for LlmChunker<M> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let pieces = self.splitter.split(text)?;
        let mut splits: Vec<usize> = Vec::new();
        let mut done = 0;
        while done + REST < pieces.len() {
            let (mut shown, mut tokens, mut last) = (String::new(), 0, done);
            for &piece in &pieces[done..] {
                last += 1;
                tokens += self.counter.count(&text[piece])?;
                shown.extend(["[", &last.to_string(), "] ", &text[piece], "\n"]);
                if tokens > WINDOW {
                    break;
                }
            }
            let found = self.ask(&shown, done, last)?;
            done = found.last().copied().unwrap_or(last);
            splits.extend(found);
        }
        // A split behind the last piece is none.
        splits.retain(|&split| split < pieces.len());
        let starts = [0].into_iter().chain(splits.iter().copied());
        let ends = splits.iter().copied().chain([pieces.len()]);
        let runs = starts.zip(ends).map(|(start, end)| {
            let reason = if end == pieces.len() { CutReason::End } else { CutReason::Model };
            (start..end, (reason, None))
        });
        groups::chunks(text, Some(&*self.counter), &pieces, runs)
    }
}

impl<M: ChatModel> std::fmt::Debug for LlmChunker<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmChunker").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::ScriptedChat;
    use crate::sentence::RuleSplitter;
    use crate::tokens::Tiktoken;

    const TEXT: &str = "A one. A two. A three. B one. B two. C one. C two. C three.";

    fn chunks(replies: &[&str]) -> Result<Vec<String>, ChunkError> {
        let model = ScriptedChat::new(replies.iter().copied());
        let chunker = LlmChunker::new(&model, Tiktoken::default()).with_splitter(RuleSplitter);
        Ok(chunker.chunk(TEXT)?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_text_is_cut_behind_the_pieces_that_the_model_names() {
        let found = chunks(&["split_after: 3, 5"]).unwrap();
        assert_eq!(found, ["A one. A two. A three.", "B one. B two.", "C one. C two. C three."]);
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_asked_for_again() {
        for nonsense in [
            "I would rather not.",
            "split_after: 5, 3",
            "split_after: 0",
            "split_after: 99",
            "split_after:",
            "split_after: -3",
        ] {
            let found = chunks(&[nonsense, "Sure!\nsplit_after: 5"]).unwrap();
            assert_eq!(found, ["A one. A two. A three. B one. B two.", "C one. C two. C three."], "{nonsense}");
        }
    }

    #[test]
    fn a_model_that_never_answers_is_an_error_that_shows_what_it_said() {
        let error = chunks(&["no"; 3]).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("pieces 1 to 8") && cause.contains("\"no\""), "{cause}");
    }

    #[test]
    fn a_text_of_one_theme_stays_whole() {
        assert_eq!(chunks(&["split_after: none"]).unwrap(), [TEXT]);
    }

    #[test]
    fn a_split_behind_the_last_piece_is_none() {
        assert_eq!(chunks(&["split_after: 8"]).unwrap(), [TEXT]);
    }

    #[test]
    fn the_model_sees_each_piece_with_its_number() {
        let model = ScriptedChat::new(["split_after: 5"]);
        let chunker = LlmChunker::new(&model, Tiktoken::default()).with_splitter(RuleSplitter);
        chunker.chunk(TEXT).unwrap();
        let asked = model.requests();
        assert!(asked[0].user.starts_with("[1] A one.\n[2] A two.\n"), "{}", asked[0].user);
        assert!(asked[0].user.ends_with("from 1 to 8."), "{}", asked[0].user);
    }
}
