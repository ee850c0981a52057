//! The embedder: a sentence-transformers model of the BERT family, or a static one.
//!
//! One type serves the bundled models, folders and the hub, on any device; [`ModelLoader`] makes it. Texts are
//! tokenized, cut at the model's length, brought to the encoder in batches of like length and put back in order; for a
//! static model they are looked up in its table (`table.rs`).
//! Vectors have length 1. Which texts share a batch never shows in them on the processor; on a graphics processor it
//! may show in their last bits.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::device::{self, Encode};
use super::encoder::STRAY;
use super::folder::Files;
use super::input::unit;
use super::load::ModelLoader;
use super::table::Table;
use super::tokenizer::InputTokenizer;
use super::{
    Device, DraftEmbedder, Embedder, Embedding, EmbeddingError, EncoderError, HubId, ModelError, ModelSource,
    Precision, SumEmbedder, TokenEmbedder,
};
use crate::tokens::{TokenCounter, TokenError};

/// A model that turns texts into unit vectors.
///
/// Cloning shares the weights.
///
/// ```
/// use horchunk::{Cosine, Embedder, SentenceTransformer, Similarity};
///
/// let model = SentenceTransformer::bundled()?;
/// let rows = model.embed(&["The cat sleeps.", "A kitten is napping.", "Interest rates rose."])?;
/// let similar = Cosine.between(&rows[0].vector, &rows[1].vector);
/// assert!(similar > Cosine.between(&rows[0].vector, &rows[2].vector));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SentenceTransformer {
    shared: Arc<Shared>,
    text_prefix: String,
    query_prefix: String,
    batch_tokens: usize,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub engine: Engine,
    pub files: Files,
    pub info: ModelInfo,
}

/// What makes vectors of texts.
#[derive(Debug)]
pub(super) enum Engine {
    Encoder {
        encoder: Box<dyn Encode>,
        /// The same model computing in 8 bits.
        draft: Option<Box<dyn Encode>>,
        tokenizer: InputTokenizer,
    },
    Table(Table),
}

/// Which encoder of a model.
#[derive(Clone, Copy, Debug)]
enum Version {
    Exact,
    Draft,
}

/// What a model is and where it came from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// `all-MiniLM-L6-v2` or `static-MiniLM-L6-v2` for a bundled one, otherwise the folder or hub id as it was asked for.
    pub name: String,
    /// The folder its files were read from; none for a bundled one.
    pub folder: Option<PathBuf>,
    /// Where it computes.
    pub device: Device,
    /// In which numbers.
    pub precision: Precision,
    /// Length of its vectors.
    pub dimension: usize,
    /// Longest input in tokens, special tokens counted; [`usize::MAX`] for a static model.
    pub max_length: usize,
    /// `mean` or `cls`.
    pub pooling: &'static str,
    /// Number format of the weights as stored.
    pub dtype: String,
    /// Numbers in the weights.
    pub parameters: usize,
    /// Size of the weights in bytes.
    pub bytes: usize,
    /// The threshold that its own files name, for chunkers that are given none. A threshold belongs to its model.
    pub threshold: Option<f32>,
}

impl SentenceTransformer {
    /// Tokens of a batch, unless another number is asked for.
    pub const BATCH_TOKENS: usize = 8192;

    pub(super) fn new(shared: Shared) -> Self {
        let (text_prefix, query_prefix) = (String::new(), String::new());
        Self { shared: Arc::new(shared), text_prefix, query_prefix, batch_tokens: Self::BATCH_TOKENS }
    }

    /// The model inside this crate: all-MiniLM-L6-v2, English, 384 dimensions, 256 tokens.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotCompiled`] in a build without the feature `bundled`.
    pub fn bundled() -> Result<Self, ModelError> {
        ModelLoader::new(ModelSource::Bundled).load()
    }

