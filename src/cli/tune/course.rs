//! What a course of questions depends on: from flags to the settings of a session.

use horchunk::tuning::SessionSettings;
use horchunk::{SentenceTransformer, SplitterName};

use crate::cli::Usage;

/// What is shown, in which order. All of it is part of the session and taken from there by `--resume`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is judged")]
pub(super) struct CourseArgs {
    /// Sentences of a run that is judged [default: 3]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(2..=100))]
    depth: Option<u64>,
    /// Sentences from the start of a run to that of the next [default: 1]
    #[arg(long, value_name = "M", value_parser = at_least_one())]
    step: Option<u64>,
    /// Find sentences by: unicode, rule, paragraph, token[:N], recursive[:N] [default: unicode]
    #[arg(long, value_name = "SPLITTER")]
    sentences: Option<SplitterName>,
    /// Most sentences of the chunks that are to be made (alpha) [default: 6]
    #[arg(short = 'a', long, value_name = "N", value_parser = at_least_one())]
    max_sentences: Option<u64>,
    /// Several texts: one search over all of them, not one each and the mean
    #[arg(long)]
    pooled: bool,
    /// Show N runs around the place found once more, to see how far the verdicts can be trusted [default: 6, or 0 with
    /// --compat]
    #[arg(long, value_name = "N")]
    pub(super) confirm: Option<usize>,
    /// Tune as Horchunk's own program does: short runs at the end of a text, no equal similarities, its search
    #[arg(long)]
    compat: bool,
}

pub(super) fn at_least_one() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1_000_000)
}

impl CourseArgs {
    pub(super) fn settings(&self, model: &SentenceTransformer) -> anyhow::Result<SessionSettings> {
        let number = |value: Option<u64>, default: u64| usize::try_from(value.unwrap_or(default));
        Ok(SessionSettings {
            depth: number(self.depth, 3)?,
            step: number(self.step, 1)?,
            compat: self.compat,
            pooled: self.pooled,
            confirm: self.confirm.unwrap_or(if self.compat { 0 } else { 6 }),
            sentences: self.sentences.unwrap_or_default().to_string(),
            max_sentences: number(self.max_sentences, 6)?,
            model: model.info().name.clone(),
            model_sha256: model.weights_sha256()?,
            text_prefix: model.text_prefix().to_owned(),
        })
    }

    /// Whether what is asked for is what the session was begun with.
    pub(super) fn agrees(&self, session: &SessionSettings) -> Result<(), Usage> {
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        let all = [
            ("--depth", number(self.depth), session.depth.to_string()),
            ("--step", number(self.step), session.step.to_string()),
            ("--sentences", self.sentences.map(|name| name.to_string()), session.sentences.clone()),
            ("--max-sentences", number(self.max_sentences), session.max_sentences.to_string()),
            ("--confirm", self.confirm.map(|runs| runs.to_string()), session.confirm.to_string()),
            ("--pooled", self.pooled.then(|| "true".to_owned()), session.pooled.to_string()),
            ("--compat", self.compat.then(|| "true".to_owned()), session.compat.to_string()),
        ];
        for (flag, asked, begun) in all {
            if let Some(asked) = asked.filter(|asked| *asked != begun) {
                return Err(Usage(format!(
                    "{flag} {asked}: the session was begun with {begun}; leave it out, or begin anew"
                )));
            }
        }
        Ok(())
    }
}
