//! How chunks are read and one of the answers selected: from flags to a reader and a selector.

use std::num::NonZeroUsize;

use clap::ValueEnum;
use horchunk::SentenceTransformer;
use horchunk::answer::{
    AnswerError, Bm25, ChatReader, Confidence, EmbeddingSelector, First, LexicalReader, Prices, Reader, Selector, Stem,
    TfIdf, Words,
};

use crate::cli::Usage;
use crate::cli::interrupt::Interruptible;
use crate::cli::settings::ChatArgs;

/// How chunks are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Answer")]
pub(in crate::cli) struct ReaderArgs {
    /// Read chunks by
    #[arg(long, value_name = "READER", default_value = "lexical")]
    reader: ReaderName,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ReaderName {
    /// The sentence that shares most words with the question
    Lexical,
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
}

impl ReaderName {
    pub(in crate::cli) const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
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
        }
    }

    /// The selector; `model` is for those that compare vectors.
    pub(in crate::cli) fn open(self, words: Words, model: &SentenceTransformer) -> Box<dyn Selector> {
        match self {
            Self::First => Box::new(First),
            Self::Confidence => Box::new(Confidence),
            Self::Bm25 => Box::new(Bm25::default().with_words(words)),
            Self::Tfidf => Box::new(TfIdf::default().with_words(words)),
            Self::Embedding => {
                Box::new(EmbeddingSelector::new(Interruptible(model.queries()), Interruptible(model.clone())))
            }
        }
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

    /// The reader.
    pub(in crate::cli) fn open(&self, chat: &ChatArgs) -> anyhow::Result<Box<dyn Reader>> {
        match self.reader {
            ReaderName::Lexical => {
                let reader = LexicalReader::default().with_words(self.words()?);
                Ok(Box::new(match self.min_share {
                    Some(share) => reader.with_min_share(share).map_err(usage)?,
                    None => reader,
                }))
            }
            ReaderName::Chat => {
                let Some(model) = chat.open()? else {
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
