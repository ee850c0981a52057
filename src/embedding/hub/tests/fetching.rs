use super::server::{Fault, Server};
use super::*;
use crate::embedding::{Embedder, ModelLoader, ModelSource, SentenceTransformer};

/// A running hub and an empty cache.
fn hub() -> (Server, TempDir, HubSettings) {
    let server = Server::start();
    let cache = tempfile::tempdir().unwrap();
    let settings = settings(&cache).with_endpoint(&server.endpoint);
    (server, cache, settings)
}

fn fetch(settings: &HubSettings) -> Result<PathBuf, HubError> {
    locate(&id("org/tiny"), settings, &mut nothing)
}

fn assert_is_whole(folder: &Path) {
    for file in WHOLE {
        assert_eq!(fs::read(folder.join(file)).unwrap(), fs::read(tiny("bert-mean").join(file)).unwrap(), "{file}");
    }
}

#[test]
fn a_model_is_fetched_once_and_then_needs_no_network() {
    let (server, _cache, settings) = hub();
    let folder = fetch(&settings).unwrap();
    assert_is_whole(&folder);
    assert!(!server.requests().is_empty());
    assert_eq!(fetch(&settings).unwrap(), folder);
    assert_eq!(fetch(&settings.clone().with_offline(true)).unwrap(), folder);
    assert!(server.requests().is_empty());
    assert_eq!(cached_models(&settings).unwrap()[0].id, id("org/tiny"));
}

#[test]
fn a_fetched_model_gives_the_vectors_of_its_folder() {
    let (_server, _cache, settings) = hub();
    let loader = ModelLoader::new(ModelSource::Hub(id("org/tiny"))).with_hub(settings);
    let texts = ["Rivers carry sand.", ""];
    let model = loader.load().unwrap();
    assert_eq!(model.info().name, "org/tiny");
    let folder = SentenceTransformer::from_folder(tiny("bert-mean")).unwrap();
    assert_eq!(model.embed(&texts).unwrap(), folder.embed(&texts).unwrap());
}

#[test]
fn a_revision_is_fetched_and_found_under_its_name() {
    let (server, _cache, settings) = hub();
    let named = id("org/tiny@v1");
    locate(&named, &settings, &mut nothing).unwrap();
    assert!(server.requests()[0].starts_with("GET /api/models/org/tiny/revision/v1 "));
    assert!(locate(&named, &settings.clone().with_offline(true), &mut nothing).is_ok());
    assert!(fetch(&settings.with_offline(true)).is_err(), "nobody said that main is v1");
}

#[test]
fn progress_runs_up_to_the_size_of_every_file() {
    let (_server, _cache, settings) = hub();
    let mut last = std::collections::BTreeMap::new();
    locate(&id("org/tiny"), &settings, &mut |download| {
        let before = last.insert(download.file.to_owned(), (download.done, download.total));
        assert!(before.is_none_or(|before| before.0 <= download.done));
    })
    .unwrap();
    assert_eq!(last.len(), WHOLE.len());
    for (file, (done, total)) in last {
        assert_eq!((done, total), (total, fs::metadata(tiny("bert-mean").join(file)).unwrap().len()));
    }
}

#[test]
fn files_the_model_lacks_are_remembered_as_absent() {
    let (server, _cache, settings) = hub();
    for file in ["modules.json", "1_Pooling/config.json", "sentence_bert_config.json"] {
        server.remove(file);
    }
    let folder = fetch(&settings).unwrap();
    assert!(!folder.join("modules.json").exists());
    assert_eq!(fetch(&settings.with_offline(true)).unwrap(), folder);
}

#[test]
fn only_files_of_the_model_are_fetched() {
    let (server, _cache, settings) = hub();
    server.add("pytorch_model.bin", b"large");
    server.add("../outside", b"bad");
    fetch(&settings).unwrap();
    assert!(server.requests().iter().all(|request| !request.contains("pytorch") && !request.contains("outside")));
}

