//! How fast the parts are on this machine: the encoder by shape, and the whole chunker on files.
//!
//!     cargo run --release --example throughput -- FILE...
//!
//! Each figure is the best of several runs. Machines are shared and noisy: compare figures of one run only.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

use horchunk::{
    DraftEmbedder, Embedder, Embedding, EmbeddingError, ModelLoader, ModelSource, Precision, RuleSplitter,
    SentenceSplitter, SentenceTransformer, TokenEmbedder, WindowChunker,
};

/// Texts a batch and token ids a text, special tokens included.
const SHAPES: [(usize, usize); 6] = [(1, 32), (1, 64), (32, 64), (64, 64), (32, 128), (16, 256)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for precision in [Precision::F32, Precision::Int8, Precision::Checked] {
        let start = Instant::now();
        let model = ModelLoader::new(ModelSource::Bundled).with_precision(precision).load()?;
        println!("{precision}: loading the model: {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
        let encoder = model.as_token_embedder().ok_or("the bundled model takes token ids")?;
        if precision != Precision::Checked {
            for (batch, length) in SHAPES {
                encode(encoder, batch, length)?;
            }
        }
        for path in env::args().skip(1) {
            chunk(&model, &path)?;
        }
    }
    Ok(())
}

/// Tokens per second on random ids, as the peers are measured.
fn encode(encoder: &dyn TokenEmbedder, batch: usize, length: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut state = 7_u32;
    let mut id = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1000 + (state >> 8) % 19_000
    };
    let inputs: Vec<Vec<u32>> = (0..batch).map(|_| (0..length - 2).map(|_| id()).collect()).collect();
    let inputs: Vec<&[u32]> = inputs.iter().map(Vec::as_slice).collect();
    let best = best_of(|| encoder.embed_tokens(&inputs).map(drop))?;
    println!("encoder {batch:>3} x {length:<3} {:>7.0} tokens/s", (batch * length) as f64 / best.as_secs_f64());
    Ok(())
}

/// The model, counting the ids it embeds, and asked for one text at a time unless it may fill its batches.
struct Counting<'m> {
    model: &'m SentenceTransformer,
    tokens_at_once: usize,
    tokens: AtomicUsize,
}

impl Counting<'_> {
    fn count(&self, inputs: &[&[u32]]) {
        // Two special tokens frame every input.
        let tokens = inputs.iter().map(|ids| ids.len() + 2).sum();
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }
}

impl Embedder for Counting<'_> {
    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        self.model.embed(texts)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        Some(self)
    }

    fn tokens_at_once(&self) -> usize {
        self.tokens_at_once
    }
}

impl TokenEmbedder for Counting<'_> {
    fn max_tokens(&self) -> usize {
        self.model.max_tokens()
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        self.model.tokenize(text)
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.count(inputs);
        self.model.embed_tokens(inputs)
    }

    fn as_draft_embedder(&self) -> Option<&dyn DraftEmbedder> {
        self.model.as_draft_embedder().is_some().then_some(self)
    }
}

impl DraftEmbedder for Counting<'_> {
    fn margin(&self) -> f32 {
        self.model.margin()
    }

    fn draft_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.count(inputs);
        self.model.draft_tokens(inputs)
    }
}

fn chunk(model: &SentenceTransformer, path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let text = fs::read_to_string(path)?;
    let sentences = RuleSplitter.split(&text)?.len();
    for (alpha, tokens_at_once) in [3, 6].into_iter().flat_map(|alpha| [(alpha, 0), (alpha, model.tokens_at_once())]) {
        let counting = Counting { model, tokens_at_once, tokens: AtomicUsize::new(0) };
        let chunker = WindowChunker::new(&counting).with_splitter(RuleSplitter).with_max_sentences(alpha)?;
        let start = Instant::now();
        let mut chunks = chunker.chunks(&text)?;
        let found = chunks.by_ref().collect::<Result<Vec<_>, _>>()?.len();
        let seconds = start.elapsed().as_secs_f64();
        let (embedded, in_vain) = chunks.embedded();
        println!(
            "{path}, at most {alpha} sentences, {}: {found} chunks in {seconds:.2} s, {:.0} tokens/s ({:.1} % of texts in \
             vain), {:.0} sentences/s, {:.1} kB/s",
            if tokens_at_once == 0 { "one lane" } else { "lanes" },
            counting.tokens.load(Ordering::Relaxed) as f64 / seconds,
            100.0 * in_vain as f64 / embedded.max(1) as f64,
            sentences as f64 / seconds,
            text.len() as f64 / seconds / 1000.0
        );
    }
    Ok(())
}

/// The shortest of many runs within two seconds, at least three.
fn best_of<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 3 || start.elapsed() < Duration::from_secs(2) {
        let once = Instant::now();
        run()?;
        best = best.min(once.elapsed());
        runs += 1;
    }
    Ok(best)
}
