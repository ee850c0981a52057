//! One pass over a text: from bytes to words to ids.
//!
//! A word of ASCII letters and digits up to white space or punctuation is what most text is made of, and nothing can
//! happen to it but small letters: it is looked up as it stands. All else goes character by character through
//! [`Words`], until that holds no letter any more.

use super::WordPiece;
use super::entries::{Key, SHORT};
use super::word::Words;

/// What an ASCII byte is to BERT, whatever the settings of its normalizer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters and digits.
    Word,
    /// Ends a word and is none.
    Space,
    /// A word by itself.
    Mark,
    /// Controls, and bytes of other characters.
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            _ if byte.is_ascii_alphanumeric() => Class::Word,
            _ if byte.is_ascii_punctuation() => Class::Mark,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

impl WordPiece {
    /// Appends the ids of `text` to `ids`, which `go_on` sees behind every word; where it says no the pass ends. Answers
    /// with the number of bytes that were read.
    pub(super) fn scan(&self, text: &str, ids: &mut Vec<u32>, mut go_on: impl FnMut(&mut Vec<u32>) -> bool) -> usize {
        let bytes = text.as_bytes();
        let mut words = Words::new(self.normalizer, self.max_word);
        let mut at = 0;
        while at < bytes.len() {
            if words.is_empty() && self.max_word >= SHORT {
                match CLASSES[usize::from(bytes[at])] {
                    Class::Space => {
                        at += 1;
                        continue;
                    }
                    Class::Mark => {
                        ids.push(self.marks[usize::from(bytes[at])]);
                        at += 1;
                        if go_on(ids) {
                            continue;
                        }
                        return at;
                    }
                    Class::Word => {
                        let mut word = [0; SHORT + 1];
                        let len = self.short_word(&bytes[at..], &mut word);
                        if len > 0 {
                            self.encode_short(&word, len, ids);
                            at += len;
                            if go_on(ids) {
                                continue;
                            }
                            return at;
                        }
                    }
                    Class::Other => {}
                }
            }
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
            at += c.len_utf8();
            let before = ids.len();
            words.push(c, |letters| self.encode(letters, ids));
            if ids.len() > before && !go_on(ids) {
                return at;
            }
        }
        words.finish(|letters| self.encode(letters, ids));
        at
    }

    /// Copies the word that `bytes` begins with, in small letters if need be, and gives its length; 0 where it is longer
    /// than a key or what follows may change it.
    fn short_word(&self, bytes: &[u8], word: &mut [u8; SHORT + 1]) -> usize {
        let mut len = 0;
        for (out, &byte) in word.iter_mut().zip(bytes) {
            match CLASSES[usize::from(byte)] {
                Class::Word => *out = self.small[usize::from(byte)],
                Class::Space | Class::Mark => return len,
                Class::Other => return 0,
            }
            len += 1;
        }
        if len <= SHORT { len } else { 0 }
    }

    /// [`WordPiece::encode`] for a word of ASCII letters that fits a key.
    fn encode_short(&self, word: &[u8; SHORT + 1], len: usize, ids: &mut Vec<u32>) {
        if let Some(id) = self.starting.get(Key::new(word, len)) {
            return ids.push(id);
        }
        let before = ids.len();
        let (mut entries, mut start) = (&self.starting, 0);
        while start < len {
            let mut rest = [0; SHORT + 1];
            rest[..len - start].copy_from_slice(&word[start..len]);
            let longest = (1..=len - start).rev().find_map(|len| Some((entries.get(Key::new(&rest, len))?, len)));
            let Some((id, piece)) = longest else {
                ids.truncate(before);
                return ids.push(self.unknown);
            };
            ids.push(id);
            start += piece;
            entries = &self.continuing;
        }
    }
}
