//! WordPiece as BERT uses it, one character at a time.
//!
//! A text becomes words (the normalizer and the splitter of BERT: Devlin et al. 2018,
//! <https://arxiv.org/abs/1810.04805>), a word the longest vocabulary entries that spell it from left to
//! right (Wu et al. 2016, <https://arxiv.org/abs/1609.08144>). The ids equal those of the crate
//! `tokenizers`, which the tests hold against this file; written anew because that crate builds offset
//! tables of many times the text before the first id, whereas an embedder wants 254 ids of a text that may
//! be a megabyte long. Here memory is one word and a text is read no further than asked for.
//!
//! White space ends a word, so the ids of texts joined by a space are those of the texts, one after the
//! other. Other models, normalizers and splitters are left to [`TokenizerFile`](super::TokenizerFile).

mod entries;
mod file;
mod scan;
mod word;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use super::{Frame, TokenCounter, TokenError};
use entries::Entries;
use file::{Normalizer, Parts};
use word::Letters;

/// The WordPiece tokenizer of a BERT model.
///
/// Special tokens are never added, and text that spells one is plain text: `[SEP]` is the three tokens
/// `[`, `sep` and `]`. What the file says on truncation and padding does not count.
///
/// ```no_run
/// use horchunk::{TokenCounter, WordPiece};
///
/// let tokenizer = WordPiece::from_path("my-model/tokenizer.json")?;
/// assert_eq!(tokenizer.ids("low tide").len(), tokenizer.count("low tide")?);
/// # Ok::<(), horchunk::TokenError>(())
/// ```
pub struct WordPiece {
    normalizer: Normalizer,
    /// Longest word in characters; a longer one is unknown as a whole.
    max_word: usize,
    unknown: u32,
    /// Every entry of the vocabulary as it is spelled.
    vocabulary: HashMap<Box<str>, u32>,
    /// The same, to begin a word with.
    starting: Entries,
    /// The entries that continue a word, without the prefix that says so.
    continuing: Entries,
    /// What each ASCII letter becomes.
    small: [u8; 128],
    /// The id of each ASCII character as a word.
    marks: [u32; 128],
    frame: Option<Frame>,
}

impl WordPiece {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// [`TokenError::Load`] if the file cannot be read or is not one of a BERT WordPiece tokenizer.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TokenError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| TokenError::load(path, e))?;
        Self::from_bytes(path, &bytes)
    }

    /// Reads the contents of a `tokenizer.json`; `name` stands for its path in errors.
    ///
    /// # Errors
    ///
    /// [`TokenError::Load`] if the contents are not those of a BERT WordPiece tokenizer: WordPiece behind BERT's
    /// normalizer and splitter, without added words.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Self, TokenError> {
        Parts::read(bytes).map(Self::from_parts).map_err(|e| TokenError::load(name.as_ref(), e))
    }

    fn from_parts(parts: Parts) -> Self {
        let prefix = parts.prefix.as_str();
        let entries = || parts.vocabulary.iter().map(|(entry, &id)| (&**entry, id));
        let continuing = entries().filter_map(|(entry, id)| Some((entry.strip_prefix(prefix)?, id)));
        let ascii = std::array::from_fn(|byte| u8::try_from(byte).unwrap_or_default());
        let id = |byte: u8| parts.vocabulary.get(char::from(byte).encode_utf8(&mut [0; 4])).copied();
        Self {
            normalizer: parts.normalizer,
            max_word: parts.max_word,
            unknown: parts.unknown,
            starting: Entries::new(entries()),
            continuing: Entries::new(continuing),
            small: ascii.map(|byte| if parts.normalizer.lowercase { byte.to_ascii_lowercase() } else { byte }),
            marks: ascii.map(|byte| id(byte).unwrap_or(parts.unknown)),
            vocabulary: parts.vocabulary,
            frame: parts.frame,
        }
    }

    /// Token ids of `text`, without special tokens.
    #[must_use]
    pub fn ids(&self, text: &str) -> Vec<u32> {
        self.first_ids(text, usize::MAX)
    }

    /// The first `limit` token ids of `text`, of which no more is read than they need.
    #[must_use]
    pub fn first_ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        if limit > 0 {
            self.scan(text, &mut ids, |ids| ids.len() < limit);
        }
        ids.truncate(limit);
        ids
    }

    /// The special tokens around an input, if the file puts them there as BERT does.
    pub(crate) const fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    /// The id that stands for a word it cannot spell.
    pub(crate) const fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Every entry of the vocabulary with its id, in no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, u32)> {
        self.vocabulary.iter().map(|(entry, &id)| (&**entry, id))
    }

    /// The id of an entry of the vocabulary, special tokens such as `[CLS]` among them.
    #[must_use]
    pub fn token_id(&self, token: &str) -> Option<u32> {
        self.vocabulary.get(token).copied()
    }

    /// Appends the ids of one word: the longest entry that starts it, then the longest that continues it,
    /// and so on; the unknown token alone where that leads nowhere.
    fn encode(&self, letters: Letters<'_>, ids: &mut Vec<u32>) {
        let before = ids.len();
        let mut rest = match letters {
            Letters::All(word) => word,
            Letters::TooMany => return ids.push(self.unknown),
        };
        let mut entries = &self.starting;
        while !rest.is_empty() {
            let Some((id, len)) = entries.longest_start(rest) else {
                ids.truncate(before);
                return ids.push(self.unknown);
            };
            ids.push(id);
            rest = rest.split_at(len).1;
            entries = &self.continuing;
        }
    }
}

impl TokenCounter for WordPiece {
    fn name(&self) -> &'static str {
        "wordpiece"
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        let mut count = 0;
        let mut ids = Vec::new();
        self.scan(text, &mut ids, |ids| {
            count += ids.len();
            ids.clear();
            true
        });
        count += ids.len();
        Ok(count)
    }
}

impl fmt::Debug for WordPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordPiece").field("vocabulary", &self.vocabulary.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
