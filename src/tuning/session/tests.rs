use std::fs;
use std::ops::ControlFlow;

use tempfile::TempDir;

use super::*;
use crate::embedding::{Embedder, Embedding, EmbeddingError};
use crate::sentence::RuleSplitter;
use crate::tuning::{Judge, JudgeError, Sampler, ScriptJudge};

/// The more the letters of a text differ, the further its vector turns.
struct Turning;

impl Embedder for Turning {
    fn dimension(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let angle =
            |text: &&str| text.bytes().filter(u8::is_ascii_lowercase).map(|c| f32::from(c - b'a')).sum::<f32>() / 50.0;
        Ok(texts
            .iter()
            .map(|text| Embedding { vector: vec![angle(text).cos(), angle(text).sin()], truncated: false })
            .collect())
    }
}

const TEXT: &str = "a. b. c. d. e. f. g. h. i. j.";

fn tuner(texts: &[&str]) -> Tuner {
    let sample = Sampler::new(2).sample(texts, &RuleSplitter, &Turning, |_, _| ControlFlow::Continue(()));
    Tuner::new(sample.unwrap(), settings().tuner())
}

fn settings() -> SessionSettings {
    SessionSettings {
        depth: 2,
        step: 1,
        compat: false,
        pooled: false,
        confirm: 2,
        sentences: "rule".to_owned(),
        max_sentences: 6,
        model: "turning".to_owned(),
        model_sha256: "00".to_owned(),
        text_prefix: String::new(),
    }
}

fn session(texts: &[&str]) -> Session {
    let stamps = texts.iter().enumerate().map(|(at, text)| TextStamp::new(format!("{at}.md"), text));
    Session::new(Vec::new(), stamps.collect(), settings())
}

/// A session in which a script gave all its verdicts.
fn judged(texts: &[&str], script: &str) -> (Session, Tuner) {
    let (mut session, mut tuner, mut script) = (session(texts), tuner(texts), script.parse::<ScriptJudge>().unwrap());
    let name = script.name();
    let ended = tuner.ask(&mut script, texts, |tuner, _, _| {
        session.record(tuner, texts, &name);
        Ok::<_, JudgeError>(())
    });
    assert!(matches!(ended, Ok(()) | Err(JudgeError::Ended)));
    (session, tuner)
}

#[test]
fn a_session_goes_on_where_it_stopped() {
    let (mut session, before) = judged(&[TEXT], "y\nn\ns");
    let mut after = tuner(&[TEXT]);
    let restored = session.restore(&mut after, &[TEXT]);
    assert_eq!(restored, Restored { kept: 3, set_aside: 0, changed: Vec::new() });
    assert_eq!(after.run(), before.run());
    assert_eq!(after.searches()[0].1, before.searches()[0].1);
}

#[test]
fn an_undone_answer_leaves_the_session() {
    let (mut session, mut tuner) = judged(&[TEXT], "y\nn\ny");
    tuner.undo();
    session.record(&tuner, &[TEXT], "person");
    assert_eq!(session.answers.len(), 2);
    tuner.answer(Some(Verdict::Drifts));
    session.record(&tuner, &[TEXT], "person");
    assert_eq!(session.judges(), "script, person", "who said what before is not forgotten");
}

#[test]
fn a_changed_text_is_said_and_keeps_the_judgements_that_still_stand() {
    let (mut session, before) = judged(&[TEXT], "n\nn\ny");
    let words: Vec<Vec<&str>> = before.answers().map(|(run, _)| run.words(&[TEXT])).collect();
    // The run judged last is no more; the others stand elsewhere, unless they shared its sentences.
    let text = format!("z. {}", TEXT.replace(&words[2].join(" "), "q. q."));
    let still: Vec<&Vec<&str>> = words.iter().filter(|words| text.contains(&words.join(" "))).collect();
    assert!(!still.is_empty() && still.len() < 3);
    let mut after = tuner(&[&text]);
    let restored = session.restore(&mut after, &[&text]);
    assert_eq!((restored.kept, restored.set_aside), (still.len(), 3 - still.len()));
    assert_eq!(restored.changed, ["0.md"]);
    assert!(after.answers().map(|(run, _)| run.words(&[&text])).eq(still.into_iter().cloned()));
    assert_eq!(session.judges(), "script", "who said it is not forgotten");
    assert_eq!(session.restore(&mut after, &[&text]).changed, [""; 0], "from now on it is about the new text");
}

#[test]
fn answers_find_their_own_text_again() {
    let other = "a. b. c. d. k. l. m.";
    let (mut session, before) = judged(&[TEXT, other], "y\ny\ny\ny\ny\ny\ny\ny\ny\ny");
    let mut after = tuner(&[TEXT, other]);
    assert_eq!(session.restore(&mut after, &[TEXT, other]).set_aside, 0);
    assert!(before.answers().any(|(run, _)| run.text == 1));
    assert!(after.answers().eq(before.answers()));
}

