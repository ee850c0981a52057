//! A hard cap on the tokens of any chunker's chunks.
//!
//! A chunk over the cap is cut again: at its sentences where it has several, and a sentence that is over the cap
//! itself at words, grapheme clusters or code points. What keeps the cap stays as it is.

use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError, places::Places};
use crate::span::Span;
use crate::tokens::{Forced, TokenCounter, pieces};

/// Keeps the chunks of another chunker under a cap, counted exactly on each chunk's own text.
///
/// ```
/// use horchunk::{CappedChunker, Chunker, SentenceChunker, Tiktoken};
///
/// let chunker = CappedChunker::new(SentenceChunker::new(3)?, Tiktoken::default(), 10)?;
/// let chunks = chunker.chunk("It rained. We stayed in and read. The next day was dry.")?;
/// assert!(chunks.iter().all(|chunk| chunk.tokens.is_some_and(|tokens| tokens <= 10)));
/// assert_eq!(chunks[1].text, "The next day was dry.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CappedChunker<C, T> {
    inner: C,
    counter: T,
    max_tokens: usize,
}

/// Sentences that keep the cap together, or a piece of one and how it was split.
type Part = (Vec<Span>, Option<Forced>);

impl<C: Chunker, T: TokenCounter> CappedChunker<C, T> {
    /// The chunks of `inner` with at most `max_tokens` tokens of `counter`, which also counts those that keep the cap.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] if `max_tokens` is 0.
    pub fn new(inner: C, counter: T, max_tokens: usize) -> Result<Self, SettingsError> {
        if max_tokens == 0 {
            return Err(SettingsError::NoTokens);
        }
        Ok(Self { inner, counter, max_tokens })
    }

    /// A chunk over the cap in parts.
    fn parts(&self, text: &str, chunk: &Chunk<'_>) -> Result<Vec<Part>, ChunkError> {
        let own = [chunk.span];
        let sentences = if chunk.sentences.is_empty() { &own[..] } else { &chunk.sentences[..] };
        let mut parts: Vec<Part> = Vec::new();
        for &sentence in sentences {
            for piece in pieces(text, sentence, &self.counter, self.max_tokens)? {
                if let Some((open, None)) = parts.last_mut()
                    && piece.forced.is_none()
                    && self.counter.count(&text[open[0].to(piece.span)])? <= self.max_tokens
                {
                    open.push(piece.span);
                } else {
                    parts.push((vec![piece.span], piece.forced));
                }
            }
        }
        Ok(parts)
    }
}

impl<C: Chunker, T: TokenCounter> Chunker for CappedChunker<C, T> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let places = Places::new(text, Some(&self.counter));
        let mut capped = Vec::new();
        for mut chunk in self.inner.chunk(text)? {
            let tokens = self.counter.count(chunk.text)?;
            if tokens <= self.max_tokens {
                chunk.tokens = Some(tokens);
                capped.push(chunk);
                continue;
            }
            let parts = self.parts(text, &chunk)?;
            let last = parts.len().saturating_sub(1);
            for (index, (sentences, forced)) in parts.into_iter().enumerate() {
                let span = sentences[0].to(sentences[sentences.len() - 1]);
                let (reason, similarity) =
                    if index == last { (chunk.reason, chunk.similarity) } else { (CutReason::MaxTokens, None) };
                capped.push(Chunk { similarity, forced, ..places.chunk(span, sentences, reason)? });
            }
        }
        // Chunks that overlap are cut each on its own: their parts come back in order, and a part that another holds goes.
        capped.sort_by_key(|chunk| (chunk.span.start(), chunk.span.end()));
        let mut covered = 0;
        capped.retain(|chunk| {
            let is_new = chunk.span.end() > covered;
            covered = covered.max(chunk.span.end());
            is_new
        });
        Ok(capped)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunker::{FixedTokenChunker, RecursiveChunker, SentenceChunker};
    use crate::record::Recorder;
    use crate::tokens::Tiktoken;
    use crate::verify::Verifier;

    #[test]
    fn a_chunk_of_several_sentences_is_cut_between_them() {
        let text = "It rained. We stayed in and read. The next day was dry.";
        let chunker = CappedChunker::new(SentenceChunker::new(3).unwrap(), Tiktoken::default(), 10).unwrap();
        let chunks = chunker.chunk(text).unwrap();
        let found: Vec<_> = chunks.iter().map(|chunk| (chunk.text, chunk.reason, chunk.forced)).collect();
        assert_eq!(
            found,
            [
                ("It rained. We stayed in and read.", CutReason::MaxTokens, None),
                ("The next day was dry.", CutReason::End, None)
            ]
        );
    }

    proptest! {
        #[test]
        fn capped_chunks_that_overlap_stay_in_order(
            text in "([a-z]{1,9}|[a-z]{40}|[.?!]| |\n){0,60}",
            size in 8..40_usize,
            cap in 4..12_usize,
        ) {
            let chunkers: [Box<dyn Chunker>; 2] = [
                Box::new(RecursiveChunker::new(Tiktoken::default(), size).unwrap().with_overlap(size / 2).unwrap()),
                Box::new(FixedTokenChunker::new(Tiktoken::default(), size).unwrap().with_overlap(size / 2).unwrap()),
            ];
            for inner in chunkers {
                let chunker = CappedChunker::new(inner, Tiktoken::default(), cap).unwrap();
                let mut recorder = Recorder::new("t", Some("cl100k_base"));
                let records: Vec<_> = chunker.chunk(&text).unwrap().iter().map(|chunk| recorder.record(chunk)).collect();
                let verifier = Verifier::new().with_max_tokens(cap).with_overlap();
                let found = verifier.check(&text, &records, Some(&Tiktoken::default())).unwrap();
                prop_assert!(found.is_empty(), "{found:?}");
            }
        }

        #[test]
        fn capped_chunks_of_any_chunker_obey_the_laws(
            text in "([a-z]{1,9}|[a-z]{40}|[.?!]| |\n|\u{e9}|\u{1f991}){0,60}",
            size in 1..40_usize,
            cap in 4..20_usize,
        ) {
            let chunkers: [Box<dyn Chunker>; 3] = [
                Box::new(RecursiveChunker::new(Tiktoken::default(), size).unwrap()),
                Box::new(FixedTokenChunker::new(Tiktoken::default(), size).unwrap()),
                Box::new(SentenceChunker::new(size).unwrap()),
            ];
            for inner in chunkers {
                let chunker = CappedChunker::new(inner, Tiktoken::default(), cap).unwrap();
                let mut recorder = Recorder::new("t", Some("cl100k_base"));
                let records: Vec<_> = chunker.chunk(&text).unwrap().iter().map(|chunk| recorder.record(chunk)).collect();
                let verifier = Verifier::new().with_max_tokens(cap);
                let found = verifier.check(&text, &records, Some(&Tiktoken::default())).unwrap();
                prop_assert!(found.is_empty(), "{found:?}");
            }
        }
    }
}
