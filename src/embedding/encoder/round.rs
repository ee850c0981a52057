//! A round: inputs that are computed together, stage by stage, each thread on its own block of rows.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::Encoder;
use super::activation::activate;
use super::attention::Heads;
use super::kernel::{Aligned, Left, Matrix, Target, product};
use super::layer::{Dense, Layer};
use super::quantized::QuantizedRows;

/// Most rows of a block: more would not stay in the cache of one core from product to product.
const BLOCK_ROWS: usize = 64;

/// Fewest rows of a block: less is not worth a thread.
const MIN_BLOCK_ROWS: usize = 8;

/// Rows of a round for each thread, if there are so many: blocks enough that waiting for the last one is rare.
const ROUND_ROWS: usize = 128;

/// The matrices of a round, one row a token. They keep what earlier rounds left in them.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    states: Aligned,
    /// Queries, keys and values for this stage and for the next.
    projections: [Aligned; 2],
    context: Aligned,
    middle: Aligned,
    attention: Aligned,
    /// Rows in 8 bits, for each block.
    quantized: Vec<QuantizedRows>,
}

pub(super) struct Round<'a> {
    inputs: &'a [&'a [u32]],
    /// Where the second text of each input begins; empty where no input has one.
    seconds: &'a [usize],
    /// The rows of each input.
    sequences: Vec<Range<usize>>,
    rows: usize,
    block_rows: usize,
}

impl<'a> Round<'a> {
    /// Takes as many inputs from the front of `rest` as keep the threads busy, at least one while there is one.
    pub(super) fn next(rest: &mut &'a [&'a [u32]], seconds: &mut &'a [usize], threads: usize) -> Option<Self> {
        let mut rows = 0;
        let mut sequences = Vec::new();
        for ids in *rest {
            if rows > 0 && rows + ids.len() > threads * ROUND_ROWS {
                break;
            }
            sequences.push(rows..rows + ids.len());
            rows += ids.len();
        }
        let inputs = rest.split_off(..sequences.len())?;
        let seconds = seconds.split_off(..sequences.len().min(seconds.len())).unwrap_or_default();
        let blocks = threads * rows.div_ceil(threads * BLOCK_ROWS);
        let block_rows = rows.div_ceil(blocks.max(1)).max(MIN_BLOCK_ROWS);
        (!inputs.is_empty()).then_some(Self { inputs, seconds, sequences, rows, block_rows })
    }

    /// The final hidden states of each input.
    pub(super) fn compute<'w>(
        &self,
        encoder: &Encoder<'_>,
        work: &'w mut Workspace,
    ) -> impl Iterator<Item = Matrix<'w>> {
        let config = &encoder.config;
        let heads = Heads { count: config.heads, width: config.head_width() };
        let [hidden, projected, intermediate] =
            [config.hidden, 3 * config.hidden, config.intermediate].map(|width| encoder.padded(width));
        let longest = self.inputs.iter().map(|ids| ids.len()).max().unwrap_or(0);
        let scratch = heads.scratch(longest, encoder.panel_width);
        let (rows, block) = (self.rows, self.block_rows);

        let states = work.states.at_least(rows * hidden);
        let [mut before, mut after] = work.projections.each_mut().map(|matrix| matrix.at_least(rows * projected));
        let context = work.context.at_least(rows * hidden);
        let middle = work.middle.at_least(rows * intermediate);
        let attention = work.attention.at_least(rows.div_ceil(block) * scratch);
        work.quantized.resize_with(work.quantized.len().max(rows.div_ceil(block)), QuantizedRows::default);
        let quantized = &mut work.quantized[..rows.div_ceil(block)];
        for index in 0..=encoder.layers.len() {
            let projections = Matrix { data: before, stride: projected };
            let blocks = (
                states.par_chunks_mut(block * hidden),
                after.par_chunks_mut(block * projected),
                context.par_chunks_mut(block * hidden),
                middle.par_chunks_mut(block * intermediate),
                attention.par_chunks_mut(scratch),
                quantized.par_iter_mut(),
            );
            blocks.into_par_iter().enumerate().with_max_len(1).for_each(
                |(number, (states, projection, context, middle, scratch, quantized))| {
                    let rows = number * block..rows.min((number + 1) * block);
                    let block = Block { rows, states, projection, context, middle, scratch, quantized };
                    encoder.arch.dispatch(Stage { encoder, round: self, heads, index, projections, block });
                },
            );
            std::mem::swap(&mut before, &mut after);
        }
        let states = Matrix { data: states, stride: hidden };
        self.sequences.clone().into_iter().map(move |rows| states.rows(rows))
    }

    /// The parts of inputs that lie in a range of rows: index of the input, its rows, and those of them in the range.
    fn parts(&self, rows: &Range<usize>) -> impl Iterator<Item = (usize, Range<usize>, Range<usize>)> {
        self.sequences.iter().enumerate().filter_map(move |(input, sequence)| {
            let part = sequence.start.max(rows.start)..sequence.end.min(rows.end);
            (!part.is_empty()).then(|| (input, sequence.clone(), part))
        })
    }
}

