//! Judges that are no person: a language model, a script, a size to reach.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use horchunk::tuning::{Found, Judge, JudgeError, LlmJudge, ScriptJudge, TargetJudge, Verdict, cut_down};
use horchunk::{Embedder, MemoEmbedder, WindowChunker};

use super::{Course, JudgeArgs, summary};
use crate::cli::interrupt::{self, Interruptible};
use crate::cli::settings::ChatArgs;
use crate::cli::{Outcome, Usage, plural, say};

pub(super) fn by_script(course: Course, file: &Path) -> anyhow::Result<Outcome> {
    let script = fs::read_to_string(file).with_context(|| format!("the script {} cannot be read", file.display()))?;
    let judge: ScriptJudge = script.parse().with_context(|| format!("the script {}", file.display()))?;
    // What it said before is in the session.
    let session = &course.keeper.session;
    let given = session.answers.iter().chain(&session.set_aside).filter(|answer| answer.judge == judge.name()).count();
    let mut judge = judge.after(given);
    let model = course.model.clone();
    ask(course, &model, &mut judge)
}

pub(super) fn by_llm(course: Course, args: &JudgeArgs, chat: &ChatArgs) -> anyhow::Result<Outcome> {
    let Some(chat) = chat.open()? else {
        return Err(Usage("name the language model that judges, with --llm".to_owned()).into());
    };
    let (model, talk) = (course.model.clone(), course.talk);
    let mut judge = LlmJudge::new(chat).with_votes(args.votes.into()).with_temperature(args.temperature);
    let asked = ask(course, &model, &mut judge);
    if !talk.quiet {
        let (sent, said) = judge.tokens();
        say(format_args!(
            "{} of {}: {sent} tokens asked, {said} tokens answered",
            plural(judge.calls(), "call"),
            judge.name()
        ));
    }
    asked
}

pub(super) fn by_target(course: Course, target: usize) -> anyhow::Result<Outcome> {
    let memo = MemoEmbedder::new(Interruptible(course.model.clone()));
    let most = course.keeper.session.settings.max_sentences;
    let counter = Arc::clone(&course.counter);
    let texts: Vec<String> = course.documents.iter().map(|document| document.text.clone()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let splitter = Arc::clone(&course.splitter);
    let chunker = |threshold| {
        WindowChunker::new(&memo)
            .with_splitter(Arc::clone(&splitter))
            .with_counter(Arc::clone(&counter))
            .with_max_sentences(most)?
            .with_threshold(threshold)
    };
    let mut judge = TargetJudge::new(&texts, target, chunker);
    let mut course = course;
    let Some(found) = ask_to_the_end(&mut course, &memo, &mut judge)? else { return Ok(Outcome::SomeFailed) };
    let Some(threshold) = found.threshold.map(cut_down) else {
        let least = judge.median(1.0)?.unwrap_or(0.0);
        anyhow::bail!("no threshold makes chunks of {target} tokens: the smallest have a median of {least}");
    };
    let reached = judge.median(threshold)?.unwrap_or(0.0);
    let ended = finish(&course, &found)?;
    if !course.talk.quiet {
        say(format_args!("the chunks at {threshold} have a median of {reached} tokens; {target} were asked for"));
    }
    if reached < 0.8 * target as f64 {
        say(format_args!("no threshold makes larger ones: at most {most} sentences are in a chunk (-a)"));
    }
    Ok(ended)
}

/// Asks the judge to the end, and writes and prints the result.
fn ask(mut course: Course, embedder: &dyn Embedder, judge: &mut dyn Judge) -> anyhow::Result<Outcome> {
    match ask_to_the_end(&mut course, embedder, judge)? {
        Some(found) => finish(&course, &found),
        None => Ok(Outcome::SomeFailed),
    }
}

fn finish(course: &Course, found: &Found) -> anyhow::Result<Outcome> {
    let written = course.keeper.write_profile(found)?.is_some();
    summary::print(&course.keeper, found, written, course.talk)
}

/// Asks the judge until there is nothing left to ask, keeping every answer.
fn ask_to_the_end(
    course: &mut Course,
    embedder: &dyn Embedder,
    judge: &mut dyn Judge,
) -> anyhow::Result<Option<Found>> {
    let mut tuner = course.tuner(embedder)?;
    let name = judge.name();
    let Course { documents, keeper, talk, .. } = course;
    let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
    let asked = tuner.ask(judge, &texts, |tuner, similarity, judged| {
        keeper.record(tuner, &texts, &name)?;
        if !talk.quiet {
            let verdict = match judged.verdict {
                Some(Verdict::Holds) => "holds together",
                Some(Verdict::Drifts) => "drifts apart",
                None => "not judged",
            };
            let grounds = judged.grounds.iter().map(|grounds| format!(" ({grounds})")).collect::<String>();
            say(format_args!("{similarity:.4} {verdict}{grounds}"));
        }
        anyhow::Ok(())
    });
    interrupt::check()?;
    if let Err(error) = asked {
        let kept = course.keeper.session.answers.len();
        let path = summary::quoted(&course.keeper.path().to_string_lossy());
        let error = if error.is::<JudgeError>() && kept > 0 {
            let answers = plural(kept, "answer");
            error.context(format!("{answers} kept in the session; go on with --resume --session {path}"))
        } else {
            error
        };
        return Err(error);
    }
    Ok(tuner.found())
}
