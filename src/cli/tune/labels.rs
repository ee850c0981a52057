//! What judgements are good for besides the threshold they led to: a gold set, and a score for any threshold.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use horchunk::tuning::{Agreement, Judgement, Profile, ProfileError, Session, Verdict};
use serde::Serialize;

use super::profile_folders;
use super::summary::agreement;
use crate::cli::output::{self, Target};
use crate::cli::words::Harmless;
use crate::cli::{Failures, Outcome, Usage};

/// Words of `horchunk tune export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Session files
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<PathBuf>,
    /// What to write [default: what the name of --output ends in, otherwise jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One record a line
    Jsonl,
    /// A table with a line of headings
    Csv,
}

/// Words of `horchunk tune score`.
#[derive(Debug, clap::Args)]
pub(super) struct ScoreArgs {
    /// Session files
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<PathBuf>,
    /// The threshold to score, from -1 to 1
    #[arg(short, long, value_name = "T", allow_negative_numbers = true, required_unless_present = "profile")]
    threshold: Option<f32>,
    /// The threshold of this profile
    #[arg(long, value_name = "NAME", conflicts_with = "threshold")]
    profile: Option<String>,
}

/// A judgement as others can use it.
#[derive(Debug, Serialize)]
struct Label<'a> {
    document: &'a str,
    start: usize,
    end: usize,
    verdict: Verdict,
    judge: &'a str,
    similarity: f32,
    model: &'a str,
    anchor: &'a str,
    text: String,
}

/// Runs `horchunk tune export`.
pub(super) fn export(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let (sessions, outcome) = read(&args.sessions);
    let inputs: HashSet<PathBuf> = args.sessions.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut out = Target::new(args.output.as_deref(), "", inputs).open("")?;
    let labels = sessions.iter().flat_map(labels);
    match output::format(args.format, args.output.as_deref(), Format::Jsonl) {
        Format::Jsonl => {
            for label in labels {
                serde_json::to_writer(&mut out, &label).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
            }
        }
        Format::Csv => {
            let mut table = csv::Writer::from_writer(&mut out);
            for label in labels {
                table.serialize(label)?;
            }
            table.flush()?;
        }
    }
    out.finish()?;
    Ok(outcome)
}

fn labels(session: &Session) -> impl Iterator<Item = Label<'_>> {
    session.answers.iter().filter_map(|answer| {
        Some(Label {
            document: session.texts.get(answer.text).map_or("", |text| text.name.as_str()),
            start: answer.start,
            end: answer.end,
            verdict: answer.verdict?,
            judge: &answer.judge,
            similarity: answer.similarity,
            model: &session.settings.model,
            anchor: answer.sentences.first().map_or("", String::as_str),
            text: answer.sentences.join(" "),
        })
    })
}

/// Runs `horchunk tune score`.
pub(super) fn score(args: &ScoreArgs) -> anyhow::Result<Outcome> {
    let profile = args.profile.as_ref().map(|name| Profile::find(name, &profile_folders())).transpose()?;
    let threshold = profile.as_ref().map(|profile| profile.threshold).or(args.threshold).unwrap_or(f32::NAN);
    if !(-1.0..=1.0).contains(&threshold) {
        return Err(Usage(format!("--threshold {threshold}: a threshold lies between -1 and 1")).into());
    }
    let (sessions, outcome) = read(&args.sessions);
    if sessions.is_empty() {
        return Ok(outcome);
    }
    let model = |session: &Session| {
        let settings = &session.settings;
        (settings.model.clone(), settings.model_sha256.clone(), settings.text_prefix.clone())
    };
    let mut models: Vec<(String, String, String)> = sessions.iter().map(model).collect();
    models.sort_unstable();
    models.dedup_by(|one, other| one.1 == other.1 && one.2 == other.2);
    if let (Some(profile), [(name, sha256, prefix), ..]) = (&profile, models.as_slice()) {
        profile.check_model(name, sha256, prefix)?;
    }
    if models.len() > 1 {
        anyhow::bail!(
            "the sessions are about different models, whose similarities cannot be compared: score them one by one"
        );
    }
    let judgements: Vec<Judgement> = sessions.iter().flat_map(Session::judgements).collect();
    if judgements.is_empty() {
        anyhow::bail!("there is no judgement to agree with");
    }
    let judges: HashSet<String> = sessions.iter().map(Session::judges).collect();
    let mut judges: Vec<String> = judges.into_iter().collect();
    judges.sort();
    let mut out = io::stdout().lock();
    writeln!(out, "threshold {threshold}")?;
    for line in agreement(&Agreement::with(threshold, &judgements), &judges.join(", ")) {
        writeln!(out, "{line}")?;
    }
    let wrong = |verdict| judgements.iter().filter(|all| all.verdict == verdict && !all.fits(threshold)).count();
    let (cut, kept) = (wrong(Verdict::Holds), wrong(Verdict::Drifts));
    writeln!(out, "cut though judged to hold together: {cut}; kept though judged to drift apart: {kept}")?;
    if let Some((best, fitting)) = best(&judgements) {
        writeln!(out, "best: {best}, where {fitting} of {} fit", judgements.len())?;
    }
    Ok(outcome)
}

/// The lowest similarity at which a threshold fits most judgements.
fn best(judgements: &[Judgement]) -> Option<(f32, usize)> {
    let fitting = |threshold| judgements.iter().filter(|judgement| judgement.fits(threshold)).count();
    let all = judgements.iter().map(|judgement| (judgement.similarity, fitting(judgement.similarity)));
    all.max_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)))
}

fn read(paths: &[PathBuf]) -> (Vec<Session>, Outcome) {
    let mut failures = Failures::default();
    let mut sessions = Vec::new();
    for path in paths {
        match Session::read(path) {
            Ok(session) => sessions.push(session),
            Err(error) => failures.add(&error.into()),
        }
    }
    (sessions, failures.outcome())
}

/// Runs `horchunk tune profiles`.
pub(super) fn profiles() -> anyhow::Result<Outcome> {
    let mut failures = Failures::default();
    let mut out = io::stdout().lock();
    let mut seen = HashSet::new();
    let mut line = |name: &str, place: &str, profile: Result<Profile, ProfileError>| -> io::Result<()> {
        if !seen.insert(name.to_owned()) {
            return Ok(());
        }
        match profile {
            Ok(profile) => writeln!(out, "{}", Harmless(&described(name, place, &profile).replace('\n', " "))),
            Err(error) => {
                failures.add(&error.into());
                Ok(())
            }
        }
    };
    for folder in profile_folders() {
        for path in files(&folder) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            line(&name, &folder.display().to_string(), Profile::read(&path))?;
        }
    }
    for name in Profile::shipped() {
        line(name, "inside", Profile::find(name, &[]))?;
    }
    Ok(failures.outcome())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

fn described(name: &str, place: &str, profile: &Profile) -> String {
    let found = profile.found.as_ref().map(|found| {
        format!(", {} of {} verdicts by {} fit, {}", found.fitting, found.verdicts, found.judge, found.date)
    });
    let about = profile.about.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
    format!(
        "{name:16} t {:<4} alpha {} {} ({place}{}){about}",
        profile.threshold,
        profile.max_sentences,
        profile.sentences,
        found.unwrap_or_default()
    )
}
