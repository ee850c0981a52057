use std::sync::LazyLock;

use proptest::prelude::*;
use tokenizers::Tokenizer;

use super::word::Words;
use super::*;
use crate::tokens::TokenizerFile;

const FILE: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/all-minilm-l6-v2/tokenizer.json"));

/// The bundled tokenizer with the settings of its normalizer as given, in both ways.
struct Pair {
    ours: WordPiece,
    oracle: Tokenizer,
}

impl Pair {
    fn new(clean_text: bool, chinese: bool, strip_accents: Option<bool>, lowercase: bool) -> Self {
        let mut file: serde_json::Value = serde_json::from_slice(FILE).unwrap();
        file["normalizer"] = serde_json::json!({
            "type": "BertNormalizer",
            "clean_text": clean_text,
            "handle_chinese_chars": chinese,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        });
        let bytes = serde_json::to_vec(&file).unwrap();
        let mut oracle = Tokenizer::from_bytes(&bytes).unwrap();
        oracle.with_truncation(None).unwrap();
        oracle.with_padding(None);
        oracle.set_encode_special_tokens(true);
        Self { ours: WordPiece::from_bytes("tokenizer.json", &bytes).unwrap(), oracle }
    }

    fn right(&self, text: &str) -> Vec<u32> {
        self.oracle.encode_fast(text, false).unwrap().get_ids().to_vec()
    }
}

/// The bundled model's settings first.
static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    vec![
        Pair::new(true, true, None, true),
        Pair::new(false, true, Some(true), false),
        Pair::new(true, false, Some(false), true),
        Pair::new(false, false, None, false),
    ]
});

fn bundled() -> &'static WordPiece {
    &PAIRS[0].ours
}

