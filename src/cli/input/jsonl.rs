//! JSON Lines: every line is a document, its other fields are passed through.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value};

use super::Document;
use super::decode::{DecodeError, decode};

/// The fields that mean something to us.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) text: &'a str,
    pub(super) id: Option<&'a str>,
}

/// The documents of one file, read line by line.
pub(super) struct Lines<'a> {
    name: String,
    reader: BufReader<Box<dyn Read>>,
    fields: Fields<'a>,
    lossy: bool,
    line: usize,
    done: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(name: String, reader: Box<dyn Read>, fields: Fields<'a>, lossy: bool) -> Self {
        Self { name, reader: BufReader::new(reader), fields, lossy, line: 0, done: false }
    }

    fn document(&self, bytes: Vec<u8>) -> anyhow::Result<Document> {
        let (line, lossy) = decode(bytes, self.lossy)?;
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let mut fields: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| anyhow!("not a JSON object (column {})", error.column()))?;
        let text = match fields.remove(self.fields.text) {
            Some(Value::String(text)) => text,
            Some(other) => bail!("the field {:?} is no string but {}", self.fields.text, excerpt(&other)),
            None => {
                bail!("there is no field {:?}: name the one that holds the text with --text-field", self.fields.text)
            }
        };
        let name = match self.fields.id {
            None => format!("{}:{}", self.name, self.line),
            Some(id) => match fields.get(id) {
                Some(Value::String(id)) => id.clone(),
                Some(Value::Number(id)) => id.to_string(),
                Some(other) => bail!("the field {id:?} is no name but {}", excerpt(other)),
                None => bail!("there is no field {id:?}, which should name the document"),
            },
        };
        Ok(Document { name, text, lossy, extra: fields })
    }
}

impl Iterator for Lines<'_> {
    type Item = anyhow::Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let mut bytes = Vec::new();
            self.line += 1;
            match self.reader.read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) if bytes.trim_ascii().is_empty() => {}
                Ok(_) => {
                    let document = self.document(bytes);
                    // A file that is no UTF-8 at all would fail in every line.
                    self.done = document.as_ref().is_err_and(|error| {
                        error.downcast_ref().is_some_and(|error| !matches!(error, DecodeError::Utf8 { .. }))
                    });
                    return Some(document.with_context(|| format!("{}: line {}", self.name, self.line)));
                }
                Err(error) => {
                    self.done = true;
                    return Some(Err(
                        anyhow!(error).context(format!("{}: line {} cannot be read", self.name, self.line))
                    ));
                }
            }
        }
        None
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(40).collect()
}
