//! Many documents to JSON Lines, as a pipeline does it: one model, one chunker, chunks written as they are made.
//!
//!     cargo run --release --example chunk_a_folder -- examples > chunks.jsonl
//!     cargo run --release -- verify examples chunks.jsonl --glob '*.md' --max-tokens 128
//!
//! `horchunk chunk FOLDER --format jsonl` does the same with more comfort; this shows the parts it is made of.

use std::io::{BufWriter, Write, stdout};
use std::{env, fs};

use horchunk::{Borders, Recorder, SentenceTransformer, WindowChunker};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args().nth(1).unwrap_or_else(|| "examples".to_owned());

    // The cap is exact: a chunk's tokens are counted on its own text, and a sentence that is longer is split at words.
    let model = SentenceTransformer::bundled()?;
    let chunker = WindowChunker::new(model).with_borders(Borders::Paragraph).with_max_tokens(128)?;

    let mut files: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
    files.retain(|file| file.path().extension().is_some_and(|ending| ending == "md"));
    files.sort_by_key(fs::DirEntry::file_name);

    let mut out = BufWriter::new(stdout().lock());
    for file in files {
        let text = fs::read_to_string(file.path())?;
        let name = file.file_name().to_string_lossy().into_owned();

        // The recorder numbers the chunks and gives each an id that stays the same as long as document and text do.
        let mut recorder = Recorder::new(name, Some("cl100k_base"));
        for chunk in chunker.chunks(&text)? {
            serde_json::to_writer(&mut out, &recorder.record(&chunk?))?;
            out.write_all(b"\n")?;
        }
    }
    Ok(out.flush()?)
}
