//! Principal components: the directions in which a set of vectors varies most.
//!
//! The eigenvectors of the covariance are found by Jacobi's method in the one-sided form of Hestenes ("Inversion of
//! Matrices by Biorthogonalization and Related Results", 1958): the rows of the matrix are turned against each other,
//! two at a time, until all are at right angles. What is left of each is its eigenvector times its eigenvalue, since a
//! covariance is symmetric and has no negative ones. All sums are in `f64` and in one order.

/// The mean of the vectors and their components.
#[derive(Debug)]
pub(super) struct Components {
    mean: Vec<f64>,
    /// Unit vectors at right angles, the one of the largest variance first.
    axes: Vec<Vec<f64>>,
}

impl Components {
    /// The first `count` components of these vectors of one length.
    pub(super) fn of(vectors: &[Vec<f32>], count: usize) -> Self {
        let width = vectors.first().map_or(0, Vec::len);
        let mean = mean(vectors, width);
        let mut rows = covariance(vectors, &mean);
        straighten(&mut rows);
        let mut rows: Vec<(f64, Vec<f64>)> = rows.into_iter().map(|row| (dot(&row, &row).sqrt(), row)).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let axes = rows.into_iter().take(count).map(|(length, row)| axis(length, row)).collect();
        Self { mean, axes }
    }

    /// Writes the coordinates of a vector along the components.
    #[expect(clippy::cast_possible_truncation, reason = "coordinates are kept in the precision of the vectors")]
    pub(super) fn project(&self, vector: &[f32], coordinates: &mut [f32]) {
        let centred: Vec<f64> = vector.iter().zip(&self.mean).map(|(&x, mean)| f64::from(x) - mean).collect();
        for (coordinate, axis) in coordinates.iter_mut().zip(&self.axes) {
            *coordinate = dot(&centred, axis) as f32;
        }
    }
}

fn mean(vectors: &[Vec<f32>], width: usize) -> Vec<f64> {
    let mut mean = vec![0.0; width];
    for vector in vectors {
        mean.iter_mut().zip(vector).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    mean.iter_mut().for_each(|sum| *sum /= vectors.len().max(1) as f64);
    mean
}

/// The covariance, but for a factor that turns no axis.
fn covariance(vectors: &[Vec<f32>], mean: &[f64]) -> Vec<Vec<f64>> {
    let width = mean.len();
    let mut rows = vec![vec![0.0; width]; width];
    let mut centred = vec![0.0; width];
    for vector in vectors {
        for ((out, &x), mean) in centred.iter_mut().zip(vector).zip(mean) {
            *out = f64::from(x) - mean;
        }
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = centred[at];
            row[at..].iter_mut().zip(&centred[at..]).for_each(|(sum, x)| *sum += factor * x);
        }
    }
    for at in 0..width {
        let (above, below) = rows.split_at_mut(at);
        for (column, row) in above.iter().enumerate() {
            below[0][column] = row[at];
        }
    }
    rows
}

/// Rows are at right angles when the cosine between every two is at most this.
const RIGHT: f64 = 1e-12;

/// Many times what it takes: the angles shrink quadratically in the end.
const MOST_ROUNDS: usize = 60;

/// Turns rows against each other until all are at right angles, or have no length.
fn straighten(rows: &mut [Vec<f64>]) {
    // A row of rounding errors has a direction, but none that means anything.
    let largest = rows.iter().map(|row| dot(row, row)).fold(0.0, f64::max);
    let nothing = largest * f64::EPSILON * f64::EPSILON;
    for _ in 0..MOST_ROUNDS {
        let mut turned = false;
        for second in 1..rows.len() {
            let (above, below) = rows.split_at_mut(second);
            for first in above {
                turned |= turn(first, &mut below[0], nothing);
            }
        }
        if !turned {
            return;
        }
    }
}

