//! The dynamic window: a chunk grows from its first sentence as long as the whole stays close to it.
//!
//! The method is Horchunk's: the first sentence of a chunk is its anchor, and a window that grows by one sentence
//! at a time closes before its last sentence when the cosine of the two vectors falls below the threshold, or
//! when it has `max_sentences`. [`WindowChunker`] is the builder; the loop itself lies in `window/steps.rs`, and how
//! several of them fill a batch in `window/lanes.rs`.

mod lanes;
mod steps;

use std::fmt;

use super::units::{Borders, Cap, Units};
use super::{Chunk, ChunkError, ChunkStream, Chunker, Chunks, SettingsError};
use crate::embedding::{Cosine, DraftEmbedder, Embedder, Similarity, TokenEmbedder};
use crate::sentence::{SentenceSplitter, UnicodeSplitter};
use crate::span::Span;
use crate::tokens::{FitError, Tiktoken, TiktokenEncoding, TokenCounter};

pub(super) use lanes::Lanes;
pub(super) use steps::Draft;

/// Cuts where meaning turns.
///
/// Made from an embedder and, where the defaults do not serve, other settings:
///
/// ```
/// use horchunk::{Borders, Chunker, SentenceTransformer, WindowChunker};
///
/// let model = SentenceTransformer::bundled()?;
/// let chunker = WindowChunker::new(&model).with_threshold(0.8)?.with_max_sentences(4)?.with_borders(Borders::Paragraph);
/// let text = "Cats sleep most of the day. They hunt at dusk. The tax form is due in May.";
/// let chunks = chunker.chunk(text)?;
/// assert_eq!(chunks.last().map(|chunk| chunk.text), Some("The tax form is due in May."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Settings that contradict each other are refused where they are made.
pub struct WindowChunker<E> {
    pub(super) embedder: E,
    splitter: Box<dyn SentenceSplitter>,
    counter: Option<Box<dyn TokenCounter>>,
    similarity: Box<dyn Similarity>,
    threshold: f32,
    max_sentences: usize,
    borders: Borders,
    max_tokens: Option<usize>,
    min_tokens: usize,
    overlap_sentences: usize,
    keep_white_space: bool,
    embeddings: bool,
}

impl<E: Embedder> WindowChunker<E> {
    /// Threshold that the method's authors recommend for all-MiniLM-L6-v2.
    pub const DEFAULT_THRESHOLD: f32 = 0.72;
    /// Most sentences of a chunk by default.
    pub const DEFAULT_MAX_SENTENCES: usize = 6;

    /// A chunker with threshold 0.72, at most six sentences, the Unicode splitter, tokens counted in
    /// `cl100k_base`, no cap, no borders and no overlap.
    #[must_use]
    pub fn new(embedder: E) -> Self {
        Self {
            embedder,
            splitter: Box::new(UnicodeSplitter::default()),
            counter: Some(Box::new(Tiktoken::new(TiktokenEncoding::Cl100kBase))),
            similarity: Box::new(Cosine),
            threshold: Self::DEFAULT_THRESHOLD,
            max_sentences: Self::DEFAULT_MAX_SENTENCES,
            borders: Borders::None,
            max_tokens: None,
            min_tokens: 0,
            overlap_sentences: 0,
            keep_white_space: false,
            embeddings: false,
        }
    }

    /// Closes a window whose similarity to its first sentence is below `threshold`.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Threshold`] unless `-1 <= threshold <= 1`.
    pub fn with_threshold(mut self, threshold: f32) -> Result<Self, SettingsError> {
        if !(-1.0..=1.0).contains(&threshold) {
            return Err(SettingsError::Threshold(threshold));
        }
        self.threshold = threshold;
        Ok(self)
    }

    /// Most sentences of a chunk, those taken over from the chunk before it not counted.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoSentences`] for 0, [`SettingsError::Overlap`] unless the overlap is smaller.
    pub fn with_max_sentences(mut self, max_sentences: usize) -> Result<Self, SettingsError> {
        if max_sentences == 0 {
            return Err(SettingsError::NoSentences);
        }
        self.max_sentences = max_sentences;
        self.checked()
    }

