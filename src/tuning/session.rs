//! What a person decided, in a form that outlives the program.
//!
//! A session holds the settings, the hashes of texts and model, and every answer with the words it was about. Runs are
//! known by their words, not by their rank: where a text was changed meanwhile, judgements of runs that still stand in
//! it keep their worth, and the others are said to be lost.

mod file;

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::search::{Answer, Verdict};
use super::tuner::{Judgement, Tuner, TunerSettings};
use crate::embedding::sha256;

pub use file::{SessionError, SessionFile, newest_session};

/// The layout of session files that this version writes and reads.
const VERSION: u32 = 1;

/// A course of judgements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// The layout of the file.
    pub version: u32,
    /// Day it was begun, as 2026-12-31, in UTC.
    pub begun: String,
    /// The texts' files and folders as they were given, made absolute.
    pub paths: Vec<PathBuf>,
    /// The texts.
    pub texts: Vec<TextStamp>,
    /// What the search depends on.
    pub settings: SessionSettings,
    /// Name of the profile that is to be written, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Everything that was answered, in order.
    pub answers: Vec<Answered>,
    /// Answers about runs that are not in the texts as they are now; they come back with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<Answered>,
}

/// A text by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextStamp {
    /// Name of the document.
    pub name: String,
    /// SHA-256 of the text in UTF-8.
    pub sha256: String,
}

impl TextStamp {
    /// The stamp of a text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        Self { name: name.into(), sha256: sha256(text.as_bytes()) }
    }
}

/// What a search depends on besides the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// Sentences of a run.
    pub depth: usize,
    /// Sentences from the start of a run to that of the next.
    pub step: usize,
    /// The original's sample and search.
    pub compat: bool,
    /// One search over all texts.
    pub pooled: bool,
    /// Runs shown again around the place found.
    pub confirm: usize,
    /// How sentences are found.
    pub sentences: String,
    /// Most sentences of the chunks that are to be made.
    pub max_sentences: usize,
    /// Name of the embedding model.
    pub model: String,
    /// SHA-256 of its weights.
    pub model_sha256: String,
    /// What is put in front of every text that is embedded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text_prefix: String,
}

impl SessionSettings {
    /// What of them the questions depend on.
    #[must_use]
    pub fn tuner(&self) -> TunerSettings {
        TunerSettings { pooled: self.pooled, confirm: self.confirm, compat: self.compat }
    }
}

/// An answer and what it was about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answered {
    /// What was said; `None` for a run that was skipped.
    pub verdict: Option<Verdict>,
    /// Who said it: `person`, `llm:ID`, `script`.
    pub judge: String,
    /// Cosine of the first sentence and the whole run.
    pub similarity: f32,
    /// Number of the text.
    pub text: usize,
    /// First byte of the run in its text.
    pub start: usize,
    /// First byte behind it.
    pub end: usize,
    /// The words of its sentences.
    pub sentences: Vec<String>,
    /// Answers were given in the order of these numbers.
    #[serde(default)]
    pub number: usize,
}

/// What became of the answers of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Answers that still stand.
    pub kept: usize,
    /// Answers about runs that are in the texts no more; the session keeps them aside.
    pub set_aside: usize,
    /// Texts that are not what they were.
    pub changed: Vec<String>,
}

impl Session {
    /// A session without answers.
    #[must_use]
    pub fn new(paths: Vec<PathBuf>, texts: Vec<TextStamp>, settings: SessionSettings) -> Self {
        Self {
            version: VERSION,
            begun: today(),
            paths,
            texts,
            settings,
            profile: None,
            answers: Vec::new(),
            set_aside: Vec::new(),
        }
    }

    /// Takes over what was answered so far. `judge` said what is new.
    pub fn record(&mut self, tuner: &Tuner, texts: &[&str], judge: &str) {
        let mut before = std::mem::take(&mut self.answers);
        let next = before.iter().chain(&self.set_aside).map(|answer| answer.number + 1).max().unwrap_or(0);
        for (run, verdict) in tuner.answers() {
            let span = run.span();
            let place = (run.text, span.start(), span.end(), verdict);
            let same = |old: &Answered| (old.text, old.start, old.end, old.verdict) == place;
            // Who said it first said it.
            let known = before.iter().position(same).map(|at| before.remove(at));
            self.answers.push(known.unwrap_or_else(|| Answered {
                verdict,
                judge: judge.to_owned(),
                similarity: run.similarity,
                text: run.text,
                start: span.start(),
                end: span.end(),
                sentences: run.words(texts).into_iter().map(str::to_owned).collect(),
                number: next,
            }));
        }
    }

