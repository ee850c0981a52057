//! What a person or the worker can do to the app, and the one table of keys.

use horchunk::tuning::{Tuner, Verdict};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::SMALLEST;
use super::worker::Part;

/// Something that happens to the app.
#[derive(Debug)]
pub(super) enum Action {
    /// A verdict on the run shown.
    Judge(Verdict),
    /// Leave it out.
    Skip,
    /// Take the last answer back.
    Undo,
    NextPane,
    PreviousPane,
    /// The preview over the whole screen, and back.
    Zoom,
    Help,
    /// Ask for a place in the text.
    Find,
    /// Write the profile.
    Write,
    Quit,
    /// Lines down, or up.
    Scroll(isize),
    /// Pages down, or up.
    Page(isize),
    Top,
    Bottom,
    /// Close what is open in front.
    Close,
    /// A key of the prompt.
    Type(char),
    Paste(String),
    Erase,
    Submit,
    /// The screen has another size, with room for the app or without.
    Resize(bool),
    /// So many runs of all are embedded.
    Embedded {
        done: usize,
        all: usize,
    },
    /// The questions are there.
    Begin {
        tuner: Box<Tuner>,
        notices: Vec<String>,
    },
    /// Chunks of the preview.
    Cut(Part),
}

/// A line of the key table: what is pressed, what the help says, what happens.
pub(super) struct Key {
    codes: &'static [KeyCode],
    pub(super) shown: &'static str,
    pub(super) help: &'static str,
    /// In the line at the bottom of the screen, in so few words; empty for a key that is not there.
    pub(super) short: &'static str,
    /// When it does something.
    pub(super) serves: Serves,
    action: fn() -> Action,
}

/// When a key does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Serves {
    Always,
    /// Once all runs are embedded.
    WithRuns,
    /// While one is to be judged.
    ToJudge,
}

use KeyCode::{BackTab, Char, Down, End, Enter, Esc, Home, PageDown, PageUp, Tab, Up};

/// Every key, in the order of the help.
pub(super) const KEYS: &[Key] = &[
    key(&[Char('y'), Char('j')], "y j", "it holds together: lower the threshold", "holds", || {
        Action::Judge(Verdict::Holds)
    }),
    key(&[Char('n'), Char('k')], "n k", "it drifts apart: raise the threshold", "drifts", || {
        Action::Judge(Verdict::Drifts)
    }),
    key(&[Char('s')], "s", "skip this run", "skip", || Action::Skip),
    key(&[Char('u')], "u", "take the last answer back", "undo", || Action::Undo),
    key(&[Tab], "tab", "next pane", "pane", || Action::NextPane),
    key(&[BackTab], "shift-tab", "previous pane", "", || Action::PreviousPane),
    key(&[Char('p')], "p", "the preview over the whole screen, and back", "preview", || Action::Zoom),
    key(&[Char('/')], "/", "go to words, or by :N to a line", "find", || Action::Find),
    key(&[Char('w')], "w", "write the profile, at the end", "write", || Action::Write),
    key(&[Char('?'), KeyCode::F(1)], "?", "this help", "help", || Action::Help),
    key(&[Char('q')], "q", "leave; every answer is kept", "quit", || Action::Quit),
    key(&[Down], "down", "scroll", "", || Action::Scroll(1)),
    key(&[Up], "up", "scroll back", "", || Action::Scroll(-1)),
    key(&[PageDown, Char(' ')], "space", "a page on", "", || Action::Page(1)),
    key(&[PageUp], "page up", "a page back", "", || Action::Page(-1)),
    key(&[Home, Char('g')], "g", "to the beginning", "", || Action::Top),
    key(&[End, Char('G')], "G", "to the end", "", || Action::Bottom),
    key(&[Esc], "esc", "close help, prompt or preview", "", || Action::Close),
];

const fn key(
    codes: &'static [KeyCode],
    shown: &'static str,
    help: &'static str,
    short: &'static str,
    action: fn() -> Action,
) -> Key {
    let serves = match codes {
        [Char('y' | 'n' | 's'), ..] => Serves::ToJudge,
        [Char('?' | 'q'), ..] => Serves::Always,
        _ => Serves::WithRuns,
    };
    Key { codes, shown, help, short, serves, action }
}

/// What an event of the terminal means; `typing` while the prompt is open.
pub(super) fn action(event: &Event, typing: bool) -> Option<Action> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key, typing),
        Event::Paste(text) if typing => Some(Action::Paste(text.clone())),
        Event::Resize(width, height) => Some(Action::Resize(*width >= SMALLEST.0 && *height >= SMALLEST.1)),
        _ => None,
    }
}

fn pressed(key: &KeyEvent, typing: bool) -> Option<Action> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            Char('c' | 'd') => Some(Action::Quit),
            Char('u') if typing => Some(Action::Paste(String::new())),
            _ => None,
        };
    }
    if key.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    if typing {
        return match key.code {
            Char(c) => Some(Action::Type(c)),
            KeyCode::Backspace => Some(Action::Erase),
            Enter => Some(Action::Submit),
            Esc => Some(Action::Close),
            _ => None,
        };
    }
    let known = KEYS.iter().find(|known| known.codes.contains(&key.code));
    known.map(|known| (known.action)())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers, typing: bool) -> Option<Action> {
        action(&Event::Key(KeyEvent::new(code, modifiers)), typing)
    }

    #[test]
    fn no_key_means_two_things() {
        let codes: Vec<&KeyCode> = KEYS.iter().flat_map(|key| key.codes).collect();
        for (at, code) in codes.iter().enumerate() {
            assert!(!codes[..at].contains(code), "{code:?}");
        }
    }

    #[test]
    fn the_keys_of_the_original_still_do_what_they_did() {
        let none = KeyModifiers::NONE;
        assert!(matches!(press(Char('j'), none, false), Some(Action::Judge(Verdict::Holds))));
        assert!(matches!(press(Char('k'), none, false), Some(Action::Judge(Verdict::Drifts))));
    }

    #[test]
    fn a_prompt_takes_letters_as_letters() {
        assert!(matches!(press(Char('q'), KeyModifiers::NONE, true), Some(Action::Type('q'))));
        assert!(matches!(press(Char('Q'), KeyModifiers::SHIFT, true), Some(Action::Type('Q'))));
        assert!(matches!(press(Char('c'), KeyModifiers::CONTROL, true), Some(Action::Quit)));
        assert!(press(Char('y'), KeyModifiers::ALT, false).is_none());
    }

    #[test]
    fn letting_a_key_go_does_nothing() {
        let mut key = KeyEvent::new(Char('y'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert!(action(&Event::Key(key), false).is_none());
    }
}
