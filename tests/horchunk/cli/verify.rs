//! `horchunk verify`: it accepts every good result and no other.

use serde_json::{Value, json};

use crate::support::{Folder, HARBOUR, repository};

/// Settings of `chunk`, and what `verify` must be told of them.
const SETTINGS: [(&str, &str); 22] = [
    ("", ""),
    ("-t 0.5 -a 3", ""),
    ("-t 1", ""),
    ("-t -1 -a 1000", ""),
    ("-a 1", ""),
    ("--borders paragraph", ""),
    ("--borders blank-line", ""),
    ("--max-tokens 3", "--max-tokens 3"),
    ("--max-tokens 17", "--max-tokens 17"),
    ("--max-tokens 60 --min-tokens 30", "--max-tokens 60"),
    ("--min-tokens 50", ""),
    ("--overlap-sentences 2", "--overlap"),
    ("--overlap-sentences 3 --max-tokens 40", "--overlap --max-tokens 40"),
    ("--sentences rule", ""),
    ("--sentences paragraph", ""),
    ("--sentences token:9", ""),
    ("--tokens o200k_base", ""),
    ("--tokens wordpiece --max-tokens 30", "--max-tokens 30"),
    ("--tokens none", ""),
    ("--keep-whitespace", "--keep-whitespace"),
    ("--keep-whitespace --max-tokens 8 --borders paragraph", "--keep-whitespace --max-tokens 8"),
    ("--explain --embeddings", ""),
];

#[test]
fn results_of_every_setting_are_good() {
    let (beginning, _) = HARBOUR.split_once("In winter").unwrap();
    let text = format!(
        "\u{feff} \n{}\r\n\r\nna\u{ef}ve caf\u{e9} \u{2014} \u{6f6e}\u{6c50}\u{3002}\u{8239}\u{3002} \n",
        beginning.replace('\n', "\r\n")
    );
    let folder = Folder::with([("a.txt", &text)]);
    for (chunk, verify) in SETTINGS {
        folder.out(&format!("chunk a.txt {chunk} --format jsonl -o a.jsonl"));
        let said = folder.out(&format!("verify a.txt a.jsonl {verify}"));
        assert!(said.starts_with("1 document, ") && said.ends_with(": all laws hold\n"), "{chunk}: {said}");
    }
}

#[test]
fn every_form_of_source_and_chunks_can_be_verified() {
    let folder = Folder::with([("d/a.txt", HARBOUR), ("d/sub/b.md", "Low tide. High tide."), ("d/empty.txt", "")]);
    folder.out("chunk d --format jsonl -o d.jsonl");
    folder.out("chunk d --format json -o d.json");
    folder.out("chunk d --format jsonl -o lines/");
    folder.out("chunk d --format json -o arrays/");
    for chunks in ["d.jsonl", "d.json", "lines", "arrays"] {
        assert!(folder.out(&format!("verify d {chunks}")).starts_with("3 documents, "), "{chunks}");
        assert_eq!(folder.out(&format!("verify d {chunks} --quiet")), "");
    }
    let lines = folder.read("lines/sub/b.md.jsonl");
    folder.run_on(&lines, "verify d/sub/b.md -").done();
    folder.run_on("Low tide. High tide.", "verify - lines/sub/b.md.jsonl").done();
    folder.run("verify - -").fails(2, &["both be standard input"]);
}

#[test]
fn a_corpus_and_broken_text_are_read_as_chunk_reads_them() {
    let folder =
        Folder::with([("c.jsonl", "{\"k\":\"q1\",\"b\":\"Low tide.\"}\n{\"k\":\"q2\",\"b\":\"High.\",\"t\":1}\n")]);
    let read = "--input-format jsonl --text-field b --id-field k";
    folder.out(&format!("chunk c.jsonl {read} --format jsonl -o out.jsonl"));
    assert_eq!(folder.out(&format!("verify c.jsonl out.jsonl {read}")), "2 documents, 2 chunks: all laws hold\n");
    folder.write("broken.txt", b"Low \xFF tide.");
    folder.out("chunk broken.txt --lossy --format jsonl -o broken.jsonl");
    assert_eq!(folder.out("verify broken.txt broken.jsonl --lossy"), "1 document, 1 chunk: all laws hold\n");
}

#[test]
fn counts_of_a_model_are_checked_with_that_model() {
    let folder = Folder::with([("a.txt", "Low tide. High tide.")]);
    let model = format!("--model {}", repository("tests/fixtures/models/roberta").display());
    folder.out(&format!("chunk a.txt {model} --tokens wordpiece --format jsonl -o a.jsonl"));
    folder.out(&format!("verify a.txt a.jsonl {model}"));
    folder.run("verify a.txt a.jsonl").fails(2, &["--model"]);
}

/// Good chunks of a text, to be spoilt.
fn good(settings: &str) -> (Folder, Vec<Value>) {
    let folder = Folder::with([("a.txt", HARBOUR)]);
    let lines = folder.out(&format!("chunk a.txt --format jsonl -t 0.75 {settings}"));
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.len() > 5);
    (folder, records)
}

