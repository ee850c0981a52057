//! From bytes to text: UTF-8, with errors that name what the bytes are instead.

/// Why bytes are no text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum DecodeError {
    #[error(
        "not valid UTF-8 at byte {byte} (line {line}): convert the file, or read on with --lossy, which puts U+FFFD there"
    )]
    Utf8 { byte: usize, line: usize },
    #[error("this is {encoding} (byte-order mark at byte 0), not UTF-8: convert it (iconv -f {encoding} -t UTF-8){or}")]
    Encoding { encoding: &'static str, or: &'static str },
    #[error("this is a {format} file, not text: extract its text first")]
    Binary { format: &'static str },
}

/// The text of `bytes`, and whether it is another than the bytes say. With `lossy`, UTF-16 is decoded and broken
/// UTF-8 replaced.
pub(in crate::cli) fn decode(bytes: Vec<u8>, lossy: bool) -> Result<(String, bool), DecodeError> {
    if lossy && let Some((mark, _, Some(unit))) = encoding(&bytes) {
        return Ok((utf16(&bytes[mark.len()..], *unit), true));
    }
    check_start(&bytes)?;
    String::from_utf8(bytes).map(|text| (text, false)).or_else(|error| {
        if lossy {
            return Ok((String::from_utf8_lossy(error.as_bytes()).into_owned(), true));
        }
        let byte = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..byte].split(|&b| b == b'\n').count();
        Err(DecodeError::Utf8 { byte, line })
    })
}

/// Whether a text can begin with these bytes: the first eight tell.
pub(super) fn check_start(bytes: &[u8]) -> Result<(), DecodeError> {
    if let Some((_, format)) = FORMATS.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Err(DecodeError::Binary { format });
    }
    match encoding(bytes) {
        Some((_, encoding, Some(_))) => Err(DecodeError::Encoding { encoding, or: ", or use --lossy" }),
        Some((_, encoding, None)) => Err(DecodeError::Encoding { encoding, or: "" }),
        None => Ok(()),
    }
}

/// The encoding whose byte-order mark stands at the start.
fn encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|(mark, ..)| bytes.starts_with(mark))
}

/// A byte-order mark, the name of what it begins, and how its units are read where we can.
type Encoding = (&'static [u8], &'static str, Option<Unit>);

type Unit = fn([u8; 2]) -> u16;

/// Byte-order marks, longer ones first.
const ENCODINGS: [Encoding; 4] = [
    (&[0xFF, 0xFE, 0, 0], "UTF-32LE", None),
    (&[0, 0, 0xFE, 0xFF], "UTF-32BE", None),
    (&[0xFF, 0xFE], "UTF-16LE", Some(u16::from_le_bytes)),
    (&[0xFE, 0xFF], "UTF-16BE", Some(u16::from_be_bytes)),
];

/// First bytes of formats that people try to chunk.
const FORMATS: [(&[u8], &str); 12] = [
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP, DOCX, XLSX, PPTX, ODT or EPUB"),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "DOC, XLS or PPT"),
    (b"{\\rtf", "RTF"),
    (b"\x1F\x8B", "gzip"),
    (b"BZh91AY&SY", "bzip2"),
    (b"\x28\xB5\x2F\xFD", "Zstandard"),
    (b"\xFD7zXZ\x00", "xz"),
    (b"\x89PNG", "PNG"),
    (b"\xFF\xD8\xFF", "JPEG"),
    (b"GIF89a", "GIF"),
    (b"\x7FELF", "ELF"),
];

fn utf16(bytes: &[u8], unit: Unit) -> String {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| unit(pair));
    let decoded = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    decoded.chain(odd.iter().map(|_| char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_byte_is_named_with_its_line() {
        assert_eq!(decode(b"ab\ncd\xFFe".to_vec(), false), Err(DecodeError::Utf8 { byte: 5, line: 2 }));
        assert_eq!(decode(b"ab\ncd\xFFe".to_vec(), true), Ok(("ab\ncd\u{fffd}e".to_owned(), true)));
    }

    #[test]
    fn utf_16_is_named_and_decoded_on_request() {
        let bytes = vec![0xFF, 0xFE, b'h', 0, b'i', 0, b'!'];
        assert_eq!(
            decode(bytes.clone(), false),
            Err(DecodeError::Encoding { encoding: "UTF-16LE", or: ", or use --lossy" })
        );
        assert_eq!(decode(bytes, true), Ok(("hi\u{fffd}".to_owned(), true)));
    }

    #[test]
    fn a_utf_8_mark_stays_in_the_text() {
        assert_eq!(decode("\u{feff}x\0y".into(), false), Ok(("\u{feff}x\0y".to_owned(), false)));
    }

    #[test]
    fn formats_are_named() {
        assert_eq!(decode(b"%PDF-1.7 ...".to_vec(), true), Err(DecodeError::Binary { format: "PDF" }));
    }
}