/// Turns two rows in their plane to a right angle; says whether they were not at one.
fn turn(a: &mut [f64], b: &mut [f64], nothing: f64) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if aa <= nothing || bb <= nothing || ab.abs() <= RIGHT * (aa * bb).sqrt() {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
    true
}

/// The unit vector along a row, its largest number positive: an axis has no sign of its own.
fn axis(length: f64, mut row: Vec<f64>) -> Vec<f64> {
    let largest = row.iter().copied().fold(0.0, |largest: f64, x| if x.abs() > largest.abs() { x } else { largest });
    let scale = if length > 0.0 { largest.signum() / length } else { 0.0 };
    row.iter_mut().for_each(|x| *x *= scale);
    row
}

/// Every eighth product with its like, then the eight sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.into_iter().chain(a_rest.iter().zip(b_rest).map(|(x, y)| x * y)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variance(vectors: &[Vec<f32>], mean: &[f64], axis: &[f64]) -> f64 {
        let along =
            |vector: &Vec<f32>| vector.iter().zip(mean).zip(axis).map(|((&x, m), a)| (f64::from(x) - m) * a).sum();
        vectors.iter().map(along).map(|x: f64| x * x).sum()
    }

    #[test]
    fn the_components_of_a_stretched_cloud_are_its_axes() {
        // Along (1, 1, 0) it is 10 long, along (1, -1, 0) 2, along (0, 0, 1) 1; its middle is (5, 6, 7).
        let cloud =
            [(10.0, 0.0, 0.0), (-10.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, -2.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)];
        let vectors: Vec<Vec<f32>> = cloud.iter().map(|(u, v, w)| vec![5.0 + u + v, 6.0 + u - v, 7.0 + w]).collect();
        let components = Components::of(&vectors, 2);
        let half = 0.5_f64.sqrt();
        let near = |found: &[f64], right: [f64; 3]| found.iter().zip(right).all(|(a, b)| (a.abs() - b).abs() < 1e-9);
        assert!(near(&components.axes[0], [half, half, 0.0]), "{components:?}");
        assert!(near(&components.axes[1], [half, half, 0.0]), "{components:?}");
        assert!(components.axes[1][0] * components.axes[1][1] < 0.0);
        let mut found = [0.0; 2];
        components.project(&[8.0, 9.0, 9.0], &mut found);
        assert!((f64::from(found[0]) - 18.0_f64.sqrt()).abs() < 1e-6 && found[1].abs() < 1e-6, "{found:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn axes_are_eigenvectors_at_right_angles_from_the_largest_variance_down(
            width in 1..14_usize,
            numbers in prop::collection::vec(-1.0..1.0_f32, 14 * 20),
        ) {
            let vectors: Vec<Vec<f32>> = numbers.chunks_exact(width).take(20).map(<[f32]>::to_vec).collect();
            let components = Components::of(&vectors, width);
            let covariance = covariance(&vectors, &components.mean);
            for (at, axis) in components.axes.iter().enumerate() {
                for (other, second) in components.axes.iter().enumerate() {
                    let right = if at == other { 1.0 } else { 0.0 };
                    prop_assert!((dot(axis, second) - right).abs() < 1e-9, "{} {}", at, other);
                }
                let value = variance(&vectors, &components.mean, axis);
                for (row, x) in covariance.iter().zip(axis) {
                    prop_assert!((dot(row, axis) - value * x).abs() < 1e-6);
                }
                if let Some(next) = components.axes.get(at + 1) {
                    prop_assert!(variance(&vectors, &components.mean, next) <= value + 1e-6);
                }
            }
        }
    }

    #[test]
    fn vectors_that_do_not_vary_have_no_components() {
        let components = Components::of(&[vec![1.0, 2.0], vec![1.0, 2.0]], 2);
        let mut found = [9.0; 2];
        components.project(&[1.0, 2.0], &mut found);
        assert!(found.iter().all(|x| x.abs() < f32::MIN_POSITIVE), "{found:?}");
    }
}
