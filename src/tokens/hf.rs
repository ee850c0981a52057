//! Any Hugging Face `tokenizer.json`, counted by the crate `tokenizers`.
//!
//! Only counts are offered. What the file says on truncation and padding is switched off, special tokens
//! are neither added nor looked for in a text.
//!
//! Where that crate cuts texts with a regular expression, the engine gives up on a run of a million white
//! space characters and the crate goes on without saying so, its count then being wrong. Such runs are an
//! error here.

use std::fmt;
use std::path::Path;

use tokenizers::{PreTokenizerWrapper, Tokenizer};

use super::{TokenCounter, TokenError};

/// A tokenizer of any kind, from its `tokenizer.json`.
///
/// ```no_run
/// use horchunk::{TokenCounter, TokenizerFile};
///
/// let counter = TokenizerFile::from_path("my-model/tokenizer.json")?;
/// assert_eq!(counter.name(), "my-model/tokenizer.json");
/// println!("{} tokens", counter.count("Low tide is at noon.")?);
/// # Ok::<(), horchunk::TokenError>(())
/// ```
pub struct TokenizerFile {
    name: String,
    tokenizer: Tokenizer,
    uses_regex: bool,
}

impl TokenizerFile {
    /// Reads a `tokenizer.json`; the counter has the path as its name.
    ///
    /// # Errors
    ///
    /// [`TokenError::Load`] if the file cannot be read or describes no tokenizer.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TokenError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| TokenError::load(path, e))?;
        Self::from_bytes(&path.to_string_lossy(), &bytes)
    }

    /// Reads the contents of a `tokenizer.json`; the counter is named `name`.
    ///
    /// # Errors
    ///
    /// [`TokenError::Load`] if the contents describe no tokenizer.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, TokenError> {
        let failed = |source| TokenError::load(Path::new(name), source);
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(failed)?;
        tokenizer.with_truncation(None).map_err(failed)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        let uses_regex = tokenizer.get_pre_tokenizer().is_some_and(uses_regex);
        Ok(Self { name: name.to_owned(), tokenizer, uses_regex })
    }

    fn try_count(&self, text: &str) -> tokenizers::Result<usize> {
        if self.uses_regex && longest_white_space(text) > MOST_WHITE_SPACE {
            return Err(TooMuchWhiteSpace.into());
        }
        Ok(self.tokenizer.encode_fast(text, false)?.len())
    }
}

impl TokenCounter for TokenizerFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        self.try_count(text).map_err(|source| {
            let (name, bytes) = (self.name.clone(), text.len());
            TokenError::Encode { name, bytes, source }
        })
    }
}

/// The longest run that the regular expressions in use are sure to take: their engine holds a million states.
const MOST_WHITE_SPACE: usize = 900_000;

#[derive(Debug, thiserror::Error)]
#[error(
    "it cannot take more than {MOST_WHITE_SPACE} white space characters in a row; shorten the run or use another counter"
)]
struct TooMuchWhiteSpace;

fn longest_white_space(text: &str) -> usize {
    if text.len() <= MOST_WHITE_SPACE {
        return 0; // Too short to hold such a run.
    }
    let mut run = 0;
    text.chars().fold(0, |longest, c| {
        run = if c.is_whitespace() { run + 1 } else { 0 };
        longest.max(run)
    })
}

/// Whether a splitter works with regular expressions.
fn uses_regex(splitter: &PreTokenizerWrapper) -> bool {
    match splitter {
        PreTokenizerWrapper::ByteLevel(byte_level) => byte_level.use_regex,
        PreTokenizerWrapper::Split(_) => true,
        PreTokenizerWrapper::Sequence(parts) => parts.as_ref().iter().any(uses_regex),
        _ => false,
    }
}

impl fmt::Debug for TokenizerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenizerFile").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
