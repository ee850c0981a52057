//! The window against the plain loop of its definition, and its cases one by one.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::stub::{Bag, words};
use crate::chunker::{Borders, Chunk, ChunkError, Chunker, CutReason, SettingsError, WindowChunker};
use crate::embedding::{Cosine, Embedder, Embedding, EmbeddingError, Similarity};
use crate::sentence::{RuleSplitter, SentenceSplitter};
use crate::tokens::TokenCounter;

/// A chunk as the definition gives it.
#[derive(Debug, PartialEq)]
struct Plain {
    sentences: usize,
    reason: CutReason,
    similarity: Option<f32>,
}

/// The definition, word for word: two texts embedded a step.
fn plain(bag: &Bag, sentences: &[&str], t: f32, alpha: usize) -> Vec<Plain> {
    let seen = |text: &str| words(text).into_iter().take(bag.max_tokens).collect::<Vec<_>>();
    let mut chunks = Vec::new();
    let mut l = 0;
    for r in 1..sentences.len() {
        let (anchor, window) = (sentences[l], sentences[l..=r].join(" "));
        let mut cut = None;
        if r - l == alpha {
            cut = Some((CutReason::MaxSentences, None));
        } else if seen(anchor) != seen(&window) {
            let vectors = bag.embed(&[anchor, &window]).unwrap();
            let similarity = Cosine.between(&vectors[0].vector, &vectors[1].vector);
            if similarity < t || t >= 1.0 {
                cut = Some((CutReason::Similarity, Some(similarity)));
            }
        }
        if let Some((reason, similarity)) = cut {
            chunks.push(Plain { sentences: r - l, reason, similarity });
            l = r;
        }
    }
    if l < sentences.len() {
        chunks.push(Plain { sentences: sentences.len() - l, reason: CutReason::End, similarity: None });
    }
    chunks
}

fn chunker(bag: &Bag, t: f32, alpha: usize) -> WindowChunker<&Bag> {
    let chunker = WindowChunker::new(bag).with_splitter(RuleSplitter).without_counter().unwrap();
    chunker.with_threshold(t).unwrap().with_max_sentences(alpha).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(11), cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_window_equals_its_definition(
        text in "([abc]{1,2} ){1,6}[ab]\\.( |\n\n)(([abcd]{1,2} ){1,5}[abc]\\.[ \n]){0,20}",
        t in prop_oneof![Just(-1.0_f32), Just(0.0), Just(1.0), 0.5_f32..1.0],
        alpha in 1_usize..8,
        max_tokens in 1_usize..20,
        takes_tokens in any::<bool>(),
    ) {
        let bag = if takes_tokens { Bag::of_tokens(max_tokens) } else { Bag::of_texts(usize::MAX) };
        let spans = RuleSplitter.split(&text).unwrap();
        let sentences: Vec<&str> = spans.iter().map(|&span| &text[span]).collect();
        let chunks = chunker(&bag, t, alpha).chunk(&text).unwrap();
        let found: Vec<Plain> = chunks
            .iter()
            .map(|chunk| Plain { sentences: chunk.sentences.len(), reason: chunk.reason, similarity: chunk.similarity })
            .collect();
        prop_assert_eq!(found, plain(&bag, &sentences, t, alpha));
        let steps: usize = chunks.iter().map(|chunk| chunk.similarities.len()).sum();
        prop_assert_eq!(steps, sentences.len().saturating_sub(1));
    }
}

/// Sentences of one word each; `a` and `b` are far apart.
fn cut(text: &str, t: f32, alpha: usize) -> Vec<String> {
    let bag = Bag::of_tokens(100);
    let chunks = chunker(&bag, t, alpha);
    chunks.chunk(text).unwrap().iter().map(|chunk| format!("{chunk} [{}]", chunk.reason)).collect()
}

#[test]
fn no_text_has_no_chunk_and_one_sentence_has_one() {
    assert!(cut("", 0.5, 6).is_empty());
    assert!(cut(" \n\t\u{2003}\n", 0.5, 6).is_empty());
    assert_eq!(cut(" One. ", 0.5, 6), ["One. [end]"]);
}

#[test]
fn alpha_of_one_gives_every_sentence_alone_and_embeds_nothing() {
    let bag = Bag::of_tokens(100);
    let chunks = chunker(&bag, 0.5, 1).chunk("A. B. C.").unwrap();
    assert_eq!(chunks.len(), 3);
    assert!(bag.seen.lock().unwrap().is_empty());
}

