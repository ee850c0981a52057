//! The bundled files themselves.

use super::{Bundle, NAME, STATIC_NAME};
use crate::embedding::ModelError;

macro_rules! file {
    ($folder:literal, $name:literal) => {
        ($name, include_bytes!(concat!("../../../models/", $folder, "/", $name)))
    };
}

/// Half a megabyte that both models have in common.
static TOKENIZER: &[u8] = include_bytes!("../../../models/all-minilm-l6-v2/tokenizer.json");

static ENCODER: Bundle = Bundle {
    name: NAME,
    files: &[
        file!("all-minilm-l6-v2", "config.json"),
        ("tokenizer.json", TOKENIZER),
        file!("all-minilm-l6-v2", "model.safetensors"),
        file!("all-minilm-l6-v2", "modules.json"),
        file!("all-minilm-l6-v2", "1_Pooling/config.json"),
        file!("all-minilm-l6-v2", "sentence_bert_config.json"),
    ],
    sums: include_str!("../../../models/all-minilm-l6-v2/SHA256SUMS"),
};

static TABLE: Bundle = Bundle {
    name: STATIC_NAME,
    files: &[
        file!("static-minilm", "config.json"),
        ("tokenizer.json", TOKENIZER),
        file!("static-minilm", "model.safetensors"),
    ],
    sums: include_str!("../../../models/static-minilm/SHA256SUMS"),
};

#[expect(clippy::unnecessary_wraps, reason = "the twin without the feature can only fail")]
pub(super) fn encoder() -> Result<&'static Bundle, ModelError> {
    Ok(&ENCODER)
}

#[expect(clippy::unnecessary_wraps, reason = "the twin without the feature can only fail")]
pub(super) fn table() -> Result<&'static Bundle, ModelError> {
    Ok(&TABLE)
}
