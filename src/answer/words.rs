//! The words by which texts are compared.

use std::fmt;
use std::str::FromStr;

use unicode_normalization_alignments::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::AnswerError;

/// Languages with a stemmer.
pub(super) const LANGUAGES: [&str; 18] = [
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
];

/// A Snowball stemmer, chosen by the name of its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stem {
    name: &'static str,
}

impl FromStr for Stem {
    type Err = AnswerError;

    fn from_str(name: &str) -> Result<Self, AnswerError> {
        if !cfg!(feature = "answer") {
            return Err(AnswerError::NotCompiled);
        }
        let known = LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        known.map(|name| Self { name }).ok_or_else(|| AnswerError::UnknownStem { name: name.to_owned() })
    }
}

impl fmt::Display for Stem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Stem {
    #[cfg(feature = "answer")]
    fn stem(self, word: &str) -> String {
        use rust_stemmers::{Algorithm, Stemmer};
        let algorithm = match self.name {
            "arabic" => Algorithm::Arabic,
            "danish" => Algorithm::Danish,
            "dutch" => Algorithm::Dutch,
            "finnish" => Algorithm::Finnish,
            "french" => Algorithm::French,
            "german" => Algorithm::German,
            "greek" => Algorithm::Greek,
            "hungarian" => Algorithm::Hungarian,
            "italian" => Algorithm::Italian,
            "norwegian" => Algorithm::Norwegian,
            "portuguese" => Algorithm::Portuguese,
            "romanian" => Algorithm::Romanian,
            "russian" => Algorithm::Russian,
            "spanish" => Algorithm::Spanish,
            "swedish" => Algorithm::Swedish,
            "tamil" => Algorithm::Tamil,
            "turkish" => Algorithm::Turkish,
            _ => Algorithm::English,
        };
        Stemmer::create(algorithm).stem(word).into_owned()
    }

    #[cfg(not(feature = "answer"))]
    fn stem(self, word: &str) -> String {
        let _ = self;
        word.to_owned()
    }
}

/// The words of a text: those of UAX #29 in NFKC and small letters, stemmed where asked for.
///
/// Scripts written without spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese) give every two neighbouring
/// characters as a word, and so does Hangul, whose particles cling to their nouns. There is no list of stop words:
/// whoever compares weighs words by how rare they are.
///
/// ```
/// use horchunk::answer::Words;
///
/// assert_eq!(Words::default().of("The Tides, 潮汐表!"), ["the", "tides", "潮汐", "汐表"]);
/// assert_eq!(Words::default().with_stem("english".parse()?).of("The Tides"), ["the", "tide"]);
/// # Ok::<(), horchunk::answer::AnswerError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    stem: Option<Stem>,
}

impl Words {
    /// The same with words brought to their stems.
    #[must_use]
    pub fn with_stem(mut self, stem: Stem) -> Self {
        self.stem = Some(stem);
        self
    }

    /// The words of `text`, in order, repeated as they are repeated there.
    #[must_use]
    pub fn of(&self, text: &str) -> Vec<String> {
        let text: String = text.nfkc().map(|(c, _)| c).flat_map(char::to_lowercase).collect();
        let mut words = Vec::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let dense = is_dense(first);
            let end = rest.find(|c| is_dense(c) != dense).unwrap_or(rest.len());
            let (run, behind) = rest.split_at(end);
            rest = behind;
            if dense {
                words.extend(pairs(run));
            } else {
                let stemmed = run.unicode_words().map(|word| match self.stem {
                    Some(stem) => stem.stem(word),
                    None => word.to_owned(),
                });
                words.extend(stemmed);
            }
        }
        words
    }
}

/// Every two neighbouring characters of `run`; the only one if there is one.
fn pairs(run: &str) -> impl Iterator<Item = String> {
    let ends = run.char_indices().map(|(at, c)| at + c.len_utf8()).collect::<Vec<_>>();
    let pairs = run.char_indices().zip(ends.clone().into_iter().skip(1)).map(|((at, _), end)| run[at..end].to_owned());
    let single = (ends.len() == 1).then(|| run.to_owned());
    pairs.chain(single).collect::<Vec<_>>().into_iter()
}

/// Whether `c` belongs to a script of which pairs of characters are compared.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c),
        0x0e01..=0x0e3a | 0x0e40..=0x0e4e // Thai
        | 0x0e81..=0x0ecd // Lao
        | 0x1000..=0x103f | 0x1050..=0x108f // Burmese
        | 0x1100..=0x11ff | 0xac00..=0xd7ff // Hangul
        | 0x1780..=0x17d3 // Khmer
        | 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff // Han
        | 0x3041..=0x309f | 0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff // Hiragana, Katakana
    )
}
