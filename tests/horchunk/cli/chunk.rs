//! `horchunk chunk` and `horchunk sentences`: what the settings do to one document.

use horchunk::{CutReason, Forced, Record};

use crate::support::{Folder, HARBOUR, Ran, repository};

const CATS: &str = "Cats sleep most of the day. They hunt at dusk. The tax form is due in May.";

fn harbour() -> Folder {
    Folder::with([("harbour.txt", HARBOUR)])
}

fn texts<'r>(records: &'r [Record<'_>]) -> Vec<&'r str> {
    records.iter().map(|record| record.text.as_ref()).collect()
}

fn sizes(records: &[Record<'_>]) -> Vec<usize> {
    records.iter().map(|record| record.sentences).collect()
}

#[test]
fn a_record_has_the_fields_of_the_schema_in_their_order() {
    let folder = Folder::with([("a.md", "\u{feff}Ebb\r\nand fl\u{f6}w.\n\nThe rest.\n")]);
    let first = concat!(
        r#"{"document":"a.md","id":"697734440f7be4242d1026573e41b959","index":0,"start":0,"end":18,"char_start":0,"#,
        r#""char_end":15,"line_start":1,"line_end":2,"sentences":2,"overlap_sentences":0,"tokens":9,"#,
        r#""token_counter":"cl100k_base","reason":"border","similarity":null,"forced":null,"truncated":false,"#,
        "\"blind\":false,\"text\":\"\u{feff}Ebb\\r\\nand fl\u{f6}w.\"}\n",
    );
    let second = concat!(
        r#"{"document":"a.md","id":"1eec5355b9ed7ef9925612d02bf907ae","index":1,"start":20,"end":29,"char_start":17,"#,
        r#""char_end":26,"line_start":4,"line_end":4,"sentences":1,"overlap_sentences":0,"tokens":3,"#,
        r#""token_counter":"cl100k_base","reason":"end","similarity":null,"forced":null,"truncated":false,"#,
        "\"blind\":false,\"text\":\"The rest.\"}\n",
    );
    let lines = folder.out("chunk a.md -t -1 --sentences paragraph --borders blank-line --format jsonl");
    assert_eq!(lines, [first, second].concat());
}

#[test]
fn fields_that_were_asked_for_stand_behind_the_text() {
    let folder = Folder::new();
    folder.write("a.txt", [CATS.as_bytes(), b"\xFF"].concat());
    let line = folder.out("chunk a.txt --lossy --embeddings --explain -t -1 --format jsonl");
    let at = |field: &str| line.find(&format!("\"{field}\":")).unwrap_or_else(|| panic!("{field} in {line}"));
    assert!([at("text"), at("similarities"), at("embedding"), at("lossy")].is_sorted());
    let [record]: [Record<'_>; 1] = crate::support::records(&line).try_into().unwrap();
    let embedding = record.embedding.unwrap();
    assert_eq!(embedding.len(), 384);
    assert!((embedding.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5, "a unit vector");
    let similarities = record.similarities.unwrap();
    assert_eq!(similarities.len(), 2);
    assert!(similarities.iter().flatten().all(|similarity| (-1.0..1.0).contains(similarity)));
    assert!(record.lossy);
}

#[test]
fn the_defaults_are_those_of_the_documents() {
    let folder = harbour();
    let named = "-t 0.72 -a 6 --sentences unicode --tokens cl100k_base --borders none --min-tokens 0 \
                 --overlap-sentences 0 --model bundled --device auto";
    let records = folder.records("chunk harbour.txt");
    assert_eq!(records, folder.records(&format!("chunk harbour.txt {named}")));
    assert!(records.iter().any(|record| record.reason == CutReason::Similarity));
    assert_eq!(records.last().unwrap().reason, CutReason::End);
}

#[test]
fn a_similarity_below_the_threshold_cuts_and_is_told() {
    let folder = Folder::with([("a.txt", CATS)]);
    let records = folder.records("chunk a.txt --threshold 0.8");
    assert_eq!(texts(&records), ["Cats sleep most of the day. They hunt at dusk.", "The tax form is due in May."]);
    assert_eq!(records[0].reason, CutReason::Similarity);
    assert!(records[0].similarity.unwrap() < 0.8);
    assert_eq!(sizes(&folder.records("chunk a.txt -t -1")), [3]);
    assert_eq!(sizes(&folder.records("chunk a.txt -t 1")), [1, 1, 1]);
}

#[test]
fn a_chunk_has_no_more_sentences_than_allowed() {
    let folder = harbour();
    for most in [1, 2, 5] {
        let records = folder.records(&format!("chunk harbour.txt -t -1 --max-sentences {most}"));
        let (last, full) = records.split_last().unwrap();
        assert!(full.iter().all(|record| record.sentences == most && record.reason == CutReason::MaxSentences));
        assert!(last.sentences <= most);
    }
}

#[test]
fn a_chunk_does_not_cross_a_border() {
    let folder = harbour();
    let paragraphs = HARBOUR.trim().split("\n\n").count();
    let by_blank_line = folder.records("chunk harbour.txt -t -1 -a 99 --borders blank-line");
    assert_eq!(by_blank_line.len(), paragraphs);
    assert_eq!(by_blank_line.iter().filter(|record| record.reason == CutReason::Border).count(), paragraphs - 1);
    // Sentences of this text also begin on new lines, where lines are no more than wrapped.
    assert!(folder.records("chunk harbour.txt -t -1 -a 99 --borders paragraph").len() >= paragraphs);
    assert_eq!(folder.records("chunk harbour.txt -t -1 -a 99 --borders none").len(), 1);
}

#[test]
fn a_chunk_has_no_more_tokens_than_allowed() {
    let folder = harbour();
    for counter in ["cl100k_base", "o200k_base", "p50k_base", "r50k_base", "wordpiece"] {
        let records = folder.records(&format!("chunk harbour.txt --max-tokens 20 --tokens {counter}"));
        assert!(records.iter().all(|record| record.tokens.unwrap() <= 20), "{counter}");
        assert!(records.iter().all(|record| record.token_counter.as_deref() == Some(counter)));
        assert!(records.iter().any(|record| record.reason == CutReason::MaxTokens));
        assert!(
            records.iter().any(|record| record.forced == Some(Forced::Word)),
            "{counter}: a long sentence is split"
        );
    }
}

#[test]
fn tokens_are_counted_by_a_tokenizer_file_or_by_nobody() {
    let folder = harbour();
    let file = repository("models/all-minilm-l6-v2/tokenizer.json");
    let by_file = folder.records(&format!("chunk harbour.txt --tokens {}", file.display()));
    let by_model = folder.records("chunk harbour.txt --tokens wordpiece");
    let counts = |records: &[Record<'_>]| records.iter().map(|record| record.tokens).collect::<Vec<_>>();
    assert_eq!(counts(&by_file), counts(&by_model));
    assert_eq!(by_file[0].token_counter.as_deref(), file.to_str());
    let by_nobody = folder.records("chunk harbour.txt --tokens none");
    assert!(by_nobody.iter().all(|record| record.tokens.is_none() && record.token_counter.is_none()));
}

#[test]
fn crumbs_join_a_neighbour() {
    let folder = harbour();
    let fewest = |line: &str| folder.records(line).iter().map(|record| record.tokens.unwrap()).min().unwrap();
    assert!(fewest("chunk harbour.txt -t 0.9") < 25);
    assert!(fewest("chunk harbour.txt -t 0.9 --min-tokens 25") >= 25);
}

#[test]
fn overlap_repeats_the_last_sentences_of_the_chunk_before() {
    let folder = harbour();
    let plain = folder.records("chunk harbour.txt");
    let overlapping = folder.records("chunk harbour.txt --overlap-sentences 2");
    assert_eq!(sizes(&plain), sizes(&overlapping), "overlap decides nothing");
    assert_eq!(overlapping[0].overlap_sentences, 0);
    for (index, (chunk, alone)) in overlapping.iter().zip(&plain).enumerate().skip(1) {
        assert_eq!(chunk.overlap_sentences, 2, "{index}");
        assert!(chunk.text.ends_with(&*alone.text) && chunk.start < overlapping[index - 1].end);
    }
}

#[test]
fn kept_white_space_gives_the_file_back() {
    let text = format!("\n \t\n{}\r\n\r\n \n", HARBOUR.replace("\n\n", "\r\n \r\n"));
    let folder = Folder::with([("a.txt", &text)]);
    for more in ["", "--max-tokens 9", "--borders paragraph", "--min-tokens 30", "--sentences token:5", "-a 1"] {
        assert_eq!(texts(&folder.records(&format!("chunk a.txt --keep-whitespace {more}"))).concat(), text, "{more}");
    }
}

#[test]
fn each_splitter_finds_its_own_sentences() {
    let folder = Folder::with([("a.txt", "Mr. Moss waits. He waits\nlong! Then he goes.\n\nThe end")]);
    let sentences = |splitter: &str| folder.out(&format!("sentences a.txt --sentences {splitter}"));
    assert_eq!(sentences("unicode"), "Mr. Moss waits.\nHe waits long!\nThen he goes.\nThe end\n");
    assert_eq!(sentences("paragraph"), "Mr. Moss waits. He waits\nlong! Then he goes.\nThe end\n");
    assert!(sentences("rule").contains("long!\n"));
    assert_eq!(sentences("token:4"), "Mr. Moss\nwaits. He\nwaits\nlong! Then he\ngoes.\nThe end\n");
    assert_eq!(folder.out("sentences a.txt"), sentences("unicode"));
}

#[test]
fn sentences_have_spans_and_lines() {
    let folder = Folder::with([("a.txt", "\u{e9}t\u{e9}. Fin.\r\nPlus.")]);
    let is = [
        r#"{"document":"a.txt","index":0,"start":0,"end":6,"char_start":0,"char_end":4,"line_start":1,"line_end":1,"text":"été."}"#,
        r#"{"document":"a.txt","index":1,"start":7,"end":11,"char_start":5,"char_end":9,"line_start":1,"line_end":1,"text":"Fin."}"#,
        r#"{"document":"a.txt","index":2,"start":13,"end":18,"char_start":11,"char_end":16,"line_start":2,"line_end":2,"text":"Plus."}"#,
    ];
    assert_eq!(folder.out("sentences a.txt --format jsonl"), is.map(|line| format!("{line}\n")).concat());
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = harbour();
    let line = "chunk harbour.txt --explain --embeddings --format jsonl";
    let alone = folder.out(&format!("{line} --threads 1"));
    for threads in [2, 3, 8] {
        assert_eq!(folder.out(&format!("{line} --threads {threads}")), alone, "{threads} threads");
    }
    let by_variable = folder.command(line).env("RAYON_NUM_THREADS", "3").output().unwrap();
    assert_eq!(Ran::new(line, by_variable).done(), alone);
}

#[test]
fn text_is_for_people() {
    let folder = Folder::with([("a.txt", CATS)]);
    let text = folder.out("chunk a.txt -t 0.8 --explain");
    let blocks: Vec<&str> = text.trim_end().split("\n\n").collect();
    let [first, second] = blocks[..] else { panic!("two chunks: {text}") };
    for word in ["1 a.txt:1", "2 sentences", "tokens", "cut: similarity 0.", "< 0.8", "\n   steps 0."] {
        assert!(first.contains(word), "{word:?} in {first}");
    }
    assert!(first.ends_with("\nCats sleep most of the day. They hunt at dusk."));
    assert!(second.contains("1 sentence, ") && second.contains("end of the text"), "{second}");
}

#[test]
fn fragile_lists_the_decisions_near_the_threshold() {
    let folder = Folder::with([("a.txt", CATS)]);
    let all = folder.run("chunk a.txt --fragile 2 -t 0.8 --format jsonl");
    assert_eq!(all.code, Some(0));
    let lines: Vec<&str> = all.err.lines().collect();
    let [kept, cut] = lines[..] else { panic!("two decisions: {}", all.err) };
    assert!(kept.starts_with("fragile: a.txt: chunk 1, byte 28: similarity 0.") && kept.contains("kept before \"They"));
    assert!(cut.starts_with("fragile: a.txt: chunk 2, byte 47: similarity 0.") && cut.contains("cut before \"The tax"));
    assert_eq!(folder.run("chunk a.txt --fragile 0 -t 0.8 --format jsonl").err, "");
    assert_eq!(all.out, folder.out("chunk a.txt -t 0.8 --format jsonl"), "the data are the same");
}

#[test]
fn a_dry_run_counts_sentences_and_windows_and_chunks_nothing() {
    let folder = Folder::with([("d/a.txt", CATS), ("d/b.txt", "One sentence."), ("d/empty.txt", "")]);
    let out = folder.out("chunk d --dry-run");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 5, "{out}");
    assert!(lines[0].starts_with("a.txt: 3 sentences, at most 2 windows, "), "{out}");
    assert!(lines[1].contains("at most 0 windows, 0 to 0 tokens"), "{out}");
    assert!(lines[3].starts_with(&format!("3 documents, {} bytes: 4 sentences", CATS.len() + 13)), "{out}");
    assert!(lines[4].contains("tokens/s") && lines[4].contains("MB of memory"), "{out}");
    folder.run("chunk d --dry-run -a 0").fails(2, &["sentences is 0"]);
}

#[test]
fn a_model_folder_takes_the_place_of_the_bundled_model() {
    let folder = harbour();
    let line = format!("chunk harbour.txt --model {}", repository("tests/fixtures/models/bert-mean").display());
    let records = folder.records(&format!("{line} --embeddings --device cpu"));
    assert!(records.iter().all(|record| record.embedding.as_ref().unwrap().len() == 32));
    assert!(records.iter().any(|record| record.truncated), "that model reads 40 tokens");
    let by_variable =
        folder.command("chunk harbour.txt").env("HORCHUNK_MODEL", line.rsplit(' ').next().unwrap()).output();
    assert_eq!(Ran::new("chunk", by_variable.unwrap()).done(), folder.out(&line));
}
