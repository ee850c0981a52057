//! Texts, questions, and the excerpts of the texts that answer them.
//!
//! The layout is that of `chunking_evaluation`: a folder with `corpora/*.md` and `questions_df.csv`, whose columns are
//! `question`, `references` (a JSON array of `content`, `start_index`, `end_index`) and `corpus_id`. Offsets count
//! characters, and lines end as in Python's text mode: `\r\n` and `\r` are read as `\n`.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A text that chunks are retrieved from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corpus {
    /// Its file name without ending.
    pub id: String,
    /// Its text.
    pub text: String,
}

impl Corpus {
    /// Its words from one character to another; what lies behind its end is left out.
    #[must_use]
    pub fn excerpt(&self, characters: Range<usize>) -> &str {
        let skip = |text: &str, count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
        let start = skip(&self.text, characters.start);
        let rest = self.text.split_at(start).1;
        rest.split_at(skip(rest, characters.len())).0
    }
}

/// An excerpt that answers a question, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The words.
    pub content: String,
    /// First character.
    pub start_index: usize,
    /// First character behind the excerpt.
    pub end_index: usize,
}

impl Reference {
    /// The characters of the corpus that it covers.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start_index..self.end_index
    }
}

/// A question on one corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Number of its corpus in the dataset.
    pub corpus: usize,
    /// What answers it; at least one.
    pub references: Vec<Reference>,
}

/// Corpora and the questions on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// What reports call it.
    pub name: String,
    /// In the order in which questions first name them.
    pub corpora: Vec<Corpus>,
    /// In the order of the file.
    pub questions: Vec<Question>,
}

/// Why a dataset cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A file cannot be read.
    #[error("{path} cannot be read: a dataset is a folder with questions_df.csv and corpora/*.md")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Questions that are wrong, all of them.
    #[error("{path}: {}", Problems(problems))]
    Questions {
        /// The file.
        path: PathBuf,
        /// Line and what is wrong there, in the order of the file.
        problems: Vec<(u64, String)>,
    },
    /// There is nothing to ask.
    #[error("{path} has no question")]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Problems that are too many to read are counted.
struct Problems<'a>(&'a [(u64, String)]);

impl fmt::Display for Problems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        let shown = self.0.iter().take(SHOWN).map(|(line, problem)| format!("line {line}: {problem}"));
        f.write_str(&shown.collect::<Vec<_>>().join("; "))?;
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

#[derive(Deserialize)]
struct Row {
    question: String,
    references: String,
    corpus_id: String,
}

