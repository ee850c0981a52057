//! The record of a chunk: what is written, one JSON object a chunk, and what `verify` reads back.
//!
//! The fields and their order are one schema for every format; a field is added at the end or not at all.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::chunker::{Chunk, CutReason};
use crate::tokens::Forced;

/// A chunk with its document's name, as it is written and read.
///
/// ```
/// use horchunk::{Chunker, SentenceTransformer, Recorder, WindowChunker};
///
/// let model = SentenceTransformer::bundled()?;
/// let text = "One sentence.\nAnd another.";
/// let mut recorder = Recorder::new("note.txt", Some("cl100k_base"));
/// for chunk in WindowChunker::new(&model).chunk(text)? {
///     println!("{}", serde_json::to_string(&recorder.record(&chunk))?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the schema")]
pub struct Record<'a> {
    /// Name of the document: its path, `-` for standard input, or its id in a corpus.
    pub document: Cow<'a, str>,
    /// 32 hexadecimal digits that name the chunk: a hash of document, text and how often that text came before in it.
    pub id: String,
    /// Number of the chunk in its document, from 0.
    pub index: usize,
    /// First byte.
    pub start: usize,
    /// First byte behind the chunk.
    pub end: usize,
    /// First character.
    pub char_start: usize,
    /// First character behind the chunk.
    pub char_end: usize,
    /// Line of the first character, from 1.
    pub line_start: usize,
    /// Line of the last character.
    pub line_end: usize,
    /// Sentences, those taken over from the chunk before it not counted.
    pub sentences: usize,
    /// Sentences taken over from the chunk before it.
    pub overlap_sentences: usize,
    /// Exact number of tokens of `text`.
    pub tokens: Option<usize>,
    /// Who counted them.
    pub token_counter: Option<Cow<'a, str>>,
    /// Why the chunk ends.
    pub reason: CutReason,
    /// The similarity that ended it, to six decimals.
    #[serde(serialize_with = "six_decimals")]
    pub similarity: Option<f32>,
    /// The finest way in which a sentence of the chunk was split by force.
    pub forced: Option<Forced>,
    /// The model did not see all of the text.
    pub truncated: bool,
    /// The first sentence alone filled the model's input.
    pub blind: bool,
    /// The chunk's words.
    pub text: Cow<'a, str>,
    /// One similarity a step, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "all_six_decimals")]
    pub similarities: Option<Vec<Option<f32>>>,
    /// The chunk's unit vector, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<f32>>,
    /// Spans index the decoded text, since the source was not valid UTF-8.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The count is an estimate: the counter stands in for one that is not at hand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_estimated: bool,
    /// Other fields of the document, passed through.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Makes the records of one document's chunks, in order.
#[derive(Debug)]
pub struct Recorder<'a> {
    document: Cow<'a, str>,
    counter: Option<Cow<'a, str>>,
    explain: bool,
    lossy: bool,
    estimated: bool,
    extra: Map<String, Value>,
    index: usize,
    occurrences: Occurrences,
}

impl<'a> Recorder<'a> {
    /// Records for the document of this name, its tokens counted by the counter of that name.
    #[must_use]
    pub fn new(document: impl Into<Cow<'a, str>>, counter: Option<&'a str>) -> Self {
        Self {
            document: document.into(),
            counter: counter.map(Cow::Borrowed),
            explain: false,
            lossy: false,
            estimated: false,
            extra: Map::new(),
            index: 0,
            occurrences: Occurrences::default(),
        }
    }

    /// Adds the similarity of every step.
    #[must_use]
    pub const fn with_similarities(mut self) -> Self {
        self.explain = true;
        self
    }

    /// Says that the source was not valid UTF-8.
    #[must_use]
    pub const fn with_lossy(mut self, lossy: bool) -> Self {
        self.lossy = lossy;
        self
    }

    /// Says that the counter only estimates.
    #[must_use]
    pub const fn with_estimates(mut self, estimated: bool) -> Self {
        self.estimated = estimated;
        self
    }

