//! What the files of a model say: shape, pooling, length, tokenizer, weights.
//!
//! The layout is that of sentence-transformers: `config.json`, `tokenizer.json` and `model.safetensors` (or shards
//! with an index) are needed; `modules.json`, the pooling module's `config.json`, `sentence_bert_config.json` and
//! `tokenizer_config.json` are heeded where present. The files of a folder and those inside this crate are read the
//! same way. Nothing here computes with the weights.

mod sentence;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde::Deserialize;

use super::bundled::Bundle;
use super::config::ModelConfig;
use super::digest::sha256_of_file;
use super::encoder::Pooling;
use super::{ModelError, hub};

pub(super) use sentence::pooling_config;

pub(super) const CONFIG: &str = "config.json";
pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const INDEX: &str = "model.safetensors.index.json";
const PICKLED: &str = "pytorch_model.bin";
const PICKLED_INDEX: &str = "pytorch_model.bin.index.json";
pub(super) const MODULES: &str = "modules.json";
pub(super) const SENTENCE_CONFIG: &str = "sentence_bert_config.json";
pub(super) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";

/// A file's bytes, and the path that errors name it by.
#[derive(Clone, Debug)]
pub(super) struct ModelFile {
    pub path: PathBuf,
    pub bytes: Cow<'static, [u8]>,
}

/// Where the files of a model are.
#[derive(Clone, Debug)]
pub(super) enum Files {
    Folder(PathBuf),
    Bundled(&'static Bundle),
}

impl Files {
    /// The folder, where it is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Bundled(_) => None,
        }
    }

    /// SHA-256 of the weights as they are stored.
    pub(super) fn weights_sha256(&self) -> Result<String, ModelError> {
        match self {
            Self::Bundled(bundle) => Ok(bundle.weights_sha256()),
            Self::Folder(_) => {
                let path = self.path(WEIGHTS);
                sha256_of_file(&path).map_err(|source| ModelError::Read { path, source })
            }
        }
    }

    /// The path of a file; that of a bundled one only serves messages.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Bundled(bundle) => PathBuf::from(bundle.name).join(name),
        }
    }

    pub(super) fn read(&self, name: &str) -> Result<ModelFile, ModelError> {
        self.read_if_present(name)?.ok_or_else(|| ModelError::Missing { path: self.path(name) })
    }

    pub(super) fn read_if_present(&self, name: &str) -> Result<Option<ModelFile>, ModelError> {
        let path = self.path(name);
        let bytes = match self {
            Self::Bundled(bundle) => bundle.files.iter().find(|file| file.0 == name).map(|file| Cow::Borrowed(file.1)),
            Self::Folder(_) => match fs::read(&path) {
                Ok(bytes) => Some(Cow::Owned(bytes)),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(source) => return Err(ModelError::Read { path, source }),
            },
        };
        Ok(bytes.map(|bytes| ModelFile { path, bytes }))
    }
}

impl ModelFile {
    /// The file as JSON of the given form.
    pub(super) fn json<T: for<'de> Deserialize<'de>>(&self) -> Result<T, ModelError> {
        serde_json::from_slice(&self.bytes).map_err(|error| self.broken(error))
    }

    /// `bytes`, those of this file, as tensors.
    pub(super) fn tensors<'a>(&self, bytes: &'a [u8]) -> Result<SafeTensors<'a>, ModelError> {
        SafeTensors::deserialize(bytes).map_err(|error| self.broken(error))
    }

    /// What to say if the tensors are not those the configuration asks for.
    pub(super) fn unfit(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ModelError {
        ModelError::Weights { path: self.path.clone(), source: source.into() }
    }

    pub(super) fn broken(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ModelError {
        ModelError::Parse { path: self.path.clone(), source: source.into() }
    }

    pub(super) fn unsupported(&self, found: impl Into<String>, supported: &'static str) -> ModelError {
        ModelError::Unsupported { path: self.path.clone(), found: found.into(), supported }
    }
}

/// All that is needed to build a model.
#[derive(Debug)]
pub(super) struct Parts {
    pub config: ModelConfig,
    pub pooling: Pooling,
    /// Longest input, special tokens counted.
    pub max_length: usize,
    /// Whether texts are put in lower case before the tokenizer sees them.
    pub lower_case: bool,
    pub tokenizer: ModelFile,
    /// The weights; shards have been joined.
    pub weights: ModelFile,
}

impl Parts {
    pub(super) fn read(files: &Files) -> Result<Self, ModelError> {
        Self::with_pooling(files, sentence::pooling(files)?)
    }

    /// The same for a model with a head, whose `modules.json` tells of no pooling.
    pub(super) fn read_head(files: &Files) -> Result<Self, ModelError> {
        Self::with_pooling(files, Pooling::Cls)
    }

    fn with_pooling(files: &Files, pooling: Pooling) -> Result<Self, ModelError> {
        let file = files.read(CONFIG)?;
        let text = std::str::from_utf8(&file.bytes).map_err(|error| file.broken(error))?;
        let config = ModelConfig::from_json(text);
        let config = config.map_err(|source| ModelError::Config { path: file.path.clone(), source })?;
        let input = sentence::input(files)?;
        Ok(Self {
            max_length: input.max_length.unwrap_or(usize::MAX).min(config.max_length()),
            lower_case: input.lower_case,
            tokenizer: files.read(TOKENIZER)?,
            weights: weights(files)?,
            config,
            pooling,
        })
    }
}

/// The weights; shards are joined.
pub(super) fn weights(files: &Files) -> Result<ModelFile, ModelError> {
    if let Some(file) = files.read_if_present(WEIGHTS)? {
        return Ok(file);
    }
    let Some(index) = files.read_if_present(INDEX)? else {
        let pickled = [PICKLED, PICKLED_INDEX].map(|name| files.path(name)).into_iter().find(|path| path.exists());
        return Err(match pickled {
            Some(path) => ModelError::Pickled { path },
            None => ModelError::Missing { path: files.path(WEIGHTS) },
        });
    };
    let names = shards(&index.bytes).map_err(|error| index.broken(error))?;
    if let Some(name) = names.iter().find(|name| !hub::is_plain_path(name)) {
        return Err(index.unsupported(format!("shard {name:?}"), "the name of a file beside it"));
    }
    let shards = names.iter().map(|name| files.read(name)).collect::<Result<Vec<_>, _>>()?;
    let tensors = shards.iter().map(|shard| shard.tensors(&shard.bytes)).collect::<Result<Vec<_>, _>>()?;
    let joined = safetensors::serialize(tensors.iter().flat_map(SafeTensors::iter), None);
    let bytes = joined.map_err(|error| index.broken(error))?;
    Ok(ModelFile { path: index.path, bytes: Cow::Owned(bytes) })
}

/// The files an index of weights names.
pub(super) fn shards(index: &[u8]) -> Result<BTreeSet<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    serde_json::from_slice::<Index>(index).map(|index| index.weight_map.into_values().collect())
}
