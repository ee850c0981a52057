//! How fast the parts are on this machine: the encoder by shape, and the whole chunker on files.
//!
//!     cargo run --release --example throughput -- FILE...
//!
//! With `--scaling` the first file is cut 1, 2, 4 and 8 times over, and with one thread and with all: time must grow as
//! the text does. With `--peers PEERS.py` the same model in PyTorch and onnxruntime, and the plain loop in Python, are measured in the
//! same run, and ratios are printed. Machines are shared and noisy: compare figures of one run only.
//!
//!     --peers FILE     the script that measures them, see `peers.rs`
//!     --python FILE    the Python that has their packages [default: python3]
//!     --golden DIR     sizes and similarities of the reference, for the windows that the script embeds

mod peers;

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

use horchunk::{
    ModelLoader, ModelSource, RuleSplitter, SentenceSplitter, SentenceTransformer, TokenEmbedder, WindowChunker,
};

/// Texts a batch and token ids a text, special tokens included.
const SHAPES: [(usize, usize); 6] = [(1, 32), (1, 64), (32, 64), (64, 64), (32, 128), (16, 256)];

/// The ways to make vectors, from the most exact to the fastest.
const MODES: [&str; 4] = ["f32", "checked", "int8", "static"];

const THRESHOLD: f32 = WindowChunker::<SentenceTransformer>::DEFAULT_THRESHOLD;

fn main() -> Result<(), Box<dyn Error>> {
    let mut peers = peers::Peers::default();
    let (mut files, mut scaling) = (Vec::new(), false);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().map(PathBuf::from).ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--scaling" => scaling = true,
            "--peers" => peers.script = Some(value()?),
            "--python" => peers.python = value()?,
            "--golden" => peers.golden = Some(value()?),
            file => files.push(PathBuf::from(file)),
        }
    }
    if peers.script.is_some() {
        return peers.compare(&files);
    }
    if scaling {
        let text = fs::read_to_string(files.first().ok_or("--scaling needs a file")?)?;
        return scale(&text);
    }
    for mode in MODES {
        let start = Instant::now();
        let model = load(mode)?;
        println!("{mode}: loading the model: {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
        if ["f32", "int8"].contains(&mode) {
            for (batch, length) in SHAPES {
                println!("encoder {batch:>3} x {length:<3} {:>7.0} tokens/s", encode(&model, batch, length)?);
            }
        }
        for file in &files {
            let text = fs::read_to_string(file)?;
            for max_sentences in [3, 6] {
                let name = file.display();
                println!("{name}, at most {max_sentences} sentences: {}", chunk(&model, &text, max_sentences)?);
            }
        }
    }
    Ok(())
}

/// The static model, or the encoder in a precision.
fn load(mode: &str) -> Result<SentenceTransformer, Box<dyn Error>> {
    Ok(match mode {
        "static" => ModelLoader::new(ModelSource::Static).load()?,
        precision => ModelLoader::new(ModelSource::Bundled).with_precision(precision.parse()?).load()?,
    })
}

/// Tokens per second on random ids, as the peers are measured.
fn encode(model: &SentenceTransformer, batch: usize, length: usize) -> Result<f64, Box<dyn Error>> {
    let mut state = 7_u32;
    let mut id = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1000 + (state >> 8) % 19_000
    };
    // Two special tokens frame every input.
    let inputs: Vec<Vec<u32>> = (0..batch).map(|_| (0..length - 2).map(|_| id()).collect()).collect();
    let inputs: Vec<&[u32]> = inputs.iter().map(Vec::as_slice).collect();
    model.embed_tokens(&inputs)?;
    let start = Instant::now();
    let mut runs = 0_u32;
    while runs < 3 || start.elapsed() < Duration::from_secs(3) {
        model.embed_tokens(&inputs)?;
        runs += 1;
    }
    Ok(f64::from(runs) * (batch * length) as f64 / start.elapsed().as_secs_f64())
}

/// What came of a text, and how fast.
struct Chunked {
    chunks: usize,
    sentences: usize,
    bytes: usize,
    embedded: usize,
    in_vain: usize,
    seconds: f64,
}

fn chunk(model: &SentenceTransformer, text: &str, max_sentences: usize) -> Result<Chunked, Box<dyn Error>> {
    let chunker = WindowChunker::new(model).with_splitter(RuleSplitter).without_counter()?;
    let chunker = chunker.with_threshold(THRESHOLD)?.with_max_sentences(max_sentences)?;
    let sentences = RuleSplitter.split(text)?.len();
    let start = Instant::now();
    let mut chunks = chunker.chunks(text)?;
    let found = chunks.by_ref().collect::<Result<Vec<_>, _>>()?.len();
    let seconds = start.elapsed().as_secs_f64();
    let (embedded, in_vain) = chunks.embedded();
    Ok(Chunked { chunks: found, sentences, bytes: text.len(), embedded, in_vain, seconds })
}

/// Seconds for more and more text, and for more threads.
fn scale(text: &str) -> Result<(), Box<dyn Error>> {
    let model = load("f32")?;
    let mut before = None;
    for copies in [1, 2, 4, 8] {
        let seconds = chunk(&model, &vec![text; copies].join("\n\n"), 6)?.seconds;
        let ratio = before.map(|before: f64| format!(", {:.2} times the half", seconds / before));
        println!("{copies} copies: {seconds:.2} s{}", ratio.unwrap_or_default());
        before = Some(seconds);
    }
    let mut alone = None;
    for threads in 1..=rayon::current_num_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let seconds =
            pool.install(|| chunk(&model, text, 6).map(|chunked| chunked.seconds).map_err(|e| e.to_string()))?;
        println!(
            "{threads} threads: {seconds:.2} s, {:.2} times as fast as one",
            alone.get_or_insert(seconds).to_owned() / seconds
        );
    }
    Ok(())
}

impl Chunked {
    fn kilobytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds / 1000.0
    }
}

impl std::fmt::Display for Chunked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} chunks in {:.2} s, {:.0} sentences/s, {:.1} kB/s, {} texts embedded, {:.1} % of them in vain",
            self.chunks,
            self.seconds,
            self.sentences as f64 / self.seconds,
            self.kilobytes_per_second(),
            self.embedded,
            100.0 * self.in_vain as f64 / self.embedded.max(1) as f64
        )
    }
}
