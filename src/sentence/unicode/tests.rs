//! Every kind of border and of no border, on sentences of our own; `¦` marks where one is expected.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

fn split(text: &str) -> Vec<&str> {
    UnicodeSplitter::default().split(text).unwrap().into_iter().map(|span| &text[span]).collect()
}

/// Splits each text without its marks and expects the borders at the marks.
#[track_caller]
fn expect(marked: &[&str]) {
    for marked in marked {
        let text = marked.replace('¦', "");
        let expected: Vec<&str> = marked.split('¦').map(str::trim).collect();
        assert_eq!(split(&text), expected);
    }
}

#[test]
fn stops_end_sentences() {
    expect(&[
        "The kettle sings.¦ Nobody hears it!¦ Who left the house?¦ Everyone.",
        "No way!!¦ You did what?!¦ Three whole days??¦ Fine.",
        "(She had seen it before.)¦ Nobody believed her.",
        "It was true.[3]¦ The second source says so, too.[4][5]¦ A third does not.",
        "**Keep it dry.**¦ Store below 20 degrees.",
    ]);
}

#[test]
fn abbreviations_that_lead_on_end_nothing() {
    expect(&[
        "Ask Dr. Moss or Mrs. Vale about Mt. Ararat.¦ Both know it.",
        "Bring fruit, e.g. Pears, i.e. What grows here, cf. Table 3.",
        "Our case, Stone vs. Rivers, rests.",
        "Ich traf Prof. Dr. med. Kuhn bzw. Frau Weiß, z. B. Am Markt.",
        "Saludos al Sr. Peña y a la Dra. Ruiz.¦ Gracias.",
        "Il Dott. Neri e la Sig.ra Bassi partono.¦ Torneranno.",
        "Живёт на ул. Лесной, в г. Тверь, с 1911 г. Там и работает.",
    ]);
}

#[test]
fn abbreviations_that_lead_to_numbers_end_nothing_before_them() {
    expect(&[
        "See No. 5, Fig. 2, p. 33, pp. 40 and Vol. II of the set.",
        "He said no.¦ Then he left.",
        "Das steht auf S. 12 und in Abb. 3.¦ Lies es.",
        "Смотри рис. 4 и стр. 9.¦ Там ответ.",
    ]);
}

#[test]
fn abbreviations_that_trail_end_a_sentence_before_its_first_word() {
    expect(&[
        "She sold Birch Inc. Shares fell.",
        "She works for Birch Inc.¦ They pay well.",
        "The store closes at 9 p.m.¦ It opens at 6 a.m. on Mondays.",
        "At 7 p.m. Anna came, and we ate until 11 p.m.¦ Boris washed up.",
        "The call is due by noon or by 3 p.m. Friday at the latest.",
        "He moved to the U.S.¦ There he met the U.S. Ambassador.",
        "On Jan. 5 and Oct. 9 we are closed.",
        "Paint, nails, glue, etc.¦ All of it is gone.",
    ]);
}

#[test]
fn initials_end_nothing_and_the_pronoun_i_does() {
    expect(&[
        "The novels of J. R. R. Marsh and of W.E.B. Lowe sold well.",
        "Nobody saw you and I.¦ What luck!",
        "We grow S. tuberosum here.",
        "Robert De Wit met R. De Wit.",
    ]);
}

#[test]
fn numbers_versions_and_addresses_are_whole() {
    expect(&[
        "It costs $3.14 or 1.000.000,50 in all.¦ Pay now.",
        "Version v1.2.3 runs on 10.0.0.1:80.¦ Update main.rs and .env first.",
        "Write to a.b@mail.example.org.¦ Or open https://example.org/a.b?c=d.¦ Both work.",
        "Go to https://example.com/a.b?c=d.¦ Mail me.",
        "Go to 48.2082 N, 16.3738 E.",
        "The summit lies at N°. 4807.3.¦ Rope up.",
    ]);
}

#[test]
fn ordinals_with_a_full_stop_end_nothing() {
    expect(&[
        "Am 3. Oktober beginnt das 21. Jahrhundert.¦ Wirklich?",
        "Sie gewann im 4. Satz.¦ Er verlor.",
        "Prišiel 1. januára a potom na 2. pokus odišiel.",
        "Je to piaty ročník a XII. Zjazd klubu.",
        "He was born in 1984.¦ It rained.",
        "Two and two are 4.¦ 5 is more.",
    ]);
}

