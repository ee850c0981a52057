//! Every question put to its document by one chunker and one reader, and every selector choosing among the answers.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::{AnswerQuestion, AnswerScore, AnswerSet};
use crate::answer::{
    AnswerError, AnswerIndex, AnswerPipeline, Candidate, First, Reader, Selection, Selector, Usage, select,
};
use crate::chunker::{ChunkError, Chunker, SentenceChunker};
use crate::sentence::ParagraphSplitter;
use crate::tokens::TokenCounter;

/// Evaluates readers and selectors.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use horchunk::answer::{Bm25, LexicalReader};
/// use horchunk::evaluation::{AnswerEvaluator, AnswerSet};
/// use horchunk::{RuleSplitter, SentenceChunker};
///
/// let set = AnswerSet::own().sampled(3, 7);
/// let (chunker, reader) = (SentenceChunker::new(6)?.with_splitter(RuleSplitter), LexicalReader::default());
/// let bm25 = Bm25::default();
/// let evaluator = AnswerEvaluator::new(&set, &chunker, &reader).with_selector(&bm25);
/// let evaluation = evaluator.run(|_| ControlFlow::Continue(()));
/// assert_eq!(evaluation.questions.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AnswerEvaluator<'a> {
    set: &'a AnswerSet,
    chunker: &'a dyn Chunker,
    reader: &'a dyn Reader,
    selectors: Vec<&'a dyn Selector>,
    whole: Option<(&'a dyn TokenCounter, usize)>,
}

impl std::fmt::Debug for AnswerEvaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerEvaluator")
            .field("set", &self.set.name)
            .field("reader", &self.reader.name())
            .field("selectors", &self.selector_names())
            .finish_non_exhaustive()
    }
}

/// What a selector chose.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SelectedAnswer {
    /// The answer; `None` where all chunks abstained.
    pub text: Option<String>,
    /// How right it is.
    pub score: AnswerScore,
    /// Whether the best score was that of several answers, so that their order decided.
    pub tied: bool,
}

/// How long a question took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuestionTimes {
    /// Cutting its document, the same for all questions to it.
    pub chunking: Duration,
    /// Reading all chunks.
    pub reading: Duration,
    /// Selecting, by each selector.
    pub selecting: Vec<Duration>,
}

/// One question, answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnsweredQuestion {
    /// Its number in the set.
    pub question: usize,
    /// Whether its document answers it.
    pub is_answerable: bool,
    /// Chunks of its document.
    pub chunks: usize,
    /// Chunks whose reader abstained.
    pub empty: usize,
    /// Number of the first chunk, from 0, in which a right answer stands word for word.
    pub held_by: Option<usize>,
    /// The best answer of any chunk: no selector can be better.
    pub oracle: AnswerScore,
    /// What each selector chose; the first is [`First`].
    pub selected: Vec<SelectedAnswer>,
    /// The answer of the whole document read at once; `None` where that was not asked for or does not fit.
    pub whole: Option<AnswerScore>,
    /// What the readings cost.
    pub usage: Usage,
    /// How long it took.
    pub times: QuestionTimes,
}

/// What could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
#[non_exhaustive]
pub struct AnswerFailure {
    /// A question or a document.
    pub what: String,
    /// Why.
    #[source]
    pub source: AnswerError,
}

/// All questions of a set, answered.
#[derive(Debug)]
#[non_exhaustive]
pub struct AnswerEvaluation {
    /// Name of the reader.
    pub reader: String,
    /// Names of the selectors, [`First`] in front.
    pub selectors: Vec<String>,
    /// Those that were answered, in the order of the set.
    pub questions: Vec<AnsweredQuestion>,
    /// The others, and why.
    pub failures: Vec<AnswerFailure>,
    /// How many documents were read whole, where that was asked for.
    pub documents_whole: Option<usize>,
}

type Pipeline<'a, C> = AnswerPipeline<C, &'a dyn Reader, First>;
type Index<'a, C> = AnswerIndex<'a, C, &'a dyn Reader, First>;

/// A document as one chunk.
type Whole = SentenceChunker;

/// A document, ready for its questions.
struct Opened<'a> {
    index: Index<'a, &'a dyn Chunker>,
    /// Where it is read whole, too.
    whole: Option<Index<'a, Whole>>,
    chunking: Duration,
}

impl<'a> AnswerEvaluator<'a> {
    /// Evaluates [`First`] alone.
    #[must_use]
    pub fn new(set: &'a AnswerSet, chunker: &'a dyn Chunker, reader: &'a dyn Reader) -> Self {
        Self { set, chunker, reader, selectors: vec![&First], whole: None }
    }

    /// Lets another selector choose, too.
    #[must_use]
    pub fn with_selector(mut self, selector: &'a dyn Selector) -> Self {
        self.selectors.push(selector);
        self
    }

    /// Also has every document of at most `budget` tokens read whole.
    #[must_use]
    pub fn with_whole(mut self, counter: &'a dyn TokenCounter, budget: usize) -> Self {
        self.whole = Some((counter, budget));
        self
    }

    fn selector_names(&self) -> Vec<String> {
        self.selectors.iter().map(|selector| selector.name().to_owned()).collect()
    }

