//! What a BERT-like model is made of: its `config.json` and the names of its tensors.
//!
//! Hugging Face writes the same encoder down in several dialects: `roberta` counts positions from behind the padding
//! id, `distilbert` renames nearly every field and tensor. [`ModelConfig`] is what they have in common, and
//! [`WeightNames`] says where each weight lies in the file, so that whoever computes with them knows one model only.
//! Nothing here reads a file or a weight.

use serde::Deserialize;

/// More layers than this are a damaged file, not a model.
const MAX_LAYERS: usize = 1000;

/// Why a `config.json` does not describe a model this crate can run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not JSON, or a field is absent or of the wrong type.
    #[error("config.json could not be read as a model configuration")]
    Parse(#[from] serde_json::Error),
    /// A field has a value this crate has no code for.
    #[error("config.json says {field} = {found}, which is not supported; it must be {supported}")]
    Unsupported {
        /// The field, as the model's dialect spells it.
        field: &'static str,
        /// Its value.
        found: String,
        /// The values that would do.
        supported: &'static str,
    },
}

/// The dialect of a model, which decides the names of its fields and tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    Bert,
    /// `roberta` and `xlm-roberta`, which differ from each other in their tokenizers only.
    Roberta,
    DistilBert,
}

/// The function between the two linear layers of a feed-forward block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// `x * (1 + erf(x / sqrt 2)) / 2`.
    Gelu,
    /// The approximation of the same by a hyperbolic tangent.
    GeluTanh,
    Relu,
}

/// The shape of one encoder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelConfig {
    pub architecture: Architecture,
    /// Rows of the word embeddings.
    pub vocab: usize,
    /// Width of a hidden state.
    pub hidden: usize,
    pub layers: usize,
    /// Attention heads of a layer; they divide `hidden`.
    pub heads: usize,
    /// Width of the feed-forward block.
    pub intermediate: usize,
    /// Rows of the position embeddings.
    pub positions: usize,
    /// The position of the first token.
    pub position_offset: usize,
    /// Rows of the token-type embeddings, of which row 0 is added to every token; 0 where the model has none.
    pub token_types: usize,
    pub layer_norm_eps: f64,
    pub activation: Activation,
}

impl ModelConfig {
    /// Reads a Hugging Face `config.json`.
    pub(crate) fn from_json(json: &str) -> Result<Self, ConfigError> {
        let kind: Kind = serde_json::from_str(json)?;
        let config = match kind.model_type.as_str() {
            "bert" => serde_json::from_str::<BertFields>(json)?.config(Architecture::Bert)?,
            "roberta" | "xlm-roberta" => serde_json::from_str::<BertFields>(json)?.config(Architecture::Roberta)?,
            "distilbert" => serde_json::from_str::<DistilBertFields>(json)?.config()?,
            _ => {
                let supported = "one of bert, distilbert, roberta, xlm-roberta";
                return Err(unsupported("model_type", kind.model_type, supported));
            }
        };
        config.checked()
    }

    /// Width of one attention head.
    pub(crate) const fn head_width(&self) -> usize {
        self.hidden / self.heads
    }

    /// The longest input the position embeddings can number, special tokens counted.
    pub(crate) const fn max_length(&self) -> usize {
        self.positions - self.position_offset
    }

    /// Where the weights lie in a file for which `holds` says whether it has a tensor of some name.
    ///
    /// Files saved from a model with a head on top carry the base model's name before every tensor of the base model.
    pub(crate) fn names(&self, holds: impl Fn(&str) -> bool) -> WeightNames {
        let prefix = match self.architecture {
            Architecture::Bert => "bert.",
            Architecture::Roberta => "roberta.",
            Architecture::DistilBert => "distilbert.",
        };
        let prefixed = WeightNames::new(self, prefix);
        if holds(&prefixed.words) { prefixed } else { WeightNames::new(self, "") }
    }

    fn checked(self) -> Result<Self, ConfigError> {
        if self.heads == 0 || self.hidden == 0 || !self.hidden.is_multiple_of(self.heads) {
            let shape = format!("{} in {} attention heads", self.hidden, self.heads);
            return Err(unsupported("the hidden size", shape, "a positive multiple of the number of heads"));
        }
        if self.intermediate == 0 {
            return Err(unsupported("the width of the feed-forward block", "0".into(), "positive"));
        }
        if self.layers > MAX_LAYERS {
            return Err(unsupported("the number of layers", self.layers.to_string(), "at most 1000"));
        }
        if self.positions <= self.position_offset {
            let positions = self.positions.to_string();
            return Err(unsupported("max_position_embeddings", positions, "more than the position of the first token"));
        }
        Ok(self)
    }
}