impl Dataset {
    /// The benchmark inside this crate: six texts of different kinds, written for it, and 84 questions.
    ///
    /// # Panics
    ///
    /// Never: a test reads it.
    #[must_use]
    pub fn own() -> Self {
        let corpora = OWN.map(|(id, text)| Corpus { id: id.to_owned(), text: text.to_owned() });
        let read = Self::read("own", Path::new("eval/questions_df.csv"), OWN_QUESTIONS.as_bytes(), |id| {
            corpora.iter().find(|corpus| corpus.id == id).map(|corpus| Ok(corpus.text.clone()))
        });
        read.expect("the benchmark inside is sound")
    }

    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// [`DatasetError`] with the file and all lines that are wrong.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, DatasetError> {
        let folder = folder.as_ref();
        let path = folder.join("questions_df.csv");
        let questions = fs::read(&path).map_err(|source| DatasetError::Read { path: path.clone(), source })?;
        let name = folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        Self::read(&name.unwrap_or_default(), &path, &questions, |id| {
            // An id may not lead out of the folder.
            let file = folder.join("corpora").join(format!("{id}.md"));
            (!id.contains(['/', '\\'])).then(|| fs::read(&file).and_then(decoded))
        })
    }

    fn read(
        name: &str,
        path: &Path,
        questions: &[u8],
        mut corpus: impl FnMut(&str) -> Option<std::io::Result<String>>,
    ) -> Result<Self, DatasetError> {
        let mut dataset = Self { name: name.to_owned(), corpora: Vec::new(), questions: Vec::new() };
        let mut known: HashMap<String, Result<(usize, Vec<usize>), String>> = HashMap::new();
        let mut problems = Vec::new();
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(questions);
        let headers = reader.byte_headers().cloned().unwrap_or_default();
        let mut record = csv::ByteRecord::new();
        loop {
            let read = reader.read_byte_record(&mut record);
            let row_at = record.position().map_or(0, csv::Position::byte);
            let row: Row = match read {
                Ok(false) => break,
                Ok(true) => match record.deserialize(Some(&headers)) {
                    Ok(row) => row,
                    Err(error) => {
                        problems.push((row_at, format!("not a row of question, references and corpus_id: {error}")));
                        continue;
                    }
                },
                Err(error) => {
                    problems.push((row_at, error.to_string()));
                    break;
                }
            };
            let found = known.entry(row.corpus_id.clone()).or_insert_with(|| match corpus(&row.corpus_id) {
                Some(Ok(text)) => {
                    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                    dataset.corpora.push(Corpus { id: row.corpus_id.clone(), text });
                    Ok((dataset.corpora.len() - 1, starts))
                }
                Some(Err(error)) => Err(format!("the corpus {:?} cannot be read: {error}", row.corpus_id)),
                None => Err(format!("there is no corpus {:?}", row.corpus_id)),
            });
            match found {
                Err(problem) => problems.push((row_at, problem.clone())),
                Ok(_) if row.question.trim().is_empty() => problems.push((row_at, "the question is empty".to_owned())),
                Ok((corpus, starts)) => match references(&row.references, &dataset.corpora[*corpus], starts) {
                    Ok(references) => {
                        dataset.questions.push(Question { text: row.question, corpus: *corpus, references });
                    }
                    Err(problem) => problems.push((row_at, problem)),
                },
            }
        }
        if !problems.is_empty() {
            return Err(DatasetError::Questions { path: path.to_owned(), problems: with_lines(questions, problems) });
        }
        if dataset.questions.is_empty() {
            return Err(DatasetError::Empty { path: path.to_owned() });
        }
        Ok(dataset)
    }

    /// Writes the questions in the layout of the folder; the corpora are not written.
    ///
    /// # Errors
    ///
    /// Where `out` cannot be written.
    pub fn write_questions(&self, out: impl std::io::Write) -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["question", "references", "corpus_id"])?;
        for question in &self.questions {
            let references = serde_json::to_string(&question.references)?;
            writer.write_record([&question.text, &references, &self.corpora[question.corpus].id])?;
        }
        writer.flush()
    }
}

