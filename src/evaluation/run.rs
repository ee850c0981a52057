//! One chunker over one dataset.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use super::dataset::{Dataset, Question};
use super::locate::Locator;
use super::metrics::{self, Mode, Scores};
use super::ranges::{difference, union};
use super::retrieval::{Hit, Index};
use super::stats::Moments;
use crate::chunker::{Chunk, ChunkError, Chunker, ContextWeights, EmbeddedChunker, SettingsError};
use crate::embedding::{Embedder, EmbeddingError, embed_texts};
use crate::span::CharMap;

/// How many chunks a question gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopK {
    /// So many.
    Fixed(usize),
    /// As many as touch its references, at most 20: what a perfect retrieval would need.
    Minimum,
}

/// Sentences embedded at a time.
const BATCH: usize = 256;

/// Most chunks of [`TopK::Minimum`], as in `chunking_evaluation`.
const MOST: usize = 20;

/// Why a chunker could not be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The chunker failed on a corpus.
    #[error("the corpus {corpus} could not be cut into chunks")]
    Chunker {
        /// The corpus.
        corpus: String,
        /// Why.
        #[source]
        source: ChunkError,
    },
    /// The questions could not be embedded.
    #[error("the questions could not be embedded")]
    Questions(#[source] EmbeddingError),
    /// There is nothing to retrieve.
    #[error("the chunker made no chunk of any corpus: there is nothing to retrieve")]
    NoChunks,
    /// A text could not be found again ([`Mode::Compat`] only).
    #[error("a chunk of {corpus} is not found in it again: {excerpt:?}; exact spans need no search")]
    Lost {
        /// The corpus.
        corpus: String,
        /// Its first words.
        excerpt: String,
    },
}

/// A chunk that can be retrieved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Retrievable {
    /// Number of its corpus.
    pub corpus: usize,
    /// Its characters.
    pub characters: Range<usize>,
    /// Its exact number of tokens, where a counter was there.
    pub tokens: Option<usize>,
}

/// A chunk that was retrieved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Retrieved {
    /// Number of the chunk.
    pub chunk: usize,
    /// Cosine of question and chunk.
    pub similarity: f32,
}

/// What came of one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionResult {
    /// Its scores.
    pub scores: Scores,
    /// What was retrieved, the best first.
    pub retrieved: Vec<Retrieved>,
    /// Chunks that touch one of its references.
    pub touching: usize,
}

/// Means and deviations of the four scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Of recall.
    pub recall: Moments,
    /// Of precision.
    pub precision: Moments,
    /// Of precision-omega.
    pub precision_omega: Moments,
    /// Of IoU.
    pub iou: Moments,
}

impl Summary {
    /// Of these scores.
    #[must_use]
    pub fn of<'a>(scores: impl IntoIterator<Item = &'a Scores, IntoIter: Clone>) -> Self {
        let scores = scores.into_iter();
        let moments = |of: fn(&Scores) -> f64| Moments::of(scores.clone().map(of));
        Self {
            recall: moments(|scores| scores.recall),
            precision: moments(|scores| scores.precision),
            precision_omega: moments(|scores| scores.precision_omega),
            iou: moments(|scores| scores.iou),
        }
    }
}

/// A chunker's result on a dataset.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// All chunks, corpus by corpus.
    pub chunks: Vec<Retrievable>,
    /// One a question.
    pub questions: Vec<QuestionResult>,
}

impl Evaluation {
    /// Over all questions.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(self.questions.iter().map(|question| &question.scores))
    }

    /// The characters of a question's references that no retrieved chunk holds.
    ///
    /// # Panics
    ///
    /// If the dataset is not the one that was evaluated.
    #[must_use]
    pub fn missed(&self, dataset: &Dataset, question: usize) -> Vec<Range<usize>> {
        let asked = &dataset.questions[question];
        let retrieved = self.questions[question].retrieved.iter().map(|hit| &self.chunks[hit.chunk]);
        let own = retrieved.filter(|chunk| chunk.corpus == asked.corpus).map(|chunk| chunk.characters.clone());
        let references: Vec<Range<usize>> = asked.references.iter().map(super::Reference::range).collect();
        difference(&union(references), &own.collect::<Vec<_>>())
    }

    /// Over the questions of one corpus.
    #[must_use]
    pub fn of_corpus(&self, dataset: &Dataset, corpus: usize) -> Summary {
        let own = dataset.questions.iter().zip(&self.questions).filter(|(question, _)| question.corpus == corpus);
        Summary::of(own.map(|(_, result)| &result.scores))
    }
}

