#![doc = include_str!("../README.md")]

mod chunker;
mod embedding;
mod record;
mod sentence;
mod span;
mod tokens;
mod verify;

pub use chunker::{
    Borders, Chunk, ChunkError, Chunker, Chunks, CutReason, SettingsError, UnknownBorders, WindowChunker,
};
pub use embedding::{
    BundledFile, CachedModel, ConfigError, Cosine, Device, Dot, Download, Embedder, Embedding, EmbeddingError,
    EncoderError, HubError, HubId, HubSettings, ModelError, ModelInfo, ModelLoader, ModelSource, SentenceTransformer,
    Similarity, TokenEmbedder, bundled_files, cached_models, verify_bundled,
};
pub use record::{Record, Recorder};
pub use sentence::{ParagraphSplitter, RuleSplitter, SentenceError, SentenceSplitter, TokenSplitter, UnicodeSplitter};
pub use span::{CharMap, Position, Span, is_line_break};
pub use tokens::{FitError, Forced, Tiktoken, TiktokenEncoding, TokenCounter, TokenError, TokenizerFile, WordPiece};
pub use verify::{Verifier, Violation};