    /// The static model inside this crate, distilled from the bundled one: English, 256 dimensions, texts of any length.
    /// Its threshold is another one: [`ModelInfo::threshold`].
    ///
    /// # Errors
    ///
    /// [`ModelError::NotCompiled`] in a build without the feature `bundled`.
    pub fn bundled_static() -> Result<Self, ModelError> {
        ModelLoader::new(ModelSource::Static).load()
    }

    /// A model from a folder in the layout of sentence-transformers or model2vec.
    ///
    /// # Errors
    ///
    /// [`ModelError`] with the path of the file that is missing, broken or unsupported.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, ModelError> {
        ModelLoader::new(ModelSource::Folder(folder.as_ref().to_owned())).load()
    }

    /// A model of the hub, fetched unless the cache has it.
    ///
    /// # Errors
    ///
    /// [`ModelError::Hub`] if it cannot be had, otherwise as [`SentenceTransformer::from_folder`].
    pub fn from_hub(id: HubId) -> Result<Self, ModelError> {
        ModelLoader::new(ModelSource::Hub(id)).load()
    }

    /// The same with `prefix` before every text, for models that were trained so. It costs tokens of each input.
    #[must_use]
    pub fn with_text_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.text_prefix = prefix.into();
        self
    }

    /// The same with `prefix` before every query, see [`SentenceTransformer::queries`].
    #[must_use]
    pub fn with_query_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.query_prefix = prefix.into();
        self
    }

    /// The same with about this many tokens a batch. More cost memory; on the processor vectors do not depend on it.
    #[must_use]
    pub const fn with_batch_tokens(mut self, tokens: usize) -> Self {
        self.batch_tokens = tokens;
        self
    }

    /// The same model as embedder of queries: its query prefix takes the place of its text prefix.
    #[must_use]
    pub fn queries(&self) -> Self {
        Self { text_prefix: self.query_prefix.clone(), ..self.clone() }
    }

    /// What this model is and where it came from.
    #[must_use]
    pub fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    /// SHA-256 of the weights as they are stored, which tells one model from another whatever their folders are called.
    ///
    /// # Errors
    ///
    /// [`ModelError::Read`] where the weights' file is gone since the model was loaded.
    pub fn weights_sha256(&self) -> Result<String, ModelError> {
        self.shared.files.weights_sha256()
    }

    /// The text put in front of every text; see [`SentenceTransformer::with_text_prefix`].
    #[must_use]
    pub fn text_prefix(&self) -> &str {
        &self.text_prefix
    }

    /// The vectors of bare ids, cut already.
    fn encode(
        &self,
        encoder: &dyn Encode,
        tokenizer: &InputTokenizer,
        inputs: &[&[u32]],
    ) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        // Inputs of like length share a batch, so that none is padded much.
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        order.sort_by_key(|&index| Reverse(inputs[index].len()));

        let mut vectors = vec![Vec::new(); inputs.len()];
        let mut rest = order.as_slice();
        while let Some(&longest) = rest.first() {
            let length = inputs[longest].len() + tokenizer.special();
            let (batch, behind) = rest.split_at(rest.len().min((self.batch_tokens / length).max(1)));
            let framed: Vec<Vec<u32>> = batch.iter().map(|&at| tokenizer.framed(inputs[at])).collect();
            let framed: Vec<&[u32]> = framed.iter().map(Vec::as_slice).collect();
            for (&at, vector) in batch.iter().zip(encoder.encode(&framed)?) {
                vectors[at] = vector;
            }
            rest = behind;
        }
        Ok(vectors)
    }

    /// What is behind it.
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl SentenceTransformer {
    /// The vectors of bare ids, which may be too many, from an encoder or from its faster version.
    fn encode_checked(&self, version: Version, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let (encoder, draft, tokenizer) = match &self.shared.engine {
            Engine::Encoder { encoder, draft, tokenizer } => (encoder, draft, tokenizer),
            Engine::Table(table) => return Ok(inputs.iter().map(|ids| unit(&table.sum_of(ids))).collect()),
        };
        let max = tokenizer.max_tokens();
        if let Some((input, ids)) = inputs.iter().enumerate().find(|(_, ids)| ids.len() > max) {
            return Err(EncoderError::Length { input, length: ids.len(), max }.into());
        }
        let encoder = match version {
            Version::Exact => encoder,
            Version::Draft => draft.as_ref().unwrap_or(encoder),
        };
        self.encode(&**encoder, tokenizer, inputs)
    }
}

