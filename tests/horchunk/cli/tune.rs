//! `horchunk tune` without a screen, and what its profiles do.

use std::fs;

use horchunk::tuning::{Profile, Session, Verdict};
use serde_json::Value;

use crate::server::{Server, completion};
use crate::support::{Folder, HARBOUR, Ran, shared};

fn folder() -> Folder {
    Folder::with([("harbour.txt", HARBOUR)])
}

/// The only session of the folder.
fn session(folder: &Folder) -> (String, Session) {
    let name = folder.files().into_iter().find(|name| name.starts_with("state/horchunk/")).expect("a session");
    (name.clone(), Session::read(&folder.path(&name)).unwrap())
}

fn verdicts(session: &Session) -> Vec<Option<Verdict>> {
    session.answers.iter().map(|answer| answer.verdict).collect()
}

/// What `horchunk tune --plain` does with answers on its standard input.
fn plain(folder: &Folder, answers: &str, flags: &str) -> Ran {
    folder.run_on(answers, &format!("tune --plain {flags}"))
}

#[test]
fn a_person_is_asked_line_by_line_and_the_profile_chunks() {
    let folder = folder();
    let ran = plain(&folder, &"y\n".repeat(40), "harbour.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("first: ") && ran.err.contains("Does it hold together?"), "{}", ran.err);
    assert!(ran.out.starts_with("threshold ") && ran.out.contains("verdicts by person"), "{}", ran.out);
    let profile = Profile::read(&folder.path("tuning/harbour.toml")).unwrap();
    let found = profile.found.clone().unwrap();
    assert_eq!((found.judge.as_str(), found.depth, profile.max_sentences), ("person", 3, 6));
    let by_profile = folder.out("chunk --profile harbour --format jsonl harbour.txt");
    let by_flag = folder.out(&format!("chunk -t {} --format jsonl harbour.txt", profile.threshold));
    assert_eq!(by_profile, by_flag);
    let beaten = folder.out("chunk --profile tuning/harbour.toml -t 0.9 -a 2 --format jsonl harbour.txt");
    assert_eq!(beaten, folder.out("chunk -t 0.9 -a 2 --format jsonl harbour.txt"));
}

#[test]
fn the_end_of_the_answers_keeps_them_and_a_resumed_session_goes_on() {
    let folder = folder();
    let whole = plain(&folder, "y\nn\ny\ny\nn\ny\ny\ny\nn\nn\ny\ny\ny\n", "harbour.txt --session whole.json");
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let begun = plain(&folder, "y\nn\n", "harbour.txt");
    assert_eq!(begun.code, Some(1));
    assert!(begun.err.contains("2 answers kept") && begun.err.contains("--resume"), "{}", begun.err);
    assert_eq!(verdicts(&session(&folder).1), [Some(Verdict::Holds), Some(Verdict::Drifts)]);
    let resumed = plain(&folder, "y\ny\nn\ny\ny\ny\nn\nn\ny\ny\ny\n", "--resume");
    assert_eq!((resumed.code, &resumed.out), (Some(0), &whole.out), "{}", resumed.err);
    assert_eq!(session(&folder).1.answers, Session::read(&folder.path("whole.json")).unwrap().answers);
}

#[test]
fn answers_can_be_taken_back_skipped_and_misspelt() {
    let folder = folder();
    let ran = plain(&folder, "u\ny\nn\nu\nu\n?\nmaybe\ns\nq\n", "harbour.txt");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("nothing to take back") && ran.err.contains("\"maybe\" is no answer"), "{}", ran.err);
    assert!(ran.err.contains("the threshold must be higher"), "help is shown");
    assert_eq!(verdicts(&session(&folder).1), [None]);
}

#[test]
fn a_session_without_answers_leaves_nothing_behind() {
    let folder = folder();
    let ran = plain(&folder, "", "harbour.txt");
    assert_eq!(ran.code, Some(1));
    assert_eq!(folder.files(), ["harbour.txt"]);
}

#[test]
fn where_nothing_holds_a_smaller_depth_is_advised() {
    let folder = folder();
    let ran = plain(&folder, &"n\n".repeat(40), "harbour.txt");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("smaller --depth"), "{}", ran.err);
    assert!(!folder.path("tuning").exists());
}

