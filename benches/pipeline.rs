//! The stages of the pipeline, each alone: `cargo bench`. Texts are our own example, repeated.
//!
//! Compare figures of one run only; `cargo test --bench pipeline` runs everything once to see that it works.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use horchunk::answer::{Bm25, Candidate, EmbeddingSelector, LexicalReader, Reader, Selector, TfIdf, select};
use horchunk::{
    BudgetChunker, BudgetSearchChunker, Chunker, RuleSplitter, SentenceSplitter, SentenceTransformer, Span,
    SumEmbedder, Tiktoken, TiktokenEncoding, TokenCounter, TokenEmbedder, UnicodeSplitter, WindowChunker,
};

const TEXT: &str = include_str!("../examples/harbour.md");

fn main() {
    divan::main();
}

fn model() -> SentenceTransformer {
    SentenceTransformer::bundled().expect("the model is bundled")
}

fn static_model() -> SentenceTransformer {
    SentenceTransformer::bundled_static().expect("the model is bundled")
}

#[divan::bench]
fn load_the_model() -> SentenceTransformer {
    model()
}

#[divan::bench]
fn load_the_static_model() -> SentenceTransformer {
    static_model()
}

#[divan::bench(args = ["1x64", "32x64", "16x256"])]
fn encoder(bencher: Bencher<'_, '_>, shape: &str) {
    let (batch, length) = shape.split_once('x').expect("a shape");
    let (batch, length): (usize, usize) = (batch.parse().expect("a batch"), length.parse().expect("a length"));
    let model = model();
    let ids: Vec<u32> = (0..19_000).map(|n| 1000 + n * 7919 % 19_000).take(length - 2).collect();
    let inputs = vec![ids.as_slice(); batch];
    bencher.counter(ItemsCount::new(batch * length)).bench(|| model.embed_tokens(black_box(&inputs)));
}

#[divan::bench]
fn word_piece(bencher: Bencher<'_, '_>) {
    let model = model();
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| TokenCounter::count(&model, black_box(TEXT)));
}

#[divan::bench(args = TiktokenEncoding::ALL)]
fn tiktoken(bencher: Bencher<'_, '_>, encoding: TiktokenEncoding) {
    let counter = Tiktoken::new(encoding);
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| counter.count(black_box(TEXT)));
}

#[divan::bench]
fn rule_splitter(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| RuleSplitter.split(black_box(TEXT)));
}

#[divan::bench]
fn unicode_splitter(bencher: Bencher<'_, '_>) {
    let splitter = UnicodeSplitter::default();
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| splitter.split(black_box(TEXT)));
}

#[divan::bench]
fn static_sums(bencher: Bencher<'_, '_>) {
    let model = static_model();
    let sentences: Vec<&str> = TEXT.split_inclusive(". ").collect();
    let sums = || sentences.iter().map(|text| model.sum(black_box(text)));
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| sums().collect::<Result<Vec<_>, _>>());
}

/// A text of a megabyte, so that what is done once does not count.
#[divan::bench(args = ["rule", "unicode"])]
fn static_window(bencher: Bencher<'_, '_>, splitter: &str) {
    let text = TEXT.repeat(1_000_000 / TEXT.len());
    let model = static_model();
    let chunker = WindowChunker::new(&model).with_threshold(0.8).expect("a valid setting");
    let chunker = chunker.without_counter().expect("a valid setting");
    let chunker = if splitter == "rule" { chunker.with_splitter(RuleSplitter) } else { chunker };
    bencher.counter(BytesCount::of_str(&text)).bench(|| chunker.chunk(black_box(&text)).map(|chunks| chunks.len()));
}

#[divan::bench(args = [3, 6])]
fn window(bencher: Bencher<'_, '_>, max_sentences: usize) {
    let model = model();
    let chunker = WindowChunker::new(&model).with_max_sentences(max_sentences).expect("a valid setting");
    bencher.counter(BytesCount::of_str(TEXT)).bench(|| chunker.chunk(black_box(TEXT)));
}

/// A text of 11 chunks of at most 512 tokens.
#[divan::bench(args = ["budget", "budget-search"])]
fn eleven_chunks_of_512_tokens(bencher: Bencher<'_, '_>, name: &str) {
    let counter = Tiktoken::new(TiktokenEncoding::O200kBase);
    let repeated = TEXT.repeat(12);
    let end = repeated.split_inclusive("\n\n").scan((0, 0), |(bytes, tokens), part| {
        (*bytes, *tokens) = (*bytes + part.len(), *tokens + counter.count(part).expect("counts"));
        Some((*bytes, *tokens))
    });
    let end = end.take_while(|&(_, tokens)| tokens < 11 * 500).last().expect("a text").0;
    let text = &repeated[..end];
    let chunker: Box<dyn Chunker> = match name {
        "budget" => Box::new(BudgetChunker::new(counter, 512).expect("a budget")),
        _ => Box::new(BudgetSearchChunker::new(counter, 512).expect("a budget")),
    };
    assert_eq!(chunker.chunk(text).expect("cuts").len(), 11);
    bencher.bench(|| chunker.chunk(black_box(text)).expect("cuts"));
}

/// One of 20 answers.
#[divan::bench(args = ["bm25", "tfidf", "embedding"])]
fn select_among_20(bencher: Bencher<'_, '_>, name: &str) {
    let question = "Who keeps the lamp of the harbour?";
    let sentences = UnicodeSplitter::default().split(TEXT).expect("splits");
    let candidates: Vec<Candidate> = sentences
        .iter()
        .filter_map(|&span| {
            let reading = LexicalReader::default().with_min_share(0.01).ok()?.read(question, &TEXT[span]).ok()?;
            reading
                .answer
                .is_some()
                .then(|| Candidate::new(0, span.start(), Span::new(span.start(), span.end()), reading))
        })
        .take(20)
        .collect();
    assert_eq!(candidates.len(), 20);
    let model = model();
    let selector: Box<dyn Selector> = match name {
        "bm25" => Box::new(Bm25::default()),
        "tfidf" => Box::new(TfIdf::default()),
        _ => Box::new(EmbeddingSelector::new(model.queries(), model)),
    };
    bencher.bench(|| select(&selector, black_box(question), &candidates).expect("selects"));
}
