//! Where a model computes, and the encoder for each place.
//!
//! The processor has an encoder of this crate; graphics processors have candle's, in builds with the feature `cuda`
//! or `metal`. Neither is visible outside: both take token ids and give unit vectors.

#[cfg(not(any(feature = "cuda", feature = "metal")))]
#[path = "device/absent.rs"]
mod accelerator;
#[cfg(any(feature = "cuda", feature = "metal"))]
#[path = "device/present.rs"]
mod accelerator;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::config::ModelConfig;
use super::encoder::{self, Encoder, Pooling};
use super::folder::ModelFile;
use super::{EmbeddingError, ModelError, Precision};

/// Where a model computes.
///
/// ```
/// use horchunk::Device;
///
/// assert_eq!("cuda:1".parse::<Device>()?, Device::Cuda(1));
/// assert_eq!(Device::Cuda(0).to_string(), "cuda:0");
/// # Ok::<(), horchunk::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// The best of those compiled in and present.
    #[default]
    Auto,
    /// The processor; always there.
    Cpu,
    /// The NVIDIA card with this number; feature `cuda`.
    Cuda(usize),
    /// Apple's graphics processor; feature `metal`.
    Metal,
}

impl FromStr for Device {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        let number = |number: &str| number.parse().map(Self::Cuda);
        match name.split_once(':') {
            None if name == "auto" => Ok(Self::Auto),
            None if name == "cpu" => Ok(Self::Cpu),
            None if name == "cuda" => Ok(Self::Cuda(0)),
            None if name == "metal" => Ok(Self::Metal),
            Some(("cuda", index)) => number(index).map_err(|_| ModelError::UnknownDevice { name: name.to_owned() }),
            _ => Err(ModelError::UnknownDevice { name: name.to_owned() }),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Metal => f.write_str("metal"),
        }
    }
}

impl Device {
    /// The devices of this build that are present, the best one first; the processor is the last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut devices = accelerator::present();
        devices.push(Self::Cpu);
        devices
    }

    /// The device itself, `Auto` replaced by the best one.
    pub(super) fn resolved(self) -> Self {
        if self == Self::Auto { Self::available().first().copied().unwrap_or(Self::Cpu) } else { self }
    }
}

/// A model on its device: token ids to unit vectors.
pub(super) trait Encode: fmt::Debug + Send + Sync {
    /// One unit vector an input, in order. Inputs carry their special tokens and are not empty.
    fn encode(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError>;
}

/// Brings a model to a device that is not `Auto`.
pub(super) fn encoder(
    device: Device,
    precision: Precision,
    config: &ModelConfig,
    weights: &ModelFile,
    pooling: Pooling,
) -> Result<Box<dyn Encode>, ModelError> {
    match device {
        Device::Auto | Device::Cpu => Ok(Box::new(Packed { encoder: packed(precision, config, weights)?, pooling })),
        Device::Cuda(_) | Device::Metal if precision != Precision::F32 => {
            Err(ModelError::Precision { precision, device })
        }
        Device::Cuda(_) | Device::Metal => accelerator::encoder(device, config, weights, pooling),
    }
}

/// Brings the faster version of a model to a device, where there is one.
pub(super) fn draft_encoder(
    device: Device,
    config: &ModelConfig,
    weights: &ModelFile,
    pooling: Pooling,
) -> Result<Option<Box<dyn Encode>>, ModelError> {
    let faster = matches!(device, Device::Auto | Device::Cpu) && encoder::int8_is_faster();
    faster.then(|| self::encoder(device, Precision::Int8, config, weights, pooling)).transpose()
}

/// How many tokens, about, are worth being embedded together on a device.
pub(super) fn tokens_at_once(device: Device) -> usize {
    match device {
        // Every thread its share of rows; what two threads want most windows have already.
        Device::Auto | Device::Cpu => 32 * rayon::current_num_threads(),
        // Enough to fill it, as far as texts are long enough for so many lanes.
        Device::Cuda(_) | Device::Metal => 16_384,
    }
}

/// The processor's encoder and what becomes of its hidden states.
#[derive(Debug)]
struct Packed {
    encoder: Encoder<'static>,
    pooling: Pooling,
}

impl Encode for Packed {
    fn encode(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        Ok(self.encoder.embed(inputs, self.pooling)?)
    }
}

/// Packs the weights; those inside this crate can be borrowed for ever.
fn packed(precision: Precision, config: &ModelConfig, weights: &ModelFile) -> Result<Encoder<'static>, ModelError> {
    let encoder = match weights.bytes {
        Cow::Borrowed(bytes) => Encoder::new(precision, config, &weights.tensors(bytes)?),
        Cow::Owned(ref bytes) => Encoder::new(precision, config, &weights.tensors(bytes)?).map(Encoder::into_owned),
    };
    encoder.map_err(|error| weights.unfit(error))
}

/// What `--device cuda` or `metal` says in a build without it.
fn not_compiled(device: Device) -> ModelError {
    let feature = if device == Device::Metal { "metal" } else { "cuda" };
    let available = Device::available().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    ModelError::NotCompiled { wanted: format!("the device {device}"), feature, available }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for device in [Device::Auto, Device::Cpu, Device::Cuda(0), Device::Cuda(7), Device::Metal] {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
        }
        assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(0));
    }

    #[test]
    fn an_unknown_device_is_an_error_that_names_the_known_ones() {
        for name in ["", "gpu", "cuda:", "cuda:-1", "cpu:0", "CUDA", "auto "] {
            let message = name.parse::<Device>().unwrap_err().to_string();
            assert!(message.contains("cpu") && message.contains("metal"), "{message}");
        }
    }

    #[test]
    fn the_processor_is_always_available_and_last() {
        assert_eq!(Device::available().last(), Some(&Device::Cpu));
    }

    #[test]
    fn auto_becomes_the_first_available_device() {
        assert_eq!(Device::Auto.resolved(), Device::available()[0]);
        assert_eq!(Device::Cuda(3).resolved(), Device::Cuda(3));
    }

    #[test]
    fn a_device_outside_this_build_is_an_error_that_names_feature_and_choice() {
        let message = not_compiled(Device::Cuda(0)).to_string();
        assert!(message.contains("feature `cuda`") && message.contains("cpu"), "{message}");
        assert!(not_compiled(Device::Metal).to_string().contains("feature `metal`"));
    }
}