/// White space that separates and white space that vanishes, controls, marks of every class (also at the
/// start), Chinese, letters that decompose, change length in lower case or join, punctuation of every kind.
fn nasty() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        " ",
        "\t",
        "\n",
        "\r\n",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{a0}",
        "\u{2000}",
        "\u{2028}",
        "\u{3000}",
        "\0",
        "\u{fffd}",
        "\u{7f}",
        "\u{200b}",
        "\u{200d}",
        "\u{ad}",
        "\u{feff}",
        "\u{e000}",
        "\u{301}",
        "\u{327}",
        "\u{34f}",
        "\u{903}",
        "\u{93c}",
        "\u{20dd}",
        "\u{302e}",
        "\u{302f}",
        "\u{1d165}",
        "\u{1d16d}",
        "\u{16ff0}",
        "漢",
        "\u{f900}",
        "\u{2f800}",
        "\u{20000}",
        "한",
        "é",
        "ǆ",
        "İ",
        "ß",
        "ſ",
        "Å",
        "ﬁ",
        "\u{1e9b}\u{323}",
        "\u{37e}",
        "≠",
        "「",
        "—",
        "’",
        "_",
        "#",
        "##",
        "[SEP]",
        "[",
        "]",
        "sep",
        "tide",
        "Tides",
        "unbelievably",
        "1997",
        "x",
        "🙂",
        "נ\u{5b0}",
        "\u{1100}\u{1161}",
    ];
    let part = prop_oneof![
        4 => prop::sample::select(PARTS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => ("[a-zé]", 90..110_usize).prop_map(|(letter, times)| letter.repeat(times)),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn ids_are_those_of_tokenizers(text in nasty()) {
        for pair in PAIRS.iter() {
            prop_assert_eq!(pair.ours.ids(&text), pair.right(&text));
        }
    }

    #[test]
    fn ids_of_joined_texts_are_those_of_the_texts(a in nasty(), b in nasty()) {
        let (a, b) = (a.trim(), b.trim());
        for pair in PAIRS.iter() {
            let joined = pair.ours.ids(&format!("{a} {b}"));
            prop_assert_eq!(joined, [pair.ours.ids(a), pair.ours.ids(b)].concat());
        }
    }

    #[test]
    fn counting_and_cutting_short_agree_with_all_ids(text in nasty(), limit in 0..12_usize) {
        let ids = bundled().ids(&text);
        prop_assert_eq!(bundled().count(&text).unwrap(), ids.len());
        prop_assert_eq!(bundled().first_ids(&text, limit), &ids[..limit.min(ids.len())]);
    }
}

#[test]
fn every_character_has_the_ids_of_tokenizers() {
    // The planes in use; what lies between them is unassigned, and the last two are private like the first.
    let planes = ('\0'..'\u{32000}').chain('\u{e0000}'..'\u{e1000}').chain('\u{f0000}'..'\u{f0100}');
    let all: Vec<char> = planes.collect();
    for pair in PAIRS.iter() {
        for some in all.chunks(4096) {
            // Inside a word, and behind a mark that it may have to change places with.
            let text: String = some.iter().flat_map(|&c| ['a', c, 'b', ' ', '\u{302e}', c, 'i', ' ']).collect();
            assert!(pair.ours.ids(&text) == pair.right(&text), "from {:?} on", some[0]);
        }
    }
}

#[test]
fn ids_are_those_of_tokenizers_in_python() {
    // Written down from `encode(text, add_special_tokens=False).ids` of its version 0.23.
    let golden: [(&str, &[u32]); 5] = [
        ("Low tide is at noon.", &[2659, 10401, 2003, 2012, 11501, 1012]),
        (
            "Crème brûlée, naïvely flambéed — twice!",
            &[13675, 21382, 7987, 9307, 2063, 1010, 15743, 2135, 13109, 3286, 11306, 2094, 1517, 3807, 999],
        ),
        ("東京の夜、2024年", &[1879, 1755, 1671, 100, 1635, 16798, 2549, 1840]),
        ("İstanbul’da ΣΊΣΥΦΟΣ", &[9960, 1521, 4830, 1173, 18199, 29733, 29735, 29736, 29730, 29733]),
        ("[SEP] and [MASK]", &[1031, 19802, 1033, 1998, 1031, 7308, 1033]),
    ];
    for (text, ids) in golden {
        assert_eq!(bundled().ids(text), ids, "{text}");
    }
}

#[test]
fn text_that_spells_a_special_token_is_plain_text() {
    let spelled: Vec<u32> = ["[", "sep", "]"].iter().map(|&token| bundled().token_id(token).unwrap()).collect();
    assert_eq!(bundled().ids("[SEP]"), spelled);
    assert_eq!(bundled().token_id("[SEP]"), Some(102));
    assert_eq!(bundled().token_id("[CLS]"), Some(101));
    assert_eq!(bundled().token_id("no such token"), None);
}

#[test]
fn a_word_of_any_length_is_one_unknown_token_and_takes_no_memory() {
    let unknown = bundled().token_id("[UNK]").unwrap();
    let mut words = Words::new(bundled().normalizer, bundled().max_word);
    for c in ["a", "\u{301}", "\u{302e}"].concat().repeat(1_000_000).chars() {
        words.push(c, |_| panic!("nothing ends this word"));
    }
    assert!(words.capacity() < 1024);
    let mut ids = Vec::new();
    words.finish(|letters| bundled().encode(letters, &mut ids));
    assert_eq!(ids, [unknown]);
}

#[test]
fn cutting_short_reads_no_further_than_it_must() {
    for (part, three) in [("low tide ", "low tide low"), ("é ü ", "é ü é "), ("é.", "é.é.")] {
        let mut ids = Vec::new();
        let read = bundled().scan(&part.repeat(100), &mut ids, |ids| ids.len() < 3);
        assert!((3..=4).contains(&ids.len()));
        assert_eq!(read, three.len());
    }
}

#[test]
fn other_tokenizers_are_told_apart() {
    let mut file: serde_json::Value = serde_json::from_slice(FILE).unwrap();
    for (part, kind) in [("model", "BPE"), ("normalizer", "Lowercase"), ("pre_tokenizer", "Whitespace")] {
        let mut other = file.clone();
        other[part]["type"] = kind.into();
        assert!(WordPiece::from_bytes("other.json", &serde_json::to_vec(&other).unwrap()).is_err(), "{part}");
    }
    file["added_tokens"][0]["special"] = false.into();
    let error = WordPiece::from_bytes("odd.json", &serde_json::to_vec(&file).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "the tokenizer odd.json could not be loaded");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("[PAD]"), "{cause}");
}

#[test]
fn special_tokens_around_an_input_are_those_of_the_post_processor() {
    let mut file: serde_json::Value = serde_json::from_slice(FILE).unwrap();
    let template = file["post_processor"].take();
    assert_eq!(template["type"], "TemplateProcessing");
    let bert = serde_json::json!({ "type": "BertProcessing", "cls": ["[CLS]", 101], "sep": ["[SEP]", 102] });
    for (post_processor, ours) in [(template, true), (bert, true), (serde_json::Value::Null, false)] {
        file["post_processor"] = post_processor;
        let bytes = serde_json::to_vec(&file).unwrap();
        let frame = TokenizerFile::from_bytes("oracle", &bytes).unwrap().frame().unwrap();
        assert_eq!(frame.len(), if ours { 2 } else { 0 });
        assert_eq!(WordPiece::from_bytes("ours", &bytes).unwrap().frame(), Some(&frame).filter(|_| ours));
    }
    file["post_processor"] = serde_json::json!({ "type": "Sequence", "processors": [] });
    assert!(WordPiece::from_bytes("ours", &serde_json::to_vec(&file).unwrap()).unwrap().frame().is_none());
}

#[test]
fn a_missing_or_broken_file_is_an_error_with_its_path() {
    let missing = WordPiece::from_path("no/such/tokenizer.json").unwrap_err();
    assert!(missing.to_string().contains("no/such/tokenizer.json"));
    assert!(WordPiece::from_bytes("broken", &FILE[..1000]).is_err());
    assert!(WordPiece::from_bytes("no tokenizer", b"{}").is_err());
}
