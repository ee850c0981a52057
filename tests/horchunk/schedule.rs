//! How vectors are asked for is nothing to the chunks: in lanes, with other texts, in 8 bits first.

use std::fs;
use std::path::Path;

use horchunk::{
    Chunk, Chunker, Embedder, Embedding, EmbeddingError, MemoEmbedder, ModelLoader, ModelSource, Precision,
    SentenceTransformer, TokenEmbedder, WindowChunker,
};

/// An embedder that says it wants so many tokens at once.
struct AtOnce<E>(E, usize);

impl<E: Embedder> Embedder for AtOnce<E> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        self.0.embed(texts)
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        self.0.as_token_embedder()
    }

    fn tokens_at_once(&self) -> usize {
        self.1
    }
}

fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("eval/corpora");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

fn chunker<E: Embedder>(embedder: E, threshold: f32, alpha: usize) -> WindowChunker<E> {
    let chunker = WindowChunker::new(embedder).without_counter().unwrap();
    chunker.with_threshold(threshold).unwrap().with_max_sentences(alpha).unwrap()
}

#[test]
fn lanes_give_the_chunks_of_one_lane_and_embed_little_in_vain() {
    let model = MemoEmbedder::new(SentenceTransformer::bundled().unwrap());
    let texts = texts();
    let long = texts.join("\n\n");
    for alpha in [3, 6] {
        let plain = chunker(AtOnce(&model, 0), 0.72, alpha).chunk(&long).unwrap();
        for tokens_at_once in [64, 600, 100_000] {
            let lanes = chunker(AtOnce(&model, tokens_at_once), 0.72, alpha);
            let mut chunks = lanes.chunks(&long).unwrap();
            let found: Vec<Chunk<'_>> = chunks.by_ref().map(Result::unwrap).collect();
            assert_eq!(found, plain, "{tokens_at_once} tokens at once");
            let (embedded, in_vain) = chunks.embedded();
            println!("at most {alpha} sentences, {tokens_at_once} tokens at once: {in_vain} of {embedded} in vain");
            assert!(in_vain * 10 < embedded, "{in_vain} of {embedded} in vain");
        }
    }
    let each: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = chunker(AtOnce(&model, 600), 0.72, 6).chunk_all(&each);
    for (text, together) in each.iter().zip(together) {
        assert_eq!(together.unwrap(), chunker(AtOnce(&model, 0), 0.72, 6).chunk(text).unwrap());
    }
}

#[test]
fn checked_cuts_are_those_of_floats() {
    let load = |precision| ModelLoader::new(ModelSource::Bundled).with_precision(precision).load().unwrap();
    let program = load(Precision::Checked);
    if program.as_draft_embedder().is_none() {
        println!("skipped: this processor is no faster in 8 bits");
        return;
    }
    let program = MemoEmbedder::new(program);
    let [exact, fast] = [Precision::F32, Precision::Int8].map(|precision| MemoEmbedder::new(load(precision)));
    let texts = &texts()[..3];
    let mut differ = 0;
    for (threshold, alpha) in [0.60, 0.72, 0.85].into_iter().flat_map(|t| [(t, 3), (t, 6)]) {
        for text in texts {
            let ends = |chunks: Vec<Chunk<'_>>| chunks.iter().map(|chunk| chunk.span.end()).collect::<Vec<_>>();
            let right = ends(chunker(&exact, threshold, alpha).chunk(text).unwrap());
            assert_eq!(ends(chunker(&program, threshold, alpha).chunk(text).unwrap()), right, "{threshold}, {alpha}");
            let int8 = ends(chunker(&fast, threshold, alpha).chunk(text).unwrap());
            differ += int8.iter().filter(|end| !right.contains(end)).count();
        }
    }
    assert!(differ > 0, "8 bits alone cut elsewhere at times, or this test shows nothing");
}
