//! Where chunks are written: standard output, one file, or a folder with one file a document.
//!
//! A file appears under its name only when it is whole.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use tempfile::NamedTempFile;

use super::Usage;
use super::interrupt::{self, Unfinished};

/// The format asked for; otherwise the one that the output's name ends in, if there is one of that name.
pub(super) fn format<F: ValueEnum>(asked: Option<F>, output: Option<&Path>, default: F) -> F {
    let ending = output.and_then(Path::extension).and_then(OsStr::to_str);
    asked.or_else(|| F::from_str(ending?, true).ok()).unwrap_or(default)
}

/// A place to write to, which may not be one of the files that are read.
#[derive(Debug)]
pub(super) struct Target {
    kind: Kind,
    inputs: HashSet<PathBuf>,
}

#[derive(Debug)]
enum Kind {
    StandardOutput,
    File(PathBuf),
    /// A file in this folder for every document, its name followed by an ending.
    Folder {
        folder: PathBuf,
        ending: &'static str,
        taken: HashSet<PathBuf>,
    },
}

impl Target {
    /// What `--output` names: a folder if it ends in `/` or is one.
    pub(super) fn new(output: Option<&Path>, ending: &'static str, inputs: HashSet<PathBuf>) -> Self {
        let kind = match output {
            None => Kind::StandardOutput,
            Some(path) if path.as_os_str() == "-" => Kind::StandardOutput,
            Some(path) if path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]) => {
                Kind::Folder { folder: path.to_owned(), ending, taken: HashSet::new() }
            }
            Some(path) => Kind::File(path.to_owned()),
        };
        Self { kind, inputs }
    }

    /// Whether every document has a file of its own.
    pub(super) const fn is_folder(&self) -> bool {
        matches!(self.kind, Kind::Folder { .. })
    }

    /// Opens the output; in a folder, that of the document of this name.
    pub(super) fn open(&mut self, document: &str) -> anyhow::Result<Output> {
        match &mut self.kind {
            Kind::StandardOutput => Ok(Output::stream(io::stdout())),
            Kind::File(path) => Output::file(path.clone(), &self.inputs),
            Kind::Folder { folder, ending, taken } => {
                let path = folder.join(file_name(document, ending));
                if !taken.insert(path.clone()) {
                    bail!("two documents would be written to {}", path.display());
                }
                let parent = path.parent().unwrap_or(folder);
                fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
                Output::file(path, &self.inputs)
            }
        }
    }
}

/// The path of a document's file inside the folder: its name without what leads out of it.
fn file_name(document: &str, ending: &str) -> PathBuf {
    let inside = Path::new(document).components().filter(|part| matches!(part, Component::Normal(_)));
    let mut path: PathBuf = inside.collect();
    match path.file_name() {
        Some(name) if document != "-" => {
            let mut name = name.to_owned();
            name.push(ending);
            path.set_file_name(name);
        }
        _ => path = PathBuf::from(format!("stdin{ending}")),
    }
    path
}

/// An open output.
pub(super) enum Output {
    /// Written to as it is: standard output, a pipe, a device.
    Stream(BufWriter<Box<dyn Write>>),
    File {
        file: BufWriter<NamedTempFile>,
        path: PathBuf,
        unfinished: Unfinished,
    },
}

impl Output {
    fn stream(out: impl Write + 'static) -> Self {
        Self::Stream(BufWriter::new(Box::new(out)))
    }

    fn file(path: PathBuf, inputs: &HashSet<PathBuf>) -> anyhow::Result<Self> {
        // What a link leads to is replaced, not the link; what is no file cannot be replaced at all.
        let path = fs::canonicalize(&path).unwrap_or(path);
        if inputs.contains(&path) {
            bail!(Usage(format!("{} is read and cannot be written too: name another --output", path.display())));
        }
        if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            let out = fs::OpenOptions::new().write(true).open(&path);
            return Ok(Self::stream(out.with_context(|| format!("{} cannot be written", path.display()))?));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            bail!("{} cannot be written: there is no folder {}", path.display(), folder.display());
        }
        // From here on a signal must not leave the file behind.
        interrupt::listen();
        let mut builder = tempfile::Builder::new();
        readable_by_all(&mut builder);
        let file = builder.prefix(".horchunk-").tempfile_in(folder);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        if let Ok(there) = fs::metadata(&path) {
            // Who might read the file before may read it afterwards, and nobody else.
            file.as_file().set_permissions(there.permissions()).with_context(|| format!("{}", path.display()))?;
        }
        let unfinished = Unfinished::new(file.path());
        Ok(Self::File { file: BufWriter::new(file), path, unfinished })
    }

    /// The place to which [`Self::go_back`] can return; a stream has none.
    pub(super) fn mark(&mut self) -> io::Result<Option<u64>> {
        match self {
            Self::Stream(_) => Ok(None),
            Self::File { file, .. } => file.stream_position().map(Some),
        }
    }

    /// Forgets what was written behind `mark`.
    pub(super) fn go_back(&mut self, mark: u64) -> io::Result<()> {
        match self {
            Self::Stream(_) => Ok(()),
            Self::File { file, .. } => {
                file.seek(SeekFrom::Start(mark))?;
                file.get_ref().as_file().set_len(mark)
            }
        }
    }

    /// Writes what is buffered and gives a file its name.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stream(mut out) => Ok(out.flush()?),
            Self::File { file, path, unfinished } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error);
                let saved = file.and_then(|file| file.persist(&path).map_err(|error| error.error));
                drop(unfinished);
                saved.map(drop).with_context(|| format!("{} cannot be written", path.display()))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(out) => out.write(bytes),
            Self::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }
}

/// Temporary files are for their owner only; the file that one becomes is an ordinary one.
#[cfg(unix)]
fn readable_by_all(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable_by_all(_: &mut tempfile::Builder<'_, '_>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_cannot_lead_out_of_the_folder() {
        assert_eq!(file_name("../../etc/a.md", ".jsonl"), PathBuf::from("etc/a.md.jsonl"));
        assert_eq!(file_name("/abs/b", ".txt"), PathBuf::from("abs/b.txt"));
        assert_eq!(file_name("-", ".txt"), PathBuf::from("stdin.txt"));
        assert_eq!(file_name("..", ".txt"), PathBuf::from("stdin.txt"));
    }
}
