//! Where data go and in which form: formats, files, folders, pipes, colours.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Folder, HARBOUR, Ran};

fn two_documents() -> Folder {
    Folder::with([("d/a.txt", "Low tide. High tide."), ("d/sub/b.md", "A <b>loaf</b> & a roll.")])
}

#[test]
fn json_is_one_array_of_the_same_records() {
    let folder = two_documents();
    let array: Vec<Value> = serde_json::from_str(&folder.out("chunk d --format json")).unwrap();
    let lines = folder.out("chunk d --format jsonl");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(array, lines);
    assert_eq!(array.len(), 2);
}

#[test]
fn html_is_one_page_that_needs_nothing_else() {
    let folder = two_documents();
    let page = folder.out("chunk d --format html");
    assert!(page.to_lowercase().starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("a.txt") && page.contains("sub/b.md"));
    assert!(page.contains("&lt;b&gt;loaf&lt;/b&gt; &amp; a roll.") && !page.contains("<b>loaf</b>"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "it works without a network");
}

#[test]
fn a_file_holds_what_standard_output_would() {
    let folder = two_documents();
    for format in ["text", "json", "jsonl", "html"] {
        let line = format!("chunk d --format {format}");
        assert_eq!(folder.out(&format!("{line} --output out.{format}")), "", "data go to the file only");
        assert_eq!(folder.read(&format!("out.{format}")), folder.out(&line), "{format}");
    }
    folder.out("sentences d -o sentences.txt");
    assert_eq!(folder.read("sentences.txt"), folder.out("sentences d"));
}

#[test]
fn a_folder_holds_one_file_a_document() {
    let folder = two_documents();
    for (format, line) in [("json", "chunk d --format json"), ("html", "chunk d --format html"), ("txt", "sentences d")]
    {
        folder.out(&format!("{line} --output {format}/"));
        let files = folder.files();
        let new: Vec<&String> = files.iter().filter(|name| name.starts_with(&format!("{format}/"))).collect();
        assert_eq!(new, [&format!("{format}/a.txt.{format}"), &format!("{format}/sub/b.md.{format}")]);
    }
    let array: Vec<Value> = serde_json::from_str(&folder.read("json/sub/b.md.json")).unwrap();
    assert_eq!(array[0]["document"], "sub/b.md");
    folder.run_on("Piped.", "chunk - d/../d/a.txt -o named/").done();
    assert!(folder.files().contains(&"named/stdin.txt".to_owned()));
}

#[test]
fn two_documents_do_not_share_a_file() {
    for command in ["chunk", "sentences"] {
        let folder = Folder::with([("a.txt", "First."), ("d/z.txt", "Third.")]);
        // Without what may lead out of the folder both names are the same.
        folder.run(&format!("{command} a.txt ./a.txt d -o out/")).fails(1, &["two documents", "out/a.txt.txt"]);
        assert!(folder.read("out/a.txt.txt").contains("First."), "{command}");
        assert!(folder.read("out/d/z.txt.txt").contains("Third."), "{command}: the rest is done");
    }
}

#[test]
fn a_file_appears_when_it_is_whole() {
    let folder = Folder::with([("out.jsonl", "the old one\n")]);
    let mut child = folder.command("chunk --input-format jsonl --format jsonl -o out.jsonl");
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for _ in 0..2000 {
        writeln!(input, r#"{{"text":"Another line of the corpus."}}"#).unwrap();
    }
    input.flush().unwrap();
    assert_eq!(folder.read("out.jsonl"), "the old one\n");
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.read("out.jsonl").lines().count(), 2000);
    assert_eq!(folder.files(), ["out.jsonl"], "nothing else is left behind");
}

#[cfg(unix)]
#[test]
fn pipes_and_links_with_a_name_are_written_to_and_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let folder = Folder::with([("a.txt", "Fine."), ("real.jsonl", "the old one\n")]);
    symlink("real.jsonl", folder.path("link.jsonl")).unwrap();
    folder.out("chunk a.txt --format jsonl -o link.jsonl");
    assert_eq!(folder.read("real.jsonl"), folder.out("chunk a.txt --format jsonl"));
    assert!(folder.path("link.jsonl").is_symlink());

    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = folder.command("chunk a.txt --format jsonl -o pipe").spawn().unwrap();
    assert_eq!(folder.read("pipe"), folder.read("real.jsonl"));
    assert!(child.wait().unwrap().success());
    assert!(std::fs::metadata(pipe).unwrap().file_type().is_fifo());
}

