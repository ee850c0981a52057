use proptest::prelude::*;
use pulp::Arch;

use super::*;

struct Set<'a>(&'a mut QuantizedRows, Matrix<'a>, &'a QuantizedLinear);

impl pulp::WithSimd for Set<'_> {
    type Output = ();

    fn with_simd<S: Simd>(self, simd: S) {
        self.0.set(simd, self.1, self.2);
    }
}

fn quantized(data: &[f32], stride: usize, linear: &QuantizedLinear) -> QuantizedRows {
    let mut quantized = QuantizedRows::default();
    Arch::new().dispatch(Set(&mut quantized, Matrix { data, stride }, linear));
    quantized
}

/// Numbers that look random, from -1 to 1.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(next).collect()
}

proptest! {
    #[test]
    fn every_kernel_gives_the_bits_of_the_plain_one(
        count in 1..40_usize, depth in 1..500_usize, outputs in 1..80_usize, seed: u32
    ) {
        let (weight, bias) = (numbers(outputs * depth, seed), numbers(outputs, seed ^ 1));
        let rows = numbers(count * depth, seed ^ 2);
        let product = |kernel| {
            let linear = QuantizedLinear::for_kernel(kernel, &weight, &bias, depth, 32);
            let rows = quantized(&rows, depth, &linear);
            let mut out = vec![f32::NAN; count * linear.columns()];
            linear.multiply(&rows, &mut out);
            out.iter().map(|number| number.to_bits()).collect::<Vec<_>>()
        };
        prop_assert_eq!(product(Kernel::of_this_machine()), product(Kernel::Plain));
    }

    #[test]
    fn products_are_near_those_of_the_numbers_themselves(count in 1..9_usize, depth in 1..200_usize, seed: u32) {
        let (weight, bias, rows) = (numbers(3 * depth, seed), numbers(3, seed ^ 1), numbers(count * depth, seed ^ 2));
        let linear = QuantizedLinear::pack(&weight, &bias, depth, 32);
        let mut out = vec![0.0; count * linear.columns()];
        linear.multiply(&quantized(&rows, depth, &linear), &mut out);
        for (row, out) in rows.chunks(depth).zip(out.chunks(linear.columns())) {
            for ((weight, bias), &found) in weight.chunks(depth).zip(&bias).zip(out) {
                let exact: f32 = row.iter().zip(weight).map(|(left, right)| left * right).sum::<f32>() + bias;
                // Half a step of either factor for every addition, as if all errors went one way.
                let bound = depth as f32 * (0.5 / 255.0 * 2.0 + 0.5 / 127.0 + 1e-4);
                prop_assert!((exact - found).abs() <= bound, "{} {}", exact, found);
            }
        }
    }
}

#[test]
fn a_row_of_one_number_or_of_zeros_is_exact() {
    let linear = QuantizedLinear::pack(&[0.5, 0.5, 0.25, 0.25], &[1.0, 2.0], 2, 32);
    let rows = quantized(&[3.0, 3.0, 0.0, 0.0], 2, &linear);
    let mut out = vec![0.0; 2 * linear.columns()];
    linear.multiply(&rows, &mut out);
    let shown: Vec<f32> = out.chunks(linear.columns()).flat_map(|row| row[..2].to_vec()).collect();
    for (found, exact) in shown.iter().zip([4.0, 3.5, 1.0, 2.0]) {
        assert!((found - exact).abs() < 1e-5, "{shown:?}");
    }
}
