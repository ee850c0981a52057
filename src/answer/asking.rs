//! Questions from async code: what reads and computes runs on tokio's threads for blocking work, never on those that
//! drive the tasks.
//!
//! Nothing is computed in another way than by [`AnswerIndex::ask_each`]. Whoever stops waiting stops the reading: the
//! chunks that are being read are finished, and no others are begun once one of them is handed out.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use super::{AnswerError, AnswerIndex, AnswerPipeline, Answered, Candidate, Delivery, Reader, Selector};
use crate::chunker::Chunker;

/// Candidates that wait for whoever asked.
const WAITING: usize = 16;

impl<C: Chunker + 'static, R: Reader + 'static, S: Selector + 'static> AnswerPipeline<C, R, S> {
    /// [`Self::index`] of a text that the index keeps, for async code. To be awaited on a tokio runtime.
    ///
    /// # Errors
    ///
    /// Where the text cannot be chunked or its chunks embedded; [`AnswerError::Stopped`].
    pub async fn index_async(&self, text: String) -> Result<Arc<AnswerIndex<'static, C, R, S>>, AnswerError> {
        let pipeline = self.clone();
        finished(spawn_blocking(move || pipeline.index(text)).await).map(Arc::new)
    }
}

impl<C: Chunker + 'static, R: Reader + 'static, S: Selector + 'static> AnswerIndex<'static, C, R, S> {
    /// [`Self::ask`] for async code. To be awaited on a tokio runtime; whoever drops the future stops the reading.
    ///
    /// # Errors
    ///
    /// As [`Self::ask`]; [`AnswerError::Stopped`].
    pub async fn ask_async(self: &Arc<Self>, question: impl Into<String>) -> Result<Answered, AnswerError> {
        self.asking(question, Delivery::AsCompleted).answered().await
    }

    /// [`Self::ask_each`] for async code: begins to read, and has the candidates come one by one.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    #[must_use]
    pub fn asking(self: &Arc<Self>, question: impl Into<String>, delivery: Delivery) -> Asking {
        let (index, question) = (Arc::clone(self), question.into());
        let (send, candidates) = mpsc::channel(WAITING);
        let answered = spawn_blocking(move || {
            if send.is_closed() {
                return Err(AnswerError::Stopped);
            }
            index.ask_each(&question, delivery, |candidate| match send.blocking_send(candidate.clone()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            })
        });
        Asking { candidates, answered }
    }
}

/// A question that is being answered; dropping it stops the reading.
///
/// ```
/// use horchunk::answer::{AnswerPipeline, Confidence, Delivery, LexicalReader};
/// use horchunk::{RuleSplitter, SentenceChunker};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let chunker = SentenceChunker::new(1)?.with_splitter(RuleSplitter);
/// let pipeline = AnswerPipeline::new(chunker, LexicalReader::default(), Confidence);
/// let index = pipeline.index_async("Ana kept bees. Her brother carved bowls.".to_owned()).await?;
///
/// let mut asking = index.asking("Who carved the bowls?", Delivery::InOrder);
/// while let Some(candidate) = asking.next().await {
///     println!("chunk {}: {:?}", candidate.chunk, candidate.answer);
/// }
/// let answered = asking.answered().await?;
/// assert_eq!(answered.chosen().map(|candidate| candidate.chunk), Some(1));
/// assert_eq!(index.ask_async("Who carved the bowls?").await?, answered);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Asking {
    candidates: mpsc::Receiver<Candidate>,
    answered: JoinHandle<Result<Answered, AnswerError>>,
}

impl Asking {
    /// The next candidate, abstentions included; `None` behind the last one and where an error ended the reading.
    /// Nothing is lost where the future is dropped.
    pub async fn next(&mut self) -> Option<Candidate> {
        self.candidates.recv().await
    }

    /// All candidates and which of them is selected, those that [`Self::next`] gave included.
    ///
    /// # Errors
    ///
    /// As [`AnswerIndex::ask`]; [`AnswerError::Stopped`].
    pub async fn answered(mut self) -> Result<Answered, AnswerError> {
        while self.next().await.is_some() {}
        finished(self.answered.await)
    }
}

