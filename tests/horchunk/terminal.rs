//! The terminal app in a real terminal: tmux presses the keys and reads the screen.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use horchunk::tuning::{Profile, Session};

use crate::support::{Folder, HARBOUR};

/// A terminal of its own server, which ends with it.
struct Tmux {
    socket: String,
}

/// Names for sockets: a server that was told to end may still hold its own.
static SERVERS: AtomicUsize = AtomicUsize::new(0);

/// A slow machine needs time to embed; nothing here asks how long it takes.
const PATIENCE: Duration = Duration::from_mins(2);

impl Tmux {
    /// A terminal in which the program runs in `folder`; `None`, with a word, where there is no tmux.
    fn run(folder: &Folder, size: (u16, u16), line: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            println!("skipped: tmux is not installed");
            return None;
        }
        let name = format!("tmux-{}", SERVERS.fetch_add(1, Ordering::Relaxed));
        let tmux = Self { socket: folder.path(&name).display().to_string() };
        let (width, height) = (size.0.to_string(), size.1.to_string());
        let program = env!("CARGO_BIN_EXE_horchunk");
        let states = ["state", "config"].map(|name| folder.path(name).display().to_string());
        // The shell stays, so that what the program leaves on the screen can be read.
        let command = format!(
            "XDG_STATE_HOME={} XDG_CONFIG_HOME={} HF_HUB_OFFLINE=1 sh -c 'echo $$ > pid; exec {program} {line}'; echo \"exit code $?\"; stty -a | grep -o '.icanon'; sleep 1000",
            states[0], states[1]
        );
        let home = folder.path("").display().to_string();
        let started = tmux.tmux(&["new-session", "-d", "-x", &width, "-y", &height, "-c", &home, "sh", "-c", &command]);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        Some(tmux)
    }

    fn tmux(&self, words: &[&str]) -> Output {
        Command::new("tmux").args(["-S", &self.socket, "-f", "/dev/null"]).args(words).output().unwrap()
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Waits until all these words are on the screen.
    #[track_caller]
    fn shows(&self, words: &[&str]) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if words.iter().all(|word| screen.contains(word)) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "{words:?} are not on the screen:\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn session(folder: &Folder) -> Session {
    let name = folder.files().into_iter().find(|name| name.starts_with("state/horchunk/")).expect("a session");
    Session::read(&folder.path(&name)).unwrap()
}

#[test]
fn a_person_answers_takes_back_leaves_resumes_and_has_a_profile() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    let Some(tmux) = Tmux::run(&folder, (100, 30), "tune harbour.txt") else { return };
    tmux.shows(&["step 1,", "Does it hold together?", "chunks at t ="]);
    tmux.press(&["y"]);
    tmux.shows(&["step 2,", "+ holds"]);
    tmux.press(&["k"]);
    tmux.shows(&["step 3,", "- drifts"]);
    tmux.press(&["u"]);
    tmux.shows(&["step 2,"]);
    tmux.press(&["?"]);
    tmux.shows(&["take the last answer back"]);
    tmux.press(&["Escape"]);
    // A key right behind the escape would be read as one with Alt.
    tmux.shows(&["verdicts"]);
    tmux.press(&["/"]);
    tmux.shows(&["find:"]);
    tmux.press(&["harbour", "Enter"]);
    tmux.shows(&["\nline "]);
    tmux.press(&["q"]);
    let left = tmux.shows(&["exit code 1\n", "icanon"]);
    assert!(left.contains("1 answer kept") && !left.contains("-icanon"), "the terminal is as it was:\n{left}");
    assert_eq!(session(&folder).answers.len(), 1);
    drop(tmux);

    let Some(tmux) = Tmux::run(&folder, (40, 12), "tune --resume -v") else { return };
    tmux.shows(&["step 2"]);
    tmux.tmux(&["resize-window", "-x", "30", "-y", "8"]);
    tmux.shows(&["This screen is 30x8", "is needed"]);
    tmux.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    tmux.shows(&["step 2,", "chunks at t ="]);
    // Everything holds: to the end of the search, and of the runs that confirm it.
    let head = |screen: &str| screen.lines().next().unwrap_or("").to_owned();
    while !tmux.screen().contains("w writes") {
        let before = head(&tmux.screen());
        tmux.press(&["y"]);
        let start = Instant::now();
        while head(&tmux.screen()) == before {
            assert!(start.elapsed() < PATIENCE, "{}", tmux.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }
    tmux.shows(&["threshold 0.", "w writes tuning/harbour.toml"]);
    tmux.press(&["w"]);
    tmux.shows(&["written to tuning/harbour.toml"]);
    tmux.press(&["q"]);
    let left = tmux.shows(&["exit code 0\n", "icanon"]);
    assert!(left.contains("threshold 0.") && left.contains("from one to the screen"), "{left}");
    let profile = Profile::read(&folder.path("tuning/harbour.toml")).unwrap();
    assert_eq!(profile.found.unwrap().verdicts, session(&folder).judgements().len());
    folder.out("chunk --profile harbour --format jsonl harbour.txt");
}

#[test]
fn a_program_that_is_killed_loses_no_answer_and_a_signal_gives_the_terminal_back() {
    let folder = Folder::with([("harbour.txt", HARBOUR)]);
    let Some(tmux) = Tmux::run(&folder, (80, 24), "tune harbour.txt --session s.json") else { return };
    tmux.shows(&["step 1,"]);
    tmux.press(&["y", "n"]);
    tmux.shows(&["step 3,"]);
    let second = folder.run("tune --plain --resume --session s.json");
    second.fails(1, &["open in another terminal"]);
    let kill = |signal: &str| {
        let pid = folder.read("pid");
        assert!(Command::new("kill").args([signal, pid.trim()]).status().unwrap().success());
    };
    kill("-KILL");
    tmux.shows(&["exit code 137"]);
    drop(tmux);
    let line = format!("tune --resume --session {}", folder.path("s.json").display());
    let Some(tmux) = Tmux::run(&folder, (80, 24), &line) else { return };
    tmux.shows(&["step 3,", "- drifts"]);
    kill("-TERM");
    let left = tmux.shows(&["exit code 130", "icanon"]);
    assert!(!left.contains("-icanon"), "{left}");
    assert_eq!(Session::read(&folder.path("s.json")).unwrap().answers.len(), 2);
}