#[test]
fn a_threshold_of_minus_one_cuts_by_alpha_alone_and_of_one_everywhere_but_at_equal_inputs() {
    assert_eq!(cut("Aa. Bb. Cc.", -1.0, 2), ["Aa. Bb. [max_sentences]", "Cc. [end]"]);
    assert_eq!(cut("Aa. Bb. Cc.", 1.0, 9), ["Aa. [similarity]", "Bb. [similarity]", "Cc. [end]"]);
    // The model sees one word: every window looks like its anchor.
    let bag = Bag::of_tokens(1);
    let chunks = chunker(&bag, 1.0, 9).chunk("Aa. Bb. Cc.").unwrap();
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].similarities, [Some(1.0), Some(1.0)]);
    assert!(chunks[0].blind && chunks[0].truncated);
    assert!(bag.seen.lock().unwrap().is_empty(), "nothing needs embedding");
}

#[test]
fn what_the_model_does_not_see_is_said() {
    let bag = Bag::of_tokens(3);
    let chunks = chunker(&bag, -1.0, 9).chunk("a b. c d.").unwrap();
    assert!(chunks[0].truncated && !chunks[0].blind);
    let bag = Bag::of_texts(3);
    let chunks = chunker(&bag, -1.0, 1).chunk("a b c d. e.").unwrap();
    assert_eq!(
        chunks.iter().map(|chunk| (chunk.truncated, chunk.blind)).collect::<Vec<_>>(),
        [(true, true), (false, false)]
    );
}

/// Answers otherwise than it was asked.
struct Broken(fn(&str) -> Vec<Vec<f32>>);

impl Embedder for Broken {
    fn dimension(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let vectors = texts.iter().flat_map(|text| (self.0)(text));
        Ok(vectors.map(|vector| Embedding { vector, truncated: false }).collect())
    }
}

