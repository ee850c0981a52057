//! `horchunk eval` as a user runs it.

use std::fs;

use serde_json::Value;

use crate::server::{Server, completion};
use crate::support::{Folder, shared};

/// A dataset of two small texts.
fn dataset() -> Folder {
    let tides = "The tide turns at ten. The pier is dry by noon. Boats lie on the sand until four.";
    let bread = "The d\u{f6}ugh rests for a day. The oven is lit at three. Loaves are sold from six.";
    let row = |question: &str, content: &str, text: &str, corpus: &str| {
        let start = text.split(content).next().unwrap().chars().count();
        let end = start + content.chars().count();
        let references = serde_json::json!([{"content": content, "start_index": start, "end_index": end}]).to_string();
        format!("{question},\"{}\",{corpus}\n", references.replace('"', "\"\""))
    };
    let questions = [
        "question,references,corpus_id\n".to_owned(),
        row("When does the tide turn?", "The tide turns at ten.", tides, "tides"),
        row("When is the oven lit?", "The oven is lit at three.", bread, "bread"),
        row("How long do boats lie on the sand?", "Boats lie on the sand until four.", tides, "tides"),
    ];
    Folder::with([
        ("data/questions_df.csv", questions.concat().as_str()),
        ("data/corpora/tides.md", tides),
        ("data/corpora/bread.md", bread),
    ])
}

fn json(folder: &Folder, line: &str) -> Value {
    serde_json::from_str(&folder.out(line)).unwrap()
}

#[test]
fn the_table_names_every_chunker_with_its_scores_and_the_plain_rows_come_last() {
    let table = dataset().out("eval --data data --chunker window:t=0.5 --chunker recursive:size=20 -q");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("chunker") && lines[0].contains("precision-omega") && lines[0].contains("IoU"));
    let starts = ["window", "recursive", "sentences", "sentences"];
    assert!(lines[1..5].iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{table}");
    assert!(table.contains("data: 2 texts, 3 questions, 159 characters"), "{table}");
}

#[test]
fn one_sentence_a_chunk_answers_each_question_exactly() {
    let folder = dataset();
    let report = json(&folder, "eval --data data --chunker sentences:alpha=1 -k 1 --no-plain --format json -q");
    let row = &report["rows"][0];
    for metric in ["recall", "precision", "precision_omega", "iou"] {
        assert_eq!(row["summary"][metric]["mean"], 1.0, "{metric}: {row}");
    }
    assert_eq!(row["sizes"]["chunks"], 6);
    assert_eq!(report["stamp"]["dataset"], "data");
    let corpora: Vec<&str> =
        row["corpora"].as_array().unwrap().iter().map(|corpus| corpus[0].as_str().unwrap()).collect();
    assert_eq!(corpora, ["tides", "bread"]);
}

#[test]
fn searched_spans_are_exact_ones_without_the_final_full_stop() {
    let folder = dataset();
    let recall = |compat: &str| {
        let line = format!("eval --data data --chunker sentences:alpha=1 -k 1 --no-plain --format json -q {compat}");
        json(&folder, &line)["rows"][0]["summary"]["recall"]["mean"].as_f64().unwrap()
    };
    let lengths = [22.0, 25.0, 33.0];
    let expected = lengths.iter().map(|length| (length - 1.0) / length).sum::<f64>() / 3.0;
    assert!((recall("") - 1.0).abs() < 1e-12);
    assert!((recall("--compat") - expected).abs() < 1e-12, "{}", recall("--compat"));
}

#[test]
fn a_text_that_stands_twice_is_retrieved_once_if_asked_for() {
    let folder = dataset();
    let twice = folder.read("data/corpora/tides.md") + "\n\nBoats lie on the sand  until four.";
    folder.write("data/corpora/tides.md", twice);
    let retrieved = |unique: &str| {
        let line = format!(
            "eval --data data --chunker sentences:alpha=1 -k 9 --no-plain --questions --format jsonl -q {unique}"
        );
        let lines = folder.out(&line);
        let record: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        record["retrieved"].as_array().unwrap().len()
    };
    assert_eq!((retrieved(""), retrieved("--unique")), (7, 6));
}

