//! The product on processors that multiply and add 64 bytes in one instruction (AVX-512 VNNI).

use std::arch::x86_64::{
    __m512, __m512i, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_mul_ps, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_setzero_si512,
};

use super::{BLOCK, GROUP, QuantizedLinear, QuantizedRows, Range, Slice, WIDTH};

/// Vectors in a row of a panel.
const VECTORS: usize = 2;

/// Rows of the largest tile whose sums stay in registers.
const TILE: usize = 12;

/// A slice of a panel as the registers take it.
type Vectors = [[u8; 64]; VECTORS];

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
    let (groups, width) = (linear.groups, linear.columns());
    let count = rows.numbers.len() / groups;
    let blocks = linear.blocks.len();
    let tiles = count.div_ceil(TILE);
    for (panel, first) in linear.panels.chunks_exact(groups).zip((0..).step_by(WIDTH)) {
        for tile in 0..tiles {
            // Tiles of nearly equal height: one of a row or two would wait for its own additions.
            let (from, to) = (tile * count / tiles, (tile + 1) * count / tiles);
            let mut job = Job {
                numbers: &rows.numbers[from * groups..to * groups],
                ranges: &rows.ranges[from * blocks..to * blocks],
                panel,
                linear,
                first,
                out: &mut out[from * width..],
            };
            match to - from {
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
    }
}

/// One tile: some rows, and the columns of a panel from `first` on.
struct Job<'a> {
    numbers: &'a [[u8; GROUP]],
    ranges: &'a [Range],
    panel: &'a [Slice],
    linear: &'a QuantizedLinear,
    first: usize,
    out: &'a mut [f32],
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn tile_of<const M: usize>(job: &mut Job<'_>) {
    let panel: &[Vectors] = bytemuck::cast_slice(job.panel);
    let rows: [&[[u8; GROUP]]; M] = std::array::from_fn(|row| &job.numbers[row * panel.len()..][..panel.len()]);
    let (width, blocks) = (job.linear.columns(), job.linear.blocks.len());
    let part = |numbers: &[f32]| -> [__m512; VECTORS] {
        let mut part = [0.0; WIDTH];
        part.copy_from_slice(&numbers[job.first..][..WIDTH]);
        bytemuck::cast(part)
    };
    let bias = part(&job.linear.bias);
    for (number, (block, panel)) in job.linear.blocks.iter().zip(panel.chunks(BLOCK)).enumerate() {
        let rows: [&[[u8; GROUP]]; M] = std::array::from_fn(|row| &rows[row][number * BLOCK..][..panel.len()]);
        let mut sums = [[_mm512_setzero_si512(); VECTORS]; M];
        for (group, right) in panel.iter().enumerate() {
            let right: [__m512i; VECTORS] = bytemuck::cast(*right);
            for (row, sums) in rows.iter().zip(&mut sums) {
                let left = _mm512_set1_epi32(i32::from_le_bytes(row[group]));
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = _mm512_dpbusd_epi32(*sum, left, right);
                }
            }
        }
        let (scale, sum_of_weights) = (part(&block.scale), part(&block.sum));
        for (row, (out, sums)) in job.out.chunks_mut(width).zip(sums).enumerate() {
            let range = job.ranges[row * blocks + number];
            let (least, step) = (_mm512_set1_ps(range.least), _mm512_set1_ps(range.scale));
            let before = if number == 0 { bias } else { part(out) };
            let row: [__m512; VECTORS] = std::array::from_fn(|vector| {
                let rest = _mm512_fmadd_ps(least, sum_of_weights[vector], before[vector]);
                _mm512_fmadd_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[vector]), scale[vector]), step, rest)
            });
            let row: [f32; WIDTH] = bytemuck::cast(row);
            out[job.first..][..WIDTH].copy_from_slice(&row);
        }
    }
}
