//! An embedder that remembers: what was embedded once is not embedded again.
//!
//! Trying many settings on one text asks for the same windows over and over. Inputs are told apart by a hash of 128
//! bits of their token ids or their text, so memory is that of the vectors alone.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::{DraftEmbedder, Embedder, Embedding, EmbeddingError, SumEmbedder, TokenEmbedder};

/// Remembers the vectors of another embedder; give it by reference to those that should share them.
///
/// ```
/// use horchunk::{Embedder, MemoEmbedder, SentenceTransformer};
///
/// let memo = MemoEmbedder::new(SentenceTransformer::bundled()?);
/// memo.embed(&["Low tide.", "High tide.", "Low tide."])?;
/// memo.embed(&["High tide."])?;
/// assert_eq!((memo.asked(), memo.embedded()), (4, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoEmbedder<E> {
    inner: E,
    known: Mutex<HashMap<Key, Embedding>>,
    asked: AtomicU64,
    progress: Option<Box<Progress>>,
}

/// Told how many inputs were embedded so far.
type Progress = dyn Fn(u64) + Send + Sync;

type Key = [u8; 16];

impl<E: Embedder> MemoEmbedder<E> {
    /// Remembers nothing yet.
    #[must_use]
    pub fn new(inner: E) -> Self {
        Self { inner, known: Mutex::default(), asked: AtomicU64::new(0), progress: None }
    }

    /// Tells `progress` the number of inputs embedded so far whenever there are more.
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Inputs asked for so far.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Inputs embedded so far: those asked for, each once.
    #[must_use]
    pub fn embedded(&self) -> u64 {
        self.known().len() as u64
    }

    /// The embedder behind.
    #[must_use]
    pub const fn inner(&self) -> &E {
        &self.inner
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Embedding>> {
        // A panic elsewhere leaves whole vectors behind.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The embeddings of inputs with these keys; `embed` makes those that are missing, given by their places.
    fn remember(
        &self,
        keys: &[Key],
        embed: impl FnOnce(&[usize]) -> Result<Vec<Embedding>, EmbeddingError>,
    ) -> Result<Vec<Embedding>, EmbeddingError> {
        self.asked.fetch_add(keys.len() as u64, Ordering::Relaxed);
        let mut new: Vec<usize> = Vec::new();
        {
            let known = self.known();
            let mut seen = std::collections::HashSet::new();
            new.extend((0..keys.len()).filter(|&at| !known.contains_key(&keys[at]) && seen.insert(keys[at])));
        }
        if !new.is_empty() {
            let embeddings = embed(&new)?;
            let (asked, found) = (new.len(), embeddings.len());
            if asked != found {
                return Err(EmbeddingError::Count { asked, found });
            }
            self.known().extend(new.iter().map(|&at| keys[at]).zip(embeddings));
            if let Some(progress) = &self.progress {
                progress(self.embedded());
            }
        }
        let known = self.known();
        Ok(keys.iter().map(|key| known[key].clone()).collect())
    }
}

fn key(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Key {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    let mut key = Key::default();
    key.copy_from_slice(&hash.finalize()[..16]);
    key
}

impl<E: Embedder> Embedder for MemoEmbedder<E> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        if self.inner.as_token_embedder().is_some() {
            // One memory for both ways: a text is its token ids.
            let max = self.max_tokens();
            let ids = texts.iter().map(|text| self.tokenize(text)).collect::<Result<Vec<_>, _>>()?;
            let cut: Vec<&[u32]> = ids.iter().map(|ids| &ids[..ids.len().min(max)]).collect();
            let vectors = self.embed_tokens(&cut)?.into_iter().zip(&ids);
            return Ok(vectors.map(|(vector, ids)| Embedding { vector, truncated: ids.len() > max }).collect());
        }
        let keys: Vec<Key> = texts.iter().map(|text| key([text])).collect();
        self.remember(&keys, |new| self.inner.embed(&new.iter().map(|&at| texts[at]).collect::<Vec<_>>()))
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        self.inner.as_token_embedder().is_some().then_some(self)
    }

    fn tokens_at_once(&self) -> usize {
        self.inner.tokens_at_once()
    }

    /// Those of the embedder behind: to look up a sum would cost as much as to make it.
    fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
        self.inner.as_sum_embedder()
    }
}

impl<E: Embedder> TokenEmbedder for MemoEmbedder<E> {
    fn max_tokens(&self) -> usize {
        self.inner.as_token_embedder().map_or(0, TokenEmbedder::max_tokens)
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        self.inner.as_token_embedder().map_or_else(|| Ok(Vec::new()), |inner| inner.tokenize(text))
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let Some(inner) = self.inner.as_token_embedder() else { return Ok(Vec::new()) };
        self.remember_ids(EXACT, inputs, |inputs| inner.embed_tokens(inputs))
    }

    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        self.draft().is_some().then_some(self)
    }
}

impl<E: Embedder> DraftEmbedder for MemoEmbedder<E> {
    fn margin(&self) -> f32 {
        self.draft().map_or(0.0, DraftEmbedder::margin)
    }

    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let Some(inner) = self.draft() else { return Ok(Vec::new()) };
        self.remember_ids(DRAFT, inputs, |inputs| inner.draft_tokens(inputs))
    }
}

/// Which version of a model made a vector; no token has such an id.
const EXACT: u32 = u32::MAX;
const DRAFT: u32 = u32::MAX - 1;

impl<E: Embedder> MemoEmbedder<E> {
    fn draft(&self) -> Option<&dyn DraftEmbedder> {
        self.inner.as_token_embedder().and_then(TokenEmbedder::as_draft_embedder)
    }

    fn remember_ids(
        &self,
        version: u32,
        inputs: &[&[u32]],
        embed: impl FnOnce(&[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError>,
    ) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let with_version = |ids: &&[u32]| key([version].iter().chain(*ids).map(|id| id.to_le_bytes()));
        let keys: Vec<Key> = inputs.iter().map(with_version).collect();
        let embeddings = self.remember(&keys, |new| {
            let vectors = embed(&new.iter().map(|&at| inputs[at]).collect::<Vec<_>>())?;
            Ok(vectors.into_iter().map(|vector| Embedding { vector, truncated: false }).collect())
        })?;
        Ok(embeddings.into_iter().map(|embedding| embedding.vector).collect())
    }
}

impl<E> fmt::Debug for MemoEmbedder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoEmbedder").field("asked", &self.asked).finish_non_exhaustive()
    }
}
