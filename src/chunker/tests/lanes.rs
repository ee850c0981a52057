//! Several lanes, several texts and drafts change the batches and nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::stub::Bag;
use super::window::Characters;
use crate::chunker::{Borders, Chunk, ChunkError, Chunker, WindowChunker};
use crate::embedding::{Embedder, Embedding, EmbeddingError, TokenEmbedder};
use crate::sentence::RuleSplitter;

/// Paragraphs of short sentences of few words, so that chunks of every kind come up and lanes meet late at times.
fn text() -> impl Strategy<Value = String> {
    let sentence = proptest::collection::vec("[abcdef]", 1..5).prop_map(|words| words.join(" ") + ".");
    let gap = prop_oneof![6 => Just(" "), 1 => Just("\n")];
    proptest::collection::vec((sentence, gap), 0..80)
        .prop_map(|parts| parts.into_iter().map(|(sentence, gap)| sentence + gap).collect())
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    t: f32,
    alpha: usize,
    cap: Option<usize>,
    min: usize,
    borders: Borders,
    embeddings: bool,
}

fn settings() -> impl Strategy<Value = Settings> {
    let borders = prop_oneof![3 => Just(Borders::None), 1 => Just(Borders::Paragraph)];
    let cap = proptest::option::weighted(0.3, 12_usize..40);
    (0.2_f32..1.0, 1_usize..7, cap, prop_oneof![Just(0_usize), 4_usize..12], borders, any::<bool>())
        .prop_map(|(t, alpha, cap, min, borders, embeddings)| Settings { t, alpha, cap, min, borders, embeddings })
}

fn chunker<E: Embedder>(embedder: E, settings: Settings) -> WindowChunker<E> {
    let chunker = WindowChunker::new(embedder).with_splitter(RuleSplitter).with_counter(Characters);
    let chunker = chunker.with_threshold(settings.t).unwrap().with_max_sentences(settings.alpha).unwrap();
    let chunker = chunker.with_borders(settings.borders).with_min_tokens(settings.min).unwrap();
    let chunker = if settings.embeddings { chunker.with_embeddings() } else { chunker };
    match settings.cap {
        Some(cap) => chunker.with_max_tokens(cap).unwrap(),
        None => chunker,
    }
}

