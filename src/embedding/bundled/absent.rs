//! A build without the feature `bundled`: a typed error.

use super::BundledFile;
use crate::embedding::ModelError;

pub(super) const SUMS: &str = "";

pub(super) fn files() -> Result<&'static [BundledFile], ModelError> {
    Err(ModelError::NotCompiled {
        wanted: "the bundled model".into(),
        feature: "bundled",
        available: "models from a folder".into(),
    })
}
