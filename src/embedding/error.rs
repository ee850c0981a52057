//! Why a model could not be loaded.

use std::path::PathBuf;

use super::hub::HubError;
use super::{ConfigError, Device, Precision};
use crate::tokens::TokenError;

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Something was asked for that a feature of this crate turns on, and this build lacks it.
    #[error("{wanted} is not part of this build (feature `{feature}`); it has {available}")]
    NotCompiled {
        /// What was asked for.
        wanted: String,
        /// The feature that would bring it.
        feature: &'static str,
        /// What can be used in its place.
        available: String,
    },
    /// No device has this name.
    #[error("there is no device {name:?}; write auto, cpu, cuda, cuda:N or metal")]
    UnknownDevice {
        /// The name asked for.
        name: String,
    },
    /// The device is compiled in but did not start, or failed while the weights were brought to it.
    #[error("the device {device} cannot be used; the processor (cpu) always can")]
    Device {
        /// The device.
        device: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The device does not compute in these numbers.
    #[error("the device {device} does not compute in {precision}; take f32, or the device cpu")]
    Precision {
        /// What was asked for.
        precision: Precision,
        /// The device.
        device: Device,
    },
    /// A static model was asked for what only an encoder has.
    #[error("a static model is a table that is looked up in: {wanted} is for encoders, leave it out")]
    Static {
        /// What was asked for.
        wanted: String,
    },
    /// A file the model needs is not there.
    #[error("there is no {}; a model folder holds config.json, tokenizer.json and model.safetensors", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The weights are there, but only as PyTorch pickles them.
    #[error(
        "{} holds pickled weights, which are a program to run and are not read; save them as model.safetensors \
         (`save_pretrained` of transformers does)",
        path.display()
    )]
    Pickled {
        /// The file.
        path: PathBuf,
    },
    /// A file is there and cannot be read.
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// A file is not what its name says: not JSON, fields of the wrong type, a broken safetensors file.
    #[error("{} is broken or of another format", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `config.json` describes a model this crate cannot run.
    #[error("{} describes no model this crate can run", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: ConfigError,
    },
    /// A file asks for something this crate has no code for.
    #[error("{} says {found}, which is not supported; it must be {supported}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What would do.
        supported: &'static str,
    },
    /// The tokenizer file could not be understood.
    #[error("the model's tokenizer could not be loaded")]
    Tokenizer(#[from] TokenError),
    /// The weights lack a tensor, or have one of another shape or type than `config.json` says.
    #[error("the weights in {} do not fit its config.json", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file is not the one that was pinned.
    #[error("{} has SHA-256 {found}, not {expected}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The sum it should have.
        expected: String,
        /// The sum it has.
        found: String,
    },
    /// The hub or its cache did not deliver the model.
    #[error(transparent)]
    Hub(#[from] HubError),
}
