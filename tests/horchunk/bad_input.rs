//! The program on input that is not well: one clear message each, the right exit code, and the rest goes on.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Folder, Ran, records, repository};

#[test]
fn a_missing_file_is_named() {
    for command in ["chunk", "sentences"] {
        Folder::new()
            .run(&format!("{command} nowhere.txt"))
            .fails(1, &["nowhere.txt cannot be opened", "No such file"]);
    }
}

#[test]
fn a_folder_without_texts_says_what_was_looked_for() {
    let folder = Folder::with([("d/code.rs", "fn main() {}")]);
    folder.run("chunk d").fails(1, &["d: no file matches", "*.txt", "*.md", "--glob"]);
    folder.run("chunk d --glob *.tex").fails(1, &["d: no file matches *.tex", "--glob"]);
    folder.run("chunk d --glob [").fails(2, &["--glob \"[\"", "unclosed"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    folder.run("chunk a.txt/b.txt").fails(1, &["a.txt/b.txt cannot be opened"]);
    // Rights do not bind everybody, but nobody reads the memory of a process from its start.
    if Path::new("/proc/self/mem").exists() {
        folder.run("chunk /proc/self/mem").fails(1, &["/proc/self/mem cannot be read"]);
    }
}

#[test]
fn invalid_utf_8_is_named_with_its_byte_and_read_on_request() {
    let folder = Folder::new();
    folder.write("a.txt", b"Low tide.\nHigh t\xEFde.");
    for command in ["chunk", "sentences"] {
        folder.run(&format!("{command} a.txt")).fails(1, &["a.txt: not valid UTF-8 at byte 16", "line 2", "--lossy"]);
    }
    let [record] = &folder.records("chunk a.txt --lossy -t -1")[..] else { panic!("one chunk") };
    assert_eq!(record.text, "Low tide.\nHigh t\u{fffd}de.");
    assert_eq!((record.end, record.lossy), (record.text.len(), true), "spans index the decoded text");
    // A text cut off in the middle of a character.
    folder.write("cut.txt", &"Low tide \u{2014}".as_bytes()[..11]);
    folder.run("chunk cut.txt").fails(1, &["cut.txt: not valid UTF-8 at byte 9"]);
}

#[test]
fn utf_16_is_called_by_its_name_and_read_on_request() {
    let text = "\u{feff}Low tide \u{1f30a}.";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (name, bytes) in [("UTF-16LE", little), ("UTF-16BE", big)] {
        let folder = Folder::new();
        folder.write("a.txt", bytes);
        folder.run("chunk a.txt").fails(1, &["a.txt", name, "not UTF-8", "iconv -f", "--lossy"]);
        let [record] = &folder.records("chunk a.txt --lossy")[..] else { panic!("one chunk") };
        assert_eq!((&*record.text, record.lossy), ("Low tide \u{1f30a}.", true));
    }
}

#[test]
fn utf_32_is_called_by_its_name() {
    let folder = Folder::new();
    folder.write("a.txt", "\u{feff}Low tide.".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>());
    for more in ["", "--lossy"] {
        folder.run(&format!("chunk a.txt {more}")).fails(1, &["a.txt", "UTF-32LE", "iconv -f UTF-32LE"]);
    }
}

#[test]
fn a_text_of_nothing_has_no_chunks_and_is_no_error() {
    let folder = Folder::with([("empty.txt", ""), ("space.txt", " \n\t\u{2003}\r\n")]);
    assert_eq!(folder.out("chunk empty.txt space.txt"), "");
    assert_eq!(folder.out("chunk empty.txt space.txt --format jsonl --max-tokens 5"), "");
    assert_eq!(folder.out("chunk empty.txt space.txt --format json"), "[\n]\n");
    assert_eq!(folder.out("sentences empty.txt space.txt"), "");
    assert_eq!(folder.run_on("", "chunk").done(), "");
    let kept = folder.records("chunk empty.txt space.txt --keep-whitespace");
    assert_eq!(
        (kept.len(), &*kept[0].text, kept[0].sentences),
        (1, " \n\t\u{2003}\r\n", 0),
        "kept where it is to be kept"
    );
}

#[test]
fn nul_bytes_are_text_like_any_other() {
    let text = "Low\0 tide.\0 High\0\0tide. \0";
    let folder = Folder::with([("a.txt", text)]);
    for more in ["", "--max-tokens 4", "--sentences rule", "--keep-whitespace --max-tokens 3"] {
        folder.out(&format!("chunk a.txt {more} --format jsonl -o a.jsonl"));
        folder.out("verify a.txt a.jsonl");
    }
    assert!(folder.out("chunk a.txt -t -1").contains(text));
}

#[test]
fn formats_that_are_no_text_are_named() {
    let folder = Folder::new();
    for (bytes, format) in [
        (&b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj"[..], "PDF"),
        (b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0word/document.xml", "DOCX"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0\0\0", "DOC"),
        (b"{\\rtf1\\ansi Low tide.}", "RTF"),
        (b"\x1F\x8B\x08\0\0\0\0\0", "gzip"),
        (b"\x89PNG\r\n\x1A\n", "PNG"),
    ] {
        folder.write("a.txt", bytes);
        for command in ["chunk", "sentences", "chunk --lossy"] {
            folder.run(&format!("{command} a.txt")).fails(1, &["a.txt", format, "not text", "extract its text"]);
        }
    }
    folder.write("a.txt", "BZh and GIF8 begin no picture here.");
    assert_eq!(folder.records("chunk a.txt").len(), 1);
}

#[test]
fn one_bad_file_among_many_does_not_stop_the_others() {
    let folder = Folder::with([("d/a.txt", "Low tide."), ("d/z.txt", "High tide.")]);
    folder.write("d/b.txt", b"\xC3");
    folder.write("d/c.txt", b"%PDF-1.7");
    for format in ["jsonl", "json", "html", "text"] {
        let ran = folder.run(&format!("chunk d missing.txt --format {format}"));
        assert_eq!(ran.code, Some(1));
        let messages: Vec<&str> = ran.err.lines().collect();
        assert_eq!(messages.len(), 3, "{}", ran.err);
        for (message, name) in messages.iter().zip(["d/b.txt", "d/c.txt", "missing.txt"]) {
            assert!(message.starts_with(&format!("horchunk: {name}")), "{message}");
        }
        assert!(ran.out.contains("Low tide.") && ran.out.contains("High tide."), "{format}: {}", ran.out);
        if format == "json" {
            assert_eq!(serde_json::from_str::<Vec<Value>>(&ran.out).unwrap().len(), 2);
        }
    }
    // A document can also fail after it was read.
    folder.write("d/b.txt", "\u{1f991}");
    for line in ["chunk d --max-tokens 2 --format jsonl -o out/", "sentences d --sentences token:2 -o out/"] {
        let ran = folder.run(line);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.lines().next().unwrap().starts_with("horchunk: b.txt"), "{}", ran.err);
    }
    let files = folder.files();
    assert!(
        ["out/a.txt.jsonl", "out/z.txt.jsonl", "out/a.txt.txt", "out/z.txt.txt"]
            .iter()
            .all(|name| files.contains(&(*name).to_owned()))
    );
    assert!(!files.iter().any(|name| name.starts_with("out/b.txt")), "{files:?}");
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    for (words, telling) in [
        ("-t NaN", "the threshold is NaN: a cosine lies between -1 and 1"),
        ("-t 1.01", "the threshold is 1.01"),
        ("-t -1.5", "the threshold is -1.5"),
        ("-t inf", "the threshold is inf"),
        ("-t warm", "--threshold <T>"),
        ("-a 0", "the largest number of sentences is 0"),
        ("-a -1", "--max-sentences <N>"),
        ("-a 1.5", "--max-sentences <N>"),
        ("-a 99999999999999999999", "too large"),
        ("--max-tokens 0", "a size of 0 tokens"),
        ("--max-tokens -4", "--max-tokens <N>"),
        ("--min-tokens -4", "--min-tokens <N>"),
        ("--min-tokens 9 --max-tokens 8", "at least 9 tokens cannot keep a cap of 8"),
        ("--overlap-sentences 6", "an overlap of 6 sentences needs chunks of more than 6"),
        ("--overlap-sentences 2 -a 2", "an overlap of 2 sentences needs chunks of more than 2"),
        ("--overlap-sentences -1", "--overlap-sentences <N>"),
        ("--overlap-sentences 1 --keep-whitespace", "either overlap or kept white space"),
        ("--tokens none --max-tokens 5", "--tokens none: a token cap or minimum needs a token counter"),
        ("--tokens none --min-tokens 5", "--tokens none: a token cap or minimum needs a token counter"),
        ("--tokens none --sentences token:5", "needs a counter"),
        ("--sentences token:0", "at least 1"),
        ("--sentences words", "unicode, rule, paragraph, token"),
        ("--borders page", "none, paragraph or blank-line"),
        ("--fragile NaN", "--fragile NaN: take a distance from 0 to 2"),
        ("--fragile -0.1", "--fragile -0.1"),
        ("--threads 0", "--threads <N>"),
        ("--threads -1", "--threads"),
    ] {
        folder.run(&format!("chunk a.txt {words}")).fails(2, &[telling]);
    }
}

#[test]
fn the_ends_of_every_range_are_allowed() {
    let folder = Folder::with([("a.txt", "Low tide. High tide.")]);
    let huge = usize::MAX;
    for words in [
        "-t -1".to_owned(),
        "-t 1".to_owned(),
        "-a 1".to_owned(),
        format!("-t -1 -a {huge}"),
        format!("--max-tokens {huge}"),
        format!("--min-tokens {huge}"),
        format!("--min-tokens {huge} --max-tokens {huge}"),
        format!("-a {huge} --overlap-sentences {}", huge - 1),
        format!("--sentences token:{huge}"),
    ] {
        folder.out(&format!("chunk a.txt {words} --format jsonl -o a.jsonl"));
        folder.out("verify a.txt a.jsonl --overlap");
    }
}

#[test]
fn a_cap_smaller_than_one_character_is_refused_with_the_place() {
    let folder = Folder::with([("a.txt", "Low tide. \u{1f991}")]);
    folder
        .run("chunk a.txt --max-tokens 2")
        .fails(1, &["a.txt", "the character at byte 10 has 3 tokens", "2 allowed", "allow 3"]);
    folder.run("chunk a.txt --sentences token:2").fails(1, &["a.txt", "the character at byte 10 has 3 tokens"]);
    assert_eq!(folder.records("chunk a.txt --max-tokens 3").last().unwrap().text, "\u{1f991}");
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    folder.run("chunk a.txt --device abacus").fails(2, &["abacus", "auto, cpu, cuda, cuda:N or metal"]);
    if cfg!(not(feature = "cuda")) {
        folder
            .run("chunk a.txt --device cuda:1")
            .fails(2, &["--device cuda:1", "not part of this build", "feature `cuda`", "cpu"]);
    }
    if cfg!(not(feature = "metal")) {
        folder
            .run("chunk a.txt --device metal")
            .fails(2, &["--device metal", "not part of this build", "feature `metal`", "cpu"]);
    }
    folder.out("chunk a.txt --device auto");
    folder.run("chunk a.txt --precision f64").fails(2, &["f64", "f32, int8 or checked"]);
    folder.out("chunk a.txt --precision int8");
    folder.out("chunk a.txt --precision checked");
}

#[test]
fn a_broken_tokenizer_file_is_named() {
    let folder = Folder::with([("a.txt", "Fine."), ("broken.json", "{\"model\": {\"type\": \"Word")]);
    folder.run("chunk a.txt --tokens broken.json").fails(1, &["--tokens broken.json", "could not be loaded", "EOF"]);
    folder
        .run("chunk a.txt --tokens cl200k")
        .fails(1, &["--tokens cl200k", "cl100k_base", "tokenizer.json", "No such file"]);
    folder.run("verify a.txt a.txt --tokens broken.json").complains(1, &["a.txt"]);
    folder.run("chunk a.txt --sentences token --tokens broken.json").fails(1, &["broken.json"]);
}

/// A copy of the small model in the folder `model`.
fn model() -> Folder {
    let folder = Folder::with([("a.txt", "Fine.")]);
    let source = repository("tests/fixtures/models/bert-mean");
    for name in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        folder.write(&format!("model/{name}"), fs::read(source.join(name)).unwrap());
    }
    folder
}

const USE_MODEL: &str = "chunk a.txt --model model";

#[test]
fn a_file_that_a_model_lacks_is_named() {
    for name in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        let folder = model();
        folder.out(USE_MODEL);
        fs::remove_file(folder.path(&format!("model/{name}"))).unwrap();
        folder
            .run(USE_MODEL)
            .fails(1, &["the model model cannot be used", &format!("there is no model/{name}"), "model.safetensors"]);
    }
    model().run("chunk a.txt --model nowhere").fails(1, &["the model nowhere", "nowhere/config.json"]);
    let unnamed = model().command("chunk a.txt").env("HORCHUNK_MODEL", "").output().unwrap();
    Ran::new("chunk a.txt", unnamed).fails(2, &["--model <MODEL>"]);
}

