//! The product on processors that multiply and add 64 bytes in one instruction (AVX-512 VNNI).

use std::arch::x86_64::{
    __m512, __m512i, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_mul_ps, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_setzero_si512,
};

use super::super::kernel::prefetch;
use super::{BLOCK, GROUP, QuantizedLinear, QuantizedRows, Range, Slice, WIDTH};

/// Vectors in a row of a panel.
const VECTORS: usize = 2;

pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vnni")
}

/// One row of `out` for each of the rows.
pub(super) fn multiply(linear: &QuantizedLinear, rows: &QuantizedRows, out: &mut [f32]) {
    assert!(is_available(), "this kernel is chosen only where the processor has it");
    // What makes this sound stands in the line before; nothing in the kernel itself is unsafe.
    #[expect(unsafe_code, reason = "a call of safe code that is compiled for features just seen to be there")]
    unsafe {
        compute(linear, rows, out);
    }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn compute(linear: &QuantizedLinear, rows: &QuantizedRows, out: &mut [f32]) {
    let (groups, width, blocks) = (linear.groups, linear.columns(), linear.blocks.len());
    let mut panels = linear.panels.chunks_exact(groups);
    let mut first = 0;
    while let Some(panel) = panels.next() {
        let next = panels.clone().next().unwrap_or_default();
        for tile in rows.tiles() {
            let part = |at| at * next.len() / rows.count;
            let mut job = Job {
                numbers: &rows.numbers[tile.start * groups..tile.end * groups],
                ranges: &rows.ranges[tile.start * blocks..tile.end * blocks],
                panel,
                ahead: &next[part(tile.start)..part(tile.end)],
                linear,
                first,
                out: &mut out[tile.start * width..tile.end * width],
            };
            match tile.len() {
                1 => tile_of::<1>(&mut job),
                2 => tile_of::<2>(&mut job),
                3 => tile_of::<3>(&mut job),
                4 => tile_of::<4>(&mut job),
                5 => tile_of::<5>(&mut job),
                6 => tile_of::<6>(&mut job),
                7 => tile_of::<7>(&mut job),
                8 => tile_of::<8>(&mut job),
                9 => tile_of::<9>(&mut job),
                10 => tile_of::<10>(&mut job),
                11 => tile_of::<11>(&mut job),
                _ => tile_of::<12>(&mut job),
            }
        }
        first += WIDTH;
    }
}

/// One tile: some rows, and the columns of a panel from `first` on.
struct Job<'a> {
    numbers: &'a [[u8; GROUP]],
    ranges: &'a [Range],
    panel: &'a [Slice],
    /// A part of the next panel, to be fetched from memory meanwhile.
    ahead: &'a [Slice],
    linear: &'a QuantizedLinear,
    first: usize,
    out: &'a mut [f32],
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn tile_of<const M: usize>(job: &mut Job<'_>) {
    let (width, blocks) = (job.linear.columns(), job.linear.blocks.len());
    let bias = columns(&job.linear.bias, job.first);
    let mut ahead = job.ahead.iter();
    let parts = job.panel.chunks(BLOCK).zip(job.numbers.as_chunks::<M>().0.chunks(BLOCK));
    for (number, (block, (panel, left))) in job.linear.blocks.iter().zip(parts).enumerate() {
        let mut sums = [[_mm512_setzero_si512(); VECTORS]; M];
        for (right, left) in panel.iter().zip(left) {
            if let Some(slice) = ahead.next() {
                slice.0.as_chunks::<16>().0.iter().for_each(prefetch);
            }
            let right: [__m512i; VECTORS] = bytemuck::cast(right.0);
            for (left, sums) in left.iter().zip(&mut sums) {
                let left = _mm512_set1_epi32(i32::from_le_bytes(*left));
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = _mm512_dpbusd_epi32(*sum, left, right);
                }
            }
        }
        let (scale, sum_of_weights) = (columns(&block.scale, job.first), columns(&block.sum, job.first));
        for (row, (out, sums)) in job.out.chunks_exact_mut(width).zip(sums).enumerate() {
            let range = job.ranges[row * blocks + number];
            let (least, step) = (_mm512_set1_ps(range.least), _mm512_set1_ps(range.scale));
            let mut row = if number == 0 { bias } else { columns(out, job.first) };
            for (((out, sum), scale), sum_of_weights) in row.iter_mut().zip(sums).zip(scale).zip(sum_of_weights) {
                let rest = _mm512_fmadd_ps(least, sum_of_weights, *out);
                *out = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale), step, rest);
            }
            out[job.first..][..WIDTH].copy_from_slice(&bytemuck::cast::<_, [f32; WIDTH]>(row));
        }
    }
}

/// The numbers of a panel's columns.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn columns(numbers: &[f32], first: usize) -> [__m512; VECTORS] {
    let columns: &[f32; WIDTH] = numbers[first..].first_chunk().expect("panels are whole");
    bytemuck::cast(*columns)
}
