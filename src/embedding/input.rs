//! What an embedder is asked for: sentences that are tokenized once and joined as often as needed.
//!
//! For a [`TokenEmbedder`](super::TokenEmbedder) an input is the concatenated token ids of its sentences, cut at
//! the model's length; for a [`SumEmbedder`](super::SumEmbedder) it is the sum of theirs, added up from left to right;
//! for any other embedder it is their text joined by one space. Equal inputs have equal vectors, which the window loop
//! uses to embed nothing twice.

use super::similarity::{dot, narrow};
use super::{DraftEmbedder, Embedder, Embedding, EmbeddingError};

/// Of English text, about.
const BYTES_OF_A_TOKEN: usize = 4;

/// In front of and behind what most models see.
const SPECIAL_TOKENS: usize = 2;

/// The model's input for a run of sentences.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// At most `max` token ids; `truncated` if the sentences had more.
    Tokens { ids: Vec<u32>, max: usize, truncated: bool },
    /// The sum of a static model, not yet brought to length 1.
    Sum(Vec<f32>),
    /// Text that the embedder tokenizes and cuts itself.
    Text(String),
}

impl Input {
    /// The input of one sentence.
    pub(crate) fn new(embedder: &dyn Embedder, sentence: &str) -> Result<Self, EmbeddingError> {
        if let Some(model) = embedder.as_sum_embedder() {
            return Ok(Self::Sum(model.sum(sentence)?));
        }
        let Some(model) = embedder.as_token_embedder() else { return Ok(Self::Text(sentence.to_owned())) };
        let max = model.max_tokens();
        let mut ids = model.tokenize(sentence)?;
        let truncated = ids.len() > max;
        ids.truncate(max);
        Ok(Self::Tokens { ids, max, truncated })
    }

    /// Adds the sentence `next` behind one space; says whether the model sees anything of it.
    pub(crate) fn join(&mut self, next: &Self) -> bool {
        match (self, next) {
            (Self::Tokens { ids, max, truncated }, Self::Tokens { ids: new, truncated: cut, .. }) => {
                let room = *max - ids.len();
                ids.extend(new.iter().take(room));
                *truncated |= *cut || new.len() > room;
                room > 0 && !new.is_empty()
            }
            (Self::Sum(sum), Self::Sum(new)) => {
                sum.iter_mut().zip(new).for_each(|(sum, x)| *sum += x);
                new.iter().any(|&x| x != 0.0)
            }
            (Self::Text(text), Self::Text(new)) => {
                text.push(' ');
                text.push_str(new);
                true
            }
            (Self::Tokens { .. } | Self::Sum(_) | Self::Text(_), _) => {
                unreachable!("the inputs of one embedder are of one kind")
            }
        }
    }

    /// Tokens to embed, special ones counted, of a text about so many; never 0.
    pub(crate) fn tokens(&self) -> usize {
        match self {
            Self::Tokens { ids, .. } => ids.len() + SPECIAL_TOKENS,
            Self::Text(text) => text.len() / BYTES_OF_A_TOKEN + SPECIAL_TOKENS,
            Self::Sum(_) => 1,
        }
    }

    /// Whether the model's length is used up, so that nothing joined from now on is seen. Of a text only the
    /// embedder knows.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Tokens { ids, max, .. } if ids.len() == *max)
    }

    /// Whether part of the sentences is not seen; `None` where only the embedder knows.
    pub(crate) fn truncated(&self) -> Option<bool> {
        match self {
            Self::Tokens { truncated, .. } => Some(*truncated),
            Self::Sum(_) => Some(false),
            Self::Text(_) => None,
        }
    }
}

/// Embeds inputs of one embedder, in order. An answer that does not fit is an error, wherever the embedder comes from.
pub(crate) fn embed_inputs(embedder: &dyn Embedder, inputs: &[&Input]) -> Result<Vec<Embedding>, EmbeddingError> {
    checked(embedder, inputs.len(), ask(embedder, inputs)?)
}

/// Embeds inputs by the faster version of a token embedder, in order, checked in the same way.
pub(crate) fn embed_drafts(
    embedder: &dyn Embedder,
    draft: &dyn DraftEmbedder,
    inputs: &[&Input],
) -> Result<Vec<Embedding>, EmbeddingError> {
    checked(embedder, inputs.len(), of_ids(inputs, |ids| draft.draft_tokens(ids))?)
}

/// Embeds texts, checked in the same way.
pub(crate) fn embed_texts(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
    checked(embedder, texts.len(), embedder.embed(texts)?)
}

fn checked(
    embedder: &dyn Embedder,
    asked: usize,
    embeddings: Vec<Embedding>,
) -> Result<Vec<Embedding>, EmbeddingError> {
    let found = embeddings.len();
    if asked != found {
        return Err(EmbeddingError::Count { asked, found });
    }
    let dimension = embedder.dimension();
    for Embedding { vector, .. } in &embeddings {
        if vector.len() != dimension {
            return Err(EmbeddingError::Dimension { dimension, found: vector.len() });
        }
        if !vector.iter().all(|number| number.is_finite()) {
            return Err(EmbeddingError::NotFinite);
        }
    }
    Ok(embeddings)
}

fn ask(embedder: &dyn Embedder, inputs: &[&Input]) -> Result<Vec<Embedding>, EmbeddingError> {
    if embedder.as_sum_embedder().is_some() {
        let sums = inputs.iter().filter_map(|input| input.sum());
        return Ok(sums.map(|sum| Embedding { vector: unit(sum), truncated: false }).collect());
    }
    let Some(model) = embedder.as_token_embedder() else {
        let texts: Vec<&str> = inputs.iter().filter_map(|input| input.text()).collect();
        return embedder.embed(&texts);
    };
    of_ids(inputs, |ids| model.embed_tokens(ids))
}

fn of_ids(
    inputs: &[&Input],
    embed: impl FnOnce(&[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError>,
) -> Result<Vec<Embedding>, EmbeddingError> {
    let ids: Vec<&[u32]> = inputs.iter().filter_map(|input| input.ids()).collect();
    let flags = inputs.iter().map(|input| input.truncated().unwrap_or(false));
    Ok(embed(&ids)?.into_iter().zip(flags).map(|(vector, truncated)| Embedding { vector, truncated }).collect())
}

/// `sum` brought to length 1; zero stays zero.
pub(super) fn unit(sum: &[f32]) -> Vec<f32> {
    let norm = dot(sum, sum).sqrt();
    let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
    sum.iter().map(|&x| narrow(f64::from(x) * scale)).collect()
}

impl Input {
    fn sum(&self) -> Option<&[f32]> {
        if let Self::Sum(sum) = self { Some(sum) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn ids(&self) -> Option<&[u32]> {
        if let Self::Tokens { ids, .. } = self { Some(ids) } else { None }
    }
}
