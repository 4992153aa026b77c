//! Counters that can be read while the workers run.
//!
//! Each worker writes a cache line of its own, relaxed; readers sum them. Must not be used for
//! anything that has to add up: that is the snapshots' task. Invariant: one writer per line.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One worker's counters, alone on its cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    started: AtomicU64,
    completed: AtomicU64,
    failed: AtomicU64,
    interrupted: AtomicU64,
    vus_active: AtomicU64,
    vus_made: AtomicU64,
    iterations_completed: AtomicU64,
    iterations_interrupted: AtomicU64,
}

/// The sum of all workers' counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveTotals {
    /// Requests begun.
    pub started: u64,
    /// Requests answered whole.
    pub completed: u64,
    /// Requests failed.
    pub failed: u64,
    /// Requests cut short.
    pub interrupted: u64,
    /// Virtual users at work, whether or not a request is under way.
    pub vus_active: u64,
    /// Virtual users made.
    pub vus_made: u64,
    /// Iterations of scripts run to their end.
    pub iterations_completed: u64,
    /// Iterations of scripts cut short.
    pub iterations_interrupted: u64,
}

impl LiveTotals {
    /// Requests under way.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.started
            .saturating_sub(self.completed + self.failed + self.interrupted)
    }
}

impl LiveCounters {
    #[inline]
    pub(crate) fn count_started(&self) {
        bump(&self.started);
    }

    #[inline]
    pub(crate) fn count_completed(&self) {
        bump(&self.completed);
    }

    #[inline]
    pub(crate) fn count_failed(&self) {
        bump(&self.failed);
    }

    #[inline]
    pub(crate) fn count_interrupted(&self) {
        bump(&self.interrupted);
    }

    #[inline]
    pub(crate) fn count_iteration(&self, is_complete: bool) {
        if is_complete {
            bump(&self.iterations_completed);
        } else {
            bump(&self.iterations_interrupted);
        }
    }

    /// Says how many virtual users the worker has at work, and how many it has made.
    #[inline]
    pub fn set_vus(&self, active: u64, made: u64) {
        self.vus_active.store(active, Relaxed);
        self.vus_made.store(made, Relaxed);
    }

    /// Adds this worker's counters to a sum.
    pub fn add_to(&self, sum: &mut LiveTotals) {
        // Ends are read before starts, so that a request never seems to have ended unstarted.
        sum.completed += self.completed.load(Relaxed);
        sum.failed += self.failed.load(Relaxed);
        sum.interrupted += self.interrupted.load(Relaxed);
        sum.started += self.started.load(Relaxed);
        sum.vus_active += self.vus_active.load(Relaxed);
        sum.vus_made += self.vus_made.load(Relaxed);
        sum.iterations_completed += self.iterations_completed.load(Relaxed);
        sum.iterations_interrupted += self.iterations_interrupted.load(Relaxed);
    }
}

/// One writer: a load and a store, without a locked instruction.
#[inline]
fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}