/// The chunks without the similarities, which drafts give only nearly.
fn decided(mut chunks: Vec<Chunk<'_>>) -> Vec<Chunk<'_>> {
    for chunk in &mut chunks {
        chunk.similarity = chunk.similarity.map(|_| 0.0);
        chunk.similarities.iter_mut().for_each(|similarity| *similarity = similarity.map(|_| 0.0));
    }
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(19), cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn lanes_and_common_batches_give_the_chunks_of_one_lane(
        texts in proptest::collection::vec(text(), 1..4),
        settings in settings(),
        tokens_at_once in 1_usize..60,
        takes_tokens in any::<bool>(),
        strays in prop_oneof![Just(0.0_f32), 0.01_f32..0.1],
    ) {
        let one_lane = |strays| Bag { takes_tokens, strays, ..Bag::of_tokens(9) };
        let many = || Bag { tokens_at_once, ..one_lane(strays) };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let plain: Vec<Vec<Chunk<'_>>> =
            texts.iter().map(|text| chunker(one_lane(0.0), settings).chunk(text).unwrap()).collect();
        let drafted: Vec<Vec<Chunk<'_>>> =
            texts.iter().map(|text| chunker(one_lane(strays), settings).chunk(text).unwrap()).collect();
        for (plain, drafted) in plain.into_iter().zip(drafted.clone()) {
            prop_assert_eq!(decided(plain), decided(drafted));
        }
        for (text, drafted) in texts.iter().zip(&drafted) {
            prop_assert_eq!(&chunker(many(), settings).chunk(text).unwrap(), drafted);
        }
        let together: Vec<_> = chunker(many(), settings).chunk_all(&texts).into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(together, drafted);
    }

    #[test]
    fn what_is_embedded_in_vain_is_counted(text in text(), settings in settings(), tokens_at_once in 1_usize..60) {
        let settings = Settings { min: 0, embeddings: false, ..settings };
        let count = |tokens_at_once| {
            let bag = Bag { tokens_at_once, ..Bag::of_tokens(9) };
            let chunker = chunker(&bag, settings);
            let mut chunks = chunker.chunks(&text).unwrap();
            let found = chunks.by_ref().count();
            let embedded = chunks.embedded();
            let seen = bag.seen.lock().unwrap().len();
            (found, embedded, seen)
        };
        let (plain, many) = (count(0), count(tokens_at_once));
        prop_assert_eq!(plain.1, (plain.2, 0));
        prop_assert_eq!(many.1.0, many.2);
        prop_assert_eq!(many.1.0 - many.1.1, plain.2, "what was not in vain is what one lane needs");
    }
}

/// Fails from a certain input on, or where it is asked for more than one text at a time.
struct Failing {
    bag: Bag,
    answers: AtomicUsize,
    refuses_batches: bool,
}

impl Embedder for Failing {
    fn dimension(&self) -> usize {
        self.bag.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        self.bag.embed(texts)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        Some(self)
    }

    fn tokens_at_once(&self) -> usize {
        40
    }
}

impl TokenEmbedder for Failing {
    fn max_tokens(&self) -> usize {
        9
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        self.bag.tokenize(text)
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let refused = self.refuses_batches && inputs.len() > 2;
        let left = self.answers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if refused || left.is_err() {
            return Err(EmbeddingError::NotFinite);
        }
        self.bag.embed_tokens(inputs)
    }
}

#[test]
fn a_chunk_that_needs_no_vector_comes_before_the_text_is_read_to_its_end() {
    let text = "One. Two.\n".repeat(5000);
    for tokens_at_once in [0, 40] {
        let bag = Bag { tokens_at_once, ..Bag::of_tokens(9) };
        let chunker = chunker(&bag, Settings { alpha: 1, ..SETTINGS });
        let mut chunks = chunker.chunks(&text).unwrap();
        assert_eq!(chunks.next().unwrap().unwrap().text, "One.");
        assert!(bag.tokenized.lock().unwrap().len() < 1000);
        assert_eq!(1 + chunks.map(Result::unwrap).count(), 10_000);
        assert_eq!(
            chunker.chunk_all(&[&text, "Three."]).into_iter().map(|chunks| chunks.unwrap().len()).sum::<usize>(),
            10_001
        );
    }
}

const SETTINGS: Settings = Settings { t: 0.5, alpha: 3, cap: None, min: 0, borders: Borders::None, embeddings: false };

fn long_text() -> String {
    (0..60).map(|n| format!("a{} b{} c. ", n % 7, n % 5)).collect()
}

#[test]
fn chunks_before_an_error_come_before_it() {
    let text = long_text();
    let failing = Failing { bag: Bag::of_tokens(9), answers: AtomicUsize::new(4), refuses_batches: false };
    let chunker = chunker(failing, SETTINGS);
    let found: Vec<_> = chunker.chunks(&text).unwrap().collect();
    let (last, before) = found.split_last().unwrap();
    assert!(!before.is_empty() && before.iter().all(Result::is_ok));
    assert!(matches!(last, Err(ChunkError::Embedding(EmbeddingError::NotFinite))));
    let all = chunker.chunk_all(&[&text, &text]);
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(Result::is_err));
}

#[test]
fn a_batch_that_is_refused_ends_what_was_asked_for_in_advance_and_nothing_else() {
    let text = long_text();
    let failing = || Failing { bag: Bag::of_tokens(9), answers: AtomicUsize::new(usize::MAX), refuses_batches: true };
    let plain = chunker(Bag::of_tokens(9), SETTINGS).chunk(&text).unwrap();
    assert_eq!(chunker(failing(), SETTINGS).chunk(&text).unwrap(), plain);
    let together = chunker(failing(), SETTINGS);
    for chunks in together.chunk_all(&[&text, &text, &text]) {
        assert_eq!(chunks.unwrap(), plain);
    }
}
