//! The heads against transformers and sentence-transformers; `tests/fixtures/heads/make.py` made what they expect.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::TensorView;
use serde::Deserialize;
use tempfile::TempDir;

use super::cross::kept;
use crate::embedding::tiny_models::tiny;
use crate::embedding::{EmbeddingError, ModelError, ModelLoader, ModelSource};

#[derive(Deserialize)]
struct Expected {
    questions: Vec<String>,
    texts: Vec<String>,
    context: String,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
struct Model {
    scores: Vec<Vec<f32>>,
    /// Logits of the first token and of those of the text, window by window.
    windows: Vec<Vec<[f32; 2]>>,
    answer: String,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/heads")
}

fn expected() -> Expected {
    serde_json::from_slice(&fs::read(fixtures().join("logits.json")).unwrap()).unwrap()
}

/// A folder of the tiny model `name` that says it has the head `head`.
fn model(name: &str, head: &str) -> (TempDir, ModelLoader<'static>) {
    let folder = tempfile::tempdir().unwrap();
    let config = fs::read_to_string(fixtures().join(name).join("config.json")).unwrap();
    fs::write(folder.path().join("config.json"), config.replace("ForSequenceClassification", head)).unwrap();
    let weights = "model.safetensors";
    fs::copy(fixtures().join(name).join(weights), folder.path().join(weights)).unwrap();
    let source = if name == "bert" { "bert-cls" } else { name };
    fs::copy(tiny(source).join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    let loader = ModelLoader::new(ModelSource::Folder(folder.path().to_owned()));
    (folder, loader)
}

/// Gives the tensors whose names hold `part` twice as many rows.
fn double(folder: &Path, part: &str, rows: impl Fn(&[u8]) -> Vec<u8>) {
    let path = folder.join("model.safetensors");
    let file = fs::read(&path).unwrap();
    let tensors = SafeTensors::deserialize(&file).unwrap();
    let doubled: Vec<_> = tensors
        .tensors()
        .into_iter()
        .map(|(name, tensor)| {
            let (mut shape, mut data) = (tensor.shape().to_vec(), tensor.data().to_vec());
            if name.contains(part) {
                shape[0] *= 2;
                data = rows(&data);
            }
            (name, tensor.dtype(), shape, data)
        })
        .collect();
    let views =
        doubled.iter().map(|(name, dtype, shape, data)| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
}

#[test]
fn scores_are_those_of_sentence_transformers_for_pairs_of_any_length() {
    let Expected { questions, texts, models, .. } = expected();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (name, expected) in models {
        let (_folder, loader) = model(&name, "ForSequenceClassification");
        let cross = loader.load_cross_encoder().unwrap();
        for (question, expected) in questions.iter().zip(expected.scores) {
            let found = cross.scores(question, &texts).unwrap();
            let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{name}: off by {worst}: {found:?} in the place of {expected:?}");
        }
    }
}

#[test]
fn answers_and_their_logits_are_those_of_transformers_in_every_window() {
    let Expected { questions, context, models, .. } = expected();
    for (name, expected) in models {
        let (_folder, loader) = model(&name, "ForQuestionAnswering");
        let answerer = loader.load_question_answerer().unwrap().with_min_margin(f32::NEG_INFINITY);
        let (ids, _) = answerer.pairs().tokenizer.ids_with_bytes(&context).unwrap();
        let windows = answerer.windows(&questions[0], &ids).unwrap();
        assert!(windows.len() > 1);
        assert_eq!(windows.len(), expected.windows.len(), "{name}");
        for (window, expected) in windows.iter().zip(&expected.windows) {
            assert_eq!(window.logits.len() + 1, expected.len(), "{name}");
            let found = [window.null].into_iter().chain(window.logits.iter().copied()).flatten();
            let worst = found.zip(expected.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{name}: off by {worst}");
        }
        let answer = answerer.answer(&questions[0], &context).unwrap().unwrap();
        assert_eq!(context[answer.span.start()..answer.span.end()], expected.answer, "{name}");
        assert!((0.0..=1.0).contains(&answer.score));
        assert_eq!(answerer.best(&questions[0], &context).unwrap(), Some(answer));
        let strict = answerer.with_min_margin(f32::INFINITY);
        assert_eq!(strict.answer(&questions[0], &context).unwrap(), None);
    }
}

#[test]
fn an_answer_never_cuts_a_character_and_text_is_never_a_special_token() {
    let context = "Né 🙂🙃 漢字 façade Čaj ñandú. ".repeat(5) + "[SEP] </s> [CLS] <s>";
    for name in ["bert", "distilbert", "roberta"] {
        let (_folder, loader) = model(name, "ForQuestionAnswering");
        let answerer = loader.load_question_answerer().unwrap().with_max_answer_tokens(1);
        for question in ["What is it?", "Né 🙃?", "[SEP] </s>"] {
            let answer = answerer.best(question, &context).unwrap().unwrap();
            assert!(!context[answer.span].trim().is_empty());
        }
        let special = &answerer.pairs().frame;
        let (ids, bytes) = answerer.pairs().tokenizer.ids_with_bytes(&context).unwrap();
        assert!(!ids.iter().any(|id| special.before.contains(id) || special.after.contains(id)), "{name}");
        assert!(bytes.iter().all(|span| span.end() <= context.len()), "{name}");
        assert!(bytes.windows(2).all(|pair| pair[0].start() <= pair[1].start()), "{name}");
    }
}

#[test]
fn of_two_labels_the_second_is_yes() {
    let Expected { questions, texts, .. } = expected();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (folder, loader) = model("bert", "ForSequenceClassification");
    let one = loader.load_cross_encoder().unwrap().scores(&questions[0], &texts).unwrap();

    // The same weights with a first label whose logit is always 0.
    double(folder.path(), "classifier.", |row| [vec![0; row.len()], row.to_vec()].concat());
    let two = ModelLoader::new(ModelSource::Folder(folder.path().to_owned())).load_cross_encoder().unwrap();
    for (logit, found) in one.iter().zip(two.scores(&questions[0], &texts).unwrap()) {
        assert!((1.0 / (1.0 + (-logit).exp()) - found).abs() < 1e-6, "{logit}: {found}");
    }
}

#[test]
fn xlm_roberta_is_roberta_and_heeds_no_second_type() {
    let Expected { questions, texts, context, .. } = expected();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let change = |folder: &Path| {
        let path = folder.join("config.json");
        let config = fs::read_to_string(&path).unwrap();
        let config = config.replace("Roberta", "XLMRoberta").replace("\"roberta\"", "\"xlm-roberta\"");
        fs::write(&path, config.replace("\"type_vocab_size\":1", "\"type_vocab_size\":2")).unwrap();
        double(folder, "token_type_embeddings", |row| [row, &row[2..], &row[..2]].concat());
        ModelLoader::new(ModelSource::Folder(folder.to_owned()))
    };
    let (folder, plain) = model("roberta", "ForSequenceClassification");
    let plain = plain.load_cross_encoder().unwrap().scores(&questions[0], &texts).unwrap();
    let changed = change(folder.path()).load_cross_encoder().unwrap();
    assert_eq!(changed.scores(&questions[0], &texts).unwrap(), plain);

    let (folder, plain) = model("roberta", "ForQuestionAnswering");
    let plain = plain.load_question_answerer().unwrap().best(&questions[0], &context).unwrap();
    let changed = change(folder.path()).load_question_answerer().unwrap();
    assert_eq!(changed.best(&questions[0], &context).unwrap(), plain);
}

#[test]
fn neighbouring_windows_share_the_stride_and_cover_the_text() {
    let Expected { questions, context, .. } = expected();
    let (_folder, loader) = model("bert", "ForQuestionAnswering");
    let mut answerer = loader.load_question_answerer().unwrap();
    let ids = answerer.pairs().tokenizer.ids(&context).unwrap();
    let room = answerer.windows(&questions[0], &ids).unwrap()[0].tokens.len();
    for (stride, shared) in [(0, 0), (3, 3), (room / 2, room / 2), (usize::MAX, room / 2)] {
        answerer = answerer.with_stride(stride);
        let windows = answerer.windows(&questions[0], &ids).unwrap();
        assert_eq!(windows[0].tokens, 0..room);
        for pair in windows.windows(2) {
            assert_eq!(pair[1].tokens.start, pair[0].tokens.end - shared);
            assert!(pair[1].tokens.end > pair[0].tokens.end);
        }
        assert_eq!(windows.last().unwrap().tokens.end, ids.len());
    }
}

#[test]
fn a_question_without_room_for_a_text_is_an_error_and_an_empty_text_has_no_answer() {
    let (_folder, loader) = model("bert", "ForQuestionAnswering");
    let answerer = loader.load_question_answerer().unwrap();
    let error = answerer.answer(&"why ".repeat(99), "because").unwrap_err();
    assert!(matches!(error, EmbeddingError::Question { max: 36, .. }), "{error}");
    assert_eq!(answerer.answer("why", "").unwrap(), None);

    let (folder, loader) = model("bert", "ForQuestionAnswering");
    fs::write(folder.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 3}"#).unwrap();
    let error = loader.load_question_answerer().unwrap().answer("", "because").unwrap_err();
    assert!(matches!(error, EmbeddingError::Question { tokens: 0, max: 0 }), "{error}");
}

#[test]
fn a_model_too_short_for_any_text_refuses_every_question() {
    let (folder, loader) = model("bert", "ForQuestionAnswering");
    for (length, max) in [(4, 0), (3, 0), (1, 0)] {
        let limit = format!("{{\"max_seq_length\": {length}}}");
        fs::write(folder.path().join("sentence_bert_config.json"), limit).unwrap();
        let loader = ModelLoader::new(ModelSource::Folder(folder.path().to_owned()));
        let error = loader.load_question_answerer().unwrap().best("why", "because").unwrap_err();
        assert!(matches!(error, EmbeddingError::Question { max: found, .. } if found == max), "{length}: {error}");
    }
    fs::write(folder.path().join("sentence_bert_config.json"), "{\"max_seq_length\": 3}").unwrap();
    assert!(matches!(
        loader.load_question_answerer().unwrap().best("", "because"),
        Err(EmbeddingError::Question { .. })
    ));
}

#[test]
fn a_text_is_read_the_same_whatever_windows_are_computed_beside_it() {
    let Expected { questions, texts, context, .. } = expected();
    let texts: Vec<&str> = texts.iter().map(String::as_str).cycle().take(70).collect();
    for name in ["bert", "distilbert", "roberta"] {
        let (_folder, loader) = model(name, "ForSequenceClassification");
        let cross = loader.load_cross_encoder().unwrap();
        let together = cross.scores(&questions[0], &texts).unwrap();
        let alone: Vec<f32> = texts.iter().flat_map(|text| cross.scores(&questions[0], &[text]).unwrap()).collect();
        assert_eq!(together, alone, "{name}");

        let (_folder, loader) = model(name, "ForQuestionAnswering");
        let answerer = loader.load_question_answerer().unwrap();
        let (ids, _) = answerer.pairs().tokenizer.ids_with_bytes(&context.repeat(9)).unwrap();
        let windows = answerer.windows(&questions[0], &ids).unwrap();
        assert!(windows.len() > super::TOGETHER, "{name}: {}", windows.len());
        for window in windows {
            let part = &ids[window.tokens.clone()];
            let alone = answerer.windows(&questions[0], part).unwrap();
            assert_eq!((alone.len(), &alone[0].logits, alone[0].null), (1, &window.logits, window.null), "{name}");
        }
    }
}

#[test]
fn a_model_without_the_head_says_what_it_is() {
    let (_folder, loader) = model("bert", "ForQuestionAnswering");
    let error = loader.load_cross_encoder().unwrap_err();
    assert!(error.to_string().contains("BertForQuestionAnswering"), "{error}");
    let loader = ModelLoader::new(ModelSource::Folder(tiny("bert-cls")));
    assert!(matches!(loader.load_question_answerer(), Err(ModelError::Unsupported { .. })));
    let (folder, loader) = model("distilbert", "ForQuestionAnswering");
    fs::copy(tiny("distilbert").join("model.safetensors"), folder.path().join("model.safetensors")).unwrap();
    assert!(matches!(loader.load_question_answerer(), Err(ModelError::Weights { .. })));
}

#[test]
fn the_longer_text_of_a_pair_is_cut_first() {
    assert_eq!(kept(3, 4, 7), (3, 4));
    assert_eq!(kept(3, 9, 7), (3, 4));
    assert_eq!(kept(9, 2, 7), (5, 2));
    assert_eq!(kept(9, 8, 7), (4, 3));
    assert_eq!(kept(8, 8, 7), (3, 4));
}
