//! Budgets: from the name of a language model to a cap and a counter.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use horchunk::{HubId, HubSettings, Llm, LlmRegistry, RegistryError, TokenCounter, TokenizerPlace, cached_tokenizer};

use super::settings::named_tokenizer;
use super::{Talk, Usage, say};

/// Which language model the chunks are for.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Budget")]
pub(super) struct BudgetArgs {
    /// Count as this language model does, and keep every chunk within its context less the reserve (see horchunk models
    /// llms)
    #[arg(long, value_name = "LLM")]
    pub(super) for_model: Option<String>,
    /// Tokens to keep back for the question and the answer [default: the model's own]
    #[arg(long, value_name = "N", requires = "for_model", allow_negative_numbers = true)]
    pub(super) reserve: Option<usize>,
    #[command(flatten)]
    pub(super) known: RegistryArgs,
}

/// Which language models are known, and how strictly they are counted for.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Budget")]
pub(super) struct RegistryArgs {
    /// Where a model's tokenizer is not at hand, count by another one and multiply by a safety factor
    #[arg(long)]
    pub(super) allow_proxy: bool,
    /// Know the models of this file, too; it is of the form of models/llms.toml
    #[arg(long, value_name = "FILE", env = "HORCHUNK_REGISTRY")]
    pub(super) registry: Option<PathBuf>,
}

/// A language model and what of its context is left for text.
pub(super) struct ForModel {
    registry: LlmRegistry,
    model: Llm,
    pub(super) budget: usize,
    allow_proxy: bool,
}

impl RegistryArgs {
    /// The models inside and those of a file.
    pub(super) fn registry(&self) -> anyhow::Result<LlmRegistry> {
        let mut registry = LlmRegistry::bundled();
        if let Some(file) = self.registry.as_ref().filter(|file| !file.as_os_str().is_empty()) {
            registry.add_file(file).context("--registry")?;
        }
        Ok(registry)
    }
}

impl BudgetArgs {
    /// The model, if one is named.
    pub(super) fn model(&self) -> anyhow::Result<Option<ForModel>> {
        let Some(name) = &self.for_model else { return Ok(None) };
        let registry = self.known.registry()?;
        let usage = |error: RegistryError| Usage(format!("--for-model {name}: {error}"));
        let model = registry.find(name).map_err(usage)?.clone();
        let budget = model.budget(self.reserve).map_err(usage)?;
        Ok(Some(ForModel { registry, model, budget, allow_proxy: self.known.allow_proxy }))
    }
}

impl ForModel {
    /// Who counts for the model. What stands in for its tokenizer is said.
    pub(super) fn counter(&self, talk: Talk) -> anyhow::Result<Arc<dyn TokenCounter>> {
        let counter = counter(&self.registry, &self.model, self.allow_proxy)?;
        if !counter.is_exact() && !talk.quiet {
            let file = self.registry.tokenizer(&self.model).map(|tokenizer| &tokenizer.place);
            let why = match file {
                Some(TokenizerPlace::File { .. }) => "its tokenizer is not at hand",
                _ => "its tokenizer is not public",
            };
            say(format_args!("the tokens of {} are estimated by {}: {why}", self.model.id, counter.name()));
        }
        Ok(counter)
    }
}

/// Who counts the tokens of `model`: what is built in, what the cache of the hub has, or a proxy.
pub(super) fn counter(registry: &LlmRegistry, model: &Llm, allow_proxy: bool) -> anyhow::Result<Arc<dyn TokenCounter>> {
    if let Some(TokenizerPlace::File { hub }) = registry.tokenizer(model).map(|tokenizer| &tokenizer.place) {
        let id: HubId = hub.parse().with_context(|| format!("the tokenizer of {}", model.id))?;
        if let Some(file) = cached_tokenizer(&id, &HubSettings::from_env()) {
            return Ok(Arc::new(named_tokenizer(hub, &file)?));
        }
    }
    registry.counter(model, allow_proxy).map_err(|error| Usage(error.to_string()).into())
}
