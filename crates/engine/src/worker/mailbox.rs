//! Arrivals that one worker hands to another with a free virtual user.
//!
//! Split pools would lose arrivals that one pool had room for; this is the exceptional path that
//! brings them together. Must not know virtual users. Invariant: an arrival is posted only to who
//! has set a free virtual user aside for it.

use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use loadline_model::RunCommand;
use loadline_schedule::Arrival;
use tokio::sync::Notify;

/// An arrival for a scenario, by the scenario's position in the plan.
pub(crate) type Letter = (usize, Arrival);

/// What other threads can reach of a worker.
#[derive(Default)]
pub(crate) struct Mailbox {
    /// Free virtual users by scenario that nobody has set aside.
    free: Vec<AtomicI64>,
    letters: Mutex<Vec<Letter>>,
    command: AtomicU8,
    pub(crate) notify: Notify,
}

const STOP_GRACEFULLY: u8 = 1;
const STOP_NOW: u8 = 2;

impl Mailbox {
    pub(crate) fn new(scenarios: usize) -> Mailbox {
        Mailbox {
            free: (0..scenarios).map(|_| AtomicI64::new(0)).collect(),
            ..Mailbox::default()
        }
    }

    /// One more virtual user of a scenario is free.
    pub(crate) fn add_free(&self, scenario: usize) {
        self.free[scenario].fetch_add(1, Ordering::Relaxed);
    }

    /// Sets a free virtual user aside; whether there was one.
    pub(crate) fn reserve(&self, scenario: usize) -> bool {
        self.free[scenario]
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
                (free > 0).then(|| free - 1)
            })
            .is_ok()
    }

    /// No virtual user of a scenario will be free any more.
    pub(crate) fn close(&self, scenario: usize) {
        self.free[scenario].store(i64::MIN / 2, Ordering::Relaxed);
    }

    /// Sets a free virtual user aside and posts the arrival to it; whether there was one.
    pub(crate) fn post(&self, scenario: usize, take: impl FnOnce() -> Option<Arrival>) -> bool {
        if !self.reserve(scenario) {
            return false;
        }
        let Some(arrival) = take() else {
            self.add_free(scenario);
            return false;
        };
        self.letters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((scenario, arrival));
        self.notify.notify_one();
        true
    }

    /// The letters that came since the last call.
    pub(crate) fn collect(&self) -> Vec<Letter> {
        std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Passes an order to the worker.
    pub(crate) fn command(&self, command: RunCommand) {
        let code = match command {
            RunCommand::StopGracefully => STOP_GRACEFULLY,
            RunCommand::StopNow | RunCommand::StopRemotely => STOP_NOW,
            RunCommand::Resume => return,
        };
        self.command.fetch_max(code, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// The gravest order so far.
    pub(crate) fn ordered(&self) -> Option<RunCommand> {
        match self.command.load(Ordering::Relaxed) {
            STOP_GRACEFULLY => Some(RunCommand::StopGracefully),
            STOP_NOW => Some(RunCommand::StopNow),
            _ => None,
        }
    }
}
