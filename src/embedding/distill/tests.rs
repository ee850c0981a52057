use std::fs;

use serde_json::Value;

use super::*;
use crate::embedding::tiny_models::tiny;
use crate::embedding::{Cosine, Embedder, Similarity, SumEmbedder};

fn encoder(name: &str) -> SentenceTransformer {
    SentenceTransformer::from_folder(tiny(name)).unwrap()
}

fn made(distiller: &Distiller) -> (tempfile::TempDir, SentenceTransformer) {
    let folder = tempfile::tempdir().unwrap();
    distiller.distill(&encoder("bert-mean"), |_, _| ()).unwrap().write(folder.path()).unwrap();
    let model = SentenceTransformer::from_folder(folder.path()).unwrap();
    (folder, model)
}

fn ids(model: &SentenceTransformer, words: &str) -> Vec<u32> {
    model.tokenize(words).unwrap()
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let distiller = Distiller::new().with_dimension(20);
    let once = distiller.distill(&encoder("bert-mean"), |_, _| ()).unwrap();
    assert_eq!(distiller.distill(&encoder("bert-mean"), |_, _| ()).unwrap(), once);
}

#[test]
fn all_dimensions_keep_every_distance_and_the_weight_of_a_word_is_that_of_its_rank() {
    let source = encoder("bert-mean");
    let (_folder, model) =
        made(&Distiller::new().with_dimension(32).with_numbers(Numbers::F32).with_frequency_constant(0.01));
    let ids = ids(&source, "moss river sand dawn");
    assert!(ids.len() > 5);
    let own = source.embed_tokens(&ids.iter().map(std::slice::from_ref).collect::<Vec<_>>()).unwrap();
    let Engine::Table(table) = &model.shared().engine else { panic!("a table") };
    let Engine::Encoder { tokenizer, .. } = &source.shared().engine else { panic!("an encoder") };
    let mut spelled: Vec<u32> =
        tokenizer.word_piece().unwrap().entries().filter(|entry| is_spelled(entry.0)).map(|entry| entry.1).collect();
    spelled.sort_unstable();
    let all: f64 = (2..spelled.len() + 2).map(|rank| 1.0 / rank as f64).sum();
    let weight = |id: u32| {
        let rank = 2 + spelled.iter().position(|&other| other == id).unwrap();
        0.01 / (0.01 + 1.0 / (rank as f64 * all))
    };
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let wide = |vector: &[f32], by: f64| vector.iter().map(|&x| f64::from(x) / by).collect::<Vec<f64>>();
    for (a, own_a) in ids.iter().zip(&own) {
        for (b, own_b) in ids.iter().zip(&own) {
            let (ours_a, ours_b) = (table.sum_of(&[*a]), table.sum_of(&[*b]));
            let ours = distance(&wide(&ours_a, weight(*a)), &wide(&ours_b, weight(*b)));
            assert!((ours - distance(&wide(own_a, 1.0), &wide(own_b, 1.0))).abs() < 1e-4, "{a} {b}");
        }
    }
}

#[test]
fn special_tokens_count_nothing() {
    let (_folder, model) = made(&Distiller::new().with_dimension(8));
    let Engine::Table(table) = &model.shared().engine else { panic!("a table") };
    for special in 0..5 {
        assert_eq!(table.sum_of(&[special]), [0.0; 8]);
    }
    assert!(!is_spelled("[unused12]") && is_spelled("[") && is_spelled("]") && is_spelled("[]") && is_spelled("a]"));
}

#[test]
fn fewer_bits_give_nearly_the_same_vectors() {
    let texts = ["Moss grows on walls.", "Rivers carry sand.", "dawn"];
    let vectors = |numbers| {
        let (_folder, model) = made(&Distiller::new().with_dimension(24).with_numbers(numbers));
        assert_eq!(model.info().dtype, numbers.to_string());
        model.embed(&texts).unwrap()
    };
    let exact = vectors(Numbers::F32);
    for (numbers, tolerance) in [(Numbers::F16, 1e-5), (Numbers::I8, 1e-3)] {
        for (row, exact) in vectors(numbers).iter().zip(&exact) {
            let similarity = Cosine.between(&row.vector, &exact.vector);
            assert!(similarity > 1.0 - tolerance, "{numbers}: {similarity}");
        }
    }
    assert!(vectors(Numbers::I8) != exact, "the test compares something");
}

