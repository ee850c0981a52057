//! Where sentences end, and where they do not.

use super::{assert_lawful_everywhere, sentences};

#[track_caller]
fn assert_sentences(expected: &[&str]) {
    let text = expected.join(" ");
    assert_eq!(sentences(&text), expected);
    assert_lawful_everywhere(&text);
}

#[test]
fn a_chinese_sentence_ends_behind_its_closing_quote() {
    let expected = ["她说:“潮水来了。”", "我们上船。", "你看见灯了吗?", "快走!", "「等一下。」", "船开了。"];
    let text = expected.concat();
    assert_eq!(sentences(&text), expected);
    assert_lawful_everywhere(&text);
}

#[test]
fn every_script_has_its_own_stops() {
    assert_sentences(&["ज्वार आता है।", "नाव जाती है॥", "दीप जलता है।"]);
    assert_sentences(&["هل جاء المد؟", "نعم جاء."]);
    assert_sentences(&["Ծովը բարձրանում է։", "Նավը գնում է։"]);
    assert_sentences(&["ទឹកឡើង។", "ទូកចេញ។"]);
    assert_sentences(&["ባሕሩ ይመጣል።", "መርከቡ ይሄዳል።"]);
}

#[test]
fn dots_are_one_unit_that_ends_a_sentence_only_before_a_capital() {
    assert_sentences(&["The pilot waited... and waited…and then he slept."]);
    assert_sentences(&["The pilot waited...", "Nobody came.", "The lamp went out…", "It was dark."]);
    assert_sentences(&["The boats . . . all of them . . . came home."]);
    let text = "The list goes on...\nand on.\n他在想……然后走了。";
    assert_eq!(sentences(text), ["The list goes on...", "and on.", "他在想……然后走了。"]);
    assert_lawful_everywhere(text);
}

#[test]
fn the_marker_of_a_list_stays_with_its_item() {
    let lines =
        ["1. Coil the rope.", "2. Stow the anchor.", "a) Close the hatch.", "iv. Light the lamp.", "- Go home."];
    let text = lines.join("\n");
    assert_eq!(sentences(&text), lines);
    assert_lawful_everywhere(&text);
    for text in [
        "1. Coil the rope. 2. Stow the anchor. 3. Close the hatch.",
        "a) Coil the rope. b) Stow the anchor. c) Close the hatch.",
        "i. Coil the rope. ii. Stow the anchor. iii. Close the hatch. iv. Light the lamp.",
    ] {
        for sentence in sentences(text) {
            assert!(sentence.split(' ').count() > 1, "{sentence:?} is a marker alone");
            let last = sentence.rsplit(' ').next().unwrap();
            assert!(last.len() > 4, "{sentence:?} ends with the marker of the next item");
        }
        assert_lawful_everywhere(text);
    }
}

#[test]
fn a_full_stop_inside_a_name_or_number_ends_nothing() {
    assert_sentences(&[
        "Dr. Voss, e.g., comes at 5 p.m. with No. 5 and Fig. 2 of the report.",
        "J. R. R. Hale read 3.14 on the gauge.",
        "Version v1.2.3 runs on 10.0.0.1 for now.",
        "See https://tides.example/a.b?c=d.e&f=1 for more.",
        "Write to l.voss@harbour.example or to Prof. Adu.",
    ]);
}