/// Scores chunkers on one dataset with one model; a clone costs a copy of the questions' vectors.
///
/// ```
/// use horchunk::evaluation::{Dataset, Evaluator};
/// use horchunk::{SentenceChunker, SentenceTransformer};
///
/// let (dataset, model) = (Dataset::own(), SentenceTransformer::bundled()?);
/// let evaluator = Evaluator::new(&dataset, &model)?;
/// let evaluation = evaluator.run(&SentenceChunker::new(3)?)?;
/// assert!(evaluation.summary().recall.mean > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Evaluator<'a> {
    dataset: &'a Dataset,
    embedder: &'a dyn Embedder,
    questions: Vec<Vec<f32>>,
    top_k: TopK,
    mode: Mode,
    context: ContextWeights,
    unique: bool,
    sentence_weight: f32,
    own_vectors: bool,
}

/// A chunker whose vectors are left out.
struct Bare<'a>(&'a dyn Chunker);

impl Chunker for Bare<'_> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        Ok(self.0.chunk(text)?.into_iter().map(|chunk| Chunk { embedding: None, ..chunk }).collect())
    }
}

impl<'a> Evaluator<'a> {
    /// Embeds the questions; chunks that bring no vector will be embedded by the same model. Five chunks are retrieved
    /// for a question.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Questions`]
    pub fn new(dataset: &'a Dataset, embedder: &'a dyn Embedder) -> Result<Self, EvaluationError> {
        Self::with_queries(dataset, embedder, embedder)
    }

    /// The same with another embedder for the questions, for models that treat the two unequally.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::Questions`]
    pub fn with_queries(
        dataset: &'a Dataset,
        embedder: &'a dyn Embedder,
        queries: &dyn Embedder,
    ) -> Result<Self, EvaluationError> {
        let texts: Vec<&str> = dataset.questions.iter().map(|question| question.text.as_str()).collect();
        let embeddings = embed_texts(queries, &texts).map_err(EvaluationError::Questions)?;
        let questions = embeddings.into_iter().map(|embedding| embedding.vector).collect();
        let (top_k, mode, context) = (TopK::Fixed(5), Mode::Exact, ContextWeights::default());
        let (unique, sentence_weight, own_vectors) = (false, 0.0, false);
        Ok(Self { dataset, embedder, questions, top_k, mode, context, unique, sentence_weight, own_vectors })
    }

    /// Retrieves another number of chunks.
    #[must_use]
    pub const fn with_top_k(mut self, top_k: TopK) -> Self {
        self.top_k = top_k;
        self
    }

    /// Scores exactly or as `chunking_evaluation` does.
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Puts neighbours into the vectors of chunks.
    #[must_use]
    pub fn with_context(mut self, context: ContextWeights) -> Self {
        self.context = context;
        self
    }

    /// Retrieves a text that stands more than once only once, where it stands first; white space does not count.
    #[must_use]
    pub const fn with_unique(mut self, unique: bool) -> Self {
        self.unique = unique;
        self
    }

    /// Embeds chunks that bring a vector too: for chunkers that look through another model than this one.
    #[must_use]
    pub const fn with_own_vectors(mut self) -> Self {
        self.own_vectors = true;
        self
    }

    /// Lets the sentence of a chunk that is most alike have this share, from 0 to 1, in the similarity of the chunk.
    /// Sentences get their neighbours' vectors as chunks do.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Share`] for a share out of range.
    pub fn with_sentence_weight(mut self, weight: f32) -> Result<Self, SettingsError> {
        if !(0.0..=1.0).contains(&weight) {
            return Err(SettingsError::Share(weight));
        }
        self.sentence_weight = weight;
        Ok(self)
    }

