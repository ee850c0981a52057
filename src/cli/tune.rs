//! `horchunk tune`: the threshold for a text, from somebody's judgement.

mod course;
mod judged;
mod keeper;
mod labels;
mod plain;
pub(crate) mod summary;

use std::env;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::bail;
use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use horchunk::tuning::{Phase, Sample, Sampler, Search, Session, TextStamp, Tuner};
use horchunk::{Embedder, SentenceSplitter, SentenceTransformer, SplitterName, TokenCounter};
use indicatif::{ProgressBar, ProgressStyle};

use super::input::{Document, InputArgs};
use super::interrupt::{self, Interruptible};
use super::settings::{ChatArgs, CounterName, ModelArgs};
use super::{Failures, Outcome, Talk, Usage, plural, say};
use crate::tui;

use course::{CourseArgs, at_least_one};
use keeper::{Place, absolute};

pub(crate) use keeper::Keeper;
pub(super) use keeper::profile_folders;

/// Words of `horchunk tune`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct TuneArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the judgements of sessions as a small gold set
    Export(labels::ExportArgs),
    /// Say how far a threshold agrees with the judgements of sessions
    Score(labels::ScoreArgs),
    /// List the profiles at hand
    Profiles,
}

/// What to tune on, and who judges.
#[derive(Debug, clap::Args)]
struct RunArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    course: CourseArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

/// Who judges.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Who judges")]
struct JudgeArgs {
    /// person, llm (see --llm) or script:FILE with one verdict a line: holds, drifts or skip
    #[arg(long, value_name = "JUDGE", default_value = "person", conflicts_with = "target_tokens")]
    judge: Who,
    /// No judge: find the threshold whose chunks have this median size
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    target_tokens: Option<u64>,
    /// Ask line by line, without a screen: for pipes and screen readers
    #[arg(long)]
    plain: bool,
    /// The name that the session and the profile have for the person
    #[arg(long, value_name = "NAME", default_value = "person", hide_default_value = true, value_parser = NonEmptyStringValueParser::new())]
    judged_by: String,
    /// Calls of the language model for a verdict; the majority decides, a tie lowers the threshold
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    votes: u16,
    /// Temperature of the language model
    #[arg(long, value_name = "X", default_value_t = 0.7, allow_negative_numbers = true)]
    temperature: f32,
    /// Count tokens by: `o200k_base`, `cl100k_base`, `p50k_base`, `r50k_base`, wordpiece, or a tokenizer.json
    #[arg(long, value_name = "COUNTER", default_value = "cl100k_base")]
    tokens: CounterName,
}

/// `--judge`
#[derive(Debug, Clone, PartialEq, Eq)]
enum Who {
    Person,
    Llm,
    Script(PathBuf),
}

impl FromStr for Who {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.split_once(':') {
            None if word == "person" => Ok(Self::Person),
            None if word == "llm" => Ok(Self::Llm),
            Some(("script", file)) if !file.is_empty() => Ok(Self::Script(file.into())),
            _ => Err("take person, llm or script:FILE".to_owned()),
        }
    }
}

/// Where judgements and result are kept.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is kept")]
struct KeepArgs {
    /// The file that keeps every verdict [default: a new one below `$XDG_STATE_HOME/horchunk`]
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Go on with the session of --session, or with the last one (about the texts named, if any are)
    #[arg(long)]
    resume: bool,
    /// The profile to write: a name for tuning/NAME.toml, or a path [default: the name of the first text]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// Runs `horchunk tune`.
pub(super) fn run(args: &TuneArgs, talk: Talk) -> anyhow::Result<Outcome> {
    match &args.action {
        None => tune(&args.run, talk),
        Some(Action::Export(args)) => labels::export(args),
        Some(Action::Score(args)) => labels::score(args),
        Some(Action::Profiles) => labels::profiles(),
    }
}

/// Everything that is there before the first question.
pub(crate) struct Course {
    documents: Vec<Document>,
    pub(crate) model: SentenceTransformer,
    pub(crate) splitter: Arc<dyn SentenceSplitter>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) keeper: Keeper,
    talk: Talk,
}