    /// Most tokens of a chunk, counted exactly on its own text; a longer sentence is split by force.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoTokens`] for 0, [`SettingsError::MinTokens`] unless the minimum is at most as large,
    /// [`SettingsError::NoCounter`] where nothing counts.
    pub fn with_max_tokens(mut self, max_tokens: usize) -> Result<Self, SettingsError> {
        if max_tokens == 0 {
            return Err(SettingsError::NoTokens);
        }
        self.max_tokens = Some(max_tokens);
        self.checked()
    }

    /// Joins a chunk of fewer tokens to the neighbour it is more alike, where cap and borders allow it.
    ///
    /// # Errors
    ///
    /// [`SettingsError::MinTokens`] where that is more than the cap.
    pub fn with_min_tokens(mut self, min_tokens: usize) -> Result<Self, SettingsError> {
        self.min_tokens = min_tokens;
        self.checked()
    }

    /// Starts a chunk with up to so many sentences from the end of the chunk before it, as cap and borders allow.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Overlap`] unless it is smaller than the largest number of sentences,
    /// [`SettingsError::OverlapWithWhiteSpace`] where white space is kept.
    pub fn with_overlap_sentences(mut self, overlap: usize) -> Result<Self, SettingsError> {
        self.overlap_sentences = overlap;
        self.checked()
    }

    /// Gives all white space between chunks to the chunk before it, so that joining the chunks gives the text back.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OverlapWithWhiteSpace`] where chunks overlap.
    pub fn with_kept_white_space(mut self) -> Result<Self, SettingsError> {
        self.keep_white_space = true;
        self.checked()
    }

    /// Finds sentences with `splitter`.
    #[must_use]
    pub fn with_splitter(mut self, splitter: impl SentenceSplitter + 'static) -> Self {
        self.splitter = Box::new(splitter);
        self
    }

    /// Counts tokens with `counter`.
    #[must_use]
    pub fn with_counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Some(Box::new(counter));
        self
    }

    /// Counts no tokens: chunks carry no count.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoCounter`] where a cap or a minimum needs one.
    pub fn without_counter(mut self) -> Result<Self, SettingsError> {
        self.counter = None;
        self.checked()
    }

    /// Whom it asks for vectors.
    pub const fn embedder(&self) -> &E {
        &self.embedder
    }

    /// Name of the counter, as records carry it.
    #[must_use]
    pub fn counter_name(&self) -> Option<&str> {
        self.counter.as_deref().map(TokenCounter::name)
    }

    /// Compares vectors with `similarity`.
    #[must_use]
    pub fn with_similarity(mut self, similarity: impl Similarity + 'static) -> Self {
        self.similarity = Box::new(similarity);
        self
    }

    /// Ends a chunk at every such border.
    #[must_use]
    pub const fn with_borders(mut self, borders: Borders) -> Self {
        self.borders = borders;
        self
    }

    /// Gives every chunk its own vector.
    #[must_use]
    pub const fn with_embeddings(mut self) -> Self {
        self.embeddings = true;
        self
    }

    fn checked(self) -> Result<Self, SettingsError> {
        let (overlap, max_sentences) = (self.overlap_sentences, self.max_sentences);
        if overlap >= max_sentences {
            return Err(SettingsError::Overlap { overlap, max_sentences });
        }
        if let Some(max) = self.max_tokens.filter(|&max| self.min_tokens > max) {
            return Err(SettingsError::MinTokens { min: self.min_tokens, max });
        }
        if self.counter.is_none() && (self.max_tokens.is_some() || self.min_tokens > 0) {
            return Err(SettingsError::NoCounter);
        }
        if overlap > 0 && self.keep_white_space {
            return Err(SettingsError::OverlapWithWhiteSpace);
        }
        Ok(self)
    }

    /// The chunks of `text`, one at a time, each made when it is asked for.
    ///
    /// # Errors
    ///
    /// Where the text cannot be split into sentences; every item can fail where its sentences cannot be embedded or
    /// counted, and the iteration ends there.
    pub fn chunks<'c, 't>(&'c self, text: &'t str) -> Result<Chunks<'c, 't>, ChunkError> {
        let rules = self.rules();
        let units = Units::new(text, &*self.splitter, self.borders, rules.cap().as_ref(), self.keep_white_space)?;
        Ok(Chunks::new(rules, units))
    }

    /// The chunks of several texts, embedded in common batches before this returns: faster than one text after the
    /// other, with the same chunks. Memory is that of all of them; the error of one is nothing to the others.
    pub fn chunks_of<'c, 't>(&'c self, texts: &[&'t str]) -> Vec<Result<Chunks<'c, 't>, ChunkError>> {
        let mut all: Vec<_> = texts.iter().map(|text| self.chunks(text)).collect();
        let mut lanes: Vec<_> = all.iter_mut().flatten().map(Chunks::lanes).collect();
        lanes::advance(&self.rules(), &mut lanes);
        all
    }

    /// Cuts a text that comes part by part, as from a pipe, in memory that does not grow with it.
    pub fn stream(&self) -> ChunkStream<'_> {
        ChunkStream::new(self.rules(), &*self.splitter, self.borders)
    }

    fn rules(&self) -> Rules<'_> {
        // A model of sums is asked for sums.
        let model = self.embedder.as_token_embedder().filter(|_| self.embedder.as_sum_embedder().is_none());
        Rules {
            embedder: &self.embedder,
            draft: model.and_then(TokenEmbedder::as_draft_embedder),
            counter: self.counter.as_deref(),
            similarity: &*self.similarity,
            threshold: self.threshold,
            max_sentences: self.max_sentences,
            max_tokens: self.max_tokens,
            min_tokens: self.min_tokens,
            overlap_sentences: self.overlap_sentences,
            keep_white_space: self.keep_white_space,
            embeddings: self.embeddings,
        }
    }
}

