//! The BERT-like encoder on the CPU: token ids in, hidden states or unit vectors out.
//!
//! The architecture is that of Devlin et al., "BERT" (2018). What makes this fast is what it leaves out: no padding,
//! no masks, no copies between the products. The tokens of all inputs are the rows of one matrix, and but for attention
//! a row never meets another. So the rows of a *round* of inputs are cut into blocks of equal size, one or a few for
//! each thread of the current rayon pool, and a thread takes a block through a whole *stage*: from the queries, keys
//! and values of one layer to those of the next. Between two stages the threads wait for each other once, because
//! attention reads keys and values of rows in other blocks. One short text is thus shared by all threads as evenly as
//! a thousand are.
//!
//! Every row goes through the same operations in the same order wherever the cuts fall, so that vectors are the same,
//! bit for bit, for any batch and any number of threads of one machine.
//!
//! To read on: `kernel` is the matrix product, `attention`, `activation` and `norm` are what lies between products,
//! `round` puts them together, `layer` and `weights` load.
//!
//! This module neither tokenizes nor truncates, and knows nothing of files but the tensors in them.

mod activation;
mod attention;
mod kernel;
mod layer;
mod norm;
mod pooling;
mod quantized;
mod round;
mod weights;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pulp::Arch;
use rayon::prelude::*;
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use self::kernel::{Matrix, PanelWidth};
use self::layer::{Layer, Packing};
use self::norm::Norm;
pub(crate) use self::pooling::Pooling;
pub(crate) use self::quantized::{STRAY, is_faster as int8_is_faster};
use self::round::{Round, Workspace};
use self::weights::WordTable;
pub(super) use self::weights::linear;
use super::config::ModelConfig;
use super::precision::Precision;

/// Why a model could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// A weight is absent from the file, or the file is damaged.
    #[error("the weights have no usable tensor {name:?}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What went wrong.
        #[source]
        source: SafeTensorError,
    },
    /// A weight does not fit the model's configuration.
    #[error("the tensor {name:?} has shape {found:?} where config.json asks for {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that follows from the configuration.
        expected: Vec<usize>,
    },
    /// A weight has a number format this crate does not read.
    #[error("the tensor {name:?} holds {found} numbers; supported are F32, F16 and BF16")]
    Dtype {
        /// The tensor.
        name: String,
        /// Its format.
        found: Dtype,
    },
    /// A token id has no embedding: tokenizer and model do not belong together.
    #[error("input {input} has token id {id}, but the model knows {vocab} only; use the model's own tokenizer")]
    UnknownToken {
        /// Index of the input.
        input: usize,
        /// The id.
        id: u32,
        /// Size of the vocabulary.
        vocab: usize,
    },
    /// An input has no token, or more than there are position embeddings.
    #[error("input {input} has {length} token ids; the model takes 1 to {max}")]
    Length {
        /// Index of the input.
        input: usize,
        /// Its length.
        length: usize,
        /// The longest input.
        max: usize,
    },
}

/// A model, packed for the SIMD width of this machine.
///
/// It borrows the word embeddings from the file it was made from; [`into_owned`](Self::into_owned) copies them.
pub(crate) struct Encoder<'data> {
    arch: Arch,
    panel_width: usize,
    /// Rows of numbers are as long as a multiple of this, so that panels of the products fit.
    padding: usize,
    config: ModelConfig,
    words: WordTable<'data>,
    /// One row a position: its embedding plus that of token type 0.
    positions: Vec<f32>,
    /// What turns token type 0 in a row into type 1; empty where the model has one type or none.
    second_type: Vec<f32>,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    /// Buffers of earlier calls, one for each that may run at the same time.
    workspaces: Mutex<Vec<Workspace>>,
}

impl<'data> Encoder<'data> {
    /// Reads and packs the weights of the model that `config` describes.
    pub(crate) fn new(
        precision: Precision,
        config: &ModelConfig,
        file: &SafeTensors<'data>,
    ) -> Result<Self, EncoderError> {
        Self::for_arch(Arch::new(), precision, config, file)
    }

