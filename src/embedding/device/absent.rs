//! A build with neither `cuda` nor `metal`: the processor only.

use super::{Device, Encode, not_compiled};
use crate::embedding::ModelError;
use crate::embedding::config::ModelConfig;
use crate::embedding::encoder::Pooling;
use crate::embedding::folder::ModelFile;

pub(super) fn present() -> Vec<Device> {
    Vec::new()
}

pub(super) fn encoder(
    device: Device,
    _config: &ModelConfig,
    _weights: &ModelFile,
    _pooling: Pooling,
) -> Result<Box<dyn Encode>, ModelError> {
    Err(not_compiled(device))
}
