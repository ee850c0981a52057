//! The files sentence-transformers adds to a model: its modules, how they pool, how long an input may be.
//!
//! Both spellings of the pooling configuration are read: one flag a mode, as written up to version 5, and
//! `pooling_mode` since. Vectors are always brought to length 1, with or without a `Normalize` module.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::super::encoder::Pooling;
use super::super::hub;
use super::{Files, MODULES, ModelError, ModelFile, SENTENCE_CONFIG, TOKENIZER_CONFIG};

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

impl Module {
    /// The class, without the Python module it lives in, which changes between versions.
    fn class(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }
}

/// How the vectors of the tokens become one, by `modules.json`; the mean if there is no such file.
pub(super) fn pooling(files: &Files) -> Result<Pooling, ModelError> {
    let Some(file) = files.read_if_present(MODULES)? else { return Ok(Pooling::Mean) };
    let modules: Vec<Module> = file.json()?;
    let classes: Vec<&str> = modules.iter().map(Module::class).collect();
    let [transformer, pooling] = match classes[..] {
        ["Transformer", "Pooling"] | ["Transformer", "Pooling", "Normalize"] => [&modules[0], &modules[1]],
        _ => return Err(file.unsupported(classes.join(", "), "Transformer, Pooling and possibly Normalize")),
    };
    if !transformer.path.is_empty() {
        return Err(file.unsupported(format!("a Transformer in {:?}", transformer.path), "in the folder itself"));
    }
    if !hub::is_plain_path(&pooling.path) {
        return Err(file.unsupported(format!("a Pooling module in {:?}", pooling.path), "in a folder beside it"));
    }
    mode(&files.read(&config_of(pooling))?)
}

/// The file that configures the pooling module `modules.json` names, if it names one.
pub(in super::super) fn pooling_config(modules: &[u8]) -> Option<String> {
    let modules: Vec<Module> = serde_json::from_slice(modules).ok()?;
    modules.iter().find(|module| module.class() == "Pooling").map(config_of)
}

fn config_of(module: &Module) -> String {
    format!("{}/config.json", module.path)
}

/// The one mode that the configuration of a pooling module turns on; the mean if it names none.
fn mode(file: &ModelFile) -> Result<Pooling, ModelError> {
    let config: BTreeMap<String, Value> = file.json()?;
    if config.get("include_prompt") == Some(&Value::Bool(false)) {
        return Err(file.unsupported("include_prompt = false", "true"));
    }
    let modes: Vec<&str> = match config.get("pooling_mode") {
        Some(Value::Array(modes)) => modes.iter().filter_map(Value::as_str).collect(),
        Some(mode) => mode.as_str().into_iter().collect(),
        None => config.iter().filter(|(_, on)| **on == true).filter_map(|(name, _)| flag(name)).collect(),
    };
    match modes[..] {
        [] | ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::Cls),
        _ => Err(file.unsupported(format!("pooling by {}", modes.join(" and ")), "mean or cls")),
    }
}

fn flag(name: &str) -> Option<&str> {
    name.strip_prefix("pooling_mode_")
}

/// How texts are brought to the model.
#[derive(Default)]
pub(super) struct Input {
    pub max_length: Option<usize>,
    pub lower_case: bool,
}

/// The longest input by `sentence_bert_config.json` or, as newer versions write it, by `tokenizer_config.json`.
pub(super) fn input(files: &Files) -> Result<Input, ModelError> {
    #[derive(Default, Deserialize)]
    struct SentenceConfig {
        max_seq_length: Option<usize>,
        do_lower_case: Option<bool>,
    }
    #[derive(Default, Deserialize)]
    struct TokenizerConfig {
        /// A float where nobody set it: the number 10^30 then stands for no limit.
        model_max_length: Option<f64>,
    }

    let sentence = files.read_if_present(SENTENCE_CONFIG)?;
    let sentence: SentenceConfig = sentence.map(|file| file.json()).transpose()?.unwrap_or_default();
    let tokenizer = files.read_if_present(TOKENIZER_CONFIG)?;
    let tokenizer: TokenizerConfig = tokenizer.map(|file| file.json()).transpose()?.unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a limit; the cast saturates")]
    let stored = tokenizer.model_max_length.map(|length| length as usize);
    Ok(Input { max_length: sentence.max_seq_length.or(stored), lower_case: sentence.do_lower_case.unwrap_or(false) })
}
