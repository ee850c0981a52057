//! The terminal, taken over and given back: at the end, at an error, at a panic and at a signal.

use std::io::{self, BufWriter, Stderr};
use std::panic;
use std::sync::Once;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};

use super::app::App;
use crate::cli::interrupt;

/// The terminal on standard error, so that standard output is free for the result.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                restore();
                usual(panic);
            }));
        });
        interrupt::before_exit(restore);
        enable_raw_mode()?;
        // From here on the terminal is given back however this ends.
        let guard = Restore;
        execute!(io::stderr(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(io::stderr())))?;
        std::mem::forget(guard);
        Ok(Self { terminal })
    }

    pub(super) fn draw(&mut self, app: &App) -> io::Result<()> {
        self.terminal.draw(|frame| frame.render_widget(app, frame.area())).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    // Nothing more can be done where this fails.
    let _ = disable_raw_mode();
    let _ = execute!(io::stderr(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
}
