//! The smallest use of the library: a string in, chunks out.
//!
//!     cargo run --release --example chunk_a_string
//!
//! The model is inside the crate, so this needs no network and no files.

use horchunk::{Chunker, SentenceTransformer, WindowChunker};

const TEXT: &str = "\
The ferry leaves at ten past seven. It takes fifty minutes to the first island. \
Passengers should be at the pier five minutes before. \
Cod keeps best on crushed ice. Change the ice twice a day, and never let the fish lie in its water.";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Loading unpacks the weights, about a twentieth of a second; do it once and share the model.
    let model = SentenceTransformer::bundled()?;

    // The defaults: close a chunk where the cosine of its first sentence and of the whole falls below 0.72, or at six
    // sentences. A lower threshold gives longer chunks; `Chunk::similarities` holds what each step was decided by.
    let chunker = WindowChunker::new(&model).with_threshold(0.6)?;

    for chunk in chunker.chunk(TEXT)? {
        // A chunk is a span of your string. Nothing is copied, nothing is changed, nothing is lost.
        assert_eq!(&TEXT[chunk.span.range()], chunk.text);
        println!("{} ({}, {} tokens)", chunk.span, chunk.reason, chunk.tokens.unwrap_or(0));
        println!("  {chunk}");
    }
    Ok(())
}
