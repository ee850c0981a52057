//! Kept white space: what lies between two chunks goes to the first of them, so that all chunks joined give the
//! text back byte for byte.
//!
//! White space that would carry a chunk over the cap stays outside and becomes chunks of its own, without sentences.

use super::ChunkError;
use super::window::Rules;
use crate::span::Span;

/// The spans that a chunk becomes: its own, grown by white space, and those of white space that does not fit.
pub(super) struct Grown {
    pub(super) before: Vec<Span>,
    pub(super) own: Span,
    pub(super) behind: Vec<Span>,
}

impl Grown {
    pub(super) const fn none(own: Span) -> Self {
        Self { before: Vec::new(), own, behind: Vec::new() }
    }
}

/// Grows `own` towards the ends of `whole`, between which lies white space only.
pub(super) fn grow(rules: &Rules<'_>, text: &str, own: Span, whole: Span) -> Result<Grown, ChunkError> {
    if rules.fits(&text[whole])? {
        return Ok(Grown::none(whole));
    }
    let leading = Span::new(whole.start(), own.start());
    let with_leading = Span::new(whole.start(), own.end());
    let (before, own) = if rules.fits(&text[with_leading])? {
        (Vec::new(), with_leading)
    } else {
        (pieces(rules, text, leading)?, own)
    };
    let end = longest(rules, text, own, whole.end())?;
    let behind = pieces(rules, text, Span::new(end, whole.end()))?;
    Ok(Grown { before, own: Span::new(own.start(), end), behind })
}

/// White space cut into pieces that keep the cap.
pub(super) fn pieces(rules: &Rules<'_>, text: &str, span: Span) -> Result<Vec<Span>, ChunkError> {
    let mut pieces = Vec::new();
    let mut start = span.start();
    while start < span.end() {
        let end = longest(rules, text, Span::new(start, start), span.end())?;
        if end == start {
            return Err(rules.too_small(text, start)?);
        }
        pieces.push(Span::new(start, end));
        start = end;
    }
    Ok(pieces)
}

/// The furthest end up to `limit` to which `own` can grow within the cap; only texts near that size are counted.
fn longest(rules: &Rules<'_>, text: &str, own: Span, limit: usize) -> Result<usize, ChunkError> {
    let fits = |end: usize| rules.fits(&text[Span::new(own.start(), end)]);
    let (mut good, mut step) = (own.end(), 1);
    let mut bad = loop {
        if good == limit {
            return Ok(limit);
        }
        let end = text.ceil_char_boundary(limit.min(good + step));
        if !fits(end)? {
            break end;
        }
        good = end;
        step *= 2;
    };
    loop {
        let middle = text.floor_char_boundary(usize::midpoint(good, bad));
        if middle <= good {
            return Ok(good);
        }
        if fits(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
}
