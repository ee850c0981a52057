//! Sets, loaders and the evaluation as a whole. The figures of answers are tested where they are made.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::answer::{AnswerError, Bm25, Candidate, Confidence, LexicalReader, Reader, Reading, Selector};
use crate::evaluation::report::Stamp;
use crate::tokens::Letters;
use crate::{ChunkError, RuleSplitter, SentenceChunker};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What `file` of these files gives, and what is said of its broken records, without the path.
fn load(files: &[(&str, &str)], file: &str) -> (AnswerSet, Vec<String>) {
    let folder = folder(files);
    let loaded = AnswerSet::load(&folder.path().join(file), None, None).unwrap();
    let broken = loaded.broken.iter().map(|broken| format!("{}: {}", broken.place, broken.problem));
    (loaded.set, broken.collect())
}

/// Every question with its name, the text it is put to, and the right answers.
fn asked(set: &AnswerSet) -> Vec<(&str, &str, &str, Vec<&str>)> {
    let asked = set.questions.iter().map(|AnswerQuestion { id, text, document, answers }| {
        let answers = answers.iter().map(String::as_str).collect();
        (id.as_str(), text.as_str(), set.documents[*document].text.as_str(), answers)
    });
    asked.collect()
}

#[test]
fn the_set_inside_is_sound_and_is_that_of_its_file() {
    let own = AnswerSet::own();
    assert_eq!((own.documents.len(), own.questions.len()), (10, 60));
    assert_eq!(own.questions.iter().filter(|question| question.answers.is_empty()).count(), 20);
    for question in &own.questions {
        let text = &own.documents[question.document].text;
        assert!(question.answers.iter().all(|answer| text.contains(answer.as_str())), "{}", question.id);
        assert!(
            question.answers.first().is_none_or(|first| text.matches(first.as_str()).count() == 1),
            "{}",
            question.id
        );
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("eval/answers/questions.jsonl");
    let loaded = AnswerSet::load(&file, None, None).unwrap();
    assert!(loaded.broken.is_empty(), "{:?}", loaded.broken);
    assert_eq!((loaded.set.documents, loaded.set.questions), (own.documents, own.questions));
}

#[test]
fn broken_lines_of_our_own_form_are_named_and_the_others_kept() {
    let lines = r#"{"id": "a", "document": "tide.txt", "question": "When?", "answers": ["ten"]}
{"id": "b", "document": "tide.txt", "answers": []}
{"id": "c", "document": "tide.txt", "question": "Where?", "answers": ["pier", 5]}
not JSON

{"id": "d", "document": "none.txt", "question": "Who?", "answers": []}
{"id": "e", "document": "../x.txt", "question": "Who?", "answers": []}
{"id": "a", "document": "tide.txt", "question": "Who?", "answers": []}
{"id": "f", "document": "tide.txt", "question": "?", "answers": []}
{"id": "g", "document": "tide.txt", "question": "Who?", "answers": [" "]}
{"id": "h", "document": "tide.txt", "question": "Who?", "answers": []}
"#;
    let (set, broken) = load(&[("q.jsonl", lines), ("texts/tide.txt", "It turns at ten.")], "q.jsonl");
    let text = "It turns at ten.";
    assert_eq!(asked(&set), [("a", "When?", text, vec!["ten"]), ("h", "Who?", text, vec![])]);
    let places: Vec<&str> = broken.iter().map(|problem| problem.split(':').next().unwrap()).collect();
    assert_eq!(places, ["line 2", "line 3", "line 4", "line 6", "line 7", "line 8", "line 9", "line 10"]);
    assert!(broken[0].contains("missing field `question`"), "{broken:?}");
    assert!(broken[1].contains("answers[1]: invalid type"), "{broken:?}");
    assert!(broken[3].contains("none.txt cannot be read"), "{broken:?}");
}

#[test]
fn squad_has_a_document_a_paragraph_and_impossible_questions() {
    let file = r#"{"version": "v2.0", "data": [{"title": "Tides", "paragraphs": [
        {"context": "It turns at ten.", "qas": [
            {"id": "1", "question": "When?", "answers": [{"text": "ten", "answer_start": 12}, {"text": "at ten", "answer_start": 9}], "is_impossible": false},
            {"id": "2", "question": "Who?", "answers": [], "plausible_answers": [{"text": "It", "answer_start": 0}], "is_impossible": true},
            {"id": "3", "question": 7, "answers": []}]},
        {"qas": []},
        {"context": "The pier is dry.", "qas": [{"id": "4", "question": "What is dry?", "answers": [{"text": "pier"}]}]}]},
        {"title": "No paragraphs"}]}"#;
    let (set, broken) = load(&[("dev.json", file)], "dev.json");
    let expected = [
        ("1", "When?", "It turns at ten.", vec!["ten", "at ten"]),
        ("2", "Who?", "It turns at ten.", vec![]),
        ("4", "What is dry?", "The pier is dry.", vec!["pier"]),
    ];
    assert_eq!(asked(&set), expected);
    assert_eq!(set.documents.len(), 2);
    let starts = [
        "data[0].paragraphs[0].qas[2]: question: invalid type",
        "data[0].paragraphs[1]: missing field `context`",
        "data[1]: missing field `paragraphs`",
    ];
    assert!(broken.len() == 3 && broken.iter().zip(starts).all(|(said, start)| said.starts_with(start)), "{broken:?}");
}

