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

use super::kernel::{Aligned, Matrix, tiles};

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

/// Rows of the largest tile: of a product that one thread computes at a time without leaving the registers.
const TILE: usize = 12;

/// The weights of a panel for one group of the depth: a group a column. No vector load of one touches two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slice([[i8; GROUP]; WIDTH]);

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
    count: usize,
    /// Tile by tile, and in a tile group by group, one of each row: in the order in which they are multiplied.
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
        let mut panels = vec![Slice([[0; GROUP]; WIDTH]); groups * outputs / WIDTH];
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
                    panel[row / GROUP].0[column % WIDTH][row % GROUP] = rounded;
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
        for tile in rows.tiles() {
            let numbers = &rows.numbers[tile.start * self.groups..tile.end * self.groups];
            for (at, row) in tile.clone().enumerate() {
                let left: Vec<_> = numbers.iter().skip(at).step_by(tile.len()).collect();
                let ranges = &rows.ranges[row * self.blocks.len()..];
                for (column, out) in out[row * self.columns()..][..self.columns()].iter_mut().enumerate() {
                    let panel = &self.panels[column / WIDTH * self.groups..][..self.groups];
                    *out = self.bias[column];
                    let parts = left.chunks(BLOCK).zip(panel.chunks(BLOCK)).zip(&self.blocks).zip(ranges);
                    for (((left, right), block), range) in parts {
                        let products = left.iter().zip(right).map(|(left, right)| {
                            let pairs = left.iter().zip(&right.0[column % WIDTH]);
                            pairs.map(|(&left, &right)| i32::from(left) * i32::from(right)).sum::<i32>()
                        });
                        *out = block.add(column, *range, products.sum(), *out);
                    }
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
    /// Writes each of the rows, as far as `linear` is deep, in 8 bits.
    pub(super) fn set<S: Simd>(&mut self, simd: S, rows: Matrix<'_>, linear: &QuantizedLinear) {
        let (depth, groups, blocks) = (linear.depth, linear.groups, linear.blocks.len());
        self.count = rows.data.len() / rows.stride;
        self.numbers.resize(self.count * groups, [0; GROUP]);
        self.ranges.resize(self.count * blocks, Range::default());
        for tile in self.tiles() {
            let numbers = &mut self.numbers[tile.start * groups..tile.end * groups];
            for (at, row) in tile.clone().enumerate() {
                let ranges = &mut self.ranges[row * blocks..][..blocks];
                let row = &rows.data[row * rows.stride..][..depth];
                simd.vectorize(
                    #[inline(always)]
                    || {
                        let parts = row.chunks(BLOCK * GROUP).zip(ranges).zip(numbers.chunks_mut(BLOCK * tile.len()));
                        for ((part, range), numbers) in parts {
                            let mut written = [[0; GROUP]; BLOCK];
                            *range = write(part, written.as_flattened_mut());
                            for (place, group) in numbers[at..].iter_mut().step_by(tile.len()).zip(written) {
                                *place = group;
                            }
                        }
                    },
                );
            }
        }
    }

    /// The rows of each tile.
    fn tiles(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        tiles(self.count, TILE)
    }
}

/// Writes a block of a row in 8 bits; numbers behind its end are left alone, their weights are 0.
///
/// Inlined, since it must be compiled for the target's features.
#[inline(always)]
fn write(row: &[f32], numbers: &mut [u8]) -> Range {
    /// A float this large has no fraction bits: adding it rounds, and its low bits count in ones.
    const ROUND: f32 = 8_388_608.0;
    const LANES: usize = 32;
    let (mut least, mut largest) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut widen = |at: usize, number: f32| {
        least[at] = if number < least[at] { number } else { least[at] };
        largest[at] = if number > largest[at] { number } else { largest[at] };
    };
    for chunk in chunks {
        for (at, &number) in chunk.iter().enumerate() {
            widen(at, number);
        }
    }
    for (at, &number) in rest.iter().enumerate() {
        widen(at, number);
    }
    // In halves: one after the other would be a long wait.
    let mut half = LANES / 2;
    while half > 0 {
        for at in 0..half {
            least[at] = least[at].min(least[at + half]);
            largest[at] = largest[at].max(largest[at + half]);
        }
        half /= 2;
    }
    let (least, largest) = (least[0], largest[0]);
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
