//! The special tokens that a model wants around its input.
//!
//! Counts and bare ids leave them out; only what feeds a model asks for them.

/// Ids before and behind those of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) before: Vec<u32>,
    pub(crate) after: Vec<u32>,
}

impl Frame {
    /// How many special tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The input of a model: bare ids within their special tokens.
    pub(crate) fn around(&self, ids: &[u32]) -> Vec<u32> {
        [&self.before, ids, &self.after].concat()
    }
}