#[test]
fn the_best_sentence_can_speak_for_its_chunk() {
    let folder = dataset();
    let line =
        "eval --data data --chunker sentences:alpha=3 --by-sentence 0 --by-sentence 1 --no-plain --questions -k 1 -q";
    let text = folder.out(line);
    assert!(text.contains("· sentences alpha=3,by-sentence=1\n"), "{text}");
    let similarities: Vec<f32> = text
        .lines()
        .filter_map(|line| line.strip_prefix(" + ").or(line.strip_prefix(" - ")))
        .map(|line| line.split(' ').next().unwrap().parse().unwrap())
        .collect();
    // A single sentence that answers is more alike than three together.
    assert!(similarities.len() == 6 && similarities[..3].iter().zip(&similarities[3..]).all(|(a, b)| a < b), "{text}");
}

#[test]
fn csv_markdown_and_html_hold_the_same_rows() {
    let folder = dataset();
    let line = "eval --data data --chunker recursive:size=20 -q --format";
    let csv = folder.out(&format!("{line} csv"));
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.lines().next().unwrap().ends_with("bread_iou"), "{csv}");
    let markdown = folder.out(&format!("{line} md"));
    assert!(markdown.lines().skip(2).take(3).all(|line| line.starts_with("| ") && line.ends_with(" |")), "{markdown}");
    folder.out(&format!("{line} html -o report.html"));
    let page = folder.read("report.html");
    assert!(page.contains("<svg") && page.contains("size=20,overlap=0"));
}

#[test]
fn every_question_can_be_looked_into() {
    let folder = dataset();
    let line = "eval --data data --chunker sentences:alpha=2 -k 1 --no-plain --questions -q";
    let text = folder.out(line);
    assert!(text.contains("── 2 · bread · sentences alpha=2") && text.contains("   When is the oven lit?"), "{text}");
    let lines = folder.out(&format!("{line} --format jsonl"));
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 3);
    for record in &records {
        let recall = record["recall"].as_f64().unwrap();
        assert_eq!(recall < 1.0, !record["missed"].as_array().unwrap().is_empty(), "{record}");
        let hit = &record["retrieved"][0];
        assert_eq!(hit["useful"].as_bool().unwrap(), recall > 0.0, "{record}");
        assert!(hit["char_end"].as_u64() > hit["char_start"].as_u64());
    }
}

#[test]
fn a_sweep_scores_every_point_and_embeds_little_twice() {
    let folder = dataset();
    let ran = folder.run("eval --data data --sweep t=0.2:0.8:0.2 alpha=1,3 --no-plain --format json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9, "what the sweep starts from, and 4 x 2 points");
    assert_eq!([&rows[0]["parameters"], &rows[2]["parameters"]], ["t=0.72,alpha=6", "t=0.2,alpha=3"]);
    let share: f64 = ran.err.split("texts embedded, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(share <= 2.0, "{}", ran.err);
    assert!(!report["front"].as_array().unwrap().is_empty());
}

#[test]
fn what_is_chosen_on_one_half_is_judged_on_the_other() {
    let folder = dataset();
    let line = "eval --data data --chunker window --sweep alpha=1,3 --choose 90 --no-plain --format json -q";
    let report = json(&folder, line);
    let last = report["rows"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["chunker"], "chosen");
    let parameters = last["parameters"].as_str().unwrap();
    assert!(parameters.starts_with("recall>=90: by questions 1, 3, 5, ... window t=0.72,alpha="), "{parameters}");
    assert!(!parameters.contains("out of reach"));
}

#[test]
fn context_weights_double_the_rows() {
    let folder = dataset();
    let line =
        "eval --data data --chunker sentences:alpha=1 --context none --context 0.25,0.1 --no-plain --format json -q";
    let report = json(&folder, line);
    let parameters: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["parameters"].as_str().unwrap()).collect();
    assert_eq!(parameters, ["alpha=1", "alpha=1,context=0.25/0.1"]);
}

#[test]
fn more_chunks_than_there_are_is_said_and_all_are_retrieved() {
    let ran = dataset().run("eval --data data --chunker recursive:size=500 -k 9 --no-plain --format csv");
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("1 row had fewer chunks than are to be retrieved"), "{}", ran.err);
}

