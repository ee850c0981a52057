//! Fetching through hf-hub, with what it leaves to its callers: one commit for all files, a check of what arrived,
//! and the name of the revision written last.

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{Api, ApiBuilder, ApiError, ApiRepo};
use hf_hub::api::{Progress, RepoInfo};
use hf_hub::{Cache, CacheRepo, Repo, RepoType};

use super::super::folder::{INDEX, TOKENIZER, WEIGHTS};
use super::{Download, HubError, HubId, HubSettings, cache, is_plain, is_plain_path};
use crate::embedding::digest::sha256_of_file;

/// Fetches the files of `id` that the cache lacks; answers with their folder.
pub(super) fn fetch(
    id: &HubId,
    settings: &HubSettings,
    progress: &mut dyn FnMut(Download<'_>),
) -> Result<PathBuf, HubError> {
    Fetch::open(id, settings)?.run(progress)
}

/// Fetches the tokenizer of `id` alone; answers with its file.
pub(super) fn tokenizer(
    id: &HubId,
    settings: &HubSettings,
    progress: &mut dyn FnMut(Download<'_>),
) -> Result<PathBuf, HubError> {
    let fetch = Fetch::open(id, settings)?;
    fetch.file(TOKENIZER, progress)?;
    Ok(fetch.name_revision()?.join(TOKENIZER))
}

/// The fetching of one commit.
struct Fetch<'a> {
    id: &'a HubId,
    settings: &'a HubSettings,
    api: Api,
    remote: ApiRepo,
    local: CacheRepo,
    commit: String,
    files: HashSet<String>,
}

impl<'a> Fetch<'a> {
    fn open(id: &'a HubId, settings: &'a HubSettings) -> Result<Self, HubError> {
        let api = ApiBuilder::from_cache(Cache::new(settings.cache.clone()))
            .with_endpoint(settings.endpoint.clone())
            .with_token(settings.token.clone())
            .with_progress(false)
            .with_user_agent("horchunk", env!("CARGO_PKG_VERSION"))
            .build()
            .map_err(|error| failed(id, settings, error))?;
        let info = repo(id, id.revision()).0;
        let info = api.repo(info).info().map_err(|error| failed(id, settings, error))?;
        Self::new(id, settings, api, info)
    }

    fn new(id: &'a HubId, settings: &'a HubSettings, api: Api, info: RepoInfo) -> Result<Self, HubError> {
        if !is_plain(&info.sha) {
            return Err(unreachable(id, settings, "the answer names no commit".into()));
        }
        let (remote, local) = repo(id, &info.sha);
        let local = Cache::new(settings.cache.clone()).repo(local);
        let files = info.siblings.into_iter().map(|file| file.rfilename).collect();
        Ok(Self { id, settings, remote: api.repo(remote), api, local, commit: info.sha, files })
    }

    fn run(&self, progress: &mut dyn FnMut(Download<'_>)) -> Result<PathBuf, HubError> {
        let snapshot = self.local.pointer_path(&self.commit);
        for file in cache::REQUIRED {
            self.file(file, progress)?;
        }
        for file in cache::OPTIONAL {
            if self.files.contains(file) { self.file(file, progress)? } else { self.mark_absent(file)? }
        }
        if let Some(file) = cache::pooling(&snapshot) {
            self.file(&file, progress)?;
        }
        if self.files.contains(WEIGHTS) || !self.files.contains(INDEX) {
            self.file(WEIGHTS, progress)?;
        } else {
            self.file(INDEX, progress)?;
            let shards = cache::shards(&snapshot).ok_or_else(|| self.broken(INDEX, "not an index of weights"))?;
            shards.iter().try_for_each(|shard| self.file(shard, progress))?;
        }
        self.name_revision()
    }

    /// Only now does the revision's name lead to the snapshot, which is the answer.
    fn name_revision(&self) -> Result<PathBuf, HubError> {
        let snapshot = self.local.pointer_path(&self.commit);
        let named = Cache::new(self.settings.cache.clone()).repo(repo(self.id, self.id.revision()).0);
        named.create_ref(&self.commit).map_err(|source| io_error(&snapshot, source))?;
        Ok(snapshot)
    }

    /// Makes sure that one file is in the snapshot, whole.
    fn file(&self, file: &str, progress: &mut dyn FnMut(Download<'_>)) -> Result<(), HubError> {
        if !self.files.contains(file) || !is_plain_path(file) {
            return Err(HubError::Missing { id: self.id.clone(), file: file.to_owned() });
        }
        let path = self.local.pointer_path(&self.commit).join(file);
        if path.exists() {
            return Ok(());
        }
        let announced = self.api.metadata(&self.remote.url(file)).map_err(|error| self.failed(error))?;
        if announced.commit_hash() != self.commit {
            return Err(self.broken(file, "it belongs to another commit"));
        }
        let blob = self.local.blob_path(announced.etag());
        drop_oversized_part(&blob, announced.size())?;
        let report = Report { file: file.to_owned(), done: 0, total: 0, progress };
        self.remote.download_with_progress(file, report).map_err(|error| self.failed(error))?;

        let problem = check(&blob, announced.size(), announced.etag()).map_err(|source| io_error(&blob, source))?;
        let Some(reason) = problem else { return Ok(()) };
        for path in [&path, &blob] {
            fs::remove_file(path).map_err(|source| io_error(path, source))?;
        }
        Err(self.broken(file, &reason))
    }

    /// Notes that the repository has no such file, as the Python programs do.
    fn mark_absent(&self, file: &str) -> Result<(), HubError> {
        let folder = cache::repository(self.id, self.settings).join(".no_exist").join(&self.commit);
        let mark = folder.join(file);
        fs::create_dir_all(&folder).and_then(|()| fs::write(&mark, "")).map_err(|source| io_error(&mark, source))
    }

    fn broken(&self, file: &str, reason: &str) -> HubError {
        HubError::Broken { id: self.id.clone(), file: file.to_owned(), reason: reason.to_owned() }
    }

    fn failed(&self, error: ApiError) -> HubError {
        failed(self.id, self.settings, error)
    }
}

/// The repository at a revision, twice: hf-hub's two halves each want their own.
fn repo(id: &HubId, revision: &str) -> (Repo, Repo) {
    let repo = Repo::with_revision(id.name().to_owned(), RepoType::Model, revision.to_owned());
    (repo.clone(), repo)
}

/// Removes a part of an earlier download that cannot be continued: hf-hub would ask for bytes behind the end.
fn drop_oversized_part(blob: &Path, size: usize) -> Result<(), HubError> {
    let part = blob.with_extension("part");
    match fs::metadata(&part) {
        Ok(found) if found.len() >= size as u64 => fs::remove_file(&part).map_err(|error| io_error(&part, error)),
        _ => Ok(()),
    }
}

/// In which way a file is not what was announced. The `ETag` of large files is their SHA-256; that of small ones is
/// of git's making, and their size has to do.
fn check(path: &Path, size: usize, etag: &str) -> io::Result<Option<String>> {
    let found = fs::metadata(path)?.len();
    if found != size as u64 {
        return Ok(Some(format!("{found} bytes in the place of {size}")));
    }
    if etag.len() != 64 {
        return Ok(None);
    }
    let sum = sha256_of_file(path)?;
    Ok((sum != etag).then(|| format!("SHA-256 {sum} in the place of {etag}")))
}

fn failed(id: &HubId, settings: &HubSettings, error: ApiError) -> HubError {
    match error {
        ApiError::RequestError(error) => match *error {
            ureq::Error::StatusCode(status @ (401 | 403 | 404)) => {
                HubError::Refused { id: id.clone(), endpoint: settings.endpoint.clone(), status }
            }
            error => unreachable(id, settings, error.into()),
        },
        error => unreachable(id, settings, error.into()),
    }
}

fn unreachable(id: &HubId, settings: &HubSettings, source: Box<dyn Error + Send + Sync>) -> HubError {
    HubError::Unreachable { id: id.clone(), endpoint: settings.endpoint.clone(), source }
}

fn io_error(path: &Path, source: io::Error) -> HubError {
    HubError::Io { path: path.to_owned(), source }
}

/// Hands hf-hub's three calls on as one.
struct Report<'a> {
    file: String,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(Download<'_>),
}

impl Progress for Report<'_> {
    fn init(&mut self, size: usize, _file: &str) {
        (self.done, self.total) = (0, size as u64);
    }

    fn update(&mut self, size: usize) {
        self.done += size as u64;
        (self.progress)(Download { file: &self.file, done: self.done, total: self.total });
    }

    fn finish(&mut self) {}
}
