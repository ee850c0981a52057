//! The weights of one layer, packed for the products.

use safetensors::SafeTensors;

use super::EncoderError;
use super::kernel::Linear;
use super::norm::Norm;
use super::weights::{linear, numbers};
use crate::embedding::config::{Affine, LayerNames, ModelConfig};

/// The weights of one layer.
#[derive(Debug)]
pub(super) struct Layer {
    /// Three layers side by side.
    pub query_key_value: Linear,
    pub attention_output: Linear,
    pub attention_norm: Norm,
    pub up: Linear,
    pub down: Linear,
    pub feed_norm: Norm,
}

/// What packing needs to know.
#[derive(Clone, Copy)]
pub(super) struct Packing<'a> {
    pub file: &'a SafeTensors<'a>,
    pub config: &'a ModelConfig,
    pub panel_width: usize,
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
        Ok(Norm::new(&gamma, &beta, self.config.layer_norm_eps, self.config.hidden.next_multiple_of(self.panel_width)))
    }

    fn linear(self, names: &Affine, rows: usize, columns: usize) -> Result<Linear, EncoderError> {
        let (weight, bias) = linear(self.file, names, rows, columns)?;
        Ok(Linear::pack(&weight, &bias, columns, self.panel_width))
    }

    /// Queries are scaled by one over the square root of the head's width here, so that scores need not be.
    #[expect(clippy::cast_precision_loss, reason = "no head is 2^24 numbers wide")]
    fn query_key_value(self, names: &LayerNames) -> Result<Linear, EncoderError> {
        let hidden = self.config.hidden;
        let (mut weights, mut biases) = linear(self.file, &names.query, hidden, hidden)?;
        let scale = 1.0 / (self.config.head_width() as f32).sqrt();
        weights.iter_mut().chain(&mut biases).for_each(|number| *number *= scale);
        for names in [&names.key, &names.value] {
            let (weight, bias) = linear(self.file, names, hidden, hidden)?;
            weights.extend(weight);
            biases.extend(bias);
        }
        Ok(Linear::pack(&weights, &biases, hidden, self.panel_width))
    }
}
