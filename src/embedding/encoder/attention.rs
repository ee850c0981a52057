//! Attention of some queries of one sequence to all its keys (Vaswani et al., 2017).
//!
//! Everything is computed transposed: one panel holds as many queries as it has columns, the scores are `K Q^T` with
//! one row a key, and the result is `V^T P`. Keys and values are then left factors, read where the product before put
//! them; the only thing that moves is a panel of queries. The softmax runs down the columns, so that no vector is ever
//! reduced to a number, and a sequence of any length needs neither padding nor a mask.

use std::ops::Range;

use pulp::Simd;

use super::activation::exp;
use super::kernel::{Left, Matrix, Panels, Target, VECTORS, pairs, pairs_mut, panel_width, product};

/// How a row of queries, keys and values, in this order, is divided among the heads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    pub count: usize,
    pub width: usize,
}

impl Heads {
    /// Numbers of scratch that attention to a sequence of `length` tokens needs.
    pub(super) const fn scratch(self, length: usize, panel_width: usize) -> usize {
        (2 * self.width + length + 1) * panel_width
    }

    /// Writes one row a query to `out`: the mix of values it attends to, head by head.
    ///
    /// Both `queries` and `sequence`, to which they belong, are rows of `qkv`.
    pub(super) fn attend<S: Simd>(
        self,
        simd: S,
        qkv: Matrix<'_>,
        (queries, sequence): (Range<usize>, Range<usize>),
        mut out: Target<'_>,
        scratch: &mut [f32],
    ) {
        let lanes = panel_width::<S>();
        let (panel, scratch) = scratch.split_at_mut(self.width * lanes);
        let (result, scratch) = scratch.split_at_mut(self.width * lanes);
        let (sums, scratch) = scratch.split_at_mut(lanes);
        let scores = &mut scratch[..sequence.len() * lanes];

        let hidden = self.count * self.width;
        for first in queries.clone().step_by(lanes) {
            let count = lanes.min(queries.end - first);
            for head in (0..hidden).step_by(self.width) {
                let key = qkv.from(sequence.start, hidden + head);
                let value = qkv.from(sequence.start, 2 * hidden + head);

                to_columns(qkv.from(first, head), count, panel, lanes);
                let right = Panels { data: panel, depth: self.width, bias: &[] };
                product(simd, Left::Plain(key), right, Target { data: scores, stride: lanes });
                softmax(simd, scores, sums);
                let right = Panels { data: scores, depth: sequence.len(), bias: &[] };
                product(simd, Left::Transposed(value), right, Target { data: result, stride: lanes });
                divide(simd, result, sums);
                to_rows(result, lanes, count, out.from(first - queries.start, head));
            }
        }
    }
}

/// Exponentials of the scores, less the greatest of each column, and the sums of the columns.
///
/// The columns are divided by their sums later, when there are fewer rows.
fn softmax<S: Simd>(simd: S, scores: &mut [f32], sums: &mut [f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let scores = pairs_mut::<S>(scores);
            let mut greatest = [simd.splat_f32s(f32::NEG_INFINITY); VECTORS];
            for row in &*scores {
                for (greatest, &score) in greatest.iter_mut().zip(row) {
                    *greatest = simd.max_f32s(*greatest, score);
                }
            }
            let mut sum = [simd.splat_f32s(0.0); VECTORS];
            for row in scores {
                for ((sum, score), &greatest) in sum.iter_mut().zip(row).zip(&greatest) {
                    *score = exp(simd, simd.sub_f32s(*score, greatest));
                    *sum = simd.add_f32s(*sum, *score);
                }
            }
            pairs_mut::<S>(sums)[0] = sum;
        },
    );
}

/// Divides every column by its sum.
fn divide<S: Simd>(simd: S, values: &mut [f32], sums: &[f32]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let factors = pairs::<S>(sums)[0].map(|sum| simd.div_f32s(simd.splat_f32s(1.0), sum));
            for row in pairs_mut::<S>(values) {
                for (value, &factor) in row.iter_mut().zip(&factors) {
                    *value = simd.mul_f32s(*value, factor);
                }
            }
        },
    );
}

/// Lays the first `count` rows out as columns of a panel; its other columns are zero.
fn to_columns(rows: Matrix<'_>, count: usize, panel: &mut [f32], lanes: usize) {
    if count < lanes {
        panel.fill(0.0);
    }
    for (lane, row) in rows.data.chunks(rows.stride).take(count).enumerate() {
        for (column, &value) in panel.chunks_exact_mut(lanes).zip(row) {
            column[lane] = value;
        }
    }
}

/// Lays the first `count` columns of a panel out as rows.
fn to_rows(panel: &[f32], lanes: usize, count: usize, Target { data, stride }: Target<'_>) {
    for (lane, row) in data.chunks_mut(stride).take(count).enumerate() {
        for (column, value) in panel.chunks_exact(lanes).zip(row) {
            *value = column[lane];
        }
    }
}
