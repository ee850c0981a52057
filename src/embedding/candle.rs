//! The same encoders by candle, for graphics processors.
//!
//! Plain tensor operations, one padded batch a call: padding is masked out of the attention and of the mean. All of it
//! runs in f32, so vectors agree with those of the processor's own encoder to about 1e-6, but not to the last bit, and
//! that bit may change with the company a text is embedded in.
//!
//! The model is that of Devlin et al., *BERT* (2018), <https://arxiv.org/abs/1810.04805>.

use candle_core::safetensors::Load;
use candle_core::{DType, Device, Error, Result, Tensor};
use candle_nn::ops::{layer_norm, softmax_last_dim};
use safetensors::SafeTensors;

use super::EmbeddingError;
use super::config::{Activation, Affine, LayerNames, ModelConfig};
use super::device::Encode;
use super::encoder::{EncoderError, Pooling};

/// A model whose weights lie on one of candle's devices.
#[derive(Debug)]
pub(super) struct CandleEncoder {
    config: ModelConfig,
    pooling: Pooling,
    device: Device,
    words: Tensor,
    positions: Tensor,
    /// What the type of every token adds, where the model has types.
    token_type: Option<Tensor>,
    embedding_norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    feed_up: Linear,
    feed_down: Linear,
    feed_norm: Norm,
}

/// `x * weight + bias`, the weight as `[in, out]`.
#[derive(Debug)]
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

#[derive(Debug)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
    eps: f32,
}

/// Reads tensors of a known shape onto the device.
struct Reader<'a> {
    weights: &'a SafeTensors<'a>,
    device: &'a Device,
    eps: f32,
}

impl CandleEncoder {
    /// Brings the weights to `device`, in f32.
    pub(super) fn new(
        config: &ModelConfig,
        weights: &SafeTensors<'_>,
        pooling: Pooling,
        device: Device,
    ) -> Result<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "candle takes it in f32")]
        let reader = Reader { weights, device: &device, eps: config.layer_norm_eps as f32 };
        let names = config.names(|name| weights.tensor(name).is_ok());
        let hidden = config.hidden;
        let token_type =
            names.token_types.map(|name| reader.tensor(&name, &[config.token_types, hidden])?.narrow(0, 0, 1));
        Ok(Self {
            words: reader.tensor(&names.words, &[config.vocab, hidden])?,
            positions: reader.tensor(&names.positions, &[config.positions, hidden])?,
            token_type: token_type.transpose()?,
            embedding_norm: reader.norm(&names.embedding_norm, hidden)?,
            layers: names.layers.iter().map(|layer| reader.layer(layer, config)).collect::<Result<_>>()?,
            config: config.clone(),
            pooling,
            device,
        })
    }

    /// Unit vectors `[inputs, hidden]` of a batch.
    fn forward(&self, inputs: &[&[u32]]) -> Result<Tensor> {
        let rows = inputs.len();
        let longest = inputs.iter().map(|input| input.len()).max().unwrap_or(0);
        let ids = Tensor::from_vec(padded(inputs, longest, 0, |id| id), rows * longest, &self.device)?;
        let hidden = self.embed(&ids, rows, longest)?;
        let mask = padded(inputs, longest, f32::MIN, |_| 0.0);
        let mask = Tensor::from_vec(mask, (rows, 1, 1, longest), &self.device)?;
        let hidden = self.layers.iter().try_fold(hidden, |hidden, layer| self.layer(layer, &hidden, &mask))?;
        let hidden = hidden.reshape((rows, longest, self.config.hidden))?;
        let pooled = match self.pooling {
            Pooling::Cls => hidden.narrow(1, 0, 1)?.squeeze(1)?,
            // The mean and the sum point the same way, and only the direction is kept.
            Pooling::Mean => {
                let counts = padded(inputs, longest, 0.0_f32, |_| 1.0);
                hidden.broadcast_mul(&Tensor::from_vec(counts, (rows, longest, 1), &self.device)?)?.sum(1)?
            }
        };
        pooled.broadcast_div(&pooled.sqr()?.sum_keepdim(1)?.sqrt()?.maximum(f32::MIN_POSITIVE)?)
    }

    /// The sum of the embeddings of `ids`, normalised: `[rows * length, hidden]`.
    fn embed(&self, ids: &Tensor, rows: usize, length: usize) -> Result<Tensor> {
        let words = self.words.index_select(ids, 0)?.reshape((rows, length, self.config.hidden))?;
        let mut sum = words.broadcast_add(&self.positions.narrow(0, self.config.position_offset, length)?)?;
        if let Some(token_type) = &self.token_type {
            sum = sum.broadcast_add(token_type)?;
        }
        self.embedding_norm.apply(&sum.reshape((rows * length, self.config.hidden))?)
    }

    fn layer(&self, layer: &Layer, input: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let attended = layer.attention_output.apply(&self.attention(layer, input, mask)?)?;
        let attended = layer.attention_norm.apply(&(attended + input)?)?;
        let raised = layer.feed_up.apply(&attended)?;
        let raised = match self.config.activation {
            Activation::Gelu => raised.gelu_erf()?,
            Activation::GeluTanh => raised.gelu()?,
            Activation::Relu => raised.relu()?,
        };
        layer.feed_norm.apply(&(layer.feed_down.apply(&raised)? + attended)?)
    }

    /// Attention of every head over the tokens that `mask` leaves: `[rows * length, hidden]`.
    fn attention(&self, layer: &Layer, input: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (rows, _, _, length) = mask.dims4()?;
        let (heads, width) = (self.config.heads, self.config.head_width());
        let split =
            |linear: &Linear| linear.apply(input)?.reshape((rows, length, heads, width))?.transpose(1, 2)?.contiguous();
        #[expect(clippy::cast_precision_loss, reason = "the width of a head is a small number")]
        let scale = 1.0 / (width as f64).sqrt();
        let scores = (split(&layer.query)?.matmul(&split(&layer.key)?.t()?)? * scale)?;
        let shares = softmax_last_dim(&scores.broadcast_add(mask)?)?;
        shares.matmul(&split(&layer.value)?)?.transpose(1, 2)?.reshape((rows * length, heads * width))
    }
}