#[test]
fn ellipses_are_one_unit_and_end_a_sentence_only_before_a_capital() {
    expect(&[
        "Well ... perhaps… or not . . . who knows.",
        "I waited...¦ Nobody came.",
        "I waited…¦ Nobody came. . . .",
        "He stopped . . . I did not.",
        "The text [...] Goes on \"[…]\" here.",
        "It broke off.¦ ...and then began again.",
        "他说……然后走了。¦好吧。",
        "Nobody knew his plans. ¦. . . In spring he left.",
    ]);
}

#[test]
fn a_quotation_belongs_to_the_sentence_around_it() {
    expect(&[
        "\"It works.\"¦ She smiled.",
        "\"It works! Look at it,\" she said.¦ We looked.",
        "She said, \"It works. Look at it.\"¦ We looked.",
        "'Is it late?' he asked.¦ It was.",
        "„Es geht. Schau her“, sagte sie.¦ Wir schauten.",
        "»Es geht. Schau her«, sagte sie.¦ Wir schauten.",
        "« Ça marche. Regarde », dit-elle.¦ Nous regardons.",
        "Il dit : « Ça marche. »¦ Nous partons.",
        "Он крикнул: «Стой! Кто идёт?».¦ Тишина.",
        "\"One.¦ Two.\"¦ Three.",
        "The '90s. ¦It's the dogs' turn now. ¦Rock 'n' roll isn't dead.",
    ]);
}

#[test]
fn brackets_hold_their_sentences() {
    expect(&[
        "She teaches (She once flew planes.) at our school.",
        "The bill (see Sec. 4. Details differ.) passed.¦ We left.",
    ]);
}

#[test]
fn names_with_an_exclamation_mark_go_on() {
    expect(&[
        "We met at Yum! in the old harbour.¦ Great food!¦ Yum! is open daily.",
        "wow!¦ that was close.¦ Too close.",
    ]);
}

#[test]
fn markers_stay_with_their_items() {
    expect(&[
        "1. Wash it ¦2. Dry it ¦3. Fold it",
        "1.) Wash it.¦ 2.) Dry it.",
        "a) wash¦ b) dry",
        "iii. Wash it.¦ iv. Dry it.",
        "• wash ¦• dry",
        "(1) Wash.¦ (2) Dry.",
        "1. Wash it.\n¦2. Dry it.\n¦10. Fold it.",
        "- wash\n¦- dry\n¦* fold",
        "1. Oslo, 2. Bergen, 3. Tromsø",
        "1. Mai und 2. Mai sind frei.",
    ]);
}

#[test]
fn every_line_break_is_known_and_only_a_soft_wrap_is_none() {
    expect(&[
        "The road that we took\nended at the river.¦\nWe swam.",
        "The road that we took\r\nended at the river.¦\r\n\r\nNew day",
        "The road that we took\rended at the river.¦\u{85}We swam.¦\u{2028}Then¦\u{2029}we slept.",
        "The road\n¦\nended.",
        "apples\n¦pears\n¦plums",
        "Arrival\n¦The road ended at the river, and nobody knew how deep it was.",
        "It was in the last days of the long and dry summer that old Mr.\nWinter came to see the garden for himself, and he was not\npleased with what he saw.",
        "これは長い\n道です。",
    ]);
}

#[test]
fn markdown_keeps_its_lines() {
    expect(&[
        "# Tides\n¦The sea rises.¦ It falls.\n\n¦| a | b |\n¦|---|---|\n¦| one | two |",
        "Tides\n=====\n¦The sea rises.",
        "Do this:\n¦```\n¦let a = b. C;\n¦x. Y\n¦```\n¦It works.",
        "> Quoted.\n¦> Again.",
        "A line with two spaces  \n¦is kept by them.",
        "- a long item that was wrapped\n  in its middle.\n¦- another",
    ]);
}

