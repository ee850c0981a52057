//! Heads on encoders: models that read a question and a text together.
//!
//! A [`CrossEncoder`] says how well the text fits the question, a [`QuestionAnswerer`] where in it the answer stands.
//! Both compute on the processor. The input is `[CLS] question [SEP] text [SEP]`, in RoBERTa's dialect
//! `<s> question </s></s> text </s>`; BERT's tokens from the text on are of type 1, those of others have no type. Text that spells a special token is
//! plain text. The heads are those of the transformers library.

mod answerer;
mod cross;
#[cfg(test)]
mod tests;

use safetensors::SafeTensors;
use serde::Deserialize;

use super::config::{Affine, Architecture, ModelConfig};
use super::encoder::{Encoder, linear};
use super::folder::{CONFIG, Files, ModelFile, Parts};
use super::{EmbeddingError, ModelError, Precision};
use crate::tokens::{Frame, TokenizerFile};

pub use answerer::{ExtractedAnswer, QuestionAnswerer};
pub use cross::CrossEncoder;

/// Pairs that are computed together: few enough that their states need little memory.
const TOGETHER: usize = 32;

/// What a head is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Classification,
    Answering,
}

impl Task {
    /// Refuses a model whose `config.json` names another head.
    pub(super) fn check(self, files: &Files) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default)]
            architectures: Vec<String>,
        }
        let (ending, supported) = match self {
            Self::Classification => {
                ("ForSequenceClassification", "[BertForSequenceClassification] or its like, for a cross-encoder")
            }
            Self::Answering => ("ForQuestionAnswering", "[BertForQuestionAnswering] or its like, to answer questions"),
        };
        let file = files.read(CONFIG)?;
        let Fields { architectures } = file.json()?;
        if architectures.iter().any(|name| name.ends_with(ending)) {
            return Ok(());
        }
        Err(file.unsupported(format!("architectures = {architectures:?}"), supported))
    }
}

/// An encoder of a question with a text, and the file its head is read from.
#[derive(Debug)]
pub(super) struct PairEncoder {
    encoder: Encoder<'static>,
    tokenizer: TokenizerFile,
    frame: Frame,
    config: ModelConfig,
    max_length: usize,
    weights: ModelFile,
}

impl PairEncoder {
    pub(super) fn new(precision: Precision, parts: Parts) -> Result<Self, ModelError> {
        let Parts { tokenizer: file, weights, config, max_length, .. } = parts;
        let tokenizer = TokenizerFile::from_bytes(&file.path.to_string_lossy(), &file.bytes)?;
        let frame = tokenizer.frame()?;
        if frame.before.is_empty() || frame.after.is_empty() {
            return Err(file.unsupported("no special tokens around a text", "one before and one behind it"));
        }
        let tensors = weights.tensors(&weights.bytes)?;
        let encoder = Encoder::new(precision, &config, &tensors).map_err(|error| weights.unfit(error))?.into_owned();
        Ok(Self { encoder, tokenizer, frame, config, max_length, weights })
    }

    /// Tokens of question and text that an input has room for.
    fn room(&self) -> usize {
        self.max_length.saturating_sub(self.pair(&[], &[]).0.len())
    }

    /// An input, and where its text begins.
    fn pair(&self, question: &[u32], text: &[u32]) -> (Vec<u32>, usize) {
        let Frame { before, after } = &self.frame;
        let between: &[u32] = if self.config.architecture == Architecture::Roberta { after } else { &[] };
        let second = before.len() + question.len() + after.len() + between.len();
        ([before.as_slice(), question, after, between, text, after].concat(), second)
    }

    /// The hidden states of inputs, one row a token.
    fn states(&self, pairs: &[(Vec<u32>, usize)]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let ids: Vec<&[u32]> = pairs.iter().map(|(ids, _)| ids.as_slice()).collect();
        // RoBERTa's tokenizers give no types, even where its model has a second one.
        let typed = self.config.architecture == Architecture::Bert;
        let seconds: Vec<usize> = pairs.iter().filter(|_| typed).map(|&(_, second)| second).collect();
        Ok(self.encoder.states(&ids, &seconds)?)
    }

    /// The linear layer `module` of the head, `rows` wide or as wide as its file has it.
    fn linear(&self, parent: &str, module: &str, rows: Option<usize>) -> Result<Linear, ModelError> {
        let tensors: SafeTensors<'_> = self.weights.tensors(&self.weights.bytes)?;
        let names = match parent {
            "" => Affine { weight: format!("{module}.weight"), bias: format!("{module}.bias") },
            parent => Affine::new(parent, module),
        };
        let stored = tensors.tensor(&names.weight).ok().and_then(|tensor| tensor.shape().first().copied());
        let (rows, columns) = (rows.or(stored).unwrap_or(1), self.config.hidden);
        let (weight, bias) = linear(&tensors, &names, rows, columns).map_err(|error| self.weights.unfit(error))?;
        Ok(Linear { weight, bias })
    }
}

/// A linear layer of a head, too small to be worth packing.
#[derive(Debug)]
struct Linear {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    fn apply(&self, row: &[f32]) -> Vec<f32> {
        let rows = self.weight.chunks_exact(row.len()).zip(&self.bias);
        rows.map(|(weights, bias)| bias + weights.iter().zip(row).map(|(a, b)| a * b).sum::<f32>()).collect()
    }
}
