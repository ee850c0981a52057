//! The files of a static model, as model2vec writes them.

use std::borrow::Cow;

use half::f16;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::super::ModelError;
use super::super::folder::{CONFIG, Files, ModelFile};
use super::{Place, Rows, Table, Tokenizer};
use crate::tokens::{TokenizerFile, WordPiece};

/// What `model_type` of `config.json` says.
pub(in super::super) const MODEL_TYPE: &str = "model2vec";

/// Names of the tensors: the rows, one factor a token, the row of each token.
pub(in super::super) const EMBEDDINGS: &str = "embeddings";
pub(in super::super) const WEIGHTS: &str = "weights";
const MAPPING: &str = "mapping";

/// What `config.json` says of a static model. Whether vectors are to be normalised does not count: ours always are.
#[derive(Debug, Deserialize)]
pub(in super::super) struct Config {
    /// The threshold that was found for the model, where somebody wrote it down.
    pub(in super::super) threshold: Option<f32>,
}

#[derive(Deserialize)]
struct Kind {
    model_type: String,
}

impl Config {
    /// The configuration, if it is that of a static model.
    pub(in super::super) fn read(files: &Files) -> Result<Option<Self>, ModelError> {
        let file = files.read(CONFIG)?;
        // What is wrong with another file is for the reader of encoders to say.
        if !file.json().is_ok_and(|kind: Kind| kind.model_type == MODEL_TYPE) {
            return Ok(None);
        }
        let config: Self = file.json()?;
        match config.threshold.filter(|threshold| !(-1.0..=1.0).contains(threshold)) {
            Some(threshold) => Err(file.unsupported(format!("threshold = {threshold}"), "from -1 to 1")),
            None => Ok(Some(config)),
        }
    }
}

impl Table {
    /// The model of these files.
    ///
    /// # Errors
    ///
    /// [`ModelError`] with the path of the file that is broken or does not fit the other.
    pub(in super::super) fn read(tokenizer: &ModelFile, weights: &ModelFile) -> Result<Self, ModelError> {
        match weights.bytes {
            Cow::Borrowed(bytes) => {
                let tensors = weights.tensors(bytes)?;
                let read = |tensor: &TensorView<'static>| Rows::borrowed(tensor);
                Self::new(tokenizer, weights, &tensors, read)
            }
            Cow::Owned(ref bytes) => {
                Self::new(tokenizer, weights, &weights.tensors(bytes)?, |tensor| Rows::owned(tensor))
            }
        }
    }

    fn new<'a>(
        tokenizer: &ModelFile,
        weights: &ModelFile,
        tensors: &SafeTensors<'a>,
        rows: impl Fn(&TensorView<'a>) -> Option<Rows>,
    ) -> Result<Self, ModelError> {
        let embeddings = tensors.tensor(EMBEDDINGS).map_err(|error| weights.unfit(error))?;
        let [count, dimension] = *embeddings.shape() else {
            return Err(weights.unsupported(format!("{EMBEDDINGS} of {} axes", embeddings.shape().len()), "a matrix"));
        };
        if count == 0 || dimension == 0 {
            return Err(weights.unsupported(format!("{EMBEDDINGS} of {count} x {dimension}"), "at least one number"));
        }
        let rows = rows(&embeddings).ok_or_else(|| unknown_numbers(weights, EMBEDDINGS, &embeddings))?;
        if matches!(&rows, Rows::F32(numbers) if !numbers.iter().all(|x| x.is_finite())) {
            return Err(weights.unsupported("a number that is not finite", "finite"));
        }
        let places = places(weights, tensors, count)?;
        let file = tokenizer;
        let tokenizer = Tokenizer::read(file)?;
        if tokenizer.size() > places.len() {
            let found = format!("{} tokens, and the table has {}", tokenizer.size(), places.len());
            return Err(file.unsupported(found, "as many as the table has"));
        }
        Ok(Self { tokenizer, places, rows, dimension })
    }
}

