use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::embedding::tiny_models::tiny;
use crate::embedding::{
    Cosine, Device, Embedder, ModelError, ModelLoader, ModelSource, Precision, SentenceTransformer, Similarity,
    SumEmbedder,
};
use crate::tokens::{TokenCounter, WordPiece};

const DIMENSION: usize = 70;

/// A tensor: its name, its numbers, its shape.
type Tensor = (&'static str, Dtype, Vec<usize>, Vec<u8>);

/// The numbers of a table, row by row, all different and exact in every format.
fn number(row: usize, column: usize) -> i8 {
    let place = u8::try_from((row * 31 + column * 7) % 251).unwrap();
    i8::try_from(i16::from(place) - 125).unwrap()
}

fn rows(count: usize, dtype: Dtype) -> Tensor {
    let numbers = (0..count).flat_map(|row| (0..DIMENSION).map(move |column| number(row, column)));
    let bytes = match dtype {
        Dtype::I8 => numbers.flat_map(i8::to_le_bytes).collect(),
        Dtype::F16 => numbers.flat_map(|x| half::f16::from_f32(f32::from(x)).to_le_bytes()).collect(),
        Dtype::F32 => numbers.flat_map(|x| f32::from(x).to_le_bytes()).collect(),
        _ => numbers.flat_map(|x| f64::from(x).to_le_bytes()).collect(),
    };
    ("embeddings", dtype, vec![count, DIMENSION], bytes)
}

/// A folder as model2vec writes it, with the tokenizer of a tiny model.
fn folder(tokenizer: &str, tensors: &[Tensor], config: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    fs::write(folder.path().join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    fs::copy(tiny(tokenizer).join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    folder
}

fn config() -> Value {
    json!({ "model_type": "model2vec", "architectures": ["StaticModel"], "normalize": true })
}

fn load(folder: &Path) -> Result<SentenceTransformer, ModelError> {
    SentenceTransformer::from_folder(folder)
}

fn tokens() -> usize {
    let tokenizer = WordPiece::from_path(tiny("bert-mean").join("tokenizer.json")).unwrap();
    tokenizer.entries().count()
}

/// What model2vec gives: the mean of the rows, each times its weight, brought to length 1; unknown tokens left out.
fn plain(text: &str, place: impl Fn(usize) -> (usize, f64)) -> Vec<f64> {
    let tokenizer = WordPiece::from_path(tiny("bert-mean").join("tokenizer.json")).unwrap();
    let ids: Vec<u32> = tokenizer.ids(text).into_iter().filter(|&id| id != tokenizer.unknown()).collect();
    let mut mean = vec![0.0; DIMENSION];
    for &id in &ids {
        let (row, weight) = place(id as usize);
        for (column, sum) in mean.iter_mut().enumerate() {
            *sum += weight * f64::from(number(row, column)) / ids.len() as f64;
        }
    }
    let norm = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    mean.iter().map(|x| x / norm).collect()
}

#[track_caller]
fn assert_near(found: &[f32], right: &[f64]) {
    assert_eq!(found.len(), right.len());
    let worst = found.iter().zip(right).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "off by {worst}");
}

const TEXT: &str = "Moss grows on 漢 walls; rivers carry sand!";

#[test]
fn a_table_in_any_numbers_gives_the_vectors_of_model2vec() {
    for dtype in [Dtype::I8, Dtype::F16, Dtype::F32, Dtype::F64] {
        let folder = folder("bert-mean", &[rows(tokens(), dtype)], &config());
        let model = load(folder.path()).unwrap();
        let info = model.info();
        assert_eq!((info.dimension, info.max_length, info.parameters), (DIMENSION, usize::MAX, DIMENSION * tokens()));
        assert_eq!((info.device, info.dtype.as_str()), (Device::Cpu, dtype.to_string().to_lowercase().as_str()));
        let embedding = &model.embed(&[TEXT]).unwrap()[0];
        assert_near(&embedding.vector, &plain(TEXT, |id| (id, 1.0)));
        assert!(!embedding.truncated);
    }
}

#[test]
fn weights_and_the_rows_of_tokens_are_heeded() {
    let weights: Vec<f64> = (0..tokens()).map(|token| token as f64 / 64.0).collect();
    let place = |id: usize| (id % 9, id as f64 / 64.0);
    for wide in [false, true] {
        let weights = if wide {
            ("weights", Dtype::F64, vec![tokens()], weights.iter().flat_map(|x| x.to_le_bytes()).collect())
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "exact in f32")]
            let bytes = weights.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
            ("weights", Dtype::F32, vec![tokens()], bytes)
        };
        let rows_of = (0..tokens()).map(|token| i32::try_from(token % 9).unwrap());
        let mapping = if wide {
            ("mapping", Dtype::I64, vec![tokens()], rows_of.flat_map(|row| i64::from(row).to_le_bytes()).collect())
        } else {
            ("mapping", Dtype::I32, vec![tokens()], rows_of.flat_map(i32::to_le_bytes).collect())
        };
        let folder = folder("bert-mean", &[rows(9, Dtype::I8), weights, mapping], &config());
        assert_near(&load(folder.path()).unwrap().embed(&[TEXT]).unwrap()[0].vector, &plain(TEXT, place));
    }
}

