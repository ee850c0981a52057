//! Settings in words: `t=0.72,alpha=6`.

use std::fmt;
use std::str::FromStr;

use super::SpecError;

/// The settings of one chunker as they were written.
pub(super) struct Settings<'a> {
    chunker: &'static str,
    given: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Settings<'a> {
    pub(super) fn new(chunker: &'static str, words: &'a str) -> Result<Self, SpecError> {
        let parts = words.split(',').map(str::trim).filter(|part| !part.is_empty());
        let given = parts
            .map(|part| part.split_once('=').ok_or_else(|| SpecError::NoSetting { chunker, words: part.to_owned() }));
        let given: Vec<(&str, &str)> = given.collect::<Result<_, _>>()?;
        let mut seen = std::collections::HashSet::new();
        match given.iter().find(|(setting, _)| !seen.insert(*setting)) {
            Some((setting, _)) => Err(SpecError::Twice { chunker, setting: (*setting).to_owned() }),
            None => Ok(Self { chunker, given, known: Vec::new() }),
        }
    }

    /// The value of a setting.
    pub(super) fn take<T: FromStr<Err: fmt::Display>>(
        &mut self,
        setting: &'static str,
        default: T,
    ) -> Result<T, SpecError> {
        self.known.push(setting);
        let Some(&(_, value)) = self.given.iter().find(|(name, _)| *name == setting) else { return Ok(default) };
        value.parse().map_err(|error: T::Err| SpecError::Value {
            chunker: self.chunker,
            setting: setting.to_owned(),
            value: value.to_owned(),
            reason: error.to_string(),
        })
    }

    pub(super) fn finish(self) -> Result<(), SpecError> {
        match self.given.iter().find(|(name, _)| !self.known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(SpecError::Setting {
                chunker: self.chunker,
                setting: (*name).to_owned(),
                known: self.known.join(", "),
            }),
        }
    }
}
