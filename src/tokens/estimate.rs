//! Counts that are no exact ones, and say so: a stand-in with a safety factor, and the old rule of thumb.

use std::str::FromStr;

use super::{Tiktoken, TiktokenEncoding, TokenCounter, TokenError};

/// Counts the tokens of a tokenizer that is not at hand by those of another one, times a factor that is safe where it
/// was measured.
///
/// ```
/// use horchunk::{ProxyCounter, TiktokenEncoding, TokenCounter};
///
/// let counter = ProxyCounter::new(TiktokenEncoding::Cl100kBase, 1.36);
/// assert_eq!((counter.name(), counter.is_exact()), ("cl100k_base*1.36", false));
/// assert_eq!(counter.count("Tides are driven by the Moon.")?, 11); // 8 * 1.36, rounded up
/// # Ok::<(), horchunk::TokenError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProxyCounter {
    name: String,
    proxy: Tiktoken,
    factor: f64,
}

impl ProxyCounter {
    /// The tokens of `proxy` times `factor`, rounded up. A factor that is no number of at least 1 counts as 1.
    #[must_use]
    pub fn new(proxy: TiktokenEncoding, factor: f64) -> Self {
        let factor = if factor.is_finite() { factor.max(1.0) } else { 1.0 };
        Self { name: format!("{proxy}*{factor}"), proxy: Tiktoken::new(proxy), factor }
    }
}

/// The counter of a name as [`TokenCounter::name`] gives it.
impl FromStr for ProxyCounter {
    type Err = TokenError;

    fn from_str(name: &str) -> Result<Self, TokenError> {
        let unknown = || TokenError::Unknown { name: name.to_owned() };
        let (proxy, factor) = name.split_once('*').ok_or_else(unknown)?;
        let factor = factor.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 1.0);
        Ok(Self::new(proxy.parse()?, factor.ok_or_else(unknown)?))
    }
}

impl TokenCounter for ProxyCounter {
    fn name(&self) -> &str {
        &self.name
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of tokens is far below 2^53")]
    fn count(&self, text: &str) -> Result<usize, TokenError> {
        // A little less before rounding up: 25 * 1.04 is 26.000000000000004 in floats.
        Ok(((self.proxy.count(text)? as f64) * self.factor - 1e-9).ceil() as usize)
    }

    fn is_exact(&self) -> bool {
        false
    }
}

/// A token for every four characters: the guess of programs that have no tokenizer. Wrong by a factor of two or more in
/// most languages; for comparison only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CharacterGuess;

impl CharacterGuess {
    /// What records call it.
    pub const NAME: &str = "chars/4";
}

impl TokenCounter for CharacterGuess {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn count(&self, text: &str) -> Result<usize, TokenError> {
        Ok(text.chars().count().div_ceil(4))
    }

    fn is_exact(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_rounds_up_what_it_does_not_know() {
        for (factor, tokens) in [(1.0, 8), (1.04, 9), (1.25, 10), (2.0, 16), (f64::NAN, 8), (0.5, 8)] {
            let counter = ProxyCounter::new(TiktokenEncoding::Cl100kBase, factor);
            assert_eq!(counter.count("Tides are driven by the Moon.").unwrap(), tokens, "{factor}");
            assert_eq!(counter.name().parse::<ProxyCounter>().unwrap(), counter);
        }
        assert_eq!(ProxyCounter::new(TiktokenEncoding::Cl100kBase, 1.3).count("").unwrap(), 0);
        for name in ["cl100k_base", "cl100k_base*", "cl100k_base*0.5", "cl100k_base*inf", "cl*1.3"] {
            assert!(name.parse::<ProxyCounter>().is_err(), "{name}");
        }
    }
}
