//! The peers' side of the comparison: a Python script that prints a JSON object a line.
//!
//! It is called as `peers.py encoder`, `peers.py windows DIR --golden DIR -a N` and `peers.py loop FILE... -a N`. Rows
//! have `peer` and `tokens_per_s` with `batch` and `length`, or with `mode`; or `file` and `kB_per_s`. Ours are measured
//! before and after it, and their mean counts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use horchunk::SentenceTransformer;
use serde::Deserialize;

use super::{MODES, SHAPES, chunk, encode, load};

/// Where the peers are.
#[derive(Debug)]
pub(super) struct Peers {
    pub(super) script: Option<PathBuf>,
    pub(super) python: PathBuf,
    pub(super) golden: Option<PathBuf>,
}

impl Default for Peers {
    fn default() -> Self {
        Self { script: None, python: "python3".into(), golden: None }
    }
}

/// A line of the script.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    peer: String,
    mode: String,
    batch: usize,
    length: usize,
    tokens: usize,
    tokens_per_s: f64,
    file: String,
    #[serde(rename = "kB_per_s")]
    kilobytes_per_second: f64,
}

impl Peers {
    pub(super) fn compare(&self, files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
        let models = MODES.map(load).into_iter().collect::<Result<Vec<_>, _>>()?;
        self.encoder(&models)?;
        for max_sentences in [3, 6] {
            self.windows(&models, files, max_sentences)?;
            self.plain_loop(&models, files, max_sentences)?;
        }
        Ok(())
    }

    fn run(&self, what: &str, paths: &[PathBuf], words: &[&str]) -> Result<Vec<Row>, Box<dyn Error>> {
        let script = self.script.as_ref().ok_or("no script")?;
        let mut command = Command::new(&self.python);
        let output = command.arg(script).arg(what).args(paths).args(words).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("{} {what}: {}", script.display(), output.status).into());
        }
        let rows = String::from_utf8(output.stdout)?;
        Ok(rows.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// The encoder by shape, against the fastest peer of the same precision.
    fn encoder(&self, models: &[SentenceTransformer]) -> Result<(), Box<dyn Error>> {
        let ours = |model| SHAPES.iter().map(|&(b, l)| encode(model, b, l)).collect::<Result<Vec<_>, _>>();
        let before = [ours(&models[0])?, ours(&models[2])?];
        let rows = self.run("encoder", &[], &[])?;
        let after = [ours(&models[0])?, ours(&models[2])?];
        println!(
            "| tokens/s | f32 | PyTorch | onnxruntime | ratio | int8 | onnxruntime int8 | ratio |\n|---|---|---|---|---|---|---|---|"
        );
        for (at, (batch, length)) in SHAPES.into_iter().enumerate() {
            let best = |peer: &str| {
                let of_shape = rows.iter().filter(|row| (row.batch, row.length) == (batch, length));
                of_shape.filter(|row| row.peer.starts_with(peer)).map(|row| row.tokens_per_s).fold(0.0, f64::max)
            };
            let (torch, onnx, onnx_int8) = (best("pytorch"), best("onnxruntime f32"), best("onnxruntime int8"));
            let [f32, int8] = [0, 1].map(|precision| f64::midpoint(before[precision][at], after[precision][at]));
            println!(
                "| {batch} x {length} | {f32:.0} | {torch:.0} | {onnx:.0} | {:.2} | {int8:.0} | {onnx_int8:.0} | {:.2} |",
                f32 / onnx.max(torch),
                int8 / onnx_int8
            );
        }
        Ok(())
    }

    /// The texts that the window embeds, against a peer that knows them all in advance.
    fn windows(
        &self,
        models: &[SentenceTransformer],
        files: &[PathBuf],
        max_sentences: usize,
    ) -> Result<(), Box<dyn Error>> {
        let (Some(golden), Some(folder)) = (&self.golden, files.first().and_then(|file| file.parent())) else {
            return Ok(());
        };
        let ours = || {
            [&models[0], &models[2]]
                .iter()
                .map(|model| Ok(total(model, files, max_sentences)?.1))
                .collect::<Result<Vec<f64>, Box<dyn Error>>>()
        };
        let before = ours()?;
        let (golden, alpha) = (golden.display().to_string(), max_sentences.to_string());
        let rows = self.run("windows", &[folder.to_owned()], &["--golden", &golden, "-a", &alpha])?;
        let seconds: Vec<f64> =
            before.iter().zip(ours()?).map(|(before, after)| f64::midpoint(*before, after)).collect();
        println!("\nwindows of at most {max_sentences} sentences, {} tokens", rows.first().map_or(0, |row| row.tokens));
        for row in &rows {
            let seconds = seconds[usize::from(row.peer.contains("int8"))];
            let ours = row.tokens as f64 / seconds;
            println!(
                "{}, {}: {:.0} tokens/s; ours {ours:.0}, {:.2} x",
                row.peer,
                row.mode,
                row.tokens_per_s,
                ours / row.tokens_per_s
            );
        }
        Ok(())
    }

    /// Whole files, against the plain loop.
    fn plain_loop(
        &self,
        models: &[SentenceTransformer],
        files: &[PathBuf],
        max_sentences: usize,
    ) -> Result<(), Box<dyn Error>> {
        let ours = || models.iter().map(|model| total(model, files, max_sentences)).collect::<Result<Vec<_>, _>>();
        let before = ours()?;
        let rows = self.run("loop", files, &["-a", &max_sentences.to_string()])?;
        let after = ours()?;
        let bytes: BTreeMap<String, u64> = files
            .iter()
            .map(|file| {
                Ok((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), fs::metadata(file)?.len()))
            })
            .collect::<std::io::Result<_>>()?;
        let kilobytes = bytes.values().sum::<u64>() as f64 / 1000.0;
        let theirs: f64 = rows.iter().map(|row| bytes[&row.file] as f64 / 1000.0 / row.kilobytes_per_second).sum();
        println!(
            "\nat most {max_sentences} sentences, {kilobytes:.0} kB: the plain loop {:.2} kB/s",
            kilobytes / theirs
        );
        for (mode, (before, after)) in MODES.iter().zip(before.iter().zip(&after)) {
            let seconds = f64::midpoint(before.1, after.1);
            println!("{mode}: {:.2} kB/s, {:.1} x", kilobytes / seconds, theirs / seconds);
        }
        Ok(())
    }
}

/// Texts embedded and seconds for all files.
fn total(model: &SentenceTransformer, files: &[PathBuf], max_sentences: usize) -> Result<(usize, f64), Box<dyn Error>> {
    let mut total = (0, 0.0);
    for file in files {
        let chunked = chunk(model, &fs::read_to_string(file)?, max_sentences)?;
        total = (total.0 + chunked.embedded, total.1 + chunked.seconds);
    }
    Ok(total)
}
