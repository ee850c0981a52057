//! How far token counters are from one another, language by language.
//!
//! A counter that stands in for another one is safe where it never counts less. So for every language the error of each
//! counter against a reference is taken, and for every counter the factor that would cover its worst under-count.

mod languages;

use std::cmp::Ordering;

use serde::Serialize;

use super::table::Table;
use crate::tokens::{TokenCounter, TokenError};

pub use languages::{LanguageError, LanguageText, LoadedLanguages};

/// One counter on the text of one language.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LanguageCount {
    /// The language.
    pub language: String,
    /// Tokens counted.
    pub tokens: usize,
    /// Characters of the text a token.
    pub characters_per_token: f64,
    /// Tokens counted over those of the reference, less 1: below 0 where too few are counted.
    pub error: f64,
}

/// One counter on all languages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CounterFidelity {
    /// The counter's name.
    pub counter: String,
    /// Whether it counts the tokens of an encoding, or estimates.
    pub is_exact: bool,
    /// Mean over languages of characters a token.
    pub characters_per_token: f64,
    /// Mean over languages of the error.
    pub mean_error: f64,
    /// Mean over languages of the error without its sign.
    pub mean_absolute_error: f64,
    /// The least error, if it is below 0, and its language: what the counter misses at worst.
    pub under_count: Option<(f64, String)>,
    /// The least factor, of 1 or more, by which counts must be multiplied so that none is below the reference.
    pub safety_factor: f64,
    /// Each language, in order.
    pub languages: Vec<LanguageCount>,
}

/// Counters against a reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FidelityReport {
    /// Name of the counter that the others are held against.
    pub reference: String,
    /// What the texts are called.
    pub texts: String,
    /// One a counter, in the order given.
    pub counters: Vec<CounterFidelity>,
}

impl FidelityReport {
    /// Counts every text by every counter, and by the reference. Texts without a token of the reference are left out.
    ///
    /// # Errors
    ///
    /// Where a tokenizer refuses a text.
    pub fn new(
        name: &str,
        texts: &[LanguageText],
        reference: &dyn TokenCounter,
        counters: &[&dyn TokenCounter],
    ) -> Result<Self, TokenError> {
        let right = texts.iter().map(|text| Ok((text, reference.count(&text.text)?)));
        let mut right: Vec<(&LanguageText, usize)> = right.collect::<Result<_, TokenError>>()?;
        right.retain(|(_, tokens)| *tokens > 0);
        let counters = counters.iter().map(|counter| CounterFidelity::of(*counter, &right));
        let counters = counters.collect::<Result<_, _>>()?;
        Ok(Self { reference: reference.name().to_owned(), texts: name.to_owned(), counters })
    }

    /// A row a counter, in percent where it is an error.
    #[must_use]
    pub fn counters_table(&self) -> Table {
        let headers =
            ["counter", "characters a token", "mean error", "without sign", "under-count at worst", "in", "safe times"];
        let mut table = Table::new(1, headers);
        for counter in &self.counters {
            let (worst, language) = counter.under_count.clone().unzip();
            table.push([
                counter.name(),
                format!("{:.2}", counter.characters_per_token),
                percent(counter.mean_error),
                format!("{:.1}", counter.mean_absolute_error * 100.0),
                worst.map(percent).unwrap_or_default(),
                language.unwrap_or_default(),
                format!("{:.3}", counter.safety_factor),
            ]);
        }
        table
    }

    /// A row a language: characters a token of every counter, and its error in percent.
    #[must_use]
    pub fn languages_table(&self) -> Table {
        let headers = ["language".to_owned()].into_iter().chain(self.counters.iter().map(CounterFidelity::name));
        let mut table = Table::new(1, headers);
        for (at, language) in self.counters.first().iter().flat_map(|counter| counter.languages.iter().enumerate()) {
            let cell = |counter: &CounterFidelity| {
                let count = &counter.languages[at];
                let error = if counter.counter == self.reference { String::new() } else { percent(count.error) };
                format!("{:.2} {error:>6}", count.characters_per_token)
            };
            table.push([language.language.clone()].into_iter().chain(self.counters.iter().map(cell)));
        }
        table
    }

