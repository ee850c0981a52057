//! From what the caller names to a model that computes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use safetensors::SafeTensors;

use super::bundled::{self, Bundle};
use super::device::{self, Device};
use super::digest::sha256;
use super::encoder::Pooling;
use super::folder::{self, Files, ModelFile, Parts, TOKENIZER};
use super::heads::{self, CrossEncoder, PairEncoder, QuestionAnswerer};
use super::hub::{self, Download, HubId, HubSettings};
use super::model::{Engine, ModelInfo, SentenceTransformer, Shared};
use super::table::{self, Table};
use super::tokenizer::InputTokenizer;
use super::{ModelError, Precision};

/// Where a model comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSource {
    /// Inside this crate.
    #[default]
    Bundled,
    /// Inside this crate too: the static model distilled from the bundled one, a thousand times as fast.
    Static,
    /// A folder in the layout of sentence-transformers or model2vec.
    Folder(PathBuf),
    /// The Hugging Face hub, or its cache.
    Hub(HubId),
}

impl FromStr for ModelSource {
    type Err = ModelError;

    /// `bundled`, `static`, a folder, or a hub id. What is a folder here is never looked for anywhere else.
    fn from_str(name: &str) -> Result<Self, ModelError> {
        if name == "bundled" {
            return Ok(Self::Bundled);
        }
        if name == "static" {
            return Ok(Self::Static);
        }
        let folder = PathBuf::from(name);
        if folder.exists() {
            return Ok(Self::Folder(folder));
        }
        // Not a hub id either: as a folder it leads to an error that names the file it lacks.
        Ok(name.parse().map_or(Self::Folder(folder), Self::Hub))
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled => f.write_str(bundled::NAME),
            Self::Static => f.write_str(bundled::STATIC_NAME),
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Hub(id) => id.fmt(f),
        }
    }
}

/// Loads a model.
///
/// ```
/// use horchunk::{Device, ModelLoader, ModelSource};
///
/// let model = ModelLoader::new(ModelSource::Bundled).with_device(Device::Cpu).load()?;
/// assert_eq!(model.info().max_length, 256);
/// # Ok::<(), horchunk::ModelError>(())
/// ```
pub struct ModelLoader<'a> {
    source: ModelSource,
    device: Device,
    precision: Precision,
    hub: Option<HubSettings>,
    progress: Box<dyn FnMut(Download<'_>) + 'a>,
    sha256: Option<String>,
}

impl<'a> ModelLoader<'a> {
    /// A loader of the model in `source`, for the best device, with the hub as the environment has it.
    #[must_use]
    pub fn new(source: ModelSource) -> Self {
        Self {
            source,
            device: Device::Auto,
            precision: Precision::F32,
            hub: None,
            progress: Box::new(|_| ()),
            sha256: None,
        }
    }

    /// The same for `device`.
    #[must_use]
    pub fn with_device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The same, computing in these numbers. Graphics processors know f32 only.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// The same with other settings of the hub.
    #[must_use]
    pub fn with_hub(mut self, settings: HubSettings) -> Self {
        self.hub = Some(settings);
        self
    }

