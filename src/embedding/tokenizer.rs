//! From text to the token ids a model wants, its special tokens around them.
//!
//! Every tokenizer is asked for bare ids; what its post-processor would put before and behind them is learnt once,
//! and cutting is done here. So truncation, padding and special tokens inside a text never come from the file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::Tokenizer;

use super::ModelError;
use super::folder::{ModelFile, Parts};
use crate::tokens::{TokenCounter, TokenError, WordPiece};

/// The tokenizer of a model, with the model's length.
#[derive(Debug)]
pub(super) struct InputTokenizer {
    kind: Kind,
    frame: Frame,
    max_tokens: usize,
    lower_case: bool,
}

enum Kind {
    /// BERT's, whose ids for texts joined by a space are the concatenation of theirs.
    WordPiece(WordPiece),
    Other(Box<Tokenizer>),
}

/// The special tokens around an input.
#[derive(Debug)]
struct Frame {
    before: Vec<u32>,
    after: Vec<u32>,
}

impl InputTokenizer {
    pub(super) fn new(parts: &Parts) -> Result<Self, ModelError> {
        let file = &parts.tokenizer;
        let (kind, frame) = match Frame::of_bert(&file.bytes).filter(|_| WordPiece::understands(&file.bytes)) {
            Some(frame) => (Kind::WordPiece(WordPiece::from_bytes(&file.path, &file.bytes)?), frame),
            None => other(file)?,
        };
        let special = frame.before.len() + frame.after.len();
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
        self.frame.before.len() + self.frame.after.len()
    }

    /// Whether the ids of joined texts are the concatenation of theirs.
    pub(super) const fn concatenates(&self) -> bool {
        matches!(self.kind, Kind::WordPiece(_))
    }

    /// The bare ids of a text; of one longer than the model takes, at least `max_tokens + 1`.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, TokenError> {
        let text = self.prepared(text);
        match &self.kind {
            Kind::WordPiece(tokenizer) => Ok(tokenizer.first_ids(&text, self.max_tokens.saturating_add(1))),
            Kind::Other(tokenizer) => match tokenizer.encode_fast(&*text, false) {
                Ok(encoding) => Ok(encoding.get_ids().to_vec()),
                Err(source) => Err(TokenError::Encode { name: "of the model".into(), bytes: text.len(), source }),
            },
        }
    }

    /// How many bare ids a text has, however long it is.
    pub(super) fn count(&self, text: &str) -> Result<usize, TokenError> {
        match &self.kind {
            Kind::WordPiece(tokenizer) => tokenizer.count(&self.prepared(text)),
            Kind::Other(_) => Ok(self.ids(text)?.len()),
        }
    }

    fn prepared<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.lower_case { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
    }

    /// The input itself: bare ids within their special tokens.
    pub(super) fn framed(&self, ids: &[u32]) -> Vec<u32> {
        [&self.frame.before, ids, &self.frame.after].concat()
    }
}

/// Any tokenizer the crate `tokenizers` knows.
fn other(file: &ModelFile) -> Result<(Kind, Frame), ModelError> {
    let load = || {
        let mut contents: Value = serde_json::from_slice(&file.bytes)?;
        hide_special_pieces(&mut contents);
        let mut tokenizer: Tokenizer = serde_json::from_value(contents)?;
        tokenizer.with_truncation(None)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        let frame = Frame::of(&tokenizer)?;
        Ok((Kind::Other(Box::new(tokenizer)), frame))
    };
    load().map_err(|source| TokenError::Load { path: file.path.clone(), source }.into())
}

/// Makes the special tokens of a Unigram model, such as `</s>`, impossible to spell.
///
/// They are pieces of its vocabulary like any other, and with their score of 0 the best ones. In `SentencePiece`, where
/// these models come from, they are control symbols that no text matches; the empty piece matches none either.
fn hide_special_pieces(contents: &mut Value) {
    if contents["model"]["type"] != "Unigram" {
        return;
    }
    let added = contents["added_tokens"].as_array().cloned().unwrap_or_default();
    let special = added.iter().filter(|token| token["special"] == true);
    for id in special.filter_map(|token| usize::try_from(token["id"].as_u64()?).ok()) {
        if let Some(piece) = contents["model"]["vocab"].get_mut(id).and_then(|entry| entry.get_mut(0)) {
            *piece = Value::String(String::new());
        }
    }
}

impl Frame {
    /// What a tokenizer puts around a letter.
    fn of(tokenizer: &Tokenizer) -> tokenizers::Result<Self> {
        let encoding = tokenizer.encode("a", true)?;
        let special: Vec<bool> = encoding.get_special_tokens_mask().iter().map(|&mark| mark == 1).collect();
        let is_special = |at: &usize| special[*at];
        let ids = encoding.get_ids();
        let before = (0..ids.len()).take_while(is_special).count();
        let after = (before..ids.len()).rev().take_while(is_special).count();
        Ok(Self { before: ids[..before].to_vec(), after: ids[ids.len() - after..].to_vec() })
    }

    /// The same, read from the file of a BERT tokenizer; `None` if its post-processor is not BERT's.
    ///
    /// Building a whole tokenizer to learn two ids would take longer than loading the weights.
    fn of_bert(file: &[u8]) -> Option<Self> {
        let file: TokenizerFile = serde_json::from_slice(file).ok()?;
        match file.post_processor? {
            PostProcessor::BertProcessing { cls, sep } => Some(Self { before: vec![cls.1], after: vec![sep.1] }),
            PostProcessor::TemplateProcessing { single, special_tokens } => {
                let [Piece::SpecialToken(cls), Piece::Sequence(_), Piece::SpecialToken(sep)] = &single[..] else {
                    return None;
                };
                let ids = |token: &Named| special_tokens.get(&token.id).map(|token| token.ids.clone());
                Some(Self { before: ids(cls)?, after: ids(sep)? })
            }
        }
    }
}

#[derive(Deserialize)]
struct TokenizerFile {
    post_processor: Option<PostProcessor>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    BertProcessing { cls: (String, u32), sep: (String, u32) },
    TemplateProcessing { single: Vec<Piece>, special_tokens: HashMap<String, SpecialToken> },
}

#[derive(Deserialize)]
enum Piece {
    SpecialToken(Named),
    Sequence(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct SpecialToken {
    ids: Vec<u32>,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WordPiece(tokenizer) => tokenizer.fmt(f),
            Self::Other(_) => f.write_str("Tokenizer"),
        }
    }
}
