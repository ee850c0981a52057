//! The model inside this crate: all-MiniLM-L6-v2 in f16, English, 384 dimensions, 256 tokens.
//!
//! `models/all-minilm-l6-v2/ORIGIN.md` says where the files come from and how the weights were rounded. Without the
//! feature `bundled` the functions are there all the same and answer with a typed error.

#[cfg(not(feature = "bundled"))]
#[path = "bundled/absent.rs"]
mod files;
#[cfg(feature = "bundled")]
#[path = "bundled/present.rs"]
mod files;

use super::ModelError;
use super::digest::sha256;
use super::folder::WEIGHTS;

/// Name of the bundled model, as records and reports carry it.
pub(crate) const NAME: &str = "all-MiniLM-L6-v2";

/// A file of the bundled model: its name within the folder, and its bytes.
pub type BundledFile = (&'static str, &'static [u8]);

/// The files of the bundled model.
///
/// # Errors
///
/// [`ModelError::NotCompiled`] in a build without the feature `bundled`.
pub fn bundled_files() -> Result<&'static [BundledFile], ModelError> {
    files::files()
}

/// Compares the bundled files with the SHA-256 sums recorded beside them.
///
/// # Errors
///
/// [`ModelError::Checksum`] for the first file that differs, [`ModelError::NotCompiled`] in a build without the
/// feature `bundled`.
pub fn verify_bundled() -> Result<(), ModelError> {
    let files = files::files()?;
    for (name, expected) in files::SUMS.lines().filter_map(sum_line) {
        let bytes = files.iter().find(|file| file.0 == name).map_or(&[][..], |file| file.1);
        let found = sha256(bytes);
        if found != expected {
            return Err(ModelError::Checksum { path: name.into(), expected: expected.to_owned(), found });
        }
    }
    Ok(())
}

/// The recorded SHA-256 sum of the bundled weights.
pub(super) fn weights_sha256() -> Result<String, ModelError> {
    files::files()?;
    let sum = files::SUMS.lines().filter_map(sum_line).find(|(name, _)| *name == WEIGHTS);
    Ok(sum.map(|(_, sum)| sum.to_owned()).unwrap_or_default())
}

/// File name and sum of a line that `sha256sum` wrote.
fn sum_line(line: &str) -> Option<(&str, &str)> {
    line.split_once("  ").map(|(sum, name)| (name, sum))
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_files_are_those_recorded() {
        verify_bundled().unwrap();
    }

    #[test]
    fn every_bundled_file_has_a_recorded_sum() {
        let mut recorded: Vec<&str> = files::SUMS.lines().filter_map(sum_line).map(|(name, _)| name).collect();
        let mut bundled: Vec<&str> = bundled_files().unwrap().iter().map(|file| file.0).collect();
        recorded.sort_unstable();
        bundled.sort_unstable();
        assert_eq!(recorded, bundled);
    }
}

#[cfg(all(test, not(feature = "bundled")))]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_the_model_says_which_feature_has_it() {
        let message = verify_bundled().unwrap_err().to_string();
        assert!(message.contains("feature `bundled`"), "{message}");
    }
}
