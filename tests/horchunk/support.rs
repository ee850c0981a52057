//! What the tests share: the reference data, a folder to run the program in, and the laws of chunks.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use horchunk::{Chunk, Record, Recorder, SentenceTransformer, TokenCounter, Verifier};
use tempfile::TempDir;

/// A text of seven paragraphs in wrapped lines.
pub(crate) const HARBOUR: &str = include_str!("../fixtures/texts/harbour.txt");

/// The bundled model, loaded once.
pub(crate) static BUNDLED: LazyLock<SentenceTransformer> = LazyLock::new(|| SentenceTransformer::bundled().unwrap());

/// A file or folder of the reference data beside the repository; says so where it is absent.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: the reference data {} are not here", path.display());
    None
}

/// A file or folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A temporary folder in which the program runs, away from the settings and models of whoever tests it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A folder that holds these files.
    pub(crate) fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of all files, with their folders, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![self.0.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    names.push(path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        names.sort();
        names
    }

    /// The program with the words of `line`, which are parted by spaces.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horchunk"));
        command.args(line.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        for name in [
            "HORCHUNK_MODEL",
            "HORCHUNK_CACHE",
            "RAYON_NUM_THREADS",
            "HF_HUB_CACHE",
            "HF_ENDPOINT",
            "HF_TOKEN",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(name);
        }
        for (name, folder) in [("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache")]
        {
            command.env(name, self.path(folder));
        }
        command.env("NO_COLOR", "1").env("HF_HUB_OFFLINE", "1").env("HF_HOME", self.path("hf"));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        Ran::new(line, self.command(line).output().unwrap())
    }

    /// Runs the program with `input` on its standard input.
    pub(crate) fn run_on(&self, input: impl AsRef<[u8]>, line: &str) -> Ran {
        let input = input.as_ref();
        let mut command = self.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A program that refuses its input does not read to the end.
            scope.spawn(move || drop(stdin.write_all(input)));
            Ran::new(line, child.wait_with_output().unwrap())
        })
    }

    /// What a run that succeeds and says nothing writes.
    pub(crate) fn out(&self, line: &str) -> String {
        self.run(line).done()
    }

    /// The records of such a run.
    pub(crate) fn records(&self, line: &str) -> Vec<Record<'static>> {
        records(&self.out(&format!("{line} --format jsonl")))
    }
}

/// The records in JSON Lines.
pub(crate) fn records(lines: &str) -> Vec<Record<'static>> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// How a run of the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(line: &str, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { line: line.to_owned(), code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output of a run that succeeded without a word.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "horchunk {}", self.line);
        self.out
    }

    /// Checks that the run wrote no data and failed with this exit code and one message that holds these words.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) {
        assert_eq!(self.out, "", "horchunk {}", self.line);
        self.complains(code, words);
    }

    /// The same for a run that may have written data.
    #[track_caller]
    pub(crate) fn complains(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "horchunk {}: {}", self.line, self.err);
        // The parser of the command line adds hints to its message, on lines of their own.
        let message = self.err.strip_prefix("error: ").map(|all| all.replace('\n', " "));
        let message = message.or_else(|| self.err.strip_prefix("horchunk: ").map(str::to_owned));
        let message = message.unwrap_or_else(|| panic!("horchunk {}: no message in {:?}", self.line, self.err));
        assert!(!message.trim_end().contains('\n'), "horchunk {}: one message: {message}", self.line);
        for word in words {
            assert!(message.contains(word), "horchunk {}: {word:?} is not in {message:?}", self.line);
        }
    }
}

/// Checks the laws of all chunks with a verifier of its own settings.
#[track_caller]
pub(crate) fn assert_lawful(verifier: Verifier, text: &str, chunks: &[Chunk<'_>], counter: &dyn TokenCounter) {
    let mut recorder = Recorder::new("case", Some("its counter"));
    let records: Vec<Record<'_>> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
    let violations = verifier.check(text, &records, Some(counter)).unwrap();
    assert!(violations.is_empty(), "{violations:#?}");
}
