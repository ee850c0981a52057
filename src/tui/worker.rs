//! The thread that embeds: first all runs, then the chunks of a preview as often as the threshold moves.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use horchunk::tuning::{Sample, Sampler};
use horchunk::{
    Chunk, CutReason, MemoEmbedder, SentenceSplitter, SentenceTransformer, Span, TokenCounter, WindowChunker,
};

use super::Message;
use crate::cli::interrupt::{self, Interruptible};
use crate::cli::tune::Course;

/// Chunks that are wanted; a later request takes the place of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Request {
    /// Which request it is, counted up.
    pub(super) id: u64,
    /// Number of the text.
    pub(super) text: usize,
    pub(super) threshold: f32,
}

/// What the thread has to say.
pub(super) enum Report {
    Embedded { done: usize, all: usize },
    Sampled(anyhow::Result<Sample>),
    Cut(Part),
    Failed(anyhow::Error),
}

/// The next chunks of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) id: u64,
    pub(super) chunks: Vec<Piece>,
    /// Nothing follows.
    pub(super) complete: bool,
}

/// A chunk of the preview.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub(super) span: Span,
    pub(super) sentences: usize,
    pub(super) tokens: usize,
    pub(super) reason: CutReason,
    pub(super) similarity: Option<f32>,
}

impl Piece {
    pub(super) fn new(chunk: &Chunk<'_>) -> Self {
        Self {
            span: chunk.span,
            sentences: chunk.sentences.len(),
            tokens: chunk.tokens.unwrap_or(0),
            reason: chunk.reason,
            similarity: chunk.similarity,
        }
    }
}

pub(super) struct Worker {
    texts: Arc<[String]>,
    model: MemoEmbedder<Interruptible<SentenceTransformer>>,
    splitter: Arc<dyn SentenceSplitter>,
    counter: Arc<dyn TokenCounter>,
    sampler: Sampler,
    max_sentences: usize,
    messages: Sender<Message>,
}

/// Says that the thread broke down, where it does.
struct Alarm(Sender<Message>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(Message::Worker(Report::Failed(anyhow::anyhow!("the thread that embeds broke down"))));
        }
    }
}

/// A part is sent this often, so that the screen has something to show and little to do.
const PART: Duration = Duration::from_millis(60);

impl Worker {
    pub(super) fn new(course: &Course, messages: Sender<Message>) -> Self {
        Self {
            texts: course.texts_shared(),
            model: MemoEmbedder::new(Interruptible(course.model.clone())),
            splitter: Arc::clone(&course.splitter),
            counter: Arc::clone(&course.counter),
            sampler: course.sampler(),
            max_sentences: course.keeper.session.settings.max_sentences,
            messages,
        }
    }

    /// Works until nobody listens.
    pub(super) fn run(self, requests: &Receiver<Request>) {
        let _alarm = Alarm(self.messages.clone());
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let sample = self.sampler.sample(&texts, &*self.splitter, &self.model, |done, all| {
            let heard = self.send(Report::Embedded { done, all });
            if heard && interrupt::check().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if !self.send(Report::Sampled(sample.map_err(Into::into))) {
            return;
        }
        let mut next = requests.recv().ok();
        while let Some(request) = next {
            next = match self.cut(request, requests) {
                Ok(Some(newer)) => Some(newer),
                Ok(None) => requests.recv().ok(),
                Err(error) => {
                    self.send(Report::Failed(error));
                    return;
                }
            };
        }
    }

    /// Whether anybody heard.
    fn send(&self, report: Report) -> bool {
        self.messages.send(Message::Worker(report)).is_ok()
    }

    /// Cuts one text. A newer request ends it and is given back.
    fn cut(&self, request: Request, requests: &Receiver<Request>) -> anyhow::Result<Option<Request>> {
        let chunker = WindowChunker::new(&self.model)
            .with_splitter(Arc::clone(&self.splitter))
            .with_counter(Arc::clone(&self.counter))
            .with_max_sentences(self.max_sentences)?
            .with_threshold(request.threshold)?;
        let mut part = Part { id: request.id, chunks: Vec::new(), complete: false };
        let mut sent = Instant::now();
        for chunk in chunker.chunks(&self.texts[request.text])? {
            part.chunks.push(Piece::new(&chunk?));
            if sent.elapsed() >= PART {
                let chunks = std::mem::take(&mut part.chunks);
                self.send(Report::Cut(Part { id: request.id, chunks, complete: false }));
                sent = Instant::now();
            }
            if let Some(newer) = requests.try_iter().last() {
                return Ok(Some(newer));
            }
        }
        part.complete = true;
        self.send(Report::Cut(part));
        Ok(None)
    }
}
