//! The entries of a vocabulary by their spelling, and which of them is the longest that a word begins with.
//!
//! Nearly every entry has at most [`SHORT`] bytes. Those lie in a table of keys that hold the spelling itself, so that
//! to look one up is one multiplication and, as a rule, one comparison; the few others are in a map.

use std::collections::HashMap;

/// Bytes of the longest spelling that a key holds; the last byte of the key is the length.
pub(super) const SHORT: usize = 15;

/// Entries and their ids.
pub(super) struct Entries {
    /// A power of two, half of them empty at least; an entry lies at the place of its hash or behind it.
    slots: Box<[Slot]>,
    /// How far a hash is shifted to be a place.
    shift: u32,
    long: HashMap<Box<str>, u32>,
    /// Bytes of the longest entry.
    longest: usize,
}

/// An entry; the key 0 is that of none.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: Key,
    id: u32,
}

/// A spelling of at most [`SHORT`] bytes and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key([u64; 2]);

impl Key {
    /// The key of the first `len` bytes, of which there are at most [`SHORT`].
    pub(super) fn new(bytes: &[u8; SHORT + 1], len: usize) -> Self {
        Self::of(u128::from_le_bytes(*bytes), len)
    }

    fn of(bytes: u128, len: usize) -> Self {
        let (spelling, len) = (bytes & ((1 << (8 * len)) - 1), len as u64);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let [low, high] = [spelling as u64, (spelling >> 64) as u64];
        Self([low, high | len << 56])
    }

    const fn is_none(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// Mixed so that the upper bits depend on all of the key.
    const fn hash(self) -> u64 {
        let [low, high] = self.0;
        let mixed = (low ^ 0x9e37_79b9_7f4a_7c15) as u128 * (high ^ 0xd1b5_4a32_d192_ed03) as u128;
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let folded = mixed as u64 ^ (mixed >> 64) as u64;
        folded.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Entries {
    pub(super) fn new<'a>(entries: impl Iterator<Item = (&'a str, u32)>) -> Self {
        let (short, long): (Vec<_>, Vec<_>) =
            entries.filter(|(entry, _)| !entry.is_empty()).partition(|(entry, _)| entry.len() <= SHORT);
        let longest = short.iter().chain(&long).map(|(entry, _)| entry.len()).max().unwrap_or(0);
        let size = (2 * short.len() + 2).next_power_of_two();
        let mut made = Self {
            slots: vec![Slot::default(); size].into(),
            shift: u64::BITS - size.ilog2(),
            long: long.into_iter().map(|(entry, id)| (entry.into(), id)).collect(),
            longest,
        };
        for (entry, id) in short {
            let key = Key::of(first_bytes(entry.as_bytes()), entry.len());
            let place = made.place(key);
            made.slots[place] = Slot { key, id };
        }
        made
    }

    /// Where the entry of this key lies, or would.
    fn place(&self, key: Key) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "there are no more slots than addresses")]
        let mut place = (key.hash() >> self.shift) as usize;
        while !(self.slots[place].key == key || self.slots[place].key.is_none()) {
            place = (place + 1) & (self.slots.len() - 1);
        }
        place
    }

    /// The id of the entry with this key.
    pub(super) fn get(&self, key: Key) -> Option<u32> {
        let slot = self.slots[self.place(key)];
        (!slot.key.is_none()).then_some(slot.id)
    }

    /// The longest entry that `word` begins with: its id and its length in bytes.
    pub(super) fn longest_start(&self, word: &str) -> Option<(u32, usize)> {
        let most = word.len().min(self.longest);
        if most > SHORT {
            let lengths = (SHORT + 1..=most).rev().filter_map(|len| word.get(..len));
            if let Some(found) = lengths.into_iter().find_map(|start| Some((*self.long.get(start)?, start.len()))) {
                return Some(found);
            }
        }
        let bytes = first_bytes(word.as_bytes());
        let lengths = (1..=most.min(SHORT)).rev().filter(|&len| word.is_char_boundary(len));
        lengths.into_iter().find_map(|len| Some((self.get(Key::of(bytes, len))?, len)))
    }
}

/// The first bytes of a text, as many as a number has, zeros behind its end.
fn first_bytes(text: &[u8]) -> u128 {
    let mut bytes = [0; SHORT + 1];
    let len = text.len().min(SHORT + 1);
    bytes[..len].copy_from_slice(&text[..len]);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every start of the word, the longest first, looked for one by one.
    fn plain(entries: &HashMap<String, u32>, word: &str) -> Option<(u32, usize)> {
        let starts = word.char_indices().rev().map(|(at, c)| &word[..at + c.len_utf8()]);
        starts.into_iter().find_map(|start| Some((*entries.get(start)?, start.len())))
    }

    proptest! {
        #[test]
        fn the_longest_start_is_that_of_a_plain_search(
            entries in prop::collection::hash_map("[abé\0漢]{0,20}", 0..1000_u32, 0..60),
            word in "[abé\0漢]{0,24}",
        ) {
            let made = Entries::new(entries.iter().map(|(entry, &id)| (entry.as_str(), id)));
            prop_assert_eq!(made.longest_start(&word), plain(&entries, &word));
            for entry in entries.keys() {
                prop_assert_eq!(made.longest_start(entry), plain(&entries, entry));
            }
        }
    }

    #[test]
    fn a_zero_byte_is_a_letter_like_any_other() {
        let made = Entries::new([("a", 1), ("a\0", 2)].into_iter());
        assert_eq!(made.longest_start("a\0\0"), Some((2, 2)));
        assert_eq!(made.longest_start("ab"), Some((1, 1)));
    }

    #[test]
    fn of_no_entries_none_is_found() {
        assert_eq!(Entries::new(std::iter::empty()).longest_start("tide"), None);
    }
}
