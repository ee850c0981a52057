//! The linear layers in 8 bits: whole numbers multiplied and summed exactly, scaled at the end.
//!
//! The depth of a product is cut into blocks. In each a row of the left factor is written as `least + scale * q` with `q`
//! from 0 to 255, a column of the weights as `scale * w` with `w` from -127 to 127, both with a scale of their own. Then
//! `sum x w = least * sum w + scale * sum q w`, and the last sum is one of whole numbers: it is the same whatever order
//! it is taken in, and so on every processor. What is lost is the rounding to 8 bits, nothing else.
//!
//! Dynamic quantisation by row and by channel is that of Dettmers et al., "`LLM.int8()`" (2022). Its way with outliers, a
//! few numbers so large that the others share few steps, is to compute them apart; here they cost precision in their
//! own block only.

#[cfg(target_arch = "x86_64")]
mod vnni;

use pulp::Simd;

use super::kernel::Aligned;

/// Numbers that one instruction multiplies and adds up.
const GROUP: usize = 4;

/// Columns of a panel.
pub(super) const WIDTH: usize = 32;

/// Groups of a block: 192 numbers. Smaller blocks are more exact and slower.
const BLOCK: usize = 48;

/// More than similarities stray. Over the runs of two, three and six sentences of our texts in `eval/texts` and
/// `examples` the standard deviation is 0.0042 and the largest error 0.02 (`examples/precision.rs` measures it).
pub(crate) const STRAY: f32 = 0.025;

/// A float without fraction bits, far enough from its power of two that numbers below it are counted back in ones:
/// adding it rounds to the nearest whole number, to the even one of two, and leaves that in the low bits.
const SIGNED_ROUND: f32 = 12_582_912.0;

/// Whether this processor computes faster in 8 bits.
pub(crate) fn is_faster() -> bool {
    Kernel::of_this_machine() != Kernel::Plain
}

/// The weights of a panel for one group of the depth: a group a column.
type Slice = [[i8; GROUP]; WIDTH];

/// A linear layer in 8 bits.
#[derive(Debug)]
pub(super) struct QuantizedLinear {
    panels: Vec<Slice>,
    /// Groups of the depth.
    groups: usize,
    depth: usize,
    /// One for each block of the depth.
    blocks: Vec<Columns>,
    bias: Aligned,
    kernel: Kernel,
}

/// What turns the sums of whole numbers of one block into a part of the outputs, column by column.
#[derive(Debug)]
struct Columns {
    scale: Aligned,
    /// The sum of a column's weights, as they are after rounding.
    sum: Aligned,
}

/// Rows of a left factor in 8 bits.
#[derive(Debug, Default)]
pub(super) struct QuantizedRows {
    numbers: Vec<[u8; GROUP]>,
    /// One for each block of each row.
    ranges: Vec<Range>,
}

/// How the numbers of a block of a row were written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Range {
    least: f32,
    scale: f32,
}

/// What this processor multiplies with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Vnni,
    Plain,
}

impl Kernel {
    fn of_this_machine() -> Self {
        #[cfg(target_arch = "x86_64")]
        if vnni::is_available() {
            return Self::Vnni;
        }
        Self::Plain
    }
}

impl QuantizedLinear {
    /// Rounds `weight`, which is row-major with one row of `depth` numbers an output, for outputs
    /// as many as fill `width`, a multiple of [`WIDTH`].
    pub(super) fn pack(weight: &[f32], bias: &[f32], depth: usize, width: usize) -> Self {
        Self::for_kernel(Kernel::of_this_machine(), weight, bias, depth, width)
    }

    fn for_kernel(kernel: Kernel, weight: &[f32], bias: &[f32], depth: usize, width: usize) -> Self {
        let (groups, outputs) = (depth.div_ceil(GROUP), bias.len().next_multiple_of(width));
        let mut panels = vec![[[0; GROUP]; WIDTH]; groups * outputs / WIDTH];
        let zeros = || Aligned::zeros(outputs);
        let mut blocks: Vec<Columns> =
            (0..groups.div_ceil(BLOCK)).map(|_| Columns { scale: zeros(), sum: zeros() }).collect();
        let mut padded = zeros();
        padded[..bias.len()].copy_from_slice(bias);
        for (column, weights) in weight.chunks_exact(depth).enumerate() {
            let panel = &mut panels[column / WIDTH * groups..][..groups];
            let parts = weights.chunks(BLOCK * GROUP).zip(panel.chunks_mut(BLOCK)).zip(&mut blocks);
            for ((weights, panel), block) in parts {
                let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
                // Zeros have any scale.
                let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
                let mut whole = 0_i32;
                for (row, &weight) in weights.iter().enumerate() {
                    #[expect(clippy::cast_possible_truncation, reason = "the low bits are the number")]
                    let rounded = (weight / step + SIGNED_ROUND).to_bits() as i8;
                    panel[row / GROUP][column % WIDTH][row % GROUP] = rounded;
                    whole += i32::from(rounded);
                }
                block.scale[column] = step;
                block.sum[column] = step * whole as f32;
            }
        }
        Self { panels, groups, depth, blocks, bias: padded, kernel }
    }

