use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::*;
use crate::embedding::tiny_models::{Expected, assert_close, copy_of, tiny};
use crate::tokens::TokenizerFile;

fn load(name: &str) -> SentenceTransformer {
    SentenceTransformer::from_folder(tiny(name)).unwrap()
}

fn tokenizer(model: &SentenceTransformer) -> &InputTokenizer {
    let Engine::Encoder { tokenizer, .. } = &model.shared.engine else { panic!("an encoder") };
    tokenizer
}

fn vectors(model: &SentenceTransformer, texts: &[&str]) -> Vec<Vec<f32>> {
    model.embed(texts).unwrap().into_iter().map(|embedding| embedding.vector).collect()
}

#[track_caller]
fn gives_the_vectors_of_sentence_transformers(name: &str) {
    let expected = Expected::read();
    let model = load(name);
    assert_close(&vectors(&model, &expected.texts()), &expected.vectors[name]);
}

#[test]
fn bert_with_mean_pooling_gives_the_vectors_of_sentence_transformers() {
    gives_the_vectors_of_sentence_transformers("bert-mean");
}

#[test]
fn bert_with_cls_pooling_gives_the_vectors_of_sentence_transformers() {
    gives_the_vectors_of_sentence_transformers("bert-cls");
}

#[test]
fn distilbert_gives_the_vectors_of_sentence_transformers() {
    gives_the_vectors_of_sentence_transformers("distilbert");
}

#[test]
fn roberta_gives_the_vectors_of_sentence_transformers() {
    gives_the_vectors_of_sentence_transformers("roberta");
}

#[test]
fn xlm_roberta_gives_the_vectors_of_sentence_transformers() {
    gives_the_vectors_of_sentence_transformers("xlm-roberta");
}

#[test]
fn what_a_model_is_comes_from_its_files() {
    let of = |name| {
        let model = load(name);
        let info = model.info();
        (info.dimension, info.max_length, info.pooling, info.dtype.clone())
    };
    assert_eq!(of("bert-mean"), (32, 24, "mean", "f32".to_owned()));
    assert_eq!(of("bert-cls"), (24, 40, "cls", "f16".to_owned()), "512 is capped by the positions");
    assert_eq!(of("distilbert"), (24, 24, "mean", "f16".to_owned()));
    assert_eq!(of("roberta"), (24, 40, "cls", "f16".to_owned()), "positions less their offset");
    assert_eq!(of("xlm-roberta"), (24, 24, "mean", "f16".to_owned()), "from tokenizer_config.json");
}

#[test]
fn parameters_are_the_numbers_of_the_weights() {
    let layer = 4 * (32 * 32 + 32) + (32 * 37 + 37) + (37 * 32 + 32) + 4 * 32;
    let model = load("bert-mean");
    assert_eq!(model.info().parameters, (230 + 40 + 2) * 32 + 2 * 32 + 2 * layer);
}

#[test]
fn only_wordpiece_models_without_a_prefix_take_token_ids() {
    assert!(load("bert-mean").as_token_embedder().is_some());
    assert!(load("distilbert").as_token_embedder().is_some());
    assert!(load("roberta").as_token_embedder().is_none());
    assert!(load("xlm-roberta").as_token_embedder().is_none());
    assert!(load("bert-mean").with_text_prefix("passage: ").as_token_embedder().is_none());
}

#[test]
fn joined_token_ids_give_the_vector_of_the_joined_text() {
    let model = load("bert-mean");
    let (left, right) = ("Moss grows on walls.", "Rivers carry sand.");
    let ids = [model.tokenize(left).unwrap(), model.tokenize(right).unwrap()].concat();
    let joined = format!("{left} {right}");
    assert_eq!(model.embed_tokens(&[&ids]).unwrap(), vectors(&model, &[&joined]));
}

#[test]
fn a_text_is_truncated_only_if_the_model_does_not_see_its_end() {
    let model = load("bert-mean");
    let fits = ["q"; 22].join(" ");
    let longer = format!("{fits} x");
    let rows = model.embed(&[&fits, &longer]).unwrap();
    assert_eq!([rows[0].truncated, rows[1].truncated], [false, true]);
    assert_eq!(rows[0].vector, rows[1].vector);
}