/// The names of a linear layer's or a layer norm's two tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    /// A linear layer's is `[out, in]`, a norm's `[width]`.
    pub weight: String,
    pub bias: String,
}

/// The names of the tensors of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerNames {
    pub query: Affine,
    pub key: Affine,
    pub value: Affine,
    /// From the joined heads back to the hidden state.
    pub attention_output: Affine,
    pub attention_norm: Affine,
    /// From hidden to intermediate.
    pub feed_up: Affine,
    /// From intermediate to hidden.
    pub feed_down: Affine,
    pub feed_norm: Affine,
}

/// The names of all tensors of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WeightNames {
    /// `[vocab, hidden]`.
    pub words: String,
    /// `[positions, hidden]`.
    pub positions: String,
    /// `[token_types, hidden]`, where the model has them.
    pub token_types: Option<String>,
    pub embedding_norm: Affine,
    pub layers: Vec<LayerNames>,
}

impl WeightNames {
    fn new(config: &ModelConfig, prefix: &str) -> Self {
        let embedding = |name: &str| format!("{prefix}embeddings.{name}_embeddings.weight");
        let layer_names = match config.architecture {
            Architecture::Bert | Architecture::Roberta => LayerNames::bert,
            Architecture::DistilBert => LayerNames::distilbert,
        };
        Self {
            words: embedding("word"),
            positions: embedding("position"),
            token_types: (config.token_types > 0).then(|| embedding("token_type")),
            embedding_norm: Affine::new(&format!("{prefix}embeddings"), "LayerNorm"),
            layers: (0..config.layers).map(|layer| layer_names(prefix, layer)).collect(),
        }
    }
}

impl LayerNames {
    fn bert(prefix: &str, layer: usize) -> Self {
        let module = |name| Affine::new(&format!("{prefix}encoder.layer.{layer}"), name);
        Self {
            query: module("attention.self.query"),
            key: module("attention.self.key"),
            value: module("attention.self.value"),
            attention_output: module("attention.output.dense"),
            attention_norm: module("attention.output.LayerNorm"),
            feed_up: module("intermediate.dense"),
            feed_down: module("output.dense"),
            feed_norm: module("output.LayerNorm"),
        }
    }

    fn distilbert(prefix: &str, layer: usize) -> Self {
        let module = |name| Affine::new(&format!("{prefix}transformer.layer.{layer}"), name);
        Self {
            query: module("attention.q_lin"),
            key: module("attention.k_lin"),
            value: module("attention.v_lin"),
            attention_output: module("attention.out_lin"),
            attention_norm: module("sa_layer_norm"),
            feed_up: module("ffn.lin1"),
            feed_down: module("ffn.lin2"),
            feed_norm: module("output_layer_norm"),
        }
    }
}

impl Affine {
    pub(super) fn new(parent: &str, module: &str) -> Self {
        Self { weight: format!("{parent}.{module}.weight"), bias: format!("{parent}.{module}.bias") }
    }
}

#[derive(Deserialize)]
struct Kind {
    model_type: String,
}

/// The fields of `bert` and `roberta`. Those with a default are absent from some published files.
#[derive(Deserialize)]
struct BertFields {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "smallest_eps")]
    layer_norm_eps: f64,
    #[serde(default = "gelu")]
    hidden_act: String,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
}

impl BertFields {
    fn config(self, architecture: Architecture) -> Result<ModelConfig, ConfigError> {
        if let Some(kind) = self.position_embedding_type.filter(|kind| kind != "absolute") {
            return Err(unsupported("position_embedding_type", kind, "absolute"));
        }
        if self.is_decoder {
            return Err(unsupported("is_decoder", "true".into(), "false"));
        }
        let position_offset = match architecture {
            Architecture::Roberta => self.pad_token_id.unwrap_or(1).saturating_add(1),
            Architecture::Bert | Architecture::DistilBert => 0,
        };
        Ok(ModelConfig {
            architecture,
            vocab: self.vocab_size,
            hidden: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            intermediate: self.intermediate_size,
            positions: self.max_position_embeddings,
            position_offset,
            token_types: self.type_vocab_size,
            layer_norm_eps: self.layer_norm_eps,
            activation: activation("hidden_act", self.hidden_act)?,
        })
    }
}

/// The fields of `distilbert`.
#[derive(Deserialize)]
struct DistilBertFields {
    vocab_size: usize,
    dim: usize,
    n_layers: usize,
    n_heads: usize,
    hidden_dim: usize,
    max_position_embeddings: usize,
    #[serde(default = "gelu")]
    activation: String,
}

