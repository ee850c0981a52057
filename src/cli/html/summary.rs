//! What a document, or all of them together, comes to: numbers, and the share of each reason as a bar.

use std::fmt::{self, Display};
use std::iter::Sum;

use horchunk::CutReason;

use super::Entry;

/// Every reason with the words for it, in the order in which bars and lists show them.
pub(super) const REASONS: [(CutReason, &str); 8] = [
    (CutReason::Similarity, "similarity too low"),
    (CutReason::MaxSentences, "as many sentences as allowed"),
    (CutReason::MaxTokens, "token cap"),
    (CutReason::Border, "paragraph border"),
    (CutReason::Size, "size reached"),
    (CutReason::Separator, "separator"),
    (CutReason::Model, "a language model"),
    (CutReason::End, "end of text"),
];

/// Where a chunk stands on the page: its document and its own number, both from 1; written as the chunk's element id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) document: usize,
    pub(super) chunk: usize,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.document, self.chunk)
    }
}

/// The numbers of one document or of several.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    pub(super) bytes: usize,
    pub(super) chunks: usize,
    pub(super) sentences: usize,
    /// For each of [`REASONS`], how many chunks end so and which is the first.
    cuts: [(usize, Option<Place>); REASONS.len()],
    /// Tokens of every chunk that was counted, sorted.
    sizes: Vec<usize>,
}

/// Tokens of all chunks, and of the smallest, the middle and the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) all: usize,
    pub(super) min: usize,
    pub(super) median: usize,
    pub(super) max: usize,
}

impl Summary {
    pub(super) fn new(document: usize, text: &str, entries: &[Entry<'_>]) -> Self {
        let mut summary = Self { bytes: text.len(), chunks: entries.len(), ..Self::default() };
        for (chunk, Entry { record, .. }) in (1..).zip(entries) {
            summary.sentences += record.sentences;
            summary.sizes.extend(record.tokens);
            if let Some(position) = REASONS.iter().position(|&(reason, _)| reason == record.reason) {
                summary.cuts[position].0 += 1;
                summary.cuts[position].1.get_or_insert(Place { document, chunk });
            }
        }
        summary.sizes.sort_unstable();
        summary
    }

    /// How many chunks end for this reason, and the first of them.
    pub(super) fn cuts(&self, reason: CutReason) -> (usize, Option<Place>) {
        REASONS.iter().zip(self.cuts).find(|((known, _), _)| *known == reason).map_or((0, None), |(_, cuts)| cuts)
    }

    /// `None` where nothing was counted.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        let (min, max) = (*self.sizes.first()?, *self.sizes.last()?);
        Some(Tokens { all: self.sizes.iter().sum(), min, median: self.sizes[self.sizes.len() / 2], max })
    }
}

impl<'a> Sum<&'a Self> for Summary {
    fn sum<I: Iterator<Item = &'a Self>>(summaries: I) -> Self {
        let mut total = Self::default();
        for summary in summaries {
            total.bytes += summary.bytes;
            total.chunks += summary.chunks;
            total.sentences += summary.sentences;
            total.sizes.extend(&summary.sizes);
            for (all, (count, first)) in total.cuts.iter_mut().zip(summary.cuts) {
                all.0 += count;
                all.1 = all.1.or(first);
            }
        }
        total.sizes.sort_unstable();
        total
    }
}

/// The share of each reason, as a picture for the eye only: the numbers stand beside it or in the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar<'a>(pub(super) &'a Summary);

impl Display for Bar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.chunks.max(1);
        write!(f, "<svg class=\"bar\" viewBox=\"0 0 {width} 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")?;
        let mut x = 0;
        for ((reason, _), (count, _)) in REASONS.iter().zip(self.0.cuts) {
            if count > 0 {
                write!(f, "<rect class=\"{reason}\" x=\"{x}\" width=\"{count}\" height=\"1\"/>")?;
                x += count;
            }
        }
        f.write_str("</svg>")
    }
}

/// A number with a comma before every three digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouped(pub(super) usize);

impl Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1000, self.0 % 1000) {
            (0, rest) => write!(f, "{rest}"),
            (thousands, rest) => write!(f, "{},{rest:03}", Self(thousands)),
        }
    }
}

/// A size in bytes, from a thousand on in kilobytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes(pub(super) usize);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..1000 => write!(f, "{bytes}\u{a0}B"),
            bytes => write!(f, "{}.{}\u{a0}kB", Grouped(bytes / 1000), bytes % 1000 / 100),
        }
    }
}
