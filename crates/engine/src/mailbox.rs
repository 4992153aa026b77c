//! Arrivals that one worker passes to another with a free virtual user.
//!
//! Separate pools would drop arrivals although another pool had room; this rarely used path connects them. Must
//! not know virtual users. Invariant: an arrival is only posted to a worker that has reserved a free virtual
//! user for it.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use loadline_model::RunCommand;
use loadline_schedule::Arrival;
use tokio::sync::Notify;

/// An arrival for a scenario, which is given by its index in the plan.
pub(crate) type Letter = (usize, Arrival);

/// The part of a worker that other threads can access.
#[derive(Default)]
pub(crate) struct Mailbox {
    /// Free virtual users by scenario that nobody has reserved.
    free: Vec<AtomicI64>,
    letters: Mutex<Vec<Letter>>,
    command: AtomicU8,
    steering: Mutex<Steering>,
    /// How often `steering` was changed.
    steered: AtomicU64,
    pub(crate) notify: Notify,
}

/// The last commands to externally controlled scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steering {
    /// Active and maximum virtual users; `None`: as in the plan.
    pub(crate) vus: Option<(u32, u32)>,
    /// Whether iterations must not start.
    pub(crate) is_paused: bool,
}

const STOP_GRACEFULLY: u8 = 1;
const STOP_NOW: u8 = 2;
const INTERRUPT: u8 = 3;

impl Mailbox {
    pub(crate) fn new(scenarios: usize) -> Mailbox {
        Mailbox {
            free: (0..scenarios).map(|_| AtomicI64::new(0)).collect(),
            ..Mailbox::default()
        }
    }

    /// Another virtual user of a scenario is free.
    pub(crate) fn add_free(&self, scenario: usize) {
        self.free[scenario].fetch_add(1, Ordering::Relaxed);
    }

    /// Reserves a free virtual user; returns whether there was one.
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

    /// Reserves a free virtual user and posts the arrival to it; returns whether there was one.
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

    /// The messages since the last call.
    pub(crate) fn collect(&self) -> Vec<Letter> {
        std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a command to the worker.
    pub(crate) fn command(&self, command: RunCommand) {
        let code = match command {
            RunCommand::StopGracefully => STOP_GRACEFULLY,
            RunCommand::StopNow | RunCommand::StopRemotely => STOP_NOW,
            RunCommand::Interrupt => INTERRUPT,
            RunCommand::Resume => return self.steer(|steering| steering.is_paused = false),
            RunCommand::Pause => return self.steer(|steering| steering.is_paused = true),
            RunCommand::Scale { vus, max_vus } => {
                return self.steer(|steering| steering.vus = Some((vus, max_vus)));
            }
        };
        self.command.fetch_max(code, Ordering::Relaxed);
        self.notify.notify_one();
    }

    fn steer(&self, change: impl FnOnce(&mut Steering)) {
        change(&mut self.steering.lock().unwrap_or_else(PoisonError::into_inner));
        self.steered.fetch_add(1, Ordering::Release);
        self.notify.notify_one();
    }

    /// The current steering, if it is newer than the first `seen` changes.
    pub(crate) fn steering(&self, seen: &mut u64) -> Option<Steering> {
        let steered = self.steered.load(Ordering::Acquire);
        if std::mem::replace(seen, steered) == steered {
            return None;
        }
        Some(*self.steering.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The most severe command so far.
    pub(crate) fn ordered(&self) -> Option<RunCommand> {
        match self.command.load(Ordering::Relaxed) {
            STOP_GRACEFULLY => Some(RunCommand::StopGracefully),
            STOP_NOW => Some(RunCommand::StopNow),
            INTERRUPT => Some(RunCommand::Interrupt),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_is_news_once_and_the_last_word_stands() {
        let mailbox = Mailbox::new(1);
        let mut seen = 0;
        assert_eq!(mailbox.steering(&mut seen), None);
        let scale = |vus| RunCommand::Scale { vus, max_vus: 9 };
        mailbox.command(scale(3));
        mailbox.command(scale(5));
        mailbox.command(RunCommand::Pause);
        let expected = Steering {
            vus: Some((5, 9)),
            is_paused: true,
        };
        assert_eq!(mailbox.steering(&mut seen), Some(expected));
        assert_eq!(mailbox.steering(&mut seen), None);
        assert_eq!(mailbox.ordered(), None, "steering ends nothing");
        mailbox.command(RunCommand::Resume);
        let resumed = Steering {
            is_paused: false,
            ..expected
        };
        assert_eq!(mailbox.steering(&mut seen), Some(resumed));
    }
}
