//! Agreement with the reference program: sentences, vectors, and every decision of the window on five corpora.
//!
//! The reference figures and corpora lie outside the repository; where they are absent the tests say so and pass.
//! Those in f32 also need the published weights, which `.ci/run` puts under `target`.

use std::fs;
use std::path::PathBuf;

use horchunk::{
    Chunk, Chunker, CutReason, Embedder, MemoEmbedder, ModelLoader, ModelSource, Precision, RuleSplitter,
    SentenceSplitter, SentenceTransformer, WindowChunker,
};
use serde::Deserialize;

use crate::support::shared;

const THRESHOLD: f32 = 0.72;

/// How far the similarities of the f16 weights may be from the reference, and those on which a decision hangs. The
/// first is the effect of the rounding alone: PyTorch with the rounded weights is 5.1e-4 off at the same step.
const F16_SIMILARITY: f32 = 6e-4;
const F16_DECISION: f32 = 4e-4;

#[derive(Deserialize)]
struct Golden {
    corpus: String,
    max_sentences: usize,
    sentences: usize,
    chunk_sizes: Vec<usize>,
    /// Entry k belongs to sentence k + 1; none where the largest number of sentences cut.
    similarities: Vec<Option<f32>>,
}

impl Golden {
    /// First sentence of every chunk.
    fn starts(&self) -> Vec<usize> {
        starts(self.chunk_sizes.iter().copied())
    }
}

fn starts(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let ends = sizes.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    starts.pop();
    starts
}

fn golden() -> Option<Vec<(Golden, String)>> {
    let folder = shared("golden/windows")?;
    let corpora = shared("chunking-evaluation/corpora")?;
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let load = |path: &PathBuf| {
        let golden: Golden = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let text = fs::read_to_string(corpora.join(&golden.corpus)).unwrap();
        (golden, text)
    };
    Some(files.iter().map(load).collect())
}

/// The published weights in f32.
fn published(precision: Precision) -> Option<SentenceTransformer> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/all-MiniLM-L6-v2");
    if !folder.join("model.safetensors").is_file() {
        println!("skipped: {} has no published weights (.ci/run fetches them)", folder.display());
        return None;
    }
    Some(ModelLoader::new(ModelSource::Folder(folder)).with_precision(precision).load().unwrap())
}

/// The two settings share their vectors.
type Memo = MemoEmbedder<SentenceTransformer>;

/// How the chunks of one corpus compare.
#[derive(Debug, Default)]
struct Comparison {
    /// Steps decided from the same anchor as in the reference.
    same_anchor: usize,
    /// Steps that come between a boundary that differs and the place where the chains join again.
    apart: usize,
    differing: usize,
    largest_error: f32,
}

/// Compares step by step; a decision may differ only where the reference lies within `doubt` of the threshold.
fn compare(golden: &Golden, chunks: &[Chunk<'_>], tolerance: f32, doubt: f32) -> Comparison {
    let theirs = golden.starts();
    let ours = starts(chunks.iter().map(|chunk| chunk.sentences.len()));
    let similarities: Vec<Option<f32>> = chunks.iter().flat_map(|chunk| chunk.similarities.clone()).collect();
    assert_eq!(
        similarities.len(),
        golden.similarities.len(),
        "{}: a step for every sentence but the first",
        golden.corpus
    );
    let anchor = |starts: &[usize], sentence: usize| starts[starts.partition_point(|&start| start < sentence) - 1];
    let mut comparison = Comparison::default();
    for sentence in 1..golden.sentences {
        // The anchor the step was decided from is the start of the chunk that the sentence before belongs to.
        if anchor(&theirs, sentence) != anchor(&ours, sentence) {
            comparison.apart += 1;
            continue;
        }
        comparison.same_anchor += 1;
        let (their, our) = (golden.similarities[sentence - 1], similarities[sentence - 1]);
        assert_eq!(their.is_some(), our.is_some(), "{}: sentence {sentence}", golden.corpus);
        let Some((their, our)) = their.zip(our) else { continue };
        let error = (their - our).abs();
        assert!(error <= tolerance, "{}: sentence {sentence}: {our} in the place of {their}", golden.corpus);
        comparison.largest_error = comparison.largest_error.max(error);
        if theirs.binary_search(&sentence).is_ok() != ours.binary_search(&sentence).is_ok() {
            comparison.differing += 1;
            assert!(
                (their - THRESHOLD).abs() <= doubt,
                "{}: sentence {sentence}: {their} was decided otherwise",
                golden.corpus
            );
        }
    }
    comparison
}

fn chunks<'t>(model: &impl Embedder, golden: &Golden, text: &'t str) -> Vec<Chunk<'t>> {
    let chunker = WindowChunker::new(model).with_splitter(RuleSplitter).without_counter().unwrap();
    let chunker = chunker.with_threshold(THRESHOLD).unwrap().with_max_sentences(golden.max_sentences).unwrap();
    chunker.chunk(text).unwrap()
}

