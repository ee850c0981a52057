//! What the app knows, and how an action changes it. No I/O: what is to be done outside comes back as effects.

mod preview;

use std::cell::Cell;
use std::sync::Arc;

use horchunk::CharMap;
use horchunk::tuning::{Phase, Run, Tuner, Verdict, cut_down};

use super::action::Action;
use super::text;
use super::worker::{Part, Request};
use crate::cli::chain;
use crate::cli::tune::{Course, summary};

pub(super) use preview::Preview;

/// What does not change in a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Names of the texts.
    pub(super) names: Vec<String>,
    pub(super) depth: usize,
    pub(super) max_sentences: usize,
    /// Who judges.
    pub(super) judge: String,
    /// Where the profile will lie.
    pub(super) profile: String,
    /// Where the answers lie.
    pub(super) session: String,
    pub(super) color: bool,
}

impl Facts {
    pub(super) fn new(course: &Course, judge: &str, color: bool) -> Self {
        let settings = &course.keeper.session.settings;
        Self {
            names: course.keeper.session.texts.iter().map(|text| text.name.clone()).collect(),
            depth: settings.depth,
            max_sentences: settings.max_sentences,
            judge: judge.to_owned(),
            profile: course.keeper.profile().display().to_string(),
            session: course.keeper.path().display().to_string(),
            color,
        }
    }
}

/// What the app does.
#[derive(Debug)]
pub(super) enum Stage {
    /// Runs are embedded: so many of so many.
    Embedding(usize, usize),
    Judging(Box<Tuner>),
}

/// The parts of the screen that can be in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    Run,
    History,
    Preview,
}

impl Pane {
    const ALL: [Self; 3] = [Self::Run, Self::History, Self::Preview];
}

/// A change of the answers.
#[derive(Debug, Clone, Copy)]
enum Change {
    Answered,
    /// This was taken back.
    Undone(Option<Verdict>),
}

/// What is open in front of the panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Front {
    Help,
    /// What is typed after `/`.
    Prompt(String),
}

/// What is to be done outside.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// Save the answers.
    Record,
    /// Cut a text.
    Cut(Request),
    /// Write the profile.
    Write,
}

/// A line that tells what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) words: String,
    pub(super) is_error: bool,
}

#[derive(Debug)]
pub(crate) struct App {
    pub(super) facts: Facts,
    texts: Arc<[String]>,
    pub(super) stage: Stage,
    pub(super) preview: Preview,
    pub(super) focus: Pane,
    pub(super) zoom: bool,
    /// What is open in front of the panes.
    pub(super) front: Option<Front>,
    last_find: String,
    /// Where the words looked for last stand, so that the next search goes on behind them.
    found_at: Option<usize>,
    /// Whether there is room on the screen for the app, and whether the run in question was drawn.
    pub(super) visible: Cell<bool>,
    pub(super) run_drawn: Cell<bool>,
    pub(super) help_top: Cell<usize>,
    /// What was done last, to be taken back where it cannot be saved.
    last: Option<Change>,
    pub(super) notice: Option<Notice>,
    /// The line of the text on which the run in question begins: to count lines takes too long to do it for every screen.
    pub(super) line: usize,
    /// First line shown of the panes of text; drawing brings it back to what there is.
    pub(super) run_top: Cell<usize>,
    pub(super) history_top: Cell<usize>,
    /// Who judged, this time and before.
    judges: String,
    pub(super) written: bool,
    quit: bool,
}

/// Bytes of the words that are looked for.
const MOST_TYPED: usize = 200;

/// Lines of a page where nobody knows how high the pane is.
const PAGE: isize = 10;

impl App {
    pub(super) fn new(facts: Facts, texts: Arc<[String]>) -> Self {
        Self {
            judges: facts.judge.clone(),
            facts,
            texts,
            stage: Stage::Embedding(0, 0),
            preview: Preview::default(),
            focus: Pane::Run,
            zoom: false,
            front: None,
            last_find: String::new(),
            found_at: None,
            visible: Cell::new(true),
            run_drawn: Cell::new(true),
            help_top: Cell::default(),
            last: None,
            notice: None,
            line: 0,
            run_top: Cell::default(),
            history_top: Cell::default(),
            written: false,
            quit: false,
        }
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }

