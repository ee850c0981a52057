//! What the chunkers share that look at neighbouring pieces: vectors of pieces among their neighbours, and chunks from
//! runs of pieces.

use std::ops::Range;

use super::places::Places;
use super::{Chunk, ChunkError, CutReason};
use crate::embedding::{Cosine, Embedder, Input, Similarity, embed_inputs};
use crate::span::Span;
use crate::tokens::TokenCounter;

/// Inputs embedded at a time: enough to fill every core, few enough to keep their vectors small.
const BATCH: usize = 256;

/// The vectors of the pieces, each joined with up to `buffer` pieces on both sides, handed out in order.
pub(super) fn for_each_vector(
    embedder: &dyn Embedder,
    text: &str,
    pieces: &[Span],
    buffer: usize,
    mut take: impl FnMut(Vec<f32>),
) -> Result<(), ChunkError> {
    let inputs = pieces.iter().map(|&piece| Input::new(embedder, &text[piece])).collect::<Result<Vec<_>, _>>()?;
    let group = |at: usize| {
        let (first, last) = (at.saturating_sub(buffer), (at + buffer).min(inputs.len() - 1));
        let mut group = inputs[first].clone();
        inputs[first + 1..=last].iter().for_each(|next| _ = group.join(next));
        group
    };
    for start in (0..inputs.len()).step_by(BATCH) {
        let groups: Vec<Input> = (start..inputs.len().min(start + BATCH)).map(group).collect();
        let vectors = embed_inputs(embedder, &groups.iter().collect::<Vec<_>>())?;
        vectors.into_iter().for_each(|embedding| take(embedding.vector));
    }
    Ok(())
}

/// The cosine of every two neighbours, each joined with its own neighbours: one less than there are pieces.
pub(super) fn neighbour_similarities(
    embedder: &dyn Embedder,
    text: &str,
    pieces: &[Span],
    buffer: usize,
) -> Result<Vec<f32>, ChunkError> {
    let mut before: Option<Vec<f32>> = None;
    let mut similarities = Vec::with_capacity(pieces.len().saturating_sub(1));
    for_each_vector(embedder, text, pieces, buffer, |vector| {
        similarities.extend(before.as_ref().map(|before| Cosine.between(before, &vector)));
        before = Some(vector);
    })?;
    Ok(similarities)
}

/// Why a run of pieces ends.
pub(super) type Cut = (CutReason, Option<f32>);

/// Says of every chunk whether the embedder would see all of it, where that can be told without embedding it.
pub(super) fn mark_truncated(embedder: &dyn Embedder, chunks: &mut [Chunk<'_>]) -> Result<(), ChunkError> {
    let Some(model) = embedder.as_token_embedder() else { return Ok(()) };
    for chunk in chunks {
        chunk.truncated = model.tokenize(chunk.text)?.len() > model.max_tokens();
    }
    Ok(())
}

/// The chunks made of the `runs` of pieces.
pub(super) fn chunks<'t>(
    text: &'t str,
    counter: Option<&dyn TokenCounter>,
    pieces: &[Span],
    runs: impl IntoIterator<Item = (Range<usize>, Cut)>,
) -> Result<Vec<Chunk<'t>>, ChunkError> {
    let places = Places::new(text, counter);
    let chunk = |(run, (reason, similarity)): (Range<usize>, Cut)| {
        let pieces = &pieces[run];
        let span = pieces[0].to(pieces[pieces.len() - 1]);
        let chunk = places.chunk(span, pieces.to_vec(), reason)?;
        Ok(Chunk { similarity, ..chunk })
    };
    runs.into_iter().filter(|(run, _)| !run.is_empty()).map(chunk).collect()
}

/// The chunks of pieces that are cut where the similarity of neighbours is one that `cuts` picks.
pub(super) fn chunks_cut_at<'t>(
    embedder: &dyn Embedder,
    text: &'t str,
    counter: Option<&dyn TokenCounter>,
    pieces: &[Span],
    similarities: &[f32],
    cuts: impl Fn(usize) -> bool,
) -> Result<Vec<Chunk<'t>>, ChunkError> {
    let mut start = 0;
    let mut runs = Vec::new();
    for (at, &similarity) in similarities.iter().enumerate().filter(|&(at, _)| cuts(at)) {
        runs.push((start..at + 1, (CutReason::Similarity, Some(similarity))));
        start = at + 1;
    }
    runs.push((start..pieces.len(), (CutReason::End, None)));
    let mut chunks = chunks(text, counter, pieces, runs)?;
    mark_truncated(embedder, &mut chunks)?;
    Ok(chunks)
}
