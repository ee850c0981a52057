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

/// For every question, the `k` unit vectors of `chunks` with the largest cosine, best first.
pub(super) fn retrieve(questions: &[Vec<f32>], chunks: &[Vec<f32>], k: usize) -> Vec<Vec<Hit>> {
    questions.par_iter().map(|question| best(question, chunks, k)).collect()
}

fn best(question: &[f32], chunks: &[Vec<f32>], k: usize) -> Vec<Hit> {
    // A heap would save a little; sorted insertion of the few that get in is as fast and reads better.
    let mut best: Vec<Hit> = Vec::with_capacity(k + 1);
    for (chunk, vector) in chunks.iter().enumerate() {
        let similarity = dot(question, vector);
        if best.len() == k && best.last().is_none_or(|last| similarity <= last.similarity) {
            continue;
        }
        let place = best.partition_point(|hit| hit.similarity >= similarity);
        best.insert(place, Hit { chunk, similarity });
        best.truncate(k);
    }
    best
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

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            angles in prop::collection::vec(0..12_u8, 0..20),
            question in 0..12_u8,
            k in 0..6_usize,
        ) {
            let vector = |angle: u8| {
                let angle = f32::from(angle) * 0.5;
                vec![angle.cos(), angle.sin(), 0.0]
            };
            let chunks: Vec<Vec<f32>> = angles.into_iter().map(vector).collect();
            let question = vector(question);
            let mut all: Vec<Hit> =
                chunks.iter().enumerate().map(|(chunk, v)| Hit { chunk, similarity: dot(&question, v) }).collect();
            all.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.chunk.cmp(&b.chunk)));
            all.truncate(k);
            prop_assert_eq!(&retrieve(std::slice::from_ref(&question), &chunks, k)[0], &all);
        }
    }
}