    /// Brings the answers back to a tuner of these texts, which may have changed; the session then is about the texts
    /// as they are.
    pub fn restore(&mut self, tuner: &mut Tuner, texts: &[&str]) -> Restored {
        let mut restored = Restored::default();
        for (stamp, text) in self.texts.iter_mut().zip(texts) {
            let now = TextStamp::new(stamp.name.clone(), text);
            if *stamp != now {
                restored.changed.push(stamp.name.clone());
                *stamp = now;
            }
        }
        let mut waiting = std::mem::take(&mut self.answers);
        waiting.append(&mut self.set_aside);
        waiting.sort_by_key(|answer| answer.number);
        let mut found: Vec<Option<(usize, Answer)>> = vec![None; waiting.len()];
        for (number, (sample, _)) in tuner.searches().iter().enumerate() {
            let mut ranks: HashMap<(usize, Vec<&str>), Vec<usize>> = HashMap::new();
            for (rank, run) in sample.runs.iter().enumerate() {
                ranks.entry((run.text, run.words(texts))).or_default().push(rank);
            }
            for (answer, found) in waiting.iter_mut().zip(&mut found) {
                let words: Vec<&str> = answer.sentences.iter().map(String::as_str).collect();
                let places = ranks.get(&(answer.text, words));
                // Where the same words stand twice, the run nearest the old place is meant.
                let distance = |rank: &&usize| sample.runs[**rank].span().start().abs_diff(answer.start);
                if let Some(&rank) = places.and_then(|places| places.iter().min_by_key(distance)) {
                    let run = &sample.runs[rank];
                    (answer.start, answer.end) = (run.span().start(), run.span().end());
                    answer.similarity = run.similarity;
                    *found = Some((number, Answer { rank, verdict: answer.verdict }));
                }
            }
        }
        let mut answers = Vec::new();
        for (answered, found) in waiting.into_iter().zip(found) {
            match found {
                Some(found) => {
                    answers.push(found);
                    self.answers.push(answered);
                }
                None => self.set_aside.push(answered),
            }
        }
        restored.kept = self.answers.len();
        restored.set_aside = self.set_aside.len();
        tuner.resume(&answers);
        restored
    }

    /// What in a session read from a file cannot be.
    fn problem(&self) -> Option<String> {
        const MOST: usize = 1_000_000;
        let SessionSettings { depth, step, max_sentences, .. } = &self.settings;
        let numbers = [("depth", *depth), ("step", *step), ("max_sentences", *max_sentences)];
        if let Some((name, number)) = numbers.iter().find(|(_, number)| !(1..=MOST).contains(number)) {
            return Some(format!("{name} is {number}"));
        }
        let wrong = self.answers.iter().chain(&self.set_aside).position(|answer| {
            answer.text >= self.texts.len() || !(-1.01..=1.01).contains(&answer.similarity) || answer.start > answer.end
        });
        wrong.map(|answer| format!("answer {} is about no text, or a similarity that cannot be", answer + 1))
    }

    /// The verdicts among the answers.
    #[must_use]
    pub fn judgements(&self) -> Vec<Judgement> {
        let judgement = |answer: &Answered| Some(Judgement { similarity: answer.similarity, verdict: answer.verdict? });
        self.answers.iter().filter_map(judgement).collect()
    }

    /// Who judged, each once; empty before the first answer.
    #[must_use]
    pub fn judges(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for answer in &self.answers {
            if !names.contains(&answer.judge.as_str()) {
                names.push(&answer.judge);
            }
        }
        names.join(", ")
    }
}

/// Today in UTC, as 2026-12-31.
pub(super) fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

#[cfg(test)]
mod tests;