    /// The dataset.
    #[must_use]
    pub const fn dataset(&self) -> &'a Dataset {
        self.dataset
    }

    /// Cuts, retrieves and scores.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] where the chunker fails or makes no chunk.
    pub fn run(&self, chunker: &dyn Chunker) -> Result<Evaluation, EvaluationError> {
        let bare = Bare(chunker);
        let chunker = EmbeddedChunker::new(if self.own_vectors { &bare } else { chunker }, self.embedder)
            .with_context(self.context.clone());
        let mut chunks = Vec::new();
        let mut index = Index { sentence_weight: self.sentence_weight, ..Index::default() };
        let mut seen = HashSet::new();
        for (number, corpus) in self.dataset.corpora.iter().enumerate() {
            let made = chunker
                .chunk(&corpus.text)
                .map_err(|source| EvaluationError::Chunker { corpus: corpus.id.clone(), source })?;
            if self.sentence_weight > 0.0 {
                let sentences = self.sentences(&made, index.chunks.len());
                index.sentences.extend(
                    sentences.map_err(|source| EvaluationError::Chunker { corpus: corpus.id.clone(), source })?,
                );
            }
            let locator = (self.mode == Mode::Compat).then(|| (Locator::new(&corpus.text), CharMap::new(&corpus.text)));
            for chunk in made {
                let characters = match &locator {
                    None => chunk.start.chars..chunk.end.chars,
                    Some((locator, map)) => {
                        let text = chunk.joined();
                        let place = locator.find(&text).ok_or_else(|| EvaluationError::Lost {
                            corpus: corpus.id.clone(),
                            excerpt: text.chars().take(60).collect(),
                        })?;
                        map.position(place.start).chars..map.position(place.end).chars
                    }
                };
                chunks.push(Retrievable { corpus: number, characters, tokens: chunk.tokens });
                let words = || chunk.text.split_whitespace().collect::<Vec<_>>().join(" ");
                index.repeated.push(self.unique && !seen.insert(words()));
                index.chunks.push(chunk.embedding.unwrap_or_default());
            }
        }
        if chunks.is_empty() {
            return Err(EvaluationError::NoChunks);
        }
        let questions = self.score(&chunks, &index);
        Ok(Evaluation { chunks, questions })
    }

    /// The vectors of the sentences of one corpus, each with the number of its chunk, the first of which is `first`.
    fn sentences(&self, chunks: &[Chunk<'_>], first: usize) -> Result<Vec<(usize, Vec<f32>)>, ChunkError> {
        let (mut owners, mut texts) = (Vec::new(), Vec::new());
        for (number, chunk) in (first..).zip(chunks) {
            for text in chunk.sentence_texts().skip(chunk.overlap_sentences) {
                owners.push(number);
                texts.push(text);
            }
        }
        let mut own = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            own.extend(embed_texts(self.embedder, batch)?.into_iter().map(|embedding| embedding.vector));
        }
        Ok(owners.into_iter().zip(self.context.apply(&own)).collect())
    }

    fn score(&self, chunks: &[Retrievable], index: &Index) -> Vec<QuestionResult> {
        let of_corpus = |corpus: usize| {
            let own = chunks.iter().filter(|chunk| chunk.corpus == corpus);
            own.map(|chunk| chunk.characters.clone()).collect::<Vec<_>>()
        };
        let by_corpus: Vec<Vec<Range<usize>>> = (0..self.dataset.corpora.len()).map(of_corpus).collect();
        let k = match self.top_k {
            TopK::Fixed(k) => k,
            TopK::Minimum => MOST,
        };
        let hits = index.retrieve(&self.questions, k);
        let questions = self.dataset.questions.iter().zip(hits);
        questions.map(|(question, hits)| self.result(question, &hits, chunks, &by_corpus[question.corpus])).collect()
    }

    fn result(
        &self,
        question: &Question,
        hits: &[Hit],
        chunks: &[Retrievable],
        own: &[Range<usize>],
    ) -> QuestionResult {
        let references: Vec<Range<usize>> = question.references.iter().map(super::Reference::range).collect();
        let touching = metrics::touching(self.mode, &references, own);
        let hits = match self.top_k {
            TopK::Fixed(_) => hits,
            TopK::Minimum => &hits[..hits.len().min(touching)],
        };
        let (same, others): (Vec<&Retrievable>, Vec<_>) =
            hits.iter().map(|hit| &chunks[hit.chunk]).partition(|chunk| chunk.corpus == question.corpus);
        let same: Vec<Range<usize>> = same.into_iter().map(|chunk| chunk.characters.clone()).collect();
        let foreign = others.into_iter().map(|chunk| chunk.characters.len()).sum();
        let retrieval = metrics::Retrieval { corpus: own, own: &same, foreign };
        let scores = metrics::scores(self.mode, &references, &retrieval);
        let retrieved = hits.iter().map(|hit| Retrieved { chunk: hit.chunk, similarity: hit.similarity }).collect();
        QuestionResult { scores, retrieved, touching }
    }
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("dataset", &self.dataset.name)
            .field("top_k", &self.top_k)
            .field("mode", &self.mode)
            .field("context", &self.context)
            .field("unique", &self.unique)
            .field("sentence_weight", &self.sentence_weight)
            .field("own_vectors", &self.own_vectors)
            .finish_non_exhaustive()
    }
}
