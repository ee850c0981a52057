//! A text in parts has the chunks of the whole.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::stub::Bag;
use super::window::Characters;
use crate::chunker::{Borders, Chunk, ChunkError, ChunkStream, Chunker, WindowChunker};
use crate::sentence::{ParagraphSplitter, RuleSplitter, SentenceSplitter, UnicodeSplitter};
use crate::tokens::FitError;

/// Sentences, wrapped lines, items, code and white space of every kind.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => "[A-D][a-f]{0,4}( [a-f]{1,3}){0,4}\\.",
        2 => "[a-f]{1,4}( [a-f]{1,3}){0,4}",
        2 => Just("- item\n".to_owned()),
        1 => Just("```\n".to_owned()),
        1 => Just("“Yes.".to_owned()),
        1 => Just("No.”".to_owned()),
        1 => Just("\u{feff}\n".to_owned()),
    ];
    let gap = prop_oneof![8 => Just(" "), 3 => Just("\n"), 3 => Just("\n\n"), 1 => Just("\r\n\r\n  "), 1 => Just("  \u{2028}")];
    proptest::collection::vec((gap, part), 0..60)
        .prop_map(|parts| parts.into_iter().map(|(gap, part)| gap.to_owned() + &part).collect())
}

/// What is kept of a chunk to compare it with another.
fn owned(chunk: &Chunk<'_>) -> (String, Chunk<'static>) {
    (chunk.text.to_owned(), Chunk { text: "", ..chunk.clone() })
}

fn streamed(
    mut stream: ChunkStream<'_>,
    text: &str,
    ends: &[usize],
) -> Result<Vec<(String, Chunk<'static>)>, ChunkError> {
    let mut chunks = Vec::new();
    let mut start = 0;
    for &end in ends {
        stream.push(&text[start..end], |chunk| {
            chunks.push(owned(&chunk));
            Ok::<(), ChunkError>(())
        })?;
        start = end;
    }
    stream.push(&text[start..], |chunk| {
        chunks.push(owned(&chunk));
        Ok::<(), ChunkError>(())
    })?;
    stream.finish(|chunk| {
        chunks.push(owned(&chunk));
        Ok::<(), ChunkError>(())
    })?;
    Ok(chunks)
}

fn splitter(number: usize) -> Box<dyn SentenceSplitter> {
    match number {
        0 => Box::new(RuleSplitter),
        1 => Box::new(ParagraphSplitter),
        2 => Box::new(UnicodeSplitter::default().with_hard_lines(true)),
        _ => Box::new(UnicodeSplitter::default()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(23), cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn parts_have_the_chunks_of_the_whole(
        text in text(),
        ends in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        number in 0_usize..6,
        (t, alpha) in (0.2_f32..1.0, 1_usize..7),
        cap in proptest::option::weighted(0.3, 12_usize..60),
        borders in prop_oneof![3 => Just(Borders::None), 1 => Just(Borders::Paragraph), 1 => Just(Borders::BlankLine)],
        (keep, min, overlap) in prop_oneof![
            6 => any::<bool>().prop_map(|keep| (keep, 0, 0)),
            1 => (1_usize..12).prop_map(|min| (false, min, 0)),
            1 => Just((false, 0, 1)),
        ],
        embeddings in any::<bool>(),
        tokens_at_once in 0_usize..30,
    ) {
        let chunker = WindowChunker::new(Bag { tokens_at_once, ..Bag::of_tokens(9) });
        let chunker = chunker.with_splitter(splitter(number)).with_counter(Characters).with_borders(borders);
        let chunker = chunker.with_threshold(t).unwrap().with_max_sentences(alpha.max(overlap + 1)).unwrap();
        let chunker = chunker.with_min_tokens(min).unwrap().with_overlap_sentences(overlap).unwrap();
        let chunker = if keep { chunker.with_kept_white_space().unwrap() } else { chunker };
        let chunker = if embeddings { chunker.with_embeddings() } else { chunker };
        let chunker = match cap {
            Some(cap) => chunker.with_max_tokens(cap).unwrap(),
            None => chunker,
        };
        let mut ends: Vec<usize> =
            ends.iter().map(|end| text.floor_char_boundary(end.index(text.len() + 1))).collect();
        ends.sort_unstable();
        let whole: Vec<_> = chunker.chunk(&text).unwrap().iter().map(owned).collect();
        prop_assert_eq!(streamed(chunker.stream(), &text, &ends).unwrap(), whole);
    }
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let chunker = WindowChunker::new(Bag::of_tokens(9)).with_counter(Characters);
    let mut stream = chunker.stream();
    let (mut chunks, mut held) = (0, 0);
    for line in 0..2000 {
        let part = format!("This is line {line}. It has two sentences.\n\n");
        stream
            .push(&part, |chunk| {
                assert!(chunk.start.line <= 2 * line + 1 && chunk.start.line % 2 == 1);
                chunks += 1;
                Ok::<(), ChunkError>(())
            })
            .unwrap();
        held = held.max(stream.held());
    }
    assert!(chunks > 600, "{chunks}");
    assert!(held < 1000, "{held}");
}

#[test]
fn a_text_that_cannot_be_divided_waits_for_its_end() {
    let chunker = WindowChunker::new(Bag::of_tokens(9)).with_counter(Characters);
    let line = "One line of many sentences. ".repeat(100);
    let mut stream = chunker.stream();
    for _ in 0..20 {
        stream.push(&line, |_| -> Result<(), ChunkError> { unreachable!("nothing is final yet") }).unwrap();
    }
    let mut end = 0;
    stream
        .finish(|chunk| {
            end = chunk.span.end();
            Ok::<(), ChunkError>(())
        })
        .unwrap();
    assert_eq!(end, 20 * line.len() - 1);
}

#[test]
fn errors_name_bytes_of_the_whole_and_those_of_the_caller_come_back() {
    #[derive(Debug)]
    struct Stopped(Option<ChunkError>);
    impl From<ChunkError> for Stopped {
        fn from(error: ChunkError) -> Self {
            Self(Some(error))
        }
    }
    let chunker = WindowChunker::new(Bag::of_tokens(9))
        .with_counter(crate::tokens::Tiktoken::new(crate::tokens::TiktokenEncoding::default()));
    let chunker = chunker.with_max_tokens(2).unwrap();
    let mut stream = chunker.stream();
    let calm = "A dog. ".repeat(20) + "\n\nA cat.\n\n";
    stream.push(&calm, |_| Ok::<(), Stopped>(())).unwrap();
    let error = stream.push("A \u{13080}.\n\nA cat.\n\nx", |_| Ok::<(), Stopped>(())).unwrap_err();
    let Stopped(Some(ChunkError::Fit(FitError::CapTooSmall { byte, .. }))) = error else { panic!("{error:?}") };
    assert_eq!(byte, calm.len() + 2);

    let mut stream = chunker.stream();
    assert!(matches!(stream.push(&calm, |_| Err(Stopped(None))), Err(Stopped(None))));
}
