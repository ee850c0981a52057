//! Scores of texts against a question, after Nogueira and Cho, "Passage Re-ranking with BERT" (2019).

use super::{Linear, PairEncoder, TOGETHER};
use crate::embedding::config::Architecture;
use crate::embedding::{EmbeddingError, ModelError};

/// A model that scores how well a text answers a question; [`ModelLoader::load_cross_encoder`] makes it.
///
/// ```no_run
/// use horchunk::{ModelLoader, ModelSource};
///
/// let model = ModelLoader::new(ModelSource::Folder("ms-marco-MiniLM-L6-v2".into())).load_cross_encoder()?;
/// let scores = model.scores("When is low tide?", &["Low tide is at noon.", "Rates rose."])?;
/// assert!(scores[0] > scores[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`ModelLoader::load_cross_encoder`]: crate::ModelLoader::load_cross_encoder
#[derive(Debug)]
pub struct CrossEncoder {
    pairs: PairEncoder,
    dense: Linear,
    output: Linear,
}

impl CrossEncoder {
    pub(in crate::embedding) fn new(pairs: PairEncoder) -> Result<Self, ModelError> {
        let hidden = Some(pairs.config.hidden);
        let (dense, output) = match pairs.config.architecture {
            Architecture::Bert => {
                (pairs.linear("bert.pooler", "dense", hidden)?, pairs.linear("", "classifier", None)?)
            }
            Architecture::DistilBert => {
                (pairs.linear("", "pre_classifier", hidden)?, pairs.linear("", "classifier", None)?)
            }
            Architecture::Roberta => {
                (pairs.linear("classifier", "dense", hidden)?, pairs.linear("classifier", "out_proj", None)?)
            }
        };
        let labels = output.bias.len();
        if !(1..=2).contains(&labels) {
            return Err(pairs.weights.unsupported(format!("{labels} labels"), "1 label (a score) or 2 (no and yes)"));
        }
        Ok(Self { pairs, dense, output })
    }

    /// One score a text, higher where it fits better. Of a model with one label it is the bare logit, whose order a
    /// sigmoid would not change; of one with two, the probability of the second.
    ///
    /// A pair too long for the model loses tokens at the end of its longer text until both are equally long, then of
    /// both, as with sentence-transformers.
    ///
    /// # Errors
    ///
    /// [`EmbeddingError`] if the tokenizer fails, or does not belong to the model.
    pub fn scores(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>, EmbeddingError> {
        let logits = self.logits(question, texts)?;
        Ok(logits
            .iter()
            .map(|logits| match logits.as_slice() {
                [no, yes] => 1.0 / (1.0 + (no - yes).exp()),
                one => one.first().copied().unwrap_or(f32::NAN),
            })
            .collect())
    }

    pub(super) fn logits(&self, question: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let tokenizer = &self.pairs.tokenizer;
        let question = tokenizer.ids(question)?;
        let room = self.pairs.room();
        let mut all = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TOGETHER) {
            let mut inputs = Vec::with_capacity(texts.len());
            for text in texts {
                let text = tokenizer.ids(text)?;
                let (first, second) = kept(question.len(), text.len(), room);
                inputs.push(self.pairs.pair(&question[..first], &text[..second]));
            }
            let states = self.pairs.states(&inputs)?;
            all.extend(states.iter().map(|states| self.head(&states[..self.pairs.config.hidden])));
        }
        Ok(all)
    }

    /// The logits that follow from the state of the first token.
    fn head(&self, first: &[f32]) -> Vec<f32> {
        let mut row = self.dense.apply(first);
        for number in &mut row {
            *number = match self.pairs.config.architecture {
                Architecture::DistilBert => number.max(0.0),
                Architecture::Bert | Architecture::Roberta => number.tanh(),
            };
        }
        self.output.apply(&row)
    }
}

/// How many tokens of two texts stay: the truncation `longest_first` of the crate `tokenizers`.
pub(super) fn kept(first: usize, second: usize, room: usize) -> (usize, usize) {
    let half = room / 2;
    if first + second <= room {
        (first, second)
    } else if first.min(second) > half {
        if first > second { (room - half, half) } else { (half, room - half) }
    } else if first > second {
        (room - second, second)
    } else {
        (first, room - first)
    }
}
