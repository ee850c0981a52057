//! Rows in TOML, each knowing its line.

use serde::Deserialize;
use time::{Date, Month};
use toml::Spanned;

use super::{Llm, LlmRegistry, LlmTokenizer, Proxy, RegistryError, RegistryFinding, TokenizerPlace};
use crate::tokens::TiktokenEncoding;

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Rows {
    place: String,
    lines: Lines,
    tables: Tables,
}

/// Where the lines of a file start.
#[derive(Debug)]
struct Lines(Vec<usize>);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    tokenizer: Vec<TokenizerRow>,
    model: Vec<ModelRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenizerRow {
    id: Spanned<String>,
    kind: Kind,
    encoding: Option<String>,
    hub: Option<String>,
    proxy: Option<String>,
    factor: Option<f64>,
    measured: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Tiktoken,
    File,
    Unpublished,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelRow {
    id: Spanned<String>,
    #[serde(default)]
    aliases: Vec<String>,
    provider: String,
    context: usize,
    max_output: usize,
    tokenizer: String,
    reserve: usize,
    source: String,
    date: Spanned<String>,
    note: Option<String>,
}

/// A law that a row breaks.
#[derive(Debug)]
pub(super) struct Problem {
    /// Byte of the row.
    at: usize,
    pub(super) finding: RegistryFinding,
}

impl Rows {
    pub(super) fn read(place: &str, text: &str) -> Result<Self, RegistryError> {
        let lines = Lines(text.match_indices('\n').map(|(at, _)| at + 1).collect());
        let tables = toml::from_str(text).map_err(|error: toml::de::Error| RegistryError::Row {
            place: place.to_owned(),
            line: error.span().map_or(1, |span| lines.line(span.start)),
            message: error.message().trim_end().replace('\n', ", "),
        })?;
        Ok(Self { place: place.to_owned(), lines, tables })
    }

    pub(super) fn error(&self, problem: &Problem) -> RegistryError {
        let message = problem.finding.to_string();
        RegistryError::Row { place: self.place.clone(), line: self.lines.line(problem.at), message }
    }

    /// Rows that stand behind one of a later id, or of the same.
    pub(super) fn out_of_order(&self) -> impl Iterator<Item = RegistryFinding> {
        let tokenizers: Vec<&str> = self.tables.tokenizer.iter().map(|row| row.id.get_ref().as_str()).collect();
        let models: Vec<&str> = self.tables.model.iter().map(|row| row.id.get_ref().as_str()).collect();
        [tokenizers, models].into_iter().flat_map(|ids| {
            let pairs: Vec<_> =
                ids.windows(2).filter(|pair| pair[0] >= pair[1]).map(RegistryFinding::misplaced).collect();
            pairs
        })
    }
}

impl RegistryFinding {
    fn misplaced(pair: &[&str]) -> Self {
        let (before, id) = (pair[0], pair[1].to_owned());
        Self { id, field: "id", message: format!("stands behind {before}; rows are sorted, each id once") }
    }
}

impl Lines {
    /// The line of a byte, from 1.
    fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|&start| start <= byte) + 1
    }
}

impl LlmRegistry {
    /// Adds all rows that keep the laws; answers with what the others break.
    pub(super) fn add_all(&mut self, rows: &Rows) -> Vec<Problem> {
        let mut problems = Vec::new();
        for row in &rows.tables.tokenizer {
            match row.tokenizer() {
                Ok(tokenizer) => self.add_tokenizer(tokenizer),
                Err((field, message)) => problems.push(Problem::of(&row.id, field, message)),
            }
        }
        for row in &rows.tables.model {
            match row.model() {
                Ok(model) => {
                    let flaws = self.flaws(&model);
                    if flaws.is_empty() {
                        self.models.insert(model.id.clone(), model);
                    }
                    problems.extend(flaws.into_iter().map(|(field, message)| Problem::of(&row.id, field, message)));
                }
                Err((field, message)) => problems.push(Problem::of(&row.id, field, message)),
            }
        }
        problems
    }
}

impl Problem {
    fn of(id: &Spanned<String>, field: &'static str, message: String) -> Self {
        Self { at: id.span().start, finding: RegistryFinding { id: id.get_ref().clone(), field, message } }
    }
}

impl TokenizerRow {
    fn tokenizer(&self) -> Result<LlmTokenizer, (&'static str, String)> {
        let encoding = |field, name: &str| -> Result<TiktokenEncoding, _> {
            name.parse().map_err(|error: crate::tokens::TokenError| (field, error.to_string()))
        };
        let needs = |field, kind: &'static str| move || (field, format!("is missing: kind {kind:?} has one"));
        let place = match self.kind {
            Kind::Tiktoken => {
                let name = self.encoding.as_deref().ok_or_else(needs("encoding", "tiktoken"))?;
                TokenizerPlace::Built(encoding("encoding", name)?)
            }
            Kind::File => TokenizerPlace::File { hub: self.hub.clone().ok_or_else(needs("hub", "file"))? },
            Kind::Unpublished => TokenizerPlace::Unpublished,
        };
        let proxy = match (&self.proxy, self.factor) {
            (Some(name), Some(factor)) if factor.is_finite() && factor >= 1.0 => {
                let encoding = encoding("proxy", name)?;
                Some(Proxy { encoding, factor, measured: self.measured.unwrap_or(false) })
            }
            (Some(_), Some(factor)) => return Err(("factor", format!("{factor} is no number of at least 1"))),
            (Some(_), None) => return Err(("factor", "is missing: a proxy has one".to_owned())),
            (None, _) if matches!(self.kind, Kind::Tiktoken) => None,
            (None, _) => return Err(("proxy", "is missing: what is not built in has one".to_owned())),
        };
        Ok(LlmTokenizer { id: self.id.get_ref().clone(), place, proxy })
    }
}

impl ModelRow {
    fn model(&self) -> Result<Llm, (&'static str, String)> {
        let date = self.date.get_ref();
        let date = read_date(date).ok_or_else(|| ("date", format!("{date:?} is no day such as 2026-11-30")))?;
        Ok(Llm {
            id: self.id.get_ref().clone(),
            aliases: self.aliases.clone(),
            provider: self.provider.clone(),
            context: self.context,
            max_output: self.max_output,
            tokenizer: self.tokenizer.clone(),
            reserve: self.reserve,
            source: self.source.clone(),
            date,
            note: self.note.clone(),
        })
    }
}

/// A day as `2026-11-30`.
fn read_date(words: &str) -> Option<Date> {
    let mut parts = words.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok().filter(|_| parts.next().is_none())
}
