//! The one matrix product everything else is made of.
//!
//! A product `out = left * right + bias` is cut into tiles that stay in the registers of the processor from the first
//! to the last of their additions: [`tile_rows`] rows by two SIMD vectors of columns. The right factor lies in
//! *panels*, the columns of one tile at a time, so that it is read strictly forward; the left factor is read one
//! number at a time and spread over a vector. While a panel is in use, the next one is fetched.
//!
//! This is the inner half of the scheme of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
//! (2008). The outer half, blocking for the caches, is not needed at the sizes of a sentence encoder.
//!
//! Every element of the result is summed in one order, from the bias up through the depth, whatever tile it falls
//! into. That is why a vector does not depend on the texts beside it.
#![expect(clippy::inline_always, reason = "SIMD types must not cross a call that lacks the target's features")]

use std::ops::{Deref, DerefMut, Range};

use pulp::{Simd, WithSimd};

/// SIMD vectors in a row of a tile, and so in a row of a panel.
pub(super) const VECTORS: usize = 2;

/// Rows of the largest tile that leaves registers for two vectors of the panel and one of the left factor.
const fn tile_rows<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 12 } else { 6 }
}

/// Columns of a panel.
pub(super) const fn panel_width<S: Simd>() -> usize {
    VECTORS * S::F32_LANES
}

/// Asks for [`panel_width`] at run time.
pub(super) struct PanelWidth;

impl WithSimd for PanelWidth {
    type Output = usize;

    fn with_simd<S: Simd>(self, _: S) -> usize {
        panel_width::<S>()
    }
}

/// A row-major matrix whose rows begin `stride` numbers apart.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub data: &'a [f32],
    pub stride: usize,
}

/// The left factor of a product.
#[derive(Clone, Copy)]
pub(super) enum Left<'a> {
    /// The matrix as it lies there.
    Plain(Matrix<'a>),
    /// Its transpose.
    Transposed(Matrix<'a>),
}

/// The rows of tiles of at most `height`, all of nearly equal height: a tile of a row or two would spend its time
/// waiting for its own additions.
pub(super) fn tiles(rows: usize, height: usize) -> impl Iterator<Item = Range<usize>> {
    let tiles = rows.div_ceil(height);
    (0..tiles).map(move |tile| tile * rows / tiles..(tile + 1) * rows / tiles)
}

/// The right factor of a product: panels of `depth` rows each, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Panels<'a> {
    pub data: &'a [f32],
    pub depth: usize,
    /// Added to every row of the product; as wide as all panels together, or empty for nothing.
    pub bias: &'a [f32],
}

/// Where a product goes: as many rows as `data` holds, `stride` apart, and as many columns as there are panels for.
pub(super) struct Target<'a> {
    pub data: &'a mut [f32],
    pub stride: usize,
}

/// What one tile needs of the right factor.
#[derive(Clone, Copy)]
struct Panel<'a> {
    numbers: &'a [f32],
    /// One row, or empty.
    bias: &'a [f32],
    /// A part of the next panel, to be fetched from memory meanwhile.
    ahead: &'a [f32],
}

type Tile<S> = fn(S, Left<'_>, Panel<'_>, Target<'_>);

/// Computes `left * right + bias`.
pub(super) fn product<S: Simd>(simd: S, left: Left<'_>, right: Panels<'_>, mut out: Target<'_>) {
    let of_height: [Tile<S>; 12] = [
        tile::<S, 1>,
        tile::<S, 2>,
        tile::<S, 3>,
        tile::<S, 4>,
        tile::<S, 5>,
        tile::<S, 6>,
        tile::<S, 7>,
        tile::<S, 8>,
        tile::<S, 9>,
        tile::<S, 10>,
        tile::<S, 11>,
        tile::<S, 12>,
    ];
    let width = panel_width::<S>();
    let rows = out.data.len().div_ceil(out.stride);
    let mut panels = right.data.chunks_exact(right.depth * width);
    let mut column = 0;
    while let Some(numbers) = panels.next() {
        let bias = right.bias.get(column..column + width).unwrap_or_default();
        let next = panels.clone().next().unwrap_or_default();
        for tile in tiles(rows, tile_rows::<S>()) {
            let part = |row| row * next.len() / rows;
            let panel = Panel { numbers, bias, ahead: &next[part(tile.start)..part(tile.end)] };
            of_height[tile.len() - 1](simd, left.skip(tile.start), panel, out.from(tile.start, column));
        }
        column += width;
    }
}

/// One tile of `M` rows: the whole depth of one panel.
fn tile<S: Simd, const M: usize>(
    simd: S,
    left: Left<'_>,
    panel: Panel<'_>,
    Target { data: out, stride: out_stride }: Target<'_>,
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let numbers = pairs::<S>(panel.numbers);
            let bias = pairs::<S>(panel.bias).first().copied().unwrap_or([simd.splat_f32s(0.0); VECTORS]);
            let pace = panel.ahead.len().div_ceil(numbers.len());
            let mut sums = [bias; M];
            match left {
                Left::Plain(Matrix { data, stride }) => {
                    let rows: [&[f32]; M] = std::array::from_fn(|row| &data[row * stride..][..numbers.len()]);
                    for (depth, right) in numbers.iter().enumerate() {
                        if let Some(number) = panel.ahead.get(depth * pace) {
                            prefetch(number);
                        }
                        accumulate(simd, &mut sums, |row| rows[row][depth], right);
                    }
                }
                Left::Transposed(Matrix { data, stride }) => {
                    for (column, right) in data.chunks(stride).zip(numbers) {
                        let column = &column[..M];
                        accumulate(simd, &mut sums, |row| column[row], right);
                    }
                }
            }
            // By value: sums that something refers to would live in memory, not in registers.
            for (row, sums) in out.chunks_mut(out_stride).zip(sums) {
                for (out, sum) in S::as_mut_simd_f32s(row).0.iter_mut().zip(sums) {
                    *out = sum;
                }
            }
        },
    );
}

