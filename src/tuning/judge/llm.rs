//! A language model as judge, by vote.
//!
//! After Horchunk's tuner for language models: the model is asked several times whether a run keeps to one subject, and
//! the majority decides; a tie lowers the threshold. (The original adds up replies that are objects, so that its vote
//! fails; here every reply is read.)

use serde_json::Value;

use super::{Judge, JudgeError, Judged, Question};
use crate::llm::{ChatModel, ChatRequest};
use crate::tuning::search::Verdict;

/// Asks a language model.
///
/// ```
/// use horchunk::llm::ScriptedChat;
/// use horchunk::tuning::LlmJudge;
///
/// let judge = LlmJudge::new(ScriptedChat::new([r#"{"holds": true}"#])).with_votes(1);
/// assert_eq!(judge.calls(), 0);
/// ```
#[derive(Debug)]
pub struct LlmJudge<M> {
    model: M,
    votes: usize,
    temperature: f32,
    calls: usize,
    input_tokens: u64,
    output_tokens: u64,
    /// Runs in a row on which it gave no vote.
    unclear: usize,
    last_reply: String,
}

/// A model that gives no vote on so many runs in a row is asked no more.
const PATIENCE: usize = 3;

/// Bytes of a reply that an error shows.
const SHOWN: usize = 80;

/// What the model is told.
const SYSTEM: &str = "You are shown a few sentences in a row, taken from a longer document. Decide whether they belong \
into one passage. They hold together if all of them stay with the subject that the first sentence opens. They drift \
apart if they move on to another subject. Reply with JSON and nothing else: {\"holds\": true} if they hold together, \
{\"holds\": false} if they drift apart.";

/// Tokens for a reply; models that think need room for it.
const REPLY: u32 = 1024;

impl<M: ChatModel> LlmJudge<M> {
    /// A judge that asks three times for a vote, at temperature 0.7 so that the votes are three.
    #[must_use]
    pub const fn new(model: M) -> Self {
        Self {
            model,
            votes: 3,
            temperature: 0.7,
            calls: 0,
            input_tokens: 0,
            output_tokens: 0,
            unclear: 0,
            last_reply: String::new(),
        }
    }

    /// Asks so many times on each run (at least once).
    #[must_use]
    pub const fn with_votes(mut self, votes: usize) -> Self {
        self.votes = if votes == 0 { 1 } else { votes };
        self
    }

    /// At 0 all votes are the same.
    #[must_use]
    pub const fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// How often the model was asked.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.calls
    }

    /// Tokens asked and tokens answered, as the server counts them.
    #[must_use]
    pub const fn tokens(&self) -> (u64, u64) {
        (self.input_tokens, self.output_tokens)
    }

    /// One vote; `None` if the reply is none.
    fn vote(&mut self, run: &str) -> Result<Option<bool>, JudgeError> {
        let request = ChatRequest::new(SYSTEM, run).with_max_tokens(REPLY).with_temperature(self.temperature);
        self.calls += 1;
        let reply = self.model.chat(&request)?;
        self.input_tokens += reply.input_tokens.unwrap_or(0);
        self.output_tokens += reply.output_tokens.unwrap_or(0);
        let vote = parse(&reply.text);
        self.last_reply = reply.text;
        Ok(vote)
    }
}

impl<M: ChatModel> Judge for LlmJudge<M> {
    fn name(&self) -> String {
        format!("llm:{}", self.model.name())
    }

    fn judge(&mut self, question: &Question<'_>) -> Result<Judged, JudgeError> {
        let run = question.sentences.join(" ");
        let (mut holds, mut drifts, mut unclear) = (0, 0, 0);
        // A reply that is no vote is asked for again, though not for ever.
        while holds + drifts < self.votes && unclear < self.votes {
            match self.vote(&run)? {
                Some(true) => holds += 1,
                Some(false) => drifts += 1,
                None => unclear += 1,
            }
        }
        self.unclear = if holds + drifts == 0 { self.unclear + 1 } else { 0 };
        if self.unclear == PATIENCE {
            self.unclear = 0;
            let mut reply = std::mem::take(&mut self.last_reply);
            reply.truncate(reply.floor_char_boundary(SHOWN));
            return Err(JudgeError::Unclear { model: self.model.name().to_owned(), runs: PATIENCE, reply });
        }
        let verdict = match (holds, drifts) {
            (0, 0) => None,
            _ if holds >= drifts => Some(Verdict::Holds),
            _ => Some(Verdict::Drifts),
        };
        let of_no_use = if unclear > 0 { format!("; {unclear} unclear") } else { String::new() };
        let grounds = format!("{holds} of {} votes: holds together{of_no_use}", holds + drifts);
        Ok(Judged { verdict, grounds: Some(grounds) })
    }
}

