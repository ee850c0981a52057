//! `--fragile`: the decisions that a slightly different model or threshold would have taken otherwise.

use horchunk::{Chunk, Record};

/// Finds them in the chunks of one document.
#[derive(Debug)]
pub(super) struct Fragile<'a> {
    eps: f32,
    threshold: f32,
    document: &'a str,
    /// The decision that closed the chunk before; the sentence it was about starts the next one.
    closing: Option<f32>,
}

impl<'a> Fragile<'a> {
    pub(super) const fn new(eps: f32, threshold: f32, document: &'a str) -> Self {
        Self { eps, threshold, document, closing: None }
    }

    /// Those about the sentences of the next chunk, a line each.
    pub(super) fn decisions(&mut self, record: &Record<'_>, chunk: &Chunk<'_>) -> Vec<String> {
        let own: Vec<_> = chunk.sentences.iter().zip(chunk.sentence_texts()).skip(chunk.overlap_sentences).collect();
        if own.is_empty() {
            return Vec::new();
        }
        // The first sentence was judged by the step that closed the chunk before, every other by a step of this one.
        let inside = chunk.similarities.iter().take(own.len() - 1).copied();
        let steps = std::iter::once(self.closing).chain(inside);
        self.closing = chunk.similarities.get(own.len() - 1).copied().flatten();
        own.iter()
            .zip(steps)
            .filter_map(|(&(span, text), similarity)| {
                let similarity = similarity.filter(|similarity| (similarity - self.threshold).abs() <= self.eps)?;
                let decision = if similarity < self.threshold { "cut" } else { "kept" };
                let head: String = text.chars().take(40).collect();
                Some(format!(
                    "fragile: {}: chunk {}, byte {}: similarity {similarity:.6}, threshold {}: {decision} before {head:?}",
                    self.document,
                    record.index + 1,
                    span.start(),
                    self.threshold
                ))
            })
            .collect()
    }
}
