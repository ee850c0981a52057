//! How much of a text fits a number of tokens.
//!
//! Nothing is known of a counter but its counts, and a count costs as much as the text is long. So a stretch that is too
//! long is found first, by doubling from what fitted the last time, and the end looked for inside it: where even density
//! would put it, and by halves where that does not help.

use crate::span::Span;
use crate::tokens::{TokenCounter, TokenError};

/// A search for how many bytes of text have at most so many tokens.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    tokens: usize,
    /// A count that is near enough to `tokens`.
    enough: usize,
    /// Bytes to look at first.
    stride: usize,
    /// Steps that guess instead of halving.
    guesses: usize,
}

impl Reach {
    /// A search that stops within a hundredth of `tokens`, at the last character that fits where that is less than one.
    pub(super) const fn new(tokens: usize) -> Self {
        let enough = if tokens < 100 { usize::MAX } else { tokens - tokens / 100 };
        Self { tokens, enough, stride: tokens.saturating_mul(4), guesses: 6 }
    }

    /// The same to the last character that fits.
    pub(super) const fn exactly(mut self) -> Self {
        self.enough = usize::MAX;
        self
    }

    /// The same by halves only.
    pub(super) const fn by_halves(mut self) -> Self {
        self.guesses = 0;
        self
    }

    /// Bytes from `from` on that fit, white space at their end not counted.
    pub(super) fn forwards<C: TokenCounter>(
        &mut self,
        text: &str,
        from: usize,
        counter: &C,
    ) -> Result<usize, TokenError> {
        let count = |bytes| counter.count(text[Span::new(from, from + bytes)].trim_end());
        self.furthest(text.len() - from, |bytes| text.is_char_boundary(from + bytes), count)
    }

    /// Bytes in front of the end of `span`, and inside it, that fit.
    pub(super) fn backwards<C: TokenCounter>(
        &mut self,
        text: &str,
        span: Span,
        counter: &C,
    ) -> Result<usize, TokenError> {
        let count = |bytes| counter.count(text[Span::new(span.end() - bytes, span.end())].trim_start());
        self.furthest(span.len(), |bytes| text.is_char_boundary(span.end() - bytes), count)
    }

    /// The largest distance found, up to `max`, that `count` gives few enough tokens; 0 if there is none.
    fn furthest(
        &mut self,
        max: usize,
        is_boundary: impl Fn(usize) -> bool,
        count: impl Fn(usize) -> Result<usize, TokenError>,
    ) -> Result<usize, TokenError> {
        let up = |at: usize| (at..max).find(|&at| is_boundary(at)).unwrap_or(max);
        let down = |at: usize| (0..=at).rev().find(|&at| is_boundary(at)).unwrap_or(0);
        let (mut low, mut at) = ((0, 0), up(self.stride.max(1).min(max)));
        let mut high = loop {
            let tokens = count(at)?;
            if tokens > self.tokens {
                break (at, tokens);
            }
            if at == max {
                return Ok(max);
            }
            low = (at, tokens);
            at = up(at.saturating_mul(2).min(max));
        };
        let mut step = 0;
        while low.1 < self.enough && up(low.0 + 1) < high.0 {
            let room = high.0 - low.0;
            // Half a token more: to land behind the last one that fits.
            let share = (2 * (self.tokens - low.1) + 1) as f64 / (2 * (high.1 - low.1)) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of `room`")]
            let guess = if step < self.guesses { low.0 + (room as f64 * share) as usize } else { low.0 + room / 2 };
            let at = down(guess.min(high.0 - 1));
            let at = if at > low.0 { at } else { up(low.0 + 1) };
            let tokens = count(at)?;
            if tokens <= self.tokens {
                low = (at, tokens);
            } else {
                high = (at, tokens);
            }
            step += 1;
        }
        // The next stretch is about as dense: a little more than fitted now will not fit.
        self.stride = low.0 + low.0 / 8;
        Ok(low.0)
    }
}
