//! `horchunk answer`: what it prints is in the file where it says.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, HARBOUR, repository};

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

/// A folder of a tiny model with a head, as a hub would have it.
fn head(folder: &Folder, name: &str, head: &str) {
    let heads = repository("tests/fixtures/heads/bert");
    let config = fs::read_to_string(heads.join("config.json")).unwrap();
    folder.write(&format!("{name}/config.json"), config.replace("ForSequenceClassification", head));
    folder.write(&format!("{name}/model.safetensors"), fs::read(heads.join("model.safetensors")).unwrap());
    let tokenizer = repository("tests/fixtures/models/bert-cls/tokenizer.json");
    folder.write(&format!("{name}/tokenizer.json"), fs::read(tokenizer).unwrap());
}

#[test]
fn models_with_a_head_read_and_select() {
    let other = "\u{feff}The ferry left before dawn, and nobody on the pier waved. Né 🙂 façade.\r\n";
    let folder = Folder::with([("a.txt", HARBOUR), ("b.txt", other)]);
    head(&folder, "qa", "ForQuestionAnswering");
    head(&folder, "cross", "ForSequenceClassification");
    let line = "--chunker sentences:alpha=1 --reader extractive --reader-model qa --min-margin -100 --json --all \
                --selector cross-encoder --selector-model cross";
    let ran = ask(&folder, "Who waved?", line);
    let result = json(&ran.out);
    let candidates = result["candidates"].as_array().unwrap();
    assert_eq!((ran.code, candidates.len(), &result["abstained"]), (Some(0), number(&result["chunks"]), &json("0")));
    for candidate in candidates {
        let text = if candidate["document"] == "a.txt" { HARBOUR } else { other };
        let (start, end) = (number(&candidate["start"]), number(&candidate["end"]));
        assert_eq!(candidate["answer"].as_str(), Some(&text[start..end]));
        assert!(candidate["selector_score"].as_f64() <= result["answer"]["selector_score"].as_f64());
    }
    assert_eq!(ask(&folder, "Who waved?", &format!("{line} --threads 1")).out, ran.out);

    let strict = ask(&folder, "Who waved?", "--reader extractive --reader-model qa --min-margin 100");
    assert_eq!((strict.code, strict.out.as_str()), (Some(0), "no answer found\n"), "{}", strict.err);
    let long = ask(&folder, &"why ".repeat(99), "--reader extractive --reader-model qa");
    assert_eq!(long.code, Some(1));
    assert!(long.err.contains("room for 36 beside a text; ask a shorter one"), "{}", long.err);
}

#[test]
fn a_model_for_a_reader_or_selector_must_be_named_and_have_the_head() {
    let folder = Folder::with([("a.txt", "Words."), ("b.txt", "Words.")]);
    head(&folder, "cross", "ForSequenceClassification");
    for (line, code, said) in [
        ("--reader extractive", 2, "--reader-model, as distilbert/distilbert-base-cased-distilled-squad"),
        ("--reader-model cross", 2, "--reader-model is for the reader extractive, not for lexical"),
        ("--min-margin 1", 2, "--min-margin is for the reader extractive, not for lexical"),
        ("--selector cross-encoder", 2, "--selector-model, as cross-encoder/ms-marco-MiniLM-L6-v2"),
        ("--reader extractive --reader-model cross", 1, "architectures = [\"BertForSequenceClassification\"]"),
        ("--selector cross-encoder --selector-model bundled", 1, "architectures = [\"BertModel\"]"),
        ("--reader extractive --reader-model no/such", 1, "no/such"),
        ("--reader extractive --reader-model ./nowhere", 1, "nowhere"),
    ] {
        let ran = ask(&folder, "Who?", line);
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
}
