//! Whether chunks keep a budget of tokens, and how well they fill it: cut by count, or by the rule that a token is four
//! characters.

use serde::Serialize;

use super::dataset::Corpus;
use super::table::Table;
use crate::chunker::{BudgetChunker, BudgetSearchChunker, ChunkError, Chunker, SettingsError};
use crate::tokens::TokenCounter;

/// How a text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cutter {
    /// The [`BudgetChunker`].
    Budget,
    /// The [`BudgetSearchChunker`].
    BudgetSearch,
    /// Every four characters for each token of the budget, whatever stands there.
    Characters,
}

impl Cutter {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Budget, Self::BudgetSearch, Self::Characters];
    const CHARACTERS_PER_TOKEN: usize = 4;

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::BudgetSearch => "budget-search",
            Self::Characters => "4 characters a token",
        }
    }

    /// The pieces of a text.
    fn cut<'t>(self, text: &'t str, counter: &dyn TokenCounter, budget: usize) -> Result<Vec<&'t str>, ChunkError> {
        let settings = |error: SettingsError| ChunkError::Custom(error.into());
        let chunks = match self {
            Self::Budget => BudgetChunker::new(counter, budget).map_err(settings)?.chunk(text)?,
            Self::BudgetSearch => BudgetSearchChunker::new(counter, budget).map_err(settings)?.chunk(text)?,
            Self::Characters => {
                return Ok(by_characters(text.trim(), budget.saturating_mul(Self::CHARACTERS_PER_TOKEN)));
            }
        };
        Ok(chunks.into_iter().map(|chunk| chunk.text).collect())
    }
}

fn by_characters(text: &str, characters: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(characters).map_or(rest.len(), |(at, _)| at);
        let (piece, behind) = rest.split_at(end);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// One way to cut, at one budget by one counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BudgetRow {
    /// The counter, or the language model whose counter it is.
    pub counted_for: String,
    /// Most tokens of a chunk.
    pub budget: usize,
    /// How it was cut.
    pub cutter: Cutter,
    /// Chunks of all texts.
    pub chunks: usize,
    /// Share of the chunks that have more tokens than the budget.
    pub over: f64,
    /// Tokens of the largest chunk.
    pub largest: usize,
    /// Mean share of the budget that a chunk fills, the last one of each text left out; `None` where no text has two.
    pub fill: Option<f64>,
}

impl BudgetRow {
    /// Cuts all texts, and counts.
    ///
    /// # Errors
    ///
    /// Where a text cannot be cut or counted, or the budget is 0.
    pub fn new(
        counted_for: &str,
        counter: &dyn TokenCounter,
        budget: usize,
        cutter: Cutter,
        texts: &[Corpus],
    ) -> Result<Self, ChunkError> {
        let (mut sizes, mut fills) = (Vec::new(), Vec::new());
        for text in texts {
            let chunks = cutter.cut(&text.text, counter, budget)?;
            let tokens = chunks.iter().map(|chunk| counter.count(chunk)).collect::<Result<Vec<_>, _>>()?;
            if let Some((_, whole)) = tokens.split_last() {
                fills.extend(whole.iter().map(|&tokens| tokens as f64 / budget as f64));
            }
            sizes.extend(tokens);
        }
        let over = sizes.iter().filter(|&&tokens| tokens > budget).count();
        Ok(Self {
            counted_for: counted_for.to_owned(),
            budget,
            cutter,
            chunks: sizes.len(),
            over: over as f64 / sizes.len().max(1) as f64,
            largest: sizes.iter().copied().max().unwrap_or_default(),
            fill: (!fills.is_empty()).then(|| fills.iter().sum::<f64>() / fills.len() as f64),
        })
    }
}

/// Ways to cut, side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// How many texts were cut.
    pub texts: usize,
    /// One a counter, budget and way.
    pub rows: Vec<BudgetRow>,
}

impl BudgetReport {
    /// A report of rows over so many texts.
    #[must_use]
    pub const fn new(texts: usize, rows: Vec<BudgetRow>) -> Self {
        Self { texts, rows }
    }

    /// The rows for people, in percent.
    #[must_use]
    pub fn table(&self) -> Table {
        let headers = ["counted for", "cut by", "budget", "chunks", "over it", "largest", "mean fill"];
        let mut table = Table::new(2, headers);
        for row in &self.rows {
            table.push([
                row.counted_for.clone(),
                row.cutter.name().to_owned(),
                row.budget.to_string(),
                row.chunks.to_string(),
                format!("{:.1}", row.over * 100.0),
                row.largest.to_string(),
                row.fill.map_or(String::new(), |fill| format!("{:.1}", fill * 100.0)),
            ]);
        }
        table
    }

    /// Lines under the table.
    #[must_use]
    pub fn legend(&self) -> Vec<String> {
        vec![format!("{} texts; percent; mean fill of all chunks but the last of each text", self.texts)]
    }

    /// The rows as records, shares from 0 to 1.
    #[must_use]
    pub fn records(&self) -> Table {
        let headers = ["counted_for", "cut_by", "budget", "chunks", "over", "largest", "fill"];
        let mut table = Table::new(2, headers);
        for row in &self.rows {
            table.push([
                row.counted_for.clone(),
                row.cutter.name().to_owned(),
                row.budget.to_string(),
                row.chunks.to_string(),
                format!("{:.6}", row.over),
                row.largest.to_string(),
                row.fill.map_or(String::new(), |fill| format!("{fill:.6}")),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Letters;

    fn text(text: &str) -> Corpus {
        Corpus { id: String::new(), text: text.to_owned() }
    }

    #[test]
    fn what_is_over_the_budget_is_counted_and_the_last_chunk_fills_nothing() {
        // A token a character: 40 characters are four times a budget of 10, and 20 are twice.
        let texts = [text(&"a".repeat(100)), text(&"b".repeat(5))];
        let row = BudgetRow::new("letters", &Letters, 10, Cutter::Characters, &texts).unwrap();
        assert_eq!((row.chunks, row.largest, row.fill), (4, 40, Some(4.0)));
        assert!((row.over - 0.75).abs() < 1e-12);
        for cutter in [Cutter::Budget, Cutter::BudgetSearch] {
            let row = BudgetRow::new("letters", &Letters, 10, cutter, &texts).unwrap();
            assert_eq!((row.chunks, row.over, row.largest, row.fill), (11, 0.0, 10, Some(1.0)), "{cutter:?}");
        }
        let none = BudgetRow::new("letters", &Letters, 10, Cutter::Budget, &[text("b")]).unwrap();
        assert_eq!((none.chunks, none.fill), (1, None));
    }

    #[test]
    fn pieces_of_characters_are_the_text() {
        for (given, size) in [("нет дела", 3), ("abc", 3), ("", 3), ("x", 100)] {
            let pieces = by_characters(given, size);
            assert_eq!(pieces.concat(), given);
            assert!(pieces.iter().all(|piece| piece.chars().count() <= size));
        }
    }
}
