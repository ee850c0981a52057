use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::tokens::{Tiktoken, TiktokenEncoding, WordPiece};

/// A token a character: counts that add up, so that the longest prefix is beyond doubt.
struct Chars;

impl TokenCounter for Chars {
    fn name(&self) -> &'static str {
        "chars"
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(text.chars().count())
    }
}

/// Adds up the bytes it is asked to count.
struct Metered<C> {
    counter: C,
    bytes: AtomicUsize,
}

impl<C: TokenCounter> TokenCounter for Metered<C> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        self.bytes.fetch_add(text.len(), Ordering::Relaxed);
        self.counter.count(text)
    }
}

fn word_piece() -> &'static WordPiece {
    static MINILM: LazyLock<WordPiece> = LazyLock::new(|| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/models/all-minilm-l6-v2/tokenizer.json");
        WordPiece::from_path(file).unwrap()
    });
    &MINILM
}

const CL100K: Tiktoken = Tiktoken::new(TiktokenEncoding::Cl100kBase);

/// Ends of the units of a level in `text[from..end]`, the plain way.
fn unit_ends(level: Forced, text: &str, from: usize, end: usize) -> Vec<usize> {
    let rest = &text[from..end];
    match level {
        Forced::Word => {
            let words = rest.split_whitespace();
            words.map(|word| word.as_ptr().addr() - text.as_ptr().addr() + word.len()).collect()
        }
        Forced::Grapheme => rest.grapheme_indices(true).map(|(at, unit)| from + at + unit.len()).collect(),
        Forced::CodePoint => rest.char_indices().map(|(at, c)| from + at + c.len_utf8()).collect(),
    }
}

/// The plain version: every unit end is tried, the last that fits is taken. `None` where nothing fits.
fn plain(text: &str, max_tokens: usize) -> Option<Vec<Piece>> {
    let fits = |from: usize, end: usize| text[from..end].chars().count() <= max_tokens;
    let mut pieces = Vec::new();
    let mut left = None;
    let end = text.trim_end().len();
    let mut from = end - text[..end].trim_start().len();
    let mut cluster_end = 0;
    while from < end {
        let word_end = unit_ends(Forced::Word, text, from, end)[0];
        if cluster_end <= from {
            cluster_end = unit_ends(Forced::Grapheme, text, from, word_end)[0];
        }
        let levels = [(Forced::Word, end), (Forced::Grapheme, word_end), (Forced::CodePoint, cluster_end)];
        let (level, cut) = levels.into_iter().find_map(|(level, bound)| {
            // Inside a broken cluster there are no whole clusters until it ends.
            let ends = unit_ends(level, text, from, bound).into_iter();
            let mut ends = ends.filter(|&cut| level == Forced::CodePoint || cut >= cluster_end);
            ends.rfind(|&cut| fits(from, cut)).map(|cut| (level, cut))
        })?;
        let right = (cut < end).then_some(level);
        pieces.push(Piece { span: Span::new(from, cut), forced: left.max(right) });
        left = right;
        from = cut + (text[cut..end].len() - text[cut..end].trim_start().len());
    }
    Some(pieces)
}