#[test]
fn a_download_that_broke_off_is_no_model_and_is_continued() {
    let (server, _cache, settings) = hub();
    server.set(Fault::BreakOff);
    let error = fetch(&settings).unwrap_err();
    assert!(matches!(error, HubError::Unreachable { .. } | HubError::Broken { .. }), "{error:?}");
    assert!(fetch(&settings.clone().with_offline(true)).is_err());
    server.requests();

    server.set(Fault::None);
    assert_is_whole(&fetch(&settings).unwrap());
    let half = fs::metadata(tiny("bert-mean").join("model.safetensors")).unwrap().len() / 2;
    let range = format!("range: bytes={half}-\r\n");
    let requests = server.requests();
    assert!(requests.iter().any(|request| request.to_ascii_lowercase().contains(&range)), "{requests:#?}");
    assert!(requests.iter().all(|request| !request.contains("tokenizer")), "what had arrived is not fetched again");
}

#[test]
fn a_continued_download_that_does_not_fit_is_thrown_away() {
    let (server, _cache, settings) = hub();
    server.set(Fault::BreakOff);
    fetch(&settings).unwrap_err();
    server.set(Fault::IgnoreRanges);
    let error = fetch(&settings).unwrap_err();
    assert!(matches!(&error, HubError::Broken { file, .. } if file == "model.safetensors"), "{error:?}");
    assert_is_whole(&fetch(&settings).unwrap());
}

#[test]
fn a_changed_bit_is_noticed() {
    let (server, _cache, settings) = hub();
    server.set(Fault::FlipBit);
    let error = fetch(&settings).unwrap_err();
    assert!(matches!(&error, HubError::Broken { file, .. } if file == "model.safetensors"), "{error:?}");
    assert!(fetch(&settings.clone().with_offline(true)).is_err());
    server.set(Fault::None);
    assert_is_whole(&fetch(&settings).unwrap());
}

#[test]
fn a_part_as_long_as_the_file_does_not_block_the_download() {
    let (_server, cache, settings) = hub();
    let weights = fs::read(tiny("bert-mean").join("model.safetensors")).unwrap();
    let blobs = cache.path().join("models--org--tiny/blobs");
    fs::create_dir_all(&blobs).unwrap();
    let part = blobs.join(crate::embedding::digest::sha256(&weights)).with_extension("part");
    fs::write(part, vec![0; weights.len()]).unwrap();
    assert_is_whole(&fetch(&settings).unwrap());
}

#[test]
fn files_of_another_commit_are_refused() {
    let (server, _cache, settings) = hub();
    server.set(Fault::OtherCommit);
    assert!(matches!(fetch(&settings), Err(HubError::Broken { .. })));
}

#[test]
fn a_model_without_tokenizer_or_weights_is_an_error_that_says_so() {
    for file in ["tokenizer.json", "model.safetensors"] {
        let (server, _cache, settings) = hub();
        server.remove(file);
        let error = fetch(&settings).unwrap_err();
        assert!(matches!(&error, HubError::Missing { file: missing, .. } if missing == file), "{error:?}");
    }
}

#[test]
fn an_unknown_model_is_an_error_that_names_the_token() {
    for status in [401, 403, 404] {
        let (server, _cache, settings) = hub();
        server.set(Fault::Refuse(status));
        let error = fetch(&settings).unwrap_err();
        assert!(matches!(error, HubError::Refused { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("HF_TOKEN") && message.contains(&status.to_string()), "{message}");
    }
}

#[test]
fn the_token_is_sent_to_the_hub() {
    let (server, _cache, settings) = hub();
    fetch(&settings.with_token(Some("hf_test".into()))).unwrap();
    assert!(server.requests()[0].to_ascii_lowercase().contains("authorization: bearer hf_test\r\n"));
}

#[test]
fn no_token_sends_no_authorization() {
    let (server, _cache, settings) = hub();
    fetch(&settings).unwrap();
    assert!(server.requests().iter().all(|request| !request.to_ascii_lowercase().contains("authorization")));
}

#[test]
fn a_hub_out_of_reach_is_an_error_that_names_the_folder_option() {
    let cache = tempfile::tempdir().unwrap();
    let error = fetch(&settings(&cache)).unwrap_err();
    assert!(matches!(error, HubError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("a folder with its config.json"), "{error}");
}

#[test]
fn an_address_that_is_none_is_an_error() {
    let cache = tempfile::tempdir().unwrap();
    for endpoint in ["", "nowhere", "http://", "ftp://127.0.0.1"] {
        let error = fetch(&settings(&cache).with_endpoint(endpoint)).unwrap_err();
        assert!(matches!(error, HubError::Unreachable { .. }), "{endpoint}: {error:?}");
    }
}