impl DistilBertFields {
    fn config(self) -> Result<ModelConfig, ConfigError> {
        Ok(ModelConfig {
            architecture: Architecture::DistilBert,
            vocab: self.vocab_size,
            hidden: self.dim,
            layers: self.n_layers,
            heads: self.n_heads,
            intermediate: self.hidden_dim,
            positions: self.max_position_embeddings,
            position_offset: 0,
            token_types: 0,
            layer_norm_eps: smallest_eps(),
            activation: activation("activation", self.activation)?,
        })
    }
}

fn activation(field: &'static str, name: String) -> Result<Activation, ConfigError> {
    match name.as_str() {
        "gelu" => Ok(Activation::Gelu),
        "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        "relu" => Ok(Activation::Relu),
        _ => Err(unsupported(field, name, "one of gelu, gelu_new, gelu_pytorch_tanh, relu")),
    }
}

fn unsupported(field: &'static str, found: String, supported: &'static str) -> ConfigError {
    ConfigError::Unsupported { field, found, supported }
}

const fn two() -> usize {
    2
}

const fn smallest_eps() -> f64 {
    1e-12
}

fn gelu() -> String {
    "gelu".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERT: &str = r#"{
        "model_type": "bert", "vocab_size": 99, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": 40, "max_position_embeddings": 64, "type_vocab_size": 2, "layer_norm_eps": 1e-5,
        "hidden_act": "gelu_new", "pad_token_id": 1, "position_embedding_type": "absolute"
    }"#;
    const DISTILBERT: &str = r#"{
        "model_type": "distilbert", "vocab_size": 99, "dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40,
        "max_position_embeddings": 64, "activation": "relu"
    }"#;

    #[test]
    fn the_dialects_describe_the_same_model() {
        let bert = ModelConfig::from_json(BERT).unwrap();
        assert_eq!((bert.hidden, bert.layers, bert.heads, bert.intermediate), (24, 2, 3, 40));
        assert_eq!((bert.head_width(), bert.max_length(), bert.token_types), (8, 64, 2));
        assert_eq!((bert.activation, bert.layer_norm_eps), (Activation::GeluTanh, 1e-5));

        let distilbert = ModelConfig::from_json(DISTILBERT).unwrap();
        let same = ModelConfig {
            architecture: Architecture::DistilBert,
            token_types: 0,
            layer_norm_eps: 1e-12,
            activation: Activation::Relu,
            ..bert
        };
        assert_eq!(distilbert, same);
    }

    #[test]
    fn roberta_counts_positions_from_behind_the_padding_id() {
        for kind in ["roberta", "xlm-roberta"] {
            let config = ModelConfig::from_json(&BERT.replace(r#""bert""#, &format!("{kind:?}"))).unwrap();
            assert_eq!((config.position_offset, config.max_length()), (2, 62));
        }
    }

    #[test]
    fn what_we_cannot_run_is_refused_by_name() {
        for (good, bad, field) in [
            (r#""bert""#, r#""t5""#, "model_type"),
            ("gelu_new", "swish", "hidden_act"),
            ("absolute", "relative_key", "position_embedding_type"),
            (r#""num_attention_heads": 3"#, r#""num_attention_heads": 5"#, "hidden size"),
            (r#""num_attention_heads": 3"#, r#""num_attention_heads": 0"#, "hidden size"),
            (r#""intermediate_size": 40"#, r#""intermediate_size": 0"#, "feed-forward"),
            (r#""num_hidden_layers": 2"#, r#""num_hidden_layers": 1000000000000"#, "layers"),
            (r#""max_position_embeddings": 64"#, r#""max_position_embeddings": 0"#, "max_position_embeddings"),
            (r#""pad_token_id": 1"#, r#""is_decoder": true"#, "is_decoder"),
        ] {
            let error = ModelConfig::from_json(&BERT.replace(good, bad)).unwrap_err();
            assert!(matches!(error, ConfigError::Unsupported { .. }));
            assert!(error.to_string().contains(field), "{error}");
        }
        assert!(matches!(ModelConfig::from_json(r#"{"model_type": "bert"}"#), Err(ConfigError::Parse(_))));
    }

    #[test]
    fn names_follow_the_dialect_and_the_prefix_of_the_file() {
        let bert = ModelConfig::from_json(BERT).unwrap();
        let names = bert.names(|_| false);
        assert_eq!(names.words, "embeddings.word_embeddings.weight");
        assert_eq!(names.layers[1].query.weight, "encoder.layer.1.attention.self.query.weight");

        let distilbert = ModelConfig::from_json(DISTILBERT).unwrap();
        let names = distilbert.names(|name| name == "distilbert.embeddings.word_embeddings.weight");
        assert_eq!(names.token_types, None);
        assert_eq!(names.embedding_norm.bias, "distilbert.embeddings.LayerNorm.bias");
        assert_eq!(names.layers[0].feed_norm.weight, "distilbert.transformer.layer.0.output_layer_norm.weight");
    }
}
