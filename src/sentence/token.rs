//! Horchunk's splitter by tokens: paragraphs, the long ones in pieces of a bounded number of tokens.
//!
//! It cuts wherever the tokens are used up and looks at no punctuation. Unlike the Python of Horchunk
//! (commit 5e3cf6b), which dropped short paragraphs, it keeps all text.

use super::paragraph::paragraphs;
use super::{SentenceError, SentenceSplitter};
use crate::span::Span;
use crate::tokens::{TokenCounter, TokenError, pieces};

/// Paragraphs of at most so many tokens; longer ones are cut at words, a longer word at grapheme clusters,
/// a longer cluster at code points.
///
/// ```
/// use horchunk::{SentenceSplitter, Tiktoken, TokenSplitter};
///
/// let splitter = TokenSplitter::new(Tiktoken::default(), 3)?;
/// let text = "low tide and high tide\nfull moon";
/// let pieces: Vec<&str> = splitter.split(text)?.into_iter().map(|span| &text[span]).collect();
/// assert_eq!(pieces, ["low tide and", "high tide", "full moon"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenSplitter<C> {
    counter: C,
    max_tokens: usize,
}

impl<C: TokenCounter> TokenSplitter<C> {
    /// Pieces of at most `max_tokens` tokens of `counter`.
    ///
    /// # Errors
    ///
    /// [`TokenError::ZeroTokens`] if `max_tokens` is 0.
    pub fn new(counter: C, max_tokens: usize) -> Result<Self, TokenError> {
        if max_tokens == 0 {
            return Err(TokenError::ZeroTokens);
        }
        Ok(Self { counter, max_tokens })
    }
}

impl<C: TokenCounter> SentenceSplitter for TokenSplitter<C> {
    fn split(&self, text: &str) -> Result<Vec<Span>, SentenceError> {
        let mut sentences = Vec::new();
        for paragraph in paragraphs(text) {
            let fitting = pieces(text, paragraph, &self.counter, self.max_tokens)?;
            sentences.extend(fitting.into_iter().map(|piece| piece.span));
        }
        Ok(sentences)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::{Tiktoken, TiktokenEncoding};

    const R50K: Tiktoken = Tiktoken::new(TiktokenEncoding::R50kBase);

    fn split(text: &str, max_tokens: usize) -> Vec<&str> {
        let spans = TokenSplitter::new(R50K, max_tokens).unwrap().split(text).unwrap();
        spans.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn short_paragraphs_are_kept_whole() {
        assert_eq!(split("I\r\n\r\n a b c \u{2028}d.", 3), ["I", "a b c", "d."]);
    }

    #[test]
    fn a_paragraph_is_cut_at_words_and_a_word_at_grapheme_clusters() {
        assert_eq!(split("low low low low", 3), ["low low low", "low"]);
        assert_eq!(split("1 \u{e9}\u{e9}e\u{301}", 3), ["1", "\u{e9}\u{e9}", "e\u{301}"]);
    }

    #[test]
    fn a_cap_of_no_tokens_is_refused() {
        assert!(matches!(TokenSplitter::new(R50K, 0), Err(TokenError::ZeroTokens)));
    }

    #[test]
    fn a_character_over_the_cap_is_an_error_that_says_so() {
        let error = TokenSplitter::new(R50K, 1).unwrap().split("low\n\u{1f991}").unwrap_err();
        let mut causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        assert!(causes.any(|cause| cause.to_string().contains("byte 4")), "{error:?}");
    }

    proptest! {
        #[test]
        fn pieces_hold_at_most_the_tokens_allowed_and_all_the_text(
            text in "([a-z]{1,9}|[a-z]{30}|[0-9]{1,5}|\u{e9}|e\u{301}|\u{6f22}| |\n|\r\n|[.!?]){0,80}",
            max_tokens in 4..20_usize,
        ) {
            let found = split(&text, max_tokens);
            prop_assert!(found.iter().all(|piece| R50K.count(piece).unwrap() <= max_tokens));
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&found.concat()), words(&text));
        }
    }
}
