//! `horchunk verify`: reads source and chunks again and checks every law.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use horchunk::{Record, TokenCounter, Verifier};

use super::input::{InputArgs, ReadArgs};
use super::settings::{CounterName, ModelArgs};
use super::{Failures, Outcome, Talk, Usage, plural};

/// Words of `horchunk verify`.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    /// What was chunked, as it was given to `chunk`; then the chunks: JSON Lines, a JSON array, or a folder of such
    /// files. One of them may be - for standard input
    #[arg(required = true, num_args = 2.., value_names = ["SOURCE", "CHUNKS"])]
    paths: Vec<PathBuf>,
    /// No chunk may have more tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
    /// The chunks joined must be the source, byte for byte
    #[arg(long, conflicts_with = "overlap")]
    keep_whitespace: bool,
    /// Chunks may overlap
    #[arg(long)]
    overlap: bool,
    /// Count by this instead of the counter that the chunks name
    #[arg(long, value_name = "COUNTER")]
    tokens: Option<CounterName>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Runs `horchunk verify`.
pub(super) fn run(args: &VerifyArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let Some((made, sources)) = args.paths.split_last() else { return Ok(Outcome::Done) };
    if made.as_os_str() == "-" && sources.contains(made) {
        return Err(Usage("source and chunks cannot both be standard input: name a file for one of them".into()).into());
    }
    let mut records = read_records(made)?;
    let mut counters = Counters { args, talk, loaded: HashMap::new() };
    let verifier = args.verifier();
    let input = InputArgs { paths: sources.to_vec(), read: args.read.clone() };
    let one = records.len() == 1
        && matches!(sources, [source] if !source.is_dir() && args.read.is_text(&source.to_string_lossy()));
    let (mut documents, mut chunks, mut violations, mut failures) = (0, 0, 0, Failures::default());
    let mut out = io::stdout().lock();
    for document in input.open(Some(made))?.documents() {
        let document = match document {
            Ok(document) => document,
            Err(error) => {
                failures.add(&error);
                continue;
            }
        };
        // A single file may have been named otherwise when it was chunked.
        let name = if one { records.keys().next().cloned() } else { Some(document.name.clone()) };
        let of_document = name.and_then(|name| records.remove(&name)).unwrap_or_default();
        let checked = counters.of(&of_document).and_then(|counter| {
            let found = verifier.check(&document.text, &of_document, counter.as_deref());
            found.with_context(|| document.name.clone())
        });
        let found = match checked {
            Ok(found) => found,
            Err(error) if error.is::<Usage>() => return Err(error),
            Err(error) => {
                failures.add(&error);
                continue;
            }
        };
        documents += 1;
        chunks += of_document.len();
        violations += found.len();
        for violation in found {
            writeln!(out, "{}: {violation}", document.name)?;
        }
    }
    let mut strangers: Vec<_> = records.into_iter().collect();
    strangers.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, chunks) in strangers {
        violations += 1;
        let chunks = plural(chunks.len(), "chunk");
        writeln!(out, "{name}: {chunks} of a document that is not there")?;
    }
    let outcome = failures.outcome();
    let checked = format!("{}, {}", plural(documents, "document"), plural(chunks, "chunk"));
    if violations > 0 {
        writeln!(out, "{checked}: {}", plural(violations, "violation"))?;
        return Ok(Outcome::SomeFailed);
    }
    if !talk.quiet {
        writeln!(out, "{checked}: all laws hold")?;
    }
    Ok(outcome)
}

impl VerifyArgs {
    fn verifier(&self) -> Verifier {
        let mut verifier = Verifier::new();
        if let Some(max_tokens) = self.max_tokens {
            verifier = verifier.with_max_tokens(max_tokens);
        }
        if self.keep_whitespace {
            verifier = verifier.with_kept_white_space();
        }
        if self.overlap { verifier.with_overlap() } else { verifier }
    }
}

/// The counters that records name, each loaded once.
struct Counters<'a> {
    args: &'a VerifyArgs,
    talk: Talk,
    loaded: HashMap<String, Option<Arc<dyn TokenCounter>>>,
}

impl Counters<'_> {
    fn of(&mut self, records: &[Record<'_>]) -> anyhow::Result<Option<Arc<dyn TokenCounter>>> {
        let name = match (&self.args.tokens, records.iter().find_map(|record| record.token_counter.as_deref())) {
            (Some(name), _) => name.clone(),
            (None, Some("model")) if self.args.model.model == "bundled" => {
                return Err(Usage(
                    "the chunks were counted by the tokenizer of their model: say which with --model".into(),
                )
                .into());
            }
            (None, Some(name)) => name.parse().map_err(|error: String| anyhow!(error))?,
            (None, None) if self.args.max_tokens.is_some() && !records.is_empty() => {
                return Err(Usage("the chunks name no token counter: say which with --tokens".into()).into());
            }
            (None, None) => return Ok(None),
        };
        if let Some(counter) = self.loaded.get(&name.to_string()) {
            return Ok(counter.clone());
        }
        let counter = name.load(|| self.args.model.load(self.talk), self.talk)?;
        self.loaded.insert(name.to_string(), counter.clone());
        Ok(counter)
    }
}

/// All records, by document, in the order in which they stand.
fn read_records(path: &Path) -> anyhow::Result<HashMap<String, Vec<Record<'static>>>> {
    let mut records = HashMap::new();
    if path.is_dir() {
        let mut walk: Vec<_> =
            ignore::WalkBuilder::new(path).standard_filters(false).build().collect::<Result<_, _>>()?;
        walk.retain(|entry| {
            entry.path().extension().is_some_and(|ending| ending == "jsonl" || ending == "json")
                && entry.file_type().is_some_and(|kind| kind.is_file())
        });
        for entry in walk {
            read_file(entry.path(), &mut records)?;
        }
    } else {
        read_file(path, &mut records)?;
    }
    Ok(records)
}

fn read_file(path: &Path, records: &mut HashMap<String, Vec<Record<'static>>>) -> anyhow::Result<()> {
    let name = path.display();
    let reader: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(fs::File::open(path).with_context(|| format!("{name} cannot be opened"))?)
    };
    let mut reader = BufReader::new(reader);
    let mut add = |record: Record<'static>| records.entry(record.document.to_string()).or_default().push(record);
    if reader.fill_buf().with_context(|| format!("{name} cannot be read"))?.trim_ascii_start().starts_with(b"[") {
        let all: Vec<Record<'static>> =
            serde_json::from_reader(reader).with_context(|| format!("{name} is no array of chunks"))?;
        all.into_iter().for_each(add);
        return Ok(());
    }
    for (number, line) in reader.lines().enumerate() {
        let line = line.with_context(|| format!("{name}: line {} cannot be read", number + 1))?;
        if !line.trim().is_empty() {
            let record = serde_json::from_str(&line);
            add(record.with_context(|| format!("{name}: line {} is no chunk", number + 1))?);
        }
    }
    Ok(())
}