    /// Adds other fields of the document to every record; one that has the name of a field of ours is left out.
    #[must_use]
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = extra.into_iter().filter(|(name, _)| !FIELDS.contains(&name.as_str())).collect();
        self
    }

    /// The record of the next chunk.
    pub fn record<'t>(&mut self, chunk: &Chunk<'t>) -> Record<'t>
    where
        'a: 't,
    {
        let id = chunk_id(&self.document, chunk.text, self.occurrences.next(chunk.text));
        let index = self.index;
        self.index += 1;
        Record {
            document: self.document.clone(),
            id,
            index,
            start: chunk.span.start(),
            end: chunk.span.end(),
            char_start: chunk.start.chars,
            char_end: chunk.end.chars,
            line_start: chunk.start.line,
            line_end: chunk.end.line,
            sentences: chunk.sentences.len() - chunk.overlap_sentences,
            overlap_sentences: chunk.overlap_sentences,
            tokens: chunk.tokens,
            token_counter: self.counter.clone().filter(|_| chunk.tokens.is_some()),
            reason: chunk.reason,
            similarity: chunk.similarity,
            forced: chunk.forced,
            truncated: chunk.truncated,
            blind: chunk.blind,
            text: Cow::Borrowed(chunk.text),
            similarities: self.explain.then(|| chunk.similarities.clone()),
            embedding: chunk.embedding.clone(),
            lossy: self.lossy,
            tokens_estimated: self.estimated && chunk.tokens.is_some(),
            extra: self.extra.clone(),
        }
    }
}

/// Names that fields of a document may not take over.
const FIELDS: [&str; 23] = [
    "document",
    "id",
    "index",
    "start",
    "end",
    "char_start",
    "char_end",
    "line_start",
    "line_end",
    "sentences",
    "overlap_sentences",
    "tokens",
    "token_counter",
    "reason",
    "similarity",
    "forced",
    "truncated",
    "blind",
    "text",
    "similarities",
    "embedding",
    "lossy",
    "tokens_estimated",
];

/// How often each text of a document came so far.
///
/// Texts are told apart by eight bytes of their hash, since this grows with the document. Two that share them, should
/// that ever happen, count as one: their ids differ all the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrences(HashMap<[u8; 8], u32>);

impl Occurrences {
    /// How often `text` came before this time.
    pub(crate) fn next(&mut self, text: &str) -> usize {
        let hash: [u8; 32] = Sha256::digest(text).into();
        let seen = self.0.entry(std::array::from_fn(|at| hash[at])).or_insert(0);
        *seen += 1;
        *seen as usize - 1
    }
}

/// The first 16 bytes of SHA-256 over document, text and occurrence, each with its length in front so that no two
/// triples look alike.
pub(crate) fn chunk_id(document: &str, text: &str, occurrence: usize) -> String {
    let mut hash = Sha256::new();
    for part in [document.as_bytes(), text.as_bytes(), &(occurrence as u64).to_le_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn six_decimals<S: Serializer>(value: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(rounded).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde's signature")]
fn all_six_decimals<S: Serializer>(values: &Option<Vec<Option<f32>>>, serializer: S) -> Result<S::Ok, S::Error> {
    let values = values.iter().flatten().map(|value| value.map(rounded));
    serializer.collect_seq(values)
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_of_a_document_can_take_the_name_of_one_of_ours() {
        let json = r#"{"document":"d","id":"","index":0,"start":0,"end":1,"char_start":0,"char_end":1,"line_start":1,
            "line_end":1,"sentences":1,"overlap_sentences":0,"tokens":1,"token_counter":"c","reason":"end",
            "similarity":0.5,"forced":"word","truncated":false,"blind":false,"text":"x","similarities":[0.1234567,null],
            "embedding":[1.0],"lossy":true,"tokens_estimated":true,"more":1}"#;
        let record: Record<'static> = serde_json::from_str(json).unwrap();
        let Value::Object(fields) = serde_json::to_value(&record).unwrap() else { panic!("a record is an object") };
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, [&FIELDS[..], &["more"]].concat());
        assert_eq!(fields["similarities"].to_string(), "[0.123457,null]");

        let recorder = Recorder::new("d", None).with_extra(fields);
        assert_eq!(recorder.extra.keys().collect::<Vec<_>>(), ["more"]);
    }

    #[test]
    fn equal_texts_of_a_document_have_ids_of_their_own() {
        let ids = [chunk_id("d", "x", 0), chunk_id("d", "x", 1), chunk_id("e", "x", 0), chunk_id("dx", "", 0)];
        assert!(ids.iter().all(|id| id.len() == 32));
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    }
}