#[test]
fn a_run_of_which_nothing_comes_leaves_an_older_file_alone() {
    let folder = Folder::with([("out.jsonl", "the old one\n"), ("good.txt", "Fine.")]);
    for command in ["chunk", "sentences"] {
        folder.run(&format!("{command} missing.txt --format jsonl -o out.jsonl")).fails(1, &["missing.txt"]);
        assert_eq!(folder.read("out.jsonl"), "the old one\n", "{command}");
        assert_eq!(folder.files(), ["good.txt", "out.jsonl"]);
    }
    folder.run("chunk missing.txt good.txt --format jsonl -o out.jsonl").fails(1, &["missing.txt"]);
    assert!(folder.read("out.jsonl").contains("Fine."), "what could be done is there");
}

#[test]
fn a_document_that_fails_on_the_way_leaves_nothing_behind() {
    // White space is counted when its chunk is written, and one of these spaces has more than one token.
    let folder =
        Folder::with([("a.txt", "One\nTwo"), ("bad.txt", "One\n\nTwo\n\u{205f}\nThree"), ("old.jsonl", "old\n")]);
    let failing = "chunk bad.txt --keep-whitespace --max-tokens 1 -a 1 --format jsonl -o old.jsonl";
    folder.run(failing).fails(1, &["bad.txt", "tokens"]);
    assert_eq!(folder.read("old.jsonl"), "old\n");
    for (format, expected) in [("jsonl", 3), ("json", 3)] {
        let line =
            format!("chunk bad.txt a.txt --max-tokens 1 --keep-whitespace -a 1 --format {format} -o new.{format}");
        folder.run(&line).fails(1, &["bad.txt"]);
        let written = folder.read(&format!("new.{format}"));
        assert!(!written.contains("bad.txt"), "{written}");
        assert_eq!(written.matches("\"document\":\"a.txt\"").count(), expected, "{written}");
        if format == "json" {
            serde_json::from_str::<Vec<serde_json::Value>>(&written).unwrap();
        }
    }
}

