//! From the words of the command line to documents: files, folders, standard input, JSON Lines.
//!
//! Documents come one at a time; one that cannot be read is an error of its own and the next one follows.

mod decode;
mod jsonl;
mod parts;
mod walk;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde_json::{Map, Value};

use super::Usage;

pub(super) use decode::decode;
pub(super) use parts::Parts;

/// Which texts to read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArgs {
    /// Files, folders, or - for standard input
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
}

/// How texts are read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Input")]
pub(super) struct ReadArgs {
    /// In folders, read the files that match instead of .txt, .md and friends (repeatable)
    #[arg(long, value_name = "GLOB")]
    glob: Vec<String>,
    /// How the files are to be read
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    input_format: InputFormat,
    /// JSON Lines: the field that holds the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,
    /// JSON Lines: the field that names the document [default: the line number]
    #[arg(long, value_name = "NAME")]
    id_field: Option<String>,
    /// Read text that is not valid UTF-8, with U+FFFD for what is broken
    #[arg(long)]
    lossy: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// JSON Lines if the name ends in .jsonl or .ndjson, otherwise text
    Auto,
    /// A file is a document
    Text,
    /// A line is a document
    Jsonl,
}

/// A text to work on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Document {
    /// Path as given, relative to its folder with `/`, `-`, or the id in a corpus.
    pub(super) name: String,
    pub(super) text: String,
    /// The source was not valid UTF-8 and spans index the decoded text.
    pub(super) lossy: bool,
    /// Other fields of a corpus line.
    pub(super) extra: Map<String, Value>,
}

/// A document, or a text that may be too long to be held.
pub(super) enum Source {
    Document(Document),
    Long(Unread),
}

impl Source {
    /// The document, held whatever its length.
    pub(super) fn document(self) -> anyhow::Result<Document> {
        match self {
            Self::Document(document) => Ok(document),
            Self::Long(unread) => unread.document(),
        }
    }
}

/// A text that nobody has read.
pub(super) struct Unread {
    /// As [`Document::name`].
    pub(super) name: String,
    reader: Box<dyn Read>,
    /// Where it lies in a file.
    bytes: Option<u64>,
    lossy: bool,
}

/// Bytes of a file from which on it is long.
const LONG: u64 = 1 << 24;

impl Unread {
    /// All of it.
    fn document(mut self) -> anyhow::Result<Document> {
        let (name, mut bytes) = (self.name, Vec::new());
        self.reader.read_to_end(&mut bytes).with_context(|| format!("{name} cannot be read"))?;
        let (text, lossy) = decode(bytes, self.lossy).with_context(|| name.clone())?;
        Ok(Document { name, text, lossy, extra: Map::new() })
    }

    /// Whether it may be too long to be held, and can be read in parts: only the whole tells whether a text is UTF-8
    /// that was repaired.
    fn is_long(&self) -> bool {
        !self.lossy && self.bytes.is_none_or(|bytes| bytes > LONG)
    }

    /// What is known of it before it is read.
    pub(super) fn without_text(&self) -> Document {
        Document { name: self.name.clone(), text: String::new(), lossy: false, extra: Map::new() }
    }

    /// It, part by part.
    pub(super) fn parts(self) -> Parts {
        Parts::new(self.reader)
    }
}

/// Where a document lies.
#[derive(Debug, Clone)]
enum Place {
    StandardInput,
    File { path: PathBuf, name: String },
}

/// The documents asked for.
pub(super) struct Inputs<'a> {
    args: &'a ReadArgs,
    places: Vec<anyhow::Result<Place>>,
}

impl InputArgs {
    /// Finds the files; reads none. What lies at `output` is the work of an earlier run, not something to read, unless
    /// it is named itself.
    pub(super) fn open(&self, output: Option<&Path>) -> anyhow::Result<Inputs<'_>> {
        let output = output.and_then(|path| fs::canonicalize(path).ok());
        let mut paths = self.paths.clone();
        if paths.is_empty() {
            if io::stdin().is_terminal() {
                bail!(Usage("nothing to read: name files or folders, or pipe text in".to_owned()));
            }
            paths.push(PathBuf::from("-"));
        }
        let mut places = Vec::new();
        for path in &paths {
            if path.as_os_str() == "-" {
                places.push(Ok(Place::StandardInput));
            } else if path.is_dir() {
                // Of several folders the names keep their folder in front, or they could not be told apart.
                let prefix = if paths.len() > 1 { path.as_path() } else { Path::new("") };
                places.extend(walk::files(path, prefix, &self.read.glob, output.as_deref())?);
            } else {
                places.push(Ok(Place::File { path: path.clone(), name: path.to_string_lossy().into_owned() }));
            }
        }
        Ok(Inputs { args: &self.read, places })
    }
}