#[test]
fn a_script_judges_and_may_end_too_early() {
    let folder = folder();
    folder.write("few.txt", "holds\ndrifts # far off\n\n");
    folder.run("-q tune --judge script:few.txt harbour.txt").fails(1, &["2 answers kept", "no more verdicts"]);
    let (name, half) = session(&folder);
    assert_eq!((half.answers.len(), half.judges().as_str()), (2, "script"));
    folder.write("all.txt", format!("holds\ndrifts\n{}", "holds\n".repeat(40)));
    let ran = folder.run(&format!("-q tune --judge script:all.txt --resume --session {name} --profile mine"));
    let out = ran.done();
    assert_eq!(out.trim(), Profile::read(&folder.path("tuning/mine.toml")).unwrap().threshold.to_string());
    folder.write("wrong.txt", "holds\nperhaps\n");
    folder.run("tune --judge script:wrong.txt harbour.txt").fails(1, &["wrong.txt", "line 2", "perhaps"]);
    folder.run("tune --judge script:none.txt harbour.txt").fails(1, &["none.txt"]);
}

#[test]
fn a_language_model_judges_by_vote_and_its_cost_is_shown() {
    let folder = folder();
    // Two of three votes say that it holds together.
    let server = Server::new(|_, number| {
        let word = if number % 3 == 1 { r#"{"holds": false}"# } else { r#"{"holds": true}"# };
        ("200 OK", completion(word).1)
    });
    let line = format!("tune --judge llm --llm judge-1 --llm-url {}/v1 --confirm 0 harbour.txt", server.url());
    let ran = folder.run(&line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("holds together (2 of 3 votes") && ran.err.contains("calls of llm:judge-1"),
        "{}",
        ran.err
    );
    assert_eq!(Profile::read(&folder.path("tuning/harbour.toml")).unwrap().found.unwrap().judge, "llm:judge-1");
    assert_eq!(server.requests().len() % 3, 0);
}

#[test]
fn a_language_model_that_fails_midway_loses_no_answer() {
    let folder = folder();
    let server = Server::new(|_, number| match number {
        0..6 => ("200 OK", completion(r#"{"holds": true}"#).1),
        _ => ("401 Unauthorized", b"{\"error\": {\"message\": \"no more credit\"}}".to_vec()),
    });
    let ran = folder.run(&format!("-q tune --judge llm --llm judge-1 --llm-url {}/v1 harbour.txt", server.url()));
    ran.fails(1, &["2 answers kept", "--resume", "no more credit"]);
    assert_eq!(verdicts(&session(&folder).1), [Some(Verdict::Holds); 2]);
    folder.run("tune --judge llm harbour.txt").fails(2, &["--llm"]);
}

#[test]
fn a_size_is_reached_without_any_judge() {
    let folder = folder();
    let ran = folder.run("tune --target-tokens 60 harbour.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let profile = Profile::read(&folder.path("tuning/harbour.toml")).unwrap();
    let found = profile.found.unwrap();
    assert_eq!(found.judge, "target:60");
    let median = |threshold: f32| {
        let mut sizes: Vec<usize> = folder
            .records(&format!("chunk -t {threshold} harbour.txt"))
            .iter()
            .filter_map(|record| record.tokens)
            .collect();
        horchunk::tuning::median(&mut sizes).unwrap()
    };
    assert!(median(found.threshold) <= 60.0);
    assert!(median(found.lowest_holding.unwrap()) <= 60.0 && median(found.highest_drifting.unwrap()) > 60.0);
}

#[test]
fn several_texts_have_a_mean_and_a_short_one_is_left_out() {
    let folder = folder();
    folder.write("other.txt", "Cats sleep. They purr. Taxes are due. Pay them in May. Rain falls. Roofs leak.");
    folder.write("short.txt", "One. Two.");
    let ran = plain(&folder, &"y\n".repeat(80), "harbour.txt other.txt short.txt");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("short.txt is left out: it has fewer than 3 sentences"), "{}", ran.err);
    assert!(ran.out.contains("mean of ") && ran.out.contains("standard deviation"), "{}", ran.out);
    let pooled = plain(&folder, &"y\n".repeat(80), "harbour.txt other.txt --pooled --profile pooled");
    assert!(pooled.code == Some(0) && !pooled.out.contains("mean of "), "{}", pooled.out);
}

#[test]
fn judgements_are_a_gold_set_and_score_any_threshold() {
    let folder = folder();
    plain(&folder, "y\nn\ny\ns\nn\ny\ny\ny\nn\nn\ny\ny\ny\n", "harbour.txt --session s.json");
    let session = Session::read(&folder.path("s.json")).unwrap();
    let lines = folder.out("tune export s.json");
    let labels: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(labels.len(), session.judgements().len());
    for label in &labels {
        let at = |name: &str| usize::try_from(label[name].as_u64().unwrap()).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&HARBOUR[at("start")..at("end")]), words(label["text"].as_str().unwrap()));
        assert!(label["text"].as_str().unwrap().starts_with(label["anchor"].as_str().unwrap()));
    }
    let table = folder.out("tune export s.json --format csv");
    assert_eq!(csv::Reader::from_reader(table.as_bytes()).records().count(), labels.len());
    folder.out("tune export s.json -o labels.csv");
    assert_eq!(folder.read("labels.csv"), table);
    let all = session.judgements();
    for threshold in [0.5_f32, 0.7, 0.9] {
        let fitting = all.iter().filter(|judgement| judgement.fits(threshold)).count();
        let scored = folder.out(&format!("tune score -t {threshold} s.json"));
        assert!(scored.contains(&format!("{} verdicts by person, {fitting} fit", all.len())), "{scored}");
    }
    folder.run("tune score -t 2 s.json").fails(2, &["between -1 and 1"]);
    folder.run("tune score s.json").fails(2, &["--threshold"]);
    folder.run("tune score -t 0.5 none.json").complains(1, &[]);
    assert!(folder.out("tune score --profile prose s.json").starts_with("threshold "));
}

#[test]
fn a_changed_text_is_noticed() {
    let folder = folder();
    plain(&folder, "y\nn\ny\n", "harbour.txt");
    folder.write("harbour.txt", format!("A new first sentence.\n\n{HARBOUR}"));
    let ran = plain(&folder, "", "--resume");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("changed since the session began: harbour.txt; 3 of 3 judgements"), "{}", ran.err);
    assert!(ran.err.contains("question 4"), "{}", ran.err);
}