/// The row and the weight of every token.
fn places(file: &ModelFile, tensors: &SafeTensors<'_>, rows: usize) -> Result<Vec<Place>, ModelError> {
    let mapping = match tensors.tensor(MAPPING) {
        Ok(tensor) => Some(whole(&tensor).ok_or_else(|| unknown_numbers(file, MAPPING, &tensor))?),
        Err(_) => None,
    };
    let weights = match tensors.tensor(WEIGHTS) {
        Ok(tensor) => Some(floats(&tensor).ok_or_else(|| unknown_numbers(file, WEIGHTS, &tensor))?),
        Err(_) => None,
    };
    let tokens = mapping.as_ref().map_or(rows, Vec::len);
    if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != tokens) {
        return Err(file.unsupported(format!("{} {WEIGHTS} for {tokens} tokens", weights.len()), "one a token"));
    }
    let place = |token: usize| {
        let row = mapping.as_ref().map_or(Some(token), |mapping| usize::try_from(mapping[token]).ok());
        let row = row.filter(|&row| row < rows).and_then(|row| u32::try_from(row).ok());
        let weight = weights.as_ref().map_or(1.0, |weights| weights[token]);
        match row {
            Some(row) if weight.is_finite() => Ok(Place { row, weight }),
            Some(_) => Err(file.unsupported(format!("the weight {weight} of token {token}"), "finite")),
            None => Err(file.unsupported(format!("a row for token {token} that is not there"), "one of the rows")),
        }
    };
    (0..tokens).map(place).collect()
}

fn unknown_numbers(file: &ModelFile, name: &str, tensor: &TensorView<'_>) -> ModelError {
    let supported = "f64, f32, f16 or i8; a mapping i32 or i64";
    file.unsupported(format!("{name} in {}", tensor.dtype()), supported)
}

impl Rows {
    /// The rows of a file that lives as long as the program: 8-bit ones stay where they are.
    fn borrowed(tensor: &TensorView<'static>) -> Option<Self> {
        match tensor.dtype() {
            Dtype::I8 => Some(Self::I8(Cow::Borrowed(bytemuck::cast_slice(tensor.data())))),
            _ => Self::owned(tensor),
        }
    }

    fn owned(tensor: &TensorView<'_>) -> Option<Self> {
        match tensor.dtype() {
            Dtype::I8 => Some(Self::I8(Cow::Owned(bytemuck::cast_slice(tensor.data()).to_vec()))),
            _ => floats(tensor).map(Self::F32),
        }
    }
}

/// The numbers of a tensor as f32.
#[expect(clippy::cast_possible_truncation, reason = "f64 is only a longer way to write f32 here")]
fn floats(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = tensor.data();
    Some(match tensor.dtype() {
        Dtype::F64 => bytes.as_chunks().0.iter().map(|&number| f64::from_le_bytes(number) as f32).collect(),
        Dtype::F32 => bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect(),
        Dtype::F16 => bytes.as_chunks().0.iter().map(|&number| f16::from_le_bytes(number).to_f32()).collect(),
        _ => return None,
    })
}

/// The numbers of a tensor of whole ones.
fn whole(tensor: &TensorView<'_>) -> Option<Vec<i64>> {
    let bytes = tensor.data();
    Some(match tensor.dtype() {
        Dtype::I64 => bytes.as_chunks().0.iter().map(|&number| i64::from_le_bytes(number)).collect(),
        Dtype::I32 => bytes.as_chunks().0.iter().map(|&number| i32::from_le_bytes(number).into()).collect(),
        _ => return None,
    })
}

impl Tokenizer {
    /// BERT's own tokenizer where the file is one, for its speed; otherwise any that the crate `tokenizers` knows.
    fn read(file: &ModelFile) -> Result<Self, ModelError> {
        if let Ok(tokenizer) = WordPiece::from_bytes(&file.path, &file.bytes) {
            return Ok(Self::WordPiece(Box::new(tokenizer)));
        }
        let tokenizer = TokenizerFile::from_bytes(&file.path.to_string_lossy(), &file.bytes)?;
        let File { model: Model { unk_token } } = file.json()?;
        let unknown = unk_token.and_then(|token| tokenizer.token_id(&token));
        Ok(Self::Other { file: Box::new(tokenizer), unknown })
    }

    /// Tokens it may give, by their largest id.
    fn size(&self) -> usize {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.entries().map(|(_, id)| id as usize + 1).max().unwrap_or(0),
            Self::Other { file, .. } => file.size(),
        }
    }
}

/// The part of `tokenizer.json` that names the unknown token, where there is one by name.
#[derive(Deserialize)]
struct File {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    unk_token: Option<String>,
}