#[test]
fn a_file_that_is_read_is_never_written() {
    let folder = Folder::with([("in.txt", "The text.")]);
    for line in ["chunk in.txt -o in.txt", "chunk in.txt -o ./in.txt", "sentences in.txt -o in.txt"] {
        folder.run(line).fails(2, &["in.txt", "--output"]);
        assert_eq!(folder.read("in.txt"), "The text.");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_written_again_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with([("in.txt", "The text."), ("out.txt", "old")]);
    std::fs::set_permissions(folder.path("out.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    folder.run("chunk in.txt -o out.txt").done();
    let mode = std::fs::metadata(folder.path("out.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn documents_of_several_folders_have_names_of_their_own_and_can_be_verified() {
    let folder = Folder::with([("p/a.txt", "One. Two."), ("q/a.txt", "One. Two."), ("q/B.TXT", "Three.")]);
    let ran = folder.run("chunk p q --format jsonl -o out.jsonl");
    ran.done();
    let written = folder.read("out.jsonl");
    for name in ["p/a.txt", "q/a.txt", "q/B.TXT"] {
        assert!(written.contains(&format!("\"document\":\"{name}\"")), "{written}");
    }
    folder.run("verify p q out.jsonl").done();
    folder.run("chunk p/a.txt p/a.txt --format jsonl").complains(1, &["p/a.txt", "earlier document"]);
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly() {
    let folder = Folder::with([("big.txt", &HARBOUR.repeat(300))]);
    for line in ["chunk big.txt -a 1", "chunk big.txt -a 1 --format jsonl", "sentences big.txt"] {
        let mut command = folder.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.by_ref().take(10).flatten().count(), 10);
        drop(lines);
        Ran::new(line, child.wait_with_output().unwrap()).done();
    }
}

#[test]
fn a_reader_that_never_was_is_no_error() {
    let folder = Folder::with([("a.txt", "Fine."), ("a.jsonl", "")]);
    for line in [
        "chunk a.txt",
        "chunk a.txt --format html",
        "completions bash",
        "completions fish",
        "man",
        "models",
        "verify a.txt a.jsonl",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(line).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "horchunk {line}");
    }
}

#[test]
fn a_message_nobody_reads_stops_no_work() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = folder.command("chunk missing.txt a.txt -v").stderr(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("Fine."));
}

#[test]
fn quiet_says_nothing_and_verbose_says_what_is_in_force() {
    let folder = Folder::with([("a.txt", "Low tide.")]);
    assert_eq!(folder.run("chunk a.txt --quiet --max-tokens 40").done(), folder.out("chunk a.txt --max-tokens 40"));
    let ran = folder.run("chunk a.txt --verbose --max-tokens 40 -t 0.5");
    assert_eq!(ran.code, Some(0));
    for word in [
        "threshold 0.5",
        "at most 6 sentences",
        "all-MiniLM-L6-v2",
        "cl100k_base",
        "token cap 40",
        "1 document, 1 chunk",
    ] {
        assert!(ran.err.contains(word), "{word:?} in {}", ran.err);
    }
    assert_eq!(ran.out, folder.out("chunk a.txt --max-tokens 40 -t 0.5"), "data on standard output only");
}

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let folder = Folder::with([("a.txt", "Low tide.")]);
    let mut command = folder.command("chunk a.txt");
    let piped = Ran::new("chunk a.txt", command.env_remove("NO_COLOR").output().unwrap()).done();
    assert!(!piped.contains(ESCAPE));
    assert!(folder.out("chunk a.txt --color always").contains(ESCAPE));
    assert!(!folder.out("chunk a.txt --color always --format jsonl").contains(ESCAPE));
}

#[test]
fn a_terminal_gets_colours_unless_no_color_is_set() {
    let folder = Folder::with([("a.txt", "Low tide.")]);
    // `script` of util-linux runs a command on a terminal of its own.
    let on_a_terminal = |no_color: &str, more: &str| {
        let program = format!("'{}' chunk a.txt {more}", env!("CARGO_BIN_EXE_horchunk"));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &program, "/dev/null"]).current_dir(folder.path("."));
        let output = script.env("NO_COLOR", no_color).env("HF_HUB_OFFLINE", "1").stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let Some(colored) = on_a_terminal("", "") else {
        println!("skipped: there is no `script` that could open a terminal");
        return;
    };
    assert!(colored.contains("Low tide.") && colored.contains("\u{1b}[1m"), "{colored:?}");
    let is_bright = |text: Option<String>| text.unwrap().contains("\u{1b}[1m");
    assert!(!is_bright(on_a_terminal("1", "")));
    assert!(!is_bright(on_a_terminal("", "--color never")));
    assert!(is_bright(on_a_terminal("1", "--color always")), "who asks for colours gets them");
}

#[test]
fn the_name_of_the_output_says_the_format_unless_it_is_told() {
    let folder = Folder::with([("a.txt", "One sentence.")]);
    for (name, start) in
        [("c.jsonl", "{\""), ("c.json", "["), ("c.HTML", "<!DOCTYPE"), ("c.txt", "── 1"), ("c", "── 1")]
    {
        folder.out(&format!("chunk a.txt -o {name}"));
        assert!(folder.read(name).starts_with(start), "{name}");
    }
    folder.out("chunk a.txt --format text -o d.jsonl");
    assert!(folder.read("d.jsonl").starts_with("── 1"));
    folder.out("sentences a.txt -o s.jsonl");
    assert!(folder.read("s.jsonl").starts_with("{\""));
}
