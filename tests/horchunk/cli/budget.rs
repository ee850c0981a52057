//! Budgets of language models: `chunk --for-model`, `budget`, `models llms`.

use horchunk::{Record, TokenizerFile};
use serde_json::Value;

use crate::support::{Folder, HARBOUR, repository};

const MINE: &str = "[[model]]\nid = \"tiny\"\nprovider = \"us\"\ncontext = 100\nmax_output = 20\n\
    tokenizer = \"o200k_base\"\nreserve = 20\nsource = \"https://example.org\"\ndate = \"2026-11-30\"\n";

fn folder() -> Folder {
    Folder::with([("harbour.txt", HARBOUR), ("mine.toml", MINE)])
}

fn tokens(records: &[Record<'_>]) -> Vec<usize> {
    records.iter().filter_map(|record| record.tokens).collect()
}

#[test]
fn a_model_sets_counter_and_cap_and_leaves_the_chunker_alone() {
    let folder = folder();
    let budget = folder.records("chunk harbour.txt --registry mine.toml --for-model tiny --chunker budget");
    assert!(budget.iter().all(|record| record.token_counter.as_deref() == Some("o200k_base")));
    let (last, full) = budget.split_last().unwrap();
    assert!(full.iter().all(|record| (72..=80).contains(&record.tokens.unwrap())), "{:?}", tokens(&budget));
    assert!(last.tokens <= Some(80));

    let same = folder.records("chunk harbour.txt --chunker budget --tokens o200k_base --max-tokens 80");
    assert_eq!(same, budget, "the same in figures");
    let less = folder.records("chunk harbour.txt --registry mine.toml --for-model TINY --reserve 60 --chunker budget");
    assert!(less.iter().all(|record| record.tokens <= Some(40)) && less.len() > budget.len());

    let window = folder.records("chunk harbour.txt --registry mine.toml --for-model tiny -t -1 -a 100");
    assert!(window.len() > 1 && window.iter().all(|record| record.tokens <= Some(80)));
    let overlap = "chunk harbour.txt --registry mine.toml --for-model tiny --chunker budget --overlap-tokens 16";
    let overlap = folder.records(overlap);
    assert!(
        overlap.windows(2).all(|pair| pair[1].start < pair[0].end),
        "every chunk repeats the end of the one before"
    );
}

#[test]
fn structure_is_preferred_where_that_is_asked_for() {
    let folder = folder();
    let line = "chunk harbour.txt --chunker budget --max-tokens 120 --prefer structure";
    let chunks = folder.records(line);
    assert!(chunks.iter().all(|chunk| chunk.forced.is_none()));
    let ends =
        chunks.iter().all(|chunk| HARBOUR[chunk.end..].trim().is_empty() || HARBOUR[chunk.end..].starts_with("\n\n"));
    assert!(ends, "{chunks:?}");
    folder.run("chunk harbour.txt --prefer structure").fails(2, &["has no setting \"prefer\""]);
    folder.run("chunk harbour.txt --chunker budget --prefer words").fails(2, &["take fill or structure"]);
}

#[test]
fn estimates_say_that_they_are_estimates() {
    let folder = folder();
    let ran = folder.run("chunk harbour.txt --for-model claude-sonnet-4-5 --chunker budget --format jsonl");
    assert!(ran.code == Some(0) && ran.err.contains("estimated by cl100k_base*1.36"), "{}", ran.err);
    let record: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(record["tokens_estimated"], true);
    folder.write("chunks.jsonl", &ran.out);
    assert!(folder.out("verify harbour.txt chunks.jsonl").contains("all laws hold"));
    let text = folder.run("chunk harbour.txt --for-model claude-sonnet-4-5 --chunker budget -q").out;
    assert!(text.contains("about "), "{text}");
    let guess = folder.run("chunk harbour.txt --tokens chars/4 --chunker budget --max-tokens 50");
    assert!(guess.code == Some(0) && guess.err.contains("guesses"), "{}", guess.err);
}

#[test]
fn a_tokenizer_that_is_not_at_hand_can_be_named_or_replaced() {
    let folder = folder();
    let line = "chunk harbour.txt --for-model qwen3-8b --chunker budget";
    folder.run(line).fails(2, &["--tokens", "--allow-proxy", "Qwen/Qwen3-8B"]);
    let ran = folder.run(&format!("{line} --allow-proxy"));
    assert!(ran.code == Some(0) && ran.err.contains("cl100k_base*1.02"), "{}", ran.err);
    // Any tokenizer.json will do for the test: that of the embedding model is at hand.
    let model = repository("models/all-minilm-l6-v2");
    let records = folder.records(&format!("{line} --tokens {}", model.display()));
    let text = records[0].text.clone();
    let counter = TokenizerFile::from_path(model.join("tokenizer.json")).unwrap();
    assert_eq!(records[0].tokens, Some(horchunk::TokenCounter::count(&counter, &text).unwrap()));
    // What the cache of the hub has is found there.
    let snapshot = "hf/hub/models--Qwen--Qwen3-8B/snapshots/abc";
    folder.write(&format!("{snapshot}/tokenizer.json"), std::fs::read(model.join("tokenizer.json")).unwrap());
    folder.write("hf/hub/models--Qwen--Qwen3-8B/refs/main", "abc");
    let cached = folder.records(line);
    assert_eq!(cached[0].token_counter.as_deref(), Some("Qwen/Qwen3-8B"));
    folder.write("chunks.jsonl", folder.out(&format!("{line} --format jsonl")));
    assert!(folder.out("verify harbour.txt chunks.jsonl").contains("all laws hold"));
    folder.run("chunk harbour.txt --tokens Qwen/Qwen3-4B").fails(1, &["HF_HUB_OFFLINE"]);
}

#[test]
fn names_and_reserves_that_cannot_be_are_errors() {
    let folder = folder();
    for (line, words) in [
        ("chunk harbour.txt --for-model gtp-4o", &["no language model is named", "near to it are", "gpt-4o"][..]),
        ("chunk harbour.txt --for-model gpt-4o --reserve 128000", &["leaves nothing of the 128000"]),
        ("chunk harbour.txt --reserve 10", &["--for-model"]),
        ("budget harbour.txt --for-model nobody", &["no language model is named"]),
        ("models llms --provider nobody", &["take one of", "openai"]),
        ("chunk harbour.txt --chunker budget --max-tokens 50 --overlap-tokens 50", &["needs chunks of more than 50"]),
    ] {
        folder.run(line).fails(2, words);
    }
    folder.write("mine.toml", MINE.replace("reserve = 20", "reserve = 200"));
    folder.run("models llms --registry mine.toml").fails(1, &["mine.toml, line 2", "reserve", "200 leaves nothing"]);
    folder.run("models llms --registry none.toml").fails(1, &["none.toml cannot be read"]);
}

#[test]
fn a_text_is_held_against_every_model() {
    let folder = folder();
    let few = folder.out("budget harbour.txt");
    assert!(few.lines().count() >= 16 && few.contains("fits whole: no need to chunk"), "{few}");
    let all = folder.out("budget harbour.txt --all-models --json");
    let rows: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.len() >= 90);
    for row in &rows {
        assert_eq!(row["fits"], row["chunks"] == 1, "{row}");
        assert_eq!(row["document"], "harbour.txt");
    }
    let tiny = folder.out("budget harbour.txt --registry mine.toml --for-model tiny --json");
    let row: Value = serde_json::from_str(&tiny).unwrap();
    let chunks = folder.records("chunk harbour.txt --registry mine.toml --for-model tiny --chunker budget").len();
    assert_eq!((row["fits"].as_bool(), row["chunks"].as_u64()), (Some(false), Some(chunks as u64)));
}

#[test]
fn the_registry_is_shown_and_checked() {
    let folder = folder();
    let rows: Vec<Value> = serde_json::from_str(&folder.out("models llms --json --registry mine.toml")).unwrap();
    assert!(rows.iter().any(|row| row["id"] == "tiny" && row["exact"] == true));
    assert!(folder.out("models llms --provider OpenAI").contains("gpt-4o-mini"));
    assert!(folder.out("models llms --check").contains("0 broken laws"));
    folder.write("theirs.toml", MINE.replace("tiny", "gpt-4o").replace("2026", "2020"));
    let found = folder.out("models llms --check theirs.toml");
    assert!(found.contains("different: gpt-4o: context: 128000 here, 100 there"), "{found}");
    let old = MINE.replace("2026-11-30", "2020-01-01");
    folder.write("mine.toml", old);
    let found = folder.out("models llms --check --registry mine.toml");
    assert!(found.contains("old: tiny: date: looked at on 2020-01-01"), "{found}");
}