    /// The text of this number; empty if there is none.
    pub(super) fn text(&self, number: usize) -> &str {
        self.texts.get(number).map_or("", String::as_str)
    }

    pub(super) fn tuner(&self) -> Option<&Tuner> {
        if let Stage::Judging(tuner) = &self.stage { Some(tuner) } else { None }
    }

    pub(super) fn run(&self) -> Option<&Run> {
        self.tuner()?.run()
    }

    pub(super) const fn is_typing(&self) -> bool {
        matches!(self.front, Some(Front::Prompt(_)))
    }

    pub(super) const fn has_quit(&self) -> bool {
        self.quit
    }

    pub(super) const fn is_written(&self) -> bool {
        self.written
    }

    pub(super) fn into_tuner(self) -> Option<Tuner> {
        if let Stage::Judging(tuner) = self.stage { Some(*tuner) } else { None }
    }

    pub(super) fn set_judges(&mut self, judges: String) {
        if !judges.is_empty() {
            self.judges = judges;
        }
    }

    /// What came of it, in words; `None` before the end.
    pub(super) fn result(&self) -> Option<Vec<String>> {
        Some(summary::lines(&self.tuner()?.found()?, &self.judges))
    }

    /// The answers are on the disk, said by these judges, or they are not: an answer that cannot be written is none,
    /// and its question stays.
    pub(super) fn recorded(&mut self, result: anyhow::Result<String>) {
        match result {
            Ok(judges) => self.set_judges(judges),
            Err(error) => {
                self.take_back();
                self.complain(&error);
            }
        }
    }

    /// Puts the answers back to what they were before the last change.
    fn take_back(&mut self) {
        let (Stage::Judging(tuner), Some(last)) = (&mut self.stage, self.last.take()) else { return };
        match last {
            Change::Answered => {
                tuner.undo();
            }
            Change::Undone(verdict) => tuner.answer(verdict),
        }
        self.count_lines();
    }

    /// The profile is written: what to say of it.
    pub(super) fn profile_written(&mut self, result: anyhow::Result<String>) {
        match result {
            Ok(words) => {
                self.say(words);
                self.written = true;
            }
            Err(error) => self.complain(&error),
        }
    }

    fn say(&mut self, words: impl Into<String>) {
        self.notice = Some(Notice { words: words.into(), is_error: false });
    }

    /// Shows what went wrong; work goes on.
    fn complain(&mut self, error: &anyhow::Error) {
        self.notice = Some(Notice { words: chain(error), is_error: true });
    }

