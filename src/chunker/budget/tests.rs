use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::record::Recorder;
use crate::tokens::{CharacterGuess, Letters, ProxyCounter, Tiktoken, TiktokenEncoding, TokenError};
use crate::verify::Verifier;

fn texts<'t>(chunker: &impl Chunker, text: &'t str) -> Vec<&'t str> {
    chunker.chunk(text).unwrap().iter().map(|chunk| chunk.text).collect()
}

#[test]
fn a_chunk_ends_at_the_coarsest_border_near_its_end() {
    // Fourteen letters of the rest fit; a border must lie among the last eight.
    let filler = "abcd ".repeat(17);
    for (rest, expected) in [
        ("ab cd.\n\nEf. Gh ij kl mn", "ab cd."),
        ("ab cd.\nEf gh. Ij kl mn", "ab cd."),
        ("ab cd. Ef gh. Ij kl", "ab cd. Ef gh."),
        ("a.\n\nEf gh ij. Kl mn", "a.\n\nEf gh ij."),
        ("ab cd ef gh ij kl mn", "ab cd ef gh ij"),
        ("abcdefghijklmnopqrst", "abcdefghijklmn"),
    ] {
        let text = format!("{filler}{rest}");
        let chunks = texts(&BudgetChunker::new(Letters, 99).unwrap(), &text);
        assert_eq!(chunks[0].strip_prefix(&filler), Some(expected), "{rest:?}");
    }
}

#[test]
fn a_chunk_says_how_it_was_cut() {
    let chunker = BudgetChunker::new(Letters, 10).unwrap();
    let chunks = chunker.chunk("abc defghi jklmnopqrstuvwx").unwrap();
    let found: Vec<_> = chunks.iter().map(|chunk| (chunk.text, chunk.reason, chunk.forced)).collect();
    assert_eq!(
        found,
        [
            ("abc defghi", CutReason::MaxTokens, Some(Forced::Word)),
            ("jklmnopqrs", CutReason::MaxTokens, Some(Forced::Grapheme)),
            ("tuvwx", CutReason::End, Some(Forced::Grapheme)),
        ]
    );
}

#[test]
fn structure_may_be_preferred_to_fill() {
    let text = "One two.\n\nThree four five six seven eight. Nine ten eleven.\n\nTwelve.";
    let chunker = BudgetChunker::new(Letters, 40).unwrap();
    assert_eq!(texts(&chunker, text)[0], "One two.\n\nThree four five six seven");
    let chunker = chunker.with_preference(Prefer::Structure);
    assert_eq!(texts(&chunker, text)[0], "One two.");
    let whole = BudgetChunker::new(Letters, 51).unwrap().with_preference(Prefer::Structure);
    assert_eq!(texts(&whole, text), ["One two.", "Three four five six seven eight. Nine ten eleven.", "Twelve."]);
}

#[test]
fn scripts_without_spaces_are_cut_between_words_and_clusters_stay_whole() {
    let text = "\u{6f6e}\u{6c34}".repeat(40);
    let chunks = texts(&BudgetChunker::new(Letters, 25).unwrap(), &text);
    assert!(chunks.iter().rev().skip(1).all(|chunk| chunk.chars().count() == 25), "{chunks:?}");
    // A family of four is seven code points and one cluster.
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
    let chunks = texts(&BudgetChunker::new(Letters, 20).unwrap(), &family.repeat(5)).concat();
    assert_eq!(chunks, family.repeat(5));
    let two = family.repeat(2);
    let chunks = texts(&BudgetChunker::new(Letters, 10).unwrap(), &two);
    assert_eq!(chunks, [family, family]);
    let chunks = BudgetChunker::new(Letters, 3).unwrap().chunk(family).unwrap();
    assert!(chunks.len() == 3 && chunks[0].forced == Some(Forced::CodePoint), "{chunks:?}");
}

#[test]
fn an_overlap_has_as_many_tokens_as_asked_for_and_never_stands_still() {
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let chunker = BudgetChunker::new(Tiktoken::default(), 5).unwrap().with_overlap(2).unwrap();
    assert_eq!(
        texts(&chunker, text),
        ["one two three four five", "four five six seven eight", "seven eight nine ten eleven", "ten eleven twelve"]
    );
    // The start of a word may have more tokens than all of it.
    let count = |end: usize| Tiktoken::default().count(&"four five six seven eight"[..end]).unwrap();
    assert!((20..25).any(|end| count(end) > count(25)));
    // Dense text: every character has several tokens, and what is repeated fills nearly everything.
    let dense = "\u{1f991}".repeat(40);
    for overlap in 0..7 {
        let chunker = BudgetChunker::new(Tiktoken::default(), 7).unwrap().with_overlap(overlap).unwrap();
        let chunks = chunker.chunk(&dense).unwrap();
        assert!(chunks.windows(2).all(|pair| pair[0].span.end() < pair[1].span.end()));
        assert_eq!(chunks.last().unwrap().span.end(), dense.len());
    }
}

