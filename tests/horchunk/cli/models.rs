//! `horchunk models`, and models of the cache.

use std::fs;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{Folder, repository};

const COMMIT: &str = "5f0c3d0a9be1f5a2d1d6d0f0a3c4b5968778695a";

#[test]
fn the_bundled_model_is_listed_and_is_what_it_should_be() {
    let folder = Folder::new();
    let list = folder.out("models");
    assert!(list.starts_with("all-MiniLM-L6-v2 ") && list.contains(" MB ") && list.contains("bundled"), "{list}");
    let rows: Value = serde_json::from_str(&folder.out("models --json")).unwrap();
    assert_eq!((&rows[0]["name"], &rows[0]["place"]), (&"all-MiniLM-L6-v2".into(), &"bundled".into()));
    assert!(rows[0]["bytes"].as_u64().unwrap() > 40_000_000);
    assert_eq!((&rows[1]["name"], &rows[1]["place"]), (&"static-MiniLM-L6-v2".into(), &"static".into()));
    assert!(rows[1]["bytes"].as_u64().unwrap() < 8_000_000);
    assert_eq!(folder.out("models verify"), "bundled: ok\nstatic: ok\n");
}

/// Puts the small model into the cache as programs of the hub do, the weights as a link to a blob named by its sum.
#[cfg(unix)]
fn cache_model(folder: &Folder) -> String {
    let model = repository("tests/fixtures/models/bert-mean");
    let snapshot = format!("hf/hub/models--org--tiny/snapshots/{COMMIT}");
    for name in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        folder.write(&format!("{snapshot}/{name}"), fs::read(model.join(name)).unwrap());
    }
    let weights = fs::read(model.join("model.safetensors")).unwrap();
    let sum: String = Sha256::digest(&weights).iter().map(|byte| format!("{byte:02x}")).collect();
    let blob = format!("hf/hub/models--org--tiny/blobs/{sum}");
    folder.write(&blob, weights);
    std::os::unix::fs::symlink(folder.path(&blob), folder.path(&format!("{snapshot}/model.safetensors"))).unwrap();
    folder.write("hf/hub/models--org--tiny/refs/main", COMMIT);
    blob
}

#[cfg(unix)]
#[test]
fn a_model_of_the_cache_is_listed_verified_and_used_without_a_network() {
    let folder = Folder::with([("a.txt", "Low tide. High tide.")]);
    cache_model(&folder);
    assert!(folder.out("models").contains("\norg/tiny "));
    assert_eq!(folder.out("models verify"), "bundled: ok\nstatic: ok\norg/tiny: ok\n");
    let by_id = folder.records("chunk a.txt --model org/tiny --embeddings");
    let by_folder = folder.records(&format!(
        "chunk a.txt --model {} --embeddings",
        repository("tests/fixtures/models/bert-mean").display()
    ));
    assert_eq!(by_id, by_folder);
}

#[cfg(unix)]
#[test]
fn weights_with_another_sum_are_found() {
    let folder = Folder::new();
    let blob = cache_model(&folder);
    let mut weights = fs::read(folder.path(&blob)).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    folder.write(&blob, weights);
    let ran = folder.run("models verify");
    ran.complains(1, &["org/tiny", "model.safetensors", "SHA-256"]);
    assert_eq!(ran.out, "bundled: ok\nstatic: ok\n");
}
