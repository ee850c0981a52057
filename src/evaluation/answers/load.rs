//! Question sets as they are distributed, read into one form.
//!
//! | format | what is read |
//! |---|---|
//! | own | one JSON object a line: `id`, `question`, `answers`, `document`, a file beside it, in `texts/` or `../corpora/` |
//! | SQuAD | the JSON of versions 1.1 and 2.0; every paragraph is a document |
//! | Natural Questions | the simplified form, one object a line; short answers, yes and no; tags become line breaks |
//! | TriviaQA | the JSON in `qa/` with `evidence/wikipedia/` and `evidence/web/` beside that folder; all evidence of a question is one document |
//! | HotpotQA | the distractor JSON; the ten paragraphs of a question are one document |
//!
//! A record that is broken is reported, and the others are kept.

mod records;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::set::{AnswerQuestion, AnswerSet};
use crate::evaluation::dataset::Corpus;

/// How a question set is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerFormat {
    /// One JSON object a line, as `eval/answers/questions.jsonl`.
    Questions,
    /// SQuAD, 1.1 or 2.0.
    Squad,
    /// Natural Questions, simplified.
    NaturalQuestions,
    /// TriviaQA, with its evidence.
    TriviaQa,
    /// HotpotQA, distractor setting.
    HotpotQa,
}

impl AnswerFormat {
    const ALL: [Self; 5] = [Self::Questions, Self::Squad, Self::NaturalQuestions, Self::TriviaQa, Self::HotpotQa];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Questions => "questions",
            Self::Squad => "squad",
            Self::NaturalQuestions => "natural-questions",
            Self::TriviaQa => "triviaqa",
            Self::HotpotQa => "hotpotqa",
        }
    }

    /// What the content looks like: an array is HotpotQA's, objects are told apart by their fields.
    fn guess(content: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Fields {
            document_text: Option<IgnoredAny>,
            document: Option<IgnoredAny>,
            data: Option<IgnoredAny>,
            #[serde(rename = "Data")]
            trivia: Option<IgnoredAny>,
        }
        // Lines enough to find a sound one where the first are broken.
        const TRIED: usize = 64;
        let of_object = |object: &[u8]| {
            let fields: Fields = serde_json::from_slice(object).ok()?;
            let formats = [
                (fields.document_text, Self::NaturalQuestions),
                (fields.document, Self::Questions),
                (fields.data, Self::Squad),
                (fields.trivia, Self::TriviaQa),
            ];
            formats.into_iter().find_map(|(field, format)| field.map(|_| format))
        };
        if content.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            return Some(Self::HotpotQa);
        }
        let mut lines = content.split(|&byte| byte == b'\n').take(TRIED);
        lines.find_map(of_object).or_else(|| of_object(content))
    }
}

impl fmt::Display for AnswerFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for AnswerFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| format!("take one of {}", known()))
    }
}

/// Why a question set cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Nobody can tell what it is.
    #[error("{path} looks like no question set known; name its format, one of {}", AnswerFormat::ALL.map(AnswerFormat::name).join(", "))]
    Unknown {
        /// The file.
        path: PathBuf,
    },
}

/// A record that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRecord {
    /// The file.
    pub path: PathBuf,
    /// The record: a line, or a path as in `data[0].paragraphs[2].qas[5]`.
    pub place: String,
    /// What is wrong, the field included.
    pub problem: String,
}

impl fmt::Display for BrokenRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.path.display(), self.place, self.problem)
    }
}

/// What a file gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The sound records.
    pub set: AnswerSet,
    /// The others, in the order of the file.
    pub broken: Vec<BrokenRecord>,
}

