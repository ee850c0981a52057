//! `horchunk models llms`: the registry of language models, shown and checked.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use horchunk::{Llm, LlmRegistry, RegistryFinding, TokenizerPlace};
use serde::Serialize;
use time::OffsetDateTime;

use crate::cli::for_model::RegistryArgs;
use crate::cli::{Outcome, Talk, Usage, plural};

/// Words of `horchunk models llms`.
#[derive(Debug, clap::Args)]
pub(super) struct LlmsArgs {
    /// Only those of this provider
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Check the laws of the registry and list facts that are older than 180 days or, with FILE, other there
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["provider", "json"])]
    check: Option<String>,
    #[command(flatten)]
    known: RegistryArgs,
}

/// A model as JSON has it.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    aliases: &'a [String],
    provider: &'a str,
    context: usize,
    max_output: usize,
    reserve: usize,
    tokenizer: &'a str,
    /// Whether it is counted exactly without any file.
    exact: bool,
    /// What stands in where the tokenizer is not at hand.
    proxy: Option<String>,
    source: &'a str,
    date: String,
    note: Option<&'a str>,
}

impl LlmsArgs {
    pub(super) fn run(&self, talk: Talk) -> anyhow::Result<Outcome> {
        let registry = self.known.registry()?;
        match &self.check {
            // Without a value it is empty: laws and ages only.
            Some(other) => self.check(&registry, Some(Path::new(other)).filter(|_| !other.is_empty()), talk),
            None => self.list(&registry),
        }
    }

    fn list(&self, registry: &LlmRegistry) -> anyhow::Result<Outcome> {
        let wanted = |model: &&Llm| self.provider.as_ref().is_none_or(|name| model.provider.eq_ignore_ascii_case(name));
        let models: Vec<&Llm> = registry.models().filter(wanted).collect();
        if models.is_empty() {
            let mut providers: Vec<&str> = registry.models().map(|model| model.provider.as_str()).collect();
            providers.sort_unstable();
            providers.dedup();
            let name = self.provider.as_deref().unwrap_or_default();
            return Err(Usage(format!("--provider {name}: take one of {}", providers.join(", "))).into());
        }
        let rows = models.iter().map(|model| row(registry, model));
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &rows.collect::<Vec<_>>()).map_err(io::Error::from)?;
            writeln!(out)?;
            return Ok(Outcome::Done);
        }
        let width = models.iter().map(|model| model.id.len()).max().unwrap_or(0);
        let provider = models.iter().map(|model| model.provider.len()).max().unwrap_or(0);
        writeln!(out, "{:width$}  {:provider$}  {:>9} {:>8}  counted by", "model", "from", "context", "output")?;
        for row in rows {
            let counted = match (&row.proxy, row.exact) {
                (Some(proxy), false) => format!("{} (or, about, {proxy})", row.tokenizer),
                _ => row.tokenizer.to_owned(),
            };
            let (context, output) = (row.context, row.max_output);
            writeln!(out, "{:width$}  {:provider$}  {context:>9} {output:>8}  {counted}", row.id, row.provider)?;
        }
        Ok(Outcome::Done)
    }

    fn check(&self, registry: &LlmRegistry, other: Option<&Path>, talk: Talk) -> anyhow::Result<Outcome> {
        let mut broken = LlmRegistry::broken_bundled_laws()?;
        if let Some(file) = self.known.registry.as_ref().filter(|file| !file.as_os_str().is_empty()) {
            let rows = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
            // What a file of one's own says of tokenizers inside is no law of the file.
            let known = |finding: &RegistryFinding| finding.field != "tokenizer";
            broken.extend(LlmRegistry::broken_laws(&file.display().to_string(), &rows)?.into_iter().filter(known));
        }
        let stale = registry.stale(OffsetDateTime::now_utc().date());
        let mut different = Vec::new();
        if let Some(file) = other {
            let mut theirs = LlmRegistry::bundled_tokenizers();
            theirs.add_file(file).context("--check")?;
            different = registry.differences(&theirs);
        }
        let mut out = io::stdout().lock();
        for (title, findings) in [("broken", &broken), ("old", &stale), ("different", &different)] {
            for finding in findings {
                writeln!(out, "{title}: {finding}")?;
            }
        }
        if !talk.quiet {
            writeln!(
                out,
                "{}: {}, {} older than {} days, {} different",
                plural(registry.models().count(), "model"),
                plural(broken.len(), "broken law"),
                plural(stale.len(), "fact"),
                LlmRegistry::FRESH_DAYS,
                different.len()
            )?;
        }
        Ok(if broken.is_empty() { Outcome::Done } else { Outcome::SomeFailed })
    }
}

fn row<'a>(registry: &'a LlmRegistry, model: &'a Llm) -> Row<'a> {
    let tokenizer = registry.tokenizer(model);
    let proxy = tokenizer.and_then(|tokenizer| tokenizer.proxy);
    Row {
        id: &model.id,
        aliases: &model.aliases,
        provider: &model.provider,
        context: model.context,
        max_output: model.max_output,
        reserve: model.reserve,
        tokenizer: &model.tokenizer,
        exact: tokenizer.is_some_and(|tokenizer| matches!(tokenizer.place, TokenizerPlace::Built(_))),
        proxy: proxy.map(|proxy| format!("{}*{}", proxy.encoding, proxy.factor)),
        source: &model.source,
        date: model.date.to_string(),
        note: model.note.as_deref(),
    }
}
