//! The name of an entry: a hash of all that the value depends on.

use sha2::{Digest, Sha256};

use crate::embedding::hex;

/// Names a value by everything that it depends on.
///
/// It is SHA-256 over this crate's version and the parts, each behind its length, so that no two lists of parts look
/// alike: `["ab", "c"]` is another key than `["a", "bc"]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheKey(String);

impl CacheKey {
    /// The key of these parts, in this order. The first should say what kind of value it is.
    #[must_use]
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        Self::of_version(env!("CARGO_PKG_VERSION"), parts)
    }

    pub(super) fn of_version<P: AsRef<[u8]>>(version: &str, parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = Sha256::new();
        let mut add = |part: &[u8]| {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(version.as_bytes());
        parts.into_iter().for_each(|part| add(part.as_ref()));
        Self(hex(&hasher.finalize()))
    }

    /// The hash in 64 hexadecimal digits.
    pub(super) fn hex(&self) -> &str {
        &self.0
    }
}
