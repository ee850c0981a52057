//! `chunk --chunker`: every chunker keeps the laws, and flags are settings in other words.

use crate::support::{Folder, HARBOUR};

const CHUNKERS: [&str; 7] = [
    "window:alpha=4",
    "sentences:alpha=2,borders=paragraph",
    "recursive:size=60,overlap=0",
    "fixed-token:size=50",
    "kamradt:size=80",
    "percentile:rule=interquartile/1",
    "cluster:size=150,piece=30",
];

#[test]
fn every_chunker_keeps_the_laws_with_a_cap_and_without() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    for chunker in CHUNKERS {
        for cap in ["", "--max-tokens 40"] {
            folder.out(&format!("chunk harbour.txt --chunker {chunker} {cap} --format jsonl -o out.jsonl"));
            let said = folder.out(&format!("verify harbour.txt out.jsonl {cap}"));
            assert!(said.contains("all laws hold"), "{chunker} {cap}: {said}");
            assert!(folder.read("out.jsonl").lines().count() > 1, "{chunker}");
        }
        let page = folder.out(&format!("chunk harbour.txt --chunker {chunker} --format html"));
        assert!(page.contains("</html>"), "{chunker}");
        assert!(folder.out(&format!("chunk harbour.txt --chunker {chunker}")).contains("── 1 harbour.txt:1"));
    }
}

#[test]
fn chunks_with_overlap_verify_as_such() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    for chunker in ["recursive:size=60", "fixed-token:size=60"] {
        folder.out(&format!("chunk harbour.txt --chunker {chunker} --overlap-tokens 20 --format jsonl -o out.jsonl"));
        assert!(folder.out("verify harbour.txt out.jsonl --overlap").contains("all laws hold"));
    }
    let ran = folder.run("verify harbour.txt out.jsonl");
    assert!(ran.code == Some(1) && ran.out.contains("inside the chunk before it"), "{}", ran.out);
}

#[test]
fn every_chunk_has_a_vector_where_asked_for_and_neighbours_change_it() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    for chunker in ["window", "sentences:alpha=3"] {
        let line = format!("chunk harbour.txt --chunker {chunker} --embeddings");
        let (own, mixed) = (folder.records(&line), folder.records(&format!("{line} --context 0.25,0.1")));
        let norm = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>();
        for (own, mixed) in own.iter().zip(&mixed) {
            let (own, mixed) = (own.embedding.as_ref().unwrap(), mixed.embedding.as_ref().unwrap());
            assert!((norm(own) - 1.0).abs() < 1e-4 && (norm(mixed) - 1.0).abs() < 1e-4);
            assert_ne!(own, mixed);
        }
    }
    folder.run("chunk harbour.txt --context 0.2").fails(2, &["--embeddings"]);
    folder.run("chunk harbour.txt --embeddings").fails(2, &["--format json"]);
}

#[test]
fn flags_are_settings_in_other_words() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    let by_flags = folder.out("chunk harbour.txt -t 0.6 -a 3 --borders paragraph --sentences rule --format jsonl");
    let by_words =
        folder.out("chunk harbour.txt --chunker window:t=0.6,alpha=3,borders=paragraph,sentences=rule --format jsonl");
    assert_eq!(by_flags, by_words);
}

#[test]
fn a_setting_that_a_chunker_does_not_have_is_wrong_usage() {
    let folder = Folder::with([("a.txt", "One. Two.")]);
    for (line, word) in [
        ("--chunker recursive -t 0.5", "has no setting \"t\""),
        ("--chunker recursive --keep-whitespace", "--keep-whitespace is for the chunker window"),
        ("--chunker kamradt --overlap-tokens 3", "has no setting \"overlap\""),
        ("--chunker cluster --min-tokens 3", "--min-tokens"),
        ("--chunker recursive:size=5,overlap=5", "an overlap of 5 tokens"),
        ("--chunker cluster:size=10,piece=50", "pieces of 50 tokens"),
        ("--chunker recursive --dry-run", "--dry-run"),
        ("--chunker sentences --tokens none", "--tokens"),
    ] {
        folder.run(&format!("chunk a.txt {line}")).fails(2, &[word]);
    }
}
