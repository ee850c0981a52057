//! What reading with a language model costs.

use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;

use super::AnswerError;
use crate::llm::ChatReply;

/// Requests to a language model and their tokens, as its server counts them; all 0 for a reader that asks none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Questions that were replied to.
    pub requests: u64,
    /// Tokens of the questions; those that the server does not tell are not counted.
    pub input_tokens: u64,
    /// Tokens of the replies; likewise.
    pub output_tokens: u64,
    /// Questions whose reply was remembered, which costs nothing: they are no requests and their tokens do not count.
    pub cached: u64,
}

impl Usage {
    /// What one reply cost.
    pub(super) fn of(reply: &ChatReply) -> Self {
        if reply.cached {
            return Self { cached: 1, ..Self::default() };
        }
        let (input_tokens, output_tokens) = (reply.input_tokens.unwrap_or(0), reply.output_tokens.unwrap_or(0));
        Self { requests: 1, input_tokens, output_tokens, cached: 0 }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

/// What a million tokens cost, in any currency.
///
/// ```
/// use horchunk::answer::{Prices, Usage};
///
/// let prices: Prices = "0.15,0.6".parse()?;
/// let usage = Usage { requests: 1, input_tokens: 2_000_000, output_tokens: 500_000, cached: 0 };
/// assert!((prices.cost(usage) - 0.6).abs() < 1e-12);
/// # Ok::<(), horchunk::answer::AnswerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Of a million tokens in.
    pub input: f64,
    /// Of a million tokens out.
    pub output: f64,
}

impl Prices {
    /// What `usage` costs.
    #[must_use]
    pub fn cost(self, usage: Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1e6
    }
}

impl FromStr for Prices {
    type Err = AnswerError;

    fn from_str(text: &str) -> Result<Self, AnswerError> {
        let price = |text: &str| text.trim().parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
        let prices = text.split_once(',').and_then(|(input, output)| Some((price(input)?, price(output)?)));
        let (input, output) = prices.ok_or_else(|| AnswerError::Prices { text: text.to_owned() })?;
        Ok(Self { input, output })
    }
}
