//! The static model: windows as running sums, thresholds of its own, models of model2vec.

use std::fs;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use horchunk::{
    Chunk, Chunker, Embedder, Embedding, EmbeddingError, ParagraphSplitter, Record, SentenceSplitter,
    SentenceTransformer, SumEmbedder, Tiktoken, UnicodeSplitter, Verifier, WindowChunker,
};

use crate::support::{Folder, HARBOUR, assert_lawful, records, repository};

static STATIC: LazyLock<SentenceTransformer> = LazyLock::new(|| SentenceTransformer::bundled_static().unwrap());

/// The static model as any embedder of texts: every window is a text of its own.
struct ByText;

impl Embedder for ByText {
    fn dimension(&self) -> usize {
        STATIC.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        STATIC.embed(texts)
    }
}

/// The static model, counting what it is asked for.
#[derive(Default)]
struct Counted {
    sums: AtomicUsize,
}

impl Embedder for Counted {
    fn dimension(&self) -> usize {
        STATIC.dimension()
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        unreachable!("windows are sums")
    }

    fn as_sum_embedder(&self) -> Option<&dyn SumEmbedder> {
        Some(self)
    }
}

impl SumEmbedder for Counted {
    fn sum(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        self.sums.fetch_add(1, Ordering::Relaxed);
        STATIC.sum(text)
    }
}

fn chunks<E: Embedder>(model: E, text: &str, threshold: f32) -> Vec<Chunk<'_>> {
    let chunker = WindowChunker::new(model).with_threshold(threshold).unwrap().with_embeddings();
    chunker.chunk(text).unwrap()
}

#[test]
fn windows_of_sums_are_those_of_the_joined_texts() {
    for name in ["island_history.md", "support_chats.md", "pump_manual.md"] {
        let text = fs::read_to_string(repository("eval/corpora").join(name)).unwrap();
        let (sums, texts) = (chunks(&*STATIC, &text, 0.8), chunks(ByText, &text, 0.8));
        assert_eq!(sums.len(), texts.len(), "{name}");
        assert!(sums.len() > 20);
        for (sum, text) in sums.iter().zip(&texts) {
            assert_eq!((sum.span, sum.reason), (text.span, text.reason), "{name}");
            let steps = sum.similarities.iter().zip(&text.similarities);
            for (a, b) in steps {
                assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-5, "{a:?} {b:?}");
            }
            let vectors = sum.embedding.iter().flatten().zip(text.embedding.iter().flatten());
            assert!(vectors.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-5);
        }
    }
}

#[test]
fn every_sentence_is_looked_up_once() {
    let counted = Counted::default();
    for threshold in [-1.0, 0.8, 1.0] {
        counted.sums.store(0, Ordering::Relaxed);
        let chunker = WindowChunker::new(&counted).with_threshold(threshold).unwrap().with_max_sentences(4).unwrap();
        let made = chunker.chunk(HARBOUR).unwrap();
        let sentences = UnicodeSplitter::default().split(HARBOUR).unwrap().len();
        // Where a chunk is full its next sentence is not looked at, and so looked up as the next anchor only.
        assert_eq!(counted.sums.load(Ordering::Relaxed), sentences, "{} chunks", made.len());
    }
}

#[test]
fn what_the_model_does_not_know_cuts_behind_it_and_joins_what_is_before_it() {
    let text = "The tide is low.\n\n🙂🙂\n\nThe tide is high.\n\n🙂\n\n🙂🙂🙂";
    let chunker = |threshold| {
        let chunker = WindowChunker::new(&*STATIC).with_splitter(ParagraphSplitter).with_embeddings();
        chunker.with_threshold(threshold).unwrap()
    };
    // An unknown sentence changes no window: the similarity stays what it was.
    let chunks = chunker(0.5).chunk(text).unwrap();
    let [only] = &chunks[..] else { panic!("one chunk: {chunks:?}") };
    assert_eq!(only.similarities[0], Some(1.0));
    assert_eq!(only.similarities[1], only.similarities[2]);
    // As anchor it is like nothing that follows, and like its own kind.
    let chunks = chunker(0.1).chunk("🙂🙂\n\n🙂\n\nThe tide is high.").unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text).collect();
    assert_eq!(texts, ["🙂🙂\n\n🙂", "The tide is high."]);
    assert_eq!((chunks[0].similarity, chunks[0].embedding.as_deref()), (Some(0.0), Some(&[0.0; 256][..])));
    assert_eq!(chunker(0.0).chunk("🙂🙂\n\nThe tide is high.").unwrap().len(), 1, "0 is not below 0");
}

#[test]
fn chunks_of_the_static_model_are_lawful_and_never_cut_short() {
    let long = format!("{HARBOUR}\n\n{} ends.", "The long sentence goes on and ".repeat(300));
    let folder = Folder::with([("a.txt", &long)]);
    let made = folder.records("chunk a.txt --model static --max-tokens 100000");
    assert!(made.len() > 5 && made.iter().all(|record| !record.truncated && !record.blind));
    for line in ["", "--max-tokens 20 --keep-whitespace", "--min-tokens 30 --overlap-sentences 1", "--tokens none"] {
        let made = folder.records(&format!("chunk a.txt --model static {line}"));
        assert!(made.iter().all(|record| long[record.start..record.end] == record.text), "{line}");
    }
    assert_lawful(Verifier::new(), HARBOUR, &chunks(&*STATIC, HARBOUR, 0.7), &Tiktoken::default());
}