fn tune(args: &RunArgs, talk: Talk) -> anyhow::Result<Outcome> {
    args.judge.check(&args.input)?;
    if args.input.paths.is_empty() && !args.keep.resume {
        return Err(Usage("name the texts to tune on, or --resume a session".to_owned()).into());
    }
    let place = Place::find(&args.keep, &args.input)?;
    let (documents, outcome) = documents(args, &place)?;
    if documents.is_empty() {
        return Ok(outcome);
    }
    args.judge.check_terminal()?;
    let model = args.model.load(talk)?;
    let keeper = args.keeper(place, &documents, &model)?;
    keeper.check_profile(&args.judge.name())?;
    let settings = &keeper.session.settings;
    let splitter_name: SplitterName = settings.sentences.parse()?;
    let counter = args.judge.tokens.load(|| Ok(model.clone()), talk)?;
    let counter = counter.ok_or_else(|| Usage("--tokens none: sizes are shown in tokens".to_owned()))?;
    let splitter: Arc<dyn SentenceSplitter> = Arc::from(splitter_name.splitter(Some(&counter))?);
    let course = Course { documents, model, splitter, counter, keeper, talk };
    let ended = match (&args.judge.judge, args.judge.target_tokens) {
        (_, Some(target)) => judged::by_target(course, usize::try_from(target)?),
        (Who::Person, None) if args.judge.plain => plain::run(course, &args.judge.judged_by),
        (Who::Person, None) => at_screen(course, &args.judge.judged_by),
        (Who::Llm, None) => judged::by_llm(course, &args.judge, &args.chat),
        (Who::Script(file), None) => judged::by_script(course, file),
    };
    Ok(if ended? == Outcome::Done { outcome } else { Outcome::SomeFailed })
}

/// The terminal app, then the result.
fn at_screen(mut course: Course, judge: &str) -> anyhow::Result<Outcome> {
    let talk = course.talk;
    let ended = tui::run(&mut course, judge, talk.colored(io::stderr().is_terminal()));
    if let Err(interrupted) = interrupt::check() {
        summary::stopped(&course.keeper, "interrupted");
        return Err(interrupted.into());
    }
    let ended = ended?;
    if talk.verbose {
        let (keys, longest) = ended.keys;
        say(format_args!(
            "{}; at most {:.1} ms from one to the screen",
            plural(keys, "key"),
            longest.as_secs_f64() * 1e3
        ));
    }
    match ended.tuner.as_ref().and_then(Tuner::found) {
        Some(found) => summary::print(&course.keeper, &found, ended.written, talk),
        None => Ok(summary::stopped(&course.keeper, "stopped")),
    }
}

