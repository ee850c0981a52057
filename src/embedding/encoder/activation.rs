//! The functions between the products: GELU in both spellings, the rectifier, and the exponential of the softmax.
//!
//! None calls a mathematical library: each is a few multiplications on a whole vector. The coefficients are
//! our own fits, with the least maximum error (Lawson's iteration on Chebyshev nodes); the tests hold them to the
//! functions in double precision.
#![expect(clippy::inline_always, reason = "SIMD types must not cross a call that lacks the target's features")]

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, LOG2_E};

use pulp::Simd;

use crate::embedding::config::Activation;

/// Applies `activation` to every number of `values`, a whole number of vectors.
pub(super) fn activate<S: Simd>(simd: S, activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Gelu => map(simd, values, gelu),
        Activation::GeluTanh => map(simd, values, gelu_tanh),
        Activation::Relu => map(simd, values, relu),
    }
}

#[inline(always)]
fn map<S: Simd>(simd: S, values: &mut [f32], function: impl Fn(S, S::f32s) -> S::f32s) {
    simd.vectorize(
        #[inline(always)]
        || {
            for value in S::as_mut_simd_f32s(values).0 {
                *value = function(simd, *value);
            }
        },
    );
}

/// `max(0, x) - |x| Q(|x|)`, where `Q` is the upper tail of the normal distribution.
///
/// The subtrahend is a smooth bump that is gone beyond 5.5, so one polynomial does; its error is at most 3.1e-7.
#[inline(always)]
pub(super) fn gelu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    const END: f32 = 5.5;
    const TAIL: [f32; 18] = [
        0.008_194_365,
        -0.060_576_21,
        0.191_264_15,
        -0.308_765_6,
        0.178_930_9,
        0.261_600_32,
        -0.628_187_4,
        0.452_285_8,
        0.150_844_84,
        -0.520_623_74,
        0.273_374_7,
        0.185_871_99,
        -0.258_292_17,
        0.012_568_266,
        0.099_783_95,
        -0.029_069_316,
        -0.015_913_283,
        0.006_708_547_5,
    ];
    let distance = simd.min_f32s(simd.abs_f32s(x), simd.splat_f32s(END));
    let centred = simd.mul_add_e_f32s(distance, simd.splat_f32s(2.0 / END), simd.splat_f32s(-1.0));
    simd.sub_f32s(relu(simd, x), polynomial(simd, &TAIL, centred))
}

/// `x (1 + tanh y) / 2 = x / (1 + exp(-2 y))` with `y = sqrt(2 / pi) (x + 0.044715 x^3)`.
#[inline(always)]
pub(super) fn gelu_tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    const SLOPE: f32 = -2.0 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    let one = simd.splat_f32s(1.0);
    let square = simd.mul_f32s(x, x);
    let cubic = simd.mul_add_e_f32s(square, simd.splat_f32s(0.044_715), one);
    let exponent = simd.mul_f32s(simd.mul_f32s(x, simd.splat_f32s(SLOPE)), cubic);
    simd.div_f32s(x, simd.add_f32s(one, exp(simd, exponent)))
}

#[inline(always)]
pub(super) fn relu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    simd.max_f32s(x, simd.splat_f32s(0.0))
}

/// `e^x` for `x` between -87 and 87; what lies beyond counts as the limit.
///
/// `x = (n + r) ln 2` with `n` whole and `|r| <= 1/2`: a polynomial gives `2^r`, the exponent bits of a float `2^n`.
#[inline(always)]
pub(super) fn exp<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    /// A float this large has no fraction bits left: adding it rounds, and its low bits count in ones. The 127 on top
    /// is the bias of a float's exponent.
    const ROUND: f32 = 12_582_912.0 + 127.0;
    const POWER: [f32; 7] = [1.0, LN_2, 0.240_226_46, 0.055_503_286, 0.009_618_489, 0.001_339_993_1, 0.000_153_458_11];
    let limit = simd.splat_f32s(87.0);
    let x = simd.max_f32s(simd.min_f32s(x, limit), simd.splat_f32s(-87.0));
    let log2_e = simd.splat_f32s(LOG2_E);
    let rounded = simd.mul_add_e_f32s(x, log2_e, simd.splat_f32s(ROUND));
    let whole = simd.sub_f32s(rounded, simd.splat_f32s(ROUND));
    let rest = simd.mul_add_e_f32s(x, log2_e, simd.neg_f32s(whole));
    let bits = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(rounded), simd.splat_u32s(23));
    simd.mul_f32s(polynomial(simd, &POWER, rest), simd.transmute_f32s_u32s(bits))
}

/// Horner's rule, the constant first.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, coefficients: &[f32; N], x: S::f32s) -> S::f32s {
    let mut sum = simd.splat_f32s(0.0);
    for &coefficient in coefficients.iter().rev() {
        sum = simd.mul_add_e_f32s(sum, x, simd.splat_f32s(coefficient));
    }
    sum
}