#[test]
fn a_session_goes_on_with_its_own_settings_only() {
    let folder = folder();
    plain(&folder, "y\n", "harbour.txt --depth 2 --session s.json");
    let resume = |flags: &str| folder.run(&format!("tune --plain --resume --session s.json {flags}"));
    resume("--depth 3").fails(2, &["--depth 3", "begun with 2"]);
    resume("--sentences rule").fails(2, &["--sentences rule"]);
    assert!(resume("--depth 2").err.contains("question 2"));
    folder.write("other.txt", HARBOUR);
    resume("harbour.txt other.txt").fails(1, &["the session is about", "harbour.txt"]);
    folder.run("tune --plain --session s.json harbour.txt").fails(1, &["s.json", "--resume"]);
    folder.run("tune --plain --resume other.txt").fails(1, &["no session about other.txt"]);
    folder.write("half.json", &folder.read("s.json")[..200]);
    folder.run("tune --plain --resume --session half.json").fails(1, &["half.json", "not a whole one"]);
    folder.write("new.json", folder.read("s.json").replace("\"version\": 1", "\"version\": 9"));
    folder.run("tune --plain --resume --session new.json").fails(1, &["layout 9"]);
    let text = folder.read("s.json").replace("\"model_sha256\": \"", "\"model_sha256\": \"ff");
    folder.write("model.json", text);
    folder.run("tune --plain --resume --session model.json").fails(1, &["--model"]);
}