/// What a thread gave; its panic goes on here.
fn finished<T>(ended: Result<Result<T, AnswerError>, JoinError>) -> Result<T, AnswerError> {
    match ended.map_err(JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => resume_unwind(panic),
        Err(Err(_)) => Err(AnswerError::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, poll_fn};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;
    use std::thread;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};

    use super::super::{Confidence, LexicalReader, Reading};
    use super::*;
    use crate::chunker::SentenceChunker;
    use crate::sentence::RuleSplitter;

    const TEXT: &str = "Bread is baked at five. The captain steers the ferry. Gulls cry. The ferry leaves at nine.";
    const QUESTION: &str = "Who steers the ferry?";

    fn chunker() -> SentenceChunker {
        SentenceChunker::new(1).unwrap().with_splitter(RuleSplitter)
    }

    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    /// Takes its time for a chunk, and counts them.
    struct Slow(Arc<AtomicUsize>);

    impl Reader for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn read(&self, _: &str, chunk: &str) -> Result<Reading, AnswerError> {
            assert!(!chunk.contains("panic"), "a reader that panics");
            self.0.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            Ok(Reading::default())
        }

        fn at_once(&self) -> Option<usize> {
            Some(1)
        }
    }

    #[test]
    fn async_answers_are_those_of_blocking_calls() {
        let pipeline = AnswerPipeline::new(chunker(), LexicalReader::default(), Confidence);
        let blocking = pipeline.index(TEXT).unwrap().ask(QUESTION).unwrap();
        assert_eq!(blocking.chosen().unwrap().chunk, 1);
        runtime().block_on(async {
            let index = pipeline.index_async(TEXT.to_owned()).await.unwrap();
            assert_eq!(index.ask_async(QUESTION).await.unwrap(), blocking);
            for delivery in [Delivery::InOrder, Delivery::AsCompleted] {
                let mut asking = index.asking(QUESTION, delivery);
                let mut candidates = Vec::new();
                while let Some(candidate) = asking.next().await {
                    candidates.push(candidate);
                }
                if delivery == Delivery::AsCompleted {
                    candidates.sort_by_key(|candidate| candidate.chunk);
                }
                assert_eq!(candidates, blocking.candidates);
                assert_eq!(asking.answered().await.unwrap(), blocking);
            }
            let error = index.ask_async("?!").await.unwrap_err();
            assert!(matches!(error, AnswerError::EmptyQuestion), "{error}");
        });
    }

    #[test]
    fn whoever_stops_waiting_stops_the_reading() {
        for streamed in [false, true] {
            let begun = Arc::new(AtomicUsize::new(0));
            let pipeline = AnswerPipeline::new(chunker(), Slow(Arc::clone(&begun)), Confidence);
            let runtime = runtime();
            runtime.block_on(async {
                let index = pipeline.index_async(format!("{TEXT} ").repeat(25)).await.unwrap();
                assert_eq!(index.passages().len(), 100);
                if streamed {
                    let mut asking = index.asking(QUESTION, Delivery::InOrder);
                    assert_eq!(asking.next().await.unwrap().chunk, 0);
                } else {
                    let mut asked = pin!(index.ask_async(QUESTION));
                    assert!(poll_fn(|context| Poll::Ready(asked.as_mut().poll(context).is_pending())).await);
                }
            });
            // Waits until what was begun is finished.
            drop(runtime);
            assert!(begun.load(Ordering::SeqCst) < 100, "streamed: {streamed}");
        }
    }

    #[test]
    fn a_panic_of_a_reader_is_one_of_whoever_waits() {
        let pipeline = AnswerPipeline::new(chunker(), Slow(Arc::default()), Confidence);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            runtime().block_on(async {
                let index = pipeline.index_async("A panic.".to_owned()).await.unwrap();
                index.ask_async(QUESTION).await.map(drop)
            })
        }));
        assert!(caught.is_err());
    }
}
