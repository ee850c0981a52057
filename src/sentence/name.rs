//! Splitters by name, as the command line and tables spell them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{ParagraphSplitter, RecursiveSplitter, RuleSplitter, SentenceSplitter, TokenSplitter, UnicodeSplitter};
use crate::tokens::{TokenCounter, TokenError};

/// A sentence splitter in one word.
///
/// ```
/// use horchunk::SplitterName;
///
/// assert_eq!("token:64".parse(), Ok(SplitterName::Token(64)));
/// assert_eq!(SplitterName::default().to_string(), "unicode");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitterName {
    /// [`ParagraphSplitter`]
    Paragraph,
    /// [`RuleSplitter`]
    Rule,
    /// [`UnicodeSplitter`]
    #[default]
    Unicode,
    /// [`TokenSplitter`] of so many tokens.
    Token(usize),
    /// [`RecursiveSplitter`] of so many tokens.
    Recursive(usize),
}

/// Tokens of a piece where none are given: they fill the bundled model's input.
const PIECE: usize = 254;

/// No splitter has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown sentences {0:?}: take unicode, rule, paragraph, token:N or recursive:N with N tokens of at least 1")]
pub struct UnknownSplitter(pub String);

impl FromStr for SplitterName {
    type Err = UnknownSplitter;

    fn from_str(name: &str) -> Result<Self, UnknownSplitter> {
        let (kind, size) = match name.split_once(':') {
            Some((kind, size)) => (kind, size.parse().ok().filter(|&size| size > 0)),
            None => (name, Some(PIECE)),
        };
        match (kind, size) {
            ("paragraph", _) if kind == name => Ok(Self::Paragraph),
            ("rule", _) if kind == name => Ok(Self::Rule),
            ("unicode", _) if kind == name => Ok(Self::Unicode),
            ("token", Some(size)) => Ok(Self::Token(size)),
            ("recursive", Some(size)) => Ok(Self::Recursive(size)),
            _ => Err(UnknownSplitter(name.to_owned())),
        }
    }
}

impl fmt::Display for SplitterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paragraph => f.write_str("paragraph"),
            Self::Rule => f.write_str("rule"),
            Self::Unicode => f.write_str("unicode"),
            Self::Token(size) => write!(f, "token:{size}"),
            Self::Recursive(size) => write!(f, "recursive:{size}"),
        }
    }
}

impl SplitterName {
    /// Whether it cuts by tokens and so needs a counter.
    #[must_use]
    pub const fn needs_counter(self) -> bool {
        matches!(self, Self::Token(_) | Self::Recursive(_))
    }

    /// The splitter; pieces are counted by `counter`, and without one in `cl100k_base`.
    ///
    /// # Errors
    ///
    /// [`TokenError::ZeroTokens`] for pieces of no tokens.
    pub fn splitter(self, counter: Option<&Arc<dyn TokenCounter>>) -> Result<Box<dyn SentenceSplitter>, TokenError> {
        let counter = || counter.cloned().unwrap_or_else(|| Arc::new(crate::tokens::Tiktoken::default()));
        Ok(match self {
            Self::Paragraph => Box::new(ParagraphSplitter),
            Self::Rule => Box::new(RuleSplitter),
            Self::Unicode => Box::new(UnicodeSplitter::default()),
            Self::Token(size) => Box::new(TokenSplitter::new(counter(), size)?),
            Self::Recursive(size) => Box::new(RecursiveSplitter::new(counter(), size)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["paragraph", "rule", "unicode", "token:7", "recursive:50"] {
            assert_eq!(name.parse::<SplitterName>().unwrap().to_string(), name);
        }
        for name in ["", "unicode:3", "token:0", "token:x", "recursive:", "words"] {
            assert!(name.parse::<SplitterName>().is_err(), "{name}");
        }
    }
}
