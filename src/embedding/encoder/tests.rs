//! The encoder against a plain one: loops over numbers in double precision, written down as the papers have it.

#![expect(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::collections::HashMap;

use proptest::prelude::*;
use pulp::{Arch, Simd, WithSimd};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::activation::{activate, exp};
use super::kernel::{Left, Linear, Matrix, Target, panel_width, product};
use super::{Encoder, EncoderError, Pooling, Precision};
use crate::embedding::config::{Activation, Affine, ModelConfig};

/// A model with random weights, small enough for naive loops, of sizes that fill no vector and no panel.
pub(crate) struct TinyModel {
    pub(crate) config: String,
    /// A safetensors file.
    pub(crate) weights: Vec<u8>,
}

/// The `model_type` and the activation of every tiny model worth testing.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("bert", "gelu"),
    ("bert", "gelu_new"),
    ("bert", "relu"),
    ("roberta", "gelu"),
    ("xlm-roberta", "gelu_pytorch_tanh"),
    ("distilbert", "gelu"),
];

const VOCAB: u32 = 50;

impl TinyModel {
    pub(crate) fn new((model_type, activation): (&str, &str), dtype: Dtype) -> Self {
        let config = if model_type == "distilbert" {
            format!(
                r#"{{"model_type": "distilbert", "vocab_size": {VOCAB}, "dim": 24, "n_layers": 2, "n_heads": 3,
                "hidden_dim": 40, "max_position_embeddings": 72, "activation": "{activation}"}}"#
            )
        } else {
            format!(
                r#"{{"model_type": "{model_type}", "vocab_size": {VOCAB}, "hidden_size": 24, "num_hidden_layers": 2,
                "num_attention_heads": 3, "intermediate_size": 40, "max_position_embeddings": 72,
                "type_vocab_size": 2, "layer_norm_eps": 1e-5, "hidden_act": "{activation}", "pad_token_id": 1}}"#
            )
        };
        let weights = random_weights(&ModelConfig::from_json(&config).unwrap(), dtype);
        Self { config, weights }
    }

    fn config(&self) -> ModelConfig {
        ModelConfig::from_json(&self.config).unwrap()
    }

    fn encoder(&self, arch: Arch) -> Encoder<'_> {
        self.in_precision(arch, Precision::F32)
    }

    fn in_precision(&self, arch: Arch, precision: Precision) -> Encoder<'_> {
        let file = SafeTensors::deserialize(&self.weights).unwrap();
        Encoder::for_arch(arch, precision, &self.config(), &file).unwrap()
    }
}

/// Numbers between -1 and 1, always the same ones.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