#[test]
fn settings_and_characters_that_cannot_be_are_errors() {
    assert!(matches!(BudgetChunker::new(Letters, 0), Err(SettingsError::NoTokens)));
    let chunker = BudgetChunker::new(Letters, 5).unwrap();
    assert!(matches!(chunker.with_overlap(5), Err(SettingsError::OverlapTokens { overlap: 5, size: 5 })));
    let chunker = BudgetChunker::new(Tiktoken::default(), 2).unwrap();
    let error = chunker.chunk("ok \u{1f991}").unwrap_err();
    assert!(matches!(error, ChunkError::Fit(FitError::CapTooSmall { byte: 3, tokens: 3, max_tokens: 2 })), "{error:?}");
    assert_eq!(chunker.chunk(" \n ").unwrap().len(), 0);
}

/// Counts how often it is asked.
struct Asked(AtomicUsize);

impl TokenCounter for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Tiktoken::default().count(text)
    }
}

#[test]
fn the_search_takes_about_as_many_counts_as_a_budget_has_binary_digits() {
    let text = include_str!("../../../eval/corpora/island_history.md");
    for budget in [64_usize, 256, 1024] {
        let asked = Asked(AtomicUsize::new(0));
        let chunks = BudgetSearchChunker::new(&asked, budget).unwrap().chunk(text).unwrap();
        // Doubling finds a stretch, halving a character in it; then the chunk itself is counted.
        let characters = 16 * budget;
        let bound = chunks.len() * (2 + characters.ilog2() as usize) + 4;
        let counts = asked.0.load(Ordering::Relaxed);
        assert!(counts <= bound, "{counts} counts for {} chunks, at most {bound}", chunks.len());
    }
}

/// The share of its budget that every chunk but the last fills, on average.
fn utilisation(chunks: &[Chunk<'_>], budget: usize) -> Option<f64> {
    let (_, full) = chunks.split_last()?;
    let tokens: usize = full.iter().filter_map(|chunk| chunk.tokens).sum();
    (!full.is_empty()).then(|| tokens as f64 / (full.len() * budget) as f64)
}

#[test]
fn chunks_are_full_in_every_language() {
    for text in [
        include_str!("../../../eval/corpora/board_meeting.md"),
        include_str!("../../../eval/corpora/support_chats.md"),
        include_str!("../../../eval/languages/zh.txt"),
        include_str!("../../../eval/languages/hi.txt"),
        include_str!("../../../eval/languages/ar.txt"),
    ] {
        for budget in [64, 256, 512] {
            for overlap in [0, budget / 8] {
                let chunker = BudgetChunker::new(Tiktoken::default(), budget).unwrap().with_overlap(overlap).unwrap();
                let chunks = chunker.chunk(text).unwrap();
                assert!(chunks.iter().all(|chunk| chunk.tokens.is_some_and(|tokens| tokens <= budget)));
                let fill = utilisation(&chunks, budget).unwrap_or(1.0);
                assert!(fill >= 0.95, "{:?}, {budget} tokens: {fill}", text.split('\n').next());
            }
        }
    }
}

proptest! {
    #[test]
    fn budgets_are_kept_and_nothing_is_lost(
        text in "([a-z]{1,9}|[a-z]{60}|[.?!]| |\n|\n\n|\u{e9}|\u{1f991}|e\u{301}|\u{6f22}\u{5b57}|\\[SEP\\]|<\\|endoftext\\|>){0,80}",
        budget in 4..40_usize,
        share in 0..10_usize,
        structure: bool,
        search: bool,
        counter in 0..3_usize,
    ) {
        let counter: std::sync::Arc<dyn TokenCounter> = match counter {
            0 => std::sync::Arc::new(Tiktoken::new(TiktokenEncoding::O200kBase)),
            1 => std::sync::Arc::new(ProxyCounter::new(TiktokenEncoding::Cl100kBase, 1.3)),
            _ => std::sync::Arc::new(CharacterGuess),
        };
        let overlap = (budget * share / 10).min(budget - 1);
        let prefer = if structure { Prefer::Structure } else { Prefer::Fill };
        let chunker: Box<dyn Chunker> = if search {
            Box::new(BudgetSearchChunker::new(&counter, budget).unwrap().with_overlap(overlap).unwrap())
        } else {
            Box::new(BudgetChunker::new(&counter, budget).unwrap().with_overlap(overlap).unwrap().with_preference(prefer))
        };
        let chunks = chunker.chunk(&text).unwrap();
        let mut recorder = Recorder::new("t", Some(counter.name()));
        let records: Vec<_> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
        let verifier = Verifier::new().with_max_tokens(budget);
        let verifier = if overlap > 0 { verifier.with_overlap() } else { verifier };
        let found = verifier.check(&text, &records, Some(&*counter)).unwrap();
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert!(chunks.windows(2).all(|pair| pair[0].span.end() < pair[1].span.end()));
        prop_assert!(chunks.iter().all(|chunk| !chunk.sentences.is_empty()));
        prop_assert!(chunks.last().is_none_or(|last| last.reason == CutReason::End));
    }
}