/// Some rows of every matrix of a round.
struct Block<'a> {
    rows: Range<usize>,
    states: &'a mut [f32],
    /// Queries, keys and values for the next stage.
    projection: &'a mut [f32],
    context: &'a mut [f32],
    middle: &'a mut [f32],
    /// Not rows: room for attention to work in.
    scratch: &'a mut [f32],
    /// The left factor of a product in 8 bits.
    quantized: &'a mut QuantizedRows,
}

/// The work of one thread between two waits.
struct Stage<'a> {
    encoder: &'a Encoder<'a>,
    round: &'a Round<'a>,
    heads: Heads,
    /// Stage 0 looks up the embeddings; stage n is layer n - 1 but for its first product.
    index: usize,
    /// Queries, keys and values of all rows of the round.
    projections: Matrix<'a>,
    block: Block<'a>,
}

impl WithSimd for Stage<'_> {
    type Output = ();

    fn with_simd<S: Simd>(mut self, simd: S) {
        let layers = &self.encoder.layers;
        match self.index.checked_sub(1) {
            None => self.look_up(simd),
            Some(layer) => self.layer(simd, &layers[layer]),
        }
        if let Some(next) = layers.get(self.index) {
            multiply(simd, self.block.states, &next.query_key_value, self.block.quantized, self.block.projection);
        }
    }
}

impl Stage<'_> {
    fn look_up<S: Simd>(&mut self, simd: S) {
        let Encoder { words, positions, second_type, embedding_norm, config, .. } = self.encoder;
        let mut rows = self.block.states.chunks_exact_mut(self.encoder.padded(config.hidden));
        for (input, sequence, part) in self.round.parts(&self.block.rows) {
            let second = self.round.seconds.get(input).map_or(usize::MAX, |&second| second);
            let part = part.start - sequence.start..part.end - sequence.start;
            let positions = positions.chunks_exact(config.hidden).skip(part.start);
            let ids = part.clone().zip(&self.round.inputs[input][part]);
            for (((at, &id), position), row) in ids.zip(positions).zip(&mut rows) {
                row[config.hidden..].fill(0.0);
                words.read(id, row);
                for (number, position) in row.iter_mut().zip(position) {
                    *number += position;
                }
                if at >= second {
                    for (number, change) in row.iter_mut().zip(second_type) {
                        *number += change;
                    }
                }
            }
        }
        embedding_norm.apply(simd, self.block.states);
    }

    fn layer<S: Simd>(&mut self, simd: S, layer: &Layer) {
        let Block { rows, states, projection, context, middle, scratch, quantized } = &mut self.block;
        let mut attended = Target { data: context, stride: self.encoder.padded(self.encoder.config.hidden) };
        for (_, sequence, queries) in self.round.parts(rows) {
            let out = attended.from(queries.start - rows.start, 0);
            self.heads.attend(simd, self.projections, (queries, sequence), out, scratch);
        }
        // The projections for the next stage come last; until then there is room.
        let change = &mut projection[..states.len()];
        multiply(simd, context, &layer.attention_output, quantized, change);
        layer.attention_norm.add_and_apply(simd, states, change);

        multiply(simd, states, &layer.up, quantized, middle);
        activate(simd, self.encoder.config.activation, middle);
        multiply(simd, middle, &layer.down, quantized, change);
        layer.feed_norm.add_and_apply(simd, states, change);
    }
}

/// One row of `out` for each of `rows`.
fn multiply<S: Simd>(simd: S, rows: &[f32], dense: &Dense, quantized: &mut QuantizedRows, out: &mut [f32]) {
    let rows = Matrix { data: rows, stride: rows.len() / (out.len() / dense.columns()) };
    match dense {
        Dense::Full(linear) => {
            product(simd, Left::Plain(rows), linear.panels(), Target { data: out, stride: linear.columns() });
        }
        Dense::Quantized(linear) => {
            quantized.set(simd, rows, linear);
            linear.multiply(quantized, out);
        }
    }
}
