//! Characters that are more than they seem: line breaks, byte-order marks, invisible ones, marks on marks.

use horchunk::{Borders, Chunker, CutReason, Forced};
use unicode_segmentation::UnicodeSegmentation;

use super::{assert_lawful_everywhere, capped, letters, sentences};

#[test]
fn every_kind_of_line_break_ends_a_paragraph() {
    let lines = ["The ebb", "leaves shells", "on the sand", "for gulls", "and children", "to find"];
    let with = |breaks: [&str; 5]| {
        let breaks = breaks.iter().chain([&""]);
        lines.iter().zip(breaks).map(|(line, end)| format!("{line}{end}")).collect::<String>()
    };
    let plain = with(["\n"; 5]);
    let mixed = with(["\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]);
    let by_paragraph = || letters().with_borders(Borders::Paragraph).with_splitter(horchunk::ParagraphSplitter);
    for text in [&plain, &mixed] {
        let chunks = by_paragraph().chunk(text).unwrap();
        assert_eq!(chunks.iter().map(|chunk| chunk.text).collect::<Vec<_>>(), lines);
        for (chunk, line) in chunks.iter().zip(1..) {
            assert_eq!((chunk.start.line, chunk.end.line), (line, line), "{:?}", chunk.text);
            assert_eq!(text.find(chunk.text), Some(chunk.span.start()), "offsets are those of the original bytes");
        }
        assert_lawful_everywhere(text);
    }
    let blank = mixed.replace("\u{85}", "\u{85}\u{2028}");
    let chunks = letters().with_threshold(-1.0).unwrap().with_borders(Borders::BlankLine);
    let chunks = chunks.with_splitter(horchunk::ParagraphSplitter).chunk(&blank).unwrap();
    assert_eq!(chunks.len(), 2, "two breaks in a row are a blank line, of whatever kind they are");
}

#[test]
fn a_byte_order_mark_belongs_to_the_text() {
    let text = "\u{feff}The ebb. \u{feff}The flood.\u{feff}";
    let chunks = letters().with_max_sentences(1).unwrap().chunk(text).unwrap();
    assert_eq!(chunks[0].span.start(), 0);
    assert!(chunks[0].text.starts_with('\u{feff}'), "it belongs to the first chunk");
    assert_eq!(chunks.iter().map(|chunk| chunk.text).collect::<String>().matches('\u{feff}').count(), 3);
    assert_lawful_everywhere(text);
    assert_lawful_everywhere("\u{feff}");
    assert_lawful_everywhere("\u{feff}\n\n");
}

#[test]
fn invisible_characters_are_neither_cut_at_nor_lost() {
    let invisible = ['\u{ad}', '\u{200b}', '\u{2060}', '\u{200c}', '\u{200d}'];
    let text = "The light\u{ad}house and the zero\u{200b}width and the no\u{2060}break of \
                \u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} and \u{915}\u{94d}\u{200d}\u{937} in one line";
    assert_eq!(sentences(text), [text]);
    for cap in 12..20 {
        for chunk in capped(text, cap) {
            assert!(!chunk.text.starts_with(invisible) && !chunk.text.ends_with(invisible), "{:?}", chunk.text);
            assert!(chunk.forced != Some(Forced::CodePoint));
            let words = text.split(' ').collect::<Vec<_>>();
            assert!(chunk.text.split(' ').all(|word| words.contains(&word)), "{cap}: {:?}", chunk.text);
        }
    }
    assert_lawful_everywhere(text);
}

#[test]
fn a_mark_stays_with_its_base_as_long_as_the_cap_allows() {
    let cluster = "e\u{301}\u{323}\u{332}";
    let text = cluster.repeat(200);
    let edges: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
    let chunks = capped(&text, 20);
    assert!(chunks.len() > 1);
    for chunk in &chunks {
        assert_eq!(chunk.forced, Some(Forced::Grapheme));
        assert!(edges.binary_search(&chunk.span.start()).is_ok() && edges.binary_search(&chunk.span.end()).is_ok());
    }
    // A base with a thousand marks is one cluster: no cap of twenty tokens can hold it.
    let tower = format!("a{}", "\u{301}".repeat(1000));
    let chunks = capped(&tower, 20);
    assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.forced == Some(Forced::CodePoint)));
    assert_lawful_everywhere(&text);
    assert_lawful_everywhere(&tower);
}

#[test]
fn text_from_the_right_and_text_without_spaces_keep_the_laws() {
    let hebrew = "\u{200f}\u{5d4}\u{5d2}\u{5d0}\u{5d5}\u{5ea} \u{5d1}\u{5d0}\u{5d4}. \u{202b}\u{5d4}\u{5e9}\u{5e4}\u{5dc} \u{5d1}\u{5d0}\u{202c}.";
    assert_eq!(sentences(hebrew).len(), 2);
    assert_lawful_everywhere(hebrew);
    let thai = "\u{e19}\u{e49}\u{e33}\u{e02}\u{e36}\u{e49}\u{e19}\u{e19}\u{e49}\u{e33}\u{e25}\u{e07}".repeat(100);
    let chunks = capped(&thai, 40);
    assert!(chunks.len() > 1);
    let edges: Vec<usize> = thai.grapheme_indices(true).map(|(at, _)| at).collect();
    assert!(chunks.iter().all(|chunk| edges.binary_search(&chunk.span.start()).is_ok()));
    assert!(chunks[..chunks.len() - 1].iter().all(|chunk| chunk.reason == CutReason::MaxTokens));
    assert_lawful_everywhere(&thai);
}
