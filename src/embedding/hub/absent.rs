//! Fetching in a build without the feature `hub`: a typed error.

use std::path::PathBuf;

use super::{Download, HubError, HubId, HubSettings};

/// Always [`HubError::NotCompiled`].
pub(super) fn fetch(
    id: &HubId,
    settings: &HubSettings,
    _progress: &mut dyn FnMut(Download<'_>),
) -> Result<PathBuf, HubError> {
    Err(HubError::NotCompiled { id: id.clone(), cache: settings.cache.clone() })
}

/// Always [`HubError::NotCompiled`].
pub(super) fn tokenizer(
    id: &HubId,
    settings: &HubSettings,
    progress: &mut dyn FnMut(Download<'_>),
) -> Result<PathBuf, HubError> {
    fetch(id, settings, progress)
}
