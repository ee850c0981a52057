//! Many chunks read at once, their readings handed out one at a time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{AnswerError, Candidate, Reader};
use crate::span::Span;

/// A chunk to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'t> {
    /// Number of its document, from 0.
    pub document: usize,
    /// Its number in the document, from 0.
    pub chunk: usize,
    /// Its place, in bytes of the document.
    pub span: Span,
    /// Its words.
    pub text: &'t str,
}

/// When readings are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// In the order of the chunks: each as soon as it and all before it are read.
    #[default]
    InOrder,
    /// Each as soon as it is read.
    AsCompleted,
}

/// Reads every passage and hands each candidate to `each`, which may break off; no further chunk is begun then. The
/// candidates that were handed out, in the order of the passages.
///
/// Of several errors the one of the first passage is returned: passages are begun in order, and what was begun is
/// finished.
pub(super) fn read_each<R: Reader + ?Sized>(
    reader: &R,
    question: &str,
    passages: &[Passage<'_>],
    delivery: Delivery,
    each: &mut dyn FnMut(&Candidate) -> ControlFlow<()>,
) -> Result<Vec<Candidate>, AnswerError> {
    let threads = reader.at_once().unwrap_or_else(rayon::current_num_threads).clamp(1, passages.len().max(1));
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut done: BTreeMap<usize, Candidate> = BTreeMap::new();
    let mut waiting: BTreeMap<usize, Candidate> = BTreeMap::new();
    let mut failed: Option<(usize, AnswerError)> = None;
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..threads {
            let (send, next, stopped) = (send.clone(), &next, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Acquire) {
                    let at = next.fetch_add(1, Ordering::AcqRel);
                    let Some(passage) = passages.get(at) else { break };
                    let reading = reader.read(question, passage.text);
                    stopped.fetch_or(reading.is_err(), Ordering::AcqRel);
                    let candidate =
                        reading.map(|reading| Candidate::new(passage.document, passage.chunk, passage.span, reading));
                    if send.send((at, candidate)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut broken_off = false;
        for (at, candidate) in receive {
            match candidate {
                Ok(candidate) => drop(waiting.insert(at, candidate)),
                Err(error) if failed.as_ref().is_none_or(|(first, _)| at < *first) => failed = Some((at, error)),
                Err(_) => {}
            }
            while !broken_off
                && let Some(entry) = waiting.first_entry()
                && (delivery == Delivery::AsCompleted || *entry.key() == done.len())
            {
                let (at, candidate) = entry.remove_entry();
                broken_off = each(&candidate).is_break();
                stopped.fetch_or(broken_off, Ordering::AcqRel);
                done.insert(at, candidate);
            }
        }
    });
    match failed {
        Some((_, error)) => Err(error),
        None => Ok(done.into_values().collect()),
    }
}