#[test]
fn words_that_cannot_be_meant_are_refused() {
    let folder = folder();
    folder.write("two.txt", "One sentence. Another one.");
    folder.write("empty.txt", "");
    folder.write("file", "");
    folder.run("tune harbour.txt").fails(2, &["no terminal", "--plain"]);
    folder.run("tune --plain -").fails(2, &["standard input"]);
    folder.run("tune --plain").fails(2, &["name the texts"]);
    folder.run("tune --plain two.txt").fails(1, &["no run of 3 sentences", "in all: 2"]);
    folder.run("tune --plain empty.txt").fails(1, &["in all: 0"]);
    folder.run("tune --plain none.txt").fails(1, &["none.txt"]);
    folder.run("tune --plain harbour.txt --session file/s.json").fails(1, &["file/s.json"]);
    folder.run("tune --plain harbour.txt --depth 1").fails(2, &["--depth"]);
    folder.run("tune --plain harbour.txt --profile ../.").fails(2, &["--profile"]);
    folder.run("tune --plain harbour.txt --profile ./harbour.txt").fails(1, &["harbour.txt", "is no profile"]);
    folder.run("tune --plain harbour.txt --session empty.txt").fails(1, &["empty.txt", "is no session"]);
    folder.run("tune --plain harbour.txt --judge llm").fails(2, &["--plain"]);
    folder.run("tune --judge human harbour.txt").fails(2, &["person, llm or script:FILE"]);
    folder.run("chunk --profile nobody harbour.txt").fails(1, &["no profile \"nobody\"", "prose"]);
    folder.run("chunk --profile prose --chunker recursive harbour.txt").fails(2, &["--profile", "recursive"]);
    assert_eq!(folder.files(), ["empty.txt", "file", "harbour.txt", "two.txt"], "nothing is left behind");
}

#[test]
fn a_profile_of_another_model_is_refused() {
    let folder = folder();
    let profile = Profile::find("prose", &[]).unwrap();
    profile.write(&folder.path("tuning/other.toml")).unwrap();
    let text = folder.read("tuning/other.toml").replace(&profile.model_sha256, &"0".repeat(64));
    folder.write("tuning/other.toml", text);
    folder.run("chunk --profile other harbour.txt").fails(1, &["found with the model", "means nothing"]);
    folder.run("chunk --profile prose --text-prefix passage: harbour.txt").fails(1, &["text prefix"]);
}

#[test]
fn profiles_are_listed_with_where_they_lie() {
    let folder = folder();
    plain(&folder, &"y\n".repeat(40), "harbour.txt");
    fs::create_dir_all(folder.path("config/horchunk/tuning")).unwrap();
    fs::copy(folder.path("tuning/harbour.toml"), folder.path("config/horchunk/tuning/mine.toml")).unwrap();
    let listed = folder.out("tune profiles");
    let place = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{listed}"));
    assert!(place("harbour").contains("(tuning,") && place("prose").contains("(inside"), "{listed}");
    assert!(place("mine").contains("config/horchunk/tuning"), "{listed}");
    folder.out("chunk --profile mine --format jsonl harbour.txt");
    folder.write("tuning/broken.toml", "threshold = 3");
    folder.run("tune profiles").complains(1, &["broken.toml"]);
}

#[test]
fn runs_of_the_public_corpus_are_those_of_the_original() {
    let Some(text) = shared("chunking-evaluation/corpora/wikitexts.md") else { return };
    let folder = Folder::new();
    let first = |flags: &str| {
        let line = format!("tune --plain --sentences rule {} {flags}", text.display());
        folder.run(&line).err.lines().find(|line| line.contains(" runs, ")).unwrap().to_owned()
    };
    assert!(first("").starts_with("1088 runs, "));
    let compat = first("--compat");
    // The original's own notebook: 1090 runs from -0.0228 to 1.0, with the weights in f32.
    assert!(compat.starts_with("1090 runs, similarity from -0.022") && compat.contains(" to 1.0000"), "{compat}");
}

/// Whether a program started from here ignores SIGINT, as in the background of a script.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> 1 & 1 == 1)
}

#[test]
fn a_signal_ends_the_wait_for_an_answer_and_keeps_those_before() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    if ignores_interrupts() {
        println!("skipped: these tests were started with SIGINT ignored, and so would the program be");
        return;
    }
    let folder = folder();
    let mut command = folder.command("tune --plain harbour.txt --session s.json");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Held until the end: closed, it would end the answers before the signal is seen.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"y\n").unwrap();
    // The second question is asked once the first answer is kept.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = Vec::new();
    for _ in 0..2 {
        while !said.ends_with(b"? help) ") {
            assert!(stderr.read_until(b' ', &mut said).unwrap() > 0);
        }
        said.push(b'\n');
    }
    assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(verdicts(&Session::read(&folder.path("s.json")).unwrap()), [Some(Verdict::Holds)]);
}
