//! What a text costs, counted and never timed: each anchor is embedded once, each window at most once.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::stub::{Bag, words};
use crate::chunker::{Chunker, CutReason, WindowChunker};
use crate::sentence::RuleSplitter;

/// Sentences of words that no other has.
fn text_of(lengths: &[usize]) -> Vec<String> {
    let words = |n: usize, length: usize| (0..length).map(|word| format!("w{n}x{word}")).collect::<Vec<_>>().join(" ");
    lengths.iter().enumerate().map(|(n, &length)| words(n, length) + ".").collect()
}

#[test]
fn joining_crumbs_tokenizes_nothing_again_and_embeds_each_joined_chunk_once() {
    let sentences = text_of(&[2; 40]);
    let bag = Bag::of_tokens(30);
    let chunker = WindowChunker::new(&bag).with_splitter(RuleSplitter).with_max_sentences(1).unwrap();
    let chunks = chunker.with_min_tokens(50).unwrap().chunk(&sentences.join(" ")).unwrap().len();
    assert!(chunks < 40);
    assert_eq!(*bag.tokenized.lock().unwrap(), sentences);
    let seen = bag.seen.lock().unwrap().len();
    assert!(seen <= 40 + (40 - chunks), "{seen} texts for 40 sentences in {chunks} chunks");
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(13), cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn anchors_once_windows_at_most_once_and_none_for_other_cuts(
        lengths in proptest::collection::vec(1_usize..6, 1..24),
        t in 0.3_f32..1.0,
        alpha in 1_usize..7,
        max_tokens in 3_usize..30,
    ) {
        let sentences = text_of(&lengths);
        let bag = Bag::of_tokens(max_tokens);
        let chunker = WindowChunker::new(&bag).with_splitter(RuleSplitter).without_counter().unwrap();
        let chunker = chunker.with_threshold(t).unwrap().with_max_sentences(alpha).unwrap();
        let text = sentences.join(" ");
        let chunks = chunker.chunk(&text).unwrap();

        let mut wanted: HashMap<Vec<u32>, usize> = HashMap::new();
        let input = |range: &[String]| words(&range.join(" ")).into_iter().take(max_tokens).collect::<Vec<_>>();
        let mut left = 0;
        for chunk in &chunks {
            let own = chunk.sentences.len();
            let closing = usize::from(chunk.reason == CutReason::Similarity);
            let anchor = input(&sentences[left..=left]);
            let mut windows: Vec<_> = (left + 1..left + own + closing).map(|right| input(&sentences[left..=right])).collect();
            windows.dedup();
            windows.retain(|window| *window != anchor);
            if !windows.is_empty() {
                wanted.insert(anchor, 1);
            }
            wanted.extend(windows.into_iter().map(|window| (window, 1)));
            left += own;
        }
        let mut found: HashMap<Vec<u32>, usize> = HashMap::new();
        for ids in bag.seen.lock().unwrap().iter() {
            *found.entry(ids.clone()).or_default() += 1;
        }
        prop_assert_eq!(found, wanted);
        prop_assert_eq!(&*bag.tokenized.lock().unwrap(), &sentences, "each sentence is tokenized once, in order");
    }
}
