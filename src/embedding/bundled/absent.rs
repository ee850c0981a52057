//! A build without the feature `bundled`: a typed error.

use super::Bundle;
use crate::embedding::ModelError;

pub(super) fn encoder() -> Result<&'static Bundle, ModelError> {
    Err(absent("the bundled model"))
}

pub(super) fn table() -> Result<&'static Bundle, ModelError> {
    Err(absent("the bundled static model"))
}

fn absent(wanted: &str) -> ModelError {
    ModelError::NotCompiled { wanted: wanted.into(), feature: "bundled", available: "models from a folder".into() }
}