impl JudgeArgs {
    /// Whether the words go together, and with where we run.
    fn check(&self, input: &InputArgs) -> Result<(), Usage> {
        let person = self.judge == Who::Person && self.target_tokens.is_none();
        if self.plain && !person {
            return Err(Usage("--plain is for a person: leave it out with another judge".to_owned()));
        }
        if !self.temperature.is_finite() || self.temperature < 0.0 {
            return Err(Usage(format!("--temperature {}: take a number from 0", self.temperature)));
        }
        if person && input.paths.iter().any(|path| path.as_os_str() == "-") {
            return Err(Usage(
                "the verdicts are read from standard input, so the text cannot be: name a file".to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether the app has a terminal, if it is to have one.
    fn check_terminal(&self) -> Result<(), Usage> {
        let at_screen = self.judge == Who::Person && self.target_tokens.is_none() && !self.plain;
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        if at_screen && (dumb || !(io::stdin().is_terminal() && io::stderr().is_terminal())) {
            let instead = "add --plain to answer line by line, or take another --judge";
            return Err(Usage(format!("there is no terminal to show the runs on: {instead}")));
        }
        Ok(())
    }

    /// Who judges, as the session and the profile have it.
    fn name(&self) -> String {
        match (&self.judge, self.target_tokens) {
            (_, Some(target)) => format!("target:{target}"),
            (Who::Person, None) => self.judged_by.clone(),
            (Who::Llm, None) => "llm".to_owned(),
            (Who::Script(_), None) => "script".to_owned(),
        }
    }
}

/// The texts: those named, or those of the session.
fn documents(args: &RunArgs, place: &Place) -> anyhow::Result<(Vec<Document>, Outcome)> {
    let mut input = args.input.clone();
    if input.paths.is_empty() {
        input.paths = place.paths();
    }
    let mut failures = Failures::default();
    let mut documents = Vec::new();
    for document in input.open(None)?.documents() {
        match document {
            Ok(document) => documents.push(document),
            Err(error) => failures.add(&error),
        }
    }
    let outcome = failures.outcome();
    if documents.is_empty() && outcome == Outcome::Done {
        bail!("there is no text to tune on");
    }
    Ok((documents, outcome))
}

impl RunArgs {
    /// The session as it was, or a new one of these settings.
    fn keeper(&self, place: Place, documents: &[Document], model: &SentenceTransformer) -> anyhow::Result<Keeper> {
        let stamps = documents.iter().map(|document| TextStamp::new(document.name.as_str(), &document.text)).collect();
        match place {
            Place::Open(file, session) => {
                self.course.agrees(&session.settings)?;
                let settings = &session.settings;
                let at_hand = (model.weights_sha256()?, model.text_prefix());
                if (settings.model_sha256.as_str(), settings.text_prefix.as_str()) != (at_hand.0.as_str(), at_hand.1) {
                    bail!(
                        "the session was begun with the model {} and another one is at hand: name it with --model",
                        settings.model
                    );
                }
                let paths = absolute(&self.input.paths);
                if !paths.is_empty() && paths != session.paths {
                    let then: Vec<String> = session.paths.iter().map(|path| path.display().to_string()).collect();
                    bail!("the session is about {}: name the same texts, or none", then.join(", "));
                }
                if session.texts.len() != documents.len() {
                    let (then, now) = (plural(session.texts.len(), "text"), documents.len());
                    bail!("the session is about {then}, and there are {now} now: name the same ones");
                }
                let mut session = *session;
                session.profile = self.keep.profile.clone().or(session.profile);
                Ok(Keeper::new(file, session))
            }
            Place::New(path) => {
                let mut settings = self.course.settings(model)?;
                if self.judge.target_tokens.is_some() {
                    // Sizes do not waver: there is nothing to confirm.
                    settings.confirm = self.course.confirm.unwrap_or(0);
                }
                let mut session = Session::new(absolute(&self.input.paths), stamps, settings);
                session.profile.clone_from(&self.keep.profile);
                Keeper::create(&path, session)
            }
        }
    }
}

impl Course {
    fn texts(&self) -> Vec<&str> {
        self.documents.iter().map(|document| document.text.as_str()).collect()
    }

    /// The texts for several threads.
    pub(crate) fn texts_shared(&self) -> Arc<[String]> {
        self.documents.iter().map(|document| document.text.clone()).collect()
    }

    pub(crate) fn sampler(&self) -> Sampler {
        let settings = &self.keeper.session.settings;
        let sampler = Sampler::new(settings.depth).with_step(settings.step);
        if settings.compat { sampler.with_compat() } else { sampler }
    }

    /// All runs with their similarities, under a progress bar; then the questions, with the answers of the session.
    fn tuner(&mut self, embedder: &dyn Embedder) -> anyhow::Result<Tuner> {
        interrupt::listen();
        let visible = !self.talk.quiet && io::stderr().is_terminal();
        let bar = if visible { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} runs embedded {eta}") {
            bar.set_style(style);
        }
        let quiet = self.talk.quiet || visible;
        let sample = self.sampler().sample(&self.texts(), &*self.splitter, &Interruptible(embedder), |done, all| {
            if done == 0 && !quiet {
                say(format_args!("embedding {}", plural(all, "run")));
            }
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            if interrupt::check().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        bar.finish_and_clear();
        interrupt::check()?;
        let texts: Vec<&str> = self.documents.iter().map(|document| document.text.as_str()).collect();
        let (tuner, notices) = begin(&mut self.keeper, sample?, &texts)?;
        for notice in notices {
            say(notice);
        }
        if !self.talk.quiet {
            for (sample, search) in tuner.searches() {
                say(extent(sample, search));
            }
        }
        Ok(tuner)
    }
}

/// How many runs there are and how alike, in words.
fn extent(sample: &Sample, search: &Search) -> String {
    let ends = [sample.runs.first(), sample.runs.last()].map(|run| run.map_or(0.0, |run| run.similarity));
    let left = match search.phase() {
        Phase::Searching(left) => format!("at most {}", plural(left as usize, "question")),
        Phase::Confirming(left) => format!("{} to confirm what was found", plural(left, "question")),
        Phase::Done => "all judged".to_owned(),
    };
    format!("{}, similarity from {:.4} to {:.4}: {left}", plural(sample.runs.len(), "run"), ends[0], ends[1])
}

/// The questions on a sample, with the answers of the session, and what there is to say about them.
pub(crate) fn begin(keeper: &mut Keeper, sample: Sample, texts: &[&str]) -> anyhow::Result<(Tuner, Vec<String>)> {
    let session = &mut keeper.session;
    let mut notices = Vec::new();
    for (number, stamp) in session.texts.iter().enumerate() {
        if sample.runs.iter().all(|run| run.text != number) {
            let depth = session.settings.depth;
            notices.push(format!("{} is left out: it has fewer than {}", stamp.name, plural(depth, "sentence")));
        }
    }
    let mut tuner = Tuner::new(sample, session.settings.tuner());
    let restored = session.restore(&mut tuner, texts);
    if !restored.changed.is_empty() {
        let (of, all) = (restored.kept, restored.kept + restored.set_aside);
        let changed = restored.changed.join(", ");
        notices.push(format!(
            "changed since the session began: {changed}; {of} of {all} judgements are about runs that are still there"
        ));
    }
    if restored.set_aside > 0 {
        notices.push(format!("{} set aside in the session", plural(restored.set_aside, "judgement")));
    }
    if restored.kept + restored.set_aside > 0 {
        keeper.keep()?;
    }
    Ok((tuner, notices))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_are_known_by_one_word() {
        assert_eq!("script:a:b".parse(), Ok(Who::Script("a:b".into())));
        assert!("script:".parse::<Who>().is_err() && "human".parse::<Who>().is_err());
    }
}
