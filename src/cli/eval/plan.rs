//! Which rows a run has: what was asked for, and what it has to beat.

use std::collections::HashSet;

use horchunk::evaluation::{Published, TopK, grid, published_table};
use horchunk::{ChunkerSpec, ContextWeights};

use super::{RunArgs, Table};
use crate::cli::Usage;
use crate::cli::settings::at_threshold_of_model;

/// A row to be made.
pub(super) struct Plan {
    pub(super) spec: ChunkerSpec,
    pub(super) context: ContextWeights,
    pub(super) by_sentence: f32,
    pub(super) published: Option<Published>,
    /// Nobody asked for it: it stands there to be beaten.
    pub(super) plain: bool,
}

impl Plan {
    /// The settings of chunker and retrieval.
    pub(super) fn parameters(&self) -> String {
        let mut parameters = vec![self.spec.parameters()];
        parameters.extend(
            (!self.context.is_empty()).then(|| format!("context={}", self.context.to_string().replace(',', "/"))),
        );
        parameters.extend((self.by_sentence > 0.0).then(|| format!("by-sentence={}", self.by_sentence)));
        parameters.retain(|part| !part.is_empty());
        parameters.join(",")
    }
}

/// What shows the span of chunkers where none is named.
const SELECTION: [&str; 6] = [
    "window",
    "window:alpha=3",
    "window:borders=paragraph",
    "recursive:size=250",
    "fixed-token:size=250",
    "cluster:size=200",
];

/// What semantic chunkers have to beat: so many sentences, and paragraphs cut behind so many.
const PLAIN: [&str; 2] = ["sentences:alpha=3", "sentences:alpha=3,borders=paragraph"];

impl RunArgs {
    /// The rows asked for, each once, the plain ones last. Windows without a threshold have the model's own, if it has
    /// one.
    pub(super) fn plans(&self, of_model: Option<f32>) -> anyhow::Result<Vec<Plan>> {
        let asked = self.specs(of_model)?;
        let unasked = if self.no_plain { &[][..] } else { &PLAIN };
        let unasked = unasked.iter().map(|words| Ok((parse(words)?, None))).collect::<anyhow::Result<Vec<_>>>()?;
        let by_sentence = if self.by_sentence.is_empty() { &[0.0][..] } else { &self.by_sentence };
        let mut plans: Vec<Plan> = Vec::new();
        let mut seen = HashSet::new();
        for context in &self.contexts()? {
            for &by_sentence in by_sentence {
                let specs = asked.iter().map(|spec| (spec, false)).chain(unasked.iter().map(|spec| (spec, true)));
                for ((spec, published), plain) in specs {
                    let (spec, context) = (spec.clone(), context.clone());
                    let row = Plan { spec, context, by_sentence, published: *published, plain };
                    if seen.insert((row.spec.name(), row.parameters())) {
                        plans.push(row);
                    }
                }
            }
        }
        Ok(plans)
    }

    /// The chunkers asked for.
    fn specs(&self, of_model: Option<f32>) -> anyhow::Result<Vec<(ChunkerSpec, Option<Published>)>> {
        if self.table == Some(Table::Horchunk) {
            let table = published_table().into_iter();
            return Ok(table
                .map(|(spec, published)| (spec, Some(published).filter(|_| self.is_as_published())))
                .collect());
        }
        let at = |words: &str| at_threshold_of_model(words, of_model);
        let (selection, given) = (SELECTION.map(at), self.chunker.iter().map(|words| at(words)).collect::<Vec<_>>());
        let words = match (given.as_slice(), self.sweep.is_empty()) {
            ([], true) => &selection[..],
            // A sweep is compared with what it started from.
            ([], false) => &selection[..1],
            (given, _) => given,
        };
        let mut specs = words.iter().map(|words| parse(words)).collect::<anyhow::Result<Vec<_>>>()?;
        if !self.sweep.is_empty() {
            let base = self.chunker.last().map_or(SELECTION[0], String::as_str);
            let swept = self.sweep.iter().any(|axis| axis.starts_with("t="));
            let base = if swept { base.to_owned() } else { at(base) };
            specs.extend(grid(&base, &self.sweep).map_err(|error| Usage(format!("--sweep: {error}")))?);
        }
        Ok(specs.into_iter().map(|spec| (spec, None)).collect())
    }

    /// Whether scores can stand beside the published ones, which were made on the public benchmark with five chunks.
    fn is_as_published(&self) -> bool {
        self.data.is_some() && self.retrieve == TopK::Fixed(5) && !self.unique
    }

    fn contexts(&self) -> anyhow::Result<Vec<ContextWeights>> {
        if self.context.is_empty() {
            return Ok(vec![ContextWeights::default()]);
        }
        let parse = |words: &String| match words.as_str() {
            "none" => Ok(ContextWeights::default()),
            words => words.parse().map_err(|error| Usage(format!("--context {words}: {error}")).into()),
        };
        self.context.iter().map(parse).collect()
    }
}

fn parse(words: &str) -> anyhow::Result<ChunkerSpec> {
    words.parse().map_err(|error| Usage(format!("--chunker: {error}")).into())
}
