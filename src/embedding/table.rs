//! A static model: one vector a token and no encoder. The vector of a text is the sum of its tokens' vectors, brought
//! to length 1; nothing is ever cut off.
//!
//! Made by [`Distiller`](super::Distiller), or by model2vec (van Dongen and Tulkens 2024,
//! <https://github.com/MinishLab/model2vec>), whose files are read: `embeddings` in `model.safetensors`, with `weights`
//! (one a token) and `mapping` (the row of a token) where there are some. As there, no special token is added and the
//! unknown token is left out. Sums are added up in `f32`, token by token from left to right and never fused, so that
//! they are the same on every machine.

mod file;
mod sum;

use std::borrow::Cow;
use std::fmt;

use rayon::prelude::*;

use super::input::unit;
use super::{Embedding, EmbeddingError};
use crate::tokens::{TokenCounter, TokenError, TokenizerFile, WordPiece};

pub(super) use file::{Config, EMBEDDINGS, MODEL_TYPE, WEIGHTS};

/// Texts of a batch that are worth another thread.
const TEXTS_PER_THREAD: usize = 64;

/// A static model.
pub(super) struct Table {
    tokenizer: Tokenizer,
    /// Where each token's vector lies and what it counts; no token behind them has one.
    places: Vec<Place>,
    rows: Rows,
    dimension: usize,
}

/// The row of a token and its factor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    row: u32,
    weight: f32,
}

/// The vectors, row by row.
enum Rows {
    /// Whole numbers; what they are multiplied by is in the weights, or does not matter since it is one for all.
    I8(Cow<'static, [i8]>),
    F32(Vec<f32>),
}

#[derive(Debug)]
enum Tokenizer {
    /// BERT's, whose ids for texts joined by a space are the concatenation of theirs.
    WordPiece(Box<WordPiece>),
    Other {
        file: Box<TokenizerFile>,
        unknown: Option<u32>,
    },
}

impl Table {
    pub(super) const fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether the sum of joined texts is the sum of theirs.
    pub(super) const fn concatenates(&self) -> bool {
        matches!(self.tokenizer, Tokenizer::WordPiece(_))
    }

    /// All ids of a text, the unknown token among them.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, TokenError> {
        match &self.tokenizer {
            Tokenizer::WordPiece(tokenizer) => Ok(tokenizer.ids(text)),
            Tokenizer::Other { file, .. } => file.ids(text),
        }
    }

    pub(super) fn count(&self, text: &str) -> Result<usize, TokenError> {
        match &self.tokenizer {
            Tokenizer::WordPiece(tokenizer) => tokenizer.count(text),
            Tokenizer::Other { file, .. } => file.count(text),
        }
    }

    /// The sum for a text.
    pub(super) fn sum(&self, text: &str) -> Result<Vec<f32>, TokenError> {
        Ok(self.sum_of(&self.ids(text)?))
    }

    /// The sum of these tokens, those without a vector left out.
    pub(super) fn sum_of(&self, ids: &[u32]) -> Vec<f32> {
        let unknown = self.unknown();
        let known = ids.iter().filter(|&&id| Some(id) != unknown);
        let places: Vec<Place> = known.filter_map(|&id| self.places.get(id as usize).copied()).collect();
        let mut sum = vec![0.0; self.dimension];
        match &self.rows {
            Rows::I8(rows) => sum::add(rows, &places, &mut sum),
            Rows::F32(rows) => sum::add(rows, &places, &mut sum),
        }
        sum
    }

    /// One embedding a text, in order.
    pub(super) fn embed(&self, texts: &[&str], prefix: &str) -> Result<Vec<Embedding>, EmbeddingError> {
        let embed = |text: &&str| {
            let sum = if prefix.is_empty() { self.sum(text)? } else { self.sum(&format!("{prefix}{text}"))? };
            Ok(Embedding { vector: unit(&sum), truncated: false })
        };
        texts.par_iter().with_min_len(TEXTS_PER_THREAD).map(embed).collect()
    }

    fn unknown(&self) -> Option<u32> {
        match &self.tokenizer {
            Tokenizer::WordPiece(tokenizer) => Some(tokenizer.unknown()),
            Tokenizer::Other { unknown, .. } => *unknown,
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("tokenizer", &self.tokenizer)
            .field("tokens", &self.places.len())
            .field("dimension", &self.dimension)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
