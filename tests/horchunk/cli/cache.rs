//! `horchunk answer`: what is remembered, and servers that are slow or answer nonsense.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Request, Server, completion};
use crate::support::{Folder, HARBOUR, Ran, repository};

const TEXT: &str = "Low tide is at noon. The ferry leaves at nine. Nobody counts the gulls.";

/// What a server replies to a request.
type Reply = fn(&Request, usize) -> Answer;

/// Fields that say what a run cost.
const COSTS: [&str; 5] = ["requests", "input_tokens", "output_tokens", "cached", "cost"];

fn ask(folder: &Folder, server: &Server, line: &str) -> Ran {
    ask_about(folder, server, "When is low tide?", line)
}

fn ask_about(folder: &Folder, server: &Server, question: &str, line: &str) -> Ran {
    let url = server.url();
    let line = format!("answer --chunker sentences:alpha=1 --reader chat --llm-url {url}/v1 --llm tiny {line}");
    Ran::new(&line, folder.command(&line).args([question, "a.txt"]).output().unwrap())
}

/// Quotes the sentence of the tide and abstains from the others.
fn tide(request: &Request, _: usize) -> Answer {
    completion(if request.body.contains("Low tide is") { "Low tide is at noon." } else { "NO_ANSWER" })
}

/// The result without what it cost this time.
fn result(ran: &Ran) -> Value {
    let mut result: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    for name in COSTS {
        result[name].take();
    }
    result
}

fn costs(ran: &Ran) -> [Value; 5] {
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    COSTS.map(|name| result[name].clone())
}

#[test]
fn what_was_asked_before_costs_nothing_and_changes_nothing() {
    let folder = Folder::with([("a.txt", TEXT)]);
    let server = Server::new(tide);
    let without = ask(&folder, &server, "--json --all --prices 1,1 --no-cache");
    assert_eq!(folder.files(), ["a.txt"], "nothing is remembered where it is not wanted");
    let first = ask(&folder, &server, "--json --all --prices 1,1");
    assert_eq!(server.requests().len(), 6);
    let again = ask(&folder, &server, "--json --all --prices 1,1");
    assert_eq!(server.requests().len(), 6);

    assert_eq!((result(&first), result(&again)), (result(&without), result(&without)));
    assert_eq!(without.out, first.out);
    assert_eq!(costs(&first), [json!(3), json!(33), json!(21), json!(0), json!(0.000_054)]);
    assert_eq!(costs(&again), [json!(0), json!(0), json!(0), json!(3), json!(0.0)]);

    let text = ask(&folder, &server, "");
    assert_eq!(text.out, ask(&folder, &server, "--no-cache").out);
    assert_eq!(
        text.err,
        "3 chunks, 2 of them without an answer\n3 replies from the cache, which cost nothing this time\n"
    );
    assert_eq!(server.requests().len(), 9);

    // Another question, another text, another model: asked anew, for what is new.
    assert_eq!(ask_about(&folder, &server, "When is high tide?", "").code, Some(0));
    assert_eq!(server.requests().len(), 12);
    folder.write("a.txt", format!("{TEXT} The pier is wet."));
    assert_eq!(ask(&folder, &server, "--concurrency 1").code, Some(0));
    assert_eq!(server.requests().len(), 13);
    assert_eq!(ask(&folder, &server, "--llm-api anthropic").code, Some(1), "the server speaks the other API");
    assert!(server.requests().len() > 13);
}