#[test]
fn the_files_are_those_of_model2vec() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    let made =
        Distiller::new().with_dimension(8).with_threshold(0.4).distill(&encoder("bert-mean"), |_, _| ()).unwrap();
    made.write(&inner).unwrap();
    let config: Value = serde_json::from_slice(&fs::read(inner.join("config.json")).unwrap()).unwrap();
    assert_eq!((&config["model_type"], &config["hidden_dim"]), (&"model2vec".into(), &8.into()));
    assert_eq!((&config["normalize"], &config["threshold"]), (&true.into(), &0.4.into()));
    assert_eq!(
        fs::read(inner.join("tokenizer.json")).unwrap(),
        fs::read(tiny("bert-mean").join("tokenizer.json")).unwrap()
    );
    let model = SentenceTransformer::from_folder(&inner).unwrap();
    assert_eq!(model.info().threshold, Some(0.4));
    assert!(model.sum("moss").unwrap().iter().any(|&x| x != 0.0));
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 3, "nothing is left behind");

    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    assert!(made.write(&blocked).unwrap_err().to_string().contains("file"));
}

#[test]
fn progress_ends_where_all_is_done() {
    let mut heard = Vec::new();
    Distiller::new().with_dimension(4).distill(&encoder("bert-mean"), |done, all| heard.push((done, all))).unwrap();
    assert!(heard.last().is_some_and(|&(done, all)| done == all && all > 200), "{heard:?}");
}

#[test]
fn settings_that_make_no_model_are_refused() {
    let refused = |distiller: Distiller| distiller.distill(&encoder("bert-mean"), |_, _| ()).unwrap_err();
    let small = Distiller::new().with_dimension(8);
    assert!(matches!(refused(small.clone().with_threshold(1.5)), DistillError::Threshold(_)));
    for constant in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(small.clone().with_frequency_constant(constant)), DistillError::Frequency(_)));
    }
}

#[test]
fn a_token_that_the_model_does_not_know_is_refused_before_a_table_is_made_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models/bert-mean");
    for name in ["config.json", "model.safetensors", "modules.json", "tokenizer.json", "1_Pooling/config.json"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if tiny.join(name).exists() {
            std::fs::copy(tiny.join(name), path).unwrap();
        }
    }
    let path = folder.path().join("tokenizer.json");
    let mut file: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    file["model"]["vocab"]["unheard"] = 3_000_000_000_u32.into();
    std::fs::write(path, serde_json::to_vec(&file).unwrap()).unwrap();
    let model = SentenceTransformer::from_folder(folder.path()).unwrap();
    let error = Distiller::new().with_dimension(8).distill(&model, |_, _| ()).unwrap_err();
    assert!(matches!(error, DistillError::Embedding(_)), "{error}");
}

#[test]
fn what_cannot_be_distilled_says_why() {
    let error = |name: &str, dimension| {
        Distiller::new().with_dimension(dimension).distill(&encoder(name), |_, _| ()).unwrap_err()
    };
    assert!(matches!(error("roberta", 8), DistillError::Tokenizer { .. }));
    for dimension in [0, 33] {
        let error = error("bert-mean", dimension);
        assert!(error.to_string().contains("from 1 to 32"), "{error}");
    }
    let (_folder, model) = made(&Distiller::new().with_dimension(8));
    let error = Distiller::new().with_dimension(4).distill(&model, |_, _| ()).unwrap_err();
    assert!(matches!(error, DistillError::Static { .. }), "{error}");
    assert_eq!("f64".parse::<Numbers>(), Err(UnknownNumbers("f64".to_owned())));
}
