//! The command line: words ([`Args`]) become objects (in each command's module), objects run.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 failed on the data,
//! 2 wrong usage.

mod answer;
mod budget;
mod cache;
mod chunk;
mod dry_run;
mod eval;
mod for_model;
mod fragile;
mod html;
mod input;
pub(crate) mod interrupt;
mod models;
mod output;
mod progress;
mod sentences;
mod settings;
mod shell;
mod text;
pub(crate) mod tune;
mod verify;
pub(crate) mod words;
mod writer;

use std::env;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::iter;

use clap::{Parser, Subcommand, ValueEnum};

/// Cuts text into chunks where its meaning turns.
///
/// Everything works offline: the embedding model ships inside. Start with `horchunk chunk FILE`.
#[derive(Debug, Parser)]
#[command(name = "horchunk", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    talk: Talk,
}

/// What every command says besides its data.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Talk {
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more: the settings in force, the time taken
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Colour the text output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

impl Talk {
    /// Whether text is coloured, by whether it goes to a terminal.
    fn colored(self, to_terminal: bool) -> bool {
        let wanted = || env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => to_terminal && wanted(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Cut text into chunks
    Chunk(Box<chunk::ChunkArgs>),
    /// Show the sentences that the chunkers move
    Sentences(sentences::SentencesArgs),
    /// Find the threshold for a text by judging whether a few sentences hold together
    Tune(Box<tune::TuneArgs>),
    /// Score chunkers: recall, precision and IoU of what they let a question find
    Eval(Box<eval::EvalArgs>),
    /// Answer a question from texts: read every chunk, select among the answers
    Answer(Box<answer::AnswerArgs>),
    /// Say which language models a text fits into, and in how many chunks
    Budget(budget::BudgetCommand),
    /// Show or empty the cache of chunks and of language models' replies
    Cache(cache::CacheCommand),
    /// Check chunks against their source
    Verify(verify::VerifyArgs),
    /// Show and check the embedding models at hand
    Models(models::ModelsArgs),
    /// Print completions for a shell
    Completions(shell::CompletionsArgs),
    /// Print the manual page
    Man,
}

/// How a command ended that did not fail as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All was done.
    Done,
    /// Some input failed and was reported; the rest was done.
    SomeFailed,
}

/// A word on the command line that cannot be what is meant.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Runs what the words ask for.
pub(crate) fn run(args: Args) -> anyhow::Result<Outcome> {
    let talk = args.talk;
    match args.command {
        Command::Chunk(args) => chunk::run(&args, talk),
        Command::Sentences(args) => sentences::run(&args, talk),
        Command::Tune(args) => tune::run(&args, talk),
        Command::Eval(args) => eval::run(&args, talk),
        Command::Answer(args) => answer::run(&args, talk),
        Command::Budget(args) => budget::run(&args, talk),
        Command::Cache(args) => cache::run(&args),
        Command::Verify(args) => verify::run(&args, talk),
        Command::Models(args) => models::run(&args, talk),
        Command::Completions(args) => shell::completions(args),
        Command::Man => shell::man(),
    }
}

/// The exit code of a command that failed as a whole.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    if interrupt::check().is_err() || error.is::<interrupt::Interrupted>() {
        interrupt::EXIT_CODE
    } else if error.is::<Usage>() {
        2
    } else {
        1
    }
}

/// An error and all its causes, on one line; a cause that repeats what was said already is left out.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    causes(error.as_ref())
}

fn causes(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    for cause in iter::successors(Some(error), |&error| error.source()) {
        let said = cause.to_string();
        if !line.ends_with(&said) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&said);
        }
    }
    line
}

/// A line on standard error. Nobody may be there to read it, which stops no work.
fn say(line: impl Display) {
    writeln!(io::stderr(), "{}", words::Harmless(&line.to_string())).ok();
}

/// What failed while the rest went on. Every failure is said, until there are so many that nobody reads on.
#[derive(Debug, Default)]
struct Failures {
    count: usize,
}

impl Failures {
    const SAID: usize = 20;

    fn add(&mut self, error: &anyhow::Error) {
        self.count += 1;
        if self.count <= Self::SAID {
            report(error);
        }
    }

    /// How the command ended, after all documents.
    fn outcome(&self) -> Outcome {
        if self.count > Self::SAID {
            say(format_args!("horchunk: {} more of the kind; {} in all", self.count - Self::SAID, self.count));
        }
        if self.count == 0 { Outcome::Done } else { Outcome::SomeFailed }
    }
}

/// Says what failed.
pub(crate) fn report(error: &anyhow::Error) {
    say(format_args!("horchunk: {}", chain(error)));
}

/// A number of things, in words.
pub(crate) fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Whether the reader of our output went away.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}
