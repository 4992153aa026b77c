//! Finished virtual users, until they are freed.
//!
//! Freeing a script's heap takes about as long as many iterations, and virtual users tend to end together:
//! freed at once they would delay all that are still active. Must not know why they ended. Invariant: none of
//! them is running a task.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use loadline_model::Nanos;
use loadline_script::ScriptVu;

/// Interval between two frees, which then take at most a tenth of the worker's time.
const EVERY: Duration = Duration::from_millis(1);

/// The virtual users of a worker that are to be freed; the rest are dropped with it.
#[derive(Default)]
pub(crate) struct RetiredVus {
    vus: RefCell<Vec<ScriptVu>>,
    next: Cell<Nanos>,
}

impl RetiredVus {
    pub(super) fn take(&self, vu: ScriptVu) {
        self.vus.borrow_mut().push(vu);
    }

    /// Frees one if it is due.
    pub(crate) fn free_if_due(&self, now: Nanos) {
        if now < self.next.get() {
            return;
        }
        let freed = self.vus.borrow_mut().pop();
        if freed.is_some() {
            self.next.set(now + EVERY);
        }
    }

    /// When the next one is to be freed; the maximum instant if there is none.
    pub(crate) fn next_due(&self) -> Nanos {
        match self.vus.borrow().is_empty() {
            true => Nanos::MAX,
            false => self.next.get(),
        }
    }
}