    pub(super) fn update(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Embedded { done, all } => self.embedded(done, all),
            Action::Begin { tuner, notices } => return self.begin(tuner, &notices),
            Action::Cut(part) => self.take(part),
            Action::Quit => self.quit = true,
            Action::Resize(fits) => self.visible.set(fits),
            // Nothing is done on a screen that shows nothing.
            _ if !self.visible.get() => {}
            Action::Type(_) | Action::Paste(_) | Action::Erase | Action::Submit => self.typed(action),
            Action::Close => self.close(),
            Action::Scroll(lines) if self.front == Some(Front::Help) => {
                self.help_top.set(self.help_top.get().saturating_add_signed(lines));
            }
            // What is open in front takes the key, so that nothing is judged that cannot be seen.
            _ if self.front.is_some() => self.front = None,
            Action::Judge(_) | Action::Skip if self.run().is_some() && !self.run_drawn.get() => {
                (self.focus, self.zoom) = (Pane::Run, false);
            }
            Action::Help => {
                self.help_top.set(0);
                self.front = Some(Front::Help);
            }
            Action::Judge(verdict) => return self.answer(Some(verdict)),
            Action::Skip => return self.answer(None),
            Action::Undo => return self.undo(),
            Action::Write => return self.write(),
            Action::NextPane => self.turn(1),
            Action::PreviousPane => self.turn(Pane::ALL.len() - 1),
            Action::Zoom => self.zoom = !self.zoom,
            Action::Find => self.front = Some(Front::Prompt(String::new())),
            Action::Scroll(lines) => self.scroll(lines),
            Action::Page(pages) => self.scroll(pages * PAGE),
            Action::Top => self.jump(false),
            Action::Bottom => self.jump(true),
        }
        Vec::new()
    }

    fn embedded(&mut self, done: usize, all: usize) {
        if let Stage::Embedding(..) = self.stage {
            self.stage = Stage::Embedding(done, all);
        }
    }

    fn begin(&mut self, tuner: Box<Tuner>, notices: &[String]) -> Vec<Effect> {
        self.stage = Stage::Judging(tuner);
        if !notices.is_empty() {
            self.say(notices.join("; "));
        }
        self.look().into_iter().collect()
    }

    fn answer(&mut self, verdict: Option<Verdict>) -> Vec<Effect> {
        let Stage::Judging(tuner) = &mut self.stage else { return Vec::new() };
        if tuner.run().is_none() {
            self.say("all is judged: w writes the profile, u takes the last answer back, q leaves");
            return Vec::new();
        }
        tuner.answer(verdict);
        self.last = Some(Change::Answered);
        self.answered()
    }

    fn undo(&mut self) -> Vec<Effect> {
        let Stage::Judging(tuner) = &mut self.stage else { return Vec::new() };
        let taken_back = tuner.answers().last().map(|(_, verdict)| verdict);
        if !tuner.undo() {
            self.say("there is nothing to take back");
            return Vec::new();
        }
        self.last = taken_back.map(Change::Undone);
        self.answered()
    }

    fn answered(&mut self) -> Vec<Effect> {
        self.notice = None;
        self.written = false;
        self.run_top.set(0);
        self.history_top.set(0);
        std::iter::once(Effect::Record).chain(self.look()).collect()
    }

    fn write(&mut self) -> Vec<Effect> {
        let Some(tuner) = self.tuner() else { return Vec::new() };
        match tuner.found() {
            Some(found) if found.threshold.is_some() => return vec![Effect::Write],
            Some(_) => self.say("nothing holds together, so there is no threshold to write"),
            None => {
                let left = match tuner.phase().0 {
                    Phase::Searching(left) => format!("at most {left} to go"),
                    _ => "the last runs only confirm it".to_owned(),
                };
                self.say(format!("there is no threshold yet: {left}"));
            }
        }
        Vec::new()
    }

    /// Turns the preview to the threshold and the run in question.
    fn look(&mut self) -> Option<Effect> {
        let tuner = self.tuner()?;
        let standing = tuner.standing()?;
        let run = tuner.run();
        // At the end the preview is what `chunk` will do.
        let threshold = if run.is_some() { standing } else { cut_down(standing) };
        let text = run.map(|run| run.text).or_else(|| self.preview.wanted.map(|wanted| wanted.text)).unwrap_or(0);
        let target = run.map(|run| run.span().start());
        let id = self.preview.wanted.map_or(0, |wanted| wanted.id + 1);
        let request = Request { id, text, threshold: threshold.clamp(-1.0, 1.0) };
        self.preview.wanted = Some(request);
        self.preview.complete = false;
        self.preview.stale = true;
        self.preview.target = target.or_else(|| self.preview.place());
        self.found_at = None;
        self.count_lines();
        Some(Effect::Cut(request))
    }

    fn count_lines(&mut self) {
        let place = self.run().map(|run| (run.text, run.span().start()));
        self.line = place.map_or(0, |(text, start)| CharMap::new(self.text(text)).position(start).line);
    }

    fn take(&mut self, part: Part) {
        if self.preview.wanted.is_some_and(|wanted| wanted.id == part.id) {
            self.preview.take(part);
        }
    }

    fn turn(&mut self, by: usize) {
        let at = Pane::ALL.iter().position(|pane| *pane == self.focus).unwrap_or(0);
        self.focus = Pane::ALL[(at + by) % Pane::ALL.len()];
        self.zoom = false;
    }

    fn close(&mut self) {
        if self.front.take().is_none() {
            self.zoom = false;
            self.notice = None;
        }
    }

    fn in_front(&self) -> Pane {
        if self.zoom { Pane::Preview } else { self.focus }
    }

    fn scroll(&mut self, lines: isize) {
        match self.in_front() {
            Pane::Run => self.run_top.set(self.run_top.get().saturating_add_signed(lines)),
            Pane::History => self.history_top.set(self.history_top.get().saturating_add_signed(lines)),
            Pane::Preview => self.preview.scroll(lines),
        }
    }

    fn jump(&mut self, to_end: bool) {
        let to = if to_end { usize::MAX / 2 } else { 0 };
        match self.in_front() {
            Pane::Run => self.run_top.set(to),
            Pane::History => self.history_top.set(to),
            Pane::Preview => {
                self.preview.target = None;
                self.preview.top.set((if to_end { self.preview.chunks.len().saturating_sub(1) } else { 0 }, 0));
            }
        }
    }

    fn typed(&mut self, action: Action) {
        let Some(Front::Prompt(prompt)) = &mut self.front else { return };
        match action {
            Action::Type(c) if prompt.len() < MOST_TYPED => prompt.push(c),
            // Nothing pasted is what clearing the line comes as.
            Action::Paste(text) if text.is_empty() => prompt.clear(),
            Action::Paste(text) => {
                let room = MOST_TYPED.saturating_sub(prompt.len());
                prompt.extend(text::clean(&text).chars().take(room));
            }
            Action::Erase if prompt.pop().is_none() => self.front = None,
            Action::Submit => {
                let words = std::mem::take(prompt);
                self.front = None;
                self.find(&words);
            }
            _ => {}
        }
    }

    /// Brings words, or a line, into sight; nothing typed looks for the words of last time.
    fn find(&mut self, words: &str) {
        if !words.is_empty() {
            words.clone_into(&mut self.last_find);
        }
        let words = self.last_find.clone();
        let Some(wanted) = self.preview.wanted.filter(|_| !words.is_empty()) else { return };
        let source = self.text(wanted.text);
        let line = words.strip_prefix(':').and_then(|number| number.parse::<usize>().ok());
        let found = if let Some(line) = line {
            line_start(source, line)
        } else {
            let behind = self.found_at.map(|found| found + 1);
            text::find(source, &words, behind.or_else(|| self.preview.place()).unwrap_or(0))
        };
        match found {
            Some(byte) => {
                let at = CharMap::new(source).position(byte);
                self.found_at = Some(byte);
                self.preview.aim(byte);
                self.focus = Pane::Preview;
                self.say(format!("line {}", at.line));
            }
            None if line.is_some() => self.say(format!("there is no line {}", &words[1..])),
            None => self.say(format!("{words:?} is not in {}", self.name(wanted.text))),
        }
    }

    pub(super) fn name(&self, text: usize) -> &str {
        self.facts.names.get(text).map_or("", String::as_str)
    }
}

/// The first byte of a line, counted from 1 as [`CharMap`] counts.
fn line_start(text: &str, line: usize) -> Option<usize> {
    let map = CharMap::new(text);
    // Lines never go back, so halving finds the first byte of this one.
    let (mut before, mut at) = (0, text.len());
    while before < at {
        let middle = usize::midpoint(before, at);
        if map.position(middle).line < line { before = middle + 1 } else { at = middle }
    }
    (line > 0 && at < text.len() && map.position(at).line == line).then_some(at)
}

#[cfg(test)]
pub(super) mod tests;
