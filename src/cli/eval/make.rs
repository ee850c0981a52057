//! `horchunk eval make`: a benchmark of one's own texts, with the help of a language model.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use horchunk::evaluation::{Corpus, Dataset, Journal, MakeSettings, make_questions};

use crate::cli::input::InputArgs;
use crate::cli::output::Target;
use crate::cli::settings::{ChatArgs, ModelArgs};
use crate::cli::{Failures, Outcome, Talk, Usage, interrupt, plural, say};

/// Words of `horchunk eval make`.
#[derive(Debug, clap::Args)]
pub(super) struct MakeArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The folder of the benchmark; a run that stopped goes on from what lies there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Questions on each text
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    questions: u16,
    /// Drop a question whose cosine with one of its excerpts is lower
    #[arg(long, value_name = "COSINE", default_value_t = MakeSettings::default().min_similarity, allow_negative_numbers = true)]
    min_similarity: f32,
    /// Drop a question whose cosine with an earlier one is at least this
    #[arg(long, value_name = "COSINE", default_value_t = MakeSettings::default().max_likeness, allow_negative_numbers = true)]
    max_likeness: f32,
    /// Another number chooses other passages
    #[arg(long, value_name = "N", default_value_t = MakeSettings::default().seed)]
    seed: u64,
    #[command(flatten)]
    chat: ChatArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Runs `horchunk eval make`.
pub(super) fn run(args: &MakeArgs, talk: Talk) -> anyhow::Result<Outcome> {
    let Some(chat) = args.chat.open()? else {
        return Err(Usage("name the language model that asks the questions, with --llm".to_owned()).into());
    };
    for (flag, cosine) in [("--min-similarity", args.min_similarity), ("--max-likeness", args.max_likeness)] {
        if !(-1.0..=1.0).contains(&cosine) {
            return Err(Usage(format!("{flag} {cosine}: a cosine lies between -1 and 1")).into());
        }
    }
    let mut settings = MakeSettings::default();
    settings.questions = args.questions.into();
    settings.min_similarity = args.min_similarity;
    settings.max_likeness = args.max_likeness;
    settings.seed = args.seed;
    let mut failures = Failures::default();
    let corpora = args.corpora(&mut failures)?;
    let model = args.model.load(talk)?;
    let mut journal = Journal::open(args.to.join("journal.jsonl"))?;
    let table = args.to.join("questions_df.csv");
    let wanted = settings.questions * corpora.len();
    let made = make_questions(&corpora, &*chat, &model, &settings, &mut journal, |progress| {
        let (corpus, count) = (progress.corpus, progress.dataset.questions.len());
        if let Some(rejected) = progress.rejected {
            if talk.verbose {
                say(format_args!("{corpus}: dropped: {rejected}"));
            }
        } else {
            // What was made is usable at any time; a failure to write shows at the end.
            if progress.fresh {
                let _ = save(progress.dataset, &table);
            }
            if !talk.quiet {
                say(format_args!("{count} of {wanted}: {corpus}: {}", progress.dataset.questions[count - 1].text));
            }
        }
    });
    if !talk.quiet {
        let tokens = |of: fn(&horchunk::evaluation::Attempt) -> Option<u64>| {
            journal.replies().iter().filter_map(of).sum::<u64>()
        };
        let (sent, said) = (tokens(|reply| reply.input_tokens), tokens(|reply| reply.output_tokens));
        let replies = if journal.replies().len() == 1 { "reply" } else { "replies" };
        say(format_args!(
            "{} {replies} of {} in {}: {sent} tokens asked, {said} tokens answered",
            journal.replies().len(),
            chat.name(),
            journal.path().display()
        ));
    }
    interrupt::check()?;
    let (dataset, given_up) = made?;
    for text in given_up {
        failures.add(&text.into());
    }
    save(&dataset, &table)?;
    if !talk.quiet {
        let made = plural(dataset.questions.len(), "question");
        say(format_args!("{made} made; score on them with: horchunk eval --data {}", args.to.display()));
    }
    Ok(failures.outcome())
}

impl MakeArgs {
    /// The texts, each copied into the benchmark's folder under the name that questions have for it.
    fn corpora(&self, failures: &mut Failures) -> anyhow::Result<Vec<Corpus>> {
        let mut texts = BTreeMap::new();
        for document in self.input.open(Some(&self.to))?.documents() {
            match document {
                Err(error) => failures.add(&error),
                Ok(document) if document.text.trim().is_empty() => {
                    failures.add(&anyhow!("{}: there is nothing to ask about an empty text", document.name));
                }
                Ok(document) => {
                    let id = id(&document.name);
                    // Offsets are those of Python's text mode, which knows one line end.
                    let text = document.text.replace("\r\n", "\n").replace('\r', "\n");
                    if texts.insert(id.clone(), text).is_some() {
                        bail!("two texts would be named {id}: make a benchmark of each, or rename one");
                    }
                }
            }
        }
        let folder = self.to.join("corpora");
        fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let there = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let others = there.filter(|path| {
            let id = path.file_name().map(|name| name.to_string_lossy().trim_end_matches(".md").to_owned());
            id.is_none_or(|id| !texts.contains_key(&id))
        });
        if let Some(other) = others.min() {
            bail!("{} is of another benchmark: name all of its texts, or take another --to", other.display());
        }
        for (id, text) in &texts {
            let path = folder.join(format!("{id}.md"));
            if fs::read(&path).is_ok_and(|there| there != text.as_bytes()) {
                bail!("{} is another text than the one to ask about: take another --to", path.display());
            }
            fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        if texts.is_empty() {
            bail!("there is no text to ask about");
        }
        Ok(texts.into_iter().map(|(id, text)| Corpus { id, text }).collect())
    }
}

/// A document's name as a file name: its path in one component, without the ending that all texts have.
fn id(name: &str) -> String {
    let name = [".md", ".txt"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let parts = Path::new(name).components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    let joined = parts.collect::<Vec<_>>().join("_").replace([':', '\\'], "_");
    if joined.is_empty() || joined == "-" { "stdin".to_owned() } else { joined }
}

/// Writes the questions, all or nothing.
fn save(dataset: &Dataset, path: &Path) -> anyhow::Result<()> {
    let mut out = Target::new(Some(path), "", HashSet::new()).open("")?;
    dataset.write_questions(&mut out).with_context(|| format!("{} cannot be written", path.display()))?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn an_id_is_one_component() {
        assert_eq!(id("docs/a.b.md"), "docs_a.b");
        assert_eq!(id("../x/y"), "x_y");
        assert_eq!([id("-"), id("/")], ["stdin", "stdin"]);
        assert_eq!([id("corpus.jsonl:3"), id("corpus.jsonl:4")], ["corpus.jsonl_3", "corpus.jsonl_4"]);
        assert_ne!(id("v1.0"), id("v1.1"));
    }
}