/// What `verify` says of these records.
#[track_caller]
fn violations(folder: &Folder, records: &[Value], words: &str) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    folder.write("bad.jsonl", lines.join("\n"));
    let ran = folder.run(&format!("verify a.txt bad.jsonl {words}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
    assert!(ran.out.contains(" violation"), "{}", ran.out);
    ran.out
}

fn add(value: &mut Value, n: i64) {
    *value = json!(value.as_i64().unwrap() + n);
}

/// What may be done to chunks: its name, how, and a word of what must be said of it.
type Tampering = (&'static str, fn(&mut Vec<Value>), &'static str);

const TAMPERINGS: [Tampering; 19] = [
    ("the first chunk is gone", |chunks| drop(chunks.remove(0)), "lost in front of it at byte 0"),
    ("a chunk is gone", |chunks| drop(chunks.remove(3)), "lost in front of it at byte"),
    ("the last chunk is gone", |chunks| drop(chunks.pop()), "behind the last chunk"),
    ("all chunks are gone", Vec::clear, "has no chunks, but"),
    ("two chunks are swapped", |chunks| chunks.swap(2, 3), "does not come after"),
    ("a chunk comes twice", |chunks| chunks.insert(2, chunks[2].clone()), "inside the chunk before it"),
    ("a word is changed", |chunks| chunks[1]["text"] = "harbor".into(), "its text is not that of the source"),
    ("the end of a text is cut", |chunks| chunks[1]["text"] = "The".into(), "they part at byte"),
    ("a span is shorter", |chunks| add(&mut chunks[1]["end"], -1), "its text is not that of the source"),
    ("a span is longer than the source", |chunks| add(&mut chunks[1]["end"], 100_000), "is no span of a source"),
    ("a span is empty", |chunks| chunks[1]["end"] = chunks[1]["start"].clone(), "is no span of a source"),
    ("a count is wrong", |chunks| add(&mut chunks[2]["tokens"], 1), "tokens, but cl100k_base counts"),
    ("the first line is wrong", |chunks| add(&mut chunks[2]["line_start"], 1), "says line_start"),
    ("the last line is wrong", |chunks| add(&mut chunks[2]["line_end"], -1), "says line_end"),
    ("the first character is wrong", |chunks| add(&mut chunks[2]["char_start"], 1), "says char_start"),
    ("the end in characters is wrong", |chunks| add(&mut chunks[2]["char_end"], 1), "says char_end"),
    ("an index is wrong", |chunks| add(&mut chunks[2]["index"], 5), "has the index 7, but should have 2"),
    ("an id is wrong", |chunks| chunks[2]["id"] = "0".repeat(32).into(), "does not follow from its document and text"),
    (
        "a chunk is of another document",
        |chunks| chunks[2]["document"] = "b.txt".into(),
        "b.txt: 1 chunk of a document that is not there",
    ),
];

#[test]
fn every_tampering_is_caught() {
    let (folder, records) = good("");
    for (name, tamper, word) in TAMPERINGS {
        let mut records = records.clone();
        tamper(&mut records);
        // With chunks of one document only, its name is free.
        let said = if name.contains("another document") {
            folder.write("d/a.txt", HARBOUR);
            let lines: Vec<String> = records.iter().map(Value::to_string).collect();
            folder.write("bad.jsonl", lines.join("\n"));
            folder.run("verify d bad.jsonl").out
        } else {
            violations(&folder, &records, "")
        };
        assert!(said.contains(word), "{name}: {word:?} is not in {said}");
    }
}

#[test]
fn a_chunk_over_the_cap_is_caught() {
    let (folder, records) = good("--max-tokens 60");
    let most = records.iter().map(|record| record["tokens"].as_u64().unwrap()).max().unwrap();
    let said = violations(&folder, &records, &format!("--max-tokens {}", most - 1));
    assert!(said.contains(&format!("has {most} tokens, over the cap of {}", most - 1)), "{said}");
}

#[test]
fn a_cap_can_be_checked_where_no_counter_is_named() {
    let (folder, records) = good("--tokens none");
    assert!(violations(&folder, &records, "--max-tokens 9 --tokens r50k_base").contains("over the cap of 9"));
    folder.run("verify a.txt bad.jsonl --max-tokens 9").fails(2, &["no token counter", "--tokens"]);
}

#[test]
fn white_space_that_was_to_be_kept_is_missed() {
    let (folder, records) = good("");
    let said = violations(&folder, &records, "--keep-whitespace");
    assert!(said.contains("1 byte lost in front of it at byte"), "{said}");
}

#[test]
fn overlap_is_caught_unless_it_was_asked_for() {
    let (folder, records) = good("--overlap-sentences 1");
    assert!(violations(&folder, &records, "").contains("inside the chunk before it"));
    // Even where chunks may overlap, nothing may be lost between them.
    let mut records = records;
    records.drain(2..4);
    assert!(violations(&folder, &records, "--overlap").contains("lost in front of it"));
}

#[test]
fn a_document_without_chunks_is_missed() {
    let folder = Folder::with([("d/a.txt", "Low tide."), ("d/b.txt", "High tide.")]);
    folder.write("one.jsonl", folder.out("chunk d --glob a.txt --format jsonl"));
    let ran = folder.run("verify d one.jsonl");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("b.txt: has no chunks, but 10 bytes") && ran.out.contains("2 documents, 1 chunk: 1 violation"),
        "{}",
        ran.out
    );
}

#[test]
fn chunks_that_cannot_be_read_are_named_with_their_line() {
    let (folder, records) = good("");
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let whole = lines.join("\n");
    folder.write("cut.jsonl", &whole[..whole.len() - 20]);
    folder.run("verify a.txt cut.jsonl").fails(1, &["cut.jsonl", &format!("line {}", lines.len())]);
    folder.write("cut.json", format!("[{}", &whole[..40]));
    folder.run("verify a.txt cut.json").fails(1, &["cut.json", "no array of chunks"]);
    folder.write("other.jsonl", "{\"text\":\"no record\"}\n");
    folder.run("verify a.txt other.jsonl").fails(1, &["other.jsonl", "line 1", "document"]);
    folder.run("verify a.txt missing.jsonl").fails(1, &["missing.jsonl", "cannot be opened"]);
    folder.run("verify a.txt a.txt").fails(1, &["a.txt", "line 1", "no chunk"]);
}