    /// Lines under the tables.
    #[must_use]
    pub fn legend(&self) -> Vec<String> {
        let languages = self.counters.first().map_or(0, |counter| counter.languages.len());
        vec![
            format!("{}: {languages} languages; reference {}", self.texts, self.reference),
            "characters a token; error in percent of the reference's tokens, - where too few are counted; ~ estimates"
                .to_owned(),
            "safe times: what counts must be multiplied by so that none is below the reference".to_owned(),
        ]
    }

    /// A record a counter and language, errors as shares.
    #[must_use]
    pub fn records(&self) -> Table {
        let headers = ["counter", "language", "tokens", "characters_per_token", "error", "reference"];
        let mut table = Table::new(2, headers);
        for counter in &self.counters {
            for count in &counter.languages {
                table.push([
                    counter.counter.clone(),
                    count.language.clone(),
                    count.tokens.to_string(),
                    format!("{:.6}", count.characters_per_token),
                    format!("{:.6}", count.error),
                    self.reference.clone(),
                ]);
            }
        }
        table
    }
}

impl CounterFidelity {
    fn of(counter: &dyn TokenCounter, texts: &[(&LanguageText, usize)]) -> Result<Self, TokenError> {
        let counts = texts.iter().map(|(text, right)| {
            let (tokens, characters) = (counter.count(&text.text)?, text.text.chars().count());
            Ok(LanguageCount {
                language: text.language.clone(),
                tokens,
                characters_per_token: characters as f64 / tokens.max(1) as f64,
                error: tokens as f64 / *right as f64 - 1.0,
            })
        });
        let languages: Vec<LanguageCount> = counts.collect::<Result<_, TokenError>>()?;
        let mean =
            |of: fn(&LanguageCount) -> f64| languages.iter().map(of).sum::<f64>() / languages.len().max(1) as f64;
        let least = languages.iter().min_by(|a, b| a.error.partial_cmp(&b.error).unwrap_or(Ordering::Equal));
        let under = least.filter(|count| count.error < 0.0);
        Ok(Self {
            counter: counter.name().to_owned(),
            is_exact: counter.is_exact(),
            characters_per_token: mean(|count| count.characters_per_token),
            mean_error: mean(|count| count.error),
            mean_absolute_error: mean(|count| count.error.abs()),
            under_count: under.map(|count| (count.error, count.language.clone())),
            // Right over counted is one over one and the error.
            safety_factor: under.map_or(1.0, |count| 1.0 / (1.0 + count.error)),
            languages,
        })
    }

    /// The counter's name, marked where it estimates.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}", if self.is_exact { "" } else { "~" }, self.counter)
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1}", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{CharacterGuess, Letters};

    fn text(language: &str, text: &str) -> LanguageText {
        LanguageText { language: language.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn errors_are_those_counted_by_hand() {
        let texts = [text("x", "abcdefgh"), text("y", "abcde"), text("none", "")];
        // By letters 8 and 5; by four 2 and 2.
        let report = FidelityReport::new("two", &texts, &Letters, &[&Letters, &CharacterGuess]).unwrap();
        let [letters, guess] = &report.counters[..] else { panic!("two counters") };
        assert_eq!((letters.mean_error, letters.under_count.clone(), letters.safety_factor), (0.0, None, 1.0));
        assert_eq!(guess.languages.iter().map(|count| count.tokens).collect::<Vec<_>>(), [2, 2]);
        assert!((guess.mean_error - (-0.75 - 0.6) / 2.0).abs() < 1e-12);
        assert_eq!(guess.under_count, Some((-0.75, "x".to_owned())));
        assert!((guess.safety_factor - 4.0).abs() < 1e-12 && (guess.characters_per_token - 3.25).abs() < 1e-12);
        let over = FidelityReport::new("two", &texts, &CharacterGuess, &[&Letters]).unwrap();
        assert_eq!((over.counters[0].under_count.clone(), over.counters[0].safety_factor), (None, 1.0));
        assert!((over.counters[0].mean_absolute_error - f64::midpoint(3.0, 1.5)).abs() < 1e-12);
    }
}