impl AnswerSet {
    /// Reads a file, of the format given or of the one that its content looks like. It is held in memory whole.
    /// `evidence` is the folder of TriviaQA's texts where that is not `../evidence`.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or nobody can tell what it is; broken records are no error.
    pub fn load(path: &Path, format: Option<AnswerFormat>, evidence: Option<&Path>) -> Result<Loaded, LoadError> {
        let content = fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
        let guessed = format.or_else(|| AnswerFormat::guess(&content));
        let format = guessed.ok_or_else(|| LoadError::Unknown { path: path.to_owned() })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folders = if format == AnswerFormat::TriviaQa {
            vec![evidence.map_or_else(|| folder.join("../evidence"), Path::to_owned)]
        } else {
            vec![folder.to_owned(), folder.join("texts"), folder.join("../corpora")]
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let mut builder = Builder::new(&name, path);
        builder.read(format, &content, &|name| text_in(&folders, name));
        Ok(builder.finish())
    }
}

/// The text of a file in the first of the folders that has it; a name may not lead out of them.
fn text_in(folders: &[PathBuf], name: &str) -> Result<String, String> {
    if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("the name leads out of the folder of texts".to_owned());
    }
    let files = folders.iter().map(|folder| folder.join(name));
    let file = files.clone().find(|file| file.exists()).or_else(|| files.clone().next());
    let file = file.unwrap_or_else(|| PathBuf::from(name));
    fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// Finds the text of a name, or says why there is none.
type Texts<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A set that grows record by record.
pub(super) struct Builder<'a> {
    path: &'a Path,
    loaded: Loaded,
    ids: HashSet<String>,
    documents: HashMap<String, usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(name: &str, path: &'a Path) -> Self {
        let set = AnswerSet { name: name.to_owned(), documents: Vec::new(), questions: Vec::new() };
        let loaded = Loaded { set, broken: Vec::new() };
        Self { path, loaded, ids: HashSet::new(), documents: HashMap::new() }
    }

    pub(super) fn finish(self) -> Loaded {
        self.loaded
    }

    /// Reads every record of a file's content.
    pub(super) fn read(&mut self, format: AnswerFormat, content: &[u8], texts: Texts<'_>) {
        match format {
            AnswerFormat::Questions => {
                self.lines(content, |builder, record| records::question(builder, record, texts));
            }
            AnswerFormat::NaturalQuestions => self.lines(content, records::natural),
            AnswerFormat::Squad => self.whole(content, records::squad),
            AnswerFormat::TriviaQa => {
                self.whole(content, |builder, value| records::trivia(builder, value, texts));
            }
            AnswerFormat::HotpotQa => self.whole(content, records::hotpot),
        }
    }

    /// One record a line.
    fn lines(&mut self, content: &[u8], mut take: impl FnMut(&mut Self, Value) -> Result<(), String>) {
        for (at, line) in content.split(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = format!("line {}", at + 1);
            let record = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"));
            let taken = record.and_then(|record| take(self, record));
            self.note(&place, taken);
        }
    }

    /// One JSON value.
    fn whole(&mut self, content: &[u8], take: impl FnOnce(&mut Self, Value) -> Result<(), String>) {
        let value = serde_json::from_slice(content).map_err(|error| format!("no JSON: {error}"));
        let taken = value.and_then(|value| take(self, value));
        self.note("the file", taken);
    }

    /// Reports what could not be taken.
    fn note(&mut self, place: &str, taken: Result<(), String>) {
        if let Err(problem) = taken {
            self.loaded.broken.push(BrokenRecord { path: self.path.to_owned(), place: place.to_owned(), problem });
        }
    }

    /// Adds a question to the document of this name, whose text is asked for once.
    fn ask(
        &mut self,
        question: Asked,
        document: &str,
        text: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), String> {
        if !question.text.contains(char::is_alphanumeric) {
            return Err("the question holds no word".to_owned());
        }
        if question.answers.iter().any(|answer| answer.trim().is_empty()) {
            return Err("an answer is empty; where there is none, leave the list empty".to_owned());
        }
        if self.ids.contains(&question.id) {
            return Err(format!("a question {:?} came before", question.id));
        }
        let set = &mut self.loaded.set;
        let document = if let Some(&document) = self.documents.get(document) {
            document
        } else {
            let text = text()?;
            if text.trim().is_empty() {
                return Err(format!("the text {document:?} is empty"));
            }
            set.documents.push(Corpus { id: document.to_owned(), text });
            *self.documents.entry(document.to_owned()).or_insert(set.documents.len() - 1)
        };
        let Asked { id, text, answers } = question;
        self.ids.insert(id.clone());
        set.questions.push(AnswerQuestion { id, text, document, answers });
        Ok(())
    }
}

/// A question on its way into a set.
struct Asked {
    id: String,
    text: String,
    answers: Vec<String>,
}

/// A value as a record of this type; an error names the field.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| match error.path().to_string() {
        path if path == "." => error.into_inner().to_string(),
        path => format!("{path}: {}", error.into_inner()),
    })
}