#[test]
fn a_file_of_a_model_that_is_broken_is_named() {
    for name in [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
    ] {
        let folder = model();
        let whole = fs::read(folder.path(&format!("model/{name}"))).unwrap();
        for part in [0, 1, whole.len() / 2, whole.len() - 2] {
            folder.write(&format!("model/{name}"), &whole[..part]);
            folder.run(USE_MODEL).fails(1, &["the model model cannot be used", &format!("model/{name}")]);
        }
    }
}

#[test]
fn a_model_of_another_kind_is_refused_with_what_would_do() {
    let changed = |name: &str, change: fn(&mut Value)| {
        let folder = model();
        let name = format!("model/{name}");
        let mut file: Value = serde_json::from_str(&folder.read(&name)).unwrap();
        change(&mut file);
        folder.write(&name, file.to_string());
        folder.run(USE_MODEL)
    };
    changed("config.json", |config| config["model_type"] = json!("gpt2"))
        .fails(1, &["model/config.json", "model_type", "gpt2", "bert, distilbert, roberta, xlm-roberta"]);
    changed("config.json", |config| config["hidden_size"] = json!(64))
        .fails(1, &["model/model.safetensors", "config.json"]);
    changed("config.json", |config| config["hidden_size"] = json!(-1)).fails(1, &["model/config.json"]);
    changed("config.json", |config| config["num_attention_heads"] = json!(0)).fails(1, &["model/config.json"]);
    changed("modules.json", |modules| modules[1]["type"] = json!("sentence_transformers.models.CNN"))
        .fails(1, &["model/modules.json", "CNN"]);
}

