//! The bundled files themselves.

use super::BundledFile;
use crate::embedding::ModelError;

/// The recorded sums, as `sha256sum` writes them.
pub(super) const SUMS: &str = include_str!("../../../models/all-minilm-l6-v2/SHA256SUMS");

macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../models/all-minilm-l6-v2/", $name)))
    };
}

static FILES: [BundledFile; 6] = [
    file!("config.json"),
    file!("tokenizer.json"),
    file!("model.safetensors"),
    file!("modules.json"),
    file!("1_Pooling/config.json"),
    file!("sentence_bert_config.json"),
];

#[expect(clippy::unnecessary_wraps, reason = "the twin without the feature can only fail")]
pub(super) fn files() -> Result<&'static [BundledFile], ModelError> {
    Ok(&FILES)
}
