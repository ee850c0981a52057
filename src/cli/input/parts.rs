//! A text that is read part by part: what comes through a pipe, and files too long to be held.

use std::io::{self, Read};
use std::mem;

use anyhow::Context;

use super::decode::{DecodeError, check_start};

/// Most bytes of a part.
const PART: usize = 1 << 18;

/// Bytes that tell a format or an encoding.
const START: usize = 8;

/// The text of a reader, UTF-8, part by part.
pub(in crate::cli) struct Parts {
    reader: Box<dyn Read>,
    /// Bytes that are read and not handed out: the start of a character, or of the text.
    held: Vec<u8>,
    /// Where those lie.
    byte: usize,
    line: usize,
    ended: bool,
}

impl Parts {
    pub(super) fn new(reader: Box<dyn Read>) -> Self {
        Self { reader, held: Vec::new(), byte: 0, line: 1, ended: false }
    }

    /// The next part, as soon as there is one; `None` where the text has ended. What is valid before a broken byte is
    /// handed out before the error.
    pub(in crate::cli) fn next_part(&mut self) -> anyhow::Result<Option<String>> {
        while !self.ended {
            self.read().context("it cannot be read")?;
            if self.byte == 0 {
                if self.held.len() < START && !self.ended {
                    continue;
                }
                check_start(&self.held)?;
            }
            let valid = match str::from_utf8(&self.held) {
                Ok(text) => text.len(),
                Err(error) if error.valid_up_to() > 0 => error.valid_up_to(),
                Err(error) if error.error_len().is_none() && !self.ended => continue,
                Err(_) => return Err(DecodeError::Utf8 { byte: self.byte, line: self.line }.into()),
            };
            let behind = self.held.split_off(valid);
            let part = mem::replace(&mut self.held, behind);
            // A broken end is still to be complained of.
            self.ended &= self.held.is_empty();
            self.byte += part.len();
            self.line += memchr::memchr_iter(b'\n', &part).count();
            if !part.is_empty() {
                return Ok(Some(String::from_utf8(part)?));
            }
        }
        Ok(None)
    }

    /// Reads what is there, waiting only where nothing is.
    fn read(&mut self) -> io::Result<()> {
        let before = self.held.len();
        self.held.resize(before + PART, 0);
        let read = loop {
            match self.reader.read(&mut self.held[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.held.truncate(before + read.as_ref().map_or(0, |&read| read));
        self.ended = read? == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let take = self.1.min(self.0.len()).min(buffer.len());
            buffer[..take].copy_from_slice(&self.0[..take]);
            self.0.drain(..take);
            Ok(take)
        }
    }

    fn read(bytes: &[u8], at_once: usize) -> (String, Option<String>) {
        let mut parts = Parts::new(Box::new(Slow(bytes.to_vec(), at_once)));
        let mut text = String::new();
        loop {
            match parts.next_part() {
                Ok(Some(part)) => text += &part,
                Ok(None) => return (text, None),
                Err(error) => return (text, Some(format!("{error:#}"))),
            }
        }
    }

    #[test]
    fn parts_make_up_the_text_wherever_they_end() {
        let text = "\u{feff}né\r\n漢字 🙂\n";
        for at_once in 1..=text.len() {
            assert_eq!(read(text.as_bytes(), at_once), (text.to_owned(), None));
        }
        assert_eq!(read(b"", 1), (String::new(), None));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_place() {
        for at_once in 1..12 {
            let (text, error) = read(b"one\ntwo\xFFthree", at_once);
            assert_eq!(text, "one\ntwo");
            assert!(error.unwrap().starts_with("not valid UTF-8 at byte 7 (line 2): "));
            let (text, error) = read("one\ntwo 漢".as_bytes().split_last().unwrap().1, at_once);
            assert_eq!(text, "one\ntwo ");
            assert!(error.unwrap().starts_with("not valid UTF-8 at byte 8 (line 2): "));
            assert!(read(b"%PDF-1.7 and more", at_once).1.unwrap().contains("a PDF file"));
            assert!(read(b"\xFF\xFEh\0i\0", at_once).1.unwrap().contains("UTF-16LE"));
        }
    }
}