#[test]
fn rule_sentences_are_those_of_the_reference() {
    let Some(golden) = golden() else { return };
    assert_eq!(golden.len(), 10);
    for (golden, text) in golden {
        assert_eq!(RuleSplitter.split(&text).unwrap().len(), golden.sentences, "{}", golden.corpus);
    }
}

#[test]
fn windows_of_the_published_weights_are_those_of_the_reference() {
    let (Some(golden), Some(model)) = (golden(), published(Precision::F32)) else { return };
    let model = Memo::new(model);
    for (golden, text) in golden {
        let chunks = chunks(&model, &golden, &text);
        let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.sentences.len()).collect();
        assert_eq!(sizes, golden.chunk_sizes, "{} at {}", golden.corpus, golden.max_sentences);
        let comparison = compare(&golden, &chunks, 2e-5, 0.0);
        println!("f32, {} at {}: {comparison:?}", golden.corpus, golden.max_sentences);
        assert_eq!((comparison.differing, comparison.apart), (0, 0));
    }
}

#[test]
fn windows_that_are_decided_in_8_bits_and_checked_are_those_of_the_reference() {
    let (Some(golden), Some(model)) = (golden(), published(Precision::Checked)) else { return };
    // The long corpora would take minutes and show nothing new.
    for (golden, text) in golden.iter().filter(|(_, text)| text.len() < 200_000) {
        let chunks = chunks(&model, golden, text);
        let sizes: Vec<usize> = chunks.iter().map(|chunk| chunk.sentences.len()).collect();
        assert_eq!(sizes, golden.chunk_sizes, "{} at {}", golden.corpus, golden.max_sentences);
    }
}

#[test]
fn windows_of_the_bundled_weights_differ_only_next_to_the_threshold() {
    let Some(golden) = golden() else { return };
    let model = Memo::new(SentenceTransformer::bundled().unwrap());
    let (mut steps, mut apart) = (0, 0);
    for (golden, text) in golden {
        let chunks = chunks(&model, &golden, &text);
        assert!(chunks.iter().all(|chunk| (chunk.reason == CutReason::Similarity) == chunk.similarity.is_some()));
        let comparison = compare(&golden, &chunks, F16_SIMILARITY, F16_DECISION);
        println!("f16, {} at {}: {comparison:?}", golden.corpus, golden.max_sentences);
        steps += comparison.same_anchor;
        apart += comparison.apart;
    }
    assert!(apart * 100 < steps, "the chains join again: {apart} steps of {steps} were apart");
}

#[derive(Deserialize)]
struct GoldenVectors {
    tolerance: f32,
    items: Vec<GoldenVector>,
}

#[derive(Deserialize)]
struct GoldenVector {
    text: String,
    vector: Vec<f32>,
}

fn agree(model: &SentenceTransformer, golden: &GoldenVectors, tolerance: f32) {
    let texts: Vec<&str> = golden.items.iter().map(|item| item.text.as_str()).collect();
    let together = model.embed(&texts).unwrap();
    for (item, embedding) in golden.items.iter().zip(&together) {
        let errors = item.vector.iter().zip(&embedding.vector).map(|(a, b)| (a - b).abs());
        let largest = errors.fold(0.0, f32::max);
        assert!(largest <= tolerance, "{:?} is off by {largest}", item.text);
        // Batches of unequal lengths change nothing, not even the last bit.
        assert_eq!(&model.embed(&[&item.text]).unwrap()[0], embedding, "{:?}", item.text);
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(path) = shared("golden/embeddings.json") else { return };
    let golden: GoldenVectors = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(golden.items.len() > 10);
    agree(&SentenceTransformer::bundled().unwrap(), &golden, 1e-3);
    if let Some(model) = published(Precision::F32) {
        agree(&model, &golden, golden.tolerance);
    }
}
