//! From the hidden states of a text to its vector.

use super::kernel::Matrix;

/// How hidden states become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    Cls,
}

impl Pooling {
    /// The vector of a text with at least one token.
    #[expect(clippy::cast_precision_loss, reason = "no model takes 2^24 tokens")]
    pub(super) fn pool(self, states: Matrix<'_>, hidden: usize) -> Vec<f32> {
        let mut rows = states.data.chunks_exact(states.stride).map(|row| &row[..hidden]);
        let mut vector = rows.next().map_or_else(|| vec![0.0; hidden], <[f32]>::to_vec);
        if self == Self::Mean {
            let count = 1 + rows.len();
            for row in rows {
                for (sum, value) in vector.iter_mut().zip(row) {
                    *sum += value;
                }
            }
            for sum in &mut vector {
                *sum /= count as f32;
            }
        }
        vector
    }
}

/// Scales a vector to length 1; the zero vector stays.
pub(super) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    for value in vector {
        *value /= length;
    }
}
