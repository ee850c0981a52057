#![doc = include_str!("../README.md")]

mod chunker;
mod embedding;
mod record;
mod sentence;
mod span;
mod tokens;
mod verify;

pub mod answer;
pub mod cache;
#[cfg(feature = "eval")]
pub mod evaluation;
pub mod llm;
pub mod tuning;

pub use chunker::{
    Borders, Breakpoints, BudgetChunker, BudgetSearchChunker, CachedChunker, CappedChunker, Chunk, ChunkError,
    ChunkStream, Chunker, ChunkerParts, ChunkerSpec, Chunks, ClusterChunker, ContextWeights, CutReason,
    EmbeddedChunker, FixedTokenChunker, KamradtChunker, LlmChunker, PercentileChunker, Prefer, RecursiveChunker,
    SentenceChunker, SettingsError, SpecError, UnknownBorders, UnknownBreakpoints, UnknownPreference, WindowChunker,
};
pub use embedding::{
    BundledFile, CachedModel, ConfigError, Cosine, CrossEncoder, Device, DistillError, Distilled, Distiller, Dot,
    Download, DraftEmbedder, Embedder, Embedding, EmbeddingError, EncoderError, ExtractedAnswer, HubError, HubId,
    HubSettings, MemoEmbedder, ModelError, ModelInfo, ModelLoader, ModelSource, Numbers, Precision, QuestionAnswerer,
    SentenceTransformer, Similarity, SumEmbedder, TokenEmbedder, UnknownNumbers, UnknownPrecision, bundled_files,
    cached_models, cached_tokenizer, locate_tokenizer, static_files, verify_bundled, verify_static,
};
pub use record::{Record, Recorder};
pub use sentence::{
    ParagraphSplitter, RecursiveSplitter, RuleSplitter, SentenceError, SentenceSplitter, SplitterName, TokenSplitter,
    UnicodeSplitter, UnknownSplitter,
};
pub use span::{CharMap, Position, Span, is_line_break};
pub use tokens::{
    CharacterGuess, FitError, Forced, Llm, LlmRegistry, LlmTokenizer, Proxy, ProxyCounter, RegistryError,
    RegistryFinding, Tiktoken, TiktokenEncoding, TokenCounter, TokenError, TokenizerFile, TokenizerPlace, WordPiece,
};
pub use verify::{Verifier, Violation};