/// The vote in a reply: the JSON object asked for, wherever it stands, or the bare word.
fn parse(reply: &str) -> Option<bool> {
    let objects = reply.match_indices('{').filter_map(|(at, _)| {
        let object = serde_json::Deserializer::from_str(reply.get(at..)?).into_iter::<Value>().next()?.ok()?;
        word(object.get("holds")?)
    });
    // What a model says last is what it came to.
    objects.reduce(|_, last| last).or_else(|| {
        let bare = reply.trim().trim_matches(|c: char| c.is_ascii_punctuation() || c == '`');
        word(&Value::String(bare.to_owned()))
    })
}

fn word(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(holds) => Some(*holds),
        Value::String(word) => match word.to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(true),
            "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{ChatError, ScriptedChat};

    const YES: &str = r#"{"holds": true}"#;
    const NO: &str = r#"{"holds": false}"#;

    fn judged(votes: usize, replies: &[&'static str]) -> Result<Judged, JudgeError> {
        let mut judge = LlmJudge::new(ScriptedChat::new(replies.iter().copied())).with_votes(votes);
        let judged = judge.judge(&Question { sentences: vec!["The tide turns.", "It floods."], similarity: 0.5 })?;
        assert_eq!(judge.calls(), replies.len());
        Ok(judged)
    }

    #[test]
    fn the_majority_decides_and_a_tie_lowers() {
        assert_eq!(judged(3, &[NO, YES, YES]).unwrap().verdict, Some(Verdict::Holds));
        assert_eq!(judged(3, &[NO, YES, NO]).unwrap().verdict, Some(Verdict::Drifts));
        assert_eq!(judged(2, &[NO, YES]).unwrap().verdict, Some(Verdict::Holds));
    }

    #[test]
    fn a_reply_that_is_no_vote_is_asked_for_again() {
        let judged = judged(2, &["Well, that depends.", NO, NO]).unwrap();
        assert_eq!(judged.verdict, Some(Verdict::Drifts));
        assert_eq!(judged.grounds.unwrap(), "0 of 2 votes: holds together; 1 unclear");
    }

    #[test]
    fn a_model_that_never_votes_has_no_verdict() {
        assert_eq!(judged(2, &["", "perhaps"]).unwrap().verdict, None);
    }

    #[test]
    fn a_model_that_says_neither_yes_nor_no_is_given_up() {
        let mut judge = LlmJudge::new(ScriptedChat::from_fn(|_| Ok("Well, maybe.".into()))).with_votes(2);
        let mut ask = || judge.judge(&Question { sentences: vec!["The tide turns."], similarity: 0.5 });
        assert!(ask().is_ok() && ask().is_ok());
        let error = ask().unwrap_err();
        assert!(error.to_string().contains("\"Well, maybe.\""), "{error}");
    }

    #[test]
    fn a_model_that_cannot_be_asked_is_an_error() {
        let error = judged(2, &[YES]).unwrap_err();
        assert!(matches!(error, JudgeError::Chat(ChatError::ScriptEnded { .. })));
    }

    #[test]
    fn votes_are_read_as_models_write_them() {
        let votes = [
            (YES, Some(true)),
            ("```json\n{\"holds\": false}\n```", Some(false)),
            ("{\"reason\": \"all {tides}\", \"holds\": \"yes\"}", Some(true)),
            ("At first {\"holds\": true}, but no: {\"holds\": false}", Some(false)),
            ("Yes.", Some(true)),
            ("false", Some(false)),
            ("{\"holds\": 1}", None),
            ("{\"holds\": tru", None),
            ("I would say yes to that.", None),
            ("", None),
        ];
        for (reply, vote) in votes {
            assert_eq!(parse(reply), vote, "{reply}");
        }
    }

    #[test]
    fn the_model_sees_the_whole_run_and_what_is_asked() {
        let chat = ScriptedChat::new([YES]).with_name("m");
        let mut judge = LlmJudge::new(&chat).with_votes(1).with_temperature(0.0);
        judge.judge(&Question { sentences: vec!["The tide turns.", "It floods."], similarity: 0.5 }).unwrap();
        let request = &chat.requests()[0];
        assert_eq!((request.user.as_ref(), request.temperature), ("The tide turns. It floods.", 0.0));
        assert_eq!(judge.name(), "llm:m");
    }
}
