//! The file of a session: written whole or not at all, by one program at a time.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use tempfile::NamedTempFile;

use super::{Session, VERSION};

/// An open session file. As long as it lives no other program opens it.
#[derive(Debug)]
pub struct SessionFile {
    path: PathBuf,
    /// Holds the lock on the file that stands at `path`.
    locked: File,
}

/// Why a session cannot be kept or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file cannot be read.
    #[error("the session {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("the session {} cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file holds something else, or a part of a session.
    #[error("{} is no session of horchunk, or not a whole one", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// The file holds numbers that cannot be.
    #[error("the session {} is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The file that was to be begun is there and is something else.
    #[error("{} is there already and is no session: name another file", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// Another version of this program wrote it.
    #[error("the session {} has layout {found}, and this version reads layout {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: u32,
    },
    /// There is a session in the file already.
    #[error("{} holds a session already: go on with it by --resume, or name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another program has it open.
    #[error("the session {} is open in another terminal: close it there first", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl SessionFile {
    /// Begins a session file, and the folder it lies in.
    ///
    /// # Errors
    ///
    /// [`SessionError::Exists`], [`SessionError::Write`]
    pub fn create(path: impl Into<PathBuf>, session: &Session) -> Result<Self, SessionError> {
        let path = path.into();
        if fs::symlink_metadata(&path).is_ok() {
            return Self::take_over(path, session);
        }
        let failed = |source| SessionError::Write { path: path.clone(), source };
        fs::create_dir_all(folder(&path)).map_err(failed)?;
        let written = written(&path, session).map_err(failed)?;
        match written.persist_noclobber(&path) {
            Ok(locked) => Ok(Self { path, locked }),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(SessionError::Exists { path }),
            Err(error) => Err(failed(error.error)),
        }
    }

    /// Begins anew where a session without answers lies, which a program that was killed leaves behind.
    fn take_over(path: PathBuf, session: &Session) -> Result<Self, SessionError> {
        if !fs::metadata(&path).is_ok_and(|there| there.is_file()) {
            return Err(SessionError::Occupied { path });
        }
        match Self::open(&path) {
            Ok((mut file, there)) if there.answers.is_empty() && there.set_aside.is_empty() => {
                file.save(session)?;
                Ok(file)
            }
            Err(error @ SessionError::Busy { .. }) => Err(error),
            Err(SessionError::Broken { .. }) => Err(SessionError::Occupied { path }),
            Ok(_) | Err(_) => Err(SessionError::Exists { path }),
        }
    }

    /// Opens a session to go on with it.
    ///
    /// # Errors
    ///
    /// [`SessionError`]
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, Session), SessionError> {
        // What a link leads to is replaced, not the link.
        let path = path.into();
        let path = fs::canonicalize(&path).unwrap_or(path);
        let failed = |source| SessionError::Read { path: path.clone(), source };
        let locked = File::open(&path).map_err(failed)?;
        match locked.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(SessionError::Busy { path }),
            // A file system without locks keeps nobody from going on.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Whoever had it open may have replaced the file between our two steps.
        if !is_same(&locked, &path) {
            return Err(SessionError::Busy { path });
        }
        let session = Session::read(&path)?;
        Ok((Self { path, locked }, session))
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the session; it is on the disk before this returns, and until then the old one stays.
    ///
    /// # Errors
    ///
    /// [`SessionError::Write`]
    pub fn save(&mut self, session: &Session) -> Result<(), SessionError> {
        let save = || written(&self.path, session)?.persist(&self.path).map_err(|error| error.error);
        self.locked = save().map_err(|source| SessionError::Write { path: self.path.clone(), source })?;
        Ok(())
    }
}

impl Session {
    /// Reads a session file, which somebody else may have open.
    ///
    /// # Errors
    ///
    /// [`SessionError`]
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        #[derive(Deserialize)]
        struct Layout {
            version: u32,
        }

        let bytes = fs::read(path).map_err(|source| SessionError::Read { path: path.to_owned(), source })?;
        let broken = |source| SessionError::Broken { path: path.to_owned(), source };
        let Layout { version } = serde_json::from_slice(&bytes).map_err(broken)?;
        if version != VERSION {
            return Err(SessionError::Version { path: path.to_owned(), found: version });
        }
        let session: Self = serde_json::from_slice(&bytes).map_err(broken)?;
        match session.problem() {
            Some(problem) => Err(SessionError::Damaged { path: path.to_owned(), problem }),
            None => Ok(session),
        }
    }
}

/// The session in a file without a name yet, locked already.
fn written(path: &Path, session: &Session) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(folder(path))?;
    // A file system without locks keeps nobody from going on.
    let _ = file.as_file().try_lock();
    let mut bytes = serde_json::to_vec_pretty(session)?;
    bytes.push(b'\n');
    file.write_all(&bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |data: fs::Metadata| (data.dev(), data.ino());
    file.metadata().map(place).ok() == fs::metadata(path).map(place).ok()
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

/// The session in `folder` that was written last; of those about these files and folders, where some are named by
/// their absolute paths.
#[must_use]
pub fn newest_session(folder: &Path, paths: &[PathBuf]) -> Option<PathBuf> {
    let about = |path: &Path| Session::read(path).is_ok_and(|session| paths.is_empty() || session.paths == paths);
    let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    files.sort();
    files.into_iter().rev().map(|(_, path)| path).find(|path| about(path))
}