fn random_weights(config: &ModelConfig, dtype: Dtype) -> Vec<u8> {
    let mut random = Random(7);
    let mut tensors = Vec::new();
    let mut add = |name: &str, shape: &[usize], centre: f32, spread: f32| {
        let numbers = (0..shape.iter().product()).map(|_| centre + spread * random.next());
        let bytes: Vec<u8> = match dtype {
            Dtype::F16 => numbers.flat_map(|number| half::f16::from_f32(number).to_le_bytes()).collect(),
            Dtype::BF16 => numbers.flat_map(|number| half::bf16::from_f32(number).to_le_bytes()).collect(),
            _ => numbers.flat_map(f32::to_le_bytes).collect(),
        };
        tensors.push((name.to_owned(), shape.to_vec(), bytes));
    };
    let names = config.names(|_| false);
    let (hidden, intermediate) = (config.hidden, config.intermediate);
    add(&names.words, &[config.vocab, hidden], 0.0, 1.0);
    add(&names.positions, &[config.positions, hidden], 0.0, 1.0);
    if let Some(name) = &names.token_types {
        add(name, &[config.token_types, hidden], 0.0, 1.0);
    }
    let mut norms = vec![&names.embedding_norm];
    for layer in &names.layers {
        for (names, rows, columns) in [
            (&layer.query, hidden, hidden),
            (&layer.key, hidden, hidden),
            (&layer.value, hidden, hidden),
            (&layer.attention_output, hidden, hidden),
            (&layer.feed_up, intermediate, hidden),
            (&layer.feed_down, hidden, intermediate),
        ] {
            add(&names.weight, &[rows, columns], 0.0, 0.4);
            add(&names.bias, &[rows], 0.0, 0.4);
        }
        norms.extend([&layer.attention_norm, &layer.feed_norm]);
    }
    for names in norms {
        add(&names.weight, &[hidden], 1.0, 0.4);
        add(&names.bias, &[hidden], 0.0, 0.4);
    }
    let views =
        tensors.iter().map(|(name, shape, bytes)| (name, TensorView::new(dtype, shape.clone(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

/// The plain encoder.
struct Oracle {
    config: ModelConfig,
    tensors: HashMap<String, Vec<f64>>,
}

impl Oracle {
    fn new(model: &TinyModel) -> Self {
        let file = SafeTensors::deserialize(&model.weights).unwrap();
        let numbers = |tensor: TensorView<'_>| match tensor.dtype() {
            Dtype::F16 => tensor.data().as_chunks().0.iter().map(|&b| half::f16::from_le_bytes(b).to_f64()).collect(),
            Dtype::BF16 => tensor.data().as_chunks().0.iter().map(|&b| half::bf16::from_le_bytes(b).to_f64()).collect(),
            _ => tensor.data().as_chunks().0.iter().map(|&b| f64::from(f32::from_le_bytes(b))).collect(),
        };
        let tensors = file.iter().map(|(name, tensor)| (name.to_owned(), numbers(tensor))).collect();
        Self { config: model.config(), tensors }
    }

    fn linear(&self, names: &Affine, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (weight, bias) = (&self.tensors[&names.weight], &self.tensors[&names.bias]);
        let output = |row: &Vec<f64>, i: usize| bias[i] + dot(&weight[i * row.len()..], row);
        rows.iter().map(|row| (0..bias.len()).map(|i| output(row, i)).collect()).collect()
    }

    fn norm(&self, names: &Affine, rows: &mut [Vec<f64>]) {
        let (gamma, beta) = (&self.tensors[&names.weight], &self.tensors[&names.bias]);
        for row in rows {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
            for (i, x) in row.iter_mut().enumerate() {
                *x = (*x - mean) / (variance + self.config.layer_norm_eps).sqrt() * gamma[i] + beta[i];
            }
        }
    }

    fn forward(&self, ids: &[u32]) -> Vec<Vec<f64>> {
        let ModelConfig { hidden, heads, position_offset, activation, .. } = self.config;
        let names = self.config.names(|_| false);
        let row = |name: &str, row: usize| self.tensors[name][row * hidden..(row + 1) * hidden].to_vec();
        let mut states = Vec::new();
        for (position, &id) in ids.iter().enumerate() {
            let mut state = vec![row(&names.words, id as usize)];
            add(&mut state, &[row(&names.positions, position_offset + position)]);
            if let Some(name) = &names.token_types {
                add(&mut state, &[row(name, 0)]);
            }
            states.extend(state);
        }
        self.norm(&names.embedding_norm, &mut states);
        for layer in &names.layers {
            let [query, key, value] = [&layer.query, &layer.key, &layer.value].map(|names| self.linear(names, &states));
            let mut context = vec![vec![0.0; hidden]; ids.len()];
            for head in 0..heads {
                let columns = head * hidden / heads..(head + 1) * hidden / heads;
                let scale = (columns.len() as f64).sqrt();
                for (query, out) in query.iter().zip(&mut context) {
                    let score = |key: &Vec<f64>| (dot(&query[columns.clone()], &key[columns.clone()]) / scale).exp();
                    let weights: Vec<f64> = key.iter().map(score).collect();
                    let sum: f64 = weights.iter().sum();
                    for column in columns.clone() {
                        out[column] = value.iter().zip(&weights).map(|(value, w)| value[column] * w / sum).sum();
                    }
                }
            }
            add(&mut states, &self.linear(&layer.attention_output, &context));
            self.norm(&layer.attention_norm, &mut states);
            let mut middle = self.linear(&layer.feed_up, &states);
            middle.iter_mut().flatten().for_each(|x| *x = plain_activation(activation, *x));
            add(&mut states, &self.linear(&layer.feed_down, &middle));
            self.norm(&layer.feed_norm, &mut states);
        }
        states
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(rows: &mut [Vec<f64>], others: &[Vec<f64>]) {
    for (x, y) in rows.iter_mut().flatten().zip(others.iter().flatten()) {
        *x += y;
    }
}

fn plain_activation(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Gelu => x * (1.0 + plain_erf(x / 2f64.sqrt())) / 2.0,
        Activation::GeluTanh => {
            x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()) / 2.0
        }
        Activation::Relu => x.max(0.0),
    }
}

/// `2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1))`: all terms of one sign, nothing cancels.
fn plain_erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, 0.0);
    for n in 1..200 {
        sum += term;
        term *= 2.0 * x * x / f64::from(2 * n + 1);
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

fn inputs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let ids = |length| prop::collection::vec(0..VOCAB, length);
    prop::collection::vec(prop_oneof![4 => ids(1..20), 1 => ids(60..70)], 1..12)
}

fn slices(inputs: &[Vec<u32>]) -> Vec<&[u32]> {
    inputs.iter().map(Vec::as_slice).collect()
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn bits(vectors: &[Vec<f32>]) -> Vec<Vec<u32>> {
    vectors.iter().map(|vector| vector.iter().map(|x| x.to_bits()).collect()).collect()
}

/// Runs a closure that is generic over the SIMD type, on the best one of this machine and on none.
fn on_every_arch<Op: WithSimd + Clone>(op: &Op) -> [Op::Output; 2] {
    [Arch::new(), Arch::Scalar].map(|arch| arch.dispatch(op.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn hidden_states_equal_the_plain_encoders(kind in prop::sample::select(&KINDS[..]), inputs in inputs()) {
        let model = TinyModel::new(kind, Dtype::F32);
        let oracle = Oracle::new(&model);
        let expected: Vec<f64> = inputs.iter().flat_map(|ids| oracle.forward(ids)).flatten().collect();
        for arch in [Arch::new(), Arch::Scalar] {
            let states = model.encoder(arch).forward(&slices(&inputs)).unwrap();
            prop_assert_eq!(states.len(), expected.len());
            for (state, expected) in states.iter().zip(&expected) {
                prop_assert!((f64::from(*state) - expected).abs() < 2e-5, "{state} instead of {expected}");
            }
        }
    }

    /// The sizes fill no panel, and panels of 8-bit numbers are wider than those of floats on most machines.
    #[test]
    fn vectors_in_8_bits_are_near_those_of_floats_wherever_and_in_any_company(
        kind in prop::sample::select(&KINDS[..]),
        inputs in inputs(),
    ) {
        let model = TinyModel::new(kind, Dtype::F32);
        for arch in [Arch::new(), Arch::Scalar] {
            let [exact, fast] = [Precision::F32, Precision::Int8].map(|precision| model.in_precision(arch, precision));
            let exact = exact.embed(&slices(&inputs), Pooling::Mean).unwrap();
            let together = [1, 3].map(|threads| pool(threads).install(|| fast.embed(&slices(&inputs), Pooling::Mean).unwrap()));
            prop_assert_eq!(bits(&together[0]), bits(&together[1]));
            for (at, (exact, found)) in exact.iter().zip(&together[0]).enumerate() {
                let cosine: f32 = exact.iter().zip(found).map(|(a, b)| a * b).sum();
                prop_assert!(cosine > 0.99, "{}: {}", at, cosine);
                prop_assert_eq!(&fast.embed(&[&inputs[at]], Pooling::Mean).unwrap()[0], found);
            }
        }
    }

    #[test]
    fn a_vector_is_the_same_bits_in_any_company_and_on_any_number_of_threads(
        inputs in inputs(),
        pooling in prop::sample::select(&[Pooling::Mean, Pooling::Cls][..]),
    ) {
        let model = TinyModel::new(KINDS[0], Dtype::F32);
        let encoder = model.encoder(Arch::new());
        let alone = |ids: &[u32]| encoder.embed(&[ids], pooling).unwrap().remove(0);
        let expected: Vec<_> = pool(1).install(|| inputs.iter().map(|ids| alone(ids)).collect());
        for threads in [1, 2, 3] {
            let (together, alone) = pool(threads).install(|| {
                (encoder.embed(&slices(&inputs), pooling).unwrap(), inputs.iter().map(|ids| alone(ids)).collect())
            });
            prop_assert_eq!(bits(&together), bits(&expected));
            let alone: Vec<_> = alone;
            prop_assert_eq!(bits(&alone), bits(&expected));
        }
    }

    #[test]
    fn products_equal_the_plain_sum(rows in 1..30_usize, depth in 1..40_usize, columns in 1..70_usize, seed: u64) {
        let mut random = Random(seed);
        let (left, right) = (random.numbers(rows * depth), random.numbers(columns * depth));
        let bias = random.numbers(columns);
        let transposed: Vec<f32> = (0..rows * depth).map(|i| left[i % rows * depth + i / rows]).collect();
        let lying = Left::Plain(Matrix { data: &left, stride: depth });
        let turned = Left::Transposed(Matrix { data: &transposed, stride: rows });
        let plain = Multiply { left: lying, right: &right, bias: &bias, rows };
        let turned = Multiply { left: turned, ..plain.clone() };
        for out in on_every_arch(&plain).iter().chain(&on_every_arch(&turned)) {
            for (row, out) in left.chunks(depth).zip(out.chunks(out.len() / rows)) {
                for (column, out) in out.iter().enumerate() {
                    let terms = right.chunks(depth).nth(column).map(|right| row.iter().zip(right).map(|(a, b)| a * b));
                    let expected = terms.map_or(0.0, |terms| bias[column] + terms.sum::<f32>());
                    prop_assert!((out - expected).abs() < 1e-5, "{out} instead of {expected} in column {column}");
                }
            }
        }
    }
}

/// A product in unpacked terms: `right` has one row of `depth` numbers a column of the result.
#[derive(Clone)]
struct Multiply<'a> {
    left: Left<'a>,
    right: &'a [f32],
    bias: &'a [f32],
    rows: usize,
}

impl WithSimd for Multiply<'_> {
    type Output = Vec<f32>;

    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let right = Linear::pack(self.right, self.bias, self.right.len() / self.bias.len(), panel_width::<S>());
        let mut out = vec![f32::NAN; self.rows * right.columns()];
        product(simd, self.left, right.panels(), Target { data: &mut out, stride: right.columns() });
        out
    }
}

/// A function applied to numbers, a whole number of vectors.
#[derive(Clone)]
enum Apply<'a> {
    Activation(Activation, &'a [f32]),
    Exp(&'a [f32]),
}

impl WithSimd for Apply<'_> {
    type Output = Vec<f32>;

    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        match self {
            Self::Activation(activation, numbers) => {
                let mut numbers = numbers.to_vec();
                activate(simd, activation, &mut numbers);
                numbers
            }
            Self::Exp(numbers) => {
                let mut numbers = numbers.to_vec();
                S::as_mut_simd_f32s(&mut numbers).0.iter_mut().for_each(|x| *x = exp(simd, *x));
                numbers
            }
        }
    }
}

/// `count` numbers from `low` to `high`.
fn grid(low: f32, high: f32, count: usize) -> Vec<f32> {
    (0..count).map(|i| low + (high - low) * i as f32 / (count - 1) as f32).collect()
}

#[test]
fn activations_are_as_good_as_single_precision_allows() {
    let near = grid(-9.0, 9.0, 1 << 18);
    let far = [-1e30, -1e4, -87.5, -12.0, -0.0, 0.0, 1e-30, 12.0, 87.5, 1e4, 1e30, f32::MIN, f32::MAX, 1.0, -1.0, 2.0];
    for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Relu] {
        for numbers in [&near[..], &far[..]] {
            for out in on_every_arch(&Apply::Activation(activation, numbers)) {
                for (&x, &y) in numbers.iter().zip(&out) {
                    let error = (f64::from(y) - plain_activation(activation, f64::from(x))).abs();
                    assert!(error < 1e-6 * f64::from(x.abs()).max(1.0), "{activation:?} of {x} is {y}, off by {error}");
                }
            }
        }
    }
}

#[test]
fn gelu_is_off_by_less_than_a_millionth() {
    let numbers = grid(-9.0, 9.0, 1 << 18);
    for out in on_every_arch(&Apply::Activation(Activation::Gelu, &numbers)) {
        for (&x, &y) in numbers.iter().zip(&out) {
            assert!(
                (f64::from(y) - plain_activation(Activation::Gelu, f64::from(x))).abs() < 1e-6,
                "gelu of {x} is {y}"
            );
        }
    }
}

#[test]
fn the_exponential_is_right_to_its_last_digits_and_stops_at_its_limits() {
    let numbers = grid(-87.0, 87.0, 1 << 18);
    for out in on_every_arch(&Apply::Exp(&numbers)) {
        for (&x, &y) in numbers.iter().zip(&out) {
            let expected = f64::from(x).exp();
            assert!((f64::from(y) / expected - 1.0).abs() < 1e-5, "exp of {x} is {y}");
            assert!(x.abs() > 1.0 || (f64::from(y) / expected - 1.0).abs() < 3e-7, "exp of {x} is {y}");
        }
    }
    for out in on_every_arch(&Apply::Exp(&[f32::NEG_INFINITY; 16])) {
        assert!(out.iter().all(|&y| (0.0..1e-37).contains(&y)));
    }
}

#[test]
fn half_precision_files_give_what_their_numbers_give() {
    for dtype in [Dtype::F16, Dtype::BF16] {
        let model = TinyModel::new(KINDS[0], dtype);
        let ids = [3, 1, 4, 1, 5];
        let states = model.encoder(Arch::new()).into_owned().forward(&[&ids]).unwrap();
        for (state, expected) in states.iter().zip(Oracle::new(&model).forward(&ids).iter().flatten()) {
            assert!((f64::from(*state) - expected).abs() < 2e-5, "{state} instead of {expected}");
        }
    }
}

#[test]
fn vectors_are_pooled_hidden_states_of_length_one() {
    let model = TinyModel::new(KINDS[0], Dtype::F32);
    let encoder = model.encoder(Arch::new());
    let ids: [&[u32]; 2] = [&[7, 8, 9], &[1]];
    let states = encoder.forward(&ids).unwrap();
    let first = &states[..3 * 24];
    let mean = |column| (first[column] + first[24 + column] + first[48 + column]) / 3.0;
    for (pooling, pooled) in [(Pooling::Mean, (0..24).map(mean).collect()), (Pooling::Cls, first[..24].to_vec())] {
        let pooled: Vec<f32> = pooled;
        let length = pooled.iter().map(|x| x * x).sum::<f32>().sqrt();
        let vector = &encoder.embed(&ids, pooling).unwrap()[0];
        assert!(vector.iter().zip(&pooled).all(|(x, y)| (x - y / length).abs() < 1e-6));
    }
}

#[test]
fn the_second_type_is_that_of_the_second_text_and_changes_no_bit_elsewhere() {
    let model = TinyModel::new(KINDS[0], Dtype::F32);
    let encoder = model.encoder(Arch::new());
    let ids: [&[u32]; 3] = [&[7, 8, 9], &[1], &[4, 4, 2, 6]];
    let plain = encoder.forward(&ids).unwrap();
    assert_eq!(encoder.states(&ids, &[]).unwrap().concat(), plain);
    assert_eq!(encoder.states(&ids, &[3, 1, 4]).unwrap().concat(), plain);
    let some = encoder.states(&ids, &[3, 1, 2]).unwrap();
    assert_eq!(some[..2].concat(), plain[..4 * 24]);
    assert_ne!(some[2], plain[4 * 24..]);
}

#[test]
fn an_empty_batch_gives_nothing() {
    let model = TinyModel::new(KINDS[0], Dtype::F32);
    let encoder = model.encoder(Arch::new());
    assert!(encoder.embed(&[], Pooling::Mean).unwrap().is_empty());
    assert!(encoder.forward(&[]).unwrap().is_empty());
}

#[test]
fn inputs_the_model_cannot_take_are_refused() {
    let model = TinyModel::new(("roberta", "gelu"), Dtype::F32);
    let encoder = model.encoder(Arch::new());
    let embed = |ids: &[u32]| encoder.embed(&[&[1], ids], Pooling::Mean);
    assert!(embed(&[0; 70]).is_ok());
    assert!(matches!(embed(&[0; 71]), Err(EncoderError::Length { input: 1, length: 71, max: 70 })));
    assert!(matches!(embed(&[]), Err(EncoderError::Length { length: 0, .. })));
    assert!(matches!(embed(&[3, VOCAB]), Err(EncoderError::UnknownToken { input: 1, id: VOCAB, .. })));
}

#[test]
fn weights_that_do_not_fit_the_configuration_are_refused() {
    let model = TinyModel::new(KINDS[0], Dtype::F32);
    let file = SafeTensors::deserialize(&model.weights).unwrap();
    let with = |change: fn(&mut ModelConfig)| {
        let mut config = model.config();
        change(&mut config);
        Encoder::new(Precision::F32, &config, &file).map(|_| ())
    };
    assert!(with(|_| ()).is_ok());
    assert!(matches!(with(|config| config.layers = 3), Err(EncoderError::Tensor { .. })));
    assert!(matches!(with(|config| config.vocab = 51), Err(EncoderError::Shape { .. })));
    assert!(matches!(with(|config| config.intermediate = 41), Err(EncoderError::Shape { .. })));

    let positions = TensorView::new(Dtype::I8, vec![72, 24], &[0; 72 * 24]).unwrap();
    let bytes = safetensors::serialize([("embeddings.position_embeddings.weight", positions)], None).unwrap();
    let error = Encoder::new(Precision::F32, &model.config(), &SafeTensors::deserialize(&bytes).unwrap()).unwrap_err();
    assert!(matches!(error, EncoderError::Dtype { found: Dtype::I8, .. }));
}