#[test]
fn a_row_that_fails_leaves_the_others() {
    let server = Server::new(|_, _| ("401 Unauthorized", Vec::new()));
    let folder = dataset();
    folder.write("data/corpora/tides.md", folder.read("data/corpora/tides.md") + &" The sea is wide.".repeat(99));
    let line = "eval --data data --chunker llm --chunker recursive:size=50 --format csv -q --llm tiny --llm-url";
    let ran = folder.run(&format!("{line} {}", server.url()));
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("llm: the corpus tides could not be cut") && ran.err.contains("OPENAI_API_KEY"),
        "{}",
        ran.err
    );
    assert_eq!(ran.out.lines().count(), 4);
}

#[test]
fn wrong_words_are_wrong_usage() {
    let folder = dataset();
    for (line, words) in [
        ("eval --chunker windows", &["unknown chunker \"windows\"", "take one of window"][..]),
        ("eval --chunker window:size=3", &["has no setting \"size\""]),
        ("eval --sweep t", &["no axis"]),
        ("eval -k 0", &["at least 1"]),
        ("eval --context=-1", &["--context -1", "from 0 to 1"]),
        ("eval --by-sentence 2", &["--by-sentence 2", "from 0 to 1"]),
        ("eval --choose 101", &["--choose 101"]),
        ("eval -o out/", &["is a folder"]),
        ("eval --data data -o data/questions_df.csv", &["is read and cannot be written"]),
        ("eval --chunker recursive:size=0", &["a size of 0 tokens"]),
        ("eval --questions --format csv", &["table or jsonl"]),
        ("eval --format jsonl", &["--questions"]),
        ("eval --chunker llm --no-plain -q", &["asks a language model"]),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.err);
        assert!(words.iter().all(|word| ran.err.contains(word)), "{line}: {}", ran.err);
    }
}

#[test]
fn a_broken_dataset_names_its_lines() {
    let folder = dataset();
    let broken = folder.read("data/questions_df.csv").replace("turns at ten", "turns at two");
    folder.write("data/questions_df.csv", broken + "Who?,[],tides\nWhy?,[],moon\n");
    folder
        .run("eval --data data")
        .fails(1, &["line 2", "not at 0..22 of tides", "line 5: the question has no reference"]);
    folder.run("eval --data none").fails(1, &["none/questions_df.csv", "corpora/*.md"]);
    folder.run("eval --data public").fails(1, &["horchunk eval fetch"]);
}

#[test]
fn segments_are_compared_with_those_that_people_marked() {
    let text = "The tide turns at ten. The pier is dry by noon.\n==========\nThe oven is lit at three. Loaves cool.\n";
    let folder = Folder::with([("a.txt", text)]);
    folder.write("b.txt", "No section is marked here.");
    folder.run("eval segments b.txt").fails(1, &["b.txt", "at least ten ="]);
    let table = folder.out("eval segments a.txt --chunker sentences:alpha=2 --chunker sentences:alpha=1");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).take(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["sentences:alpha=2", "0.0", "0.0", "100.0", "100.0", "100.0"]);
    assert_eq!(rows[1][5], "50.0", "{table}");
    let records = folder.out("eval segments a.txt --chunker sentences:alpha=2 --json");
    let record: Value = serde_json::from_str(records.trim()).unwrap();
    assert_eq!((&record["document"], &record["units"]), (&"a.txt".into(), &4.into()));
}

#[test]
fn the_public_benchmark_is_fetched_once_and_checked() {
    let Some(data) = shared("chunking-evaluation") else { return };
    let server = Server::new(move |request, _| match fs::read(data.join(request.path.trim_start_matches('/'))) {
        Ok(bytes) => ("200 OK", bytes),
        Err(_) => ("404 Not Found", Vec::new()),
    });
    let folder = Folder::new();
    let line = format!("eval fetch --to got --url {} -q", server.url());
    assert_eq!(folder.out(&line), "got\n");
    assert_eq!(server.requests().len(), 6);
    folder.out(&line);
    assert_eq!(server.requests().len(), 6, "nothing is fetched twice");
    folder.write("got/corpora/chatlogs.md", "cut off");
    folder.out(&line);
    assert_eq!(server.requests().len(), 7, "what is broken is fetched again");
    assert!(folder.files().iter().all(|name| !name.contains(".part")));
}

