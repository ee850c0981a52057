//! What was found, in words.

use std::borrow::Cow;
use std::io::{self, Write};

use horchunk::tuning::{Agreement, Found, Judgement, Verdict, cut_down};

use super::keeper::Keeper;
use crate::cli::words::Harmless;
use crate::cli::{Outcome, Talk, plural, say};

/// Contradictions that are shown; a judge who answers at random makes many.
const SHOWN: usize = 5;

/// Prints the result to standard output; `--quiet` leaves the threshold alone. Says where the profile went.
pub(super) fn print(keeper: &Keeper, found: &Found, written: bool, talk: Talk) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let Some(threshold) = found.threshold else {
        say(format_args!("horchunk: {NOTHING}"));
        return Ok(Outcome::SomeFailed);
    };
    if talk.quiet {
        writeln!(out, "{}", cut_down(threshold))?;
        return Ok(Outcome::Done);
    }
    for line in lines(found, &keeper.session.judges()) {
        writeln!(out, "{line}")?;
    }
    if written {
        let (name, place) = (quoted(keeper.profile_name()), quoted(&keeper.profile().to_string_lossy()));
        let text = keeper.session.texts.first().map(|text| quoted(&text.name)).unwrap_or_default();
        writeln!(out, "profile {place}: horchunk chunk --profile {name} {text}")?;
    } else {
        let path = quoted(&keeper.path().to_string_lossy());
        writeln!(out, "this is not in the profile: horchunk tune --resume --session {path}, then w")?;
    }
    Ok(Outcome::Done)
}

/// Says that nobody answers any more, and how to go on.
pub(super) fn stopped(keeper: &Keeper, why: &str) -> Outcome {
    if keeper.session.answers.is_empty() {
        say(format_args!("horchunk: {why}; nothing was answered"));
    } else {
        let path = quoted(&keeper.path().to_string_lossy());
        let kept = plural(keeper.session.answers.len(), "answer");
        say(format_args!("horchunk: {why}; {kept} kept: go on with horchunk tune --resume --session {path}"));
    }
    Outcome::SomeFailed
}

/// A name as a shell takes it, and a terminal shows it.
pub(super) fn quoted(name: &str) -> String {
    let quoted = shlex::try_quote(name).map_or_else(|_| format!("{name:?}"), Cow::into_owned);
    Harmless(&quoted.replace('\n', "\u{240a}")).to_string()
}

/// What to say where no run holds.
pub(crate) const NOTHING: &str =
    "no run was judged to hold together, so there is no threshold: take a smaller --depth, or other text";

/// The threshold and how far it can be trusted.
pub(crate) fn lines(found: &Found, judges: &str) -> Vec<String> {
    let Some(threshold) = found.threshold else { return vec![NOTHING.to_owned()] };
    let mut lines = vec![format!("threshold {} (in full {threshold})", cut_down(threshold))];
    if let Some(spread) = found.spread() {
        let known: Vec<String> = found.thresholds.iter().flatten().map(|threshold| format!("{threshold:.3}")).collect();
        lines.push(format!("mean of {}, standard deviation {spread:.3}", known.join(", ")));
    }
    lines.extend(agreement(&found.agreement, judges));
    lines
}

/// How far judgements agree with the threshold they led to.
pub(crate) fn agreement(agreement: &Agreement, judges: &str) -> Vec<String> {
    let share = 100.0 * agreement.fitting as f64 / agreement.verdicts.max(1) as f64;
    let verdicts = plural(agreement.verdicts, "verdict");
    let mut lines = vec![format!("{verdicts} by {judges}, {} fit ({share:.0} %)", agreement.fitting)];
    if let (Some(holding), Some(drifting)) = (agreement.lowest_holding, agreement.highest_drifting) {
        lines.push(format!("held together from {holding:.3} on, drifted apart up to {drifting:.3}"));
    }
    for (holds, drifts) in agreement.contradictions.iter().take(SHOWN) {
        let of = |judgement: &Judgement| match judgement.verdict {
            Verdict::Holds => format!("{:.4} holds together", judgement.similarity),
            Verdict::Drifts => format!("{:.4} drifts apart", judgement.similarity),
        };
        lines.push(format!("contradiction: {}, yet {}", of(holds), of(drifts)));
    }
    if agreement.contradictions.len() > SHOWN {
        lines.push(format!("{} contradictions in all", agreement.contradictions.len()));
    }
    lines
}