#[test]
fn a_text_that_was_cut_before_is_not_cut_again() {
    let folder = Folder::with([("a.txt", HARBOUR)]);
    let ask = |line: &str| {
        let ran =
            folder.command(&format!("answer --json --all {line}")).args(["Who keeps the lamp?", "a.txt"]).output();
        let ran = Ran::new(line, ran.unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out
    };
    let entries =
        || -> Value { serde_json::from_str::<Value>(&folder.out("cache stats --json")).unwrap()["entries"].take() };
    let without = ask("--no-cache");
    assert_eq!(entries(), 0);
    assert_eq!((ask(""), ask("-q")), (without.clone(), without.clone()));
    assert_eq!(entries(), 1);
    // Whatever decides where to cut names another entry.
    let settings = [
        "-t 0.8",
        "-a 3",
        "--borders paragraph",
        "--sentences rule",
        "--max-tokens 50",
        "--min-tokens 20",
        "--overlap-sentences 1",
        "--keep-whitespace",
        "--tokens o200k_base",
        "--text-prefix x:",
        "--precision int8",
        "--chunker kamradt",
    ];
    for (number, line) in settings.iter().enumerate() {
        ask(line);
        assert_eq!(entries(), number + 2, "{line}");
    }
    // These need no encoder, or could change behind their names.
    folder.write("tokenizer.json", fs::read(repository("tests/fixtures/models/bert-cls/tokenizer.json")).unwrap());
    for line in ["--chunker sentences", "--model static", "--tokens tokenizer.json"] {
        ask(line);
        assert_eq!(entries(), settings.len() + 1, "{line}");
    }
    for file in folder.files().iter().filter(|file| file.starts_with("cache")) {
        folder.write(file, "damaged");
    }
    assert_eq!((ask(""), ask("")), (without.clone(), without));
}

#[test]
fn the_cache_is_shown_and_emptied() {
    let folder = Folder::with([("a.txt", TEXT)]);
    let server = Server::new(tide);
    let stats = |line: &str| -> Value { serde_json::from_str(&folder.out(line)).unwrap() };
    assert_eq!(stats("cache stats --json")["entries"], 0);
    assert_eq!(ask(&folder, &server, "").code, Some(0));
    let full = stats("cache stats --json");
    assert_eq!((&full["entries"], &full["bytes"], &full["limit"]), (&json!(3), &json!(3 * 4096), &json!(1 << 30)));
    assert_eq!(full["folder"], folder.path("cache/horchunk").to_str().unwrap());
    assert!(folder.out("cache stats").ends_with("entries  3\nbytes    12288 of 1073741824\n"));

    let elsewhere = folder.command("cache stats").env("HORCHUNK_CACHE", folder.path("other")).output().unwrap();
    assert!(Ran::new("cache stats", elsewhere).done().contains("other\nentries  0\n"));

    assert_eq!(folder.out("cache clear"), "3 entries removed, 12288 bytes\n");
    assert_eq!(stats("cache stats --json")["entries"], 0);
    assert_eq!((ask(&folder, &server, "").code, server.requests().len()), (Some(0), 6));
}

#[test]
fn a_damaged_cache_or_none_at_all_changes_no_result() {
    let folder = Folder::with([("a.txt", TEXT)]);
    let server = Server::new(tide);
    let good = ask(&folder, &server, "");
    for file in folder.files().iter().filter(|file| file.starts_with("cache")) {
        folder.write(file, &folder.path(file).to_str().unwrap().as_bytes()[..9]);
    }
    assert_eq!((ask(&folder, &server, "").out, server.requests().len()), (good.out.clone(), 6));
    assert_eq!((ask(&folder, &server, "").out, server.requests().len()), (good.out.clone(), 6), "all were replaced");

    // A file where the folder should be.
    folder.write("blocked", "mine");
    let line = format!("answer --chunker sentences:alpha=1 --reader chat --llm-url {}/v1 --llm tiny", server.url());
    let mut command = folder.command(&line);
    command.args(["When is low tide?", "a.txt"]).env("HORCHUNK_CACHE", folder.path("blocked"));
    let ran = Ran::new(&line, command.output().unwrap());
    assert_eq!((ran.code, ran.out), (Some(0), good.out));
    assert_eq!(ran.err.matches("results are not remembered").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("blocked cannot be written"), "{}", ran.err);
    assert_eq!(folder.read("blocked"), "mine");
}

#[test]
fn two_programs_at_once_share_a_cache() {
    let folder = Folder::with([("a.txt", TEXT)]);
    let server = Server::new(tide);
    let good = ask(&folder, &server, "--no-cache").out;
    thread::scope(|scope| {
        let runs: Vec<_> = (0..3).map(|_| scope.spawn(|| ask(&folder, &server, ""))).collect();
        for run in runs {
            let ran = run.join().unwrap();
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), good.as_str()), "{}", ran.err);
        }
    });
    let asked = server.requests().len();
    assert_eq!((ask(&folder, &server, "").out, server.requests().len()), (good, asked));
}

#[test]
fn a_server_that_is_slow_or_answers_nonsense_fails_the_run_and_is_not_remembered() {
    let folder = Folder::with([("a.txt", "Low tide is at noon.")]);
    let slow = Server::new(|request, number| {
        thread::sleep(Duration::from_secs(4));
        tide(request, number)
    });
    let ran = ask(&folder, &slow, "--llm-timeout 1");
    ran.complains(1, &["did not finish its answer within 1s", "allow it more time"]);
    assert_eq!(ran.out, "");

    let nonsense: [(Reply, &str); 4] = [
        (|_, _| ("200 OK", b"<html>Welcome</html>".to_vec()), "for a chat reply: <html>Welcome"),
        (|_, _| ("200 OK", b"{}".to_vec()), "for a chat reply: {}"),
        (|_, _| ("200 OK", vec![0xff, 0xfe, 0]), "for a chat reply"),
        (|_, _| ("404 Not Found", b"no such page".to_vec()), "has no model \"tiny\""),
    ];
    for (answer, said) in nonsense {
        let ran = ask(&folder, &Server::new(answer), "");
        ran.complains(1, &[said]);
        assert_eq!(ran.out, "");
    }
    assert_eq!(folder.files(), ["a.txt"]);
}

#[test]
fn words_that_are_not_in_the_chunk_are_an_answer_without_a_place() {
    let folder = Folder::with([("a.txt", "Low tide is at noon.")]);
    let ran = ask(&folder, &Server::new(|_, _| completion("At twelve o'clock.")), "--json");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let answer = &result["answer"];
    assert_eq!(
        (&answer["answer"], &answer["start"], &answer["line"]),
        (&json!("At twelve o'clock."), &Value::Null, &Value::Null)
    );
    let empty = ask(&folder, &Server::new(|_, _| completion("")), "--llm-timeout 9");
    assert_eq!((empty.code, empty.out.as_str()), (Some(0), "no answer found\n"), "{}", empty.err);
}
