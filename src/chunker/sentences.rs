//! Every so many sentences a chunk, whatever they mean: the baseline that a semantic chunker has to beat.

use super::units::{Borders, Units};
use super::{Chunk, ChunkError, Chunker, CutReason, SettingsError, groups};
use crate::sentence::{SentenceSplitter, UnicodeSplitter};
use crate::tokens::{Tiktoken, TiktokenEncoding, TokenCounter};

/// Cuts behind every so many sentences and, if asked to, at borders.
///
/// ```
/// use horchunk::{Borders, Chunker, SentenceChunker};
///
/// let text = "It rained. We stayed in. We read.\nThe next day was dry.";
/// let chunks: Vec<String> = SentenceChunker::new(2)?.chunk(text)?.iter().map(ToString::to_string).collect();
/// assert_eq!(chunks, ["It rained. We stayed in.", "We read.\nThe next day was dry."]);
///
/// let by_paragraph = SentenceChunker::new(3)?.with_borders(Borders::Paragraph);
/// assert_eq!(by_paragraph.chunk(text)?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SentenceChunker {
    splitter: Box<dyn SentenceSplitter>,
    counter: Option<Box<dyn TokenCounter>>,
    borders: Borders,
    max_sentences: usize,
}

impl SentenceChunker {
    /// Chunks of `max_sentences` sentences, found by [`UnicodeSplitter`] and counted in `cl100k_base` tokens.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoSentences`] if `max_sentences` is 0.
    pub fn new(max_sentences: usize) -> Result<Self, SettingsError> {
        if max_sentences == 0 {
            return Err(SettingsError::NoSentences);
        }
        Ok(Self {
            splitter: Box::new(UnicodeSplitter::default()),
            counter: Some(Box::new(Tiktoken::new(TiktokenEncoding::Cl100kBase))),
            borders: Borders::None,
            max_sentences,
        })
    }

    /// Other sentences.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }

    /// Where a chunk always ends.
    #[must_use]
    pub const fn with_borders(mut self, borders: Borders) -> Self {
        self.borders = borders;
        self
    }

    /// Counts tokens by another counter.
    #[must_use]
    pub fn with_counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Some(Box::new(counter));
        self
    }

    /// Counts no tokens.
    #[must_use]
    pub fn without_counter(mut self) -> Self {
        self.counter = None;
        self
    }
}

impl Chunker for SentenceChunker {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        let units = Units::new(text, &*self.splitter, self.borders, None, false)?;
        let sentences: Vec<_> = units.units(0..units.len()).iter().map(|unit| unit.span).collect();
        let mut runs = Vec::new();
        let mut start = 0;
        for end in 1..=units.len() {
            let reason = if end == units.len() {
                CutReason::End
            } else if units.border_before(end) {
                CutReason::Border
            } else if end - start == self.max_sentences {
                CutReason::MaxSentences
            } else {
                continue;
            };
            runs.push((start..end, (reason, None)));
            start = end;
        }
        groups::chunks(text, self.counter.as_deref(), &sentences, runs)
    }
}

impl std::fmt::Debug for SentenceChunker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentenceChunker")
            .field("max_sentences", &self.max_sentences)
            .field("borders", &self.borders)
            .finish_non_exhaustive()
    }
}
