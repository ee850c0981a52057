use std::sync::LazyLock;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;

/// tiktoken's own encoder, which is right wherever it answers.
fn oracle(encoding: TiktokenEncoding) -> &'static CoreBPE {
    static O200K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());
    static CL100K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());
    static P50K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::p50k_base().unwrap());
    static R50K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::r50k_base().unwrap());
    match encoding {
        TiktokenEncoding::O200kBase => &O200K,
        TiktokenEncoding::Cl100kBase => &CL100K,
        TiktokenEncoding::P50kBase => &P50K,
        TiktokenEncoding::R50kBase => &R50K,
    }
}

fn count(encoding: TiktokenEncoding, text: &str) -> usize {
    Tiktoken::new(encoding).count(text).unwrap()
}

/// What the patterns tell apart: every white space, line breaks in all mixtures, contractions in both cases
/// and with the long s, letters of every case and none, marks, digits, signs, controls, pictures.
#[expect(clippy::too_many_lines, reason = "a list")]
fn nasty() -> impl Strategy<Value = String> {
    let white = prop::sample::select(
        [
            " ",
            "  ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            "\n \n",
            "\u{b}",
            "\u{c}",
            "\u{85}",
            "\u{a0}",
            "\u{1680}",
            "\u{2000}",
            "\u{2003}",
            "\u{2009}",
            "\u{200a}",
            "\u{2028}",
            "\u{2029}",
            "\u{202f}",
            "\u{205f}",
            "\u{3000}",
            "     ",
            "                 ",
        ]
        .as_slice(),
    );
    let words = prop::sample::select(
        [
            "a",
            "I",
            "tide",
            "Tide",
            "TIDE",
            "'s",
            "'S",
            "'\u{17f}",
            "'t",
            "'RE",
            "'re",
            "'Ve",
            "'m",
            "'LL",
            "'ll",
            "'d",
            "'D",
            "'",
            "''",
            "\u{2019}s",
            "dž",
            "ǅ",
            "ʰ",
            "ª",
            "ß",
            "é",
            "e\u{301}",
            "\u{301}",
            "\u{903}",
            "\u{20dd}",
            "漢字",
            "かな",
            "한글",
            "ไทย",
            "نص",
            "\u{200c}",
            "\u{200d}",
            "हिन्दी",
        ]
        .as_slice(),
    );
    let signs = prop::sample::select(
        [
            "1",
            "23",
            "4567",
            "\u{663}",
            "Ⅷ",
            "½",
            ".",
            ",",
            "...",
            "!?",
            "/",
            "//",
            "-",
            "--------",
            "_",
            "$",
            "€",
            "<|endoftext|>",
            "<|fim_prefix|>",
            "🙂",
            "👩\u{200d}🚀",
            "🇩🇪",
            "\u{fe0f}",
            "\0",
            "\u{7f}",
            "\u{1b}",
            "\u{feff}",
            "\u{200b}",
            "\u{ad}",
            "\u{e000}",
            "\u{10ffff}",
            "\u{fffd}",
        ]
        .as_slice(),
    );
    let part = prop_oneof![
        white.prop_map(str::to_owned),
        words.prop_map(str::to_owned),
        signs.prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_encoding_counts_as_tiktoken_does(text in nasty()) {
        for encoding in TiktokenEncoding::ALL {
            let right = oracle(encoding).encode_ordinary(&text).len();
            prop_assert_eq!(count(encoding, &text), right, "{}", encoding);
        }
    }

    #[test]
    fn pieces_are_those_of_tiktoken(text in nasty()) {
        // A piece encodes on its own to the same ids as in its text, so equal ids mean equal cuts.
        for (encoding, encoder) in [
            (TiktokenEncoding::O200kBase, &O200K_BASE),
            (TiktokenEncoding::Cl100kBase, &CL100K_BASE),
            (TiktokenEncoding::P50kBase, &P50K_BASE),
        ] {
            let pieces: Vec<&[u8]> = encoder.pieces(&text).collect();
            prop_assert_eq!(pieces.concat(), text.as_bytes());
            let ids = pieces.iter().flat_map(|piece| encoder.vocabulary.encode_via_backtracking(piece));
            // The special token of p50k_base takes an id that the vocabulary here does without.
            let gap = |id| if encoding == TiktokenEncoding::P50kBase && id >= R50K_TOKENS { id + 1 } else { id };
            prop_assert_eq!(ids.map(gap).collect::<Vec<u32>>(), oracle(encoding).encode_ordinary(&text));
        }
    }

    #[test]
    fn text_that_repeats_counts_as_tiktoken_does(part in nasty(), times in 1..60_usize) {
        let text = part.repeat(times);
        for encoding in TiktokenEncoding::ALL {
            prop_assert_eq!(count(encoding, &text), oracle(encoding).encode_ordinary(&text).len(), "{}", encoding);
        }
    }
}

#[test]
fn every_character_counts_as_tiktoken_does() {
    // Alone between letters, so that each class of each pattern is asked about each character.
    for encoding in TiktokenEncoding::ALL {
        let text: String = ('\0'..=char::MAX).flat_map(|c| ['a', c, c, 'B', '\n']).collect();
        assert_eq!(count(encoding, &text), oracle(encoding).encode_ordinary(&text).len(), "{encoding}");
    }
}

#[test]
fn white_space_at_the_end_is_cut_as_tiktoken_cuts_it() {
    // The prebuilt pattern of `bpe-openai` ends a piece behind the line breaks in cl100k_base too.
    let pieces = |encoder: &Encoder| encoder.pieces("low\n\n  ").map(<[u8]>::len).collect::<Vec<_>>();
    assert_eq!(pieces(&CL100K_BASE), [3, 4]);
    assert_eq!(pieces(&O200K_BASE), [3, 2, 2]);
    assert_eq!(pieces(&R50K_BASE), [3, 4]);
}

#[test]
fn runs_of_five_megabytes_of_anything_are_counted() {
    for part in [" ", "a", "A", "\n", "\r\n", "7", ".", "🙂", "\u{301}", " \n", "漢", "aB", "'s", "\u{3000}", "\0"] {
        let times = 5_000_000 / part.len();
        let (all, tenth) = (part.repeat(times), part.repeat(times / 10));
        for encoding in TiktokenEncoding::ALL {
            let (all, tenth) = (count(encoding, &all), count(encoding, &tenth));
            assert!(all.abs_diff(10 * tenth) <= 20, "{encoding} {part:?}: {all} is not ten times {tenth}");
        }
    }
}

#[test]
fn text_that_spells_a_special_token_is_plain_text() {
    for encoding in TiktokenEncoding::ALL {
        assert!(count(encoding, "<|endoftext|>") > 3, "{encoding}");
    }
}

#[test]
fn nothing_has_no_tokens() {
    for encoding in TiktokenEncoding::ALL {
        assert_eq!(count(encoding, ""), 0);
    }
}

#[test]
fn names_lead_back_to_encodings() {
    for encoding in TiktokenEncoding::ALL {
        assert_eq!(encoding.to_string().parse::<TiktokenEncoding>().unwrap(), encoding);
        assert_eq!(Tiktoken::new(encoding).name(), encoding.name());
    }
    let error = "gpt2".parse::<TiktokenEncoding>().unwrap_err();
    assert!(matches!(&error, TokenError::Unknown { name } if name == "gpt2"));
    assert!(error.to_string().contains("cl100k_base"));
}
