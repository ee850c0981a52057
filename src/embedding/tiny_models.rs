//! The tiny models of `tests/fixtures/models`, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tempfile::TempDir;

/// Folder of a tiny model.
pub(super) fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models").join(name)
}

/// A copy of a tiny model, free to be spoilt.
pub(super) fn copy_of(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&tiny(name), folder.path());
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Texts, and the vectors sentence-transformers gives them.
#[derive(Deserialize)]
pub(super) struct Expected {
    pub texts: Vec<String>,
    pub vectors: BTreeMap<String, Vec<Vec<f32>>>,
}

impl Expected {
    pub(super) fn read() -> Self {
        serde_json::from_slice(&fs::read(tiny("vectors.json")).unwrap()).unwrap()
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }
}

/// Fails unless all numbers of two lists of vectors agree to 1e-5.
#[track_caller]
pub(super) fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len());
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "vector {row} is off by {worst}: {found:?} in the place of {expected:?}");
    }
}