    /// The same with a listener to downloads.
    #[must_use]
    pub fn with_progress(mut self, progress: impl FnMut(Download<'_>) + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// The same, refusing weights of another SHA-256 than this, in hexadecimal.
    #[must_use]
    pub fn with_sha256(mut self, sum: impl Into<String>) -> Self {
        self.sha256 = Some(sum.into());
        self
    }

    /// Finds the files, reads them, and brings the weights to the device.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: what is missing, broken, unsupported or not part of this build, with the path.
    pub fn load(mut self) -> Result<SentenceTransformer, ModelError> {
        let files = self.files()?;
        match table::Config::read(&files)? {
            Some(config) => self.table(files, &config),
            None => self.encoder(files),
        }
    }

    /// Loads a model that scores a text against a question. It computes on the processor.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unsupported`] if `config.json` names another architecture, otherwise as [`ModelLoader::load`].
    pub fn load_cross_encoder(self) -> Result<CrossEncoder, ModelError> {
        CrossEncoder::new(self.pairs(heads::Task::Classification)?)
    }

    /// Loads a model that marks the answer to a question in a text. It computes on the processor.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unsupported`] if `config.json` names another architecture, otherwise as [`ModelLoader::load`].
    pub fn load_question_answerer(self) -> Result<QuestionAnswerer, ModelError> {
        QuestionAnswerer::new(self.pairs(heads::Task::Answering)?)
    }

    /// The encoder of a model with a head.
    fn pairs(mut self, task: heads::Task) -> Result<PairEncoder, ModelError> {
        if let device @ (Device::Cuda(_) | Device::Metal) = self.device {
            let source = "models with a head compute on the processor".into();
            return Err(ModelError::Device { device: device.to_string(), source });
        }
        let files = self.files()?;
        task.check(&files)?;
        let parts = Parts::read_head(&files)?;
        self.check(&parts.weights)?;
        // There is no threshold to be near to.
        let precision = if self.precision == Precision::Checked { Precision::F32 } else { self.precision };
        PairEncoder::new(precision, parts)
    }

    /// Finds the files, from the hub if need be.
    fn files(&mut self) -> Result<Files, ModelError> {
        Ok(match &self.source {
            ModelSource::Bundled => Files::Bundled(Bundle::encoder()?),
            ModelSource::Static => Files::Bundled(Bundle::table()?),
            ModelSource::Folder(folder) => Files::Folder(folder.clone()),
            ModelSource::Hub(id) => {
                let settings = self.hub.take().unwrap_or_else(HubSettings::from_env);
                Files::Folder(hub::locate(id, &settings, &mut self.progress)?)
            }
        })
    }

    /// An encoder and its tokenizer.
    fn encoder(&self, files: Files) -> Result<SentenceTransformer, ModelError> {
        let parts = Parts::read(&files)?;
        self.check(&parts.weights)?;
        let device = self.device.resolved();
        let encoder = device::encoder(device, self.precision, &parts.config, &parts.weights, parts.pooling)?;
        let draft = match self.precision {
            Precision::Checked => device::draft_encoder(device, &parts.config, &parts.weights, parts.pooling)?,
            Precision::F32 | Precision::Int8 => None,
        };
        let tokenizer = InputTokenizer::new(&parts)?;
        let info = self.info(&files, device, &parts)?;
        Ok(SentenceTransformer::new(Shared { engine: Engine::Encoder { encoder, draft, tokenizer }, files, info }))
    }

    /// A static model, which is a table and nothing to compute.
    fn table(&self, files: Files, config: &table::Config) -> Result<SentenceTransformer, ModelError> {
        if self.precision != Precision::F32 {
            return Err(ModelError::Static { wanted: format!("the precision {}", self.precision) });
        }
        if let device @ (Device::Cuda(_) | Device::Metal) = self.device {
            return Err(ModelError::Static { wanted: format!("the device {device}") });
        }
        let weights = folder::weights(&files)?;
        self.check(&weights)?;
        let table = Table::read(&files.read(TOKENIZER)?, &weights)?;
        let tensors = weights.tensors(&weights.bytes)?;
        let embeddings = tensors.tensor(table::EMBEDDINGS).map_err(|error| weights.unfit(error))?;
        let info = ModelInfo {
            name: self.source.to_string(),
            folder: files.folder().map(Path::to_owned),
            device: Device::Cpu,
            precision: Precision::F32,
            dimension: table.dimension(),
            max_length: usize::MAX,
            pooling: "mean",
            dtype: embeddings.dtype().to_string().to_lowercase(),
            parameters: embeddings.shape().iter().product(),
            bytes: weights.bytes.len(),
            threshold: config.threshold,
        };
        Ok(SentenceTransformer::new(Shared { engine: Engine::Table(table), files, info }))
    }

    /// Compares the weights with the sum they are pinned to, if they are.
    fn check(&self, weights: &ModelFile) -> Result<(), ModelError> {
        let Some(expected) = self.sha256.as_ref().map(|sum| sum.to_ascii_lowercase()) else { return Ok(()) };
        let found = sha256(&weights.bytes);
        if found == expected {
            Ok(())
        } else {
            Err(ModelError::Checksum { path: weights.path.clone(), expected, found })
        }
    }

    fn info(&self, files: &Files, device: Device, parts: &Parts) -> Result<ModelInfo, ModelError> {
        let tensors = parts.weights.tensors(&parts.weights.bytes)?;
        let names = parts.config.names(|name| tensors.tensor(name).is_ok());
        let dtype = tensors.tensor(&names.words).map_err(|error| parts.weights.unfit(error))?.dtype();
        Ok(ModelInfo {
            name: self.source.to_string(),
            folder: files.folder().map(Path::to_owned),
            device,
            precision: self.precision,
            dimension: parts.config.hidden,
            max_length: parts.max_length,
            pooling: match parts.pooling {
                Pooling::Mean => "mean",
                Pooling::Cls => "cls",
            },
            dtype: dtype.to_string().to_lowercase(),
            parameters: parameters(&tensors, dtype),
            bytes: parts.weights.bytes.len(),
            threshold: None,
        })
    }
}

impl fmt::Debug for ModelLoader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelLoader")
            .field("source", &self.source)
            .field("device", &self.device)
            .field("precision", &self.precision)
            .field("hub", &self.hub)
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

/// Numbers of the model's own format; counters of other types, such as BERT's positions, are not learnt.
fn parameters(tensors: &SafeTensors<'_>, dtype: safetensors::Dtype) -> usize {
    let learnt = tensors.iter().filter(|(_, tensor)| tensor.dtype() == dtype);
    learnt.map(|(_, tensor)| tensor.shape().iter().product::<usize>()).sum()
}

#[cfg(test)]
mod tests;