/// Asks the memory for something that is needed soon: a hint, without effect on any result.
///
/// The weights of a layer do not fit into the cache of a core. Left to the processor, which cannot guess beyond the
/// next page, a product of 24 rows takes nearly twice as long.
#[inline(always)]
pub(super) fn prefetch<T>(data: &T) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(std::ptr::from_ref(data).cast());
    }
}

/// Adds the product of one column of the left factor, given by row, and one row of a panel.
#[inline(always)]
fn accumulate<S: Simd, const M: usize>(
    simd: S,
    sums: &mut [[S::f32s; VECTORS]; M],
    column: impl Fn(usize) -> f32,
    right: &[S::f32s; VECTORS],
) {
    for (row, sums) in sums.iter_mut().enumerate() {
        let left = simd.splat_f32s(column(row));
        for (sum, &right) in sums.iter_mut().zip(right) {
            *sum = simd.mul_add_e_f32s(left, right, *sum);
        }
    }
}

/// A slice as rows of a panel.
#[inline(always)]
pub(super) fn pairs<S: Simd>(slice: &[f32]) -> &[[S::f32s; VECTORS]] {
    S::as_simd_f32s(slice).0.as_chunks().0
}

/// As [`pairs`], to write.
#[inline(always)]
pub(super) fn pairs_mut<S: Simd>(slice: &mut [f32]) -> &mut [[S::f32s; VECTORS]] {
    S::as_mut_simd_f32s(slice).0.as_chunks_mut().0
}

impl Matrix<'_> {
    /// The matrix without what lies before one of its elements.
    pub(super) fn from(self, row: usize, column: usize) -> Self {
        Self { data: &self.data[row * self.stride + column..], ..self }
    }

    /// Some of the rows.
    pub(super) fn rows(self, rows: Range<usize>) -> Self {
        Self { data: &self.data[rows.start * self.stride..rows.end * self.stride], ..self }
    }
}

impl Target<'_> {
    /// As [`Matrix::from`].
    pub(super) fn from(&mut self, row: usize, column: usize) -> Target<'_> {
        Target { data: &mut self.data[row * self.stride + column..], stride: self.stride }
    }
}

impl Left<'_> {
    /// The factor without its first rows.
    fn skip(self, row: usize) -> Self {
        match self {
            Self::Plain(matrix) => Self::Plain(matrix.from(row, 0)),
            Self::Transposed(matrix) => Self::Transposed(matrix.from(0, row)),
        }
    }
}

/// A linear layer, packed once for the SIMD width of this machine.
#[derive(Debug)]
pub(super) struct Linear {
    panels: Aligned,
    bias: Aligned,
    depth: usize,
}

impl Linear {
    /// Packs `weight`, which is row-major with one row of `depth` numbers an output, into panels of `width` columns.
    ///
    /// Outputs that are missing from the last panel are zero.
    pub(super) fn pack(weight: &[f32], bias: &[f32], depth: usize, width: usize) -> Self {
        let columns = bias.len().next_multiple_of(width);
        let mut panels = Aligned::zeros(columns * depth);
        for (column, weights) in weight.chunks_exact(depth).enumerate() {
            let panel = &mut panels[column / width * width * depth..];
            for (row, &weight) in panel.chunks_exact_mut(width).zip(weights) {
                row[column % width] = weight;
            }
        }
        let mut padded = Aligned::zeros(columns);
        padded[..bias.len()].copy_from_slice(bias);
        Self { panels, bias: padded, depth }
    }

    /// Outputs, those that fill the last panel counted.
    pub(super) fn columns(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn panels(&self) -> Panels<'_> {
        Panels { data: &self.panels, depth: self.depth, bias: &self.bias }
    }
}

/// Numbers that start at a cache line, so that no vector load of a panel touches two.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    data: Vec<f32>,
    start: usize,
    len: usize,
}

impl Aligned {
    const LINE: usize = 64;

    pub(super) fn zeros(len: usize) -> Self {
        let data = vec![0.0; len + Self::LINE / size_of::<f32>()];
        let start = data.as_ptr().align_offset(Self::LINE).min(data.len() - len);
        Self { data, start, len }
    }

    /// The first `len` numbers of a buffer that grows as needed and keeps what an earlier use left in it.
    pub(super) fn at_least(&mut self, len: usize) -> &mut [f32] {
        if self.len < len {
            *self = Self::zeros(len);
        }
        &mut self[..len]
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.data[self.start..][..self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.data[self.start..][..self.len]
    }
}
