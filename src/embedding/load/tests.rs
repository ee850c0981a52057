use std::error::Error;
use std::fs;
use std::path::Path;

use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::embedding::Embedder;
use crate::embedding::tiny_models::{copy_of, tiny};

fn load(folder: &Path) -> Result<SentenceTransformer, ModelError> {
    ModelLoader::new(ModelSource::Folder(folder.to_owned())).with_device(Device::Cpu).load()
}

/// The error of a copy of `bert-mean` that `spoil` was let at.
fn error_after(spoil: impl FnOnce(&Path)) -> ModelError {
    let folder = copy_of("bert-mean");
    spoil(folder.path());
    load(folder.path()).map(|model| model.info().clone()).unwrap_err()
}

/// Changes one field of a JSON file.
fn set(file: &Path, field: &str, value: Value) {
    let mut json: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    json[field] = value;
    fs::write(file, json.to_string()).unwrap();
}

fn modules(classes: &[&str]) -> String {
    let row = |(at, class): (usize, &&str)| {
        let path = if at == 0 { "" } else { "1_Pooling" };
        json!({"type": format!("a.b.{class}"), "path": path})
    };
    classes.iter().enumerate().map(row).collect::<Value>().to_string()
}

#[track_caller]
fn assert_names(error: &ModelError, words: &[&str]) {
    let message = error.to_string();
    assert!(words.iter().all(|word| message.contains(word)), "{words:?} in {message:?}");
}

#[test]
fn a_missing_file_is_named_with_its_path() {
    for name in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        let error = error_after(|folder| fs::remove_file(folder.join(name)).unwrap());
        assert!(matches!(error, ModelError::Missing { .. }), "{error:?}");
        assert_names(&error, &[name]);
    }
    let error = load(Path::new("no/such/folder")).map(|model| model.info().clone()).unwrap_err();
    assert_names(&error, &["no/such/folder/config.json", "a model folder holds"]);
}

#[test]
fn pickled_weights_alone_are_refused_and_beside_others_ignored() {
    for name in ["pytorch_model.bin", "pytorch_model.bin.index.json"] {
        let error = error_after(|folder| fs::rename(folder.join("model.safetensors"), folder.join(name)).unwrap());
        assert!(matches!(error, ModelError::Pickled { .. }), "{error:?}");
        assert_names(&error, &[name, "save them as model.safetensors"]);
    }
    let error = error_after(|folder| {
        fs::write(folder.join("pytorch_model.bin"), "pickled").unwrap();
        fs::remove_file(folder.join("tokenizer.json")).unwrap();
    });
    assert_names(&error, &["tokenizer.json"]);
}

#[test]
fn a_file_that_is_not_json_is_named() {
    for name in ["modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer_config.json"] {
        let error = error_after(|folder| fs::write(folder.join(name), "{").unwrap());
        assert!(matches!(error, ModelError::Parse { .. }), "{error:?}");
        assert_names(&error, &[name]);
    }
    let error = error_after(|folder| fs::write(folder.join("config.json"), "[1").unwrap());
    assert!(matches!(error, ModelError::Config { .. }), "{error:?}");
    let error = error_after(|folder| fs::write(folder.join("config.json"), b"\xff").unwrap());
    assert!(matches!(error, ModelError::Parse { .. }), "{error:?}");
    let error = error_after(|folder| fs::write(folder.join("tokenizer.json"), "{}").unwrap());
    assert!(matches!(error, ModelError::Tokenizer(_)), "{error:?}");
}

#[test]
fn weights_cut_anywhere_are_broken() {
    let whole = fs::read(tiny("bert-mean").join("model.safetensors")).unwrap();
    for eighth in 0..8 {
        let error = error_after(|folder| {
            fs::write(folder.join("model.safetensors"), &whole[..whole.len() * eighth / 8]).unwrap();
        });
        assert!(matches!(error, ModelError::Parse { .. }), "{error:?}");
        assert_names(&error, &["model.safetensors"]);
    }
}

#[test]
fn weights_of_another_shape_do_not_fit() {
    for field in ["hidden_size", "intermediate_size", "vocab_size", "max_position_embeddings", "num_hidden_layers"] {
        let error = error_after(|folder| set(&folder.join("config.json"), field, json!(48)));
        assert!(matches!(error, ModelError::Weights { .. }), "{field}: {error:?}");
        assert!(error.source().is_some());
    }
}

#[test]
fn an_unknown_architecture_is_an_error() {
    let error = error_after(|folder| set(&folder.join("config.json"), "model_type", json!("t5")));
    assert!(matches!(error, ModelError::Config { .. }), "{error:?}");
    assert!(error.source().unwrap().to_string().contains("t5"));
}

#[test]
fn unknown_modules_are_errors() {
    for classes in [&["Transformer", "Pooling", "Dense"][..], &["Transformer"], &["WordEmbeddings", "Pooling"], &[]] {
        let error = error_after(|folder| fs::write(folder.join("modules.json"), modules(classes)).unwrap());
        assert!(matches!(error, ModelError::Unsupported { .. }), "{classes:?}: {error:?}");
        assert_names(&error, &["modules.json"]);
    }
}

#[test]
fn a_pooling_module_outside_the_folder_is_an_error() {
    let outside = modules(&["Transformer", "Pooling"]).replace("1_Pooling", "../1_Pooling");
    let error = error_after(|folder| fs::write(folder.join("modules.json"), outside).unwrap());
    assert!(matches!(error, ModelError::Unsupported { .. }), "{error:?}");
}

