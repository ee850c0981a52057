//! Chunker, reader and selector as one: index once, ask often.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::embedded::{vector_of, vectors_of};
use super::read::read_each;
use super::{AnswerError, Candidate, Delivery, Passage, Reader, Selection, Selector, Usage, select};
use crate::chunker::Chunker;
use crate::embedding::{Cosine, Embedder, Similarity};
use crate::span::Span;

/// Answers a question from a text: chunks it, reads every chunk, selects among the answers.
///
/// ```
/// use horchunk::answer::{Confidence, LexicalReader, answer};
/// use horchunk::{RuleSplitter, SentenceChunker};
///
/// let text = "Ana kept bees. Her brother carved bowls.";
/// let chunker = SentenceChunker::new(1)?.with_splitter(RuleSplitter);
/// let answered = answer("Who carved the bowls?", text, &chunker, LexicalReader::default(), Confidence)?;
/// let found = answered.chosen().and_then(|candidate| candidate.answer.as_ref());
/// assert_eq!(found.and_then(|found| found.span).map(|span| &text[span]), Some("Her brother carved bowls."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Where the question is empty, the text cannot be chunked, or reader or selector fail.
pub fn answer(
    question: &str,
    text: &str,
    chunker: impl Chunker,
    reader: impl Reader,
    selector: impl Selector,
) -> Result<Answered, AnswerError> {
    AnswerPipeline::new(chunker, reader, selector).index(text)?.ask(question)
}

/// The chunks nearest to the question, before any is read.
#[derive(Clone)]
struct Nearest {
    k: NonZeroUsize,
    questions: Arc<dyn Embedder>,
    texts: Arc<dyn Embedder>,
}

/// A chunker, a reader and a selector; a clone shares them.
///
/// ```no_run
/// use std::ops::ControlFlow;
///
/// use horchunk::answer::{AnswerPipeline, Confidence, Delivery, LexicalReader};
/// use horchunk::{SentenceTransformer, WindowChunker};
///
/// let chunker = WindowChunker::new(SentenceTransformer::bundled()?);
/// let pipeline = AnswerPipeline::new(chunker, LexicalReader::default(), Confidence);
/// let text = std::fs::read_to_string("harbour.txt")?;
/// let index = pipeline.index(&text)?;
/// println!("{:?}", index.ask("Who steers the ferry?")?.chosen());
/// index.ask_each("What did it carry?", Delivery::AsCompleted, |candidate| {
///     println!("{candidate:?}");
///     ControlFlow::Continue(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnswerPipeline<C, R, S> {
    parts: Arc<Parts<C, R, S>>,
    nearest: Option<Nearest>,
}

struct Parts<C, R, S> {
    chunker: C,
    reader: R,
    selector: S,
}

impl<C, R, S> Clone for AnswerPipeline<C, R, S> {
    fn clone(&self) -> Self {
        Self { parts: Arc::clone(&self.parts), nearest: self.nearest.clone() }
    }
}

impl<C, R: Reader, S: Selector> fmt::Debug for AnswerPipeline<C, R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("AnswerPipeline");
        f.field("reader", &self.parts.reader.name())
            .field("selector", &self.parts.selector.name())
            .finish_non_exhaustive()
    }
}

impl<C: Chunker, R: Reader, S: Selector> AnswerPipeline<C, R, S> {
    /// Reads every chunk.
    #[must_use]
    pub fn new(chunker: C, reader: R, selector: S) -> Self {
        Self { parts: Arc::new(Parts { chunker, reader, selector }), nearest: None }
    }

    /// Reads only the `k` chunks whose vectors by `texts` are nearest to the question's by `questions`.
    #[must_use]
    pub fn with_top_k(mut self, k: NonZeroUsize, questions: Arc<dyn Embedder>, texts: Arc<dyn Embedder>) -> Self {
        self.nearest = Some(Nearest { k, questions, texts });
        self
    }

    /// Chunks a text, to be asked of as often as wanted. Of a `String` the index is `'static`.
    ///
    /// # Errors
    ///
    /// Where the text cannot be chunked or its chunks embedded.
    pub fn index<'t>(&self, text: impl Into<Cow<'t, str>>) -> Result<AnswerIndex<'t, C, R, S>, AnswerError> {
        let mut index = self.empty_index();
        index.add(text)?;
        Ok(index)
    }

    /// An index without a document, to be filled with [`AnswerIndex::add`].
    #[must_use]
    pub fn empty_index<'t>(&self) -> AnswerIndex<'t, C, R, S> {
        AnswerIndex { pipeline: self.clone(), texts: Vec::new(), places: Vec::new(), vectors: Vec::new() }
    }
}