#[test]
fn natural_questions_lose_their_tags_and_keep_short_answers_and_yes() {
    let file = concat!(
        r#"{"example_id": -5, "question_text": "when does it turn", "document_text": "<H1> Tides </H1> <P> It turns at ten . </P>", "annotations": [{"short_answers": [{"start_token": 6, "end_token": 8}], "yes_no_answer": "NONE"}]}"#,
        "\n",
        r#"{"example_id": "6", "question_text": "is it wet", "document_text": "<P> It is . </P>", "annotations": [{"short_answers": [], "yes_no_answer": "YES"}]}"#,
        "\n",
        r#"{"example_id": 7, "question_text": "is it", "document_text": "<P> It is . </P>", "annotations": [{"short_answers": [{"start_token": 3, "end_token": 9}]}]}"#,
        "\n",
        r#"{"example_id": 8, "question_text": "is it", "document_text": "<P> It is . </P>", "annotations": [{"short_answers": []}]}"#,
    );
    let (set, broken) = load(&[("train.jsonl", file)], "train.jsonl");
    let expected = [
        ("-5", "when does it turn", "Tides\nIt turns at ten .", vec!["at ten"]),
        ("6", "is it wet", "It is .", vec!["yes"]),
        ("8", "is it", "It is .", vec![]),
    ];
    assert_eq!(asked(&set), expected);
    assert_eq!(broken, ["line 3: annotations[0].short_answers[0]: tokens 3..9 of 5 are none"]);
}

#[test]
fn triviaqa_reads_its_evidence() {
    let file = r#"{"Data": [
        {"QuestionId": "t1", "Question": "When does it turn?", "Answer": {"Value": "Ten", "Aliases": ["Ten", "10"]},
         "EntityPages": [{"Filename": "Tide.txt"}], "SearchResults": [{"Filename": "1/a.txt"}]},
        {"QuestionId": "t2", "Question": "Who?", "Answer": {"Value": "Ann"}, "EntityPages": [{"Filename": "Gone.txt"}]},
        {"QuestionId": "t3", "Question": "Who?"}]}"#;
    let files = [
        ("qa/dev.json", file),
        ("evidence/wikipedia/Tide.txt", "It turns at ten."),
        ("evidence/web/1/a.txt", "Or at 10."),
    ];
    let (set, broken) = load(&files, "qa/dev.json");
    assert_eq!(asked(&set), [("t1", "When does it turn?", "It turns at ten.\n\nOr at 10.", vec!["Ten", "Ten", "10"])]);
    assert!(
        broken[0].starts_with("Data[1]: EntityPages[0].Filename: ") && broken[0].contains("Gone.txt"),
        "{broken:?}"
    );
    assert_eq!(broken[1], "Data[2]: missing field `Answer`");
}

#[test]
fn hotpotqa_joins_its_paragraphs() {
    let file = r#"[{"_id": "h1", "question": "When?", "answer": "ten", "context": [["Tides", ["It turns at ten.", " Boats lie."]], ["Bread", ["Dough."]]]},
        {"_id": "h2", "question": "Who?", "answer": "Ann", "context": [["Tides", "no list"]]}]"#;
    let (set, broken) = load(&[("dev.json", file)], "dev.json");
    assert_eq!(asked(&set), [("h1", "When?", "Tides\nIt turns at ten. Boats lie.\n\nBread\nDough.", vec!["ten"])]);
    assert!(broken.len() == 1 && broken[0].starts_with("[1]: context[0][1]: invalid type"), "{broken:?}");
}

