//! Exact retrieval: the cosine of a question with every chunk, the best `k`, ties in the order of the chunks.

use rayon::prelude::*;

/// A chunk found for a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Number of the chunk among all.
    pub(super) chunk: usize,
    /// Cosine with the question.
    pub(super) similarity: f32,
}

/// What is searched.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// A unit vector a chunk.
    pub(super) chunks: Vec<Vec<f32>>,
    /// Whether a chunk says what an earlier one said, so that it is never retrieved.
    pub(super) repeated: Vec<bool>,
    /// Unit vectors of sentences, each with the number of its chunk.
    pub(super) sentences: Vec<(usize, Vec<f32>)>,
    /// The share that the best sentence has in the similarity of its chunk; the chunk's own vector has the rest.
    pub(super) sentence_weight: f32,
}

impl Index {
    /// For every question, the `k` chunks that are most alike, best first.
    pub(super) fn retrieve(&self, questions: &[Vec<f32>], k: usize) -> Vec<Vec<Hit>> {
        questions.par_iter().map(|question| best(&self.similarities(question), k)).collect()
    }

    /// The similarity of every chunk; none of those that are not to be retrieved.
    fn similarities(&self, question: &[f32]) -> Vec<Option<f32>> {
        let mut similarities: Vec<f32> = self.chunks.iter().map(|chunk| dot(question, chunk)).collect();
        if self.sentence_weight > 0.0 {
            let mut best = similarities.clone();
            let mut seen = vec![false; best.len()];
            for (chunk, sentence) in &self.sentences {
                let similarity = dot(question, sentence);
                best[*chunk] = if seen[*chunk] { best[*chunk].max(similarity) } else { similarity };
                seen[*chunk] = true;
            }
            for (similarity, best) in similarities.iter_mut().zip(best) {
                *similarity += self.sentence_weight * (best - *similarity);
            }
        }
        let repeated = self.repeated.iter().copied().chain(std::iter::repeat(false));
        similarities.into_iter().zip(repeated).map(|(similarity, repeated)| (!repeated).then_some(similarity)).collect()
    }
}

fn best(similarities: &[Option<f32>], k: usize) -> Vec<Hit> {
    let hit = |(chunk, similarity): (usize, &Option<f32>)| Some(Hit { chunk, similarity: (*similarity)? });
    let mut hits: Vec<Hit> = similarities.iter().enumerate().filter_map(hit).collect();
    hits.sort_unstable_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.chunk.cmp(&b.chunk)));
    hits.truncate(k);
    hits
}

/// Dot product in eight running sums, in one order on every machine.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks(LANES), b.chunks(LANES));
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(angle: u8) -> Vec<f32> {
        let angle = f32::from(angle) * 0.5;
        vec![angle.cos(), angle.sin(), 0.0]
    }

    proptest! {
        #[test]
        fn each_hit_is_the_best_of_what_is_left(
            angles in prop::collection::vec((0..12_u8, any::<bool>()), 0..20),
            question in 0..12_u8,
            k in 0..6_usize,
        ) {
            let (angles, repeated): (Vec<u8>, Vec<bool>) = angles.into_iter().unzip();
            let chunks: Vec<Vec<f32>> = angles.into_iter().map(vector).collect();
            let question = vector(question);
            let all = chunks.iter().enumerate().filter(|&(chunk, _)| !repeated[chunk]);
            let mut all: Vec<Hit> = all.map(|(chunk, v)| Hit { chunk, similarity: dot(&question, v) }).collect();
            let index = Index { chunks, repeated, ..Index::default() };
            let found = index.retrieve(std::slice::from_ref(&question), k).remove(0);
            prop_assert_eq!(found.len(), k.min(all.len()));
            for hit in found {
                // The best of what is left, and of equal ones the first.
                let best = all.iter().copied().reduce(|a, b| if b.similarity > a.similarity { b } else { a });
                prop_assert_eq!(Some(hit), best);
                all.retain(|other| *other != hit);
            }
        }
    }

    #[test]
    fn the_best_sentence_lifts_its_chunk_by_its_share() {
        let sentences = vec![(0, vector(3)), (0, vector(0)), (1, vector(2))];
        let index = Index { chunks: vec![vector(2), vector(1)], sentences, sentence_weight: 0.5, ..Index::default() };
        let similarities = index.similarities(&vector(0));
        let expected = [f32::midpoint(1.0_f32.cos(), 1.0), f32::midpoint(0.5_f32.cos(), 1.0_f32.cos())];
        for (similarity, expected) in similarities.iter().zip(expected) {
            assert!((similarity.unwrap() - expected).abs() < 1e-6, "{similarities:?}");
        }
    }
}