impl<'a> Inputs<'a> {
    /// Bytes to be read, where all of them lie in files, and not in pipes.
    pub(super) fn bytes(&self) -> Option<u64> {
        let size = |place: &anyhow::Result<Place>| match place {
            Ok(Place::File { path, .. }) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len())
            }
            Ok(Place::StandardInput) => None,
            Err(_) => Some(0),
        };
        self.places.iter().map(size).sum()
    }

    /// The files to be read, as the system calls them.
    pub(super) fn files(&self) -> HashSet<PathBuf> {
        let files = self.places.iter().filter_map(|place| match place {
            Ok(Place::File { path, .. }) => fs::canonicalize(path).ok(),
            Ok(Place::StandardInput) | Err(_) => None,
        });
        files.collect()
    }

    /// The documents, each read when it is asked for. One that has the name of an earlier one is an error: nobody
    /// could tell their chunks apart.
    pub(super) fn documents(self) -> impl Iterator<Item = anyhow::Result<Document>> + use<'a> {
        self.sources().map(|source| source?.document())
    }

    /// The documents as [`Self::documents`] has them, but that long ones are not read yet.
    pub(super) fn sources(self) -> impl Iterator<Item = anyhow::Result<Source>> + use<'a> {
        let args = self.args;
        let sources = self.places.into_iter().flat_map(move |place| match place {
            Err(error) => Sources::One(Some(Err(error))),
            Ok(place) => args.read(place),
        });
        let mut names = Names::default();
        sources.map(move |source| {
            let source = source?;
            let name = match &source {
                Source::Document(document) => &document.name,
                Source::Long(unread) => &unread.name,
            };
            let place = name.rsplit_once(':').map(|(place, _)| place);
            let is_line = args.id_field.is_none() && place.is_some_and(|place| !args.is_text(place));
            if !names.take(name, is_line) {
                bail!("{name}: an earlier document has this name already; this one is left out");
            }
            Ok(source)
        })
    }
}

/// The names that documents have so far. Those of corpora without names of their own are counted, not kept: a corpus
/// may have a thousand million lines.
#[derive(Default)]
struct Names {
    kept: HashSet<String>,
    /// The last line of each corpus that gave a document.
    lines: HashMap<String, usize>,
}

impl Names {
    /// Whether no document has this name; from now on one has. A line of a corpus is named by its number.
    fn take(&mut self, name: &str, is_line: bool) -> bool {
        let line = name.rsplit_once(':').filter(|_| is_line);
        let line = line.and_then(|(place, line)| Some((place, line.parse::<usize>().ok()?)));
        let Some((place, line)) = line else { return self.kept.insert(name.to_owned()) };
        match self.lines.get_mut(place) {
            Some(last) if line > *last => *last = line,
            Some(_) => return false,
            None => {
                self.lines.insert(place.to_owned(), line);
            }
        }
        true
    }
}

/// What one place holds.
enum Sources<'a> {
    One(Option<anyhow::Result<Source>>),
    Lines(jsonl::Lines<'a>),
}

impl Iterator for Sources<'_> {
    type Item = anyhow::Result<Source>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::One(source) => source.take(),
            Self::Lines(lines) => Some(lines.next()?.map(Source::Document)),
        }
    }
}

impl ReadArgs {
    /// Whether the file of this name is one document.
    pub(super) fn is_text(&self, name: &str) -> bool {
        match self.input_format {
            InputFormat::Auto => ![".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending)),
            InputFormat::Text => true,
            InputFormat::Jsonl => false,
        }
    }

    fn read(&self, place: Place) -> Sources<'_> {
        let (name, opened) = match place {
            Place::StandardInput => ("-".to_owned(), Ok((Box::new(io::stdin()) as Box<dyn Read>, None))),
            Place::File { path, name } => (name, open(&path)),
        };
        let source = match opened {
            Err(error) => Err(error),
            Ok((reader, bytes)) if self.is_text(&name) => {
                let unread = Unread { name, reader, bytes, lossy: self.lossy };
                if unread.is_long() { Ok(Source::Long(unread)) } else { unread.document().map(Source::Document) }
            }
            Ok((reader, _)) => {
                let fields = jsonl::Fields { text: &self.text_field, id: self.id_field.as_deref() };
                return Sources::Lines(jsonl::Lines::new(name, reader, fields, self.lossy));
            }
        };
        Sources::One(Some(source))
    }
}

/// A reader of the file, and its size where it has one.
fn open(path: &Path) -> anyhow::Result<(Box<dyn Read>, Option<u64>)> {
    let file = fs::File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
    let bytes = file.metadata().ok().filter(fs::Metadata::is_file).map(|data| data.len());
    Ok((Box::new(file), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_other_names_kept() {
        let mut names = Names::default();
        assert!(["-:1", "-:3", "a.jsonl:1"].into_iter().all(|name| names.take(name, true)));
        assert!(["-:3", "-:2", "a.jsonl:1"].into_iter().all(|name| !names.take(name, true)));
        assert!(["b:2", "b:1", "b", "-"].into_iter().all(|name| names.take(name, false)), "these come in any order");
        assert!(["b:1", "-"].into_iter().all(|name| !names.take(name, false)));
        assert_eq!((names.kept.len(), names.lines.len()), (4, 2));
    }
}