/// One value a token, input after input, each filled up with `pad` to the same length.
fn padded<T: Copy>(inputs: &[&[u32]], length: usize, pad: T, value: impl Fn(u32) -> T + Copy) -> Vec<T> {
    let row = |ids: &&[u32]| {
        let padding = std::iter::repeat_n(pad, length - ids.len());
        ids.iter().map(move |&id| value(id)).chain(padding).collect::<Vec<_>>()
    };
    inputs.iter().flat_map(row).collect()
}

impl Encode for CandleEncoder {
    fn encode(&self, inputs: &[&[u32]]) -> std::result::Result<Vec<Vec<f32>>, EmbeddingError> {
        if inputs.is_empty() {
            return Ok(Vec::new());
        }
        // On a graphics processor a lookup behind the end of a table need not fail.
        let vocab = self.config.vocab;
        for (input, ids) in inputs.iter().enumerate() {
            if let Some(&id) = ids.iter().find(|&&id| id as usize >= vocab) {
                return Err(EncoderError::UnknownToken { input, id, vocab }.into());
            }
        }
        let vectors = self.forward(inputs).and_then(|vectors| vectors.to_vec2());
        vectors.map_err(|source| EmbeddingError::Device { source: source.into() })
    }
}

impl Linear {
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        input.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        layer_norm(input, &self.weight, &self.bias, self.eps)
    }
}

impl Reader<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let view = self.weights.tensor(name).map_err(Error::wrap)?;
        if view.shape() != shape {
            return Err(Error::Msg(format!("the tensor {name} has the shape {:?}, not {shape:?}", view.shape())));
        }
        view.load(self.device)?.to_dtype(DType::F32)
    }

    fn linear(&self, names: &Affine, input: usize, output: usize) -> Result<Linear> {
        let weight = self.tensor(&names.weight, &[output, input])?.t()?.contiguous()?;
        Ok(Linear { weight, bias: self.tensor(&names.bias, &[output])? })
    }

    fn norm(&self, names: &Affine, width: usize) -> Result<Norm> {
        let weight = self.tensor(&names.weight, &[width])?;
        Ok(Norm { weight, bias: self.tensor(&names.bias, &[width])?, eps: self.eps })
    }

    fn layer(&self, names: &LayerNames, config: &ModelConfig) -> Result<Layer> {
        let (hidden, wide) = (config.hidden, config.intermediate);
        Ok(Layer {
            query: self.linear(&names.query, hidden, hidden)?,
            key: self.linear(&names.key, hidden, hidden)?,
            value: self.linear(&names.value, hidden, hidden)?,
            attention_output: self.linear(&names.attention_output, hidden, hidden)?,
            attention_norm: self.norm(&names.attention_norm, hidden)?,
            feed_up: self.linear(&names.feed_up, hidden, wide)?,
            feed_down: self.linear(&names.feed_down, wide, hidden)?,
            feed_norm: self.norm(&names.feed_norm, hidden)?,
        })
    }
}

#[cfg(test)]
mod tests;