#[test]
fn a_session_file_gives_back_what_was_saved() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new/a.json");
    let (session, _) = judged(&[TEXT], "y\nn");
    let mut file = SessionFile::create(&path, &session).unwrap();
    file.save(&session).unwrap();
    assert_eq!(Session::read(&path).unwrap(), session);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn a_session_is_open_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.json");
    let session = session(&[TEXT]);
    let mut file = SessionFile::create(&path, &session).unwrap();
    assert!(matches!(SessionFile::open(&path), Err(SessionError::Busy { .. })));
    file.save(&session).unwrap();
    assert!(matches!(SessionFile::open(&path), Err(SessionError::Busy { .. })), "also once it was saved");
    assert!(matches!(SessionFile::create(&path, &session), Err(SessionError::Busy { .. })));
    drop(file);
    SessionFile::open(&path).unwrap();
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.json");
    let (session, _) = judged(&[TEXT], "y\nn");
    let whole = serde_json::to_string(&session).unwrap();
    for broken in
        ["", "{}", "[1]", &whole[..whole.len() / 2], &whole.replace("\"verdict\":\"holds\"", "\"verdict\":\"maybe\"")]
    {
        fs::write(&path, broken).unwrap();
        assert!(matches!(SessionFile::open(&path), Err(SessionError::Broken { .. })), "{broken}");
    }
    fs::write(&path, whole.replace("\"version\":1", "\"version\":7")).unwrap();
    assert!(matches!(SessionFile::open(&path), Err(SessionError::Version { found: 7, .. })));
    assert!(matches!(SessionFile::open(folder.path().join("none.json")), Err(SessionError::Read { .. })));
}

#[test]
fn numbers_that_cannot_be_are_said_to_be_damage() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.json");
    let (session, _) = judged(&[TEXT], "y\nn");
    let mut all = vec![session; 4];
    all[0].settings.depth = 0;
    all[1].settings.step = usize::MAX;
    all[2].answers[0].text = 9;
    all[3].answers[1].similarity = -99.0;
    for session in all {
        fs::write(&path, serde_json::to_string(&session).unwrap()).unwrap();
        assert!(matches!(SessionFile::open(&path), Err(SessionError::Damaged { .. })));
    }
}

#[test]
fn nothing_but_an_empty_session_is_begun_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.json");
    drop(SessionFile::create(&path, &session(&[TEXT])).unwrap());
    drop(SessionFile::create(&path, &session(&[TEXT])).unwrap());
    drop(SessionFile::create(folder.path().join("b.json"), &judged(&[TEXT], "y").0).unwrap());
    let again = SessionFile::create(folder.path().join("b.json"), &session(&[TEXT]));
    assert!(matches!(again, Err(SessionError::Exists { .. })));
    fs::write(folder.path().join("c.md"), "precious").unwrap();
    for other in ["c.md", ""] {
        let taken = SessionFile::create(folder.path().join(other), &session(&[TEXT]));
        assert!(matches!(taken, Err(SessionError::Occupied { .. })), "{other}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("c.md")).unwrap(), "precious");
}

#[test]
fn undo_takes_back_what_was_said_last_whichever_text_it_was_about() {
    let other = "a. b. c. d. k. l. m.";
    let (mut session, _) = judged(&[TEXT, other], "y\ny\ny\ny\ny\ny\ny\ny\ny\ny");
    // The first text has changed, and is asked about again.
    let text = "q. r. s. t. u.";
    let mut tuner = tuner(&[text, other]);
    session.restore(&mut tuner, &[text, other]);
    let before: Vec<_> = tuner.answers().map(|(run, _)| run.clone()).collect();
    assert_eq!(tuner.current(), 0);
    tuner.answer(Some(Verdict::Holds));
    assert_eq!(tuner.answers().last().map(|(run, _)| run.text), Some(0));
    tuner.undo();
    assert!(tuner.answers().map(|(run, _)| run.clone()).eq(before));
}

#[test]
fn answers_come_back_with_the_text_they_were_about() {
    let (mut session, before) = judged(&[TEXT], "n\nn\ny");
    let other = "q. r. s. t. u.";
    let mut away = tuner(&[other]);
    assert_eq!(session.restore(&mut away, &[other]).set_aside, 3);
    away.answer(Some(Verdict::Holds));
    session.record(&away, &[other], "person");
    let mut back = tuner(&[TEXT]);
    let restored = session.restore(&mut back, &[TEXT]);
    assert_eq!((restored.kept, restored.set_aside), (3, 1));
    assert!(back.answers().eq(before.answers()));
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = SessionFile::create(folder.path().join("file/a.json"), &session(&[TEXT])).unwrap_err();
    assert!(matches!(error, SessionError::Write { .. }) && error.to_string().contains("a.json"), "{error}");
}

#[test]
fn the_newest_session_about_the_same_documents_is_found() {
    let folder = TempDir::new().unwrap();
    let save = |name: &str, paths: &[&str]| {
        let mut session = session(&[TEXT]);
        session.paths = paths.iter().map(PathBuf::from).collect();
        drop(SessionFile::create(folder.path().join(name), &session).unwrap());
    };
    assert_eq!(newest_session(folder.path(), &[]), None);
    save("1.json", &["/a.md"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    save("2.json", &["/a.md", "/b.md"]);
    fs::write(folder.path().join("3.json"), "half").unwrap();
    assert_eq!(newest_session(folder.path(), &[]), Some(folder.path().join("2.json")));
    assert_eq!(newest_session(folder.path(), &["/a.md".into()]), Some(folder.path().join("1.json")));
    assert_eq!(newest_session(folder.path(), &["/c.md".into()]), None);
}
