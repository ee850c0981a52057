//! Graphics processors, through candle.

use candle_core::Device as CandleDevice;
use candle_core::utils::{cuda_is_available, metal_is_available};

use super::{Device, Encode, not_compiled};
use crate::embedding::ModelError;
use crate::embedding::candle::CandleEncoder;
use crate::embedding::config::ModelConfig;
use crate::embedding::encoder::Pooling;
use crate::embedding::folder::ModelFile;

/// The first device of each kind that is compiled in and starts.
pub(super) fn present() -> Vec<Device> {
    [Device::Cuda(0), Device::Metal].into_iter().filter(|&device| open(device).is_ok()).collect()
}

pub(super) fn encoder(
    device: Device,
    config: &ModelConfig,
    weights: &ModelFile,
    pooling: Pooling,
) -> Result<Box<dyn Encode>, ModelError> {
    let place = open(device)?;
    let tensors = weights.tensors(&weights.bytes)?;
    let encoder = CandleEncoder::new(config, &tensors, pooling, place).map_err(|error| weights.unfit(error))?;
    Ok(Box::new(encoder))
}

fn open(device: Device) -> Result<CandleDevice, ModelError> {
    let opened = match device {
        Device::Cuda(number) if cuda_is_available() => CandleDevice::new_cuda(number),
        Device::Metal if metal_is_available() => CandleDevice::new_metal(0),
        _ => return Err(not_compiled(device)),
    };
    opened.map_err(|source| ModelError::Device { device: device.to_string(), source: source.into() })
}
