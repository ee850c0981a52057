//! `horchunk answer`: what it prints is in the file where it says.

use serde_json::Value;

use crate::support::{Folder, HARBOUR};

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn ask(folder: &Folder, question: &str, line: &str) -> crate::support::Ran {
    let mut command = folder.command(&format!("answer {line}"));
    crate::support::Ran::new(line, command.arg(question).args(["a.txt", "b.txt"]).output().unwrap())
}

#[test]
fn bytes_of_an_answer_are_those_of_the_file() {
    let other = "\u{feff}Паром отходит в девять. Капитан [SEP] пьёт чай.\r\n";
    let folder = Folder::with([("a.txt", HARBOUR), ("b.txt", other)]);
    for selector in ["first", "confidence", "bm25", "tfidf", "embedding"] {
        let line = format!("--chunker sentences:alpha=1 --json --all --selector {selector}");
        let ran = ask(&folder, "Что пьёт капитан?", &line);
        let result = json(&ran.out);
        let answer = &result["answer"];
        assert_eq!((ran.code, answer["document"].as_str()), (Some(0), Some("b.txt")), "{}", ran.err);
        let (start, end) = (number(&answer["start"]), number(&answer["end"]));
        assert_eq!(answer["answer"].as_str(), Some(&other[start..end]));
        assert_eq!(&other[start..end], "Капитан [SEP] пьёт чай.");
        assert_eq!(number(&result["chunks"]), result["candidates"].as_array().unwrap().len());
        assert_eq!(ask(&folder, "Что пьёт капитан?", &line).out, ran.out);
    }
}

#[test]
fn streamed_lines_come_before_the_result() {
    let folder = Folder::with([("a.txt", HARBOUR), ("b.txt", "The captain drinks tea.")]);
    let ran = ask(&folder, "What does the captain drink?", "--stream --json --top-k 3");
    let lines: Vec<Value> = ran.out.lines().map(json).collect();
    let (result, answers) = lines.split_last().unwrap();
    assert_eq!(answers.len(), number(&result["chunks"]) - number(&result["abstained"]));
    assert_eq!(number(&result["chunks"]), 3);
}

#[test]
fn no_answer_is_said_and_is_no_failure() {
    let folder = Folder::with([("a.txt", HARBOUR), ("b.txt", "")]);
    let ran = ask(&folder, "渡轮几点离开?", "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "no answer found\n"));
    assert!(ran.err.contains("no chunk shares a word with the question"), "{}", ran.err);
}

#[test]
fn what_cannot_be_meant_is_wrong_usage() {
    let folder = Folder::with([("a.txt", "Words."), ("b.txt", "Words.")]);
    for (question, line, said) in [
        (" ?! ", "", "the question holds no word"),
        ("Who?", "--reader chat", "name one with --llm"),
        ("Who?", "--stem klingon", "no stemmer for"),
        ("Who?", "--min-share 2", "above 0 and up to 1"),
        ("Who?", "--prices cheap", "names no prices"),
    ] {
        let ran = ask(&folder, question, line);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    let line = "--reader chat --llm none --llm-url http://127.0.0.1:9/v1";
    let ran = ask(&folder, "Who?", line);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("no answer from"), "{}", ran.err);
}