#[test]
fn scripts_without_capitals_have_their_own_stops() {
    expect(&[
        "雨が降った。¦家にいた！¦いつまで？",
        "「雨だ。帰ろう。」と彼は言った。¦帰った。",
        "她说：“下雨了。我们走吧。”¦他点头。",
        "《雨！雨！》是一本书。¦好看。",
        "बारिश हुई। ¦हम घर पर रहे॥ ¦कब तक?",
        "पाऊस पडला. ¦आम्ही घरी होतो.",
        "أين الكتاب؟ ¦على الطاولة. ¦شكرا!",
        "بارش ہوئی۔ ¦ہم گھر میں رہے۔",
        "Անձրև եկավ: ¦Մենք տանը մնացինք։ ¦Երկու բան. ջուր և հաց:",
        "ዝናብ ዘነበ።¦ቤት ነበርን፧¦አዎ።",
        "ភ្លៀងធ្លាក់។ ¦យើងនៅផ្ទះ៕",
        "မိုးရွာတယ်။¦အိမ်မှာနေတယ်။",
        "Πού είναι το βιβλίο; ¦Στο τραπέζι. ¦το πήρα εγώ.",
        "ฝนตกหนักมากเราอยู่บ้านกันทั้งวัน",
        "Дождь шёл весь день.¦Мы сидели дома.",
    ]);
}

#[test]
fn text_without_a_capital_ends_its_sentences_at_full_stops() {
    expect(&["the sea rises. ¦it falls again, e.g. at night. ¦nobody minds."]);
}

#[test]
fn escaped_line_breaks_count_as_white_space() {
    expect(&[r#"{"text": "The sea rises.¦\n\n2. It falls.¦ Twice."}"#]);
}

#[test]
fn emoji_stay_behind_their_stop() {
    expect(&["Well done! 🎉¦ See you 👩‍🚀.¦ Bye!👋🏽¦ Gone. 😀"]);
}

#[test]
fn invisible_marks_neither_cut_nor_vanish() {
    expect(&[
        "The mid\u{ad}dle.\u{200b} ¦می\u{200c}روم. ¦End\u{2060}ed.",
        "\u{feff}First.¦ Second.",
        "\u{feff}\nFirst.",
        "שלום עולם.\u{200f} ¦מה שלומך?",
        "Cafe\u{301}.\u{301} ¦Next.",
    ]);
}

#[test]
fn lines_can_all_be_borders() {
    let text = "The road that we took\nended here. There.";
    let spans = UnicodeSplitter::default().with_hard_lines(true).split(text).unwrap();
    let lines: Vec<&str> = spans.iter().map(|&span| &text[span]).collect();
    assert_eq!(lines, ["The road that we took", "ended here.", "There."]);
}

#[test]
fn nothing_but_white_space_has_no_sentence() {
    for text in ["", " ", "\n\r\n\u{85}\u{3000}", &"\n".repeat(5000)] {
        assert!(split(text).is_empty());
    }
}

#[test]
fn marks_alone_are_one_sentence_a_line() {
    assert_eq!(split("..."), ["..."]);
    assert_eq!(split("---\n\n?! ?!"), ["---", "?! ?!"]);
    assert_eq!(split("\0\0.\0"), ["\0\0.\0"]);
}

#[test]
fn terminators_are_those_of_unicode() {
    // U+104A divides like a comma; line breaks are no stops of ours.
    for c in ('\u{80}'..=char::MAX).filter(|&c| c != '\u{104a}' && !crate::span::is_line_break(c)) {
        let ends = format!("A{c} b").split_sentence_bounds().count() == 2;
        let ours = matches!(stops::stop(c), Some(stops::Stop::Full | stops::Stop::Mark));
        assert_eq!(ours, ends, "{c:?}");
    }
}

/// The same cases on every run.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[29; 32]))
}

/// Every law of a splitter that can be read off its spans.
fn check_laws(text: &str) -> Result<(), TestCaseError> {
    let mut end = 0;
    for span in UnicodeSplitter::default().split(text).unwrap() {
        prop_assert!(span.start() >= end && !span.is_empty());
        prop_assert_eq!(text[span].trim(), &text[span]);
        let gap = &text[end..span.start()];
        prop_assert!(gap.chars().all(char::is_whitespace), "{:?} is lost", gap);
        let edge = |at| GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0) == Ok(true);
        prop_assert!((end..=span.start()).any(edge), "a cluster is cut at {}", span.start());
        end = span.end();
    }
    prop_assert!(text[end..].chars().all(char::is_whitespace));
    Ok(())
}

