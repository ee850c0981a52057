use std::cell::RefCell;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::embedding::tiny_models::tiny;

#[cfg(feature = "hub")]
mod fetching;
#[cfg(feature = "hub")]
mod server;

const COMMIT: &str = "00112233445566778899aabbccddeeff00112233";

fn id(text: &str) -> HubId {
    text.parse().unwrap()
}

fn nothing(_: Download<'_>) {}

/// Settings for a cache of its own and a hub nobody answers for.
fn settings(cache: &TempDir) -> HubSettings {
    HubSettings::from_vars(|_| None, None).with_cache(cache.path()).with_endpoint("http://127.0.0.1:9")
}

/// Puts a model into the cache as other programs do: `refs`, `snapshots`, and `.no_exist` for `absent`.
fn put_into_cache(cache: &Path, files: &[&str], absent: &[&str]) {
    let repository = cache.join("models--org--tiny");
    let write = |path: &str, bytes: &[u8]| {
        let path = repository.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("refs/main", COMMIT.as_bytes());
    for file in files {
        write(&format!("snapshots/{COMMIT}/{file}"), &fs::read(tiny("bert-mean").join(file)).unwrap());
    }
    absent.iter().for_each(|file| write(&format!(".no_exist/{COMMIT}/{file}"), b""));
}

const WHOLE: [&str; 7] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
];

#[test]
fn ids_are_org_name_and_revision() {
    for text in ["org/name", "BAAI/bge-small-en-v1.5", "a/b@v1", "a/b@refs/pr/3"] {
        assert_eq!(id(text).to_string(), text);
    }
    assert_eq!(id("a/b@main"), id("a/b"));
}

#[test]
fn ids_that_could_leave_the_cache_or_the_address_are_refused() {
    for text in
        ["", "name", "/name", "org/", "a/b/c", "../b", "a/..", "a/b@", "a/b@../c", "a/b@/c", "a b/c", "a/b?c", "ä/b"]
    {
        assert!(matches!(text.parse::<HubId>(), Err(HubError::Id { .. })), "{text}");
    }
}

/// Settings from a list of variables, for a user whose home is `/home/u`.
fn from_vars(vars: &[(&str, &str)]) -> HubSettings {
    let var = |name: &str| vars.iter().find(|var| var.0 == name).map(|var| var.1.to_owned());
    HubSettings::from_vars(var, Some("/home/u".into()))
}

#[test]
fn the_cache_is_where_the_environment_says() {
    let cache = |vars: &[(&str, &str)]| from_vars(vars).cache().to_owned();
    assert_eq!(cache(&[]), Path::new("/home/u/.cache/huggingface/hub"));
    assert_eq!(cache(&[("XDG_CACHE_HOME", "/x")]), Path::new("/x/huggingface/hub"));
    assert_eq!(cache(&[("HF_HOME", "/h"), ("XDG_CACHE_HOME", "/x")]), Path::new("/h/hub"));
    assert_eq!(cache(&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/h")]), Path::new("/c"));
    assert_eq!(cache(&[("HF_HUB_CACHE", ""), ("HF_HOME", " ")]), Path::new("/home/u/.cache/huggingface/hub"));
}

#[test]
fn endpoint_offline_and_token_come_from_the_environment() {
    assert_eq!(from_vars(&[]).endpoint, "https://huggingface.co");
    assert_eq!(from_vars(&[("HF_ENDPOINT", "http://mirror/")]).endpoint, "http://mirror");
    for (value, offline) in [("1", true), ("TRUE", true), ("yes", true), ("on", true), ("0", false), ("", false)] {
        assert_eq!(from_vars(&[("HF_HUB_OFFLINE", value)]).offline, offline, "{value:?}");
    }
    let home = tempfile::tempdir().unwrap();
    let hf_home = ("HF_HOME", home.path().to_str().unwrap());
    assert_eq!(from_vars(&[hf_home]).token, None);
    fs::write(home.path().join("token"), "saved\n").unwrap();
    assert_eq!(from_vars(&[hf_home]).token.as_deref(), Some("saved"));
    assert_eq!(from_vars(&[hf_home, ("HF_TOKEN", "given")]).token.as_deref(), Some("given"));
}

#[test]
fn the_token_is_not_in_debug_output() {
    let settings = from_vars(&[("HF_TOKEN", "hf_secret")]);
    assert!(!format!("{settings:?}").contains("hf_secret"));
}

#[test]
fn a_model_in_the_cache_needs_no_network() {
    let cache = tempfile::tempdir().unwrap();
    put_into_cache(cache.path(), &WHOLE, &[]);
    let calls = RefCell::new(0);
    let mut count = |_: Download<'_>| *calls.borrow_mut() += 1;
    let snapshot = cache.path().join("models--org--tiny/snapshots").join(COMMIT);
    for name in ["org/tiny".to_owned(), format!("org/tiny@{COMMIT}")] {
        assert_eq!(locate(&id(&name), &settings(&cache), &mut count).unwrap(), snapshot);
        assert_eq!(locate(&id(&name), &settings(&cache).with_offline(true), &mut count).unwrap(), snapshot);
    }
    assert_eq!(*calls.borrow(), 0);
}

#[test]
fn a_snapshot_counts_only_when_everything_about_it_is_known() {
    for missing in WHOLE {
        let cache = tempfile::tempdir().unwrap();
        let files: Vec<&str> = WHOLE.into_iter().filter(|file| *file != missing).collect();
        put_into_cache(cache.path(), &files, &[]);
        assert_eq!(cache::find(&id("org/tiny"), &settings(&cache)), None, "without {missing}");
        put_into_cache(cache.path(), &files, &[missing]);
        let optional = cache::OPTIONAL.contains(&missing);
        let found = cache::find(&id("org/tiny"), &settings(&cache)).is_some();
        assert_eq!(found, optional, "with {missing} known to be absent");
    }
}

#[test]
fn offline_without_the_model_is_an_error_that_names_the_folder_option() {
    let cache = tempfile::tempdir().unwrap();
    let error = locate(&id("org/tiny"), &settings(&cache).with_offline(true), &mut nothing).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, HubError::Offline { .. }));
    assert!(message.contains("org/tiny") && message.contains("a folder with its config.json"), "{message}");
}

#[test]
fn the_cache_lists_its_complete_models_once() {
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(cached_models(&settings(&cache).with_cache(cache.path().join("none"))).unwrap(), []);
    put_into_cache(cache.path(), &WHOLE, &[]);
    fs::write(cache.path().join("models--org--tiny/refs").join(COMMIT), COMMIT).unwrap();
    fs::create_dir_all(cache.path().join("models--org--half/snapshots/abc")).unwrap();
    fs::create_dir_all(cache.path().join("datasets--org--data/snapshots/abc")).unwrap();
    fs::write(cache.path().join("version.txt"), "1").unwrap();
    let models = cached_models(&settings(&cache)).unwrap();
    let bytes = fs::metadata(tiny("bert-mean").join("model.safetensors")).unwrap().len();
    assert_eq!(models.len(), 1);
    assert_eq!((models[0].id.to_string(), models[0].bytes), ("org/tiny".to_owned(), bytes));
}

#[cfg(not(feature = "hub"))]
#[test]
fn a_build_that_cannot_fetch_says_so() {
    let cache = tempfile::tempdir().unwrap();
    let error = locate(&id("org/tiny"), &settings(&cache), &mut nothing).unwrap_err();
    assert!(matches!(error, HubError::NotCompiled { .. }));
    assert!(error.to_string().contains("feature `hub`"));
}