#[test]
fn what_nobody_knows_is_an_error_and_a_broken_file_is_reported() {
    let folder = folder(&[("x.json", "{\"rows\": []}"), ("y.json", "[{\"_id\": \"h1\",")]);
    let unknown = AnswerSet::load(&folder.path().join("x.json"), None, None).unwrap_err();
    assert!(unknown.to_string().contains("natural-questions"), "{unknown}");
    assert!(AnswerSet::load(&folder.path().join("none"), None, None).unwrap_err().to_string().contains("none"));
    let loaded = AnswerSet::load(&folder.path().join("y.json"), None, None).unwrap();
    assert!(loaded.set.questions.is_empty() && loaded.broken[0].problem.contains("line 1 column"), "{loaded:?}");
    let squad = AnswerSet::load(&folder.path().join("x.json"), Some(AnswerFormat::Squad), None).unwrap();
    assert_eq!(squad.broken[0].problem, "missing field `data`");
}

#[test]
fn a_sample_is_a_part_in_order_and_the_same_for_the_same_seed() {
    let own = AnswerSet::own();
    let sample = own.clone().sampled(10, 3);
    assert_eq!(sample, own.clone().sampled(10, 3));
    assert_ne!(sample, own.clone().sampled(10, 4));
    let mut rest = own.questions.iter();
    for question in &sample.questions {
        let there = rest.find(|other| other.id == question.id).expect("in the order of the file");
        assert_eq!(sample.documents[question.document], own.documents[there.document]);
    }
    assert_eq!(own.clone().sampled(1000, 3), own);
    let long = own.with_min_tokens(&Letters, 6000).unwrap();
    assert!(!long.documents.is_empty() && long.documents.len() < 10);
    assert!(long.documents.iter().all(|document| document.text.chars().count() >= 6000));
}

/// Quotes the chunk's last word where it has a capital letter; fails on a question about failing.
struct LastName;

impl Reader for LastName {
    fn name(&self) -> &'static str {
        "last name"
    }

    fn read(&self, question: &str, chunk: &str) -> Result<Reading, AnswerError> {
        if question.contains("fail") {
            return Err(AnswerError::Chunk(ChunkError::Custom("as it was told".into())));
        }
        let word = chunk.rsplit(' ').next().unwrap_or_default();
        let answer = word.starts_with(char::is_uppercase);
        let answer = answer.then(|| crate::answer::Found { text: word.to_owned(), span: None });
        Ok(Reading { answer, score: chunk.len() as f64, ..Reading::default() })
    }
}

/// Six chunks of one sentence, of which three answer.
fn small() -> AnswerSet {
    let text =
        "The tide turns. Boats wait for Ann. Bread is made by Bob. The pier is dry. Loaves go to Ann. Rain came.";
    let question = |id: &str, text: &str, answers: &[&str]| AnswerQuestion {
        id: id.to_owned(),
        text: text.to_owned(),
        document: 0,
        answers: answers.iter().map(|&answer| answer.to_owned()).collect(),
    };
    let document = crate::evaluation::Corpus { id: "small".to_owned(), text: text.to_owned() };
    let questions = vec![
        question("a", "Who makes bread?", &["Bob", "by Bob"]),
        question("b", "Will it fail?", &["no"]),
        question("c", "Who waits?", &["Ann"]),
        question("d", "Who swims?", &[]),
    ];
    AnswerSet { name: "small".to_owned(), documents: vec![document], questions }
}

fn sentences() -> SentenceChunker {
    SentenceChunker::new(1).unwrap().with_splitter(RuleSplitter)
}

fn stamp() -> Stamp {
    let word = String::new;
    Stamp { version: word(), model: word(), device: word(), dataset: word(), size: word(), settings: Vec::new() }
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-12
}

