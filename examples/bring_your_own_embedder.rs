//! Your own embedder in the place of the bundled model: an API, another runtime, or plain arithmetic as here.
//!
//!     cargo run --release --example bring_your_own_embedder
//!
//! [`Embedder`] has two methods to write. The chunker asks for each text once and needs nothing but its vector.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use horchunk::{Chunker, Embedder, Embedding, EmbeddingError, WindowChunker};

/// Texts are alike if they share letter triples: crude, but enough to tell a recipe from a timetable.
struct Trigrams;

impl Embedder for Trigrams {
    fn dimension(&self) -> usize {
        256
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        Ok(texts.iter().map(|text| Embedding { vector: self.vector(text), truncated: false }).collect())
    }
}

impl Trigrams {
    fn vector(&self, text: &str) -> Vec<f32> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        let mut vector = vec![0.0_f32; self.dimension()];
        for triple in letters.windows(3) {
            let mut hash = DefaultHasher::new();
            triple.hash(&mut hash);
            vector[usize::from(hash.finish().to_le_bytes()[0])] += 1.0;
        }
        // Vectors have length 1, so that a dot product is a cosine. A text without triples stays zero.
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        vector.iter().map(|x| x / norm).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "Whisk the eggs with the sugar. Fold the flour into the eggs and the sugar. \
                Trains to the coast run hourly. The hourly trains to the coast do not run at night.";

    // Another embedder, another threshold: 0.72 belongs to all-MiniLM-L6-v2.
    for chunk in WindowChunker::new(Trigrams).with_threshold(0.55)?.chunk(text)? {
        let steps: Vec<String> = chunk.similarities.iter().flatten().map(|step| format!("{step:.2}")).collect();
        println!("{chunk}\n  ends by {}, similarities {}", chunk.reason, steps.join(" "));
    }
    Ok(())
}