#[test]
fn the_threshold_is_the_models_own_unless_another_is_given() {
    let folder = Folder::new();
    let texts = repository("eval/corpora");
    let records = |rest: &str| folder.records(&format!("chunk {} --model static --explain {rest}", texts.display()));
    let own = STATIC.info().threshold.unwrap();
    let (plain, other) = (records(""), records("-t 0.72"));
    assert!(plain == records(&format!("-t {own}")) && plain != other);
    assert!(records("--chunker window:alpha=6,t=0.72") == other);
    folder.write("a.txt", HARBOUR);
    let said = folder.run("chunk a.txt --model static -v").err;
    assert!(said.contains(&format!("threshold {own}")) && said.contains("model static-MiniLM-L6-v2"), "{said}");
    let table = folder.out("-q eval --model static --no-plain --chunker window --format csv");
    assert!(table.contains(&format!("t={own},alpha=6")), "{table}");
}

#[test]
fn every_command_that_takes_a_model_takes_it() {
    let folder = Folder::with([("a.txt", HARBOUR)]);
    for chunker in ["sentences", "recursive:size=60", "kamradt:size=60", "percentile", "cluster:size=60"] {
        assert!(folder.records(&format!("chunk a.txt --model static --embeddings --chunker {chunker}")).len() > 1);
    }
    assert!(folder.out("chunk a.txt --model static --dry-run").contains("sentences"));
    let counts = |model| folder.records(&format!("chunk a.txt --model {model} --tokens wordpiece -t -1"));
    let tokens = |model| counts(model).iter().map(|record| record.tokens).collect::<Vec<_>>();
    assert_eq!(tokens("static"), tokens("bundled"), "one vocabulary");
    folder.write("verdicts", "holds\n".repeat(40));
    let tuned = folder.run("tune a.txt --model static --judge script:verdicts --profile mine");
    assert_eq!(tuned.code, Some(0), "{}", tuned.err);
    assert!(folder.read("tuning/mine.toml").contains("static-MiniLM-L6-v2"));
    assert!(folder.run("chunk a.txt --model static --profile mine").code == Some(0));
    folder.run("chunk a.txt --profile mine").complains(1, &["static-MiniLM-L6-v2"]);
}

#[test]
fn what_is_for_encoders_is_wrong_usage() {
    let folder = Folder::with([("a.txt", "Low tide.")]);
    folder
        .run("chunk a.txt --model static --precision int8")
        .complains(2, &["--model static", "precision int8", "table"]);
    folder.run("chunk a.txt --model static --device cuda").complains(2, &["--model static", "cuda:0"]);
    assert_eq!(folder.records("chunk a.txt --model static --device cpu").len(), 1);
}

#[test]
fn a_model_can_be_distilled_and_used() {
    let folder = Folder::with([("a.txt", HARBOUR)]);
    let tiny = repository("tests/fixtures/models/bert-mean");
    let distill = |rest: &str| folder.run(&format!("models distill --model {} {rest}", tiny.display()));
    assert_eq!(distill("--dimension 16 --threshold 0.4 -o made").done(), "");
    assert_eq!(folder.files().iter().filter(|name| name.starts_with("made/")).count(), 3);
    let own = folder.records("chunk a.txt --model ./made --explain");
    assert_eq!(own, folder.records("chunk a.txt --model ./made --explain -t 0.4"));
    distill("--dimension 16 -o made").complains(2, &["made holds something already"]);
    distill("--dimension 33 -o other").complains(2, &["--dimension 33", "from 1 to 32"]);
    distill("--numbers f64 -o other").complains(2, &["i8, f16 or f32"]);
    distill("--threshold 2 -o other").complains(2, &["--threshold 2"]);
    distill("--frequency-constant 0 -o other").complains(2, &["--frequency-constant 0"]);
    folder.run("models distill --model static -o other").complains(1, &["static model already"]);
    assert!(!folder.path("other").exists());
}

#[test]
fn a_static_model_of_the_cache_is_used_by_its_id() {
    const COMMIT: &str = "5f0c3d0a9be1f5a2d1d6d0f0a3c4b5968778695a";
    let folder = Folder::with([("a.txt", HARBOUR)]);
    let tiny = repository("tests/fixtures/models/bert-mean");
    let cache = "hf/hub/models--org--small";
    folder.out(&format!("models distill --model {} --dimension 16 -o {cache}/snapshots/{COMMIT}", tiny.display()));
    folder.write(&format!("{cache}/refs/main"), COMMIT);
    for absent in ["modules.json", "sentence_bert_config.json", "tokenizer_config.json"] {
        folder.write(&format!("{cache}/.no_exist/{COMMIT}/{absent}"), "");
    }
    assert!(folder.out("models").contains("\norg/small "));
    let by_id = folder.records("chunk a.txt --model org/small --embeddings");
    assert_eq!(by_id[0].embedding.as_ref().map(Vec::len), Some(16));
    assert_eq!(by_id, folder.records(&format!("chunk a.txt --model {cache}/snapshots/{COMMIT} --embeddings")));
}

