//! What 8 bits cost: similarities of int8 against those of f32, on your own texts.
//!
//!     cargo run --release --example precision -- FILE...
//!
//! Takes every third run of two, three and six sentences, as the dynamic window would form them, and prints how far the
//! two similarities lie apart and how many cuts at 0.72 come out otherwise.

use std::error::Error;
use std::ops::ControlFlow;
use std::{env, fs};

use horchunk::tuning::{Run, Sampler};
use horchunk::{ModelLoader, ModelSource, Precision, RuleSplitter, SentenceTransformer, WindowChunker};

const THRESHOLD: f32 = WindowChunker::<SentenceTransformer>::DEFAULT_THRESHOLD;

fn main() -> Result<(), Box<dyn Error>> {
    let load = |precision| ModelLoader::new(ModelSource::Bundled).with_precision(precision).load();
    let (exact, fast) = (load(Precision::F32)?, load(Precision::Int8)?);
    for path in env::args().skip(1) {
        let text = fs::read_to_string(&path)?;
        for sentences in [2, 3, 6] {
            let pairs: Vec<(f32, f32)> = runs(&text, sentences, &exact)?
                .iter()
                .zip(runs(&text, sentences, &fast)?)
                .map(|(exact, fast)| (exact.similarity, fast.similarity))
                .collect();
            println!("{path}, {sentences} sentences: {}", compared(&pairs));
        }
    }
    Ok(())
}

/// The runs of so many sentences in the order of the text.
fn runs(text: &str, sentences: usize, model: &SentenceTransformer) -> Result<Vec<Run>, Box<dyn Error>> {
    let sampler = Sampler::new(sentences).with_step(3);
    let mut runs = sampler.sample(&[text], &RuleSplitter, model, |_, _| ControlFlow::Continue(()))?.runs;
    runs.sort_by_key(|run| run.span().start());
    Ok(runs)
}

fn compared(pairs: &[(f32, f32)]) -> String {
    let errors: Vec<f64> = pairs.iter().map(|(exact, fast)| f64::from(fast - exact)).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let deviation = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
    let largest = errors.iter().fold(0.0_f64, |largest, error| largest.max(error.abs()));
    let flipped = pairs.iter().filter(|(exact, fast)| (*exact < THRESHOLD) != (*fast < THRESHOLD)).count();
    format!(
        "{} runs, error {mean:.4} on average, {deviation:.4} standard deviation, {largest:.4} at most; {flipped} cuts differ",
        pairs.len()
    )
}
