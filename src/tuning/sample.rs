//! The runs of sentences that a judge is shown, with their similarities.
//!
//! Every run of `depth` consecutive sentences of a text is one (or every `step`-th), whole runs only. Its similarity is
//! that of its first sentence and the whole run, as the dynamic window would compute it. Horchunk's own tuner also
//! keeps the shorter runs at the end of a text and merges runs of equal similarity; [`Sampler::with_compat`] does so.

use std::ops::ControlFlow;

use crate::embedding::{Cosine, Embedder, EmbeddingError, Input, Similarity, embed_inputs};
use crate::sentence::{SentenceError, SentenceSplitter};
use crate::span::Span;

/// A run of consecutive sentences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Number of its text.
    pub text: usize,
    /// Its sentences, in bytes of the text.
    pub sentences: Vec<Span>,
    /// Cosine of its first sentence and the whole run.
    pub similarity: f32,
}

impl Run {
    /// Its words in the texts of the sample, sentence by sentence.
    ///
    /// # Panics
    ///
    /// If the texts are others than those that were sampled.
    #[must_use]
    pub fn words<'a>(&self, texts: &[&'a str]) -> Vec<&'a str> {
        self.sentences.iter().map(|&sentence| &texts[self.text][sentence]).collect()
    }

    /// From its first sentence to its last.
    #[must_use]
    pub fn span(&self) -> Span {
        let start = self.sentences.first().map_or(0, |sentence| sentence.start());
        Span::new(start, self.sentences.last().map_or(start, |sentence| sentence.end()))
    }
}

/// All runs, from the least alike to the most; equal ones in the order of the texts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// The runs.
    pub runs: Vec<Run>,
}

impl Sample {
    /// A sample for each text, in their order. A text that was too short has an empty one.
    #[must_use]
    pub fn by_text(self) -> Vec<Self> {
        let texts = self.runs.iter().map(|run| run.text + 1).max().unwrap_or(0);
        let mut samples = vec![Self { runs: Vec::new() }; texts];
        for run in self.runs {
            samples[run.text].runs.push(run);
        }
        samples
    }
}

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// No text has enough sentences.
    #[error(
        "there is no run of {depth} sentences in a text: sentences in all: {sentences}; take a smaller depth or more text"
    )]
    TooFew {
        /// Sentences of all texts.
        sentences: usize,
        /// Sentences of a run.
        depth: usize,
    },
    /// A text could not be split.
    #[error("a text could not be split into sentences")]
    Sentences(#[from] SentenceError),
    /// A run could not be embedded.
    #[error("a run could not be embedded")]
    Embedding(#[from] EmbeddingError),
    /// Whoever watched the progress had enough.
    #[error("cancelled")]
    Cancelled,
}

/// Makes samples.
///
/// ```
/// use std::ops::ControlFlow;
/// use horchunk::tuning::Sampler;
/// use horchunk::{RuleSplitter, SentenceTransformer};
///
/// let text = "The ferry leaves at ten. It takes an hour. Salt the cod for two days. Dry it in the wind.";
/// let model = SentenceTransformer::bundled()?;
/// let sample = Sampler::new(2).sample(&[text], &RuleSplitter, &model, |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(sample.runs.len(), 3);
/// assert!(sample.runs[0].similarity <= sample.runs[2].similarity);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    depth: usize,
    step: usize,
    compat: bool,
}

/// Runs embedded at a time.
const BATCH: usize = 64;

impl Sampler {
    /// Runs of `depth` sentences (at least 1), one starting at every sentence.
    #[must_use]
    pub const fn new(depth: usize) -> Self {
        Self { depth: if depth == 0 { 1 } else { depth }, step: 1, compat: false }
    }

    /// A run at every `step`-th sentence only (at least 1).
    #[must_use]
    pub const fn with_step(mut self, step: usize) -> Self {
        self.step = if step == 0 { 1 } else { step };
        self
    }

