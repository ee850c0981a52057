//! What a `tokenizer.json` must say for [`WordPiece`](super::WordPiece) to stand for it.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::tokens::Frame;

/// The parts of the file that decide on ids, and the special tokens around them.
pub(super) struct Parts {
    pub(super) normalizer: Normalizer,
    pub(super) max_word: usize,
    pub(super) unknown: u32,
    pub(super) prefix: String,
    pub(super) vocabulary: HashMap<Box<str>, u32>,
    pub(super) frame: Option<Frame>,
}

impl Parts {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FileError> {
        let File { added_tokens, normalizer, post_processor, model, .. } = serde_json::from_slice(bytes)?;
        let mut vocabulary = model.vocab;
        for token in added_tokens {
            // Special tokens are not looked for in a text, other added words would be.
            if !token.special {
                return Err(FileError::AddedWord { content: token.content });
            }
            vocabulary.insert(token.content.into(), token.id);
        }
        let Some(&unknown) = vocabulary.get(model.unk_token.as_str()) else {
            return Err(FileError::NoUnknownToken { token: model.unk_token });
        };
        let (max_word, prefix) = (model.max_input_chars_per_word, model.continuing_subword_prefix);
        let frame = post_processor.and_then(PostProcessor::frame);
        Ok(Self { normalizer: normalizer.settings, max_word, unknown, prefix, vocabulary, frame })
    }
}

/// Why a file is not one of BERT's WordPiece.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("it is not the tokenizer.json of a BERT WordPiece tokenizer")]
    Json(#[from] serde_json::Error),
    #[error("it adds the word {content:?} to the vocabulary; load it as a tokenizer file of any kind instead")]
    AddedWord { content: String },
    #[error("its unknown token {token:?} is not in its vocabulary")]
    NoUnknownToken { token: String },
}

/// What becomes of the characters of a text.
#[derive(Clone, Copy, Deserialize)]
#[serde(from = "NormalizerFields")]
#[expect(clippy::struct_excessive_bools, reason = "they are the switches of the file")]
pub(super) struct Normalizer {
    /// Control characters are dropped.
    pub(super) clean_text: bool,
    /// Each Chinese character is a word.
    pub(super) split_chinese: bool,
    /// Characters are decomposed and their nonspacing marks dropped.
    pub(super) strip_accents: bool,
    pub(super) lowercase: bool,
}

#[derive(Deserialize)]
struct NormalizerFields {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl From<NormalizerFields> for Normalizer {
    fn from(fields: NormalizerFields) -> Self {
        Self {
            clean_text: fields.clean_text,
            split_chinese: fields.handle_chinese_chars,
            strip_accents: fields.strip_accents.unwrap_or(fields.lowercase),
            lowercase: fields.lowercase,
        }
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: NormalizerPart,
    #[serde(rename = "pre_tokenizer")]
    _splitter: SplitterPart,
    post_processor: Option<PostProcessor>,
    model: Model,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    special: bool,
}

#[derive(Deserialize)]
struct NormalizerPart {
    #[serde(rename = "type")]
    _kind: NormalizerKind,
    #[serde(flatten)]
    settings: Normalizer,
}

#[derive(Deserialize)]
struct SplitterPart {
    #[serde(rename = "type")]
    _kind: SplitterKind,
}

/// What puts special tokens around ids.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    BertProcessing {
        cls: (String, u32),
        sep: (String, u32),
    },
    TemplateProcessing {
        single: Vec<Piece>,
        special_tokens: HashMap<String, SpecialToken>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
enum Piece {
    SpecialToken(Named),
    Sequence(IgnoredAny),
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct SpecialToken {
    ids: Vec<u32>,
}

impl PostProcessor {
    fn frame(self) -> Option<Frame> {
        match self {
            Self::BertProcessing { cls, sep } => Some(Frame { before: vec![cls.1], after: vec![sep.1] }),
            Self::TemplateProcessing { single, special_tokens } => {
                let [Piece::SpecialToken(cls), Piece::Sequence(_), Piece::SpecialToken(sep)] = &single[..] else {
                    return None;
                };
                let ids = |token: &Named| special_tokens.get(&token.id).map(|token| token.ids.clone());
                Some(Frame { before: ids(cls)?, after: ids(sep)? })
            }
            Self::Other => None,
        }
    }
}

#[derive(Deserialize)]
struct Model {
    /// Older files leave it out and are told by their fields.
    #[serde(rename = "type", default)]
    _kind: ModelKind,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<Box<str>, u32>,
}

#[derive(Deserialize)]
enum NormalizerKind {
    BertNormalizer,
}

#[derive(Deserialize)]
enum SplitterKind {
    BertPreTokenizer,
}

#[derive(Default, Deserialize)]
enum ModelKind {
    #[default]
    WordPiece,
}