impl<E: Embedder> Chunker for WindowChunker<E> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        self.chunks(text)?.collect()
    }

    fn chunk_all<'t>(&self, texts: &[&'t str]) -> Vec<Result<Vec<Chunk<'t>>, ChunkError>> {
        self.chunks_of(texts).into_iter().map(|chunks| chunks?.collect()).collect()
    }
}

impl<E> fmt::Debug for WindowChunker<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowChunker")
            .field("threshold", &self.threshold)
            .field("max_sentences", &self.max_sentences)
            .field("borders", &self.borders)
            .field("counter", &self.counter.as_ref().map(|counter| counter.name().to_owned()))
            .field("max_tokens", &self.max_tokens)
            .field("min_tokens", &self.min_tokens)
            .field("overlap_sentences", &self.overlap_sentences)
            .field("keep_white_space", &self.keep_white_space)
            .field("embeddings", &self.embeddings)
            .finish_non_exhaustive()
    }
}

/// The settings of a chunker, borrowed for one text.
#[derive(Clone, Copy)]
pub(super) struct Rules<'c> {
    pub(super) embedder: &'c dyn Embedder,
    /// The embedder's faster version.
    pub(super) draft: Option<&'c dyn DraftEmbedder>,
    pub(super) counter: Option<&'c dyn TokenCounter>,
    pub(super) similarity: &'c dyn Similarity,
    pub(super) threshold: f32,
    pub(super) max_sentences: usize,
    pub(super) max_tokens: Option<usize>,
    pub(super) min_tokens: usize,
    pub(super) overlap_sentences: usize,
    pub(super) keep_white_space: bool,
    pub(super) embeddings: bool,
}

impl<'c> Rules<'c> {
    pub(super) fn cap(&self) -> Option<Cap<'c>> {
        let (counter, with_white_space) = (self.counter?, self.keep_white_space);
        self.max_tokens.map(|max_tokens| Cap { counter, max_tokens, with_white_space })
    }

    /// Whether a text of the source keeps the cap.
    pub(super) fn fits(&self, text: &str) -> Result<bool, ChunkError> {
        match (self.counter, self.max_tokens) {
            (Some(counter), Some(max_tokens)) => Ok(counter.count(text)? <= max_tokens),
            _ => Ok(true),
        }
    }

    /// The error for a character at `byte` that has more tokens than the cap.
    pub(super) fn too_small(&self, text: &str, byte: usize) -> Result<ChunkError, ChunkError> {
        let character = Span::new(byte, text.ceil_char_boundary(byte + 1));
        let tokens = self.counter.map_or(Ok(0), |counter| counter.count(&text[character]))?;
        Ok(FitError::CapTooSmall { byte, tokens, max_tokens: self.max_tokens.unwrap_or(0) }.into())
    }
}