    /// Keeps the shorter runs at the end of a text, and of runs of equal similarity the last only.
    #[must_use]
    pub const fn with_compat(mut self) -> Self {
        self.compat = true;
        self
    }

    /// The sample of these texts. `progress` is told how many runs of how many are done, and may break off.
    ///
    /// # Errors
    ///
    /// [`SampleError`]
    pub fn sample(
        &self,
        texts: &[&str],
        splitter: &dyn SentenceSplitter,
        embedder: &dyn Embedder,
        mut progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Sample, SampleError> {
        let split = texts.iter().map(|text| splitter.split(text)).collect::<Result<Vec<_>, _>>()?;
        let starts: Vec<(usize, usize)> = split
            .iter()
            .enumerate()
            .flat_map(|(text, sentences)| self.starts(sentences.len()).map(move |start| (text, start)))
            .collect();
        if starts.is_empty() {
            let sentences = split.iter().map(Vec::len).sum();
            return Err(SampleError::TooFew { sentences, depth: self.depth });
        }
        // Each sentence is tokenized once, however many runs it is in.
        let input = |(text, sentences): (usize, &Vec<Span>)| {
            sentences
                .iter()
                .map(|&sentence| Input::new(embedder, &texts[text][sentence]))
                .collect::<Result<Vec<_>, _>>()
        };
        let words = split.iter().enumerate().map(input).collect::<Result<Vec<_>, _>>()?;
        let mut runs = Vec::with_capacity(starts.len());
        for batch in starts.chunks(BATCH) {
            if progress(runs.len(), starts.len()).is_break() {
                return Err(SampleError::Cancelled);
            }
            // The input of the first sentence, and that of the run; what the model sees as the same is embedded once.
            let inputs = batch.iter().map(|&(text, start)| {
                let whole = self.whole(&words[text], start);
                let anchor = &words[text][start];
                (anchor, (whole != *anchor).then_some(whole))
            });
            let inputs: Vec<(&Input, Option<Input>)> = inputs.collect();
            let flat: Vec<&Input> =
                inputs.iter().flat_map(|(anchor, whole)| std::iter::once(*anchor).chain(whole)).collect();
            let mut vectors = embed_inputs(embedder, &flat)?.into_iter();
            for (&(text, start), (_, whole)) in batch.iter().zip(&inputs) {
                let Some(anchor) = vectors.next() else { break };
                // Equal inputs are alike, whatever rounding says.
                let similarity = match whole.as_ref().and_then(|_| vectors.next()) {
                    Some(whole) => Cosine.between(&anchor.vector, &whole.vector),
                    None => 1.0,
                };
                runs.push(Run { text, sentences: self.run(&split[text], start).to_vec(), similarity });
            }
        }
        let _ = progress(runs.len(), starts.len());
        runs.sort_by(|a, b| a.similarity.total_cmp(&b.similarity));
        if self.compat {
            // The original keeps them in a table under their similarity, where a later one takes the place.
            runs.dedup_by(|later, kept| {
                let same = later.similarity.to_bits() == kept.similarity.to_bits();
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
        }
        Ok(Sample { runs })
    }

    /// Where the runs of a text of so many sentences start.
    fn starts(&self, sentences: usize) -> impl Iterator<Item = usize> + use<> {
        let end = if self.compat { sentences } else { (sentences + 1).saturating_sub(self.depth) };
        (0..end).step_by(self.step)
    }

    fn run<'s, T>(&self, sentences: &'s [T], start: usize) -> &'s [T] {
        &sentences[start..sentences.len().min(start + self.depth)]
    }

    /// The input of the run that starts there.
    fn whole(&self, sentences: &[Input], start: usize) -> Input {
        let (first, rest) = (&sentences[start], &self.run(sentences, start)[1..]);
        let mut whole = first.clone();
        for sentence in rest {
            whole.join(sentence);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Embedding;
    use crate::sentence::RuleSplitter;

    /// The vector of a text is the letters a, b and c that it has.
    struct Letters;

    impl Embedder for Letters {
        fn dimension(&self) -> usize {
            3
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
            let count = |text: &str, letter| text.matches(letter).count() as f32;
            let vector = |text: &&str| Embedding {
                vector: ['a', 'b', 'c'].map(|letter| count(text, letter)).to_vec(),
                truncated: false,
            };
            Ok(texts.iter().map(vector).collect())
        }
    }

    fn sampled(sampler: Sampler, texts: &[&str]) -> Result<Vec<(String, f32)>, SampleError> {
        let sample = sampler.sample(texts, &RuleSplitter, &Letters, |_, _| ControlFlow::Continue(()))?;
        let shown = sample.runs.iter().map(|run| (run.words(texts).join(" "), run.similarity));
        Ok(shown.collect())
    }

    #[test]
    fn runs_are_whole_slide_by_one_and_come_sorted() {
        let runs = sampled(Sampler::new(2), &["a. a. b. b. c."]).unwrap();
        let texts: Vec<&str> = runs.iter().map(|run| run.0.as_str()).collect();
        assert_eq!(texts, ["a. b.", "b. c.", "a. a.", "b. b."]);
        assert!((runs[0].1 - 0.5_f32.sqrt()).abs() < 1e-6 && runs[3].1.to_bits() == 1.0_f32.to_bits());
    }

    #[test]
    fn runs_do_not_reach_from_one_text_into_the_next() {
        assert_eq!(sampled(Sampler::new(2), &["a. b.", "c.", "a. c."]).unwrap().len(), 2);
    }

    #[test]
    fn every_text_has_its_own_sample() {
        let sampler = Sampler::new(2);
        let all =
            sampler.sample(&["a. b. b.", "c.", "a. c."], &RuleSplitter, &Letters, |_, _| ControlFlow::Continue(()));
        let lengths: Vec<usize> = all.unwrap().by_text().iter().map(|sample| sample.runs.len()).collect();
        assert_eq!(lengths, [2, 0, 1]);
    }

    #[test]
    fn a_step_leaves_runs_out() {
        assert_eq!(sampled(Sampler::new(2).with_step(2), &["a. a. b. b. c."]).unwrap().len(), 2);
    }

    #[test]
    fn compat_keeps_short_runs_and_merges_equal_ones() {
        let runs = sampled(Sampler::new(2).with_compat(), &["a. b. c."]).unwrap();
        let texts: Vec<&str> = runs.iter().map(|run| run.0.as_str()).collect();
        assert_eq!(texts, ["b. c.", "c."], "a. b. is as alike as b. c.");
    }

    #[test]
    fn too_few_sentences_say_how_many_there_are() {
        let error = sampled(Sampler::new(3), &["a. b.", "c."]).unwrap_err();
        assert!(error.to_string().contains("no run of 3 sentences in a text: sentences in all: 3;"), "{error}");
        assert!(matches!(sampled(Sampler::new(3), &[]), Err(SampleError::TooFew { sentences: 0, .. })));
    }

    #[test]
    fn every_anchor_and_every_run_is_embedded_once() {
        let memo = crate::embedding::MemoEmbedder::new(Letters);
        let text = "a. ab. abc. b. bc. c. cc.";
        let sample = Sampler::new(3).sample(&[text], &RuleSplitter, &memo, |_, _| ControlFlow::Continue(()));
        let runs = sample.unwrap().runs.len() as u64;
        assert_eq!((memo.asked(), memo.embedded()), (2 * runs, 2 * runs));
    }

    #[test]
    fn who_watches_can_break_off() {
        let result = Sampler::new(1).sample(&["a."], &RuleSplitter, &Letters, |_, _| ControlFlow::Break(()));
        assert!(matches!(result, Err(SampleError::Cancelled)));
    }
}