    /// Outputs, those that fill the last panel counted.
    pub(super) fn columns(&self) -> usize {
        self.bias.len()
    }

    /// One row of `out` for each of the rows, [`Self::columns`] apart.
    pub(super) fn multiply(&self, rows: &QuantizedRows, out: &mut [f32]) {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Vnni => vnni::multiply(self, rows, out),
            Kernel::Plain => self.plain(rows, out),
        }
    }

    /// The product as it is written down, and the oracle of the faster ones.
    fn plain(&self, rows: &QuantizedRows, out: &mut [f32]) {
        let rows = rows.numbers.chunks_exact(self.groups).zip(rows.ranges.chunks_exact(self.blocks.len()));
        for ((row, ranges), out) in rows.zip(out.chunks_exact_mut(self.columns())) {
            for (column, out) in out.iter_mut().enumerate() {
                let panel = &self.panels[column / WIDTH * self.groups..][..self.groups];
                *out = self.bias[column];
                let parts = row.chunks(BLOCK).zip(panel.chunks(BLOCK)).zip(&self.blocks).zip(ranges);
                for (((left, right), block), range) in parts {
                    let products = left.iter().zip(right).map(|(left, right)| {
                        let pairs = left.iter().zip(&right[column % WIDTH]);
                        pairs.map(|(&left, &right)| i32::from(left) * i32::from(right)).sum::<i32>()
                    });
                    *out = block.add(column, *range, products.sum(), *out);
                }
            }
        }
    }
}

impl Columns {
    /// An output with what a block adds to it, in the order of operations of the faster kernels.
    fn add(&self, column: usize, range: Range, sum: i32, out: f32) -> f32 {
        let rest = range.least.mul_add(self.sum[column], out);
        (sum as f32 * self.scale[column]).mul_add(range.scale, rest)
    }
}

impl QuantizedRows {
    /// Writes the first `depth` numbers of each of the rows, which lie `stride` apart, in 8 bits.
    pub(super) fn set<S: Simd>(&mut self, simd: S, rows: &[f32], stride: usize, linear: &QuantizedLinear) {
        let (depth, groups, blocks) = (linear.depth, linear.groups, linear.blocks.len());
        let count = rows.len() / stride;
        self.numbers.resize(count * groups, [0; GROUP]);
        self.ranges.resize(count * blocks, Range::default());
        let parts = self.ranges.chunks_exact_mut(blocks).zip(self.numbers.chunks_exact_mut(groups));
        for (row, (ranges, numbers)) in rows.chunks_exact(stride).zip(parts) {
            simd.vectorize(
                #[inline(always)]
                || {
                    let row = row[..depth].chunks(BLOCK * GROUP);
                    for ((part, range), numbers) in row.zip(ranges).zip(numbers.chunks_mut(BLOCK)) {
                        *range = write(part, numbers.as_flattened_mut());
                    }
                },
            );
        }
    }
}

/// Writes a block of a row in 8 bits; numbers behind its end stay what they are, and their weights are 0.
///
/// Inlined, since it must be compiled for the target's features.
#[inline(always)]
fn write(row: &[f32], numbers: &mut [u8]) -> Range {
    /// A float this large has no fraction bits: adding it rounds, and its low bits count in ones.
    const ROUND: f32 = 8_388_608.0;
    const LANES: usize = 16;
    let (mut least, mut largest) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for ((least, largest), &number) in least.iter_mut().zip(&mut largest).zip(chunk) {
            *least = if number < *least { number } else { *least };
            *largest = if number > *largest { number } else { *largest };
        }
    }
    let least = least.iter().chain(rest).copied().fold(f32::INFINITY, f32::min);
    let largest = largest.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = (largest - least) / 255.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    for (number, &value) in numbers.iter_mut().zip(row) {
        let whole = (value - least).mul_add(inverse, ROUND);
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are the number")]
        let byte = whole.to_bits() as u8;
        *number = byte;
    }
    Range { least, scale }
}

#[cfg(test)]
mod tests;
