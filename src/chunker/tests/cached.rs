//! Remembered chunks are those that were cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::stub::Bag;
use super::window::Characters;
use crate::cache::Cache;
use crate::chunker::{CachedChunker, Chunk, ChunkError, Chunker, WindowChunker};

/// Counts how often it is asked.
struct Counted<C>(C, Arc<AtomicUsize>);

impl<C: Chunker> Chunker for Counted<C> {
    fn chunk<'t>(&self, text: &'t str) -> Result<Vec<Chunk<'t>>, ChunkError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.chunk(text)
    }
}

fn window() -> WindowChunker<Bag> {
    let chunker = WindowChunker::new(Bag::of_tokens(4)).with_counter(Characters).with_embeddings();
    chunker.with_threshold(0.9).unwrap().with_overlap_sentences(1).unwrap().with_max_tokens(30).unwrap()
}

#[test]
fn what_was_cut_before_comes_back_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let cached = |identity: &str| {
        let cache = Arc::new(Cache::new(folder.path()));
        CachedChunker::new(Counted(window(), Arc::clone(&asked)), cache, [identity])
    };
    let texts = [
        "Né café.  Two dogs ran far away.\r\n\r\nSupercalifragilisticexpialidocious words. A a a a a.",
        "",
        "One. Two.",
    ];
    let plain: Vec<Vec<Chunk<'_>>> = texts.iter().map(|text| window().chunk(text).unwrap()).collect();
    assert!(plain[0].iter().any(|chunk| chunk.forced.is_some()) && plain[0].iter().any(|chunk| chunk.truncated));
    let all = |chunker: CachedChunker<_>| -> Vec<Vec<Chunk<'_>>> {
        chunker.chunk_all(&texts).into_iter().map(Result::unwrap).collect()
    };
    assert_eq!(cached("a").chunk(texts[0]).unwrap(), plain[0]);
    assert_eq!((all(cached("a")), asked.swap(0, Ordering::Relaxed)), (plain.clone(), 3));
    assert_eq!((all(cached("a")), asked.swap(0, Ordering::Relaxed)), (plain.clone(), 0));
    assert_eq!((all(cached("b")), asked.swap(0, Ordering::Relaxed)), (plain, 3));
}

#[test]
fn an_entry_that_does_not_fit_the_text_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Arc::new(Cache::new(folder.path()));
    let chunker = CachedChunker::new(window(), Arc::clone(&cache), ["a"]);
    let (text, longer) = ("é. Two.", "Three dogs. Four.");
    let right = window().chunk(text).unwrap();
    chunker.chunk(longer).unwrap();
    let of_longer = cache.get(&chunker.key(longer)).unwrap();
    for kept in [&b""[..], b"[{}]", b"null", &of_longer] {
        cache.put(&chunker.key(text), kept);
        assert_eq!(chunker.chunk(text).unwrap(), right);
    }
}
