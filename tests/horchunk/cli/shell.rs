//! What shells, `man` and people who look for help get.

use crate::support::Folder;

#[test]
fn every_shell_gets_its_completions() {
    let folder = Folder::new();
    for (shell, word) in [
        ("bash", "complete -F _horchunk"),
        ("elvish", "edit:completion:arg-completer"),
        ("fish", "complete -c horchunk"),
        ("powershell", "Register-ArgumentCompleter"),
        ("zsh", "#compdef horchunk"),
    ] {
        let script = folder.out(&format!("completions {shell}"));
        assert!(script.contains(word) && script.contains("max-sentences"), "{shell}");
    }
    folder.run("completions tcsh").fails(2, &["tcsh", "bash"]);
}

#[test]
fn the_manual_page_has_every_command_and_option() {
    let page = Folder::new().out("man");
    assert!(page.contains(".TH horchunk 1"));
    for word in [
        "chunk",
        "sentences",
        "verify",
        "models",
        "completions",
        "\\-\\-overlap\\-sentences",
        "\\-\\-keep\\-whitespace",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn every_command_explains_itself() {
    let folder = Folder::new();
    for command in ["", "chunk", "sentences", "verify", "models", "models verify", "completions", "man"] {
        let help = folder.out(&format!("{command} --help"));
        assert!(help.contains("Usage: horchunk") && help.contains("--quiet"), "{command}: {help}");
    }
    assert!(folder.out("--version").starts_with("horchunk 0."));
}

#[test]
fn words_that_mean_nothing_are_wrong_usage() {
    let folder = Folder::with([("a.txt", "Fine.")]);
    folder.run("chop a.txt").fails(2, &["chop"]);
    folder.run("chunk a.txt --treshold 1").fails(2, &["--treshold", "--threshold"]);
    folder.run("chunk a.txt --format xml").fails(2, &["xml", "text, json, jsonl, html"]);
    folder.run("chunk a.txt -q -v").fails(2, &["--quiet", "--verbose"]);
    folder.run("verify a.txt").fails(2, &["<CHUNKS>"]);
}
