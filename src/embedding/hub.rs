//! Models by Hugging Face id, through the cache that all programs of that family share.
//!
//! [`locate`] answers with a folder of the cache. A model that is there already is used without any network; otherwise
//! its files are fetched once, from one commit, and the name of the revision is written last, so that an interrupted
//! download is never taken for a model. Nothing here reads the files themselves. Looking into the cache needs no
//! feature; fetching needs `hub`.
//!
//! Layout of the cache: <https://huggingface.co/docs/huggingface_hub/guides/manage-cache>.

mod cache;

#[cfg(not(feature = "hub"))]
#[path = "hub/absent.rs"]
mod fetch;
#[cfg(feature = "hub")]
#[path = "hub/present.rs"]
mod fetch;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fmt, fs};

pub use cache::{CachedModel, cached_models, cached_tokenizer};

/// What every error ends with: the way that needs no network.
const FOLDER_HINT: &str = "a folder with its config.json, tokenizer.json and model.safetensors can be given instead";

/// Why a model of the hub is not at hand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The id is not of the form `org/name` or `org/name@revision`.
    #[error("{id:?} is not a hub id; write org/name or org/name@revision")]
    Id {
        /// What was given.
        id: String,
    },
    /// The cache lacks the model and nothing may be fetched.
    #[error("{id} is not, or not wholly, in {} and HF_HUB_OFFLINE is set; {FOLDER_HINT}", cache.display())]
    Offline {
        /// The model.
        id: HubId,
        /// Folder of the cache.
        cache: PathBuf,
    },
    /// The cache lacks the model and this build cannot fetch it.
    #[error("{id} is not, or not wholly, in {} and this build lacks the feature `hub`; {FOLDER_HINT}", cache.display())]
    NotCompiled {
        /// The model.
        id: HubId,
        /// Folder of the cache.
        cache: PathBuf,
    },
    /// The hub could not be reached, or broke off.
    #[error("{id} could not be fetched from {endpoint}; {FOLDER_HINT}")]
    Unreachable {
        /// The model.
        id: HubId,
        /// Address of the hub.
        endpoint: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The hub does not show this model to us.
    #[error("{endpoint} answers {status} for {id}: no such model or revision, or one that needs HF_TOKEN")]
    Refused {
        /// The model.
        id: HubId,
        /// Address of the hub.
        endpoint: String,
        /// HTTP status.
        status: u16,
    },
    /// The repository lacks a file that a model needs.
    #[error("{id} has no {file}; only models with config.json, tokenizer.json and safetensors weights can be used")]
    Missing {
        /// The model.
        id: HubId,
        /// The file.
        file: String,
    },
    /// What arrived is not what the hub announced. It has been thrown away.
    #[error("{file} of {id} arrived broken ({reason}) and was removed; try again")]
    Broken {
        /// The model.
        id: HubId,
        /// The file.
        file: String,
        /// In which way.
        reason: String,
    },
    /// A file of the cache could not be read or written.
    #[error("{} could not be read or written", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
}

/// A model of the hub: `org/name`, and the branch, tag or commit to take it from.
///
/// ```
/// use horchunk::HubId;
///
/// let id: HubId = "BAAI/bge-small-en-v1.5".parse()?;
/// assert_eq!((id.name(), id.revision()), ("BAAI/bge-small-en-v1.5", "main"));
/// assert_eq!("org/name@v2".parse::<HubId>()?.to_string(), "org/name@v2");
/// # Ok::<(), horchunk::HubError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HubId {
    name: String,
    revision: String,
}

impl HubId {
    const MAIN: &str = "main";

    /// The repository, `org/name`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Branch, tag or commit; `main` if none was named.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }
}

impl FromStr for HubId {
    type Err = HubError;

    fn from_str(id: &str) -> Result<Self, HubError> {
        let (name, revision) = id.split_once('@').unwrap_or((id, Self::MAIN));
        // Both become parts of paths and addresses, so that nothing but plain names may pass.
        let is_name = name.split_once('/').is_some_and(|(org, name)| is_plain(org) && is_plain(name));
        if is_name && revision.split('/').all(is_plain) {
            Ok(Self { name: name.to_owned(), revision: revision.to_owned() })
        } else {
            Err(HubError::Id { id: id.to_owned() })
        }
    }
}

impl fmt::Display for HubId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.revision == Self::MAIN { Ok(()) } else { write!(f, "@{}", self.revision) }
    }
}

