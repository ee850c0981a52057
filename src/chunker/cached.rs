//! Chunks that are remembered on the disk: a text that was cut before is not embedded again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::places::Places;
use super::{Chunk, ChunkError, Chunker, CutReason};
use crate::cache::{Cache, CacheKey};
use crate::span::Span;
use crate::tokens::Forced;

/// A chunker whose chunks are remembered, by the text and by what the chunker is.
///
/// ```
/// use std::sync::Arc;
///
/// use horchunk::cache::Cache;
/// use horchunk::{CachedChunker, Chunker, RuleSplitter, SentenceChunker};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let chunker = SentenceChunker::new(2)?.with_splitter(RuleSplitter);
/// let chunker = CachedChunker::new(chunker, Arc::new(Cache::new(folder)), ["sentences", "2", "rule", "cl100k_base"]);
/// let text = "Cats sleep. They hunt at dusk. Tax is due in May.";
/// assert_eq!(chunker.chunk(text)?, chunker.chunk(text)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CachedChunker<C> {
    chunker: C,
    cache: Arc<Cache>,
    identity: Vec<String>,
}

impl<C: Chunker> CachedChunker<C> {
    /// Remembers the chunks of `chunker` in `cache`. The `identity` must name everything that decides what they are, a
    /// text apart: all settings, the model by the hash of its files, the splitter, the counter. Another chunker of the
    /// same identity would be given these chunks.
    #[must_use]
    pub fn new(chunker: C, cache: Arc<Cache>, identity: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { chunker, cache, identity: identity.into_iter().map(Into::into).collect() }
    }

    pub(super) fn key(&self, text: &str) -> CacheKey {
        let identity = self.identity.iter().map(String::as_str);
        CacheKey::of(["chunks"].into_iter().chain(identity).chain([text]))
    }

    fn remembered<'t>(&self, text: &'t str) -> Option<Vec<Chunk<'t>>> {
        let kept: Vec<Kept> = serde_json::from_slice(&self.cache.get(&self.key(text))?).ok()?;
        let places = Places::new(text, None);
        kept.into_iter().map(|kept| kept.chunk(text, &places)).collect()
    }

    fn remember(&self, text: &str, chunks: &[Chunk<'_>]) {
        let kept: Vec<Kept> = chunks.iter().map(Kept::of).collect();
        // Numbers and names can always be written.
        if let Ok(bytes) = serde_json::to_vec(&kept) {
            self.cache.put(&self.key(text), &bytes);
        }
    }
}

impl<C: Chunker> Chunker for CachedChunker<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        if let Some(chunks) = self.remembered(text) {
            return Ok(chunks);
        }
        let chunks = self.chunker.chunk(text)?;
        self.remember(text, &chunks);
        Ok(chunks)
    }

    fn chunk_all<'t>(&self, texts: &[&'t str]) -> Vec<Result<Vec<Chunk<'t>>, ChunkError>> {
        let remembered: Vec<_> = texts.iter().map(|text| self.remembered(text)).collect();
        let missing = texts.iter().zip(&remembered).filter(|(_, chunks)| chunks.is_none()).map(|(text, _)| *text);
        let mut cut = self.chunker.chunk_all(&missing.collect::<Vec<_>>()).into_iter();
        let chunks = texts.iter().zip(remembered).map(|(text, chunks)| match chunks {
            Some(chunks) => Some(Ok(chunks)),
            None => cut.next().inspect(|cut| {
                if let Ok(chunks) = cut {
                    self.remember(text, chunks);
                }
            }),
        });
        chunks.flatten().collect()
    }
}

/// A chunk without its words, which are the text's. Floats are kept as their bits.
#[derive(Serialize, Deserialize)]
struct Kept {
    span: (usize, usize),
    sentences: Vec<(usize, usize)>,
    overlap_sentences: usize,
    tokens: Option<usize>,
    reason: CutReason,
    similarity: Option<u32>,
    similarities: Vec<Option<u32>>,
    forced: Option<Forced>,
    truncated: bool,
    blind: bool,
    embedding: Option<Vec<u32>>,
}

impl Kept {
    fn of(chunk: &Chunk<'_>) -> Self {
        // Taken apart without `..`, so that a field that is added must be looked at here.
        let Chunk {
            text: _,
            span,
            start: _,
            end: _,
            sentences,
            overlap_sentences,
            tokens,
            reason,
            similarity,
            similarities,
            forced,
            truncated,
            blind,
            embedding,
        } = chunk;
        Self {
            span: (span.start(), span.end()),
            sentences: sentences.iter().map(|span| (span.start(), span.end())).collect(),
            overlap_sentences: *overlap_sentences,
            tokens: *tokens,
            reason: *reason,
            similarity: similarity.map(f32::to_bits),
            similarities: similarities.iter().map(|step| step.map(f32::to_bits)).collect(),
            forced: *forced,
            truncated: *truncated,
            blind: *blind,
            embedding: embedding.as_ref().map(|vector| vector.iter().map(|number| number.to_bits()).collect()),
        }
    }

    /// The chunk, if it lies in the text.
    fn chunk<'t>(self, text: &'t str, places: &Places<'_, 't>) -> Option<Chunk<'t>> {
        let span = |(start, end): (usize, usize)| text.get(start..end).map(|_| Span::new(start, end));
        let sentences = self.sentences.into_iter().map(span).collect::<Option<_>>()?;
        Some(Chunk {
            overlap_sentences: self.overlap_sentences,
            tokens: self.tokens,
            similarity: self.similarity.map(f32::from_bits),
            similarities: self.similarities.into_iter().map(|step| step.map(f32::from_bits)).collect(),
            forced: self.forced,
            truncated: self.truncated,
            blind: self.blind,
            embedding: self.embedding.map(|bits| bits.into_iter().map(f32::from_bits).collect()),
            ..places.chunk(span(self.span)?, sentences, self.reason).ok()?
        })
    }
}
