//! What 8 bits cost: similarities and cuts of int8 and checked against those of f32, on your own texts.
//!
//!     cargo run --release --example precision -- FILE...
//!
//! Prints how far similarities lie apart, over every run of two, three and six sentences that starts at each third
//! sentence; and how many cuts come out otherwise, for three thresholds and two largest numbers of sentences.

use std::error::Error;
use std::ops::ControlFlow;
use std::{env, fs};

use horchunk::tuning::{Run, Sampler};
use horchunk::{
    Chunker, Embedder, MemoEmbedder, ModelLoader, ModelSource, Precision, RuleSplitter, SentenceTransformer,
    WindowChunker,
};

fn main() -> Result<(), Box<dyn Error>> {
    let load = |precision| ModelLoader::new(ModelSource::Bundled).with_precision(precision).load();
    let (exact, fast, checked) = (load(Precision::F32)?, load(Precision::Int8)?, load(Precision::Checked)?);
    let mut errors = Vec::new();
    for path in env::args().skip(1) {
        let text = fs::read_to_string(&path)?;
        for sentences in [2, 3, 6] {
            let pairs = runs(&text, sentences, &exact)?.into_iter().zip(runs(&text, sentences, &fast)?);
            errors.extend(pairs.map(|(exact, fast)| f64::from(fast.similarity - exact.similarity)));
        }
        // The settings share what they embed.
        let [exact, fast, checked] = [&exact, &fast, &checked].map(|model| MemoEmbedder::new(model.clone()));
        for (threshold, sentences) in [0.60, 0.72, 0.85].into_iter().flat_map(|t| [(t, 3), (t, 6)]) {
            let cuts = |model| cuts(&text, model, threshold, sentences);
            let (right, int8, checked) = (cuts(&exact)?, cuts(&fast)?, cuts(&checked)?);
            println!(
                "{path} at {threshold}, at most {sentences} sentences: {} cuts; int8 makes {} others, checked {}",
                right.len(),
                others(&int8, &right),
                others(&checked, &right)
            );
        }
    }
    println!("{}", summary(&errors));
    Ok(())
}

/// The runs of so many sentences in the order of the text.
fn runs(text: &str, sentences: usize, model: &SentenceTransformer) -> Result<Vec<Run>, Box<dyn Error>> {
    let sampler = Sampler::new(sentences).with_step(3);
    let mut runs = sampler.sample(&[text], &RuleSplitter, model, |_, _| ControlFlow::Continue(()))?.runs;
    runs.sort_by_key(|run| run.span().start());
    Ok(runs)
}

/// Where the chunks of a text end.
fn cuts(text: &str, model: &impl Embedder, threshold: f32, sentences: usize) -> Result<Vec<usize>, Box<dyn Error>> {
    let chunker = WindowChunker::new(model).with_splitter(RuleSplitter).without_counter()?;
    let chunker = chunker.with_threshold(threshold)?.with_max_sentences(sentences)?;
    Ok(chunker.chunk(text)?.iter().map(|chunk| chunk.span.end()).collect())
}

/// Cuts that the other list does not have.
fn others(cuts: &[usize], right: &[usize]) -> usize {
    cuts.iter().filter(|cut| right.binary_search(cut).is_err()).count()
}

fn summary(errors: &[f64]) -> String {
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let deviation = (errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
    let largest = errors.iter().fold(0.0_f64, |largest, error| largest.max(error.abs()));
    format!(
        "error of int8 over {} runs: {mean:.4} on average, {deviation:.4} standard deviation, {largest:.4} at most",
        errors.len()
    )
}
