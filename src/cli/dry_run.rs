//! `--dry-run`: what chunking would cost, from the sentences alone.

use std::io::Write;
use std::time::Instant;

use horchunk::{Embedder, SentenceSplitter, SentenceTransformer, TokenCounter};

use super::input::{Document, Inputs};
use super::{Failures, Outcome, plural};

/// Special tokens around every input.
const SPECIAL: usize = 2;
/// A sentence while its text is chunked: its span, how it was split, whether a border lies in front.
const BYTES_PER_SENTENCE: usize = 40;

/// The program with a token counter and its scratch memory.
const BASE: usize = 60_000_000;

/// Counts without embedding the texts.
pub(super) struct DryRun<'a> {
    model: &'a SentenceTransformer,
    splitter: &'a dyn SentenceSplitter,
    max_sentences: usize,
}

/// What texts would cost. Where meaning cuts decides: at every sentence, or never before `max_sentences`.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    bytes: usize,
    sentences: usize,
    windows: usize,
    tokens_if_always: usize,
    tokens_if_never: usize,
}

impl<'a> DryRun<'a> {
    pub(super) const fn new(
        model: &'a SentenceTransformer,
        splitter: &'a dyn SentenceSplitter,
        max_sentences: usize,
    ) -> Self {
        Self { model, splitter, max_sentences }
    }

    /// Prints a line a document and one for all.
    pub(super) fn run(&self, inputs: Inputs<'_>) -> anyhow::Result<Outcome> {
        let mut failures = Failures::default();
        let (mut total, mut documents, mut largest) = (Cost::default(), 0, 0);
        let mut out = std::io::stdout().lock();
        for document in inputs.documents() {
            match document.and_then(|document| Ok((self.cost(&document)?, document.name))) {
                Ok((cost, name)) => {
                    writeln!(out, "{name}: {}", cost.line())?;
                    largest = largest.max(cost.bytes + cost.sentences * BYTES_PER_SENTENCE);
                    documents += 1;
                    total.add(cost);
                }
                Err(error) => failures.add(&error),
            }
        }
        writeln!(out, "{}, {} bytes: {}", plural(documents, "document"), total.bytes, total.line())?;
        let seconds = |tokens: usize, rate: f64| tokens as f64 / rate;
        let rate = self.tokens_per_second()?;
        // The weights as stored, and what of them is unpacked to f32: half of the numbers, the word vectors stay.
        let model = self.model.info().bytes + self.model.info().parameters / 2 * size_of::<f32>();
        let memory = (BASE + model + largest) / 1_000_000;
        writeln!(
            out,
            "about {:.1} to {:.1} s on this machine ({rate:.0} tokens/s), {memory} MB of memory",
            seconds(total.tokens_if_always.min(total.tokens_if_never), rate),
            seconds(total.tokens_if_always.max(total.tokens_if_never), rate)
        )?;
        Ok(failures.outcome())
    }

    fn cost(&self, document: &Document) -> anyhow::Result<Cost> {
        let text = document.text.as_str();
        let spans = self.splitter.split(text)?;
        let lengths = spans.iter().map(|&span| self.tokens(&text[span])).collect::<anyhow::Result<Vec<_>>>()?;
        let length = self.model.info().max_length;
        let seen = |window: &[usize]| (window.iter().sum::<usize>() + SPECIAL).min(length);
        let steps = if self.max_sentences > 1 { spans.len().saturating_sub(1) } else { 0 };
        let anchors: usize = lengths.iter().map(|&length| seen(&[length])).sum();
        let pairs: usize = lengths.windows(2).map(seen).sum();
        let full = |chunk: &[usize]| {
            let windows = chunk.iter().scan(SPECIAL, |window, length| {
                *window += length;
                Some(*window)
            });
            windows.map(|window| window.min(length)).sum::<usize>()
        };
        Ok(Cost {
            bytes: text.len(),
            sentences: spans.len(),
            windows: steps,
            tokens_if_always: if steps > 0 { anchors + pairs } else { 0 },
            tokens_if_never: if steps > 0 { lengths.chunks(self.max_sentences).map(full).sum() } else { 0 },
        })
    }

    fn tokens(&self, sentence: &str) -> anyhow::Result<usize> {
        Ok(match self.model.as_token_embedder() {
            Some(model) => model.tokenize(sentence)?.len(),
            None => self.model.count(sentence)?,
        })
    }

    /// The model's speed here, measured on a batch of windows of ordinary length.
    fn tokens_per_second(&self) -> anyhow::Result<f64> {
        let text = "The tide turns twice a day and the boats turn with it. ".repeat(5);
        let texts = [text.as_str(); 16];
        let tokens = texts.len() * (self.tokens(&text)? + SPECIAL);
        self.model.embed(&texts)?;
        let start = Instant::now();
        self.model.embed(&texts)?;
        Ok(tokens as f64 / start.elapsed().as_secs_f64())
    }
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.sentences += other.sentences;
        self.windows += other.windows;
        self.tokens_if_always += other.tokens_if_always;
        self.tokens_if_never += other.tokens_if_never;
    }

    fn line(&self) -> String {
        let (low, high) =
            (self.tokens_if_always.min(self.tokens_if_never), self.tokens_if_always.max(self.tokens_if_never));
        let (sentences, windows) = (plural(self.sentences, "sentence"), plural(self.windows, "window"));
        format!("{sentences}, at most {windows}, {low} to {high} tokens to embed")
    }
}
