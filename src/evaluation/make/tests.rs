use std::fs::{self, OpenOptions};
use std::io::Write;

use super::*;
use crate::embedding::Embedding;
use crate::llm::{ChatReply, ScriptedChat};

/// Words as axes: texts that share words are alike.
struct Words;

impl Embedder for Words {
    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.0; DIMENSION];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let place = word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
                vector[place % DIMENSION] += 1.0;
            }
            Embedding { vector, truncated: false }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

const DIMENSION: usize = 997;

const TEXT: &str = "Die F\u{e4}hre legt um zehn ab.  It takes an hour\nto the island. Cod is salted for two days.";

fn corpora() -> Vec<Corpus> {
    vec![Corpus { id: "ferry".to_owned(), text: TEXT.to_owned() }]
}

fn settings(questions: usize) -> MakeSettings {
    MakeSettings { questions, attempts: 3, ..MakeSettings::default() }
}

const HOUR: &str = r#"Here you are: ```{"question": "How long does it take to the island?", "references": ["it takes an hour to the island."]}```"#;
const COD: &str = r#"{"question": "How long is cod salted?", "references": ["Cod is salted for two days."]}"#;

struct Run {
    folder: tempfile::TempDir,
    rejected: Vec<String>,
}

impl Run {
    fn new() -> Self {
        Self { folder: tempfile::TempDir::new().unwrap(), rejected: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("made/journal.jsonl")
    }

    fn make(&mut self, chat: &dyn ChatModel, settings: &MakeSettings) -> Result<Dataset, MakeError> {
        let (dataset, given_up) = self.try_all(chat, settings)?;
        assert!(given_up.is_empty(), "{given_up:?}");
        Ok(dataset)
    }

    fn try_all(&mut self, chat: &dyn ChatModel, settings: &MakeSettings) -> Result<(Dataset, Vec<GivenUp>), MakeError> {
        let mut journal = Journal::open(self.path())?;
        make_questions(&corpora(), chat, &Words, settings, &mut journal, |progress| {
            self.rejected.extend(progress.rejected.map(ToString::to_string));
        })
    }
}

#[test]
fn excerpts_are_found_in_the_text_whatever_their_white_space_and_case() {
    let mut run = Run::new();
    let made = run.make(&ScriptedChat::new([HOUR, COD]), &settings(2)).unwrap();
    assert_eq!(made.questions.len(), 2);
    let reference = &made.questions[0].references[0];
    assert_eq!(reference.content, "It takes an hour\nto the island.");
    let characters: String = TEXT.chars().skip(reference.start_index).take(reference.range().len()).collect();
    assert_eq!(characters, reference.content, "offsets count characters");
    assert!(run.rejected.is_empty());
}

#[test]
fn replies_of_no_use_are_rejected_each_for_its_reason() {
    let replies = [
        "I cannot do that.",
        r#"{"question": "Who?", "references": []}"#,
        r#"{"question": "Who pays the bill?", "references": ["The guest pays the bill."]}"#,
        r#"{"question": "xyz xyz?", "references": ["Cod is salted for two days."]}"#,
        COD,
        r#"{"question": "How long is the cod salted?", "references": ["Cod is salted for two days."]}"#,
        HOUR,
    ];
    let mut run = Run::new();
    let settings = MakeSettings { attempts: 9, ..settings(2) };
    run.make(&ScriptedChat::new(replies), &settings).unwrap();
    let parts = ["not JSON", "quotes 0 excerpts", "\"The guest pays the bill.\" is not in", "too far", "asked before"];
    assert_eq!(run.rejected.len(), parts.len(), "{:?}", run.rejected);
    assert!(run.rejected.iter().zip(parts).all(|(said, part)| said.contains(part)), "{:?}", run.rejected);
}

#[test]
fn a_run_that_stopped_goes_on_and_asks_for_nothing_twice() {
    let mut run = Run::new();
    // The script ends after one reply, as a server does that goes away.
    let error = run.make(&ScriptedChat::new([COD]), &settings(2)).unwrap_err();
    assert!(matches!(error, MakeError::Chat(_)), "{error}");
    // A crash in the middle of a letter of the next line.
    let mut file = OpenOptions::new().append(true).open(run.path()).unwrap();
    file.write_all(b"{\"corpus\": \"F\xc3").unwrap();

    let second = ScriptedChat::new([HOUR]);
    let made = run.make(&second, &settings(2)).unwrap();
    assert_eq!((made.questions.len(), second.requests().len()), (2, 1));
    assert_eq!(Journal::open(run.path()).unwrap().replies().len(), 2);
    let third = ScriptedChat::new([""; 0]);
    assert_eq!(run.make(&third, &settings(2)).unwrap(), made);
    assert!(second.requests()[0].user.contains("How long is cod salted?"), "it is told what was asked");
}

#[test]
fn a_model_that_never_helps_is_given_up_and_another_one_may_go_on() {
    let mut run = Run::new();
    let chat = ScriptedChat::from_fn(|_| Ok(ChatReply::from("no")));
    let (made, given_up) = run.try_all(&chat, &settings(2)).unwrap();
    assert!(made.questions.is_empty());
    assert!(given_up[0].to_string().contains("ferry: 0 of 2 questions after 6 replies"), "{}", given_up[0]);
    assert_eq!(chat.requests().len(), 6);
    assert_eq!(run.make(&ScriptedChat::new([HOUR, COD]), &settings(2)).unwrap().questions.len(), 2);
}

#[test]
fn an_excerpt_is_looked_for_first_in_the_passage_that_was_shown() {
    let text = format!("Cod is salted. {}Cod is salted. End.", "x ".repeat(4000));
    let corpus = Corpus { id: "twice".to_owned(), text };
    let settings = settings(1);
    let maker = Maker::new(0, &corpus, &Words, &settings);
    let seen = maker.bytes(&(5000..8034));
    assert_eq!(maker.reference("Cod is salted.", seen).unwrap().start_index, 8015);
    assert_eq!(maker.reference("cod  is salted.", seen).unwrap().start_index, 8015);
}

#[test]
fn a_reply_that_was_cut_off_is_called_so() {
    let mut run = Run::new();
    let cut = ChatReply { truncated: true, ..ChatReply::from("{\"question\": \"How") };
    run.try_all(&ScriptedChat::from_fn(move |_| Ok(cut.clone())), &settings(1)).unwrap();
    assert!(run.rejected[0].contains("cut off at 600 tokens"), "{:?}", run.rejected);
}

#[test]
fn a_journal_that_cannot_be_read_is_not_overwritten() {
    let run = Run::new();
    fs::create_dir_all(run.path()).unwrap();
    assert!(matches!(Journal::open(run.path()), Err(MakeError::Journal { .. })));
}

#[test]
fn windows_differ_and_are_the_same_each_time() {
    let corpus = Corpus { id: "long".to_owned(), text: "word ".repeat(5000) };
    let settings = settings(1);
    let maker = Maker::new(0, &corpus, &Words, &settings);
    let starts: Vec<usize> = (0..20).map(|attempt| maker.window(attempt).start).collect();
    assert_eq!(starts, (0..20).map(|attempt| maker.window(attempt).start).collect::<Vec<_>>());
    assert!(starts.windows(2).any(|pair| pair[0] != pair[1]));
    assert!((0..20).all(|attempt| maker.window(attempt).len() == 4000));
}
