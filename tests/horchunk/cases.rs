//! Kinds of input that are known to break chunkers, each with what is right.
//!
//! All of them obey the laws, for every counter, cap and splitter of [`assert_lawful_everywhere`]; a test then says
//! what is special about its kind. Where meaning does not matter, an embedder of letters takes the model's place.

mod characters;
mod lengths;
mod models;
mod sentences;

use horchunk::{
    Borders, Chunk, Chunker, Embedder, Embedding, EmbeddingError, ParagraphSplitter, RuleSplitter, SentenceSplitter,
    Tiktoken, UnicodeSplitter, Verifier, WindowChunker,
};

use crate::support::assert_lawful;

/// Embeds a text as the frequencies of its bytes.
#[derive(Clone, Copy, Debug)]
struct Letters;

impl Embedder for Letters {
    fn dimension(&self) -> usize {
        256
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let embed = |text: &&str| {
            let mut vector = vec![0.0; 256];
            text.bytes().for_each(|byte| vector[usize::from(byte)] += 1.0);
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1.0);
            vector.iter_mut().for_each(|x| *x /= length);
            Embedding { vector, truncated: false }
        };
        Ok(texts.iter().map(embed).collect())
    }
}

fn letters() -> WindowChunker<Letters> {
    WindowChunker::new(Letters).with_threshold(0.9).unwrap()
}

fn capped(text: &str, max_tokens: usize) -> Vec<Chunk<'_>> {
    letters().with_max_tokens(max_tokens).unwrap().chunk(text).unwrap()
}

fn sentences(text: &str) -> Vec<&str> {
    UnicodeSplitter::default().split(text).unwrap().into_iter().map(|span| &text[span]).collect()
}

/// Checks the laws for the settings that matter to them. A cap of 8 holds every character of every counter.
#[track_caller]
fn assert_lawful_everywhere(text: &str) {
    let counter = Tiktoken::default();
    let splitters: [fn() -> Box<dyn SentenceSplitter>; 3] =
        [|| Box::new(UnicodeSplitter::default()), || Box::new(RuleSplitter), || Box::new(ParagraphSplitter)];
    for splitter in splitters {
        let chunker = || letters().with_splitter(splitter());
        assert_lawful(Verifier::new(), text, &chunker().chunk(text).unwrap(), &counter);
        for cap in [8, 60] {
            let verifier = Verifier::new().with_max_tokens(cap);
            let chunker = || chunker().with_max_tokens(cap).unwrap();
            assert_lawful(verifier, text, &chunker().with_borders(Borders::Paragraph).chunk(text).unwrap(), &counter);
            let kept = chunker().with_kept_white_space().unwrap().chunk(text).unwrap();
            assert_lawful(verifier.with_kept_white_space(), text, &kept, &counter);
            let overlapping = chunker().with_overlap_sentences(2).unwrap().chunk(text).unwrap();
            assert_lawful(verifier.with_overlap(), text, &overlapping, &counter);
        }
        let joined = chunker().with_min_tokens(20).unwrap().chunk(text).unwrap();
        assert_lawful(Verifier::new(), text, &joined, &counter);
    }
}
