//! From an encoder to a static model: the method of model2vec (van Dongen and Tulkens 2024,
//! <https://github.com/MinishLab/model2vec>).
//!
//! Every entry of the vocabulary goes through the model by itself; the vectors are brought to fewer dimensions along
//! their principal components and weighted by how rare the entry is. Frequencies are not counted but taken from the rank
//! in the vocabulary, which lists its entries from common to rare (Zipf's law), and weighted as Arora, Liang and Ma
//! have it ("A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017). No text is needed.

mod pca;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use half::f16;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError};
use serde_json::json;
use tempfile::NamedTempFile;

use super::folder::{CONFIG, TOKENIZER, WEIGHTS};
use super::model::Engine;
use super::table::{self, EMBEDDINGS, MODEL_TYPE};
use super::{EmbeddingError, ModelError, SentenceTransformer, TokenEmbedder};
use pca::Components;

/// Entries that go through the model at a time.
const BATCH: usize = 512;

/// Makes a static model of an encoder.
///
/// ```no_run
/// use horchunk::{Distiller, SentenceTransformer};
///
/// let made = Distiller::new().distill(&SentenceTransformer::bundled()?, |_, _| ())?;
/// made.write("static-minilm")?;
/// let model = SentenceTransformer::from_folder("static-minilm")?;
/// assert_eq!(model.info().dimension, 256);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Distiller {
    dimension: usize,
    frequency: f64,
    numbers: Numbers,
    threshold: Option<f32>,
}

/// How the numbers of a static model are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numbers {
    /// In 8-bit whole numbers, with a factor a token: a quarter of the size.
    #[default]
    I8,
    /// In 16-bit floats.
    F16,
    /// In 32-bit floats.
    F32,
}

/// No kind of numbers has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown numbers {0:?}: take i8, f16 or f32")]
pub struct UnknownNumbers(pub String);

impl FromStr for Numbers {
    type Err = UnknownNumbers;

    fn from_str(name: &str) -> Result<Self, UnknownNumbers> {
        let all = [Self::I8, Self::F16, Self::F32];
        all.into_iter().find(|numbers| numbers.to_string() == name).ok_or_else(|| UnknownNumbers(name.to_owned()))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::I8 => "i8",
            Self::F16 => "f16",
            Self::F32 => "f32",
        })
    }
}

