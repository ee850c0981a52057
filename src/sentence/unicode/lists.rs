//! Markers of list items, and passages that hold several items on one line.

use crate::span::Span;

/// Bullets; those of the second row need no white space behind them.
const BULLETS: &[char] = &['-', '*', '+', '–', '•', '⁃', '‣', '◦', '▪', '●'];
const TIGHT: &[char] = &['•', '⁃', '‣', '◦', '▪', '●'];

/// Words in front of a number that join it to the one before rather than begin an item.
const JOINING: &[&str] =
    &["and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e", "a", "en", "og", "и", "или"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Bullet(char),
    Number,
    Letter,
    SmallRoman,
    GreatRoman,
}

/// What an item of a list begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    style: Style,
    value: u32,
    opener: &'static str,
    closer: &'static str,
    /// Its length in bytes.
    pub(super) len: usize,
}

impl Marker {
    /// The marker `text` begins with. It ends before white space.
    pub(super) fn of(text: &str) -> Option<Self> {
        let first = text.chars().next()?;
        if BULLETS.contains(&first) {
            let len = first.len_utf8();
            let spaced = text.split_at(len).1.starts_with(char::is_whitespace);
            return (spaced || TIGHT.contains(&first)).then_some(Self {
                style: Style::Bullet(first),
                value: 0,
                opener: "",
                closer: "",
                len,
            });
        }
        let opener = if first == '(' { "(" } else { "" };
        let label = text.strip_prefix(opener)?;
        let label_len = label.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
        let (label, rest) = label.split_at(label_len);
        let closer = [".)", ")", "."].into_iter().find(|&closer| rest.starts_with(closer))?;
        if opener == "(" && closer == "."
            || rest.split_at(closer.len()).1.chars().next().is_some_and(|c| !c.is_whitespace())
        {
            return None;
        }
        let (style, value) = read(label)?;
        Some(Self { style, value, opener, closer, len: opener.len() + label_len + closer.len() })
    }

    /// Whether it needs no proof: a bullet, a bracket, or the first of its kind.
    pub(super) fn is_certain(&self) -> bool {
        matches!(self.style, Style::Bullet(_)) || self.closer != "." || self.value <= 1
    }

    /// The text of the marker that follows it.
    pub(super) fn successor(&self) -> String {
        let value = self.value + 1;
        let label = match self.style {
            Style::Bullet(bullet) => bullet.to_string(),
            Style::Number => value.to_string(),
            Style::Letter => char::from_u32(u32::from('a') + self.value)
                .filter(char::is_ascii_lowercase)
                .map(String::from)
                .unwrap_or_default(),
            Style::SmallRoman => roman(value),
            Style::GreatRoman => roman(value).to_uppercase(),
        };
        format!("{}{label}{}", self.opener, self.closer)
    }
}

/// What the label of a marker counts.
fn read(label: &str) -> Option<(Style, u32)> {
    let bytes = label.as_bytes();
    if (1..=3).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit) {
        return Some((Style::Number, label.parse().ok()?));
    }
    let small = label.to_lowercase();
    if let Some(value) = (1..=39).find(|&value| roman(value) == small) {
        return match label {
            _ if label == small => Some((Style::SmallRoman, value)),
            _ if label == small.to_uppercase() => Some((Style::GreatRoman, value)),
            _ => None,
        };
    }
    match bytes {
        [letter @ b'a'..=b'z'] => Some((Style::Letter, u32::from(letter - b'a') + 1)),
        _ => None,
    }
}

/// `value` in small Roman numerals; lists do not pass 39.
fn roman(value: u32) -> String {
    const ONES: [&str; 10] = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];
    let (tens, ones) = (value / 10, value % 10);
    "x".repeat(tens as usize) + ONES[ones as usize]
}

/// The items of a passage that begins with a marker; the passage itself where it holds no second one.
pub(super) fn items(text: &str, passage: Span) -> impl Iterator<Item = Span> {
    let mut rest = Some(passage);
    let mut marker = Marker::of(&text[passage]);
    std::iter::from_fn(move || {
        let span = rest.take()?;
        let Some(next) = marker.and_then(|marker| next_item(&text[span], marker)) else { return Some(span) };
        let (item, tail) = (Span::new(span.start(), span.start() + next), Span::new(span.start() + next, span.end()));
        marker = marker.map(|marker| Marker { value: marker.value + 1, ..marker });
        rest = Some(tail);
        item.trimmed(text).or(Some(item))
    })
}

/// Where in `text`, which begins with `marker`, the next item begins.
fn next_item(text: &str, marker: Marker) -> Option<usize> {
    let wanted = marker.successor();
    // A dash or an asterisk inside a line is as a rule no bullet; the alphabet ends.
    let tight = !matches!(marker.style, Style::Bullet(bullet) if !TIGHT.contains(&bullet));
    if !tight || wanted.len() == marker.opener.len() + marker.closer.len() {
        return None;
    }
    let (_, behind) = text.split_at(marker.len);
    behind.match_indices(&wanted).map(|(at, _)| at + marker.len).find(|&at| {
        let (head, tail) = text.split_at(at);
        let before = head.trim_end();
        before.len() < head.len()
            && Marker::of(tail)
                .is_some_and(|next| next.opener.len() + next.closer.len() < next.len && next.closer == marker.closer)
            && before.len() > marker.len
            && !before.ends_with([',', ';'])
            && !joins(before)
    })
}

/// Whether the last word of `text` joins a number to the one before. It looks back no further than such words are long.
fn joins(text: &str) -> bool {
    JOINING.iter().any(|word| {
        text.strip_suffix(word).is_some_and(|head| head.chars().next_back().is_none_or(char::is_whitespace))
    })
}
