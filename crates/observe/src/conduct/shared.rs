//! State shared between the threads of observers and their owner.
//!
//! Must not know what is observed. Invariant: every wait is bounded, and every change wakes the waiting
//! threads.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often to check whether anyone is still waiting.
pub(super) const HURRY_LOOK: Duration = Duration::from_millis(20);

/// Orders and replies.
#[derive(Debug, Default)]
pub(super) struct LaneControl {
    state: Mutex<LaneControlState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LaneControlState {
    orders: Orders,
    lanes: usize,
    idle_lanes: usize,
    /// The result of each observer's first read.
    first_looks: HashMap<String, Result<(), String>>,
}

/// Orders to the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) stop: bool,
    /// When the load ended, in nanoseconds since 1970; `None`: not yet.
    pub(super) load_ended_unix_ns: Option<u64>,
}

impl LaneControl {
    pub(super) fn orders(&self) -> Orders {
        self.lock().orders
    }

    pub(super) fn stop(&self) {
        self.change(|state| state.orders.stop = true);
    }

    pub(super) fn load_ended(&self, at_unix_ns: u64) {
        self.change(|state| {
            state.orders.load_ended_unix_ns.get_or_insert(at_unix_ns);
        });
    }

    pub(super) fn lane_begins(&self) {
        self.change(|state| state.lanes += 1);
    }

    /// There was no thread for a lane that was about to begin.
    pub(super) fn lane_never_began(&self) {
        self.change(|state| state.lanes -= 1);
    }

    /// A thread has ended, normally or not.
    pub(super) fn lane_ends(&self, was_idle: bool) {
        self.change(|state| {
            state.lanes -= 1;
            state.idle_lanes += usize::from(!was_idle);
        });
    }

    /// All observers of a thread have ended.
    pub(super) fn lane_is_idle(&self) {
        self.change(|state| state.idle_lanes += 1);
    }

    pub(super) fn idle_lanes(&self) -> usize {
        self.lock().idle_lanes
    }

    pub(super) fn has_looked(&self, observer: &str, result: Result<(), String>) {
        self.change(|state| {
            state.first_looks.insert(observer.to_owned(), result);
        });
    }

    /// Waits for an observer's first look; `None`: it took too long.
    pub(super) fn first_look(
        &self,
        observer: &str,
        at_most: Duration,
    ) -> Option<Result<(), String>> {
        let waiting = self
            .changed
            .wait_timeout_while(self.lock(), at_most, |state| {
                !state.first_looks.contains_key(observer)
            });
        let (state, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        state.first_looks.get(observer).cloned()
    }

    /// Waits until every thread has ended, waiting is no longer wanted, or the time is up.
    pub(super) fn wait_for_lanes(&self, at_most: Duration, is_hurried: impl Fn() -> bool) {
        let mut left = at_most;
        while !left.is_zero() && !is_hurried() && self.lock().lanes > 0 {
            let slice = left.min(HURRY_LOOK);
            let waiting = self
                .changed
                .wait_timeout_while(self.lock(), slice, |state| state.lanes > 0);
            drop(waiting.unwrap_or_else(PoisonError::into_inner));
            left -= slice;
        }
    }

    /// Waits until the orders differ from `known`, or the time is up; `None`: no time limit.
    pub(super) fn wait_for_orders(&self, known: Orders, at_most: Option<Duration>) {
        // A spurious wake-up only leads to another check of the time.
        let bound = at_most.unwrap_or(Duration::from_secs(3_600));
        let waiting = self
            .changed
            .wait_timeout_while(self.lock(), bound, |state| state.orders == known);
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }

    fn change(&self, change: impl FnOnce(&mut LaneControlState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, LaneControlState> {
        // Each change is a single assignment: a thread that panicked left nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
