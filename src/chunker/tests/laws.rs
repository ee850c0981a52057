//! The laws that hold for every text and every setting.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::stub::Bag;
use super::window::Characters;
use crate::chunker::{Borders, Chunk, ChunkError, Chunker, WindowChunker};
use crate::record::{Record, Recorder};
use crate::sentence::{ParagraphSplitter, RuleSplitter, SentenceSplitter, UnicodeSplitter};
use crate::tokens::{FitError, Tiktoken, TokenCounter};
use crate::verify::Verifier;

/// Texts of whatever has broken a chunker before.
pub(super) fn nasty() -> impl Strategy<Value = String> {
    let bits = prop_oneof![
        6 => "[a-z]{1,8} ",
        3 => Just("Dr. No said: \u{201c}Yes!\u{201d} ".to_owned()),
        3 => prop_oneof![Just(". "), Just("! "), Just("?"), Just("\u{3002}"), Just("\u{964} "), Just("...")].prop_map(str::to_owned),
        2 => prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\u{85}"), Just("\u{2028}"), Just("\n\n\n")].prop_map(str::to_owned),
        1 => "[ \t\u{a0}\u{3000}]{1,40}",
        1 => "[\u{300}-\u{315}]{1,12}",
        1 => "[a-zA-Z0-9+/=]{30,90}",
        1 => prop_oneof![
            Just("\u{feff}"), Just("\u{200b}"), Just("\0"), Just("\u{ad}"), Just("\u{200d}"), Just("[SEP]"), Just("<|endoftext|>"),
            Just("👩\u{200d}👩\u{200d}👧"), Just("🇳🇴🇫🇷"), Just("漢字仮名"), Just("\u{202e}abc"), Just("ไทยไม่มีเว้น"),
        ].prop_map(str::to_owned),
    ];
    proptest::collection::vec(bits, 0..60).prop_map(|bits| bits.concat())
}

#[derive(Clone, Debug)]
struct Settings {
    t: f32,
    alpha: usize,
    cap: Option<usize>,
    min: usize,
    overlap: usize,
    keep: bool,
    borders: Borders,
    splitter: u8,
    exact: bool,
    takes_tokens: bool,
}

fn settings() -> impl Strategy<Value = Settings> {
    let borders = prop_oneof![Just(Borders::None), Just(Borders::Paragraph), Just(Borders::BlankLine)];
    let cap = proptest::option::of(4_usize..60);
    (
        -1.0_f32..=1.0,
        1_usize..8,
        cap,
        0_usize..30,
        0_usize..4,
        any::<bool>(),
        borders,
        0_u8..3,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(t, alpha, cap, min, overlap, keep, borders, splitter, exact, takes_tokens)| Settings {
            t,
            alpha,
            min: cap.map_or(min, |cap| min.min(cap)),
            cap,
            overlap: if keep { 0 } else { overlap.min(alpha - 1) },
            keep,
            borders,
            splitter,
            exact,
            takes_tokens,
        })
}

fn counter(exact: bool) -> Box<dyn TokenCounter> {
    if exact { Box::new(Tiktoken::default()) } else { Box::new(Characters) }
}

fn chunker(settings: &Settings) -> WindowChunker<Bag> {
    let bag = if settings.takes_tokens { Bag::of_tokens(12) } else { Bag::of_texts(12) };
    let splitter: Box<dyn SentenceSplitter> = match settings.splitter {
        0 => Box::new(UnicodeSplitter::default()),
        1 => Box::new(RuleSplitter),
        _ => Box::new(ParagraphSplitter),
    };
    let mut chunker = WindowChunker::new(bag)
        .with_splitter(splitter)
        .with_counter(counter(settings.exact))
        .with_borders(settings.borders)
        .with_embeddings()
        .with_threshold(settings.t)
        .and_then(|chunker| chunker.with_max_sentences(settings.alpha))
        .and_then(|chunker| chunker.with_min_tokens(settings.min))
        .and_then(|chunker| chunker.with_overlap_sentences(settings.overlap))
        .unwrap();
    if let Some(cap) = settings.cap {
        chunker = chunker.with_max_tokens(cap).unwrap();
    }
    if settings.keep { chunker.with_kept_white_space().unwrap() } else { chunker }
}

/// The chunks of a text; `None` where a single character passes the cap, which is an error that says so.
fn chunks<'t>(settings: &Settings, text: &'t str) -> Option<Vec<Chunk<'t>>> {
    match chunker(settings).chunk(text) {
        Ok(chunks) => Some(chunks),
        Err(ChunkError::Fit(FitError::CapTooSmall { tokens, max_tokens, .. })) => {
            assert!(tokens > max_tokens && Some(max_tokens) == settings.cap);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(17), cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_law_holds_for_every_setting(text in nasty(), settings in settings()) {
        let Some(chunks) = chunks(&settings, &text) else { return Ok(()) };
        let counter = counter(settings.exact);
        let mut recorder = Recorder::new("t", Some(counter.name()));
        let records: Vec<Record<'_>> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
        let mut verifier = Verifier::new();
        if let Some(cap) = settings.cap {
            verifier = verifier.with_max_tokens(cap);
        }
        if settings.keep {
            verifier = verifier.with_kept_white_space();
        }
        if settings.overlap > 0 {
            verifier = verifier.with_overlap();
        }
        prop_assert_eq!(verifier.check(&text, &records, Some(&*counter)).unwrap(), []);
        if settings.keep {
            prop_assert_eq!(&chunks.iter().map(|chunk| chunk.text).collect::<String>(), &text);
        }
        for chunk in &chunks {
            let own = chunk.sentences.len() - chunk.overlap_sentences;
            prop_assert!(settings.min > 0 || own <= settings.alpha);
            prop_assert!(chunk.sentences.is_empty() || chunk.embedding.as_ref().is_some_and(|vector| vector.len() == 24));
            prop_assert_eq!(chunk.similarity.is_some(), chunk.reason == crate::chunker::CutReason::Similarity);
        }
    }

    #[test]
    fn the_verifier_sees_a_lost_word_and_a_wrong_figure(text in "([a-z]{2,9}\\. ){3,12}", victim in any::<prop::sample::Index>(), how in 0_u8..6) {
        let settings = Settings {
            t: 0.9, alpha: 2, cap: None, min: 0, overlap: 0, keep: false,
            borders: Borders::None, splitter: 1, exact: false, takes_tokens: true,
        };
        let chunks = chunks(&settings, &text).unwrap();
        let mut recorder = Recorder::new("t", Some("characters"));
        let mut records: Vec<Record<'_>> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
        let victim = victim.index(records.len());
        match how {
            0 => { records.remove(victim); }
            1 => records[victim].end -= 1,
            2 => records[victim].tokens = Some(0),
            3 => records[victim].line_start += 1,
            4 => records[victim].id.push('0'),
            _ => records[victim].text = "other".into(),
        }
        prop_assert!(!Verifier::new().check(&text, &records, Some(&Characters)).unwrap().is_empty());
    }
}
