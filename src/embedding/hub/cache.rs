//! Looking into the Hugging Face cache: `models--ORG--NAME/{refs,snapshots,blobs,.no_exist}`.
//!
//! A snapshot counts only when it is complete. Programs that want the bare network fetch no `modules.json`, and a
//! model without one would silently be pooled in the wrong way; so of every file that is optional the cache must
//! either have it or know, by an empty file below `.no_exist`, that the repository has none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::ModelError;
use super::super::digest::sha256_of_file;
use super::super::folder::{self, CONFIG, INDEX, MODULES, SENTENCE_CONFIG, TOKENIZER, TOKENIZER_CONFIG, WEIGHTS};
use super::{HubError, HubId, HubSettings, is_plain};

/// Files a model cannot do without, its weights apart.
pub(super) const REQUIRED: [&str; 2] = [CONFIG, TOKENIZER];

/// Files that change what a model computes, if the repository has them.
pub(super) const OPTIONAL: [&str; 3] = [MODULES, SENTENCE_CONFIG, TOKENIZER_CONFIG];

/// A model that can be used without any network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CachedModel {
    /// Name and revision; the revision is a commit if the cache has no name for it.
    pub id: HubId,
    /// The folder that holds its files.
    pub folder: PathBuf,
    /// Size of the weights in bytes.
    pub bytes: u64,
}

impl CachedModel {
    /// Compares the large files with their SHA-256 sums, which the cache keeps as the names of their blobs.
    ///
    /// # Errors
    ///
    /// [`ModelError::Checksum`] for the first file that differs, [`ModelError::Read`] for one that cannot be read.
    pub fn verify(&self) -> Result<(), ModelError> {
        for name in weight_files(&self.folder) {
            let path = self.folder.join(name);
            let read = |source| ModelError::Read { path: path.clone(), source };
            let blob = fs::canonicalize(&path).map_err(read)?;
            let expected = blob.file_name().unwrap_or_default().to_string_lossy();
            // A file that is no link into the blobs, or a small one named by git's sum, has nothing to compare with.
            if expected.len() == 64 {
                let found = sha256_of_file(&blob).map_err(read)?;
                if found != expected {
                    return Err(ModelError::Checksum { path, expected: expected.into_owned(), found });
                }
            }
        }
        Ok(())
    }
}

/// The complete models of the cache, sorted by name. A cache that does not exist holds none.
///
/// # Errors
///
/// [`HubError::Io`] if a folder of the cache cannot be listed.
pub fn cached_models(settings: &HubSettings) -> Result<Vec<CachedModel>, HubError> {
    let mut models = Vec::new();
    for repository in entries(&settings.cache)? {
        let name = repository.strip_prefix("models--").map(|name| name.replacen("--", "/", 1));
        let Some(name) = name else { continue };
        let revisions = entries(&settings.cache.join(&repository).join("refs"))?;
        let commits = entries(&settings.cache.join(&repository).join("snapshots"))?;
        let mut seen = BTreeSet::new();
        // Branches and tags first: a commit is the name of last resort.
        let (hashes, names): (Vec<_>, Vec<_>) = revisions.into_iter().partition(|name| commits.contains(name));
        for revision in names.into_iter().chain(hashes).chain(commits) {
            // A name our ids cannot spell is a model nobody can ask us for.
            let Ok(id) = format!("{name}@{revision}").parse::<HubId>() else { continue };
            let Some(folder) = find(&id, settings) else { continue };
            if seen.insert(folder.clone()) {
                models.push(CachedModel { bytes: weight_bytes(&folder), id, folder });
            }
        }
    }
    models.sort();
    Ok(models)
}

/// The snapshot of `id`, if all of it is in the cache.
pub(super) fn find(id: &HubId, settings: &HubSettings) -> Option<PathBuf> {
    let snapshot = snapshot(id, settings)?;
    let known_absent = repository(id, settings).join(".no_exist").join(snapshot.file_name()?);

    let has = |file: &str| snapshot.join(file).is_file();
    let is_settled = |file: &&str| has(file) || known_absent.join(file).is_file();
    let complete = REQUIRED.into_iter().all(has) && OPTIONAL.iter().all(is_settled);
    let weights = has(WEIGHTS) || (has(INDEX) && shards(&snapshot)?.iter().all(|shard| has(shard)));
    let pooling = pooling(&snapshot).is_none_or(|file| has(&file));
    (complete && weights && pooling).then_some(snapshot)
}

/// The `tokenizer.json` of `id`, if the cache has it.
#[must_use]
pub fn cached_tokenizer(id: &HubId, settings: &HubSettings) -> Option<PathBuf> {
    Some(snapshot(id, settings)?.join(TOKENIZER)).filter(|file| file.is_file())
}

/// The folder that the revision of `id` leads to; it may lack files, or not be there.
fn snapshot(id: &HubId, settings: &HubSettings) -> Option<PathBuf> {
    let repository = repository(id, settings);
    let commit = fs::read_to_string(repository.join("refs").join(id.revision()))
        .map_or_else(|_| id.revision().to_owned(), |commit| commit.trim().to_owned());
    is_plain(&commit).then(|| repository.join("snapshots").join(&commit))
}

/// The folder of the cache for the repository of `id`.
pub(super) fn repository(id: &HubId, settings: &HubSettings) -> PathBuf {
    settings.cache.join(format!("models--{}", id.name().replace('/', "--")))
}

/// The files the index of a snapshot names; `None` if it cannot be read.
pub(super) fn shards(snapshot: &Path) -> Option<BTreeSet<String>> {
    folder::shards(&fs::read(snapshot.join(INDEX)).ok()?).ok()
}

/// The configuration of the pooling module that the `modules.json` of a snapshot names, if it names one.
pub(super) fn pooling(snapshot: &Path) -> Option<String> {
    folder::pooling_config(&fs::read(snapshot.join(MODULES)).ok()?)
}

fn weight_files(snapshot: &Path) -> BTreeSet<String> {
    shards(snapshot).unwrap_or_else(|| BTreeSet::from([WEIGHTS.to_owned()]))
}

fn weight_bytes(snapshot: &Path) -> u64 {
    let names = weight_files(snapshot);
    names.iter().filter_map(|name| fs::metadata(snapshot.join(name)).ok()).map(|file| file.len()).sum()
}

/// Names in a folder, sorted; none if there is no such folder.
fn entries(folder: &Path) -> Result<Vec<String>, HubError> {
    let io = |source| HubError::Io { path: folder.to_owned(), source };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        names.extend(entry.map_err(io)?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}