fn text() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "a",
        "tide",
        "unbelievably",
        "antidisestablishmentarianism",
        " ",
        " ",
        " ",
        "\n",
        "\r\n",
        "\u{3000}",
        "e\u{301}",
        "\u{301}",
        "\u{301}\u{302}\u{303}",
        "漢字",
        "👩\u{200d}👩\u{200d}👧",
        "🇩🇪🇫🇷",
        "हिन्दी",
        "ไทย",
        "...",
        "3.14",
        "\0",
        "\u{200b}",
        "\u{200d}",
        "한",
        "x-y",
        "[SEP]",
        "=",
    ];
    let part = prop_oneof![
        8 => prop::sample::select(PARTS).prop_map(str::to_owned),
        1 => (prop::sample::select(PARTS), 1..60_usize).prop_map(|(part, times)| part.repeat(times)),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// What every cutting obeys, whatever the counter. That pieces are as long as can be is held by the plain version:
/// counts that shrink as a word grows, as WordPiece's do at a hundred characters, leave no single longest piece.
fn check(text: &str, counter: &impl TokenCounter, max_tokens: usize) -> Result<(), TestCaseError> {
    let count = |from: usize, end: usize| counter.count(&text[from..end]).unwrap();
    let found = match pieces(text, Span::new(0, text.len()), counter, max_tokens) {
        Ok(found) => found,
        Err(FitError::CapTooSmall { byte, tokens, max_tokens: cap }) => {
            let end = byte + text[byte..].chars().next().unwrap().len_utf8();
            prop_assert_eq!((count(byte, end), max_tokens), (tokens, cap));
            prop_assert!(tokens > cap);
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let mut behind = 0;
    for (index, piece) in found.iter().enumerate() {
        let (start, end) = (piece.span.start(), piece.span.end());
        prop_assert_eq!(piece.span.trimmed(text), Some(piece.span));
        prop_assert!(text[behind..start].trim().is_empty());
        prop_assert!(count(start, end) <= max_tokens);
        prop_assert_eq!(piece.forced.is_none(), found.len() == 1);
        if let Some(next) = found.get(index + 1) {
            prop_assert!(next.span.start() > end || piece.forced > Some(Forced::Word));
        }
        behind = end;
    }
    prop_assert!(text[behind..].trim().is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn pieces_are_those_of_trying_every_edge(text in text(), max_tokens in 1..40_usize) {
        let found = pieces(&text, Span::new(0, text.len()), &Chars, max_tokens).ok();
        prop_assert_eq!(found, plain(&text, max_tokens));
    }

    #[test]
    fn pieces_keep_the_cap_and_lose_nothing(text in text(), max_tokens in 1..40_usize) {
        check(&text, &CL100K, max_tokens)?;
        check(&text, word_piece(), max_tokens)?;
        check(&text, &Chars, max_tokens)?;
    }
}

#[test]
fn what_is_counted_is_a_small_multiple_of_the_text() {
    let texts = [
        "a",
        "ab cd ",
        "Low tide is at noon, and the ferry waits for nobody. ",
        "7",
        "a\u{301}\u{302}",
        "\u{301}",
        "👩\u{200d}👧",
        "🇩🇪",
        "漢字",
        "x          ",
        "-",
        "quite\u{a0}",
        "क्ष",
    ];
    for part in texts {
        let text = part.repeat(100_000 / part.len());
        for (max_tokens, most) in [(3, 24), (64, 20), (1000, 20)] {
            for counter in [&CL100K as &dyn TokenCounter, word_piece(), &Chars] {
                let counter = Metered { counter, bytes: AtomicUsize::new(0) };
                pieces(&text, Span::new(0, text.len()), &counter, max_tokens).unwrap();
                let bytes = counter.bytes.into_inner();
                let name = counter.counter.name();
                assert!(bytes <= most * text.len(), "{part:?} {name} {max_tokens}: {bytes} bytes counted");
            }
        }
    }
}

#[test]
fn prose_is_counted_less_than_five_times() {
    let text = "Low tide is at noon, and the ferry waits for nobody. ".repeat(2000);
    let counter = Metered { counter: CL100K, bytes: AtomicUsize::new(0) };
    pieces(&text, Span::new(0, text.len()), &counter, 256).unwrap();
    assert!(counter.bytes.into_inner() <= 5 * text.len());
}

#[test]
fn a_cluster_longer_than_the_cap_is_cut_at_code_points() {
    let text = format!("a{} b", "\u{301}".repeat(5));
    let found = pieces(&text, Span::new(0, text.len()), &Chars, 4).unwrap();
    let lengths: Vec<_> = found.iter().map(|piece| (text.as_str()[piece.span].chars().count(), piece.forced)).collect();
    assert_eq!(lengths, [(4, Some(Forced::CodePoint)), (4, Some(Forced::CodePoint))]);
}

#[test]
fn a_long_word_that_is_one_unknown_token_stays_whole() {
    let text = "x".repeat(100_000);
    let found = pieces(&text, Span::new(0, text.len()), word_piece(), 1).unwrap();
    assert_eq!(found, [Piece { span: Span::new(0, text.len()), forced: None }]);
}

#[test]
fn a_character_that_cannot_fit_is_an_error_that_names_its_place() {
    let error = pieces("low 🦑", Span::new(0, 8), &CL100K, 1).unwrap_err();
    assert!(matches!(error, FitError::CapTooSmall { byte: 4, tokens: 2..=4, max_tokens: 1 }), "{error}");
    assert!(matches!(pieces("low", Span::new(0, 3), &Chars, 0), Err(FitError::CapTooSmall { byte: 0, tokens: 1, .. })));
}

#[test]
fn white_space_alone_has_no_pieces() {
    assert_eq!(pieces(" \u{3000}\n", Span::new(0, 5), &Chars, 1).unwrap(), []);
    assert_eq!(pieces("", Span::new(0, 0), &Chars, 1).unwrap(), []);
}
