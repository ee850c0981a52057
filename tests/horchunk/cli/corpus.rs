//! Many documents: folders, standard input, JSON Lines.

use crate::support::{Folder, records};

fn names(folder: &Folder, line: &str) -> Vec<String> {
    folder.records(line).iter().map(|record| record.document.to_string()).collect()
}

fn tree() -> Folder {
    Folder::with([
        ("tree/.gitignore", "drafts/\n*.bak.txt\n"),
        ("tree/b.txt", "Behind."),
        ("tree/a.md", "In front."),
        ("tree/sub/deep/c.rst", "Deep."),
        ("tree/drafts/d.txt", "Ignored."),
        ("tree/e.bak.txt", "Ignored too."),
        ("tree/.hidden.txt", "Hidden."),
        ("tree/code.rs", "fn main() {}"),
    ])
}

#[test]
fn a_folder_gives_its_texts_in_the_order_of_their_names() {
    assert_eq!(names(&tree(), "chunk tree"), ["a.md", "b.txt", "sub/deep/c.rst"]);
    assert_eq!(names(&tree(), "chunk tree/sub"), ["deep/c.rst"]);
    assert_eq!(tree().out("sentences tree"), "In front.\nBehind.\nDeep.\n");
}

#[test]
fn globs_choose_other_files() {
    assert_eq!(names(&tree(), "chunk tree --glob *.rs"), ["code.rs"]);
    assert_eq!(names(&tree(), "chunk tree --glob *.txt"), ["b.txt"], "what .gitignore names stays ignored");
    assert_eq!(names(&tree(), "chunk tree --glob !*.md --glob !sub/"), ["b.txt", "code.rs"]);
    assert_eq!(names(&tree(), "chunk tree --glob *.rs --glob *.md"), ["a.md", "code.rs"]);
    assert_eq!(names(&tree(), "chunk tree --glob sub/**"), ["sub/deep/c.rst"]);
}

#[test]
fn a_file_that_is_named_is_read_whatever_its_ending() {
    assert_eq!(names(&tree(), "chunk tree/code.rs tree/drafts/d.txt"), ["tree/code.rs", "tree/drafts/d.txt"]);
}

#[test]
fn standard_input_is_read_where_nothing_or_a_dash_is_named() {
    let folder = Folder::with([("a.txt", "From a file.")]);
    for line in ["chunk --format jsonl", "chunk - --format jsonl"] {
        let piped = records(&folder.run_on("From a pipe.", line).done());
        assert_eq!((&*piped[0].document, &*piped[0].text), ("-", "From a pipe."));
    }
    let both = records(&folder.run_on("From a pipe.", "chunk a.txt - --format jsonl").done());
    assert_eq!([&*both[0].document, &*both[1].document], ["a.txt", "-"]);
}

const CORPUS: &str = r#"{"key":"q1","body":"Low tide.\nHigh tide.","title":"Tides","nested":{"deep":[12345678901234567890123,1.50,null]},"index":"theirs"}

{"key":7,"body":"A number names it."}
"#;

#[test]
fn every_line_of_a_corpus_is_a_document_and_keeps_its_other_fields() {
    let folder = Folder::with([("corpus.jsonl", CORPUS)]);
    let records = folder.records("chunk corpus.jsonl --input-format jsonl --text-field body --id-field key");
    let [tides, number] = &records[..] else { panic!("two chunks: {records:?}") };
    assert_eq!([&*tides.document, &*number.document], ["q1", "7"]);
    assert_eq!((&*tides.text, tides.start, tides.line_end), ("Low tide.\nHigh tide.", 0, 2));
    assert_eq!(tides.extra["title"], "Tides");
    assert_eq!(tides.extra["nested"].to_string(), r#"{"deep":[12345678901234567890123,1.50,null]}"#);
    assert_eq!(number.extra["key"], 7, "the name stays a field of its own");
    assert_eq!(tides.index, 0, "fields of ours cannot be taken over");
    assert!(!tides.extra.contains_key("index") && !tides.extra.contains_key("body"));
}

#[test]
fn a_line_without_an_id_is_named_by_its_number() {
    let folder = Folder::with([("corpus.jsonl", CORPUS)]);
    let line = "chunk corpus.jsonl --input-format jsonl --text-field body";
    assert_eq!(names(&folder, line), ["corpus.jsonl:1", "corpus.jsonl:3"]);
    let piped = folder.run_on(CORPUS, "chunk --input-format jsonl --text-field body --format jsonl").done();
    assert_eq!(records(&piped)[1].document, "-:3");
}

#[test]
fn a_broken_line_is_reported_and_the_others_are_done() {
    let folder = Folder::new();
    let good = r#"{"text":"Fine."}"#;
    let bad = [
        (r#"{"text":"cut off"#, "not a JSON object"),
        (r#"["an array"]"#, "not a JSON object"),
        (r#"{"words":"elsewhere"}"#, "--text-field"),
        (r#"{"text":5}"#, "no string but 5"),
    ];
    for (line, word) in bad {
        folder.write("corpus.jsonl", format!("{good}\n{line}\n{good}\n"));
        let ran = folder.run("chunk corpus.jsonl --input-format jsonl --format jsonl");
        ran.complains(1, &["corpus.jsonl: line 2", word]);
        assert_eq!(records(&ran.out).len(), 2, "{line}");
    }
    folder.write("corpus.jsonl", r#"{"text":"Fine.","id":null}"#);
    folder.run("chunk corpus.jsonl --input-format jsonl --id-field id").fails(1, &["line 1", "\"id\"", "null"]);
    folder.run("chunk corpus.jsonl --input-format jsonl --id-field no").fails(1, &["line 1", "no field \"no\""]);
}

#[test]
fn json_lines_are_known_by_their_ending_unless_told_otherwise() {
    let line = r#"{"text":"Low tide.","id":"t"}"#;
    let folder = Folder::with([("c.jsonl", line), ("c.NDJSON.txt", line)]);
    assert_eq!(folder.records("chunk c.jsonl --id-field id")[0].text, "Low tide.");
    assert_eq!(folder.records("chunk c.jsonl --input-format text")[0].text, line);
    assert_eq!(folder.records("chunk c.NDJSON.txt")[0].text, line);
    assert_eq!(folder.records("chunk c.NDJSON.txt --input-format jsonl")[0].document, "c.NDJSON.txt:1");
}

#[test]
fn a_second_run_does_not_read_what_the_first_one_wrote() {
    let folder = Folder::with([("docs/a.md", "Low tide."), ("docs/b.md", "High tide.")]);
    for _ in 0..2 {
        folder.out("chunk docs -o docs/out/");
        assert_eq!(folder.files(), ["docs/a.md", "docs/b.md", "docs/out/a.md.txt", "docs/out/b.md.txt"]);
    }
    let folder = Folder::with([("docs/a.md", "Low tide."), ("docs/b.md", "High tide.")]);
    for _ in 0..2 {
        folder.out("chunk docs -o docs/all.txt");
        assert!(!folder.read("docs/all.txt").contains("all.txt"));
    }
}

#[test]
fn a_corpus_of_broken_lines_is_not_a_screen_of_messages() {
    let folder = Folder::with([("corpus.jsonl", "no JSON\n".repeat(100).as_str())]);
    let ran = folder.run("chunk corpus.jsonl --format jsonl");
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 21));
    assert!(ran.err.contains("line 20:") && ran.err.ends_with("80 more of the kind; 100 in all\n"), "{}", ran.err);
}