    /// Puts all questions, document by document. `each` is told after every question how many are done, and may break
    /// off. A document or a question that fails is reported, and the others go on.
    ///
    /// # Panics
    ///
    /// Never: there is no larger number of sentences.
    #[must_use]
    pub fn run(&self, mut each: impl FnMut(usize) -> ControlFlow<()>) -> AnswerEvaluation {
        let pipeline = AnswerPipeline::new(self.chunker, self.reader, First);
        let all = SentenceChunker::new(usize::MAX).expect("any number of sentences but none is allowed");
        let whole = AnswerPipeline::new(all.with_splitter(ParagraphSplitter).without_counter(), self.reader, First);
        let mut evaluation = AnswerEvaluation {
            reader: self.reader.name().to_owned(),
            selectors: self.selector_names(),
            questions: Vec::new(),
            failures: Vec::new(),
            documents_whole: self.whole.map(|_| 0),
        };
        let mut done = 0;
        'documents: for (number, document) in self.set.documents.iter().enumerate() {
            let questions = || self.set.questions.iter().enumerate().filter(|(_, asked)| asked.document == number);
            let opened = match self.open(&document.text, &pipeline, &whole) {
                Ok(opened) => opened,
                Err(source) => {
                    let what = format!("the document {}", document.id);
                    evaluation.failures.push(AnswerFailure { what, source });
                    done += questions().count();
                    continue;
                }
            };
            let read_whole = usize::from(opened.whole.is_some());
            evaluation.documents_whole = evaluation.documents_whole.map(|count| count + read_whole);
            for (at, question) in questions() {
                match self.ask(&opened, at, question) {
                    Ok(answered) => evaluation.questions.push(answered),
                    Err(source) => {
                        let what = format!("the question {}", question.id);
                        evaluation.failures.push(AnswerFailure { what, source });
                    }
                }
                done += 1;
                if each(done).is_break() {
                    break 'documents;
                }
            }
        }
        evaluation.questions.sort_by_key(|answered| answered.question);
        evaluation
    }

    fn open(
        &self,
        text: &'a str,
        pipeline: &Pipeline<'a, &'a dyn Chunker>,
        whole: &Pipeline<'a, Whole>,
    ) -> Result<Opened<'a>, AnswerError> {
        let (index, chunking) = timed(|| pipeline.index(text))?;
        let fits = match self.whole {
            Some((counter, budget)) => counter.count(text.trim()).map_err(ChunkError::from)? <= budget,
            None => false,
        };
        let whole = fits.then(|| whole.index(text)).transpose()?;
        Ok(Opened { index, whole, chunking })
    }

    fn ask(
        &self,
        document: &Opened<'_>,
        number: usize,
        question: &AnswerQuestion,
    ) -> Result<AnsweredQuestion, AnswerError> {
        let (answered, reading) = timed(|| document.index.ask(&question.text))?;
        let candidates = &answered.candidates;
        let (mut selected, mut selecting) = (Vec::new(), Vec::new());
        for selector in &self.selectors {
            let (selection, time) = timed(|| select(*selector, &question.text, candidates))?;
            selecting.push(time);
            selected.push(SelectedAnswer::of(&selection, candidates, question));
        }
        let whole = document.whole.as_ref().map(|index| index.ask(&question.text)).transpose()?;
        let right = &question.answers;
        let scores = candidates.iter().filter_map(text_of).map(|text| AnswerScore::of(Some(text), right));
        let holds = |text: &str| right.iter().any(|answer| text.contains(answer.as_str()));
        Ok(AnsweredQuestion {
            question: number,
            is_answerable: !right.is_empty(),
            chunks: candidates.len(),
            empty: answered.selection.abstained,
            held_by: document.index.passages().position(|passage| holds(passage.text)),
            oracle: scores.reduce(AnswerScore::best).unwrap_or_else(|| AnswerScore::of(None, right)),
            selected,
            whole: whole.as_ref().map(|answered| AnswerScore::of(answered.chosen().and_then(text_of), right)),
            usage: answered.usage() + whole.map(|answered| answered.usage()).unwrap_or_default(),
            times: QuestionTimes { chunking: document.chunking, reading, selecting },
        })
    }
}

impl SelectedAnswer {
    fn of(selection: &Selection, candidates: &[Candidate], question: &AnswerQuestion) -> Self {
        let text = selection.chosen.and_then(|at| text_of(&candidates[at]));
        let best = selection.chosen.and_then(|at| selection.scores[at]);
        // A score of NaN is no best one.
        let sharing = selection.scores.iter().filter(|score| score.is_some() && **score == best).count();
        let score = AnswerScore::of(text, &question.answers);
        Self { text: text.map(str::to_owned), score, tied: sharing > 1 }
    }
}

fn text_of(candidate: &Candidate) -> Option<&str> {
    candidate.answer.as_ref().map(|found| found.text.as_str())
}

/// What the work gives, and how long it took.
fn timed<T>(work: impl FnOnce() -> Result<T, AnswerError>) -> Result<(T, Duration), AnswerError> {
    let started = Instant::now();
    let done = work()?;
    Ok((done, started.elapsed()))
}
