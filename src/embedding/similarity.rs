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

/// Summed in `f64`, first to last, so that the result is the same on every machine for the same vectors.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "similarities are kept in the vectors' precision")]
fn narrow(value: f64) -> f32 {
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