#[test]
fn truncation_holds_for_every_tokenizer() {
    for name in ["bert-cls", "distilbert", "roberta", "xlm-roberta"] {
        let model = load(name);
        let max = model.max_tokens();
        let text = ["q"; 60].join(" ");
        let row = &model.embed(&[&text]).unwrap()[0];
        let ids = model.tokenize(&text).unwrap();
        assert!(row.truncated && ids.len() > max, "{name}");
        assert_eq!(row.vector, model.embed_tokens(&[&ids[..max]]).unwrap()[0], "{name}");
    }
}

#[test]
fn text_that_spells_a_special_token_is_plain_text() {
    for (name, special) in
        [("bert-mean", "[SEP]"), ("roberta", "</s>"), ("xlm-roberta", "</s>"), ("xlm-roberta", "<mask>")]
    {
        let model = load(name);
        let frame = tokenizer(&model).framed(&[]);
        let ids = model.tokenize(&format!("sand {special} sand")).unwrap();
        // Id 4 is the mask of all tiny models.
        assert!(ids.iter().all(|id| !frame.contains(id) && *id != 4), "{name}: {ids:?}");
        assert!(ids.len() > 3, "{name}: {ids:?}");
    }
}

#[test]
fn a_tokenizer_file_counts_as_the_model_it_belongs_to() {
    let texts = Expected::read().texts;
    for name in ["bert-mean", "distilbert", "roberta", "xlm-roberta"] {
        let model = load(name);
        let file = TokenizerFile::from_path(tiny(name).join("tokenizer.json")).unwrap();
        for text in texts.iter().map(String::as_str).chain(["a </s> <s> b </s>", "a [SEP] <mask> b"]) {
            assert_eq!(file.count(text).unwrap(), model.count(text).unwrap(), "{name}: {text}");
        }
    }
}

#[test]
fn a_prefix_is_part_of_the_text() {
    let model = load("roberta").with_text_prefix("sand: ").with_query_prefix("Is it true? ");
    let plain = load("roberta");
    assert_eq!(vectors(&model, &["rivers"]), vectors(&plain, &["sand: rivers"]));
    assert_eq!(vectors(&model.queries(), &["rivers"]), vectors(&plain, &["Is it true? rivers"]));
    assert_eq!(vectors(&plain.queries(), &["rivers"]), vectors(&plain, &["rivers"]));
}

#[test]
fn lower_casing_is_done_where_the_model_asks_for_it() {
    let folder = copy_of("roberta");
    fs::write(folder.path().join("sentence_bert_config.json"), r#"{"do_lower_case": true}"#).unwrap();
    let lower = SentenceTransformer::from_folder(folder.path()).unwrap();
    assert_eq!(vectors(&lower, &["SAND"]), vectors(&load("roberta"), &["sand"]));
    assert_ne!(vectors(&load("roberta"), &["SAND"]), vectors(&load("roberta"), &["sand"]));
}

#[test]
fn no_text_gives_no_vector() {
    assert!(load("bert-mean").embed(&[]).unwrap().is_empty());
    assert!(load("bert-mean").embed_tokens(&[]).unwrap().is_empty());
}

#[test]
fn too_many_token_ids_and_unknown_ones_are_errors() {
    let model = load("bert-mean");
    assert!(model.embed_tokens(&[&[5; 22]]).is_ok());
    assert!(matches!(model.embed_tokens(&[&[5; 23]]), Err(EmbeddingError::Encoder(EncoderError::Length { .. }))));
    let unknown = model.embed_tokens(&[&[5], &[230]]);
    assert!(matches!(unknown, Err(EmbeddingError::Encoder(EncoderError::UnknownToken { id: 230, .. }))));
}

#[test]
fn vectors_do_not_depend_on_order_or_batch() {
    let model = load("bert-mean");
    let config = Config { cases: 48, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() };
    let texts = prop::collection::vec("[a-z ]{0,60}", 0..12);
    proptest!(config, |(texts in texts, batch in 0_usize..90)| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alone: Vec<Vec<f32>> = texts.iter().flat_map(|text| vectors(&model, &[text])).collect();
        prop_assert_eq!(vectors(&model.clone().with_batch_tokens(batch), &texts), alone);
    });
}

