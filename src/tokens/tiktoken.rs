//! OpenAI's encodings, counted exactly, offline and in linear time.
//!
//! A text is first cut into pieces by the pattern of its encoding, then every piece is byte-pair encoded.
//! The vocabularies of `cl100k_base` and `o200k_base` come prebuilt from the crate `bpe-openai`, those of
//! `p50k_base` and `r50k_base` from `tiktoken-rs`; the encoder of all four is the backtracking one of the
//! crate `bpe`, linear where the textbook algorithm is quadratic. The patterns are those of tiktoken,
//! rewritten for an automaton without look-ahead, which neither overflows a stack nor gives up on a run of
//! a million spaces. Counts and the places of tokens are offered, no token ids.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use bpe::byte_pair_encoding::BytePairEncoding;
use regex_automata::{Anchored, Input, meta::Regex};

use super::{TokenCounter, TokenError};

/// The encodings of OpenAI's models.
///
/// ```
/// use horchunk::TiktokenEncoding;
///
/// let encoding: TiktokenEncoding = "o200k_base".parse()?;
/// assert_eq!(encoding, TiktokenEncoding::O200kBase);
/// # Ok::<(), horchunk::TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TiktokenEncoding {
    /// GPT-4o and later.
    O200kBase,
    /// GPT-4, GPT-3.5 and the third generation of OpenAI's embedding models.
    #[default]
    Cl100kBase,
    /// The Codex models and the last GPT-3 ones.
    P50kBase,
    /// GPT-2 and the first GPT-3 models.
    R50kBase,
}

impl TiktokenEncoding {
    /// Every encoding, the newest first.
    pub const ALL: [Self; 4] = [Self::O200kBase, Self::Cl100kBase, Self::P50kBase, Self::R50kBase];

    /// The name tiktoken gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }
}

impl fmt::Display for TiktokenEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TiktokenEncoding {
    type Err = TokenError;

    fn from_str(name: &str) -> Result<Self, TokenError> {
        let known = Self::ALL.into_iter().find(|encoding| encoding.name() == name);
        known.ok_or_else(|| TokenError::Unknown { name: name.to_owned() })
    }
}

/// Counts the tokens of one of OpenAI's encodings.
///
/// Its tables are loaded with the first count and shared by the whole process. Text that spells a special
/// token, such as `<|endoftext|>`, is plain text.
///
/// ```
/// use horchunk::{Tiktoken, TiktokenEncoding, TokenCounter};
///
/// let counter = Tiktoken::new(TiktokenEncoding::R50kBase);
/// assert_eq!(counter.count("low tide")?, 2);
/// # Ok::<(), horchunk::TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiktoken {
    encoding: TiktokenEncoding,
}

impl Tiktoken {
    /// A counter of `encoding`; nothing is loaded yet.
    #[must_use]
    pub const fn new(encoding: TiktokenEncoding) -> Self {
        Self { encoding }
    }

    /// The encoding whose tokens are counted.
    #[must_use]
    pub const fn encoding(self) -> TiktokenEncoding {
        self.encoding
    }
}

impl TokenCounter for Tiktoken {
    fn name(&self) -> &str {
        self.encoding.name()
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(self.encoder().count(text))
    }

    fn token_ends(&self, text: &str) -> Result<Option<Vec<usize>>, TokenError> {
        Ok(Some(self.encoder().token_ends(text)))
    }
}

impl Tiktoken {
    fn encoder(self) -> &'static Encoder {
        match self.encoding {
            TiktokenEncoding::O200kBase => &O200K_BASE,
            TiktokenEncoding::Cl100kBase => &CL100K_BASE,
            TiktokenEncoding::P50kBase => &P50K_BASE,
            TiktokenEncoding::R50kBase => &R50K_BASE,
        }
    }
}

