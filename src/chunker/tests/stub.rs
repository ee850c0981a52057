//! Embedders that answer at once: a text is the bag of its words, each word a fixed direction.
//!
//! Like a real model they see only the beginning of a long text and give texts of similar words similar vectors.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::embedding::{DraftEmbedder, Embedder, Embedding, EmbeddingError, TokenEmbedder};

const DIMENSION: usize = 24;

/// A bag of words that sees `max_tokens` words; as a token embedder, or one that takes text only.
#[derive(Debug)]
pub(super) struct Bag {
    pub(super) max_tokens: usize,
    pub(super) takes_tokens: bool,
    /// What it says of itself.
    pub(super) tokens_at_once: usize,
    /// How far the drafts of its vectors stray; it makes none at 0.
    pub(super) strays: f32,
    /// Every input embedded so far, as the words it had.
    pub(super) seen: Mutex<Vec<Vec<u32>>>,
    /// Every sentence tokenized so far.
    pub(super) tokenized: Mutex<Vec<String>>,
}

impl Bag {
    pub(super) fn of_tokens(max_tokens: usize) -> Self {
        Self {
            max_tokens,
            takes_tokens: true,
            tokens_at_once: 0,
            strays: 0.0,
            seen: Mutex::default(),
            tokenized: Mutex::default(),
        }
    }

    pub(super) fn of_texts(max_tokens: usize) -> Self {
        Self { takes_tokens: false, ..Self::of_tokens(max_tokens) }
    }

    fn vector(&self, ids: &[u32]) -> Vec<f32> {
        self.seen.lock().unwrap().push(ids.to_vec());
        let mut vector = [0.0; DIMENSION];
        for &id in ids {
            for (axis, value) in vector.iter_mut().enumerate() {
                let mut hash = DefaultHasher::new();
                (id, axis).hash(&mut hash);
                // Positive on the whole, so that texts are somewhat alike as in a real model.
                *value += f32::from((hash.finish() % 251) as u8) - 60.0;
            }
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| if norm > 0.0 { x / norm } else { 0.0 }).collect()
    }
}

pub(super) fn words(text: &str) -> Vec<u32> {
    let id = |word: &str| {
        let mut hash = DefaultHasher::new();
        word.to_lowercase().hash(&mut hash);
        (hash.finish() % 1000) as u32
    };
    text.split_whitespace().map(id).collect()
}

impl Embedder for Bag {
    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let embedding = |text: &&str| {
            let ids = words(text);
            let cut = &ids[..ids.len().min(self.max_tokens)];
            Embedding { vector: self.vector(cut), truncated: cut.len() < ids.len() }
        };
        Ok(texts.iter().map(embedding).collect())
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        self.takes_tokens.then_some(self)
    }

    fn tokens_at_once(&self) -> usize {
        self.tokens_at_once
    }
}

impl TokenEmbedder for Bag {
    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        self.tokenized.lock().unwrap().push(text.to_owned());
        Ok(words(text))
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        assert!(inputs.iter().all(|ids| ids.len() <= self.max_tokens));
        Ok(inputs.iter().map(|ids| self.vector(ids)).collect())
    }

    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        (self.strays > 0.0).then_some(self)
    }
}

impl DraftEmbedder for Bag {
    /// Similarities stray by twice as much as vectors, and a little more.
    fn margin(&self) -> f32 {
        self.strays * 2.5
    }

    /// Turned by a small angle, to a side that depends on the words.
    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let turned = |ids: &&[u32]| {
            let mut vector = self.vector(ids);
            let axis = ids.iter().sum::<u32>() as usize % DIMENSION;
            vector[axis] += self.strays / 2.0;
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(inputs.iter().map(turned).collect())
    }
}
