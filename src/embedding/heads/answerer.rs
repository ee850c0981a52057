//! Answers marked in a text, after Devlin et al., "BERT" (2018), section 4.3 (`SQuAD` 2.0).

use std::ops::Range;

use super::{Linear, PairEncoder, TOGETHER};
use crate::embedding::{EmbeddingError, ModelError};
use crate::span::Span;

/// A model that marks the answer to a question in a text; [`ModelLoader::load_question_answerer`] makes it.
///
/// ```no_run
/// use horchunk::{ModelLoader, ModelSource};
///
/// let model = ModelLoader::new(ModelSource::Folder("minilm-squad2".into())).load_question_answerer()?;
/// let text = "Low tide is at noon.";
/// if let Some(answer) = model.answer("When is low tide?", text)? {
///     println!("{} ({:.2})", &text[answer.span], answer.score);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`ModelLoader::load_question_answerer`]: crate::ModelLoader::load_question_answerer
#[derive(Debug)]
pub struct QuestionAnswerer {
    pairs: PairEncoder,
    output: Linear,
    max_answer_tokens: usize,
    stride: usize,
    min_margin: f32,
}

/// An answer that stands in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtractedAnswer {
    /// Its bytes in the text, without white space around them.
    pub span: Span,
    /// Its probability among all spans the model could have marked and no answer.
    pub score: f32,
    /// Logits of its first and last token, added up.
    pub logit: f32,
    /// The same of no answer: the lowest of all windows.
    pub no_answer_logit: f32,
}

impl ExtractedAnswer {
    /// By how much the answer's logit passes that of no answer; below 0 the model would rather give none.
    #[must_use]
    pub const fn margin(&self) -> f32 {
        self.logit - self.no_answer_logit
    }
}

/// The logits of the tokens of one window on the text.
pub(super) struct Window {
    /// Its tokens of the text.
    pub(super) tokens: Range<usize>,
    /// Of starting and of ending at each of them.
    pub(super) logits: Vec<[f32; 2]>,
    /// Of the first special token, which stands for no answer.
    pub(super) null: [f32; 2],
}

impl QuestionAnswerer {
    /// Tokens of the longest answer, unless another number is asked for.
    pub const MAX_ANSWER_TOKENS: usize = 30;
    /// Tokens that neighbouring windows share, unless another number is asked for.
    pub const STRIDE: usize = 128;

    pub(in crate::embedding) fn new(pairs: PairEncoder) -> Result<Self, ModelError> {
        let output = pairs.linear("", "qa_outputs", Some(2))?;
        let (max_answer_tokens, stride) = (Self::MAX_ANSWER_TOKENS, Self::STRIDE);
        Ok(Self { pairs, output, max_answer_tokens, stride, min_margin: 0.0 })
    }

    /// The same with answers of at most so many tokens, at least 1.
    #[must_use]
    pub const fn with_max_answer_tokens(mut self, tokens: usize) -> Self {
        self.max_answer_tokens = if tokens == 0 { 1 } else { tokens };
        self
    }

    /// The same with so many tokens in common between neighbouring windows, which is what tokenizers of transformers
    /// call `stride`; at most half of a window's text is.
    #[must_use]
    pub const fn with_stride(mut self, tokens: usize) -> Self {
        self.stride = tokens;
        self
    }

    /// The same answering only where the [margin](ExtractedAnswer::margin) is at least this; 0 at first.
    #[must_use]
    pub const fn with_min_margin(mut self, margin: f32) -> Self {
        self.min_margin = margin;
        self
    }

    /// The least margin of an answer.
    pub(crate) const fn min_margin(&self) -> f32 {
        self.min_margin
    }

    /// The best answer in `context`; none where the model says that there is none. A long context is read in windows.
    ///
    /// # Errors
    ///
    /// As [`Self::best`].
    pub fn answer(&self, question: &str, context: &str) -> Result<Option<ExtractedAnswer>, EmbeddingError> {
        Ok(self.best(question, context)?.filter(|best| best.margin() >= self.min_margin))
    }

