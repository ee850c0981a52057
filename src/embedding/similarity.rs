//! How alike two vectors are.

/// Compares two vectors of equal length.
///
/// ```
/// use horchunk::{Cosine, Dot, Similarity};
///
/// assert_eq!(Cosine.between(&[3.0, 0.0], &[0.0, 2.0]), 0.0);
/// assert_eq!(Dot.between(&[3.0, 1.0], &[2.0, 2.0]), 8.0);
/// ```
pub trait Similarity: Send + Sync {
    /// Similarity of `a` and `b`; larger is more alike. The vectors have one length.
    fn between(&self, a: &[f32], b: &[f32]) -> f32;
}

/// Cosine of the angle between two vectors, in \[-1, 1\]; 0 where one of them is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cosine;

/// Inner product of two vectors; equals [`Cosine`] for unit vectors up to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dot;

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<S: Similarity + ?Sized> Similarity for $pointer {
            fn between(&self, a: &[f32], b: &[f32]) -> f32 {
                (**self).between(a, b)
            }
        }
    )*};
}

forward!(&S, Box<S>, std::sync::Arc<S>);

impl Similarity for Cosine {
    fn between(&self, a: &[f32], b: &[f32]) -> f32 {
        let norms = (dot(a, a) * dot(b, b)).sqrt();
        if norms == 0.0 { 0.0 } else { narrow((dot(a, b) / norms).clamp(-1.0, 1.0)) }
    }
}

impl Similarity for Dot {
    fn between(&self, a: &[f32], b: &[f32]) -> f32 {
        narrow(dot(a, b))
    }
}

/// Numbers that are added side by side.
const LANES: usize = 8;

/// Summed in `f64`, every eighth product with its like and then the eight sums, so that the result is the same on every
/// machine for the same vectors and the processor need not wait for one sum before the next.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&x, &y)| f64::from(x) * f64::from(y));
    sums.into_iter().chain(rest).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "similarities are kept in the vectors' precision")]
pub(super) fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_of_a_zero_vector_is_zero() {
        assert_eq!(Cosine.between(&[0.0, 0.0], &[1.0, 2.0]).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn the_cosine_never_leaves_its_range() {
        let a = [0.1_f32, 0.7, -0.3];
        let b = a.map(|x| x * 3.0);
        assert!(Cosine.between(&a, &b) <= 1.0);
        assert!(Cosine.between(&a, &b.map(|x| -x)) >= -1.0);
    }
}
