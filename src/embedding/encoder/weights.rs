//! From the tensors of a safetensors file to numbers.
//!
//! Files hold f32, f16 or bf16; all is computed in f32. The word embeddings, half of a small model, stay as they lie in
//! the file and are converted row by row when looked up.

use std::borrow::Cow;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::EncoderError;
use crate::embedding::config::Affine;

/// The bytes of `name`, which must be of this shape and of a type this module converts.
fn tensor<'data>(
    file: &SafeTensors<'data>,
    name: &str,
    shape: &[usize],
) -> Result<(&'data [u8], Format), EncoderError> {
    let tensor = file.tensor(name).map_err(|source| EncoderError::Tensor { name: name.into(), source })?;
    if tensor.shape() != shape {
        let (found, expected) = (tensor.shape().to_vec(), shape.to_vec());
        return Err(EncoderError::Shape { name: name.into(), found, expected });
    }
    let format = match tensor.dtype() {
        Dtype::F32 => Format::F32,
        Dtype::F16 => Format::F16,
        Dtype::BF16 => Format::Bf16,
        found => return Err(EncoderError::Dtype { name: name.into(), found }),
    };
    Ok((tensor.data(), format))
}

/// All numbers of a tensor.
pub(super) fn numbers(file: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
    let (bytes, format) = tensor(file, name, shape)?;
    let mut numbers = vec![0.0; shape.iter().product()];
    format.read(bytes, &mut numbers);
    Ok(numbers)
}

/// The weight and the bias of a linear layer from `columns` to `rows` numbers.
pub(in crate::embedding) fn linear(
    file: &SafeTensors<'_>,
    names: &Affine,
    rows: usize,
    columns: usize,
) -> Result<(Vec<f32>, Vec<f32>), EncoderError> {
    Ok((numbers(file, &names.weight, &[rows, columns])?, numbers(file, &names.bias, &[rows])?))
}

/// One vector a word, in the format of the file.
#[derive(Debug)]
pub(super) struct WordTable<'data> {
    bytes: Cow<'data, [u8]>,
    format: Format,
    row_bytes: usize,
}

impl<'data> WordTable<'data> {
    /// The table `name`, borrowed from the file.
    pub(super) fn new(
        file: &SafeTensors<'data>,
        name: &str,
        vocab: usize,
        hidden: usize,
    ) -> Result<Self, EncoderError> {
        let (bytes, format) = tensor(file, name, &[vocab, hidden])?;
        Ok(Self { bytes: Cow::Borrowed(bytes), format, row_bytes: hidden * format.size() })
    }

    /// The same table with its own copy of the bytes, unless it has one already.
    pub(super) fn into_owned(self) -> WordTable<'static> {
        WordTable { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    /// Writes the vector of word `id`, which must be below the size of the vocabulary, to the front of `row`.
    pub(super) fn read(&self, id: u32, row: &mut [f32]) {
        self.format.read(&self.bytes[id as usize * self.row_bytes..][..self.row_bytes], row);
    }
}

/// How a file writes a number; all are little-endian.
#[derive(Clone, Copy, Debug)]
enum Format {
    F32,
    F16,
    Bf16,
}

impl Format {
    const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn read(self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::F32 => convert(bytes, numbers, f32::from_le_bytes),
            Self::F16 => convert_f16(bytes, numbers),
            Self::Bf16 => convert(bytes, numbers, |bytes| bf16::from_le_bytes(bytes).to_f32()),
        }
    }
}

/// Some at a time: the crate looks at the processor's features at every call.
fn convert_f16(bytes: &[u8], numbers: &mut [f32]) {
    const TOGETHER: usize = 64;
    let mut halves = [f16::ZERO; TOGETHER];
    for (numbers, bytes) in numbers.chunks_mut(TOGETHER).zip(bytes.chunks(2 * TOGETHER)) {
        let count = numbers.len().min(bytes.len() / 2);
        for (half, &bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
            *half = f16::from_le_bytes(bytes);
        }
        halves[..count].convert_to_f32_slice(&mut numbers[..count]);
    }
}

fn convert<const N: usize>(bytes: &[u8], numbers: &mut [f32], from_bytes: impl Fn([u8; N]) -> f32) {
    for (number, &bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = from_bytes(bytes);
    }
}
