//! The one loop of a static model: rows added up.
//!
//! A block of columns stays in the processor's registers while all rows pass. Every column is summed from the first row
//! to the last, whatever the width of a SIMD vector, and product and addition are rounded each: the result is that of
//! the plain loop, bit by bit.

use pulp::{Arch, Simd, WithSimd};

use super::Place;

/// Columns that are summed side by side: four AVX-512 vectors, eight of AVX2.
const BLOCK: usize = 64;

/// A number of the table.
pub(super) trait Number: Copy + Send + Sync {
    fn value(self) -> f32;
}

impl Number for i8 {
    fn value(self) -> f32 {
        f32::from(self)
    }
}

impl Number for f32 {
    fn value(self) -> f32 {
        self
    }
}

/// Adds the rows at `places`, each times its weight, to `sum`, which is as wide as a row.
pub(super) fn add<N: Number>(rows: &[N], places: &[Place], sum: &mut [f32]) {
    Arch::new().dispatch(Add { rows, places, sum });
}

struct Add<'a, N> {
    rows: &'a [N],
    places: &'a [Place],
    sum: &'a mut [f32],
}

impl<N: Number> WithSimd for Add<'_, N> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "the loops are to be compiled for the features of the processor")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rows, places, sum } = self;
        let width = sum.len();
        let (blocks, rest) = sum.as_chunks_mut::<BLOCK>();
        let mut start = 0;
        for block in blocks {
            let mut sums = *block;
            for place in places {
                let row = &rows[place.row as usize * width + start..][..BLOCK];
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += place.weight * x.value();
                }
            }
            *block = sums;
            start += BLOCK;
        }
        for place in places {
            let row = &rows[place.row as usize * width + start..][..rest.len()];
            for (sum, x) in rest.iter_mut().zip(row) {
                *sum += place.weight * x.value();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The loop as anybody would write it.
    fn plain<N: Number>(rows: &[N], places: &[Place], sum: &mut [f32]) {
        for place in places {
            for (column, sum) in sum.iter_mut().enumerate() {
                let at = place.row as usize;
                *sum += place.weight * rows[at * rows.len().div_ceil(ROWS) + column].value();
            }
        }
    }

    const ROWS: usize = 7;

    proptest! {
        #[test]
        fn sums_are_those_of_the_plain_loop_bit_by_bit(
            width in 1..200_usize,
            numbers in prop::collection::vec(any::<i8>(), 200 * ROWS),
            places in prop::collection::vec((0..7_u32, -3.0..3.0_f32), 0..40),
        ) {
            let places: Vec<Place> = places.into_iter().map(|(row, weight)| Place { row, weight }).collect();
            let rows = &numbers[..width * ROWS];
            let floats: Vec<f32> = rows.iter().map(|&x| f32::from(x) / 7.0).collect();
            let (mut ours, mut theirs) = (vec![0.25; width], vec![0.25; width]);
            add(rows, &places, &mut ours);
            plain(rows, &places, &mut theirs);
            add(&floats, &places, &mut ours);
            plain(&floats, &places, &mut theirs);
            prop_assert_eq!(ours, theirs);
        }
    }
}
