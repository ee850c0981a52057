//! Overlap: sentences that a chunk takes over from the end of the chunk before it.

use super::ChunkError;
use super::units::Units;
use super::window::Rules;
use std::ops::Range;

/// How many units in front of `chunk` it takes over: as many as asked for, unless the cap, a border or the start of
/// the text comes first.
pub(super) fn overlap(rules: &Rules<'_>, units: &Units<'_>, chunk: &Range<usize>) -> Result<usize, ChunkError> {
    let mut taken = 0;
    while taken < rules.overlap_sentences && taken < chunk.start {
        let start = chunk.start - taken - 1;
        if units.border_before(start + 1) || !rules.fits(units.chunk_text(start..chunk.end))? {
            break;
        }
        taken += 1;
    }
    Ok(taken)
}
