//! Questions line by line, for pipes and screen readers.

use std::io::{self, BufRead, Write};

use horchunk::CharMap;
use horchunk::tuning::{Phase, Tuner, Verdict, parse_verdict};

use super::{Course, summary};
use crate::cli::interrupt;
use crate::cli::words::Harmless;
use crate::cli::{Outcome, say};

const HELP: &str = "y or j: it holds together, the threshold may be lower
n or k: it drifts apart, the threshold must be higher
s: leave this one out
u: take the last answer back
q: stop; horchunk tune --resume goes on from here";

/// What a line means.
enum Reply {
    Answer(Option<Verdict>),
    Undo,
    Quit,
}

/// Asks until there is nothing left to ask, or nobody to answer.
pub(super) fn run(mut course: Course, name: &str) -> anyhow::Result<Outcome> {
    let model = course.model.clone();
    let mut tuner = course.tuner(&model)?;
    let mut lines = io::stdin().lock().lines();
    while tuner.run().is_some() {
        show(&course, &tuner);
        match reply(&mut lines)? {
            None => return Ok(summary::stopped(&course.keeper, "the answers ended")),
            Some(Reply::Quit) => return Ok(summary::stopped(&course.keeper, "stopped")),
            Some(Reply::Answer(verdict)) => tuner.answer(verdict),
            Some(Reply::Undo) if tuner.undo() => {}
            Some(Reply::Undo) => {
                say("there is nothing to take back");
                continue;
            }
        }
        record(&mut course, &tuner, name)?;
    }
    let Some(found) = tuner.found() else { return Ok(Outcome::SomeFailed) };
    let written = course.keeper.write_profile(&found)?.is_some();
    summary::print(&course.keeper, &found, written, course.talk)
}

/// The next line that means something; `None` at the end of the lines.
fn reply(lines: &mut impl Iterator<Item = io::Result<String>>) -> anyhow::Result<Option<Reply>> {
    loop {
        write!(io::stderr(), "Does it hold together? (y/n, s skip, u undo, q quit, ? help) ").ok();
        let Some(line) = interrupt::waiting(|| lines.next())?.transpose()? else { return Ok(None) };
        match (line.trim(), parse_verdict(line.trim())) {
            (_, Some(verdict)) => return Ok(Some(Reply::Answer(verdict))),
            ("u" | "undo", _) => return Ok(Some(Reply::Undo)),
            ("q" | "quit", _) => return Ok(Some(Reply::Quit)),
            ("?" | "h" | "help", _) => say(HELP),
            (word, _) => say(format_args!("{word:?} is no answer; ? shows what is")),
        }
    }
}

fn record(course: &mut Course, tuner: &Tuner, name: &str) -> anyhow::Result<()> {
    let texts: Vec<&str> = course.documents.iter().map(|document| document.text.as_str()).collect();
    course.keeper.record(tuner, &texts, name)
}

/// The run with what one needs to know to judge it.
fn show(course: &Course, tuner: &Tuner) {
    let (Some(run), (phase, _)) = (tuner.run(), tuner.phase()) else { return };
    let document = &course.documents[run.text];
    let line = CharMap::new(&document.text).position(run.span().start()).line;
    let left = match phase {
        Phase::Searching(left) => format!("question {}, at most {left} left", tuner.answers().count() + 1),
        Phase::Confirming(left) => format!("once more around the place found, {left} left"),
        Phase::Done => String::new(),
    };
    say(format_args!("\n{left}; similarity {:.4}; {}, line {line}", run.similarity, document.name));
    for (at, words) in run.words(&course.texts()).into_iter().enumerate() {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        say(format_args!("  {} {}", if at == 0 { "first:" } else { "then: " }, Harmless(&words)));
    }
}