#[test]
fn a_benchmark_that_is_another_or_not_there_is_not_taken() {
    let folder = Folder::new();
    let other = Server::new(|_, _| ("200 OK", b"something else".to_vec()));
    let line = format!("eval fetch --to got --url {} -q", other.url());
    folder.run(&line).fails(1, &["questions_df.csv is not the file that it should be", "14 bytes"]);
    let none = Server::new(|_, _| ("404 Not Found", Vec::new()));
    folder
        .run(&format!("eval fetch --to got --url {} -q", none.url()))
        .fails(1, &["cannot be fetched", "404", "--data"]);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

const TEXT: &str = "The tide turns at ten. The pier is dry by noon.\nBoats lie on the sand until four.";

fn question(question: &str, excerpt: &str) -> String {
    serde_json::json!({"question": question, "references": [excerpt]}).to_string()
}

#[test]
fn a_benchmark_is_made_of_ones_own_text_and_a_second_run_costs_nothing() {
    let server = Server::new(|_, number| match number {
        0 => completion("I am only a small model."),
        1 => completion(&question("When does the tide turn?", "the tide turns at ten.")),
        _ => completion(&question("Until when do boats lie on the sand?", "Boats lie on the sand until four.")),
    });
    let folder = Folder::with([("docs/harbour.txt", TEXT)]);
    let line = format!("eval make docs --to made --questions 2 --llm tiny --llm-url {}/v1 -v", server.url());
    let ran = folder.run(&line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("dropped: the reply is not JSON") && ran.err.contains("33 tokens asked"), "{}", ran.err);
    let files = ["docs/harbour.txt", "made/corpora/harbour.md", "made/journal.jsonl", "made/questions_df.csv"];
    assert_eq!(folder.files(), files);
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");
    assert!(server.requests()[0].body.contains("Boats lie on the sand"));

    let again = folder.run(&line);
    assert_eq!((again.code, server.requests().len()), (Some(0), 3), "{}", again.err);
    folder.out("eval --data made --chunker sentences:alpha=1 -q");
}

#[test]
fn an_endpoint_that_fails_keeps_what_was_made() {
    let folder = Folder::with([("harbour.txt", TEXT)]);
    let line = |server: &Server| {
        format!("eval make harbour.txt --to made --questions 2 --llm tiny --llm-url {}", server.url())
    };
    let server = Server::new(|_, number| match number {
        0 => completion(&question("When does the tide turn?", "The tide turns at ten.")),
        _ => ("401 Unauthorized", b"{\"error\":{\"message\":\"no key\"}}".to_vec()),
    });
    let ran = folder.run(&line(&server));
    assert_eq!((ran.code, server.requests().len()), (Some(1), 2), "{}", ran.err);
    assert!(ran.err.contains("OPENAI_API_KEY") && ran.err.contains("goes on from there"), "{}", ran.err);
    assert_eq!(folder.read("made/questions_df.csv").lines().count(), 2);

    folder.write("harbour.txt", "Another text.");
    folder.run(&line(&server)).complains(1, &["harbour.md is another text"]);
    folder.run("eval make harbour.txt --to made").fails(2, &["--llm"]);
}

#[test]
fn a_language_model_cuts_where_it_says() {
    let server = Server::new(|request, _| {
        let first = request.body.split("number from ").nth(1).unwrap().split(' ').next().unwrap();
        completion(&format!("split_after: {first}"))
    });
    let long =
        "The tide turns at ten and the pier is dry by noon, so that boats lie on the sand until four. ".repeat(12);
    let folder = Folder::with([("a.txt", long.as_str())]);
    let records = folder.records(&format!("chunk a.txt --chunker llm --llm tiny --llm-url {}", server.url()));
    assert_eq!(records[0].reason.name(), "model");
    folder.run("chunk a.txt --chunker llm").fails(2, &["--llm"]);
}