#[test]
fn chunkers_may_look_through_another_model_than_retrieval() {
    let folder = Folder::new();
    let line = "-q eval --no-plain --chunker window:t=0.8 --format json";
    let report =
        |rest: &str| -> serde_json::Value { serde_json::from_str(&folder.out(&format!("{line} {rest}"))).unwrap() };
    let (both, own) = (report("--model static"), report("--model static --chunk-model static"));
    assert_eq!(both["rows"][0]["summary"], own["rows"][0]["summary"], "the same model twice is the same");
    let mixed = report("--model static --chunk-model bundled");
    assert_ne!(mixed["rows"][0]["sizes"], own["rows"][0]["sizes"]);
    assert!(mixed["stamp"].to_string().contains("chunkers look through"));
    let segments = "A tide turns. It turns twice.\n==========\nBread is sold.";
    folder.write("a.txt", segments);
    let own = STATIC.info().threshold.unwrap();
    assert!(folder.out("eval segments a.txt --model static").contains(&format!("window:t={own},alpha=6")));
    folder.run("eval --chunk-model no-such-model").complains(1, &["no-such-model"]);
}

#[test]
fn a_document_from_a_pipe_is_answered_before_the_next_one_comes() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = Folder::new();
    let line = "chunk - --input-format jsonl --model static --tokens none --format jsonl";
    let mut child = folder.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    for n in 1..=3 {
        writeln!(stdin, "{{\"text\":\"Lamp {n} burns.\"}}").unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains(&format!("\"-:{n}\"")) && answer.contains(&format!("Lamp {n} burns.")), "{answer}");
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_text_from_a_pipe_is_cut_as_it_comes() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = Folder::new();
    let line = "chunk - --model static --format jsonl -t 0.9";
    let mut child = folder.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    let paragraphs =
        ["Cats sleep.", "Tax is due in May.", "The bridge was built of stone.", "Rye bread is dark.", "Gulls."];
    for (at, paragraph) in paragraphs.iter().enumerate() {
        write!(stdin, "{paragraph}\n\n").unwrap();
        // A chunk is final with the sentence behind the next one, and that with what begins behind its paragraph.
        if at >= 3 {
            let answer = answers.next().unwrap().unwrap();
            assert!(answer.contains(paragraphs[at - 3]) && answer.contains("\"reason\":\"similarity\""), "{answer}");
        }
    }
    drop(stdin);
    let rest: Vec<String> = answers.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 3, "{rest:?}");
    assert!(rest[2].contains("Gulls.") && rest[2].contains("\"reason\":\"end\""), "{rest:?}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_text_from_a_pipe_has_the_chunks_of_the_file() {
    let folder = Folder::new();
    let text = format!("{HARBOUR}\r\n\r\n```\ncode. Code\n\n```\n\n").repeat(60);
    folder.write("a.txt", &text);
    for settings in [
        "--explain",
        "--explain --max-tokens 40 --keep-whitespace",
        "--min-tokens 30",
        "--overlap-sentences 1 --borders paragraph",
        "--sentences rule",
        "--chunker fixed-token",
        "--embeddings",
    ] {
        let settings = format!("--model static --format jsonl {settings}");
        let comparable = |lines: &str| -> Vec<Record<'static>> {
            let mut all = records(lines);
            for record in &mut all {
                (record.document, record.id) = ("".into(), String::new());
            }
            all
        };
        let piped = folder.run_on(&text, &format!("chunk - {settings}")).done();
        assert_eq!(comparable(&piped), comparable(&folder.out(&format!("chunk a.txt {settings}"))), "{settings}");
    }
    let piped = folder.run_on(&text, "chunk - --model static --format json").done();
    folder.write("chunks.json", piped);
    folder.run_on(&text, "verify - chunks.json").done();
}

#[test]
fn what_a_pipe_brings_before_a_broken_byte_is_cut() {
    let folder = Folder::new();
    let mut bytes = "Cats sleep.\n\n".repeat(50).into_bytes();
    let valid = bytes.len();
    bytes.extend(b"\xFF and more");
    let message = format!("-: not valid UTF-8 at byte {valid} (line 101)");
    let ran = folder.run_on(&bytes, "chunk - --model static --format jsonl -a 2");
    assert_eq!(records(&ran.out).len(), 23, "all but the chunks that more text could have changed");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains(&message), "{}", ran.err);

    // A file is either whole or not there.
    folder.run_on(&bytes, "chunk - --model static -o chunks.jsonl").fails(1, &[&message]);
    assert!(folder.files().is_empty(), "{:?}", folder.files());
    let ran = folder.run_on(&bytes, "chunk - --model static --format jsonl --lossy").done();
    assert!(records(&ran).iter().all(|record| record.lossy));
}
