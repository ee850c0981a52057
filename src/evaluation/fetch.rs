//! The public benchmark, fetched once into a folder of its own, every file checked.
//!
//! It is `chunking_evaluation` by Brandon Smith and Anton Troynikov (Chroma, MIT licence): five corpora and 472
//! questions, at one commit of its repository. Without the feature `llm`, which brings HTTP, fetching is a typed error.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Where the benchmark's files are, unless another address is given.
pub const BENCHMARK_URL: &str = "https://raw.githubusercontent.com/brandonstarxel/chunking_evaluation/35440b84e4564663157b825faec5968d4375399d/src/chunking_evaluation/evaluation_framework/general_evaluation_data";

/// The files with their SHA-256 and their size in bytes.
const FILES: [(&str, &str, u64); 6] = [
    ("questions_df.csv", "3ab3901889b8900f43775537bf12d36bd6614255fc59124faca31bede1dda7a3", 236_464),
    ("corpora/chatlogs.md", "543a98f82b2a6a492349fd7f8c9d6c3e78d1a4af81d13c79a7fd513c3f65bda6", 40_013),
    ("corpora/finance.md", "1c48d0156820abc88e46e5c992fa0cd2708b07ae59a3771b2b18234b7208561f", 737_905),
    ("corpora/pubmed.md", "0fd9242ffb253695e5d0f0215cb79a66a2a8f1236591e764c60d370747684ced", 501_965),
    ("corpora/state_of_the_union.md", "6fc21d560d31eb2421e337596feea0f83f1fa9ca02c6c4e47bc26959d7531b37", 48_995),
    ("corpora/wikitexts.md", "74cafcdb771185ecb9f22cc41b73e2e44477e0636ecf9cf1f96fd6ee0f4b86c0", 118_612),
];

/// Why the benchmark could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The server cannot be reached, or has no such file.
    #[error("{url} cannot be fetched; a copy of the benchmark's folder serves as well, with --data")]
    Download {
        /// What was asked for.
        url: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What came is not what should have come.
    #[error("{url} is not the file that it should be: {bytes} bytes with the SHA-256 {found}, not {expected}")]
    Checksum {
        /// What was asked for.
        url: String,
        /// Its size.
        bytes: usize,
        /// Its checksum.
        found: String,
        /// The right one.
        expected: &'static str,
    },
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Fetches the benchmark from `url` into `folder`, files that are there and whole left as they are; `progress` is told
/// the name of each file that is fetched. Returns how many were.
///
/// # Errors
///
/// [`FetchError`]; files that arrived before stay, a broken one never appears under its name.
pub fn fetch_benchmark(url: &str, folder: &Path, mut progress: impl FnMut(&str)) -> Result<usize, FetchError> {
    let mut fetched = 0;
    for (name, sha256, size) in FILES {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|bytes| checksum(&bytes) == sha256) {
            continue;
        }
        progress(name);
        let url = format!("{}/{name}", url.trim_end_matches('/'));
        let bytes = get(&url, size).map_err(|source| FetchError::Download { url: url.clone(), source })?;
        let found = checksum(&bytes);
        if found != sha256 {
            return Err(FetchError::Checksum { url, bytes: bytes.len(), found, expected: sha256 });
        }
        write(&path, &bytes).map_err(|source| FetchError::Write { path: path.clone(), source })?;
        fetched += 1;
    }
    Ok(fetched)
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Under another name first: who is killed here leaves no half file behind.
    let part = path.with_extension("part");
    let mut file = fs::File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(part, path)
}

#[cfg(feature = "llm")]
fn get(url: &str, size: u64) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    use std::time::Duration;
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_global(Some(Duration::from_mins(2)));
    let agent: ureq::Agent = config.build().into();
    let mut response = agent.get(url).call()?;
    // A byte more than it should have is enough to see that it is wrong.
    Ok(response.body_mut().with_config().limit(size + 1).read_to_vec()?)
}

#[cfg(not(feature = "llm"))]
fn get(_: &str, _: u64) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    Err("this build has no HTTP: enable the feature llm".into())
}