static O200K_BASE: LazyLock<Encoder> = LazyLock::new(|| Encoder::new(&bpe_openai::o200k_base().bpe, &O200K_PIECES));
static CL100K_BASE: LazyLock<Encoder> = LazyLock::new(|| Encoder::new(&bpe_openai::cl100k_base().bpe, &CL100K_PIECES));
static P50K_BASE: LazyLock<Encoder> = LazyLock::new(|| Encoder::new(&P50K_VOCABULARY, &GPT2_PIECES));
static R50K_BASE: LazyLock<Encoder> = LazyLock::new(|| Encoder::new(&R50K_VOCABULARY, &GPT2_PIECES));

static P50K_VOCABULARY: LazyLock<BytePairEncoding> = LazyLock::new(|| vocabulary(P50K_TOKENS));
static R50K_VOCABULARY: LazyLock<BytePairEncoding> = LazyLock::new(|| vocabulary(R50K_TOKENS));

/// Id of `<|endoftext|>`, the one special token of `p50k_base` and `r50k_base`: all ids before it are plain.
const R50K_TOKENS: u32 = 50_256;
/// `p50k_base` is `r50k_base` and, behind its special token, runs of spaces.
const P50K_TOKENS: u32 = 50_281;

/// The first `tokens` tokens of `p50k_base`, the special one left out.
fn vocabulary(tokens: u32) -> BytePairEncoding {
    // Under this factor no two tokens have the same hash, which `bpe` asks for and asserts.
    const HASH_FACTOR: u64 = 17_846_336_922_010_275_747;
    let p50k = tiktoken_rs::p50k_base().expect("the vocabulary inside tiktoken-rs is sound");
    let plain = (0..tokens).filter(|&id| id != R50K_TOKENS);
    let bytes = plain.map(|id| p50k.decode_bytes(&[id]).expect("the ids of p50k_base have no other gap"));
    BytePairEncoding::from_dictionary(bytes, Some(HASH_FACTOR))
}

/// The patterns of one encoding, by rank.
///
/// tiktoken writes the last two as `\s+(?!\S)|\s`: a run of white space leaves its last character to the
/// word behind it. Without look-ahead that is: match the character behind as well, then give it back. At
/// the end of a text nothing stands behind, so `\s+$` goes first.
type Patterns = [&'static str; 3];

/// Which of [`Patterns`] gives its last character back.
const LOOKS_AHEAD: usize = 1;

const GPT2_PIECES: Patterns = [r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$", r"\s+\s", r"\s"];

/// `\s+$` before `\s*[\r\n]`: at the end of a text line breaks and the white space behind them are one piece.
const CL100K_PIECES: Patterns = [
    concat!(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}", r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]",),
    r"\s+\s",
    r"\s",
];

/// `\s+$` behind `\s*[\r\n]+`: here line breaks end a piece even at the end of a text.
const O200K_PIECES: Patterns = [
    concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
    ),
    r"\s+\s",
    r"\s",
];

/// A vocabulary and the pattern of its pieces.
struct Encoder {
    vocabulary: &'static BytePairEncoding,
    pieces: Regex,
}

impl Encoder {
    fn new(vocabulary: &'static BytePairEncoding, patterns: &Patterns) -> Self {
        let pieces = Regex::new_many(patterns).expect("the patterns are well-formed");
        Self { vocabulary, pieces }
    }

    fn count(&self, text: &str) -> usize {
        self.pieces(text).map(|piece| self.vocabulary.count(piece)).sum()
    }

    fn token_ends(&self, text: &str) -> Vec<usize> {
        let ids = self.pieces(text).flat_map(|piece| self.vocabulary.encode_via_backtracking(piece));
        let ends = ids.scan(0, |end, id| {
            *end += self.vocabulary.token_len(id);
            Some(*end)
        });
        ends.collect()
    }

    /// The pieces of `text`, gapless: every character starts a match of one of the patterns.
    fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t [u8]> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = Input::new(text).range(start..).anchored(Anchored::Yes);
            let found = self.pieces.find(rest)?;
            let mut piece = text.get(found.range())?;
            if found.pattern().as_usize() == LOOKS_AHEAD {
                let mut chars = piece.chars();
                chars.next_back();
                piece = chars.as_str();
            }
            start += piece.len();
            Some(piece.as_bytes())
        })
    }
}

#[cfg(test)]
mod tests;
