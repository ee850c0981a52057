//! Exact match and token F1 of an answer against the right ones, as SQuAD's script counts them.
//!
//! Both sides are made lower case, lose punctuation and the English articles, and are split at white space (Rajpurkar
//! et al. 2016). SQuAD knows English only; for other scripts we go on as MLQA does (Lewis et al. 2020): punctuation is
//! that of Unicode, and ideographs, which no space parts, are words of their own.

use std::collections::HashMap;

use serde::Serialize;
use unicode_categories::UnicodeCategories;

/// How right an answer is, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerScore {
    /// 1 where the words are those of a right answer, in their order; otherwise 0.
    pub exact: f64,
    /// Harmonic mean of precision and recall of the words.
    pub f1: f64,
    /// 1 where the words of a right answer stand in it, one behind the other; otherwise 0. It tells a sentence that holds
    /// the answer from one that does not, which F1 does not.
    pub holds: f64,
}

impl AnswerScore {
    const RIGHT: Self = Self { exact: 1.0, f1: 1.0, holds: 1.0 };

    /// Of an answer, or an abstention, against the right answers: the best of each figure over them. Where there is
    /// no right answer, abstaining is right and everything else is wrong.
    ///
    /// ```
    /// use horchunk::evaluation::AnswerScore;
    ///
    /// let right = ["the Rhine", "Rhine river"];
    /// assert_eq!(AnswerScore::of(Some("Rhine."), &right).exact, 1.0);
    /// assert_eq!(AnswerScore::of(Some("down the Rhine"), &right).f1, 2.0 / 3.0);
    /// assert_eq!(AnswerScore::of(None, &right).f1, 0.0);
    /// assert_eq!(AnswerScore::of(None, &[""; 0]).f1, 1.0);
    /// ```
    #[must_use]
    pub fn of(answer: Option<&str>, right: &[impl AsRef<str>]) -> Self {
        match answer {
            None if right.is_empty() => Self::RIGHT,
            None => Self::default(),
            Some(answer) => {
                let answer = words(answer);
                let scores = right.iter().map(|right| Self::of_words(&answer, &words(right.as_ref())));
                scores.fold(Self::default(), Self::best)
            }
        }
    }

    fn of_words(answer: &[String], right: &[String]) -> Self {
        if answer == right {
            return Self::RIGHT;
        }
        let mut left: HashMap<&str, usize> = HashMap::new();
        right.iter().for_each(|word| *left.entry(word).or_default() += 1);
        let shared = answer.iter().filter(|word| {
            let there = left.get_mut(word.as_str()).filter(|count| **count > 0);
            there.map(|count| *count -= 1).is_some()
        });
        // Twice the shared over all is the harmonic mean of precision and recall.
        let f1 = 2.0 * shared.count() as f64 / (answer.len() + right.len()) as f64;
        let holds = !right.is_empty() && answer.windows(right.len()).any(|words| words == right);
        Self { exact: 0.0, f1, holds: if holds { 1.0 } else { 0.0 } }
    }

    /// The better of each figure.
    #[must_use]
    pub const fn best(self, other: Self) -> Self {
        let Self { exact, f1, holds } = other;
        Self { exact: self.exact.max(exact), f1: self.f1.max(f1), holds: self.holds.max(holds) }
    }
}

/// The words that are compared.
fn words(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if is_ideograph(c) {
            plain.extend([' ', c, ' ']);
        } else if !c.is_ascii_punctuation() && !c.is_punctuation() {
            plain.push(c);
        }
    }
    plain.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the")).map(str::to_owned).collect()
}

/// Whether a character is of the unified ideographs, the first block or a later one.
const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(answer: &str, right: &[&str]) -> (f64, f64) {
        let AnswerScore { exact, f1, .. } = AnswerScore::of(Some(answer), right);
        (exact, f1)
    }

    #[test]
    fn words_lose_case_punctuation_and_articles() {
        assert_eq!(words("The  well-known, A.B.C. (an\tOAK)!"), ["wellknown", "abc", "oak"]);
        assert_eq!(words("Theatre anew a1"), ["theatre", "anew", "a1"]);
        assert_eq!(words("$5 + 3% “quoted” l’été"), ["5", "3", "quoted", "lété"]);
        assert!(words(" the. ").is_empty());
    }

    #[test]
    fn scripts_without_spaces_are_counted_by_ideographs() {
        assert_eq!(words("1921年。茶馆"), ["1921", "年", "茶", "馆"]);
        assert_eq!(words("الكتاب؟"), ["الكتاب"]);
        assert_eq!(words("नदी।"), ["नदी"]);
        // Two of three characters, and three of three: 2 * 3 / (3 + 4).
        assert_eq!(score("老茶馆", &["老茶馆里"]), (0.0, 6.0 / 7.0));
    }

    #[test]
    fn f1_counts_a_word_as_often_as_both_have_it() {
        // Shared: one "very" and "cold": precision 2/3, recall 2/2.
        assert_eq!(score("very very cold", &["very cold"]), (0.0, 0.8));
        assert_eq!(score("cold very", &["very cold"]), (0.0, 1.0));
        assert_eq!(score("warm", &["very cold"]), (0.0, 0.0));
    }

    #[test]
    fn a_sentence_holds_an_answer_whose_words_stand_together() {
        let holds = |answer: &str, right: &str| AnswerScore::of(Some(answer), &[right]).holds > 0.0;
        assert!(holds("It took the seventeen bridges.", "Seventeen Bridges"));
        assert!(!holds("Seventeen old bridges", "seventeen bridges"));
        assert!(!holds("artful", "art") && !holds("seventeen", "seventeen bridges") && !holds("x", "the"));
        assert!(holds("老茶馆里。", "茶馆"));
    }

    #[test]
    fn the_best_right_answer_counts() {
        assert_eq!(score("gypsum", &["salt with gypsum", "Gypsum."]), (1.0, 1.0));
        assert_eq!(score("salt", &["salt with gypsum", "Gypsum."]), (0.0, 0.5));
    }

    #[test]
    fn nothing_is_right_where_there_is_no_answer() {
        assert_eq!(AnswerScore::of(None, &[""; 0]), AnswerScore::RIGHT);
        assert_eq!(score("the", &[]), (0.0, 0.0));
        assert_eq!(AnswerScore::of(None, &["x"]), AnswerScore::default());
        // No word on either side is the same words.
        assert_eq!(score("?", &["The The"]), (1.0, 1.0));
        assert_eq!(score("?", &["x"]), (0.0, 0.0));
    }
}
