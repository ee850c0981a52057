//! Layer normalisation (Ba, Kiros and Hinton, 2016) of every row, after the residual is added.
#![expect(clippy::inline_always, reason = "SIMD types must not cross a call that lacks the target's features")]

use pulp::Simd;

use super::kernel::{Aligned, VECTORS, pairs, pairs_mut};

/// The weights of one layer norm, padded to whole panels.
#[derive(Debug)]
pub(super) struct Norm {
    gamma: Aligned,
    beta: Aligned,
    /// 1 where a row has a number, 0 where it is padding.
    inside: Aligned,
    width: f32,
    eps: f32,
}

impl Norm {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "far below 2^24; f32 is the goal")]
    pub(super) fn new(gamma: &[f32], beta: &[f32], eps: f64, padded: usize) -> Self {
        let pad = |values: &[f32]| {
            let mut row = Aligned::zeros(padded);
            row[..values.len()].copy_from_slice(values);
            row
        };
        let inside = pad(&vec![1.0; gamma.len()]);
        Self { gamma: pad(gamma), beta: pad(beta), inside, width: gamma.len() as f32, eps: eps as f32 }
    }

    /// Normalises the rows of `states`.
    pub(super) fn apply<S: Simd>(&self, simd: S, states: &mut [f32]) {
        simd.vectorize(
            #[inline(always)]
            || {
                for row in states.chunks_exact_mut(self.gamma.len()) {
                    self.row(simd, pairs_mut::<S>(row));
                }
            },
        );
    }

    /// Adds the rows of `change` to those of `states`, then normalises them.
    pub(super) fn add_and_apply<S: Simd>(&self, simd: S, states: &mut [f32], change: &[f32]) {
        simd.vectorize(
            #[inline(always)]
            || {
                let width = self.gamma.len();
                for (row, change) in states.chunks_exact_mut(width).zip(change.chunks_exact(width)) {
                    let row = pairs_mut::<S>(row);
                    for (values, changes) in row.iter_mut().zip(pairs::<S>(change)) {
                        for (value, &change) in values.iter_mut().zip(changes) {
                            *value = simd.add_f32s(*value, change);
                        }
                    }
                    self.row(simd, row);
                }
            },
        );
    }

    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, row: &mut [[S::f32s; VECTORS]]) {
        let mut sums = [simd.splat_f32s(0.0); VECTORS];
        for values in &*row {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = simd.add_f32s(*sum, value);
            }
        }
        let minus_mean = simd.splat_f32s(-self.mean(simd, sums));
        let mut squares = [simd.splat_f32s(0.0); VECTORS];
        for (values, inside) in row.iter_mut().zip(pairs::<S>(&self.inside)) {
            for ((value, &inside), square) in values.iter_mut().zip(inside).zip(&mut squares) {
                *value = simd.mul_add_e_f32s(minus_mean, inside, *value);
                *square = simd.mul_add_e_f32s(*value, *value, *square);
            }
        }
        let scale = simd.splat_f32s(1.0 / (self.mean(simd, squares) + self.eps).sqrt());
        for ((values, gamma), beta) in row.iter_mut().zip(pairs::<S>(&self.gamma)).zip(pairs::<S>(&self.beta)) {
            for ((value, &gamma), &beta) in values.iter_mut().zip(gamma).zip(beta) {
                *value = simd.mul_add_e_f32s(simd.mul_f32s(*value, scale), gamma, beta);
            }
        }
    }

    #[inline(always)]
    fn mean<S: Simd>(&self, simd: S, sums: [S::f32s; VECTORS]) -> f32 {
        let [first, second] = sums;
        simd.reduce_sum_f32s(simd.add_f32s(first, second)) / self.width
    }
}
