//! Any Hugging Face `tokenizer.json`, read by the crate `tokenizers`.
//!
//! What the file says on truncation and padding is switched off, special tokens are neither added nor looked for in
//! a text.
//!
//! Where that crate cuts texts with a regular expression, the engine gives up on a run of a million white
//! space characters and the crate goes on without saying so, its count then being wrong. Such runs are an
//! error here.

use std::fmt;
use std::path::Path;

use tokenizers::{Encoding, ModelWrapper, PreTokenizerWrapper, Tokenizer};

use super::{Frame, TokenCounter, TokenError};
use crate::span::Span;

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
        let tokenizer = read(bytes).map_err(|source| TokenError::load(Path::new(name), source))?;
        let uses_regex = tokenizer.get_pre_tokenizer().is_some_and(uses_regex);
        Ok(Self { name: name.to_owned(), tokenizer, uses_regex })
    }

    /// Token ids of `text`, without special tokens.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, TokenError> {
        Ok(self.encode(text, false)?.get_ids().to_vec())
    }

    /// The same with the bytes of `text` that each stands for.
    pub(crate) fn ids_with_bytes(&self, text: &str) -> Result<(Vec<u32>, Vec<Span>), TokenError> {
        let encoding = self.encode_with(text, |text| self.tokenizer.encode(text, false))?;
        let spans = encoding.get_offsets().iter().map(|&(start, end)| Span::new(start, end.max(start)));
        Ok((encoding.get_ids().to_vec(), spans.collect()))
    }

    /// The id of an entry of the vocabulary, special tokens among them.
    pub(crate) fn token_id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// Entries of the vocabulary, special tokens among them.
    pub(crate) fn size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    /// The special tokens that the file puts around a text, learnt from a letter.
    pub(crate) fn frame(&self) -> Result<Frame, TokenError> {
        let encoding = self.encode("a", true)?;
        let (ids, special) = (encoding.get_ids(), encoding.get_special_tokens_mask());
        let before = special.iter().take_while(|&&mark| mark == 1).count();
        let after = special.iter().skip(before).rev().take_while(|&&mark| mark == 1).count();
        Ok(Frame { before: ids[..before].to_vec(), after: ids[ids.len() - after..].to_vec() })
    }

    fn encode(&self, text: &str, special: bool) -> Result<Encoding, TokenError> {
        self.encode_with(text, |text| self.tokenizer.encode_fast(text, special))
    }

    fn encode_with(
        &self,
        text: &str,
        encode: impl FnOnce(&str) -> tokenizers::Result<Encoding>,
    ) -> Result<Encoding, TokenError> {
        let encoding = if self.uses_regex && longest_white_space(text) > MOST_WHITE_SPACE {
            Err(TooMuchWhiteSpace.into())
        } else {
            encode(text)
        };
        encoding.map_err(|source| TokenError::Encode { name: self.name.clone(), bytes: text.len(), source })
    }
}

impl TokenCounter for TokenizerFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(self.encode(text, false)?.len())
    }

    /// A token ends where the next one begins, so that what the tokenizer drops (white space) belongs to a token too.
    fn token_ends(&self, text: &str) -> Result<Option<Vec<usize>>, TokenError> {
        let encoding = self.encode_with(text, |text| self.tokenizer.encode(text, false))?;
        let starts = encoding.get_offsets().iter().skip(1).map(|&(start, _)| start);
        let mut furthest = 0;
        let ends = starts.chain([text.len()]).map(|end| {
            furthest = end.max(furthest);
            furthest
        });
        Ok(Some(if encoding.is_empty() { Vec::new() } else { ends.collect() }))
    }
}

fn read(bytes: &[u8]) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_truncation(None)?;
    tokenizer.with_padding(None);
    tokenizer.set_encode_special_tokens(true);
    if let Some(model) = without_special_pieces(&tokenizer)? {
        tokenizer.with_model(model);
    }
    Ok(tokenizer)
}

/// A Unigram model whose special tokens, such as `</s>`, are impossible to spell.
///
/// They are pieces of its vocabulary like any other, and with their score of 0 the best ones. In `SentencePiece`, where
/// these models come from, they are control symbols that no text matches; the empty piece matches none either.
fn without_special_pieces(tokenizer: &Tokenizer) -> tokenizers::Result<Option<ModelWrapper>> {
    let model @ ModelWrapper::Unigram(_) = tokenizer.get_model() else { return Ok(None) };
    let mut model = serde_json::to_value(model)?;
    let added = tokenizer.get_added_tokens_decoder();
    for (&id, _) in added.iter().filter(|(_, token)| token.special) {
        if let Some(piece) = model["vocab"].get_mut(id as usize).and_then(|entry| entry.get_mut(0)) {
            *piece = "".into();
        }
    }
    Ok(Some(serde_json::from_value(model)?))
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
