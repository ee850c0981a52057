//! Texts that are too long, too short, too even, or too much alike.

use std::sync::atomic::{AtomicUsize, Ordering};

use horchunk::{
    Chunker, CutReason, Forced, Recorder, SettingsError, Tiktoken, TokenCounter, TokenError, WindowChunker,
};

use super::{Letters, assert_lawful_everywhere, capped, letters, sentences};

#[test]
fn a_sentence_without_an_end_is_cut_at_words_under_the_cap() {
    let text = "tide ".repeat(3000);
    let chunks = capped(&text, 100);
    let (last, full) = chunks.split_last().unwrap();
    assert!(full.iter().all(|chunk| chunk.reason == CutReason::MaxTokens && chunk.forced == Some(Forced::Word)));
    assert!(full.iter().all(|chunk| chunk.tokens == Some(100)), "every piece is as long as can be");
    assert_eq!(last.reason, CutReason::End);
    assert!(chunks.iter().flat_map(|chunk| chunk.text.split(' ')).all(|word| word == "tide"));
    assert_lawful_everywhere(&text);
}

/// Adds up the bytes it is given.
struct Working(AtomicUsize);

impl TokenCounter for &Working {
    fn name(&self) -> &'static str {
        "working"
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        Tiktoken::default().count(text)
    }
}

/// Bytes that were counted to chunk a text.
fn work(text: &str) -> usize {
    let working: &'static Working = Box::leak(Box::new(Working(AtomicUsize::new(0))));
    let chunker = WindowChunker::new(Letters).with_counter(working).with_max_tokens(64).unwrap();
    assert!(chunker.chunk(text).unwrap().len() > 1);
    working.0.load(Ordering::Relaxed)
}