#[test]
fn pooling_other_than_mean_or_cls_is_an_error() {
    for config in [
        r#"{"pooling_mode": "max"}"#,
        r#"{"pooling_mode": ["mean", "cls"]}"#,
        r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}"#,
        r#"{"pooling_mode_weightedmean_tokens": true}"#,
        r#"{"pooling_mode": "mean", "include_prompt": false}"#,
    ] {
        let error = error_after(|folder| fs::write(folder.join("1_Pooling/config.json"), config).unwrap());
        assert!(matches!(error, ModelError::Unsupported { .. }), "{config}: {error:?}");
    }
}

#[test]
fn every_spelling_of_cls_and_mean_is_read() {
    for (config, pooling) in [
        (r#"{"pooling_mode": "cls"}"#, "cls"),
        (r#"{"pooling_mode": ["cls"], "pooling_mode_mean_tokens": true}"#, "cls"),
        (r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#, "cls"),
        (r#"{"pooling_mode_mean_tokens": true}"#, "mean"),
        (r#"{"word_embedding_dimension": 32}"#, "mean"),
    ] {
        let folder = copy_of("bert-mean");
        fs::write(folder.path().join("1_Pooling/config.json"), config).unwrap();
        assert_eq!(load(folder.path()).unwrap().info().pooling, pooling, "{config}");
    }
}

#[test]
fn a_length_without_room_for_a_token_is_an_error() {
    for length in [0, 1, 2] {
        let change = |folder: &Path| set(&folder.join("sentence_bert_config.json"), "max_seq_length", json!(length));
        assert!(matches!(error_after(change), ModelError::Unsupported { .. }));
    }
}

#[test]
fn weights_can_be_pinned() {
    let sum = sha256(&fs::read(tiny("bert-mean").join("model.safetensors")).unwrap());
    let pinned = |sum: &str| ModelLoader::new(ModelSource::Folder(tiny("bert-mean"))).with_sha256(sum).load();
    assert!(pinned(&sum.to_uppercase()).is_ok());
    let error = pinned(&sum.replace(['0', '1'], "2")).map(|model| model.info().clone()).unwrap_err();
    assert!(matches!(error, ModelError::Checksum { .. }), "{error:?}");
    assert_names(&error, &[&sum]);
}

/// A copy of `bert-mean` with its weights in two files.
fn sharded() -> TempDir {
    let folder = copy_of("bert-mean");
    let whole = fs::read(folder.path().join("model.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&whole).unwrap();
    let (mut map, mut halves) = (serde_json::Map::new(), [Vec::new(), Vec::new()]);
    for (at, (name, tensor)) in tensors.iter().enumerate() {
        map.insert(name.to_owned(), json!(format!("model-{}.safetensors", at % 2)));
        halves[at % 2]
            .push((name.to_owned(), TensorView::new(tensor.dtype(), tensor.shape().to_vec(), tensor.data()).unwrap()));
    }
    for (at, half) in halves.into_iter().enumerate() {
        let bytes = safetensors::serialize(half, None).unwrap();
        fs::write(folder.path().join(format!("model-{at}.safetensors")), bytes).unwrap();
    }
    fs::write(folder.path().join("model.safetensors.index.json"), json!({"weight_map": map}).to_string()).unwrap();
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    folder
}

#[test]
fn sharded_weights_are_those_of_one_file() {
    let folder = sharded();
    let texts = ["Rivers carry sand."];
    let whole = load(&tiny("bert-mean")).unwrap().embed(&texts).unwrap();
    assert_eq!(load(folder.path()).unwrap().embed(&texts).unwrap(), whole);
}

#[test]
fn a_missing_shard_is_named_and_one_outside_the_folder_refused() {
    let folder = sharded();
    fs::remove_file(folder.path().join("model-1.safetensors")).unwrap();
    assert_names(&load(folder.path()).map(|model| model.info().clone()).unwrap_err(), &["model-1.safetensors"]);
    let index = folder.path().join("model.safetensors.index.json");
    fs::write(index, r#"{"weight_map": {"a": "../model-0.safetensors"}}"#).unwrap();
    let error = load(folder.path()).map(|model| model.info().clone()).unwrap_err();
    assert!(matches!(error, ModelError::Unsupported { .. }), "{error:?}");
}

#[test]
fn a_model_is_named_as_bundled_folder_or_hub_id() {
    let source = |name: &str| name.parse::<ModelSource>().unwrap();
    assert_eq!(source("bundled"), ModelSource::Bundled);
    assert_eq!(source("org/name@v1"), ModelSource::Hub("org/name@v1".parse().unwrap()));
    assert_eq!(source("./org/name"), ModelSource::Folder("./org/name".into()));
    assert_eq!(source("name"), ModelSource::Folder("name".into()));
    let folder = tiny("bert-mean");
    assert_eq!(source(folder.to_str().unwrap()), ModelSource::Folder(folder));
}

#[test]
fn a_device_outside_this_build_is_a_typed_error() {
    for device in [Device::Cuda(0), Device::Metal] {
        let loaded = ModelLoader::new(ModelSource::Folder(tiny("bert-mean"))).with_device(device).load();
        let Err(error) = loaded else { continue };
        assert!(matches!(error, ModelError::NotCompiled { .. } | ModelError::Device { .. }), "{error:?}");
        assert_names(&error, &[&device.to_string(), "cpu"]);
    }
}
