//! Sets of characters as ranges: union, intersection, difference, size.
//!
//! Ranges are half-open and count characters of one corpus.

use std::ops::Range;

/// Characters of a set of disjoint ranges; of ranges that overlap, each counts.
pub(super) fn size(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// The same characters in disjoint ranges, in order; ranges that meet become one.
pub(super) fn union(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<_> = ranges.into_iter().collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// What two ranges share: `None` where they are apart, an empty range where they only meet.
pub(super) fn intersection(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (a.start.max(b.start), a.end.min(b.end));
    (start <= end).then_some(start..end)
}

/// The characters of `ranges` that are in none of `taken`.
pub(super) fn difference(ranges: &[Range<usize>], taken: &[Range<usize>]) -> Vec<Range<usize>> {
    let taken = union(taken.iter().filter(|range| !range.is_empty()).cloned());
    let mut rest = Vec::new();
    for range in ranges {
        let mut start = range.start;
        for hole in taken.iter().filter(|hole| hole.end > range.start && hole.start < range.end) {
            if hole.start > start {
                rest.push(start..hole.start);
            }
            start = start.max(hole.end);
        }
        if start < range.end {
            rest.push(start..range.end);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Vec<Range<usize>>> {
        prop::collection::vec((0..30_usize, 0..10_usize).prop_map(|(start, len)| start..start + len), 0..8)
    }

    fn set(ranges: &[Range<usize>]) -> BTreeSet<usize> {
        ranges.iter().cloned().flatten().collect()
    }

    proptest! {
        #[test]
        fn they_agree_with_sets_of_characters(a in ranges(), b in ranges()) {
            let merged = union(a.iter().cloned());
            prop_assert_eq!(set(&merged), set(&a));
            prop_assert!(merged.windows(2).all(|pair| pair[0].end < pair[1].start));

            let rest = difference(&merged, &b);
            prop_assert_eq!(set(&rest), &set(&a) - &set(&b));
            prop_assert_eq!(size(&rest), set(&rest).len());

            let shared: Vec<_> = merged.iter().flat_map(|x| b.iter().filter_map(|y| intersection(x, y))).collect();
            prop_assert_eq!(set(&shared), &set(&a) & &set(&b));
        }
    }

    #[test]
    fn ranges_that_meet_share_an_empty_range() {
        assert_eq!(intersection(&(0..3), &(3..5)), Some(3..3));
        assert_eq!(intersection(&(0..3), &(4..5)), None);
    }
}