/// Problems of rows that begin at these bytes, ascending, with the lines instead. The reader holds the second half of a
/// line end of two characters for the beginning of the next row.
fn with_lines(bytes: &[u8], problems: Vec<(u64, String)>) -> Vec<(u64, String)> {
    let (mut line, mut from) = (1, 0);
    let lines = problems.into_iter().map(|(at, problem)| {
        let at = usize::try_from(at).unwrap_or(usize::MAX).clamp(from, bytes.len());
        let at = at + bytes[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        line += bytes[from..at].split(|&byte| byte == b'\n').count() as u64 - 1;
        from = at;
        (line, problem)
    });
    lines.collect()
}

/// A corpus as Python reads it in text mode.
fn decoded(bytes: Vec<u8>) -> std::io::Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

/// The references of one question, each checked against the corpus; `starts` are the bytes of its characters.
fn references(json: &str, corpus: &Corpus, starts: &[usize]) -> Result<Vec<Reference>, String> {
    let references: Vec<Reference> = serde_json::from_str(json).map_err(|error| {
        let error = error.to_string();
        // The line that serde knows is one inside the field.
        let what = error.split(" at line ").next().unwrap_or_default();
        format!("references are no JSON array of excerpts: {what}")
    })?;
    if references.is_empty() {
        return Err("the question has no reference".to_owned());
    }
    for reference in &references {
        let Range { start, end } = reference.range();
        let found = match (starts.get(start), starts.get(end)) {
            (Some(&from), Some(&to)) if start < end => corpus.text.get(from..to),
            _ => None,
        };
        if reference.content.trim().is_empty() {
            return Err(format!("the reference {start}..{end} of {} is white space", corpus.id));
        }
        if found != Some(&reference.content) {
            let head: String = reference.content.chars().take(40).collect();
            let instead = match (found, corpus.text.find(&reference.content)) {
                (_, Some(at)) => format!("it is at character {}", starts.partition_point(|&start| start < at)),
                (Some(found), None) => format!("there is {:?}", found.chars().take(40).collect::<String>()),
                (None, None) => format!("the corpus has {} characters", starts.len() - 1),
            };
            return Err(format!("{head:?} is not at {start}..{end} of {}: {instead}", corpus.id));
        }
    }
    Ok(references)
}

const OWN_QUESTIONS: &str = include_str!("../../eval/questions_df.csv");

pub(super) const OWN: [(&str, &str); 6] = [
    ("board_meeting", include_str!("../../eval/corpora/board_meeting.md")),
    ("island_history", include_str!("../../eval/corpora/island_history.md")),
    ("pump_manual", include_str!("../../eval/corpora/pump_manual.md")),
    ("rental_terms", include_str!("../../eval/corpora/rental_terms.md")),
    ("soil_study", include_str!("../../eval/corpora/soil_study.md")),
    ("support_chats", include_str!("../../eval/corpora/support_chats.md")),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> Result<Dataset, DatasetError> {
        let csv = format!("question,references,corpus_id\n{rows}");
        Dataset::read("test", Path::new("q.csv"), csv.as_bytes(), |id| {
            (id == "tides").then(|| Ok("H\u{f6}he der Flut. Ebbe.".to_owned()))
        })
    }

    fn problem(rows: &str) -> String {
        read(rows).unwrap_err().to_string()
    }

    #[test]
    fn the_benchmark_inside_is_sound() {
        let own = Dataset::own();
        assert_eq!((own.corpora.len(), own.questions.len()), (6, 84));
        assert!(own.corpora.iter().any(|corpus| !corpus.text.is_ascii()), "bytes and characters differ");
        let mut out = Vec::new();
        own.write_questions(&mut out).unwrap();
        let again = Dataset::read("own", Path::new("x"), &out, |id| {
            own.corpora.iter().find(|corpus| corpus.id == id).map(|corpus| Ok(corpus.text.clone()))
        });
        assert_eq!(again.unwrap(), own);
    }

    #[test]
    fn offsets_count_characters() {
        let dataset =
            read(r#"Wie hoch?,"[{""content"": ""der Flut."", ""start_index"": 5, ""end_index"": 14}]",tides"#);
        assert_eq!(dataset.unwrap().questions[0].references[0].range(), 5..14);
    }

    #[test]
    fn every_broken_line_is_named() {
        let rows = [
            r#"a,"[{""content"": ""Ebbe."", ""start_index"": 14, ""end_index"": 19}]",tides"#,
            r#"b,"[{""content"": ""Sturm"", ""start_index"": 0, ""end_index"": 5}]",tides"#,
            r#"c,"[{""content"": ""x"", ""start_index"": 90, ""end_index"": 91}]",tides"#,
            r"d,[],tides",
            r"e,[],moon",
            r"f,{,tides",
            "g",
        ];
        let said = problem(&rows.join("\n"));
        for part in [
            "q.csv: line 2: \"Ebbe.\" is not at 14..19 of tides: it is at character 15",
            "line 3: \"Sturm\" is not at 0..5 of tides: there is \"H\u{f6}he \"",
            "line 4: \"x\" is not at 90..91 of tides: the corpus has 20 characters",
            "line 5: the question has no reference",
            "line 6: there is no corpus \"moon\"",
            "line 7: references are no JSON array",
            "line 8: not a row of question, references and corpus_id",
        ] {
            assert!(said.contains(part), "{part} is not in {said}");
        }
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let csv = "question,references,corpus_id\r\na,[],tides\r\n\"b\r\nb\",[],tides\r\n";
        let error = Dataset::read("t", Path::new("q.csv"), csv.as_bytes(), |_| Some(Ok("x".to_owned()))).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("line 2: the question has no") && said.contains("line 3: the question has no"), "{said}");
    }

    #[test]
    fn a_question_without_words_is_none() {
        assert!(problem(" ,[],tides").contains("the question is empty"));
        let white = r#"a,"[{""content"": "" "", ""start_index"": 4, ""end_index"": 5}]",tides"#;
        assert!(problem(white).contains("is white space"));
    }

    #[test]
    fn a_missing_column_is_an_error_and_so_is_a_file_without_rows() {
        let missing = Dataset::read("t", Path::new("q.csv"), b"question,corpus_id\na,tides\n", |_| None);
        assert!(missing.unwrap_err().to_string().contains("line 2: not a row"));
        assert!(matches!(read(""), Err(DatasetError::Empty { .. })));
    }

    #[test]
    fn an_id_cannot_lead_out_of_the_folder() {
        let folder = tempfile::TempDir::new().unwrap();
        fs::write(folder.path().join("questions_df.csv"), "question,references,corpus_id\na,[],../secret\n").unwrap();
        let error = Dataset::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("there is no corpus"), "{error}");
    }

    #[test]
    fn lines_end_as_in_pythons_text_mode() {
        assert_eq!(decoded(b"a\r\nb\rc\n".to_vec()).unwrap(), "a\nb\nc\n");
        assert!(decoded(vec![0xff]).is_err());
    }
}
