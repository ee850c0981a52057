use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config as BertConfig};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::*;
use crate::embedding::folder::{Files, Parts};
use crate::embedding::tiny_models::{Expected, assert_close, tiny};
use crate::embedding::tokenizer::InputTokenizer;
use crate::embedding::{Precision, device};

const MODELS: [&str; 5] = ["bert-mean", "bert-cls", "distilbert", "roberta", "xlm-roberta"];

fn parts(name: &str) -> Parts {
    Parts::read(&Files::Folder(tiny(name))).unwrap()
}

/// Both encoders of a model: candle's and the processor's own.
fn encoders(parts: &Parts) -> (CandleEncoder, Box<dyn Encode>) {
    let tensors = parts.weights.tensors(&parts.weights.bytes).unwrap();
    let candle = CandleEncoder::new(&parts.config, &tensors, parts.pooling, Device::Cpu).unwrap();
    let own =
        device::encoder(device::Device::Cpu, Precision::F32, &parts.config, &parts.weights, parts.pooling).unwrap();
    (candle, own)
}

fn encode(encoder: &dyn Encode, inputs: &[Vec<u32>]) -> Vec<Vec<f32>> {
    encoder.encode(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

#[test]
fn candle_gives_the_vectors_of_sentence_transformers() {
    let expected = Expected::read();
    for name in MODELS {
        let parts = parts(name);
        let tokenizer = InputTokenizer::new(&parts).unwrap();
        let input = |text: &str| {
            let ids = tokenizer.ids(text).unwrap();
            tokenizer.framed(&ids[..ids.len().min(tokenizer.max_tokens())])
        };
        let inputs: Vec<Vec<u32>> = expected.texts().into_iter().map(input).collect();
        assert_close(&encode(&encoders(&parts).0, &inputs), &expected.vectors[name]);
    }
}

#[test]
fn candle_and_the_processors_encoder_agree() {
    for name in MODELS {
        let parts = parts(name);
        let (candle, own) = encoders(&parts);
        let id = 0..u32::try_from(parts.config.vocab).unwrap();
        let inputs = prop::collection::vec(prop::collection::vec(id, 1..=parts.config.max_length()), 1..6);
        let config = Config { cases: 24, rng_seed: RngSeed::Fixed(11), failure_persistence: None, ..Config::default() };
        proptest!(config, |(inputs in inputs)| assert_close(&encode(&candle, &inputs), &encode(&*own, &inputs)));
    }
}

#[test]
fn candle_and_its_own_bert_model_agree() {
    let parts = parts("bert-mean");
    let config: BertConfig =
        serde_json::from_slice(&std::fs::read(tiny("bert-mean").join("config.json")).unwrap()).unwrap();
    let weights = VarBuilder::from_slice_safetensors(&parts.weights.bytes, DType::F32, &Device::Cpu).unwrap();
    let bert = BertModel::load(weights, &config).unwrap();

    let input: Vec<u32> = vec![2, 9, 200, 31, 7, 229, 3];
    let ids = Tensor::new(&input[..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let states = bert.forward(&ids, &ids.zeros_like().unwrap(), None).unwrap();
    let mean = states.mean(1).unwrap().squeeze(0).unwrap();
    let unit = mean.broadcast_div(&mean.sqr().unwrap().sum_all().unwrap().sqrt().unwrap()).unwrap();
    assert_close(&encode(&encoders(&parts).0, &[input]), &[unit.to_vec1().unwrap()]);
}

#[test]
fn an_unknown_token_id_is_an_error() {
    let (candle, own) = encoders(&parts("bert-mean"));
    for encoder in [&candle as &dyn Encode, &*own] {
        let result = encoder.encode(&[&[2, 3], &[230]]);
        assert!(matches!(result, Err(EmbeddingError::Encoder(EncoderError::UnknownToken { input: 1, id: 230, .. }))));
    }
}

#[test]
fn weights_of_another_shape_are_an_error() {
    let mut parts = parts("bert-mean");
    parts.config.intermediate += 1;
    let tensors = parts.weights.tensors(&parts.weights.bytes).unwrap();
    let error = CandleEncoder::new(&parts.config, &tensors, parts.pooling, Device::Cpu).map(drop).unwrap_err();
    assert!(error.to_string().contains("intermediate"), "{error}");
}