/// The chunks of one or more documents, ready for questions.
#[derive(Debug)]
pub struct AnswerIndex<'t, C, R: Reader, S: Selector> {
    pipeline: AnswerPipeline<C, R, S>,
    texts: Vec<Cow<'t, str>>,
    places: Vec<Place>,
    /// One a place, where the nearest are retrieved.
    vectors: Vec<Vec<f32>>,
}

/// Where a chunk is.
#[derive(Debug)]
struct Place {
    document: usize,
    chunk: usize,
    span: Span,
}

impl<'t, C: Chunker, R: Reader, S: Selector> AnswerIndex<'t, C, R, S> {
    /// Adds a document and returns its number. One that fails leaves the index as it was.
    ///
    /// # Errors
    ///
    /// Where the text cannot be chunked or its chunks embedded.
    pub fn add(&mut self, text: impl Into<Cow<'t, str>>) -> Result<usize, AnswerError> {
        let (document, text) = (self.texts.len(), text.into());
        let chunks = self.pipeline.parts.chunker.chunk(&text)?;
        if let Some(nearest) = &self.pipeline.nearest {
            let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text).collect();
            self.vectors.extend(vectors_of(&nearest.texts, &texts)?);
        }
        let numbered = chunks.iter().enumerate();
        self.places.extend(numbered.map(|(chunk, at)| Place { document, chunk, span: at.span }));
        self.texts.push(text);
        Ok(document)
    }

    /// All chunks, in order.
    #[must_use]
    pub fn passages(&self) -> impl ExactSizeIterator<Item = Passage<'_>> {
        self.places.iter().map(|place| self.passage(place))
    }

    fn passage(&self, &Place { document, chunk, span }: &Place) -> Passage<'_> {
        Passage { document, chunk, span, text: &self.texts[document][span] }
    }

    /// Answers a question. The same result each time and with any number of threads, as long as the reader's is.
    ///
    /// # Errors
    ///
    /// [`AnswerError::EmptyQuestion`], and those of reader and selector.
    pub fn ask(&self, question: &str) -> Result<Answered, AnswerError> {
        self.ask_each(question, Delivery::InOrder, |_| ControlFlow::Continue(()))
    }

    /// Answers a question and hands every candidate to `each` on the way, abstentions included. Where `each` breaks
    /// off, the answer is selected among those handed out.
    ///
    /// # Errors
    ///
    /// As [`Self::ask`]; what was handed out before an error stands.
    pub fn ask_each(
        &self,
        question: &str,
        delivery: Delivery,
        mut each: impl FnMut(&Candidate) -> ControlFlow<()>,
    ) -> Result<Answered, AnswerError> {
        if !question.contains(char::is_alphanumeric) {
            return Err(AnswerError::EmptyQuestion);
        }
        let parts = &self.pipeline.parts;
        let passages = self.nearest(question)?;
        let candidates = read_each(&parts.reader, question, &passages, delivery, &mut each)?;
        let selection = select(&parts.selector, question, &candidates)?;
        Ok(Answered { candidates, selection })
    }

    /// The chunks to read, in the order of the documents.
    fn nearest(&self, question: &str) -> Result<Vec<Passage<'_>>, AnswerError> {
        let Some(nearest) = &self.pipeline.nearest else { return Ok(self.passages().collect()) };
        let asked = vector_of(&nearest.questions, question)?;
        let mut hits: Vec<(usize, f32)> =
            self.vectors.iter().map(|vector| Cosine.between(&asked, vector)).enumerate().collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1));
        hits.truncate(nearest.k.get());
        hits.sort_by_key(|hit| hit.0);
        Ok(hits.into_iter().map(|(at, _)| self.passage(&self.places[at])).collect())
    }
}

/// What a question was answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// What every chunk that was read answered, in order.
    pub candidates: Vec<Candidate>,
    /// Which of them was selected.
    pub selection: Selection,
}

impl Answered {
    /// The selected candidate; `None` if all abstained.
    #[must_use]
    pub fn chosen(&self) -> Option<&Candidate> {
        self.selection.chosen.and_then(|at| self.candidates.get(at))
    }

    /// What all readings cost.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.candidates.iter().map(|candidate| candidate.usage).sum()
    }
}
