//! How chunks are read and one of the answers selected: from flags to a reader and a selector.

use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::ValueEnum;
use horchunk::answer::{
    AnswerError, Bm25, ChatReader, Confidence, CrossEncoderSelector, EmbeddingSelector, ExtractiveReader, First,
    LexicalReader, Prices, Reader, Selector, Stem, TfIdf, Words,
};
use horchunk::cache::Cache;
use horchunk::{CrossEncoder, ModelLoader, SentenceTransformer};

use crate::cli::interrupt::Interruptible;
use crate::cli::settings::{ChatArgs, ModelArgs};
use crate::cli::{Talk, Usage};

/// How chunks are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answer")]
pub(in crate::cli) struct ReaderArgs {
    /// Read chunks by
    #[arg(long, value_name = "READER", default_value = "lexical")]
    reader: ReaderName,
    /// The model that the reader extractive reads with: a folder or a Hugging Face id, as distilbert/distilbert-base-cased-distilled-squad
    #[arg(long, value_name = "MODEL")]
    reader_model: Option<String>,
    /// Abstain where the answer's logits do not pass those of no answer by this (extractive) [default: 0]
    #[arg(long, value_name = "MARGIN", allow_negative_numbers = true)]
    min_margin: Option<f32>,
    /// Compare stems of words in this language, as english or russian (lexical, bm25, tfidf)
    #[arg(long, value_name = "LANGUAGE")]
    stem: Option<String>,
    /// Abstain where a sentence shares less than this of the question, up to 1 (lexical) [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    min_share: Option<f64>,
    /// Ask the language model about N chunks at once
    #[arg(long, value_name = "N", default_value = "4")]
    concurrency: NonZeroUsize,
    /// Say what the language model costs, by the prices of a million tokens in and out, as 0.15,0.6
    #[arg(long, value_name = "IN,OUT")]
    prices: Option<String>,
}

/// The model of the selector that reads question and answer together.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answer")]
pub(in crate::cli) struct CrossEncoderArgs {
    /// The model of the selector cross-encoder: a folder or a Hugging Face id, as cross-encoder/ms-marco-MiniLM-L6-v2
    #[arg(long, value_name = "MODEL")]
    selector_model: Option<String>,
}

impl CrossEncoderArgs {
    pub(in crate::cli) fn load(&self, models: &ModelArgs, talk: Talk) -> anyhow::Result<CrossEncoder> {
        let Some(name) = &self.selector_model else {
            let message = "the selector cross-encoder needs a model: name one with --selector-model, as \
                           cross-encoder/ms-marco-MiniLM-L6-v2";
            return Err(Usage(message.into()).into());
        };
        models.load_beside("--selector-model", name, talk, ModelLoader::load_cross_encoder)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReaderName {
    /// The sentence that shares most words with the question
    Lexical,
    /// A question-answering model that marks the answer in the chunk (with --reader-model)
    Extractive,
    /// A language model that quotes the chunk (with --llm)
    Chat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SelectorName {
    /// The first one
    First,
    /// The one of which the reader is surest
    Confidence,
    /// Okapi BM25 of answer and question
    Bm25,
    /// Cosine of weighed word counts
    Tfidf,
    /// Cosine of vectors
    Embedding,
    /// Score of a model that reads question and answer together (with --selector-model)
    CrossEncoder,
}

impl ReaderName {
    pub(in crate::cli) const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Extractive => "extractive",
            Self::Chat => "chat",
        }
    }
}

impl SelectorName {
    pub(in crate::cli) const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Confidence => "confidence",
            Self::Bm25 => "bm25",
            Self::Tfidf => "tfidf",
            Self::Embedding => "embedding",
            Self::CrossEncoder => "cross-encoder",
        }
    }

    /// The selector; `model` is for those that compare vectors, `cross_encoder` for the one that needs it.
    pub(in crate::cli) fn open(
        self,
        words: Words,
        model: &SentenceTransformer,
        cross_encoder: impl FnOnce() -> anyhow::Result<CrossEncoder>,
    ) -> anyhow::Result<Box<dyn Selector>> {
        Ok(match self {
            Self::First => Box::new(First),
            Self::Confidence => Box::new(Confidence),
            Self::Bm25 => Box::new(Bm25::default().with_words(words)),
            Self::Tfidf => Box::new(TfIdf::default().with_words(words)),
            Self::Embedding => {
                Box::new(EmbeddingSelector::new(Interruptible(model.queries()), Interruptible(model.clone())))
            }
            Self::CrossEncoder => Box::new(Interruptible(CrossEncoderSelector::new(cross_encoder()?))),
        })
    }
}

impl ReaderArgs {
    /// Which reader is meant.
    pub(in crate::cli) const fn name(&self) -> ReaderName {
        self.reader
    }

    /// The words that are compared.
    pub(in crate::cli) fn words(&self) -> Result<Words, Usage> {
        let stem: Option<Stem> = self.stem.as_deref().map(str::parse).transpose().map_err(usage)?;
        Ok(stem.map_or_else(Words::default, |stem| Words::default().with_stem(stem)))
    }

    /// What the language model costs, where it was said.
    pub(in crate::cli) fn prices(&self) -> Result<Option<Prices>, Usage> {
        self.prices.as_deref().map(str::parse).transpose().map_err(usage)
    }

    /// The reader; a model of its own is loaded as those of `models` are, and what a language model replies is kept in
    /// `cache`.
    pub(in crate::cli) fn open(
        &self,
        chat: &ChatArgs,
        cache: Option<Arc<Cache>>,
        models: &ModelArgs,
        talk: Talk,
    ) -> anyhow::Result<Box<dyn Reader>> {
        let own = [("--reader-model", self.reader_model.is_some()), ("--min-margin", self.min_margin.is_some())];
        if let Some((flag, _)) = own.iter().find(|(_, given)| *given && self.reader != ReaderName::Extractive) {
            return Err(Usage(format!("{flag} is for the reader extractive, not for {}", self.reader.name())).into());
        }
        match self.reader {
            ReaderName::Lexical => {
                let reader = LexicalReader::default().with_words(self.words()?);
                Ok(Box::new(match self.min_share {
                    Some(share) => reader.with_min_share(share).map_err(usage)?,
                    None => reader,
                }))
            }
            ReaderName::Extractive => {
                let Some(name) = &self.reader_model else {
                    let message = "the reader extractive needs a model: name one with --reader-model, as \
                                   distilbert/distilbert-base-cased-distilled-squad";
                    return Err(Usage(message.into()).into());
                };
                let model = models.load_beside("--reader-model", name, talk, ModelLoader::load_question_answerer)?;
                Ok(Box::new(ExtractiveReader::new(match self.min_margin {
                    Some(margin) if margin.is_nan() => return Err(Usage("--min-margin nan is no margin".into()).into()),
                    Some(margin) => model.with_min_margin(margin),
                    None => model,
                })))
            }
            ReaderName::Chat => {
                let Some(model) = chat.open_with(cache)? else {
                    return Err(Usage("the reader chat asks a language model: name one with --llm".into()).into());
                };
                Ok(Box::new(ChatReader::new(model).with_at_once(self.concurrency)))
            }
        }
    }
}

/// An error in the words of the command line.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn usage(error: AnswerError) -> Usage {
    Usage(error.to_string())
}
