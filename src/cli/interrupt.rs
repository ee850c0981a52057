//! Ctrl-C, SIGTERM and SIGHUP: stop between two chunks or two questions to a model, so that no half-written file stays
//! behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use horchunk::answer::{AnswerError, Candidate, CrossEncoderSelector, Selector};
use horchunk::llm::{ChatError, ChatModel, ChatReply, ChatRequest};
use horchunk::{DraftEmbedder, Embedder, Embedding, EmbeddingError, SumEmbedder, TokenEmbedder};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What is waited for and need not come: the answer of a server, or of a person.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Files that are not whole yet.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What gives the terminal back where the program ends at once.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// The exit code of a program that was interrupted, as shells have it.
pub(crate) const EXIT_CODE: u8 = 130;

/// The run was interrupted.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// From now on the first signal asks to stop, and stops at once where a server is waited for; the second stops.
pub(crate) fn listen() {
    // A signal that whoever started us had ignored (nohup) stays ignored; without a handler the system's own remains.
    let _ = ctrlc::try_set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) || UNDER_WAY.load(Ordering::SeqCst) > 0 {
            if let Some(restore) = BEFORE_EXIT.get() {
                restore();
            }
            for path in unfinished().iter() {
                let _ = fs::remove_file(path);
            }
            process::exit(EXIT_CODE.into());
        }
    });
}

/// Has `restore` called before a signal ends the program at once.
pub(crate) fn before_exit(restore: fn()) {
    let _ = BEFORE_EXIT.set(restore);
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that goes if the program is stopped, until this is dropped.
#[derive(Debug)]
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    pub(super) fn new(path: &Path) -> Self {
        unfinished().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// Sleeps unless a signal comes; says whether none did.
pub(super) fn sleep(time: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut left = time;
    while !left.is_zero() && check().is_ok() {
        let step = left.min(STEP);
        thread::sleep(step);
        left -= step;
    }
    check().is_ok()
}

/// Waits for something that a signal shall not wait for: nothing is lost where the program ends meanwhile.
pub(super) fn waiting<T>(wait: impl FnOnce() -> T) -> Result<T, Interrupted> {
    // A signal sees this, or we see the signal: whichever comes first.
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    let came = check().map(|()| wait());
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    came
}

/// An error if a signal came.
pub(crate) fn check() -> Result<(), Interrupted> {
    if REQUESTED.load(Ordering::SeqCst) { Err(Interrupted) } else { Ok(()) }
}

/// A model that is asked nothing more once a signal came.
#[derive(Clone)]
pub(crate) struct Interruptible<T>(pub(crate) T);

impl<E: Embedder> Embedder for Interruptible<E> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        check().map_err(|stop| EmbeddingError::Custom(stop.into()))?;
        self.0.embed(texts)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        self.0.as_token_embedder().is_some().then_some(self)
    }

    fn tokens_at_once(&self) -> usize {
        self.0.tokens_at_once()
    }

    /// Those of the embedder behind: none takes long enough to be stopped in front of.
    fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
        self.0.as_sum_embedder()
    }
}

impl<E: Embedder> TokenEmbedder for Interruptible<E> {
    fn max_tokens(&self) -> usize {
        self.0.as_token_embedder().map_or(0, TokenEmbedder::max_tokens)
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        self.0.as_token_embedder().map_or_else(|| Ok(Vec::new()), |model| model.tokenize(text))
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        check().map_err(|stop| EmbeddingError::Custom(stop.into()))?;
        self.0.as_token_embedder().map_or_else(|| Ok(Vec::new()), |model| model.embed_tokens(inputs))
    }

    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        self.draft().is_some().then_some(self)
    }
}

impl<E: Embedder> Interruptible<E> {
    fn draft(&self) -> Option<&dyn DraftEmbedder> {
        self.0.as_token_embedder().and_then(TokenEmbedder::as_draft_embedder)
    }
}

impl<E: Embedder> DraftEmbedder for Interruptible<E> {
    fn margin(&self) -> f32 {
        self.draft().map_or(0.0, DraftEmbedder::margin)
    }

    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        check().map_err(|stop| EmbeddingError::Custom(stop.into()))?;
        self.draft().map_or_else(|| Ok(Vec::new()), |draft| draft.draft_tokens(inputs))
    }
}

impl<M: ChatModel> ChatModel for Interruptible<M> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn chat(&self, request: &ChatRequest<'_>) -> Result<ChatReply, ChatError> {
        waiting(|| self.0.chat(request)).map_err(|stop| ChatError::Custom(stop.into()))?
    }
}

impl Selector for Interruptible<CrossEncoderSelector> {
    fn name(&self) -> &str {
        self.0.name()
    }

    /// A score depends on its own answer alone, so that a few at a time get the same ones.
    fn scores(&self, question: &str, answers: &[&Candidate]) -> Result<Vec<f64>, AnswerError> {
        const AT_ONCE: usize = 32;
        let mut scores = Vec::with_capacity(answers.len());
        for answers in answers.chunks(AT_ONCE) {
            check().map_err(|stop| AnswerError::Custom(stop.into()))?;
            scores.extend(self.0.scores(question, answers)?);
        }
        Ok(scores)
    }
}