#[cfg(feature = "bundled")]
mod bundled {
    use super::*;
    use crate::embedding::{Cosine, Similarity, bundled_files};

    #[test]
    fn the_bundled_model_takes_256_tokens_whatever_its_tokenizer_says() {
        let model = SentenceTransformer::bundled().unwrap();
        assert_eq!((model.dimension(), model.info().max_length, model.max_tokens()), (384, 256, 254));
        assert_eq!((model.info().dtype.as_str(), model.info().parameters), ("f16", 22_713_216));
        let text = |words: usize| vec!["tide"; words].join(" ");
        let rows = model.embed(&[&text(200), &text(254), &text(255)]).unwrap();
        assert_eq!(rows.iter().map(|row| row.truncated).collect::<Vec<_>>(), [false, false, true]);
        assert_ne!(rows[0].vector, rows[1].vector);
        assert_eq!(rows[1].vector, rows[2].vector);
    }

    fn in_precision(precision: Precision) -> SentenceTransformer {
        ModelLoader::new(ModelSource::Bundled).with_precision(precision).load().unwrap()
    }

    const TEXTS: [&str; 6] = [
        "Low tide is at noon.",
        "",
        "The harbour master writes every landing of cod and herring into a book that nobody else may open.",
        "SHOUTING, 12.5 % of them; and a colon: here.",
        "Interest rates rose by a quarter of a point.",
        "x",
    ];

    #[test]
    fn vectors_in_8_bits_do_not_depend_on_batch_or_threads() {
        let model = in_precision(Precision::Int8);
        let alone: Vec<Vec<f32>> = TEXTS.iter().flat_map(|text| vectors(&model, &[text])).collect();
        for (batch, threads) in [(1, 1), (40, 2), (8192, 3)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let together = pool.install(|| vectors(&model.clone().with_batch_tokens(batch), &TEXTS));
            assert_eq!(together, alone, "{batch} tokens a batch, {threads} threads");
        }
    }

    #[test]
    fn similarities_in_8_bits_are_near_those_of_floats() {
        let [exact, fast] =
            [Precision::F32, Precision::Int8].map(|precision| vectors(&in_precision(precision), &TEXTS));
        for one in 0..TEXTS.len() {
            for other in 0..one {
                let similarity = |rows: &[Vec<f32>]| Cosine.between(&rows[one], &rows[other]);
                let error = similarity(&fast) - similarity(&exact);
                assert!(error.abs() < 0.03, "{error}: {:?}, {:?}", TEXTS[one], TEXTS[other]);
            }
        }
        assert_ne!(exact, fast);
    }

    #[test]
    fn checked_vectors_are_those_of_floats_and_its_drafts_those_in_8_bits() {
        let [exact, fast, checked] = [Precision::F32, Precision::Int8, Precision::Checked].map(in_precision);
        assert_eq!(vectors(&checked, &TEXTS), vectors(&exact, &TEXTS));
        assert!(exact.as_draft_embedder().is_none() && fast.as_draft_embedder().is_none());
        let Some(draft) = checked.as_draft_embedder() else {
            println!("skipped: this processor is no faster in 8 bits");
            return;
        };
        let ids = TEXTS.map(|text| checked.tokenize(text).unwrap());
        let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
        assert_eq!(draft.draft_tokens(&ids).unwrap(), fast.embed_tokens(&ids).unwrap());
        assert!(matches!(
            draft.draft_tokens(&[&[1; 255]]).unwrap_err(),
            EmbeddingError::Encoder(EncoderError::Length { .. })
        ));
    }

    #[test]
    fn the_bundled_model_is_that_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in bundled_files().unwrap() {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let texts = ["Low tide is at noon.", "", "The tide turns [SEP] twice."];
        let bundled = vectors(&SentenceTransformer::bundled().unwrap(), &texts);
        assert_eq!(bundled, vectors(&SentenceTransformer::from_folder(folder.path()).unwrap(), &texts));
    }
}