#[test]
fn a_model_that_is_nowhere_says_that_a_folder_would_do() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    folder
        .run("chunk a.txt --model org/name")
        .fails(1, &["org/name", "HF_HUB_OFFLINE", "a folder", "model.safetensors"]);
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    folder
        .run("chunk a.txt -o no/such/out.txt")
        .fails(1, &["no/such/out.txt cannot be written", "there is no folder no/such"]);
    folder.run("chunk a.txt -o a.txt/").fails(1, &["a.txt", "cannot be made"]);
    if Path::new("/dev/full").exists() {
        for line in ["chunk a.txt", "sentences a.txt", "man", "completions zsh", "models", "chunk a.txt --dry-run"] {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let output = folder.command(line).stdout(full).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "horchunk {line}: {message}");
            assert!(message.contains("No space left"), "horchunk {line}: {message}");
        }
    }
}

/// All windows pass the cap, so that nothing is embedded; time and memory are those of reading and counting.
#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_megabytes_without_a_stop_is_cut_in_bounded_memory() {
    use std::io::{BufWriter, Write};
    use std::process::Stdio;
    use std::time::Duration;

    const BYTES: usize = 100_000_000;
    const WORDS: [&str; 8] = ["tide", "harbour", "lamp", "ledger", "ice", "a", "lobster", "wall"];
    let folder = Folder::new();
    let mut file = BufWriter::new(fs::File::create(folder.path("line.txt")).unwrap());
    let (mut written, mut state) = (0, 1_u32);
    while written < BYTES {
        // Numerical Recipes' linear congruential generator: words without a period that a cache could use.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = WORDS[state as usize >> 29];
        write!(file, "{word} ").unwrap();
        written += word.len() + 1;
    }
    file.into_inner().unwrap();

    let mut command = folder.command("chunk line.txt --max-tokens 512 --format jsonl -o out.jsonl");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        let said = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = said.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
    assert!((BYTES..6 * BYTES).contains(&peak), "a peak of {peak} bytes");

    let mut end = 0;
    for record in records(&folder.read("out.jsonl")) {
        assert!(record.tokens.unwrap() <= 512 && record.line_end == 1);
        assert_eq!(record.start, if end == 0 { 0 } else { end + 1 }, "one space apart");
        end = record.end;
    }
    assert_eq!(end, written - 1);
}