#[test]
fn an_embedder_that_answers_otherwise_than_asked_is_an_error_and_no_endless_loop() {
    let error = |answer| {
        let chunked = WindowChunker::new(Broken(answer)).chunk("One. Two. Three.").map(|chunks| chunks.len());
        match chunked {
            Err(ChunkError::Embedding(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(error(|_| vec![]), EmbeddingError::Count { asked: 2, found: 0 }));
    assert!(matches!(error(|_| vec![vec![1.0]]), EmbeddingError::Dimension { dimension: 2, found: 1 }));
    assert!(matches!(error(|_| vec![vec![f32::NAN, 0.0]]), EmbeddingError::NotFinite));
}

#[test]
fn a_text_embedder_that_saw_only_the_beginning_is_not_asked_again() {
    let bag = Bag::of_texts(2);
    let chunks = chunker(&bag, -1.0, 9).chunk("a b c. d. e. f.").unwrap();
    assert_eq!(chunks[0].similarities.len(), 3);
    assert_eq!(bag.seen.lock().unwrap().len(), 2, "the anchor and the first window");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let bag = Bag::of_tokens(9);
    let new = || WindowChunker::new(&bag);
    assert!(matches!(new().with_threshold(f32::NAN).unwrap_err(), SettingsError::Threshold(t) if t.is_nan()));
    assert_eq!(new().with_threshold(1.01).unwrap_err(), SettingsError::Threshold(1.01));
    assert_eq!(new().with_max_sentences(0).unwrap_err(), SettingsError::NoSentences);
    assert_eq!(new().with_max_tokens(0).unwrap_err(), SettingsError::NoTokens);
    let error = SettingsError::Overlap { overlap: 6, max_sentences: 6 };
    assert_eq!(new().with_overlap_sentences(6).unwrap_err(), error);
    let error = SettingsError::MinTokens { min: 9, max: 8 };
    assert_eq!(new().with_min_tokens(9).unwrap().with_max_tokens(8).unwrap_err(), error);
    assert_eq!(new().with_max_tokens(9).unwrap().without_counter().unwrap_err(), SettingsError::NoCounter);
    assert_eq!(new().without_counter().unwrap().with_min_tokens(9).unwrap_err(), SettingsError::NoCounter);
    let error = SettingsError::OverlapWithWhiteSpace;
    assert_eq!(new().with_overlap_sentences(1).unwrap().with_kept_white_space().unwrap_err(), error);
}

/// A token a character.
#[derive(Debug)]
pub(super) struct Characters;

impl TokenCounter for Characters {
    fn name(&self) -> &'static str {
        "characters"
    }

    fn count(&self, text: &str) -> Result<usize, crate::tokens::TokenError> {
        Ok(text.chars().count())
    }
}

fn with_options(text: &str, options: impl FnOnce(WindowChunker<Bag>) -> WindowChunker<Bag>) -> Vec<String> {
    let chunker = WindowChunker::new(Bag::of_tokens(100)).with_splitter(RuleSplitter).with_counter(Characters);
    let chunker = options(chunker.with_threshold(-1.0).unwrap().with_max_sentences(10).unwrap());
    let show = |chunk: &Chunk<'_>| format!("{chunk} [{}]", chunk.reason);
    chunker.chunk(text).unwrap().iter().map(show).collect()
}

#[test]
fn borders_end_chunks_where_asked() {
    let text = "A one. B.\nC two.\n\nD.\r\n\r\nE.\r\nF.";
    assert_eq!(with_options(text, |chunker| chunker).len(), 1);
    let paragraphs = with_options(text, |chunker| chunker.with_borders(Borders::Paragraph));
    assert_eq!(paragraphs, ["A one. B. [border]", "C two. [border]", "D. [border]", "E. [border]", "F. [end]"]);
    let blank_lines = with_options(text, |chunker| chunker.with_borders(Borders::BlankLine));
    assert_eq!(blank_lines, ["A one. B.\nC two. [border]", "D. [border]", "E.\r\nF. [end]"]);
}

#[test]
fn the_cap_counts_the_joined_text_and_leaves_the_next_sentence_as_anchor() {
    let chunks = with_options("Abc. Def. G. Hijklmno pq.", |chunker| chunker.with_max_tokens(9).unwrap());
    assert_eq!(chunks, ["Abc. Def. [max_tokens]", "G. [max_tokens]", "Hijklmno [max_tokens]", "pq. [end]"]);
}

#[test]
fn a_crumb_joins_the_neighbour_that_it_is_more_alike() {
    let chunker = |min| {
        let chunker = WindowChunker::new(Bag::of_tokens(100)).with_splitter(RuleSplitter).with_counter(Characters);
        chunker.with_threshold(1.0).unwrap().with_min_tokens(min).unwrap()
    };
    let text = "alpha beta gamma delta. alpha beta. omega psi chi phi tau.";
    let cut = |min| chunker(min).chunk(text).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(cut(0).len(), 3);
    assert_eq!(cut(12), ["alpha beta gamma delta. alpha beta.", "omega psi chi phi tau."]);
    assert_eq!(cut(24), ["alpha beta gamma delta. alpha beta. omega psi chi phi tau."]);
    let joined = &chunker(12).chunk(text).unwrap()[0];
    assert_eq!((joined.sentences.len(), joined.similarities.len()), (2, 2));
    assert_eq!(joined.similarity, joined.similarities[1]);
}

#[test]
fn a_crumb_stays_alone_where_borders_or_the_cap_part_it_from_its_neighbours() {
    let chunks = with_options("Abcdef gh.\nI.\nJklmno pq.", |chunker| {
        chunker.with_min_tokens(3).unwrap().with_borders(Borders::Paragraph)
    });
    assert_eq!(chunks, ["Abcdef gh. [border]", "I. [border]", "Jklmno pq. [end]"]);
}

#[test]
fn overlap_takes_over_sentences_as_far_as_cap_and_borders_allow() {
    let overlapping = |cap: usize| {
        let chunker = WindowChunker::new(Bag::of_tokens(100)).with_splitter(RuleSplitter).with_counter(Characters);
        let chunker = chunker.with_threshold(-1.0).unwrap().with_max_sentences(3).unwrap();
        let chunker = chunker.with_overlap_sentences(2).unwrap().with_max_tokens(cap).unwrap();
        let chunks = chunker.chunk("A1. A2. A3. B1. B2. B3. C1.").unwrap();
        chunks.iter().map(|chunk| (chunk.to_string(), chunk.joined(), chunk.overlap_sentences)).collect::<Vec<_>>()
    };
    let own = |text: &str, joined: &str, overlap| (text.to_owned(), joined.to_owned(), overlap);
    assert_eq!(
        overlapping(99),
        [
            own("A1. A2. A3.", "A1. A2. A3.", 0),
            own("A2. A3. B1. B2. B3.", "B1. B2. B3.", 2),
            own("B2. B3. C1.", "C1.", 2)
        ]
    );
    assert_eq!(overlapping(15)[1], own("A3. B1. B2. B3.", "B1. B2. B3.", 1));
}
