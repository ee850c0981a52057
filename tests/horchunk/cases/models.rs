//! What the model sees of a text, and what it must not.

use std::sync::atomic::{AtomicUsize, Ordering};

use horchunk::{
    Chunker, Embedder, Embedding, EmbeddingError, Tiktoken, TokenCounter, TokenEmbedder, TokenizerFile, WindowChunker,
    bundled_files,
};

use super::assert_lawful_everywhere;
use crate::support::{BUNDLED, Folder, HARBOUR, repository};

/// The bundled model, remembering the longest input it was given.
#[derive(Default)]
struct Watched {
    longest: AtomicUsize,
}

impl Embedder for Watched {
    fn dimension(&self) -> usize {
        BUNDLED.dimension()
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        unreachable!("windows are formed of tokens")
    }

    fn as_token_embedder(&self) -> Option<&dyn TokenEmbedder> {
        Some(self)
    }
}

impl TokenEmbedder for Watched {
    fn max_tokens(&self) -> usize {
        TokenEmbedder::max_tokens(&*BUNDLED)
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, EmbeddingError> {
        BUNDLED.tokenize(text)
    }

    fn embed_tokens(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let longest = inputs.iter().map(|ids| ids.len()).max().unwrap_or(0);
        self.longest.fetch_max(longest, Ordering::Relaxed);
        BUNDLED.embed_tokens(inputs)
    }
}

#[test]
fn the_model_never_sees_more_than_its_window() {
    let watched = Watched::default();
    let text =
        format!("{}. A short one. {}. Another. {}", "tide ".repeat(3000), "ebb ".repeat(250), "x".repeat(100_000));
    let chunks = WindowChunker::new(&watched).with_threshold(-1.0).unwrap().with_embeddings().chunk(&text).unwrap();
    assert!(chunks[0].truncated && chunks[0].blind);
    assert_eq!(watched.longest.load(Ordering::Relaxed), 254, "256 with the two special tokens");
}

#[test]
fn an_anchor_that_fills_the_model_is_called_blind() {
    let text = format!("{} ends. The tide is low. Bread is sold.", "The long sentence goes on and ".repeat(60));
    let folder = Folder::with([("a.txt", &text), ("short.txt", "The tide is low. Bread is sold.")]);
    let [record] = &folder.records("chunk a.txt --explain -t 1")[..] else { panic!("one chunk") };
    assert!(record.blind && record.truncated);
    assert_eq!(record.similarities, Some(vec![Some(1.0); 2]), "the window's vector is the sentence's");
    let seen = folder.out("chunk a.txt");
    assert!(
        seen.contains("the model saw only its beginning")
            && seen.contains("its first sentence fills the model's input")
    );
    let [record] = &folder.records("chunk short.txt -t -1")[..] else { panic!("one chunk") };
    assert!(!record.blind && !record.truncated);
}

#[test]
fn truncation_and_padding_of_a_tokenizer_file_are_switched_off() {
    let file = bundled_files().unwrap().iter().find(|file| file.0 == "tokenizer.json").unwrap().1;
    let stored: serde_json::Value = serde_json::from_slice(file).unwrap();
    assert_eq!(
        (&stored["truncation"]["max_length"], &stored["padding"]["strategy"]["Fixed"]),
        (&128.into(), &128.into())
    );
    let counter = TokenizerFile::from_bytes("tokenizer.json", file).unwrap();
    for tokens in [0, 1, 127, 128, 129, 200, 1000] {
        let text = "tide ".repeat(tokens);
        assert_eq!(counter.count(&text).unwrap(), tokens);
        assert_eq!(BUNDLED.count(&text).unwrap(), tokens);
    }
    let path = repository("models/all-minilm-l6-v2/tokenizer.json");
    let folder = Folder::with([("a.txt", &"tide ".repeat(200))]);
    assert_eq!(folder.records(&format!("chunk a.txt --tokens {}", path.display()))[0].tokens, Some(200));
    // The length of inputs is another matter: 256 with the two special tokens.
    let embeddings = BUNDLED.embed(&["tide ".repeat(254).trim(), "tide ".repeat(255).trim()]).unwrap();
    assert_eq!(embeddings.iter().map(|embedding| embedding.truncated).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_special_token_that_is_spelt_out_is_plain_text() {
    let counter = Tiktoken::default();
    for text in ["<|endoftext|>", "<|fim_prefix|>", "<|im_start|>"] {
        assert!(counter.count(text).unwrap() > 3, "{text}");
    }
    for (spelt, apart) in [("[SEP]", "[ sep ]"), ("[MASK]", "[ mask ]"), ("[CLS] tide [PAD]", "[ cls ] tide [ pad ]")] {
        assert_eq!(BUNDLED.tokenize(spelt).unwrap(), BUNDLED.tokenize(apart).unwrap());
        assert_eq!(BUNDLED.embed(&[spelt]).unwrap(), BUNDLED.embed(&[apart]).unwrap(), "{spelt}");
    }
    let text = "Low tide. [SEP] High tide. <|endoftext|> The [MASK] burns.</s> <pad>";
    assert_lawful_everywhere(text);
    let file = repository("models/all-minilm-l6-v2/tokenizer.json");
    let by_file = TokenizerFile::from_path(file).unwrap();
    assert_eq!(by_file.count(text).unwrap(), BUNDLED.count(text).unwrap());
}

#[test]
fn vectors_do_not_depend_on_the_texts_beside_them() {
    let long = "tide ".repeat(250);
    let short: Vec<String> = (0..31).map(|n| format!("lamp {n} burns")).collect();
    let texts: Vec<&str> = short[..15].iter().chain([&long]).chain(&short[15..]).map(String::as_str).collect();
    let together = BUNDLED.embed(&texts).unwrap();
    for (text, embedding) in texts.iter().zip(&together) {
        assert_eq!(&BUNDLED.embed(&[text]).unwrap()[0], embedding, "{text}");
    }
    for tokens in [1, 64, 300, 100_000] {
        assert_eq!(
            BUNDLED.clone().with_batch_tokens(tokens).embed(&texts).unwrap(),
            together,
            "batches of {tokens} tokens"
        );
    }
}

#[test]
fn chunks_do_not_depend_on_the_size_of_batches() {
    let chunks = |tokens| {
        let model = BUNDLED.clone().with_batch_tokens(tokens);
        WindowChunker::new(model).with_embeddings().chunk(HARBOUR).unwrap()
    };
    let plain = chunks(8192);
    assert!([1, 100].into_iter().all(|tokens| chunks(tokens) == plain));
}