/// Why no static model could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// The model has no vocabulary of words.
    #[error("{model} has no WordPiece tokenizer, and only the vocabulary of one can be distilled")]
    Tokenizer {
        /// The model.
        model: String,
    },
    /// The model is static already.
    #[error("{model} is a static model already; distil an encoder")]
    Static {
        /// The model.
        model: String,
    },
    /// More dimensions than the model has, or none.
    #[error("{asked} dimensions cannot be made of the {model} of the model: take from 1 to {model}")]
    Dimension {
        /// What was asked for.
        asked: usize,
        /// Those of the model.
        model: usize,
    },
    /// A threshold that no similarity can have.
    #[error("threshold {0}: take one from -1 to 1")]
    Threshold(f32),
    /// A frequency constant that makes no weights.
    #[error("frequency constant {0}: take one over 0")]
    Frequency(f64),
    /// The model's files could not be read again.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model failed.
    #[error("the vocabulary could not be embedded")]
    Embedding(#[from] EmbeddingError),
    /// The tensors could not be written down.
    #[error("the tensors could not be written down")]
    Tensors(#[from] SafeTensorError),
}

impl Default for Distiller {
    fn default() -> Self {
        Self::new()
    }
}

impl Distiller {
    /// 256 dimensions in 8-bit numbers, with a frequency constant of 1e-5: a tenth of model2vec's, since the windows of
    /// static MiniLM are then ordered more like those of MiniLM itself (`models/static-minilm/ORIGIN.md`).
    #[must_use]
    pub const fn new() -> Self {
        Self { dimension: 256, frequency: 1e-5, numbers: Numbers::I8, threshold: None }
    }

    /// The same with so many dimensions, at most those of the model.
    #[must_use]
    pub const fn with_dimension(mut self, dimension: usize) -> Self {
        self.dimension = dimension;
        self
    }

    /// The same with another constant `a` in the weight `a / (a + p)` of a token of frequency `p`: a smaller one makes
    /// common words count less.
    #[must_use]
    pub const fn with_frequency_constant(mut self, a: f64) -> Self {
        self.frequency = a;
        self
    }

    /// The same with its numbers stored in another way.
    #[must_use]
    pub const fn with_numbers(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        self
    }

    /// The same with a threshold that chunkers take for this model unless they are told another.
    #[must_use]
    pub const fn with_threshold(mut self, threshold: f32) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Makes the static model; `progress` hears how many entries are done, of how many. The same model gives the same
    /// bytes on the same machine.
    ///
    /// # Errors
    ///
    /// [`DistillError`]
    pub fn distill(
        &self,
        model: &SentenceTransformer,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Distilled, DistillError> {
        let info = model.info();
        let Engine::Encoder { tokenizer, .. } = &model.shared().engine else {
            return Err(DistillError::Static { model: info.name.clone() });
        };
        let Some(word_piece) = tokenizer.word_piece() else {
            return Err(DistillError::Tokenizer { model: info.name.clone() });
        };
        if !(1..=info.dimension).contains(&self.dimension) {
            return Err(DistillError::Dimension { asked: self.dimension, model: info.dimension });
        }
        if let Some(threshold) = self.threshold.filter(|threshold| !(-1.0..=1.0).contains(threshold)) {
            return Err(DistillError::Threshold(threshold));
        }
        if !(self.frequency > 0.0 && self.frequency.is_finite()) {
            return Err(DistillError::Frequency(self.frequency));
        }
        let largest = word_piece.entries().map(|(_, id)| id).max().unwrap_or(0);
        // Refused here if the model has no such token, or the table would be as long as whatever the file says.
        model.embed_tokens(&[&[largest]])?;
        let tokens = 1 + largest as usize;
        let mut ids: Vec<u32> = word_piece.entries().filter(|(entry, _)| is_spelled(entry)).map(|(_, id)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut vectors = Vec::with_capacity(ids.len());
        for batch in ids.chunks(BATCH) {
            let inputs: Vec<&[u32]> = batch.iter().map(std::slice::from_ref).collect();
            vectors.extend(model.embed_tokens(&inputs)?);
            progress(vectors.len(), ids.len());
        }
        let components = Components::of(&vectors, self.dimension);
        let weights = self.weights(ids.len());
        let mut rows = vec![0.0; tokens * self.dimension];
        let mut weight_of = vec![0.0; tokens];
        for ((&id, vector), weight) in ids.iter().zip(&vectors).zip(weights) {
            let start = id as usize * self.dimension;
            components.project(vector, &mut rows[start..start + self.dimension]);
            weight_of[id as usize] = weight;
        }
        Ok(Distilled {
            weights: self.tensors(&rows, &weight_of)?,
            tokenizer: model.shared().files.read(TOKENIZER)?.bytes.into_owned(),
            config: self.config(&info.name),
        })
    }

    /// The weights of so many entries, common ones first.
    #[expect(clippy::cast_possible_truncation, reason = "a weight, and between 0 and 1")]
    fn weights(&self, count: usize) -> Vec<f32> {
        // The most common word counts as the second of Zipf's ranks, as in model2vec.
        let shares = (2..count + 2).map(|rank| 1.0 / rank as f64);
        let all: f64 = shares.clone().sum();
        shares.map(|share| (self.frequency / (self.frequency + share / all)) as f32).collect()
    }

    /// A safetensors file. Only of 8-bit numbers the weights stand apart; all readers understand rows that hold them.
    fn tensors(&self, rows: &[f32], weights: &[f32]) -> Result<Vec<u8>, SafeTensorError> {
        let (tokens, dimension) = (weights.len(), self.dimension);
        let weighted =
            rows.chunks_exact(dimension).zip(weights).flat_map(|(row, weight)| row.iter().map(move |x| x * weight));
        let (dtype, bytes): (Dtype, Vec<u8>) = match self.numbers {
            Numbers::F32 => (Dtype::F32, weighted.flat_map(f32::to_le_bytes).collect()),
            Numbers::F16 => (Dtype::F16, weighted.flat_map(|x| f16::from_f32(x).to_le_bytes()).collect()),
            Numbers::I8 => return rounded(rows, weights, dimension),
        };
        safetensors::serialize([(EMBEDDINGS, TensorView::new(dtype, vec![tokens, dimension], &bytes)?)], None)
    }

    /// `config.json`, with the keys that model2vec writes.
    fn config(&self, model: &str) -> Vec<u8> {
        let dtype = match self.numbers {
            Numbers::I8 => "int8",
            Numbers::F16 => "float16",
            Numbers::F32 => "float32",
        };
        let mut config = json!({
            "model_type": MODEL_TYPE,
            "architectures": ["StaticModel"],
            "tokenizer_name": model,
            "apply_pca": self.dimension,
            "sif_coefficient": self.frequency,
            "hidden_dim": self.dimension,
            "seq_length": 1_000_000,
            "normalize": true,
            "embedding_dtype": dtype,
        });
        if let Some(threshold) = self.threshold {
            // By way of its decimals: 0.4 and not 0.4000000059604645.
            config["threshold"] = json!(threshold.to_string().parse::<f64>().unwrap_or(f64::from(threshold)));
        }
        format!("{config:#}\n").into_bytes()
    }
}

/// Whether a text can have this entry for a token: special ones such as `[CLS]` and `[unused7]` it cannot, since a
/// bracket is a token by itself.
fn is_spelled(entry: &str) -> bool {
    entry.len() <= 2 || !(entry.starts_with('[') && entry.ends_with(']'))
}

/// 8-bit rows, each with the factor that makes its largest number 127, and its weight times what that has to be
/// multiplied by.
#[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
fn rounded(rows: &[f32], weights: &[f32], dimension: usize) -> Result<Vec<u8>, SafeTensorError> {
    let mut numbers: Vec<i8> = Vec::with_capacity(rows.len());
    let mut factors = Vec::with_capacity(size_of_val(weights));
    for (row, weight) in rows.chunks_exact(dimension).zip(weights) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let up = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        numbers.extend(row.iter().map(|x| (x * up).round_ties_even() as i8));
        factors.extend((weight * largest / 127.0).to_le_bytes());
    }
    let tensors = [
        (EMBEDDINGS, TensorView::new(Dtype::I8, vec![weights.len(), dimension], bytemuck::cast_slice(&numbers))?),
        (table::WEIGHTS, TensorView::new(Dtype::F32, vec![weights.len()], &factors)?),
    ];
    safetensors::serialize(tensors, None)
}

/// The files of a static model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distilled {
    weights: Vec<u8>,
    tokenizer: Vec<u8>,
    config: Vec<u8>,
}

impl Distilled {
    /// Every file with its name.
    #[must_use]
    pub fn files(&self) -> [(&'static str, &[u8]); 3] {
        [(CONFIG, &self.config), (TOKENIZER, &self.tokenizer), (WEIGHTS, &self.weights)]
    }

    /// Writes the files into a folder, which is made if it is not there. A file appears under its name only when it is
    /// whole.
    ///
    /// # Errors
    ///
    /// What the system says, with the path.
    pub fn write(&self, folder: impl AsRef<Path>) -> io::Result<()> {
        let folder = folder.as_ref();
        let failed = |path: PathBuf| {
            move |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        fs::create_dir_all(folder).map_err(failed(folder.to_owned()))?;
        for (name, bytes) in self.files() {
            let path = folder.join(name);
            let write = || {
                let mut file = NamedTempFile::new_in(folder)?;
                file.write_all(bytes)?;
                readable_by_all(&file)?;
                file.persist(&path).map(drop).map_err(|error| error.error)
            };
            write().map_err(failed(path.clone()))?;
        }
        Ok(())
    }
}

/// Temporary files are for their owner only; what one becomes is an ordinary file.
#[cfg(unix)]
fn readable_by_all(file: &NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &NamedTempFile) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