    fn for_arch(
        arch: Arch,
        precision: Precision,
        config: &ModelConfig,
        file: &SafeTensors<'data>,
    ) -> Result<Self, EncoderError> {
        let names = config.names(|name| file.tensor(name).is_ok());
        let panel_width = arch.dispatch(PanelWidth);
        let padding = match precision {
            Precision::F32 | Precision::Checked => panel_width,
            Precision::Int8 => panel_width.max(quantized::WIDTH),
        };
        let packing = Packing { file, config, precision, panel_width, padding };
        let hidden = config.hidden;
        let mut positions = weights::numbers(file, &names.positions, &[config.positions, hidden])?;
        let mut second_type = Vec::new();
        if let Some(name) = &names.token_types {
            let types = weights::numbers(file, name, &[config.token_types, hidden])?;
            for (position, kind) in positions.iter_mut().zip(types.iter().take(hidden).cycle()) {
                *position += kind;
            }
            let second = types.iter().skip(hidden).take(hidden);
            second_type.extend(second.zip(&types).map(|(second, first)| second - first));
        }
        Ok(Self {
            arch,
            panel_width,
            padding,
            words: WordTable::new(file, &names.words, config.vocab, hidden)?,
            positions: positions.split_off(config.position_offset * hidden),
            second_type,
            embedding_norm: packing.norm(&names.embedding_norm)?,
            layers: names.layers.par_iter().map(|names| packing.layer(names)).collect::<Result<_, _>>()?,
            workspaces: Mutex::default(),
            config: config.clone(),
        })
    }

    /// The same encoder with its own copy of what it borrowed.
    pub(crate) fn into_owned(self) -> Encoder<'static> {
        Encoder { words: self.words.into_owned(), ..self }
    }

    /// The unit vector of every input. An input is a list of token ids, special tokens included.
    pub(crate) fn embed(&self, inputs: &[&[u32]], pooling: Pooling) -> Result<Vec<Vec<f32>>, EncoderError> {
        let mut vectors = Vec::with_capacity(inputs.len());
        self.run(inputs, &[], |states| {
            let mut vector = pooling.pool(states, self.config.hidden);
            pooling::normalise(&mut vector);
            vectors.push(vector);
        })?;
        Ok(vectors)
    }

    /// The hidden states behind the last layer of each input: one row a token. `seconds` says where the second text
    /// of each begins, from which on tokens are of type 1; it is empty where no input has one.
    pub(crate) fn states(&self, inputs: &[&[u32]], seconds: &[usize]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let mut all = Vec::with_capacity(inputs.len());
        self.run(inputs, seconds, |states| {
            let rows = states.data.chunks_exact(states.stride);
            all.push(rows.flat_map(|row| &row[..self.config.hidden]).copied().collect());
        })?;
        Ok(all)
    }

    /// The hidden states behind the last layer: one row a token, input after input.
    #[cfg(test)]
    pub(crate) fn forward(&self, inputs: &[&[u32]]) -> Result<Vec<f32>, EncoderError> {
        let mut rows = Vec::with_capacity(inputs.iter().map(|ids| ids.len()).sum::<usize>() * self.config.hidden);
        self.run(inputs, &[], |states| {
            for row in states.data.chunks_exact(states.stride) {
                rows.extend_from_slice(&row[..self.config.hidden]);
            }
        })?;
        Ok(rows)
    }

    /// Hands the final hidden states of each input, in order, to `receive`.
    fn run(
        &self,
        inputs: &[&[u32]],
        seconds: &[usize],
        mut receive: impl FnMut(Matrix<'_>) + Send,
    ) -> Result<(), EncoderError> {
        self.check(inputs)?;
        let mut work = self.idle().pop().unwrap_or_default();
        // Inside the pool a wait between two stages costs no change of threads.
        rayon::scope(|_| {
            let (mut rest, mut seconds) = (inputs, seconds);
            while let Some(round) = Round::next(&mut rest, &mut seconds, rayon::current_num_threads()) {
                round.compute(self, &mut work).for_each(&mut receive);
            }
        });
        self.idle().push(work);
        Ok(())
    }

    fn check(&self, inputs: &[&[u32]]) -> Result<(), EncoderError> {
        let (vocab, max) = (self.config.vocab, self.config.max_length());
        for (input, ids) in inputs.iter().enumerate() {
            if ids.is_empty() || ids.len() > max {
                return Err(EncoderError::Length { input, length: ids.len(), max });
            }
            if let Some(&id) = ids.iter().find(|&&id| id as usize >= vocab) {
                return Err(EncoderError::UnknownToken { input, id, vocab });
            }
        }
        Ok(())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Workspace>> {
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `width` numbers with what fills the last panel.
    fn padded(&self, width: usize) -> usize {
        width.next_multiple_of(self.padding)
    }
}

impl fmt::Debug for Encoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("config", &self.config).finish_non_exhaustive()
    }
}