#[test]
fn text_without_spaces_is_cut_between_characters_in_linear_time() {
    let letters: String = (0..100_000_u32).map(|n| char::from(b'a' + (n.wrapping_mul(n) % 26) as u8)).collect();
    let base64: String =
        (0..100_000_u32).map(|n| char::from(b"QkFzZTY0K2Rhd+GEvPT09"[(n * 7 % 21) as usize])).collect();
    let json = (0..4000).map(|n| format!(r#"{{"id":{n},"on":true,"at":[{n},1.5]}},"#)).collect::<String>();
    let numbers = (0..20_000).map(|n| format!("{},", n * 37 % 1000)).collect::<String>();
    for text in [letters, base64, json, numbers] {
        let chunks = capped(&text, 64);
        assert!(chunks.iter().all(|chunk| chunk.forced == Some(Forced::Grapheme)));
        assert_eq!(chunks.iter().map(|chunk| chunk.text).collect::<String>(), text, "nothing lies between the pieces");
        let (half, whole) = (work(&text[..text.len() / 2]), work(&text));
        assert!(whole < half * 5 / 2, "{half} bytes were counted for one half, {whole} for the whole");
    }
}

#[test]
fn texts_of_two_million_equal_characters_are_chunked() {
    for (text, chunks) in [("\n".repeat(2_000_000), 0), (" ".repeat(2_000_000), 0), ("a".repeat(2_000_000), 1)] {
        assert_eq!(letters().chunk(&text).unwrap().len(), chunks);
        let capped = letters().with_max_tokens(1000).unwrap();
        assert_eq!(capped.chunk(&text).unwrap().is_empty(), chunks == 0);
        let kept = capped.with_kept_white_space().unwrap();
        let kept = kept.chunk(&text).unwrap();
        assert!(kept.iter().all(|chunk| chunk.tokens.unwrap() <= 1000));
        assert!(kept.iter().map(|chunk| chunk.text).collect::<String>() == text);
    }
}

#[test]
fn texts_of_next_to_nothing_have_no_chunk_or_one() {
    for text in ["", " ", "\n", "\t \r\n\u{2003}"] {
        assert_eq!(letters().chunk(text).unwrap(), []);
        assert_lawful_everywhere(text);
    }
    for text in ["a", ".", "\u{0}", "\u{1f991}", " a ", "\u{301}", "\u{200b}"] {
        let chunks = letters().chunk(text).unwrap();
        assert_eq!((chunks.len(), chunks[0].reason), (1, CutReason::End), "{text:?}");
        assert_eq!(chunks[0].text, text.trim());
        assert_lawful_everywhere(text);
    }
}

#[test]
fn few_sentences_and_extreme_settings_have_defined_results() {
    let chunk = |text: &str, threshold: f32, most: usize| {
        let chunker = letters().with_threshold(threshold).unwrap().with_max_sentences(most).unwrap();
        chunker.chunk(text).unwrap().iter().map(|chunk| (chunk.sentences.len(), chunk.reason)).collect::<Vec<_>>()
    };
    let (one, two, five) = ("Ebb.", "Ebb. Flood.", "Ebb. Flood. Slack. Spring. Neap.");
    assert_eq!(chunk(one, 1.0, 1), [(1, CutReason::End)]);
    assert_eq!(chunk(two, 1.0, 9), [(1, CutReason::Similarity), (1, CutReason::End)]);
    assert_eq!(chunk(two, -1.0, 9), [(2, CutReason::End)]);
    assert_eq!(chunk(two, 0.0, 1), [(1, CutReason::MaxSentences), (1, CutReason::End)]);
    assert_eq!(chunk(five, -1.0, usize::MAX), [(5, CutReason::End)]);
    assert_eq!(chunk(five, -1.0, 2), [(2, CutReason::MaxSentences), (2, CutReason::MaxSentences), (1, CutReason::End)]);
    assert_eq!(chunk(five, 0.0, 9), [(5, CutReason::End)], "frequencies are never opposed");
    assert_eq!(chunk(five, 1.0, 9).len(), 5);
    assert!(matches!(letters().with_threshold(f32::NAN), Err(SettingsError::Threshold(_))));
}

#[test]
fn paragraphs_that_are_the_same_have_offsets_of_their_own() {
    let paragraph = "The lamp burns. The wall holds.";
    let text = format!("{paragraph}\n\nIn between the tide turns.\n\n{paragraph}");
    let chunks =
        letters().with_borders(horchunk::Borders::Paragraph).with_threshold(-1.0).unwrap().chunk(&text).unwrap();
    assert_eq!((chunks[0].text, chunks[2].text), (paragraph, paragraph));
    assert_eq!((chunks[0].span.start(), chunks[2].span.start()), (0, text.len() - paragraph.len()));
    let mut recorder = Recorder::new("a", None);
    let ids: Vec<String> = chunks.iter().map(|chunk| recorder.record(chunk).id).collect();
    assert_ne!(ids[0], ids[2], "and ids of their own");
    assert_lawful_everywhere(&text);
}

#[test]
fn the_cap_is_kept_on_the_joined_text_and_never_by_a_sum() {
    let counter = Tiktoken::default();
    let count = |text: &str| counter.count(text).unwrap();
    // Joined, the first pair has fewer tokens than its parts and the second has more.
    let fewer = "The pier sways. Anchors hold.";
    let more = "The pier sways.\n \u{2003} \t \u{2003}\n Anchors hold.";
    for (text, is_fewer) in [(fewer, true), (more, false)] {
        let parts = sentences(text);
        assert_eq!(parts.len(), 2);
        let (sum, joined) = (parts.iter().map(|part| count(part)).sum::<usize>(), count(text));
        assert!(if is_fewer { joined < sum } else { joined > sum }, "{joined} tokens joined, {sum} in parts");
        let chunks =
            |cap| letters().with_threshold(-1.0).unwrap().with_max_tokens(cap).unwrap().chunk(text).unwrap().len();
        assert_eq!((chunks(joined + 1), chunks(joined), chunks(joined - 1)), (1, 1, 2), "{text:?}");
    }
    // One sentence exactly at the cap, one token over it.
    let sentence = "The pier sways in the swell.";
    assert_eq!(capped(sentence, count(sentence)).len(), 1);
    assert_eq!(capped(sentence, count(sentence) - 1).len(), 2);
}