#[test]
fn figures_are_those_counted_by_hand() {
    let (set, chunker) = (small(), sentences());
    let evaluator = AnswerEvaluator::new(&set, &chunker, &LastName).with_selector(&Confidence);
    let evaluator = evaluator.with_whole(&Letters, 1000);
    let evaluation = evaluator.run(|_| ControlFlow::Continue(()));
    // One question fails, the others stay.
    assert_eq!(evaluation.failures.len(), 1);
    assert!(evaluation.failures[0].what.contains("question b"));
    let report = AnswerReport::new(stamp(), &set, &evaluation);
    let names: Vec<&str> = report.rows.iter().map(|row| row.selector.as_str()).collect();
    assert_eq!(names, ["first", "confidence", "oracle", "whole"]);
    let [first, confidence, oracle, whole] = &report.rows[..] else { panic!("four rows") };
    // Answers: Ann, Bob, Ann. First takes Ann: wrong, right, wrong.
    assert!(close(first.exact, 1.0 / 3.0) && close(first.f1, 1.0 / 3.0), "{first:?}");
    // The longest chunk that answers is that of Bob: right, wrong, wrong.
    assert!(close(confidence.exact, 1.0 / 3.0) && close(confidence.f1, 1.0 / 3.0), "{confidence:?}");
    // Bob is among the answers of a, Ann among those of c, and no chunk but answers d.
    assert!(close(oracle.exact, 2.0 / 3.0), "{oracle:?}");
    // The whole text ends in no name: all abstain.
    assert!(close(whole.exact, 1.0 / 3.0) && whole.abstained_rightly == Some(1.0), "{whole:?}");
    assert_eq!((first.f1_answerable, first.abstained_rightly), (Some(0.5), Some(0.0)));
    // All of first's scores are equal; each chunk has a length of its own.
    assert_eq!((first.ties, confidence.ties, oracle.ties), (Some(1.0), Some(0.0), None));
    assert!(close(confidence.against_first.unwrap().f1.mean, 0.0) && first.against_first.is_none());
    let reading = report.reading;
    assert_eq!((reading.questions, reading.answerable, reading.documents_whole), (3, 2, Some(1)));
    assert!(close(reading.chunks, 6.0) && close(reading.empty_chunks, 0.5) && close(reading.without_answer, 0.0));
    // Bob stands in the third chunk of six, Ann in the second.
    assert!(
        close(reading.held, 1.0) && reading.held_by == Some(2.5) && close(reading.held_at.unwrap(), 0.3),
        "{reading:?}"
    );
    let phases: Vec<&str> = report.times.iter().map(|time| time.phase.as_str()).collect();
    assert_eq!(phases, ["chunking", "reading", "selecting by first", "selecting by confidence"]);
}

#[test]
fn a_document_over_the_budget_is_not_read_whole() {
    let (set, chunker) = (small(), sentences());
    let letters = set.documents[0].text.chars().count();
    let whole = |budget| {
        let evaluator = AnswerEvaluator::new(&set, &chunker, &LastName).with_whole(&Letters, budget);
        evaluator.run(|_| ControlFlow::Continue(())).documents_whole
    };
    assert_eq!((whole(letters), whole(letters - 1)), (Some(1), Some(0)));
}

#[test]
fn the_order_of_the_questions_and_the_number_of_threads_change_nothing() {
    let set = AnswerSet::own();
    let (chunker, reader, bm25) = (SentenceChunker::new(4).unwrap(), LexicalReader::default(), Bm25::default());
    let report = |set: &AnswerSet, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let evaluator = AnswerEvaluator::new(set, &chunker, &reader).with_selector(&bm25);
            let evaluation = evaluator.run(|_| ControlFlow::Continue(()));
            let mut report = AnswerReport::new(stamp(), set, &evaluation);
            report.times.clear();
            report
        })
    };
    let one = report(&set, 1);
    assert_eq!(one, report(&set, 3));
    let mut turned = set.clone();
    turned.questions.reverse();
    turned.questions.rotate_left(17);
    let turned = report(&turned, 2);
    assert!(close(one.reading.held_at.unwrap(), turned.reading.held_at.unwrap()));
    for (row, other) in one.rows.iter().zip(&turned.rows) {
        assert!(
            close(row.exact, other.exact) && close(row.f1, other.f1) && row.ties == other.ties,
            "{row:?} {other:?}"
        );
    }
    assert!(one.rows[1].f1 > one.rows[0].f1, "bm25 selects better than the first answer");
}

/// Likes two answers equally, and a third not at all.
struct Torn;

impl Selector for Torn {
    fn name(&self) -> &'static str {
        "torn"
    }

    fn scores(&self, _: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        Ok((0..answers.len()).map(|at| [f64::NAN, 0.5, 0.5][at % 3]).collect())
    }
}

#[test]
fn a_tie_is_one_of_best_scores_and_a_score_that_is_none_is_never_best() {
    let (set, chunker) = (small(), sentences());
    let evaluation =
        AnswerEvaluator::new(&set, &chunker, &LastName).with_selector(&Torn).run(|_| ControlFlow::Break(()));
    // It was broken off behind the first question.
    assert_eq!(evaluation.questions.len(), 1);
    let selected = &evaluation.questions[0].selected[1];
    assert_eq!((selected.text.as_deref(), selected.tied), (Some("Bob."), true));
}