#[test]
fn other_tokenizers_work_too_without_sums() {
    for name in ["roberta", "xlm-roberta"] {
        let folder = folder(name, &[rows(400, Dtype::F32)], &config());
        let model = load(folder.path()).unwrap();
        assert!(model.as_sum_embedder().is_none() && model.as_token_embedder().is_none());
        let rows = model.embed(&["Moss grows.", "Moss grows. Rivers carry sand."]).unwrap();
        assert_ne!(rows[0].vector, rows[1].vector);
        assert!(rows.iter().all(|row| (Cosine.between(&row.vector, &row.vector) - 1.0).abs() < 1e-6));
        assert_eq!(
            model.count("Moss grows.").unwrap(),
            crate::embedding::TokenEmbedder::tokenize(&model, "Moss grows.").unwrap().len()
        );
    }
}

#[test]
fn an_unknown_token_named_by_the_file_is_left_out_of_any_tokenizer() {
    let folder = folder("roberta", &[rows(400, Dtype::F32)], &config());
    let path = folder.path().join("tokenizer.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let whole = load(folder.path()).unwrap();
    let (first, both) = (whole.sum("q").unwrap(), whole.sum("qx").unwrap());
    assert_ne!(first, both);
    file["model"]["unk_token"] = "x".into();
    fs::write(&path, file.to_string()).unwrap();
    assert_eq!(load(folder.path()).unwrap().sum("qx").unwrap(), first);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let vector = |name, dtype: Dtype, bytes: Vec<u8>| (name, dtype, vec![bytes.len() * 8 / dtype.bitsize()], bytes);
    let count = tokens();
    let mut nan = rows(count, Dtype::F32);
    nan.3[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let far = i32::try_from(count).unwrap().to_le_bytes().repeat(count);
    for (tensors, part) in [
        (vec![vector("weights", Dtype::F32, vec![0; 4 * count])], "embeddings"),
        (vec![("embeddings", Dtype::F32, vec![count], vec![0; 4 * count])], "1 axes"),
        (vec![("embeddings", Dtype::F32, vec![count, 0], vec![])], "at least one number"),
        (vec![("embeddings", Dtype::BF16, vec![count, 1], vec![0; 2 * count])], "BF16"),
        (vec![nan], "finite"),
        (vec![rows(count, Dtype::I8), vector("weights", Dtype::F32, vec![0; 8])], "2 weights"),
        (vec![rows(count, Dtype::I8), vector("weights", Dtype::F32, f32::NAN.to_le_bytes().repeat(count))], "NaN"),
        (vec![rows(count, Dtype::I8), vector("mapping", Dtype::F32, vec![0; 4 * count])], "mapping in F32"),
        (vec![rows(count, Dtype::I8), vector("mapping", Dtype::I32, far)], "token 0 that is not there"),
        (vec![rows(count, Dtype::I8), vector("mapping", Dtype::I32, (-1_i32).to_le_bytes().repeat(count))], "token 0"),
        (vec![rows(count - 1, Dtype::I8)], "as many as the table has"),
    ] {
        let folder = folder("bert-mean", &tensors, &config());
        let error = load(folder.path()).map(|model| model.info().clone()).unwrap_err();
        let said = format!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string));
        assert!(said.contains(part) && said.contains(folder.path().to_str().unwrap()), "{part}: {said}");
    }
}

#[test]
fn the_threshold_is_that_of_the_configuration() {
    let with = |threshold: Value| {
        let mut config = config();
        config["threshold"] = threshold;
        let folder = folder("bert-mean", &[rows(tokens(), Dtype::I8)], &config);
        load(folder.path()).map(|model| model.info().threshold)
    };
    assert_eq!(with(Value::Null).unwrap(), None);
    assert_eq!(with(json!(0.4)).unwrap(), Some(0.4));
    assert!(with(json!(1.5)).unwrap_err().to_string().contains("threshold = 1.5"));
    assert!(matches!(with(json!("low")), Err(ModelError::Parse { .. })));
}

