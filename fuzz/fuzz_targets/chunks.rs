//! The whole chunker on any text and any setting: whatever comes out must pass the verifier.
#![no_main]

use horchunk::{
    Borders, ChunkError, Chunker, Embedder, Embedding, EmbeddingError, FitError, Recorder, Tiktoken, TiktokenEncoding,
    Verifier, WindowChunker,
};
use libfuzzer_sys::fuzz_target;

/// The vector of a text is made of its bytes.
struct Bytes;

impl Embedder for Bytes {
    fn dimension(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let vector = |text: &&str| {
            let mut vector = vec![1.0_f32; 4];
            for (at, byte) in text.bytes().take(64).enumerate() {
                vector[at % 4] += f32::from(byte % 16);
            }
            Embedding { vector, truncated: text.len() > 64 }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fuzz_target!(|input: (u8, u8, u8, u8, u8, &str)| {
    let (t, alpha, cap, flags, min, text) = input;
    let alpha = usize::from(alpha % 7) + 1;
    let cap = usize::from(cap % 64) + 1;
    let (capped, keep, overlap) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0 && flags & 2 == 0);
    let borders = [Borders::None, Borders::Paragraph, Borders::BlankLine][usize::from(flags >> 3) % 3];
    let mut chunker = WindowChunker::new(Bytes)
        .with_borders(borders)
        .with_threshold(f32::from(t) / 127.5 - 1.0)
        .and_then(|chunker| chunker.with_max_sentences(alpha))
        .and_then(|chunker| chunker.with_min_tokens(usize::from(min) % cap))
        .and_then(|chunker| chunker.with_overlap_sentences(if overlap { alpha - 1 } else { 0 }))
        .unwrap();
    let mut verifier = Verifier::new();
    if capped {
        chunker = chunker.with_max_tokens(cap).unwrap();
        verifier = verifier.with_max_tokens(cap);
    }
    if keep {
        chunker = chunker.with_kept_white_space().unwrap();
        verifier = verifier.with_kept_white_space();
    }
    if overlap {
        verifier = verifier.with_overlap();
    }
    let chunks = match chunker.chunk(text) {
        Ok(chunks) => chunks,
        Err(ChunkError::Fit(FitError::CapTooSmall { tokens, max_tokens, .. })) if tokens > max_tokens => return,
        Err(error) => panic!("{error}"),
    };
    let mut recorder = Recorder::new("fuzz", Some("cl100k_base"));
    let records: Vec<_> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
    let counter = Tiktoken::new(TiktokenEncoding::Cl100kBase);
    assert_eq!(verifier.check(text, &records, Some(&counter)).unwrap(), []);
});
