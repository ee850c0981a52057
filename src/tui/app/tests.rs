use std::ops::ControlFlow;

use crate::tui::worker::{Part, Piece};
use horchunk::tuning::{Sampler, TunerSettings};
use horchunk::{Chunker, Embedder, Embedding, EmbeddingError, RuleSplitter, WindowChunker};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::*;

/// A text turns the further, the later its letters stand in the alphabet.
pub(in crate::tui) struct Turning;

impl Embedder for Turning {
    fn dimension(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        let vector = |text: &&str| {
            let turn: u32 = text.chars().filter(|c| c.is_alphabetic()).map(|c| u32::from(c) % 29).sum();
            let angle = (turn % 1000) as f32 / 700.0;
            Embedding { vector: vec![angle.cos(), angle.sin()], truncated: false }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

pub(in crate::tui) const TEXT: &str = "The tide turns twice a day.\nBoats wait for it at the bar. Ropes creak.\n\n\
Salt keeps the cod. Racks stand in the wind. Women turn the fish.\n\nThe mail comes on Friday. Nobody writes any more. \
The clerk sorts bills.\n";

pub(in crate::tui) fn tuner(texts: &[&str]) -> Tuner {
    let sample = Sampler::new(3).sample(texts, &RuleSplitter, &Turning, |_, _| ControlFlow::Continue(()));
    let mut settings = TunerSettings::default();
    settings.confirm = 2;
    Tuner::new(sample.unwrap(), settings)
}

/// An app before its first action.
pub(in crate::tui) fn new(texts: &[&str], color: bool) -> App {
    let facts = Facts {
        names: (1..=texts.len()).map(|number| format!("text-{number}.md")).collect(),
        depth: 3,
        max_sentences: 6,
        judge: "person".to_owned(),
        profile: "tuning/text-1.toml".to_owned(),
        session: "text-1.json".to_owned(),
        color,
    };
    App::new(facts, texts.iter().map(|text| (*text).to_owned()).collect())
}

/// An app that shows its first question; nothing is cut yet.
pub(in crate::tui) fn begun(texts: &[&str]) -> App {
    let mut app = new(texts, true);
    let effects = app.update(Action::Begin { tuner: Box::new(tuner(texts)), notices: Vec::new() });
    assert!(matches!(effects[..], [Effect::Cut(Request { id: 0, .. })]));
    app
}

/// Cuts what the app wants to see.
pub(in crate::tui) fn cut(app: &mut App) {
    let wanted = app.preview.wanted.unwrap();
    let chunker = WindowChunker::new(Turning).with_splitter(RuleSplitter).with_threshold(wanted.threshold).unwrap();
    let text = app.text(wanted.text).to_owned();
    let chunks = chunker.chunk(&text).unwrap().iter().map(Piece::new).collect();
    app.update(Action::Cut(Part { id: wanted.id, chunks, complete: true }));
}

/// Judges to the end.
pub(in crate::tui) fn judge(app: &mut App, border: f32) {
    while let Some(run) = app.run() {
        let verdict = if run.similarity >= border { Verdict::Holds } else { Verdict::Drifts };
        app.update(Action::Judge(verdict));
    }
}

pub(in crate::tui) fn draw(app: &App, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    app.render(area, &mut buf);
    buf
}

fn words(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| notice.words.as_str())
}

#[test]
fn every_answer_is_recorded_and_turns_the_preview() {
    let mut app = begun(&[TEXT]);
    let effects = app.update(Action::Judge(Verdict::Holds));
    let standing = app.tuner().unwrap().standing().unwrap();
    assert_eq!(effects, [Effect::Record, Effect::Cut(Request { id: 1, text: 0, threshold: standing })]);
    assert!(matches!(app.update(Action::Skip)[..], [Effect::Record, Effect::Cut(_)]));
    assert!(matches!(app.update(Action::Undo)[..], [Effect::Record, Effect::Cut(_)]));
    assert_eq!(app.tuner().unwrap().answers().count(), 1);
}

#[test]
fn nothing_is_judged_that_cannot_be_seen() {
    let mut app = begun(&[TEXT]);
    app.update(Action::Help);
    assert_eq!(app.update(Action::Judge(Verdict::Holds)), []);
    assert_eq!(app.front, None, "the key closed the help");
    let mut app = new(&[TEXT], true);
    assert_eq!(app.update(Action::Judge(Verdict::Holds)), []);
    assert_eq!(app.update(Action::Undo), []);
}

#[test]
fn there_is_nothing_to_take_back_at_first() {
    let mut app = begun(&[TEXT]);
    assert_eq!(app.update(Action::Undo), []);
    assert!(words(&app).contains("nothing to take back"));
}

#[test]
fn the_profile_is_written_at_the_end_only() {
    let mut app = begun(&[TEXT]);
    assert_eq!(app.update(Action::Write), []);
    assert!(words(&app).contains("no threshold yet"), "{}", words(&app));
    judge(&mut app, 0.0);
    assert_eq!(app.update(Action::Write), [Effect::Write]);
    assert_eq!(app.update(Action::Judge(Verdict::Holds)), []);
    assert!(words(&app).contains("all is judged"));
    assert!(matches!(app.update(Action::Undo)[..], [Effect::Record, Effect::Cut(_)]), "the end can be taken back");
}

#[test]
fn where_nothing_holds_there_is_nothing_to_write() {
    let mut app = begun(&[TEXT]);
    judge(&mut app, 2.0);
    assert_eq!(app.update(Action::Write), []);
    assert!(app.result().unwrap()[0].contains("smaller --depth"));
}

#[test]
fn chunks_of_an_earlier_question_are_not_shown() {
    let mut app = begun(&[TEXT]);
    let old = app.preview.wanted.unwrap().id;
    cut(&mut app);
    let before = app.preview.chunks.clone();
    app.update(Action::Judge(Verdict::Drifts));
    app.update(Action::Cut(Part { id: old, chunks: Vec::new(), complete: true }));
    assert_eq!((&app.preview.chunks, app.preview.complete), (&before, false), "the old ones stay until new ones come");
    cut(&mut app);
    assert!(app.preview.complete);
}

#[test]
fn the_preview_shows_the_run_in_question() {
    let mut app = begun(&[TEXT]);
    cut(&mut app);
    let (run, top) = (app.run().unwrap().span(), app.preview.top.get().0);
    let chunk = app.preview.chunks[top].span;
    assert!(chunk.start() <= run.start() && run.start() < chunk.end());
}

#[test]
fn a_place_is_found_by_words_and_by_line() {
    let mut app = begun(&[TEXT]);
    cut(&mut app);
    let mut find = |words: &str| {
        app.update(Action::Find);
        words.chars().for_each(|c| drop(app.update(Action::Type(c))));
        app.update(Action::Submit);
        let shown = app.preview.chunks[app.preview.top.get().0].span;
        (app.notice.clone().unwrap().words, TEXT[shown].to_owned())
    };
    let (said, shown) = find("COD");
    assert!(said == "line 4" && shown.contains("cod"), "{said} {shown}");
    let (said, shown) = find(":6");
    assert!(said == "line 6" && shown.contains("mail"), "{said} {shown}");
    assert!(find("whale").0.contains("is not in text-1.md"));
    assert_eq!(find(":99").0, "there is no line 99");
}

#[test]
fn a_prompt_is_typed_pasted_and_given_up() {
    let mut app = begun(&[TEXT]);
    app.update(Action::Find);
    app.update(Action::Paste("a\n\u{1b}b".to_owned()));
    app.update(Action::Type('c'));
    assert_eq!(app.front, Some(Front::Prompt("a \u{241b}bc".to_owned())));
    app.update(Action::Paste(String::new()));
    app.update(Action::Erase);
    assert!(!app.is_typing());
    app.update(Action::Find);
    app.update(Action::Close);
    assert!(!app.is_typing());
}

#[test]
fn no_pane_scrolls_past_its_end() {
    let mut app = begun(&[TEXT]);
    cut(&mut app);
    for pane in Pane::ALL {
        app.focus = pane;
        app.update(Action::Scroll(1000));
        draw(&app, 60, 20);
        let (run, history, preview) = (app.run_top.get(), app.history_top.get(), app.preview.top.get());
        assert!(run < 10 && history < 10 && preview.0 < app.preview.chunks.len() && preview.1 < 10, "{pane:?}");
        app.update(Action::Scroll(-1000));
        app.update(Action::Bottom);
        draw(&app, 60, 20);
        app.update(Action::Top);
    }
    assert_eq!((app.run_top.get(), app.history_top.get(), app.preview.top.get()), (0, 0, (0, 0)));
}

#[test]
fn panes_take_turns() {
    let mut app = begun(&[TEXT]);
    let mut seen = vec![app.focus];
    for _ in 0..2 {
        app.update(Action::NextPane);
        seen.push(app.focus);
    }
    assert_eq!(seen, Pane::ALL);
    app.update(Action::NextPane);
    app.update(Action::PreviousPane);
    assert_eq!(app.focus, Pane::Preview);
}

#[test]
fn several_texts_come_one_after_the_other() {
    let mut app = begun(&[TEXT, "Ants. Bees. Wasps. Hornets."]);
    judge(&mut app, 0.0);
    assert_eq!(app.preview.wanted.unwrap().text, 1, "the last text judged stays in sight");
    assert!(app.result().unwrap()[1].starts_with("mean of"));
}

#[test]
fn nothing_is_judged_on_a_screen_that_shows_nothing() {
    let mut app = begun(&[TEXT]);
    draw(&app, 39, 12);
    assert_eq!(app.update(Action::Judge(Verdict::Holds)), []);
    app.update(Action::Resize(true));
    assert!(matches!(app.update(Action::Judge(Verdict::Holds))[..], [Effect::Record, _]));
    app.update(Action::Resize(false));
    assert_eq!(app.update(Action::Undo), []);
    app.update(Action::Quit);
    assert!(app.has_quit());
}

#[test]
fn a_change_that_cannot_be_saved_is_taken_back() {
    let mut app = begun(&[TEXT]);
    let first = app.run().unwrap().span();
    app.update(Action::Judge(Verdict::Holds));
    app.take_back();
    assert_eq!((app.run().unwrap().span(), app.tuner().unwrap().answers().count()), (first, 0));
    app.update(Action::Judge(Verdict::Drifts));
    let second = app.run().unwrap().span();
    app.update(Action::Undo);
    app.take_back();
    assert_eq!((app.run().unwrap().span(), app.tuner().unwrap().answers().count()), (second, 1));
}

#[test]
fn the_same_words_are_found_again_further_on() {
    let text = TEXT.repeat(2);
    let mut app = begun(&[&text]);
    cut(&mut app);
    let mut lines = Vec::new();
    for words in ["cod", "", ""] {
        app.update(Action::Find);
        app.update(Action::Paste(words.to_owned()));
        app.update(Action::Submit);
        lines.push(app.notice.clone().unwrap().words);
    }
    lines[..2].sort();
    assert_eq!((lines[0] == lines[1], lines[0] == lines[2] || lines[1] == lines[2]), (false, true), "{lines:?}");
}

#[test]
fn a_key_for_a_run_that_is_hidden_shows_it_first() {
    let mut app = begun(&[TEXT]);
    app.update(Action::Zoom);
    draw(&app, 80, 24);
    assert_eq!(app.update(Action::Judge(Verdict::Holds)), []);
    draw(&app, 80, 24);
    assert!(matches!(app.update(Action::Judge(Verdict::Holds))[..], [Effect::Record, _]));
    app.focus = Pane::Preview;
    draw(&app, 40, 12);
    assert_eq!(app.update(Action::Skip), []);
    assert_eq!(app.focus, Pane::Run);
}

#[test]
fn lines_are_found_as_they_are_counted() {
    let text = "a\r\nb\rc\u{2028}d\n\ne";
    let map = CharMap::new(text);
    for line in 1..=6 {
        let byte = line_start(text, line).unwrap();
        assert_eq!(map.position(byte).line, line);
        assert!(byte == 0 || map.position(byte - 1).line < line, "{line}");
    }
    assert_eq!([line_start(text, 0), line_start(text, 7), line_start("", 1)], [None; 3]);
}
