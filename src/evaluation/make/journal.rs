//! What a language model replied, on the disk before anybody looks at it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::MakeError;

/// A reply of the model, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The corpus.
    pub corpus: String,
    /// The language model.
    pub model: String,
    /// The characters of the corpus that it saw.
    pub start: usize,
    /// First character behind them.
    pub end: usize,
    /// What the model said.
    pub reply: String,
    /// Tokens of the request, as the server counted them.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: Option<u64>,
    /// The reply was cut off.
    #[serde(default)]
    pub truncated: bool,
}

/// Every reply ever had, in a file of one record a line.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    pub(super) replies: Vec<Attempt>,
}

impl Journal {
    /// Opens the journal, or begins one. A last line that was cut off by a crash is left out and overwritten.
    ///
    /// # Errors
    ///
    /// [`MakeError::Journal`]
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, MakeError> {
        let path = path.into();
        let failed = |source| MakeError::Journal { path: path.clone(), source };
        let (mut replies, mut whole) = (Vec::new(), 0);
        match File::open(&path) {
            Ok(file) => {
                let mut reader = BufReader::new(file);
                let mut line = Vec::new();
                loop {
                    line.clear();
                    let read = reader.read_until(b'\n', &mut line).map_err(failed)?;
                    if line.last() != Some(&b'\n') {
                        break;
                    }
                    let reply = serde_json::from_slice(&line);
                    let broken = |error| failed(std::io::Error::other(format!("line {}: {error}", replies.len() + 1)));
                    replies.push(reply.map_err(broken)?);
                    whole += read as u64;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // Any other reason not to read it is none to overwrite it.
            Err(error) => return Err(failed(error)),
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > whole {
            file.set_len(whole).map_err(failed)?;
        }
        Ok(Self { path, file, replies })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was replied so far.
    #[must_use]
    pub fn replies(&self) -> &[Attempt] {
        &self.replies
    }

    /// Writes a reply down; it is on the disk before this returns.
    pub(super) fn add(&mut self, attempt: Attempt) -> Result<(), MakeError> {
        let write = |file: &mut File| {
            let mut line = serde_json::to_vec(&attempt)?;
            line.push(b'\n');
            file.write_all(&line)?;
            file.sync_data()
        };
        write(&mut self.file).map_err(|source| MakeError::Journal { path: self.path.clone(), source })?;
        self.replies.push(attempt);
        Ok(())
    }
}
