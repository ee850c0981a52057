use std::path::Path;
use std::{env, fs};

use ratatui::buffer::Buffer;

use super::*;
use crate::tui::action::Action;
use crate::tui::app::tests::{TEXT, begun, cut, draw, judge, new};

/// The screen as a person sees it.
fn shown(buf: &Buffer) -> String {
    let mut screen = String::new();
    for y in 0..buf.area.height {
        let mut row = String::new();
        let mut hidden = 0;
        for x in 0..buf.area.width {
            let symbol = buf[(x, y)].symbol();
            // A wide sign hides the cell behind it.
            if hidden == 0 {
                row.push_str(symbol);
                hidden = Line::from(symbol).width().saturating_sub(1);
            } else {
                hidden -= 1;
            }
        }
        screen += row.trim_end();
        screen.push('\n');
    }
    screen
}

/// Compares with the screen drawn in the file; `BLESS=1` draws it anew.
#[track_caller]
fn assert_looks(app: &App, width: u16, height: u16, name: &str) {
    let screen = shown(&draw(app, width, height));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tui/view/screens").join(format!("{name}.txt"));
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &screen).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap();
    assert!(screen == wanted, "{name}, wanted:\n{wanted}\ngot:\n{screen}");
}

/// Two questions are answered, the third is shown.
fn midway() -> App {
    let mut app = begun(&[TEXT]);
    app.update(Action::Judge(horchunk::tuning::Verdict::Drifts));
    app.update(Action::Judge(horchunk::tuning::Verdict::Holds));
    cut(&mut app);
    app
}

fn done() -> App {
    let mut app = begun(&[TEXT]);
    judge(&mut app, 0.8);
    cut(&mut app);
    app
}

#[test]
fn a_screen_of_80x24_shows_all_panes() {
    assert_looks(&midway(), 80, 24, "80x24");
}

#[test]
fn a_screen_of_40x12_shows_the_pane_in_front() {
    let mut app = midway();
    assert_looks(&app, 40, 12, "40x12");
    app.update(Action::PreviousPane);
    assert_looks(&app, 40, 12, "40x12-preview");
}

#[test]
fn a_screen_of_200x60_has_the_preview_beside() {
    assert_looks(&midway(), 200, 60, "200x60");
}

#[test]
fn the_end_says_what_was_found_and_what_to_do() {
    assert_looks(&done(), 80, 24, "done");
}

#[test]
fn runs_that_are_embedded_fill_a_bar() {
    let mut app = new(&[TEXT], true);
    app.update(Action::Embedded { done: 512, all: 1088 });
    assert_looks(&app, 80, 24, "embedding");
}

#[test]
fn the_help_names_every_key() {
    let mut app = midway();
    app.update(Action::Help);
    assert_looks(&app, 80, 24, "help");
    assert_looks(&app, 40, 12, "help-40x12");
}

#[test]
fn wide_signs_keep_their_place() {
    let text = "潮は一日に二度変わる。船は砂州で待つ。綱がきしむ。🌊🚢 塩が鱈を保つ。👩‍👩‍👧 風の中に棚が立つ。";
    let mut app = begun(&[&text.replace('。', "。 . ")]);
    cut(&mut app);
    assert_looks(&app, 40, 12, "wide-signs");
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    assert!(shown(&draw(&midway(), 39, 12)).contains("39x12"));
    assert!(shown(&draw(&midway(), 40, 11)).contains("40x12"));
}

#[test]
fn no_size_breaks_any_screen() {
    let mut help = midway();
    help.update(Action::Help);
    let mut prompt = midway();
    prompt.update(Action::Find);
    prompt.update(Action::Paste("a long phrase to look for ".repeat(9)));
    let mut zoom = midway();
    zoom.update(Action::Zoom);
    let apps =
        [new(&[TEXT], true), new(&["a. b. c."], false), begun(&["a. b. c."]), midway(), done(), help, prompt, zoom];
    for app in &apps {
        for width in (0..50).chain([59, 60, 61, 119, 120, 121]) {
            for height in (0..30).chain([60]) {
                draw(app, width, height);
            }
        }
    }
}

#[test]
fn colours_are_those_that_every_terminal_has_or_none() {
    let colours = |app: &App| {
        let buf = draw(app, 80, 24);
        buf.content
            .iter()
            .flat_map(|cell| [cell.fg, cell.bg])
            .filter(|colour| *colour != Color::Reset)
            .collect::<Vec<_>>()
    };
    let with = colours(&midway());
    assert!(!with.is_empty() && with.iter().all(|colour| !matches!(colour, Color::Rgb(..) | Color::Indexed(_))));
    let mut without = midway();
    without.facts.color = false;
    assert_eq!(colours(&without), []);
}

#[test]
fn the_anchor_is_told_from_the_rest_without_colour() {
    let mut app = midway();
    app.facts.color = false;
    let buf = draw(&app, 80, 24);
    let anchor = app.text(0)[app.run().unwrap().sentences[0]].chars().next().unwrap().to_string();
    let row = (0..24).find(|&y| buf[(1, y)].symbol() == "▶").unwrap();
    assert_eq!(buf[(3, row)].symbol(), anchor);
    assert!(buf[(3, row)].modifier.contains(Modifier::BOLD));
    let second = (row..24).find(|&y| buf[(1, y)].symbol() == "2").unwrap();
    assert!(!buf[(3, second)].modifier.contains(Modifier::BOLD));
}
