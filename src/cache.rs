//! A folder that remembers results which cost time or money: bytes under the hash of all that they depend on.
//!
//! An entry is a file of its own, so that any number of processes may share the folder: it appears under its name only
//! when it is whole, carries a checksum, and one that is damaged counts as absent. What cannot be written is forgotten
//! and stops nobody; [`Cache::failure`] tells why. Nothing in this library uses a cache unless it is given one.

mod key;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tempfile::Builder;

pub use key::CacheKey;

/// Bytes of a checksum.
const SUM: usize = 32;

/// Disks hold files in blocks of this size; small entries are counted as one, which bounds their number too.
const BLOCK: u64 = 4096;

/// So many times what is written between two looks at the folder makes the limit.
const LOOKS: u64 = 16;

/// What stands before the name of an entry that is being written.
const UNFINISHED: &str = ".unfinished-";

/// A file that has not been finished for so long never will be.
const ABANDONED: Duration = Duration::from_hours(1);

/// A cache could not be written or cleared.
#[derive(Debug, thiserror::Error)]
#[error("the cache {} cannot be {action}; free or name another folder, or do without", path.display())]
pub struct CacheError {
    /// The folder.
    pub path: PathBuf,
    /// What was to be done: `written` or `cleared`.
    pub action: &'static str,
    /// What went wrong.
    #[source]
    pub source: io::Error,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Number of entries.
    pub entries: u64,
    /// Their size in bytes, each counted in whole blocks of 4096.
    pub bytes: u64,
}

/// A cache in a folder, which is made when it is first needed.
///
/// Entries that were not used for the longest time go where the limit would be passed. One process keeps the limit;
/// several that write at once may pass it by a sixteenth each.
///
/// ```
/// use horchunk::cache::{Cache, CacheKey};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("cache");
/// let cache = Cache::new(folder);
/// let key = CacheKey::of(["summary", "model-1", "A long text."]);
/// assert_eq!(cache.get(&key), None);
/// cache.put(&key, b"A summary.");
/// assert_eq!(cache.get(&key).as_deref(), Some(&b"A summary."[..]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// Bytes that may be written before the folder is looked at again.
    unwatched: AtomicU64,
    failure: OnceLock<CacheError>,
}

/// A file of the cache.
struct Entry {
    used: SystemTime,
    path: PathBuf,
    bytes: u64,
}

impl Cache {
    /// The limit where none is set: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// A cache in this folder, up to [`Self::LIMIT`]. Nothing is read or written yet.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limit: Self::LIMIT, unwatched: AtomicU64::default(), failure: OnceLock::new() }
    }

    /// The same with room for this many bytes.
    #[must_use]
    pub const fn with_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Where the entries are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Most bytes of all entries.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// What was put under this key; `None` if nothing was, or it went, or is damaged.
    #[must_use]
    pub fn get(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let sum = sum(bytes.get(SUM..)?);
        if bytes[..SUM] != sum {
            return None;
        }
        // Where this fails the entry only looks older than it is.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes.split_off(SUM))
    }

    /// Keeps `value` under this key, in place of what was there. A value that cannot be written is not kept, and the
    /// first reason is that of [`Self::failure`]; one that is larger than the limit is not kept either.
    pub fn put(&self, key: &CacheKey, value: &[u8]) {
        let size = on_disk((SUM + value.len()) as u64);
        if size > self.limit {
            return;
        }
        if let Err(source) = self.write(&self.path(key), value, size) {
            self.failure.get_or_init(|| self.error("written", source));
        }
    }

    /// Why a value was not kept, for the first one that could not be written.
    pub fn failure(&self) -> Option<&CacheError> {
        self.failure.get()
    }

    /// Counts the entries. A folder that is not there has none.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        let entries = self.entries();
        CacheStats { entries: entries.len() as u64, bytes: entries.iter().map(|entry| entry.bytes).sum() }
    }

    /// Removes all entries and nothing else, and returns what there was.
    ///
    /// # Errors
    ///
    /// Where an entry cannot be removed; the others are gone then.
    pub fn clear(&self) -> Result<CacheStats, CacheError> {
        let mut cleared = CacheStats::default();
        let mut failed = None;
        for entry in self.entries() {
            match remove(&entry.path) {
                Ok(()) => {
                    cleared.entries += 1;
                    cleared.bytes += entry.bytes;
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(cleared), |source| Err(self.error("cleared", source)))
    }

    fn error(&self, action: &'static str, source: io::Error) -> CacheError {
        CacheError { path: self.folder.clone(), action, source }
    }

    /// An entry's place: its name's first two digits are a folder, so that none has too many files.
    fn path(&self, key: &CacheKey) -> PathBuf {
        let (folder, name) = key.hex().split_at(2);
        self.folder.join(folder).join(name)
    }

    fn write(&self, path: &Path, value: &[u8], size: u64) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let enough = |left: u64| left.checked_sub(size);
        if self.unwatched.fetch_update(Ordering::AcqRel, Ordering::Acquire, enough).is_err() {
            self.make_room(size);
        }
        let mut file = Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.write_all(&sum(value))?;
        file.write_all(value)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Removes what was not used for the longest time, until `size` bytes and those of the time up to the next look fit.
    fn make_room(&self, size: u64) {
        let unwatched = self.limit / LOOKS;
        let mut entries = self.entries();
        let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
        let most = self.limit.saturating_sub(size).saturating_sub(unwatched);
        if bytes > most {
            entries.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
            for entry in entries {
                // One that another process removed is gone as well.
                if bytes <= most {
                    break;
                }
                if remove(&entry.path).is_ok() {
                    bytes -= entry.bytes;
                }
            }
        }
        self.unwatched.store(unwatched, Ordering::Release);
    }

    /// All entries, in no order. Files that were abandoned half-written are removed on the way; what is none of ours
    /// is let alone.
    fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let folders = files(&self.folder).filter(|(name, _)| is_hex(name, 2));
        for (name, file) in folders.flat_map(|(_, folder)| files(&folder.path())) {
            let (entry, unfinished) = (is_hex(&name, 2 * SUM - 2), name.to_string_lossy().starts_with(UNFINISHED));
            // Links are not followed: an entry is a file.
            let Ok(about) = file.metadata() else { continue };
            let Ok(used) = about.modified() else { continue };
            if !about.is_file() {
                continue;
            }
            if entry {
                entries.push(Entry { used, path: file.path(), bytes: on_disk(about.len()) });
            } else if unfinished && used.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = remove(&file.path());
            }
        }
        entries
    }
}

fn sum(value: &[u8]) -> [u8; SUM] {
    Sha256::digest(value).into()
}

/// Bytes of the blocks that a file fills.
fn on_disk(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Whether a name is so many lower-case hexadecimal digits.
fn is_hex(name: &OsStr, digits: usize) -> bool {
    name.len() == digits && name.as_encoded_bytes().iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// What a folder holds; nothing where it cannot be listed.
fn files(folder: &Path) -> impl Iterator<Item = (std::ffi::OsString, fs::DirEntry)> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| (entry.file_name(), entry))
}

/// Removes a file; that it is gone already is no failure.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
