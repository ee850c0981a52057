//! Budgets over many documents of the public benchmark: none is passed, and chunks are full.

use std::fs;

use horchunk::{
    BudgetChunker, BudgetSearchChunker, Chunk, Chunker, Tiktoken, TiktokenEncoding, TokenCounter, Verifier,
};
use rayon::prelude::*;

use crate::support::{BUNDLED, assert_lawful, shared};

/// A budget in tokens and how many documents are cut by it.
const BUDGETS: [(usize, usize); 6] = [(256, 160), (512, 130), (1024, 100), (2048, 70), (4096, 40), (8192, 24)];

/// Documents of about four budgets each, from everywhere in the corpora.
fn documents() -> Option<Vec<(usize, String)>> {
    let mut all = String::new();
    let folder = shared("chunking-evaluation/corpora")?;
    for name in ["chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts"] {
        all.push_str(&fs::read_to_string(folder.join(name).with_extension("md")).unwrap());
    }
    let mut documents = Vec::new();
    let mut start = 0;
    for (budget, count) in BUDGETS {
        for _ in 0..count {
            // A step that shares no factor with the length comes to a new place every time.
            start = (start + 361_807) % all.len();
            let [start, end] = [start, start + 18 * budget].map(|at| all.floor_char_boundary(at.min(all.len())));
            documents.push((budget, all[start..end].to_owned()));
        }
    }
    Some(documents)
}

fn counters() -> Vec<Box<dyn TokenCounter>> {
    let encodings = [TiktokenEncoding::O200kBase, TiktokenEncoding::Cl100kBase, TiktokenEncoding::P50kBase];
    let mut counters: Vec<Box<dyn TokenCounter>> =
        encodings.map(|encoding| Box::new(Tiktoken::new(encoding)) as Box<dyn TokenCounter>).into();
    counters.push(Box::new(BUNDLED.clone()));
    counters
}

/// Tokens of all chunks but the last, and how many they could be.
fn filled(budget: usize, chunks: &[Chunk<'_>]) -> (usize, usize) {
    let full = chunks.split_last().map_or(&[][..], |(_, full)| full);
    (full.iter().filter_map(|chunk| chunk.tokens).sum(), full.len() * budget)
}

#[test]
fn five_hundred_documents_never_overflow_and_chunks_are_full() {
    let Some(documents) = documents() else { return };
    assert!(documents.len() >= 500);
    for counter in counters() {
        let fill: Vec<(usize, (usize, usize))> = documents
            .par_iter()
            .map(|(budget, text)| {
                let chunks = BudgetChunker::new(&counter, *budget).unwrap().chunk(text).unwrap();
                assert_lawful(Verifier::new().with_max_tokens(*budget), text, &chunks, &counter);
                (*budget, filled(*budget, &chunks))
            })
            .collect();
        for (budget, _) in BUDGETS {
            let of_budget = fill.iter().filter(|(of, _)| *of == budget).map(|(_, filled)| filled);
            let (tokens, room) = of_budget.fold((0, 0), |sum, filled| (sum.0 + filled.0, sum.1 + filled.1));
            let share = tokens as f64 / room as f64;
            println!("{}, {budget} tokens: {:.1} % full", counter.name(), 100.0 * share);
            assert!(share >= if budget < 512 { 0.90 } else { 0.95 }, "{}, {budget} tokens: {share}", counter.name());
        }
    }
}

#[test]
fn the_search_of_the_paper_never_overflows_either() {
    let Some(documents) = documents() else { return };
    documents.par_iter().step_by(5).for_each(|(budget, text)| {
        let counter = Tiktoken::default();
        let chunker = BudgetSearchChunker::new(counter, *budget).unwrap().with_overlap(budget / 8).unwrap();
        let verifier = Verifier::new().with_max_tokens(*budget).with_overlap();
        assert_lawful(verifier, text, &chunker.chunk(text).unwrap(), &counter);
    });
}