/// Whether `part` is harmless as one component of a path and of an address.
fn is_plain(part: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !part.is_empty() && part.len() <= 96 && !part.starts_with('.') && part.chars().all(allowed)
}

/// Whether `path` stays below the folder it is joined to.
pub(super) fn is_plain_path(path: &str) -> bool {
    path.split('/').all(is_plain)
}

/// Where the hub and its cache are.
#[derive(Clone, PartialEq, Eq)]
pub struct HubSettings {
    cache: PathBuf,
    endpoint: String,
    token: Option<String>,
    offline: bool,
}

impl HubSettings {
    /// The settings all programs of the hub share: `HF_HUB_CACHE`, `HF_HOME`, `HF_ENDPOINT`, `HF_HUB_OFFLINE`, and
    /// `HF_TOKEN` or the token file below `HF_HOME`.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_vars(|name| env::var(name).ok(), env::home_dir())
    }

    /// [`HubSettings::from_env`] with the environment as an argument. A variable that is empty counts as not set.
    fn from_vars(var: impl Fn(&str) -> Option<String>, user: Option<PathBuf>) -> Self {
        let var = |name| var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let caches = var("XDG_CACHE_HOME").map(PathBuf::from);
        let caches = caches.unwrap_or_else(|| user.unwrap_or_default().join(".cache"));
        let home = var("HF_HOME").map_or_else(|| caches.join("huggingface"), PathBuf::from);
        let saved_token = || fs::read_to_string(home.join("token")).ok().map(|token| token.trim().to_owned());
        let is_on = |value: String| matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "yes" | "true");
        let settings = Self {
            cache: var("HF_HUB_CACHE").map_or_else(|| home.join("hub"), PathBuf::from),
            endpoint: String::new(),
            token: var("HF_TOKEN").or_else(saved_token).filter(|token| !token.is_empty()),
            offline: var("HF_HUB_OFFLINE").is_some_and(is_on),
        };
        settings.with_endpoint(var("HF_ENDPOINT").as_deref().unwrap_or("https://huggingface.co"))
    }

    /// The same with the cache in `folder`.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = folder.into();
        self
    }

    /// The same with the hub at `endpoint`, such as `http://127.0.0.1:8000`.
    #[must_use]
    pub fn with_endpoint(mut self, endpoint: impl AsRef<str>) -> Self {
        endpoint.as_ref().trim_end_matches('/').clone_into(&mut self.endpoint);
        self
    }

    /// The same with this access token, or none.
    #[must_use]
    pub fn with_token(mut self, token: Option<String>) -> Self {
        self.token = token;
        self
    }

    /// The same with or without leave to use the network.
    #[must_use]
    pub const fn with_offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Folder of the cache.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }
}

impl fmt::Debug for HubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubSettings")
            .field("cache", &self.cache)
            .field("endpoint", &self.endpoint)
            .field("token", &self.token.as_ref().map(|_| "hidden"))
            .field("offline", &self.offline)
            .finish()
    }
}

/// How far the download of one file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Download<'a> {
    /// Name of the file within the model.
    pub file: &'a str,
    /// Bytes that have arrived.
    pub done: u64,
    /// Bytes of the whole file.
    pub total: u64,
}

/// The folder that holds the files of `id`: from the cache without any network if they are all there, otherwise
/// fetched into it. `progress` hears of every piece that arrives.
///
/// # Errors
///
/// [`HubError`]: offline or unreachable, unknown, not a model of the supported layout, broken on the way.
pub fn locate(id: &HubId, settings: &HubSettings, progress: &mut dyn FnMut(Download<'_>)) -> Result<PathBuf, HubError> {
    if let Some(folder) = cache::find(id, settings) {
        return Ok(folder);
    }
    if settings.offline {
        return Err(HubError::Offline { id: id.clone(), cache: settings.cache.clone() });
    }
    fetch::fetch(id, settings, progress)
}

/// The `tokenizer.json` of `id`, from the cache if it is there, otherwise fetched into it; nothing else is.
///
/// # Errors
///
/// [`HubError`]: offline or unreachable, unknown, without that file, broken on the way.
pub fn locate_tokenizer(
    id: &HubId,
    settings: &HubSettings,
    progress: &mut dyn FnMut(Download<'_>),
) -> Result<PathBuf, HubError> {
    if let Some(file) = cached_tokenizer(id, settings) {
        return Ok(file);
    }
    if settings.offline {
        return Err(HubError::Offline { id: id.clone(), cache: settings.cache.clone() });
    }
    fetch::tokenizer(id, settings, progress)
}