/// Counts the model's own tokens, without prefix and special tokens; the name is `wordpiece` for the bundled models,
/// whose vocabulary everybody has, and `model` for any other.
impl TokenCounter for SentenceTransformer {
    fn name(&self) -> &str {
        if self.shared.info.folder.is_none() { "wordpiece" } else { "model" }
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        match &self.shared.engine {
            Engine::Encoder { tokenizer, .. } => tokenizer.count(text),
            Engine::Table(table) => table.count(text),
        }
    }
}

impl Embedder for SentenceTransformer {
    fn dimension(&self) -> usize {
        self.shared.info.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        if let Engine::Table(table) = &self.shared.engine {
            return table.embed(texts, &self.text_prefix);
        }
        let max = self.max_tokens();
        let ids = |text: &&str| match self.text_prefix.as_str() {
            "" => self.tokenize(text),
            prefix => self.tokenize(&format!("{prefix}{text}")),
        };
        let ids = texts.iter().map(ids).collect::<Result<Vec<_>, _>>()?;
        let cut: Vec<&[u32]> = ids.iter().map(|ids| &ids[..ids.len().min(max)]).collect();
        let vectors = self.embed_tokens(&cut)?;
        Ok(vectors
            .into_iter()
            .zip(&ids)
            .map(|(vector, ids)| Embedding { vector, truncated: ids.len() > max })
            .collect())
    }

    /// Only of an encoder with BERT's own tokenizer, which never looks across a space, and without a text prefix.
    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        let Engine::Encoder { tokenizer, .. } = &self.shared.engine else { return None };
        (tokenizer.concatenates() && self.text_prefix.is_empty()).then_some(self)
    }

    /// Only of a static model, under the same conditions.
    fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
        let Engine::Table(table) = &self.shared.engine else { return None };
        (table.concatenates() && self.text_prefix.is_empty()).then_some(self)
    }

    fn tokens_at_once(&self) -> usize {
        match self.shared.engine {
            Engine::Encoder { .. } => device::tokens_at_once(self.shared.info.device),
            Engine::Table(_) => 0,
        }
    }
}

/// For a static model inputs have no largest length.
impl TokenEmbedder for SentenceTransformer {
    fn max_tokens(&self) -> usize {
        match &self.shared.engine {
            Engine::Encoder { tokenizer, .. } => tokenizer.max_tokens(),
            Engine::Table(_) => usize::MAX,
        }
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        Ok(match &self.shared.engine {
            Engine::Encoder { tokenizer, .. } => tokenizer.ids(text)?,
            Engine::Table(table) => table.ids(text)?,
        })
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.encode_checked(Version::Exact, inputs)
    }

    /// With [`Precision::Checked`].
    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        matches!(self.shared.engine, Engine::Encoder { draft: Some(_), .. }).then_some(self)
    }
}

impl DraftEmbedder for SentenceTransformer {
    fn margin(&self) -> f32 {
        STRAY
    }

    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.encode_checked(Version::Draft, inputs)
    }
}

/// The sums of a static model; an encoder has none, and gives its vector for one.
impl SumEmbedder for SentenceTransformer {
    fn sum(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        match &self.shared.engine {
            Engine::Table(table) => Ok(table.sum(text)?),
            Engine::Encoder { .. } => Ok(self.embed(&[text])?.pop().map_or_else(Vec::new, |one| one.vector)),
        }
    }
}

#[cfg(test)]
mod tests;
