//! From text to the token ids a model wants, its special tokens around them.
//!
//! Every tokenizer is asked for bare ids; what its post-processor would put before and behind them is learnt once,
//! and cutting is done here. So truncation, padding and special tokens inside a text never come from the file.

use std::borrow::Cow;

use super::ModelError;
use super::folder::{ModelFile, Parts};
use crate::tokens::{Frame, TokenCounter, TokenError, TokenizerFile, WordPiece};

/// The tokenizer of a model, with the model's length.
#[derive(Debug)]
pub(super) struct InputTokenizer {
    kind: Kind,
    frame: Frame,
    max_tokens: usize,
    lower_case: bool,
}

#[derive(Debug)]
enum Kind {
    /// BERT's, whose ids for texts joined by a space are the concatenation of theirs.
    WordPiece(Box<WordPiece>),
    Other(Box<TokenizerFile>),
}

impl InputTokenizer {
    pub(super) fn new(parts: &Parts) -> Result<Self, ModelError> {
        let file = &parts.tokenizer;
        let (kind, frame) = load(file)?;
        let special = frame.len();
        // With none at all, an empty text would be an empty input.
        let room = parts.max_length.checked_sub(special).filter(|&room| room > 0 && special > 0);
        let Some(max_tokens) = room else {
            let found = format!("{special} special tokens around an input of length {}", parts.max_length);
            return Err(file.unsupported(found, "at least one, and fewer than the length"));
        };
        Ok(Self { kind, frame, max_tokens, lower_case: parts.lower_case })
    }

    /// Most ids of one input, special tokens not counted.
    pub(super) const fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Special tokens of every input.
    pub(super) fn special(&self) -> usize {
        self.frame.len()
    }

    /// Whether the ids of joined texts are the concatenation of theirs.
    pub(super) const fn concatenates(&self) -> bool {
        matches!(self.kind, Kind::WordPiece(_))
    }

    /// BERT's tokenizer, where it is that.
    pub(super) const fn word_piece(&self) -> Option<&WordPiece> {
        match &self.kind {
            Kind::WordPiece(tokenizer) => Some(tokenizer),
            Kind::Other(_) => None,
        }
    }

    /// The bare ids of a text; of one longer than the model takes, at least `max_tokens + 1`.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, TokenError> {
        let text = self.prepared(text);
        match &self.kind {
            Kind::WordPiece(tokenizer) => Ok(tokenizer.first_ids(&text, self.max_tokens.saturating_add(1))),
            Kind::Other(tokenizer) => tokenizer.ids(&text),
        }
    }

    /// How many bare ids a text has, however long it is.
    pub(super) fn count(&self, text: &str) -> Result<usize, TokenError> {
        let text = self.prepared(text);
        match &self.kind {
            Kind::WordPiece(tokenizer) => tokenizer.count(&text),
            Kind::Other(tokenizer) => tokenizer.count(&text),
        }
    }

    fn prepared<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.lower_case { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
    }

    /// The input itself: bare ids within their special tokens.
    pub(super) fn framed(&self, ids: &[u32]) -> Vec<u32> {
        self.frame.around(ids)
    }
}

/// BERT's own tokenizer where the file is one, for its speed; otherwise any that the crate `tokenizers` knows.
fn load(file: &ModelFile) -> Result<(Kind, Frame), TokenError> {
    if let Ok(tokenizer) = WordPiece::from_bytes(&file.path, &file.bytes)
        && let Some(frame) = tokenizer.frame().cloned()
    {
        return Ok((Kind::WordPiece(Box::new(tokenizer)), frame));
    }
    let tokenizer = TokenizerFile::from_bytes(&file.path.to_string_lossy(), &file.bytes)?;
    let frame = tokenizer.frame()?;
    Ok((Kind::Other(Box::new(tokenizer)), frame))
}
