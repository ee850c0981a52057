//! The marks that can end a sentence, and those that may stand between a stop and the border behind it.
//!
//! The property `Sentence_Terminal` and the class `ATerm` of UAX #29, told apart by what each needs to end a sentence.

use unicode_segmentation::GraphemeCursor;

/// What a stop needs behind it to end a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// `.` and its kin: white space, and no small letter behind it; it may belong to an abbreviation.
    Dot,
    /// U+2026 and U+2025, like three full stops.
    Ellipsis,
    /// `!`, `?` and their kin: white space.
    Mark,
    /// The stops of scripts that need no white space behind them.
    Full,
}

/// The kind of stop `c` is, if any.
pub(super) fn stop(c: char) -> Option<Stop> {
    match c {
        '.' | '\u{2024}' | '\u{fe52}' | '\u{ff0e}' => Some(Stop::Dot),
        '…' | '‥' => Some(Stop::Ellipsis),
        '!' | '?' | '‼' | '‽' | '⁇'..='⁉' | '⸮' => Some(Stop::Mark),
        '\0'..='\u{588}' => None,
        _ => is_full_stop(c).then_some(Stop::Full),
    }
}

/// `Sentence_Terminal` outside the Latin, Greek and Cyrillic scripts (Unicode 16).
fn is_full_stop(c: char) -> bool {
    let behind = FULL_STOPS.partition_point(|&(first, _)| first <= c);
    behind > 0 && c <= FULL_STOPS[behind - 1].1
}

/// First and last of each range of full stops. U+104A is left out: it divides like a comma in Burmese.
#[rustfmt::skip]
pub(super) const FULL_STOPS: &[(char, char)] = &[
    ('\u{589}', '\u{589}'), ('\u{61d}', '\u{61f}'), ('\u{6d4}', '\u{6d4}'), ('\u{700}', '\u{702}'),
    ('\u{7f9}', '\u{7f9}'), ('\u{837}', '\u{837}'), ('\u{839}', '\u{839}'), ('\u{83d}', '\u{83e}'),
    ('\u{964}', '\u{965}'), ('\u{104b}', '\u{104b}'), ('\u{1362}', '\u{1362}'), ('\u{1367}', '\u{1368}'),
    ('\u{166e}', '\u{166e}'), ('\u{1735}', '\u{1736}'), ('\u{17d4}', '\u{17d5}'), ('\u{1803}', '\u{1803}'),
    ('\u{1809}', '\u{1809}'), ('\u{1944}', '\u{1945}'), ('\u{1aa8}', '\u{1aab}'), ('\u{1b4e}', '\u{1b4f}'),
    ('\u{1b5a}', '\u{1b5b}'), ('\u{1b5e}', '\u{1b5f}'), ('\u{1b7d}', '\u{1b7f}'), ('\u{1c3b}', '\u{1c3c}'),
    ('\u{1c7e}', '\u{1c7f}'), ('\u{2cf9}', '\u{2cfb}'), ('\u{2e3c}', '\u{2e3c}'), ('\u{2e53}', '\u{2e54}'),
    ('\u{3002}', '\u{3002}'), ('\u{a4ff}', '\u{a4ff}'), ('\u{a60e}', '\u{a60f}'), ('\u{a6f3}', '\u{a6f3}'),
    ('\u{a6f7}', '\u{a6f7}'), ('\u{a876}', '\u{a877}'), ('\u{a8ce}', '\u{a8cf}'), ('\u{a92f}', '\u{a92f}'),
    ('\u{a9c8}', '\u{a9c9}'), ('\u{aa5d}', '\u{aa5f}'), ('\u{aaf0}', '\u{aaf1}'), ('\u{abeb}', '\u{abeb}'),
    ('\u{fe12}', '\u{fe12}'), ('\u{fe15}', '\u{fe16}'), ('\u{fe56}', '\u{fe57}'), ('\u{ff01}', '\u{ff01}'),
    ('\u{ff1f}', '\u{ff1f}'), ('\u{ff61}', '\u{ff61}'), ('\u{10a56}', '\u{10a57}'), ('\u{10f55}', '\u{10f59}'),
    ('\u{10f86}', '\u{10f89}'), ('\u{11047}', '\u{11048}'), ('\u{110be}', '\u{110c1}'), ('\u{11141}', '\u{11143}'),
    ('\u{111c5}', '\u{111c6}'), ('\u{111cd}', '\u{111cd}'), ('\u{111de}', '\u{111df}'), ('\u{11238}', '\u{11239}'),
    ('\u{1123b}', '\u{1123c}'), ('\u{112a9}', '\u{112a9}'), ('\u{113d4}', '\u{113d5}'), ('\u{1144b}', '\u{1144c}'),
    ('\u{115c2}', '\u{115c3}'), ('\u{115c9}', '\u{115d7}'), ('\u{11641}', '\u{11642}'), ('\u{1173c}', '\u{1173e}'),
    ('\u{11944}', '\u{11944}'), ('\u{11946}', '\u{11946}'), ('\u{11a42}', '\u{11a43}'), ('\u{11a9b}', '\u{11a9c}'),
    ('\u{11c41}', '\u{11c42}'), ('\u{11ef7}', '\u{11ef8}'), ('\u{11f43}', '\u{11f44}'), ('\u{16a6e}', '\u{16a6f}'),
    ('\u{16af5}', '\u{16af5}'), ('\u{16b37}', '\u{16b38}'), ('\u{16b44}', '\u{16b44}'), ('\u{16d6e}', '\u{16d6f}'),
    ('\u{16e98}', '\u{16e98}'), ('\u{1bc9f}', '\u{1bc9f}'), ('\u{1da88}', '\u{1da88}'),
];

/// Marks that show nothing and change nothing: soft hyphen, zero-width space and joiners, direction marks, BOM.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Emoji, their modifiers and joiners, as far as they decorate a sentence from behind.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0e}' | '\u{fe0f}' | '\u{200d}' | '\u{20e3}' | '\u{e0020}'..='\u{e007f}')
}

/// The first edge of a grapheme cluster at or behind `at`.
pub(super) fn cluster_edge(text: &str, at: usize) -> usize {
    // Between two ASCII characters only CR LF is no edge, and no stop stands between those.
    let bytes = text.as_bytes();
    if bytes.get(at).is_none_or(u8::is_ascii) && at.checked_sub(1).is_none_or(|before| bytes[before].is_ascii()) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        at
    } else {
        cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
    }
}
