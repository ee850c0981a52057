//! Checks chunks against their source, so that nobody needs to trust the program that made them.
//!
//! Laws, in the order in which they are checked: spans are in order, on character boundaries and hold the words
//! that the record says; nothing but white space lies between them (nothing at all where white space was kept);
//! every token count is exact and within the cap. Characters, lines and ids are recomputed too.

use std::fmt;

use crate::record::{Occurrences, Record, chunk_id};
use crate::span::{CharMap, Span};
use crate::tokens::{TokenCounter, TokenError};

/// A law that a record breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Index of the record in its document; `None` for what no single record is guilty of.
    pub index: Option<usize>,
    /// What is wrong, with the figures.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            // People count from 1, as the text view and the page do.
            Some(index) => write!(f, "chunk {}: {}", index + 1, self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Checks the records of documents.
///
/// ```
/// use horchunk::{Chunker, SentenceTransformer, Recorder, Verifier, WindowChunker};
///
/// let model = SentenceTransformer::bundled()?;
/// let text = "One sentence.\nAnd another.";
/// let mut recorder = Recorder::new("note.txt", Some("cl100k_base"));
/// let chunks = WindowChunker::new(&model).chunk(text)?;
/// let mut records: Vec<_> = chunks.iter().map(|chunk| recorder.record(chunk)).collect();
/// let verifier = Verifier::new();
/// assert!(verifier.check(text, &records, None)?.is_empty());
///
/// records[0].end -= 1;
/// assert!(!verifier.check(text, &records, None)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Verifier {
    max_tokens: Option<usize>,
    keep_white_space: bool,
    overlap: bool,
}

impl Verifier {
    /// Checks the laws that hold for every chunker.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_tokens: None, keep_white_space: false, overlap: false }
    }

    /// Also checks that no chunk has more tokens.
    #[must_use]
    pub const fn with_max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Also checks that the chunks joined are the source, byte for byte.
    #[must_use]
    pub const fn with_kept_white_space(mut self) -> Self {
        self.keep_white_space = true;
        self
    }

    /// Lets a chunk start before the one in front of it ends.
    #[must_use]
    pub const fn with_overlap(mut self) -> Self {
        self.overlap = true;
        self
    }

    /// What is wrong with the `records` of the document `text`; nothing if all is well.
    ///
    /// Tokens are recounted with `counter`; without one, counts are not checked.
    ///
    /// # Errors
    ///
    /// Where the counter fails.
    pub fn check(
        &self,
        text: &str,
        records: &[Record<'_>],
        counter: Option<&dyn TokenCounter>,
    ) -> Result<Vec<Violation>, TokenError> {
        let map = CharMap::new(text);
        let mut found = Findings::default();
        let mut occurrences = Occurrences::default();
        let mut covered = 0;
        let mut start_before = 0;
        for (index, record) in records.iter().enumerate() {
            found.index = index;
            if record.index != index {
                found.say(format!("has the index {}, but should have {index}", record.index));
            }
            let Some(span) = found.span(text, record) else { continue };
            self.check_order(&mut found, text, span, start_before, covered);
            start_before = span.start();
            covered = covered.max(span.end());
            found.check_places(&map, record, span);
            if record.id != chunk_id(&record.document, &record.text, occurrences.next(&record.text)) {
                found.say(format!("its id {} does not follow from its document and text", record.id));
            }
            found.check_counter(record, records.first());
            if let Some(counter) = counter {
                self.check_tokens(&mut found, record, counter)?;
            }
        }
        if let Some(rest) = text.get(covered..).filter(|rest| self.is_lost(rest)) {
            let lost = bytes(rest.len());
            let message = if records.is_empty() {
                format!("has no chunks, but {lost} of text: {}", excerpt(rest))
            } else {
                format!("{lost} behind the last chunk at byte {covered}: {}", excerpt(rest))
            };
            found.all.push(Violation { index: None, message });
        }
        Ok(found.all)
    }

    fn is_lost(&self, gap: &str) -> bool {
        if self.keep_white_space { !gap.is_empty() } else { !gap.chars().all(char::is_whitespace) }
    }

    fn check_order(&self, found: &mut Findings, text: &str, span: Span, start_before: usize, covered: usize) {
        if span.start() < start_before || (self.overlap && span.end() < covered) {
            found.say(format!(
                "{span} does not come after the chunk before it, which reaches from byte {start_before} to {covered}"
            ));
        } else if span.start() < covered && !self.overlap {
            found.say(format!(
                "starts at byte {}, inside the chunk before it, which ends at byte {covered}",
                span.start()
            ));
        } else if let Some(gap) = text.get(covered..span.start()).filter(|gap| self.is_lost(gap)) {
            found.say(format!("{} lost in front of it at byte {covered}: {}", bytes(gap.len()), excerpt(gap)));
        }
    }

    fn check_tokens(
        &self,
        found: &mut Findings,
        record: &Record<'_>,
        counter: &dyn TokenCounter,
    ) -> Result<(), TokenError> {
        let exact = counter.count(&record.text)?;
        if let Some(said) = record.tokens.filter(|&said| said != exact) {
            found.say(format!("says {said} tokens, but {} counts {exact}", counter.name()));
        }
        if let Some(cap) = self.max_tokens.filter(|&cap| exact > cap) {
            found.say(format!("has {exact} tokens, over the cap of {cap}"));
        }
        Ok(())
    }
}

/// The violations found so far and the record being looked at.
#[derive(Default)]
struct Findings {
    all: Vec<Violation>,
    index: usize,
}

impl Findings {
    fn say(&mut self, message: String) {
        self.all.push(Violation { index: Some(self.index), message });
    }

    /// The record's span, if it is one of the text and holds the record's words.
    fn span(&mut self, text: &str, record: &Record<'_>) -> Option<Span> {
        let (start, end) = (record.start, record.end);
        if start >= end || end > text.len() {
            self.say(format!("{start}..{end} is no span of a source of {}", bytes(text.len())));
            return None;
        }
        let Some(words) = text.get(start..end) else {
            self.say(format!("{start}..{end} cuts a character"));
            return None;
        };
        if words != record.text {
            let same = words.bytes().zip(record.text.bytes()).take_while(|(a, b)| a == b).count();
            self.say(format!(
                "its text is not that of the source at {start}..{end}: they part at byte {}",
                start + same
            ));
        }
        Some(Span::new(start, end))
    }

    /// A count and the name of who counted come together, and all of a document are by one counter.
    fn check_counter(&mut self, record: &Record<'_>, first: Option<&Record<'_>>) {
        if record.tokens.is_some() != record.token_counter.is_some() {
            self.say("tokens and token_counter are not both there or both null".to_owned());
        }
        if first.is_some_and(|first| first.token_counter != record.token_counter) {
            self.say("its tokens were counted by another counter than those of the first chunk".to_owned());
        }
    }

    fn check_places(&mut self, map: &CharMap<'_>, record: &Record<'_>, span: Span) {
        let (start, end) = map.ends(span);
        let places = [
            ("char_start", record.char_start, start.chars),
            ("char_end", record.char_end, end.chars),
            ("line_start", record.line_start, start.line),
            ("line_end", record.line_end, end.line),
        ];
        for (name, said, is) in places {
            if said != is {
                self.say(format!("says {name} {said}, but it is {is}"));
            }
        }
    }
}

fn bytes(n: usize) -> String {
    if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") }
}

/// The beginning of a text, in quotes.
fn excerpt(text: &str) -> String {
    let head: String = text.chars().take(40).collect();
    if head.len() < text.len() { format!("{head:?}...") } else { format!("{head:?}") }
}
