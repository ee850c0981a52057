//! The terminal app: a person judges runs of sentences and sees what the threshold will do.
//!
//! [`App`] is a state without I/O: an [`Action`] goes in, an [`Effect`] may come out, and `&App` is a widget. This file
//! is the rest: the terminal, the thread that embeds, and the file that keeps every answer.

mod action;
mod app;
mod screen;
mod text;
mod view;
mod worker;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use horchunk::tuning::Tuner;
use ratatui::crossterm::event::{self, Event};

use crate::cli::interrupt;
use crate::cli::tune::{Course, Keeper, begin};

use action::{Action, action};
use app::{App, Effect, Facts};
use screen::Screen;
use worker::{Report, Request, Worker};

/// How a session at the screen ended.
pub(crate) struct Ended {
    /// The questions with their answers; `None` if the person left before there were any.
    pub(crate) tuner: Option<Tuner>,
    /// The profile was written.
    pub(crate) written: bool,
    /// Keys that were pressed, and the longest time from one to the screen that shows it.
    pub(crate) keys: (usize, Duration),
}

/// What the loop waits for.
enum Message {
    /// With the time at which it came.
    Terminal(Event, Instant),
    Worker(Report),
    /// The terminal gives no more events.
    Lost(std::io::Error),
}

/// How long the loop sleeps while nothing happens; a signal is noticed that soon.
const NAP: Duration = Duration::from_millis(100);

/// Runs the app until the person leaves. Every answer is on the disk before the screen shows the next question.
pub(crate) fn run(course: &mut Course, judge: &str, color: bool) -> anyhow::Result<Ended> {
    interrupt::listen();
    let (messages, inbox) = mpsc::channel();
    let (requests, outbox) = mpsc::channel();
    let worker = Worker::new(course, messages.clone());
    thread::spawn(move || worker.run(&outbox));
    let app = App::new(Facts::new(course, judge, color), course.texts_shared());
    let mut screen = Screen::enter().context("the terminal cannot be used")?;
    listen(messages);
    let mut run = Run { app, requests, keeper: &mut course.keeper, keys: (0, Duration::ZERO), failed: None };
    let ended = run.until_left(&mut screen, &inbox);
    drop(screen);
    ended?;
    let Run { app, keys, .. } = run;
    let written = app.is_written();
    Ok(Ended { tuner: app.into_tuner(), written, keys })
}

/// Reads keys in a thread of its own, which ends with the program.
fn listen(messages: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let message = event::read().map_or_else(Message::Lost, |event| Message::Terminal(event, Instant::now()));
            let lost = matches!(message, Message::Lost(_));
            if messages.send(message).is_err() || lost {
                return;
            }
        }
    });
}

struct Run<'a> {
    app: App,
    requests: Sender<Request>,
    keeper: &'a mut Keeper,
    keys: (usize, Duration),
    /// What made going on pointless.
    failed: Option<anyhow::Error>,
}

impl Run<'_> {
    fn until_left(&mut self, screen: &mut Screen, inbox: &Receiver<Message>) -> anyhow::Result<()> {
        screen.draw(&self.app)?;
        loop {
            let first = match inbox.recv_timeout(NAP) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => bail!("the terminal gives no more keys"),
            };
            let (mut news, mut pressed, mut keys) = (false, None, 0);
            // What has piled up meanwhile is shown at once.
            for message in first.into_iter().chain(std::iter::from_fn(|| inbox.try_recv().ok())) {
                news = true;
                if let Message::Terminal(Event::Key(_), at) = &message {
                    keys += 1;
                    pressed = pressed.or(Some(*at));
                }
                self.take(message)?;
            }
            if news {
                screen.draw(&self.app)?;
            }
            if let Some(pressed) = pressed {
                self.keys = (self.keys.0 + keys, self.keys.1.max(pressed.elapsed()));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.app.has_quit() || interrupt::check().is_err() {
                return Ok(());
            }
        }
    }

    fn take(&mut self, message: Message) -> anyhow::Result<()> {
        let action = match message {
            Message::Lost(error) => return Err(error).context("the terminal gives no more keys"),
            Message::Terminal(event, _) => action(&event, self.app.is_typing()),
            Message::Worker(Report::Sampled(sample)) => Some(self.begin(sample?)?),
            Message::Worker(Report::Embedded { done, all }) => Some(Action::Embedded { done, all }),
            Message::Worker(Report::Cut(part)) => Some(Action::Cut(part)),
            Message::Worker(Report::Failed(error)) => {
                self.failed = Some(error);
                None
            }
        };
        for effect in action.map(|action| self.app.update(action)).unwrap_or_default() {
            self.apply(&effect);
        }
        Ok(())
    }

    fn begin(&mut self, sample: horchunk::tuning::Sample) -> anyhow::Result<Action> {
        let (tuner, notices) = begin(self.keeper, sample, &self.app.texts())?;
        self.app.set_judges(self.keeper.session.judges());
        Ok(Action::Begin { tuner: Box::new(tuner), notices })
    }

    fn apply(&mut self, effect: &Effect) {
        match *effect {
            // The worker is gone only where it has said why.
            Effect::Cut(request) => {
                let _ = self.requests.send(request);
            }
            Effect::Record => {
                let Some(tuner) = self.app.tuner() else { return };
                let recorded = self.keeper.record(tuner, &self.app.texts(), &self.app.facts.judge);
                self.app.recorded(recorded.map(|()| self.keeper.session.judges()));
            }
            Effect::Write => {
                let Some(found) = self.app.tuner().and_then(Tuner::found) else { return };
                let written = self.keeper.write_profile(&found).map(|path| {
                    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
                    format!("written to {path}: horchunk chunk --profile {}", self.keeper.profile_name())
                });
                self.app.profile_written(written);
            }
        }
    }
}
