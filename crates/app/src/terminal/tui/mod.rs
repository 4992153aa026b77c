//! A run on the whole screen of a terminal: charts, scenarios, errors, thresholds, and keys to control it.
//!
//! A separate thread reads keys and draws. Must not know how a run is made: it reads [`RunEvent`]s and sends
//! [`RunCommand`]s. Invariants: the run never waits for the screen; whatever ends the view, the terminal is
//! restored, and output held in the meantime is printed then.

mod draw;
mod input;
mod keys;
mod lines;
mod panels;
mod screen;
mod shown;
mod tables;

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_model::{Executor, RunCommand, RunEvent, TestPlan};
use loadline_run::RunWatch;
use ratatui::crossterm::event::{self, Event};

use super::{print, signals};
use crate::web::state::State;
use input::{Keyboard, Waiting};
use keys::{Action, action};
use screen::Screen;
pub(super) use screen::give_back;
use shown::{Body, Shown};

/// Interval between two checks for keys: too short to be noticed.
const LOOK_EVERY: Duration = Duration::from_millis(80);
/// Events between the run and the view: enough for minutes, so that only a hanging terminal misses any.
const EVENTS: usize = 256;

/// For how many seconds the message after a key press is shown.
const TOLD_FOR: u8 = 3;

/// The input of a view.
pub(crate) struct TuiSetup {
    /// The plan of the run.
    pub(crate) plan: Arc<TestPlan>,
    /// The receiver of orders.
    pub(crate) commands: Sender<RunCommand>,
    /// Access to a script's metrics; `None` for other runs.
    pub(crate) watch: Option<Arc<RunWatch>>,
    /// Whether the run waits for an order before it starts.
    pub(crate) is_paused: bool,
    /// Whether colours are shown.
    pub(crate) color: bool,
}

/// A full-screen view, which lasts until it is dropped.
pub(crate) struct Tui {
    events: Option<SyncSender<RunEvent>>,
    thread: Option<JoinHandle<()>>,
}

impl Tui {
    /// Takes over the terminal; `None`, with a message on standard error, if there is none.
    pub(crate) fn start(setup: TuiSetup) -> Option<Tui> {
        let refused = |why: &str| {
            print::to_stderr(&format!(
                "--tui: {why}; progress is shown as lines instead\n"
            ));
        };
        if !std::io::stdout().is_terminal() {
            refused("standard output is not a terminal");
            return None;
        }
        let screen = Screen::take()
            .map_err(|error| refused(&format!("the terminal cannot be taken over: {error}")))
            .ok()?;
        let (sender, receiver) = sync_channel(EVENTS);
        let thread = thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || View::new(setup).run(screen, &receiver));
        // Without a thread the screen was dropped with the closure, which restored the terminal.
        let thread = thread
            .map_err(|error| refused(&format!("cannot start a thread: {error}")))
            .ok()?;
        Some(Tui {
            events: Some(sender),
            thread: Some(thread),
        })
    }

    /// Shows the changes of an event soon.
    pub(crate) fn event(&self, event: &RunEvent) {
        if let Some(events) = &self.events {
            // A slow view misses events that it has no time to show.
            let _ = events.try_send(event.clone());
        }
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // A view that panicked restored the terminal while unwinding.
            let _ = thread.join();
        }
    }
}

/// The state of the view's thread.
struct View {
    setup: TuiSetup,
    state: State,
    shown: Shown,
}

impl View {
    fn new(setup: TuiSetup) -> View {
        let is_steered =
            |executor: &Executor| matches!(executor, Executor::ExternallyControlled { .. });
        let can_pause = setup
            .plan
            .scenarios
            .iter()
            .any(|scenario| is_steered(&scenario.executor));
        let shown = Shown::new(&setup.plan, setup.color, can_pause, setup.is_paused);
        View {
            setup,
            state: State::default(),
            shown,
        }
    }

    /// Draws and reads keys until the run is over or the terminal fails.
    fn run(mut self, mut screen: Screen, events: &Receiver<RunEvent>) {
        let mut is_stale = true;
        let mut size = screen.size();
        let Some(keyboard) = Keyboard::find() else {
            return;
        };
        while let Some(has_news) = self.take(events) {
            if has_news {
                self.shown.says_no_pause = self.shown.says_no_pause.saturating_sub(1);
                self.shown.phase = self.state.phase();
                self.shown.result = self.state.result(self.setup.watch.as_deref());
            }
            if (has_news || is_stale) && screen.draw(&self.shown).is_err() {
                return;
            }
            is_stale = match keyboard.wait(LOOK_EVERY) {
                Waiting::Input => self.read(),
                Waiting::Nothing => false,
                // The run continues without it.
                Waiting::Gone => return,
            };
            is_stale |= std::mem::replace(&mut size, screen.size()) != size;
        }
    }

    /// Handles waiting events of the run; `None` if no more will come.
    fn take(&mut self, events: &Receiver<RunEvent>) -> Option<bool> {
        let mut has_news = false;
        loop {
            match events.try_recv() {
                Ok(event) => {
                    has_news = true;
                    self.state.take(event);
                }
                Err(TryRecvError::Empty) => return Some(has_news),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    /// Reads keys and changes of size; returns whether the screen must be redrawn.
    fn read(&mut self) -> bool {
        let mut is_stale = false;
        // The start of a sequence alone is not a key yet.
        while event::poll(Duration::ZERO).is_ok_and(|is_there| is_there) {
            match event::read() {
                Ok(Event::Key(key)) => {
                    if let Some(action) = action(&key) {
                        self.act(action);
                        is_stale = true;
                    }
                }
                Ok(Event::Resize(..)) => is_stale = true,
                Ok(_) => {}
                Err(_) => return is_stale,
            }
        }
        is_stale
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Stop => {
                let order = match self.shown.is_stopping {
                    true => RunCommand::StopNow,
                    false => RunCommand::Interrupt,
                };
                self.order(order);
                if std::mem::replace(&mut self.shown.is_stopping, true) {
                    signals::lose_patience();
                }
            }
            Action::Pause => self.pause(),
            Action::Help => self.shown.shows_help = !self.shown.shows_help,
            Action::Show(body) => {
                self.shown.body = match self.shown.body == body {
                    true => Body::Charts,
                    false => body,
                };
            }
            Action::Close if self.shown.shows_help => self.shown.shows_help = false,
            Action::Close => self.shown.body = Body::Charts,
        }
    }

    fn pause(&mut self) {
        if !self.shown.may_pause() {
            self.shown.says_no_pause = TOLD_FOR;
            return;
        }
        self.shown.is_paused = !self.shown.is_paused;
        let order = match self.shown.is_paused {
            true => RunCommand::Pause,
            false => RunCommand::Resume,
        };
        if let Some(watch) = &self.setup.watch {
            watch.set_paused(self.shown.is_paused);
        }
        self.order(order);
    }

    fn order(&self, order: RunCommand) {
        // A finished run takes no orders.
        let _ = self.setup.commands.send(order);
    }
}
