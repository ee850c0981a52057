//! The models inside this crate: all-MiniLM-L6-v2 in f16 (English, 384 dimensions, 256 tokens), and the static model
//! that was distilled from it.
//!
//! `models/*/ORIGIN.md` say where the files come from and how they were made. Without the feature `bundled` the
//! functions are there all the same and answer with a typed error.

#[cfg(not(feature = "bundled"))]
#[path = "bundled/absent.rs"]
mod files;
#[cfg(feature = "bundled")]
#[path = "bundled/present.rs"]
mod files;

use super::ModelError;
use super::digest::sha256;
use super::folder::WEIGHTS;

/// Name of the bundled encoder, as records and reports carry it.
pub(crate) const NAME: &str = "all-MiniLM-L6-v2";

/// Name of the bundled static model.
pub(crate) const STATIC_NAME: &str = "static-MiniLM-L6-v2";

/// A file of a bundled model: its name within the folder, and its bytes.
pub type BundledFile = (&'static str, &'static [u8]);

/// A model inside this crate.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) name: &'static str,
    pub(super) files: &'static [BundledFile],
    /// The sums of its own files, as `sha256sum` writes them.
    sums: &'static str,
}

impl Bundle {
    /// The encoder.
    pub(super) fn encoder() -> Result<&'static Self, ModelError> {
        files::encoder()
    }

    /// The static model.
    pub(super) fn table() -> Result<&'static Self, ModelError> {
        files::table()
    }

    fn verify(&self) -> Result<(), ModelError> {
        for (name, expected) in self.sums.lines().filter_map(sum_line) {
            let bytes = self.files.iter().find(|file| file.0 == name).map_or(&[][..], |file| file.1);
            let found = sha256(bytes);
            if found != expected {
                return Err(ModelError::Checksum { path: name.into(), expected: expected.to_owned(), found });
            }
        }
        Ok(())
    }

    /// The recorded SHA-256 sum of the weights.
    pub(super) fn weights_sha256(&self) -> String {
        let sum = self.sums.lines().filter_map(sum_line).find(|(name, _)| *name == WEIGHTS);
        sum.map(|(_, sum)| sum.to_owned()).unwrap_or_default()
    }
}

/// The files of the bundled encoder.
///
/// # Errors
///
/// [`ModelError::NotCompiled`] in a build without the feature `bundled`.
pub fn bundled_files() -> Result<&'static [BundledFile], ModelError> {
    Ok(Bundle::encoder()?.files)
}

/// The files of the bundled static model; its tokenizer is the encoder's.
///
/// # Errors
///
/// [`ModelError::NotCompiled`] in a build without the feature `bundled`.
pub fn static_files() -> Result<&'static [BundledFile], ModelError> {
    Ok(Bundle::table()?.files)
}

/// Compares the files of the bundled encoder with the SHA-256 sums recorded beside them.
///
/// # Errors
///
/// [`ModelError::Checksum`] for the first file that differs, [`ModelError::NotCompiled`] in a build without the
/// feature `bundled`.
pub fn verify_bundled() -> Result<(), ModelError> {
    Bundle::encoder()?.verify()
}

/// Compares the files of the bundled static model with the SHA-256 sums recorded beside them; [`verify_bundled`] looks
/// at the tokenizer.
///
/// # Errors
///
/// As [`verify_bundled`].
pub fn verify_static() -> Result<(), ModelError> {
    Bundle::table()?.verify()
}

/// File name and sum of a line that `sha256sum` wrote.
fn sum_line(line: &str) -> Option<(&str, &str)> {
    line.split_once("  ").map(|(sum, name)| (name, sum))
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use super::super::folder::TOKENIZER;
    use super::*;

    #[test]
    fn the_bundled_files_are_those_recorded() {
        verify_bundled().unwrap();
        verify_static().unwrap();
    }

    #[test]
    fn every_bundled_file_has_a_recorded_sum() {
        for (bundle, shared) in [(Bundle::encoder().unwrap(), ""), (Bundle::table().unwrap(), TOKENIZER)] {
            let mut recorded: Vec<&str> = bundle.sums.lines().filter_map(sum_line).map(|(name, _)| name).collect();
            let mut bundled: Vec<&str> =
                bundle.files.iter().map(|file| file.0).filter(|&name| name != shared).collect();
            recorded.sort_unstable();
            bundled.sort_unstable();
            assert_eq!(recorded, bundled, "{}", bundle.name);
        }
    }

    #[test]
    fn both_models_have_one_tokenizer_in_one_place() {
        let tokenizer = |files: &[BundledFile]| files.iter().find(|file| file.0 == TOKENIZER).unwrap().1.as_ptr();
        assert_eq!(tokenizer(static_files().unwrap()), tokenizer(bundled_files().unwrap()));
    }
}

#[cfg(all(test, not(feature = "bundled")))]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_the_models_says_which_feature_has_them() {
        for error in [verify_bundled().unwrap_err(), verify_static().unwrap_err()] {
            let message = error.to_string();
            assert!(message.contains("feature `bundled`"), "{message}");
        }
    }
}
