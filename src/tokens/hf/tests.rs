use std::error::Error;

use serde_json::{Value, json};

use super::*;

const MINILM: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/all-minilm-l6-v2/tokenizer.json"));

/// A byte-level tokenizer in the manner of GPT-2 that knows the letters of "tail" and pairs of spaces. Its
/// entry `l ` lies across two pieces, so that it shows up only where pieces are not cut.
fn byte_level(splitter: &Value) -> TokenizerFile {
    let vocabulary = ["t", "a", "i", "l", "\u{120}", "\u{120}\u{120}", "l\u{120}"];
    let ids: serde_json::Map<String, Value> =
        vocabulary.iter().zip(0..).map(|(&entry, id)| (entry.to_owned(), Value::from(id))).collect();
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": splitter, "post_processor": null, "decoder": null,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "vocab": ids, "merges": ["\u{120} \u{120}", "l \u{120}"],
        },
    });
    TokenizerFile::from_bytes("byte-level", &serde_json::to_vec(&file).unwrap()).unwrap()
}

fn splitters() -> [Value; 2] {
    let byte_level = |use_regex| json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex });
    let pattern = json!({ "Regex": r" ?\p{L}+|\s*[\r\n]+|\s+(?!\S)|\s+" });
    let split = json!({ "type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": false });
    [byte_level(true), json!({ "type": "Sequence", "pretokenizers": [split, byte_level(false)] })]
}

#[test]
fn truncation_and_padding_of_the_file_are_off() {
    let counter = TokenizerFile::from_bytes("minilm", MINILM).unwrap();
    assert_eq!(counter.name(), "minilm");
    assert_eq!(counter.count("").unwrap(), 0);
    assert_eq!(counter.count("tide").unwrap(), 1);
    assert_eq!(counter.count(&"tide ".repeat(200)).unwrap(), 200);
}

#[test]
fn text_that_spells_a_special_token_is_plain_text() {
    let counter = TokenizerFile::from_bytes("minilm", MINILM).unwrap();
    assert_eq!(counter.count("[SEP]").unwrap(), 3);
    assert_eq!(counter.count("a[MASK]b").unwrap(), 5);
}

#[test]
fn text_that_spells_a_special_piece_of_a_unigram_model_is_plain_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models/xlm-roberta");
    let tokenizer = TokenizerFile::from_path(folder.join("tokenizer.json")).unwrap();
    let frame = tokenizer.frame().unwrap();
    assert_eq!(frame.len(), 2);
    let ids = tokenizer.ids("a </s> <s> b </s>").unwrap();
    assert!(frame.before.iter().chain(&frame.after).all(|special| !ids.contains(special)), "{ids:?}");
    assert_eq!(tokenizer.count("a </s> <s> b </s>").unwrap(), ids.len());
}

#[test]
fn a_run_of_white_space_is_counted_right_or_refused() {
    for splitter in splitters() {
        let counter = byte_level(&splitter);
        // All spaces but the last are one piece, ` tail` is the next, and so is the second ` tail`.
        let text = |spaces: usize| format!("{}tail tail", " ".repeat(spaces));
        assert_eq!(counter.count(&text(5)).unwrap(), 2 + 5 + 5);
        let most = MOST_WHITE_SPACE;
        assert_eq!(counter.count(&text(most)).unwrap(), most / 2 + 5 + 5);
        let error = counter.count(&text(most + 1)).unwrap_err();
        assert!(error.source().unwrap().to_string().contains("900000 white space characters"), "{error}");
    }
}

#[test]
fn long_runs_of_letters_are_counted_right() {
    for splitter in splitters() {
        let text = format!("{} tail tail", "t".repeat(1_500_000));
        assert_eq!(byte_level(&splitter).count(&text).unwrap(), 1_500_000 + 5 + 5);
    }
}

#[test]
fn white_space_is_no_limit_where_no_regular_expression_is_used() {
    let counter = TokenizerFile::from_bytes("minilm", MINILM).unwrap();
    assert_eq!(counter.count(&format!("low{}tide", " ".repeat(MOST_WHITE_SPACE + 1))).unwrap(), 2);
}

#[test]
fn files_that_are_missing_broken_or_no_tokenizer_are_errors_with_their_path() {
    let missing = TokenizerFile::from_path("no/such/tokenizer.json").unwrap_err();
    assert_eq!(missing.to_string(), "the tokenizer no/such/tokenizer.json could not be loaded");
    assert!(missing.source().unwrap().downcast_ref::<std::io::Error>().is_some());
    for bytes in [&MINILM[..1000], b"{}", b"", b"\xff", b"[1, 2]"] {
        let error = TokenizerFile::from_bytes("odd.json", bytes).unwrap_err();
        assert!(matches!(&error, TokenError::Load { path, .. } if path == Path::new("odd.json")));
        assert!(error.source().is_some());
    }
}