const NASTY: &[&str] = &[
    "a",
    "B",
    "Dr",
    "e.g",
    "p.m",
    "U.S",
    "5",
    "12",
    "II",
    "i",
    "I",
    "é",
    "e\u{301}",
    "\u{301}",
    "漢",
    "か",
    "ا",
    "क",
    "ի",
    "ς",
    "я",
    ".",
    ".",
    "..",
    "...",
    "…",
    "!",
    "?",
    "。",
    "！",
    "।",
    "؟",
    "։",
    ":",
    ";",
    ",",
    "、",
    "\"",
    "'",
    "’",
    "“",
    "”",
    "„",
    "«",
    "»",
    "「",
    "」",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[1]",
    "1.",
    "2)",
    "a)",
    "•",
    "- ",
    "# ",
    "|",
    "```",
    "---",
    "===",
    "*",
    "_",
    "\\n",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{200b}",
    "\u{200d}",
    "\u{200c}",
    "\u{ad}",
    "\u{2060}",
    "\u{200f}",
    "\u{202e}",
    "\0",
    "😀",
    "👩‍🚀",
    "🇩🇪",
    "👋🏽",
    "https://a.b/c.d",
    "x@y.z",
];

#[test]
fn spans_are_in_order_trimmed_lossless_and_cut_no_cluster() {
    let text = prop::collection::vec(prop::sample::select(NASTY), 0..60).prop_map(|parts| parts.concat());
    runner(4000).run(&text, |text| check_laws(&text)).unwrap();
    runner(2000).run(&any::<String>(), |text| check_laws(&text)).unwrap();
}

#[test]
fn what_nearly_ends_an_item_or_a_sentence_is_passed_over_at_once() {
    // Two megabytes each: a look back or ahead without bound, as the first once had at every marker, never comes back.
    for (start, part) in
        [("1. ", "2."), ("1. ", "and 2. "), ("1. a", ", 2. "), ("(1) ", "(2)"), ("• ", "•"), ("a", ".a")]
    {
        let text = format!("{start}{}", part.repeat(2_000_000 / part.len()));
        check_laws(&text).unwrap();
    }
    let text = format!("1. {}", "2.".repeat(1_000_000));
    assert_eq!(split(&text), [&text]);
}

#[test]
fn plain_prose_splits_as_unicode_says() {
    // Words too long for any abbreviation, so that the rules of ours have nothing to say.
    let prose = "([A-Z][a-z]{9,12}( [a-zé]{9,12}){1,4}(\\.|!|\\?|\\.\\)|\\?\")( |  )){0,6}";
    runner(500)
        .run(&prose, |text| {
            let plain: Vec<&str> = text.split_sentence_bounds().map(str::trim).collect();
            prop_assert_eq!(split(&text), plain);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_sentence_does_not_depend_on_the_paragraphs_around_it() {
    // A fence reaches over paragraphs, and a byte order mark alone joins the next one.
    let parts: Vec<&str> = NASTY.iter().copied().filter(|&part| part != "```" && part != "\u{feff}").collect();
    let text = prop::collection::vec(prop::sample::select(parts), 0..30).prop_map(|parts| parts.concat());
    runner(1000)
        .run(&(text.clone(), text), |(first, second)| {
            let mut apart = split(&first);
            apart.extend(split(&second));
            let together = format!("{first}\n\n{second}");
            prop_assert_eq!(split(&together), apart);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_text_can_be_divided_where_it_says_so_whatever_comes() {
    let text = || prop::collection::vec(prop::sample::select(NASTY), 0..40).prop_map(|parts| parts.concat());
    let blank = prop::sample::select(&["\n\n", "\r\n \n  ", "\u{2028}\n", "\n```\n\n", "\n\n\u{feff}\n\n"]);
    let divided = std::cell::Cell::new(0);
    for hard_lines in [false, true] {
        let splitter = UnicodeSplitter::default().with_hard_lines(hard_lines);
        runner(3000)
            .run(&(text(), blank.clone(), text(), any::<prop::sample::Index>()), |(first, blank, second, seen)| {
                let text = format!("{first}{blank}{second}");
                let seen = &text[..text.floor_char_boundary(seen.index(text.len() + 1))];
                let Some(cut) = splitter.safe_cut(seen) else { return Ok(()) };
                divided.set(divided.get() + 1);
                let (before, behind) = text.split_at(cut);
                let mut apart = splitter.split(before).unwrap();
                apart.extend(splitter.split(behind).unwrap().into_iter().map(|span| span.moved_by(cut)));
                prop_assert_eq!(splitter.split(&text).unwrap(), apart);
                Ok(())
            })
            .unwrap();
    }
    assert!(divided.get() > 1000, "{}", divided.get());
}