#[test]
fn what_is_for_encoders_is_refused() {
    let loader = || ModelLoader::new(ModelSource::Static);
    for (loader, part) in [
        (loader().with_precision(Precision::Int8), "precision int8"),
        (loader().with_device(Device::Cuda(1)), "cuda:1"),
        (loader().with_device(Device::Metal), "metal"),
    ] {
        let error = loader.load().map(|model| model.info().clone()).unwrap_err();
        assert!(matches!(error, ModelError::Static { .. }) && error.to_string().contains(part), "{error}");
    }
}

#[cfg(feature = "bundled")]
mod bundled {
    use std::sync::LazyLock;

    use super::*;

    static MODEL: LazyLock<SentenceTransformer> = LazyLock::new(|| SentenceTransformer::bundled_static().unwrap());

    #[test]
    fn it_is_small_and_says_so() {
        let info = MODEL.info();
        assert_eq!((info.name.as_str(), info.dimension, info.dtype.as_str()), ("static-MiniLM-L6-v2", 256, "i8"));
        assert!(info.bytes < 8_000_000 && info.folder.is_none());
        assert_eq!(MODEL.name(), "wordpiece");
        assert_eq!(MODEL.weights_sha256().unwrap().len(), 64);
        assert_ne!(MODEL.weights_sha256().unwrap(), SentenceTransformer::bundled().unwrap().weights_sha256().unwrap());
    }

    #[test]
    fn it_knows_what_belongs_together() {
        let texts = ["The cat sleeps.", "A kitten is napping.", "Interest rates rose."];
        let rows = MODEL.embed(&texts).unwrap();
        let similar = |a: usize, b: usize| Cosine.between(&rows[a].vector, &rows[b].vector);
        assert!(similar(0, 1) > similar(0, 2) + 0.2 && similar(0, 1) > similar(1, 2) + 0.2);
    }

    #[test]
    fn a_text_without_a_known_token_is_zero_and_like_nothing() {
        for text in ["", " \n", "🙂🙂", "🙂 \u{1f30a}"] {
            let vector = MODEL.embed(&[text]).unwrap().pop().unwrap().vector;
            assert_eq!(vector, vec![0.0; 256], "{text}");
            let tide = MODEL.embed(&["tide"]).unwrap().pop().unwrap().vector;
            assert!(Cosine.between(&vector, &tide).abs() < f32::MIN_POSITIVE);
        }
    }

    #[test]
    fn nothing_of_a_text_is_cut_off() {
        let long = "tide ".repeat(100_000) + "lamp";
        let rows = MODEL.embed(&["tide", &long, &"tide ".repeat(100_000)]).unwrap();
        assert!(rows.iter().all(|row| !row.truncated));
        assert_ne!(rows[1].vector, rows[2].vector);
        assert!(Cosine.between(&rows[0].vector, &rows[2].vector) > 0.999_999);
        assert_eq!(MODEL.count(&long).unwrap(), 100_001);
    }

    #[test]
    fn vectors_depend_neither_on_the_texts_beside_them_nor_on_threads() {
        let texts: Vec<String> =
            (0..500).map(|n| format!("Lamp {n} burns, and the tide of {} turns.", n * 7)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alone: Vec<_> = texts.iter().flat_map(|text| MODEL.embed(&[text]).unwrap()).collect();
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| MODEL.embed(&texts)).unwrap() == alone, "{threads} threads");
        }
    }

    proptest! {
        /// Sentences summed one by one differ from the whole text only in the order of additions.
        #[test]
        fn joined_sums_give_the_vector_of_the_joined_text(parts in prop::collection::vec("[a-zA-Zé漢🙂.,' 0-9]{0,60}", 1..8)) {
            let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
            let mut sum = vec![0.0; 256];
            for part in &parts {
                sum.iter_mut().zip(MODEL.sum(part).unwrap()).for_each(|(sum, x)| *sum += x);
            }
            let whole = MODEL.embed(&[&parts.join(" ")]).unwrap().pop().unwrap().vector;
            let joined = crate::embedding::input::unit(&sum);
            let worst = whole.iter().zip(&joined).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            prop_assert!(worst < 1e-6, "off by {}", worst);
        }
    }

    #[test]
    fn a_prefix_is_part_of_every_text() {
        let model = MODEL.clone().with_text_prefix("harbour: ");
        assert!(model.as_sum_embedder().is_none());
        assert_eq!(model.embed(&["tide"]).unwrap(), MODEL.embed(&["harbour: tide"]).unwrap());
    }
}
