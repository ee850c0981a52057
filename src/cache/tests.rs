//! Entries that are damaged, written twice, too many, or not to be written at all.

use std::sync::Barrier;
use std::thread;

use tempfile::TempDir;

use super::*;

fn key(name: &str) -> CacheKey {
    CacheKey::of(["test", name])
}

fn at(folder: &TempDir) -> Cache {
    Cache::new(folder.path().join("cache"))
}

/// Sets an entry's last use to so many seconds ago.
fn used(cache: &Cache, name: &str, seconds_ago: u64) {
    let file = File::options().append(true).open(cache.path(&key(name))).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
}

#[test]
fn keys_differ_by_every_part_their_borders_and_the_version() {
    let lists: [&[&str]; 8] =
        [&[], &[""], &["", ""], &["ab", "c"], &["a", "bc"], &["abc"], &["c", "ab"], &["ab", "c", ""]];
    for (at, one) in lists.iter().enumerate() {
        for (other_at, other) in lists.iter().enumerate() {
            assert_eq!(CacheKey::of(*one) == CacheKey::of(*other), at == other_at, "{one:?} and {other:?}");
        }
    }
    assert_ne!(CacheKey::of_version("0.1.0", ["a"]), CacheKey::of_version("0.1.1", ["a"]));
    assert_eq!(CacheKey::of_version(env!("CARGO_PKG_VERSION"), ["a"]), CacheKey::of(["a"]));
}

#[test]
fn what_was_put_is_found_by_another_cache_and_replaced_as_a_whole() {
    let folder = TempDir::new().unwrap();
    let (one, other) = (at(&folder), at(&folder));
    assert_eq!((one.get(&key("a")), one.stats()), (None, CacheStats::default()));
    for value in [&b"first"[..], b"", b"a longer second one"] {
        one.put(&key("a"), value);
        assert_eq!(other.get(&key("a")).as_deref(), Some(value));
        assert_eq!(other.get(&key("b")), None);
    }
    assert_eq!(other.stats(), CacheStats { entries: 1, bytes: BLOCK });
    assert!(one.failure().is_none());
}

#[test]
fn a_damaged_entry_is_absent_until_it_is_written_again() {
    let folder = TempDir::new().unwrap();
    let cache = at(&folder);
    cache.put(&key("a"), b"value");
    let path = cache.path(&key("a"));
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(cache.get(&key("a")), None, "cut off at {length}");
    }
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 1;
        fs::write(&path, other).unwrap();
        assert_eq!(cache.get(&key("a")), None, "byte {at} is another");
    }
    fs::write(&path, [&whole[..], b"!"].concat()).unwrap();
    assert_eq!(cache.get(&key("a")), None);
    cache.put(&key("a"), b"value");
    assert_eq!((cache.get(&key("a")).as_deref(), fs::read(&path).unwrap()), (Some(&b"value"[..]), whole));
}

#[test]
fn caches_that_write_the_same_key_at_once_never_show_a_mixture() {
    let folder = TempDir::new().unwrap();
    let values: Vec<Vec<u8>> = (0..4).map(|n| vec![n; 50_000]).collect();
    let start = Barrier::new(values.len());
    thread::scope(|scope| {
        for value in &values {
            let (cache, start, values) = (at(&folder), &start, &values);
            scope.spawn(move || {
                start.wait();
                for _ in 0..50 {
                    cache.put(&key("a"), value);
                    let found = cache.get(&key("a"));
                    assert!(found.is_some_and(|found| values.contains(&found)));
                }
                assert!(cache.failure().is_none());
            });
        }
    });
    let files: Vec<_> = files(at(&folder).path(&key("a")).parent().unwrap()).collect();
    assert_eq!(files.len(), 1, "nothing half-written stays behind: {files:?}");
}

#[test]
fn the_limit_is_kept_and_what_was_used_last_stays() {
    let folder = TempDir::new().unwrap();
    let limit = 40 * BLOCK;
    let cache = at(&folder).with_limit(limit);
    for n in 0..30 {
        cache.put(&key(&n.to_string()), b"value");
        used(&cache, &n.to_string(), 1000 - n);
    }
    // The oldest was used again.
    assert!(cache.get(&key("0")).is_some());
    for n in 30..200 {
        cache.put(&key(&n.to_string()), b"value");
        used(&cache, &n.to_string(), 1000 - n);
        assert!(cache.stats().bytes <= limit, "{:?} after {n}", cache.stats());
    }
    assert!(cache.stats().bytes >= limit / 2);
    assert!(cache.get(&key("0")).is_some() && cache.get(&key("199")).is_some());
    assert!(cache.get(&key("1")).is_none());

    cache.put(&key("large"), &vec![7; 41 * 4096]);
    assert!(cache.get(&key("large")).is_none() && cache.failure().is_none());
    assert!(cache.get(&key("0")).is_some(), "what is too large drives nothing out");
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error_and_is_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cache"), "a file").unwrap();
    let cache = at(&folder);
    cache.put(&key("a"), b"value");
    cache.put(&key("b"), b"value");
    assert_eq!((cache.get(&key("a")), cache.stats()), (None, CacheStats::default()));
    let failure = cache.failure().unwrap();
    assert_eq!((failure.path.as_path(), failure.action), (cache.folder(), "written"));
    assert_eq!(fs::read_to_string(cache.folder()).unwrap(), "a file");
}

#[test]
fn clearing_removes_entries_and_what_was_abandoned_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let cache = at(&folder);
    for name in ["a", "b", "c"] {
        cache.put(&key(name), b"value");
    }
    let beside = cache.path(&key("a")).with_file_name(format!("{UNFINISHED}now"));
    let abandoned = cache.path(&key("a")).with_file_name(format!("{UNFINISHED}then"));
    let mine = [cache.folder().join("notes.md"), cache.path(&key("a")).with_file_name("notes.md"), beside];
    for path in mine.iter().chain([&abandoned]) {
        fs::write(path, "mine").unwrap();
    }
    let file = File::options().append(true).open(&abandoned).unwrap();
    file.set_modified(SystemTime::now() - 2 * ABANDONED).unwrap();
    assert_eq!(cache.clear().unwrap(), CacheStats { entries: 3, bytes: 3 * BLOCK });
    assert_eq!((cache.stats(), cache.clear().unwrap()), (CacheStats::default(), CacheStats::default()));
    assert!(mine.iter().all(|path| path.is_file()) && !abandoned.exists());
}
