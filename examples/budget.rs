//! Splits a text for a language model that is named, and counts every chunk again.
//!
//!     cargo run --release --example budget -- gpt-3.5-turbo-instruct eval/corpora/island_history.md

use horchunk::{BudgetChunker, Chunker, LlmRegistry, TokenCounter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(name), Some(file)) = (words.next(), words.next()) else {
        return Err("name a model and a file".into());
    };
    let text = std::fs::read_to_string(file)?;

    // A name that nobody knows is an error that says which are near. A vendor that keeps its tokenizer back has none
    // here; with `true` another's would count in its place, times a factor for safety.
    let registry = LlmRegistry::bundled();
    let model = registry.find(&name)?;
    let counter = registry.counter(model, false)?;

    // What is left of the context when the model's usual reserve for question and reply is taken off.
    let budget = model.budget(None)?;
    for chunk in BudgetChunker::new(&counter, budget)?.chunk(&text)? {
        let tokens = counter.count(chunk.text)?;
        assert!(tokens <= budget && chunk.tokens == Some(tokens));
        println!("bytes {}: {tokens} of {budget} tokens", chunk.span);
    }
    Ok(())
}
