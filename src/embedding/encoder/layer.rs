//! The weights of one layer, packed for the products.

use safetensors::SafeTensors;

use super::EncoderError;
use super::kernel::Linear;
use super::norm::Norm;
use super::quantized::QuantizedLinear;
use super::weights::{linear, numbers};
use crate::embedding::config::{Affine, LayerNames, ModelConfig};
use crate::embedding::precision::Precision;

/// The weights of one layer.
#[derive(Debug)]
pub(super) struct Layer {
    /// Three layers side by side.
    pub query_key_value: Dense,
    pub attention_output: Dense,
    pub attention_norm: Norm,
    pub up: Dense,
    pub down: Dense,
    pub feed_norm: Norm,
}

/// A linear layer in the numbers that the model computes in.
#[derive(Debug)]
pub(super) enum Dense {
    Full(Linear),
    Quantized(QuantizedLinear),
}

impl Dense {
    /// Outputs, those that fill the last panel counted.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::Full(linear) => linear.columns(),
            Self::Quantized(linear) => linear.columns(),
        }
    }
}

/// What packing needs to know.
#[derive(Clone, Copy)]
pub(super) struct Packing<'a> {
    pub file: &'a SafeTensors<'a>,
    pub config: &'a ModelConfig,
    pub precision: Precision,
    pub panel_width: usize,
    pub padding: usize,
}

impl Packing<'_> {
    pub(super) fn layer(self, names: &LayerNames) -> Result<Layer, EncoderError> {
        let &ModelConfig { hidden, intermediate, .. } = self.config;
        Ok(Layer {
            query_key_value: self.query_key_value(names)?,
            attention_output: self.linear(&names.attention_output, hidden, hidden)?,
            attention_norm: self.norm(&names.attention_norm)?,
            up: self.linear(&names.feed_up, intermediate, hidden)?,
            down: self.linear(&names.feed_down, hidden, intermediate)?,
            feed_norm: self.norm(&names.feed_norm)?,
        })
    }

    pub(super) fn norm(self, names: &Affine) -> Result<Norm, EncoderError> {
        let shape = [self.config.hidden];
        let gamma = numbers(self.file, &names.weight, &shape)?;
        let beta = numbers(self.file, &names.bias, &shape)?;
        Ok(Norm::new(&gamma, &beta, self.config.layer_norm_eps, self.config.hidden.next_multiple_of(self.padding)))
    }

    fn linear(self, names: &Affine, rows: usize, columns: usize) -> Result<Dense, EncoderError> {
        let (weight, bias) = linear(self.file, names, rows, columns)?;
        Ok(self.dense(&weight, &bias, columns))
    }

    fn dense(self, weight: &[f32], bias: &[f32], depth: usize) -> Dense {
        match self.precision {
            Precision::F32 | Precision::Checked => Dense::Full(Linear::pack(weight, bias, depth, self.panel_width)),
            Precision::Int8 => Dense::Quantized(QuantizedLinear::pack(weight, bias, depth, self.padding)),
        }
    }

    /// Queries are scaled by one over the square root of the head's width here, so that scores need not be.
    #[expect(clippy::cast_precision_loss, reason = "no head is 2^24 numbers wide")]
    fn query_key_value(self, names: &LayerNames) -> Result<Dense, EncoderError> {
        let hidden = self.config.hidden;
        let (mut weights, mut biases) = linear(self.file, &names.query, hidden, hidden)?;
        let scale = 1.0 / (self.config.head_width() as f32).sqrt();
        weights.iter_mut().chain(&mut biases).for_each(|number| *number *= scale);
        for names in [&names.key, &names.value] {
            let (weight, bias) = linear(self.file, names, hidden, hidden)?;
            weights.extend(weight);
            biases.extend(bias);
        }
        Ok(self.dense(&weights, &biases, hidden))
    }
}