    /// The best answer in `context`, even where the model would rather give none; none in a context without a word.
    ///
    /// # Errors
    ///
    /// [`EmbeddingError::Question`] if the question leaves no room for a text; otherwise if the tokenizer fails, or
    /// does not belong to the model.
    pub fn best(&self, question: &str, context: &str) -> Result<Option<ExtractedAnswer>, EmbeddingError> {
        let (ids, bytes) = self.pairs.tokenizer.ids_with_bytes(context)?;
        let windows = self.windows(question, &ids)?;
        // A token may be a byte of a character.
        let span = |first: usize, last: usize| {
            let whole = bytes[first].to(bytes[last]);
            let (start, end) = (context.floor_char_boundary(whole.start()), context.ceil_char_boundary(whole.end()));
            (start < end).then(|| Span::new(start, end).trimmed(context)).flatten()
        };
        let spans = || windows.iter().flat_map(|window| self.spans(window));
        let mut best: Option<(f32, Span)> = None;
        for (logit, first, last) in spans() {
            if best.is_none_or(|(highest, _)| logit > highest)
                && let Some(span) = span(first, last)
            {
                best = Some((logit, span));
            }
        }
        let Some((logit, span)) = best else { return Ok(None) };
        let no_answers = windows.iter().map(|window| window.null[0] + window.null[1]);
        let no_answer_logit = no_answers.fold(f32::INFINITY, f32::min);
        let relative = |other: f32| f64::from(other - logit).exp();
        let all = spans().map(|(other, ..)| relative(other)).sum::<f64>() + relative(no_answer_logit);
        #[expect(clippy::cast_possible_truncation, reason = "a probability needs no more")]
        let score = (1.0 / all) as f32;
        Ok(Some(ExtractedAnswer { span, score, logit, no_answer_logit }))
    }

    #[cfg(test)]
    pub(super) const fn pairs(&self) -> &PairEncoder {
        &self.pairs
    }

    /// Reads the text `ids` window by window.
    pub(super) fn windows(&self, question: &str, ids: &[u32]) -> Result<Vec<Window>, EmbeddingError> {
        let question = self.pairs.tokenizer.ids(question)?;
        let room = self.pairs.room().saturating_sub(question.len());
        if room == 0 {
            let max = self.pairs.room().saturating_sub(1);
            return Err(EmbeddingError::Question { tokens: question.len(), max });
        }
        let step = room - self.stride.min(room / 2);
        let last = ids.len().saturating_sub(room).div_ceil(step);
        let parts: Vec<Range<usize>> =
            (0..=last).map(|window| window * step..ids.len().min(window * step + room)).collect();
        let mut windows = Vec::with_capacity(parts.len());
        for parts in parts.chunks(TOGETHER) {
            let pairs: Vec<_> = parts.iter().map(|part| self.pairs.pair(&question, &ids[part.clone()])).collect();
            for ((part, pair), states) in parts.iter().zip(&pairs).zip(self.pairs.states(&pairs)?) {
                let logits = |row: &[f32]| self.output.apply(row).as_slice().try_into().unwrap_or_default();
                let mut rows = states.chunks_exact(self.pairs.config.hidden).map(logits);
                let null = rows.next().unwrap_or_default();
                let logits = rows.skip(pair.1 - 1).take(part.len()).collect();
                windows.push(Window { tokens: part.clone(), logits, null });
            }
        }
        Ok(windows)
    }

    /// Every span of a window that is short enough: its logit, its first and its last token.
    fn spans<'a>(&'a self, window: &'a Window) -> impl Iterator<Item = (f32, usize, usize)> + 'a {
        let start = window.tokens.start;
        window.logits.iter().enumerate().flat_map(move |(first, from)| {
            let last = window.logits[first..].iter().take(self.max_answer_tokens).enumerate();
            last.map(move |(more, to)| (from[0] + to[1], start + first, start + first + more))
        })
    }
}
