//! Counters that can be read while the workers run.
//!
//! Each worker writes its own cache line with relaxed ordering; readers sum them. Must not be used for anything
//! that has to add up: snapshots do that. Invariant: one writer per line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use loadline_model::sample::VusAtWork;

/// One worker's counters, alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    at_work: Box<[AtWork]>,
    started: AtomicU64,
    completed: AtomicU64,
    failed: AtomicU64,
    interrupted: AtomicU64,
    vus_made: AtomicU64,
    iterations_completed: AtomicU64,
    iterations_interrupted: AtomicU64,
}

/// One scenario on a worker.
#[derive(Debug, Default)]
#[repr(align(128))]
struct AtWork {
    /// Active virtual users.
    vus: AtomicU64,
    /// Iterations that ended, in whatever way.
    ended: AtomicU64,
}

/// The sum of all workers' counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveTotals {
    /// Requests started.
    pub started: u64,
    /// Requests answered completely.
    pub completed: u64,
    /// Requests failed.
    pub failed: u64,
    /// Requests cut short.
    pub interrupted: u64,
    /// Active virtual users, whether or not a request is in flight.
    pub vus_active: u64,
    /// Virtual users initialized.
    pub vus_made: u64,
    /// Complete iterations of scripts.
    pub iterations_completed: u64,
    /// Interrupted iterations of scripts.
    pub iterations_interrupted: u64,
}

impl LiveTotals {
    /// Requests in flight.
    #[must_use]
    pub fn active(&self) -> u64 {
        self.started
            .saturating_sub(self.completed + self.failed + self.interrupted)
    }

    /// Adds the counts of others.
    pub fn merge(&mut self, other: &LiveTotals) {
        let LiveTotals {
            started,
            completed,
            failed,
            interrupted,
            vus_active,
            vus_made,
            iterations_completed,
            iterations_interrupted,
        } = other;
        self.started += started;
        self.completed += completed;
        self.failed += failed;
        self.interrupted += interrupted;
        self.vus_active += vus_active;
        self.vus_made += vus_made;
        self.iterations_completed += iterations_completed;
        self.iterations_interrupted += iterations_interrupted;
    }
}

impl LiveCounters {
    /// Zeros, for a plan with this number of scenarios.
    #[must_use]
    pub fn for_scenarios(count: usize) -> LiveCounters {
        LiveCounters {
            at_work: (0..count).map(|_| AtWork::default()).collect(),
            ..LiveCounters::default()
        }
    }

    /// Shows the counts of remote workers in place of a local worker: all of them belong to the first scenario.
    pub fn show(&self, totals: &LiveTotals) {
        if let Some(first) = self.at_work.first() {
            first.vus.store(totals.vus_active, Relaxed);
        }
        for (counter, value) in [
            (&self.started, totals.started),
            (&self.completed, totals.completed),
            (&self.failed, totals.failed),
            (&self.interrupted, totals.interrupted),
            (&self.vus_made, totals.vus_made),
            (&self.iterations_completed, totals.iterations_completed),
            (&self.iterations_interrupted, totals.iterations_interrupted),
        ] {
            counter.store(value, Relaxed);
        }
    }

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

    /// Counts an iteration of a scenario that ended in whatever way.
    #[inline]
    pub(crate) fn count_ended(&self, scenario: usize) {
        bump(&self.at_work[scenario].ended);
    }

    /// Counts a virtual user of a scenario that became active or idle.
    #[inline]
    pub(crate) fn note_at_work(&self, scenario: usize, is_at_work: bool) {
        let count = &self.at_work[scenario].vus;
        let before = count.load(Relaxed);
        let after = match is_at_work {
            true => before + 1,
            false => before.saturating_sub(1),
        };
        count.store(after, Relaxed);
    }

    #[inline]
    pub(crate) fn count_made(&self) {
        bump(&self.vus_made);
    }

    /// Active virtual users of the worker, over all scenarios.
    fn at_work(&self) -> u64 {
        let counts = self.at_work.iter();
        counts.map(|at_work| at_work.vus.load(Relaxed)).sum()
    }

    /// Adds this worker's counters to a sum.
    pub fn add_to(&self, sum: &mut LiveTotals) {
        // Ends are read before starts, so that no request seems to have ended without having started.
        sum.completed += self.completed.load(Relaxed);
        sum.failed += self.failed.load(Relaxed);
        sum.interrupted += self.interrupted.load(Relaxed);
        sum.started += self.started.load(Relaxed);
        sum.vus_active += self.at_work();
        sum.vus_made += self.vus_made.load(Relaxed);
        sum.iterations_completed += self.iterations_completed.load(Relaxed);
        sum.iterations_interrupted += self.iterations_interrupted.load(Relaxed);
    }
}

/// Active virtual users over all workers counted here: of one scenario, and in total. The caller is active, so
/// neither is zero, not even for what runs outside of scenarios (`None`).
pub(crate) fn vus_at_work(all: &[Arc<LiveCounters>], scenario: Option<usize>) -> VusAtWork {
    let of_scenario = |index: usize| -> u64 {
        let counts = all.iter().filter_map(|live| live.at_work.get(index));
        counts.map(|at_work| at_work.vus.load(Relaxed)).sum()
    };
    let count = |vus: u64| u32::try_from(vus.max(1)).unwrap_or(u32::MAX);
    VusAtWork {
        scenario: count(scenario.map_or(1, of_scenario)),
        run: count(all.iter().map(|live| live.at_work()).sum()),
    }
}

/// Iterations of a scenario that ended, over all workers counted here.
pub(crate) fn iterations_ended(all: &[Arc<LiveCounters>], scenario: usize) -> u64 {
    let counts = all.iter().filter_map(|live| live.at_work.get(scenario));
    counts.map(|at_work| at_work.ended.load(Relaxed)).sum()
}

/// One writer: a load and a store, without a locked instruction.
#[inline]
fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_at_work_is_counted_by_scenario_over_all_workers() {
        let all = [(); 2].map(|()| Arc::new(LiveCounters::for_scenarios(2)));
        let changes = [
            (0, 0, true),
            (0, 0, true),
            (1, 0, true),
            (1, 1, true),
            (0, 0, false),
        ];
        for (worker, scenario, is_at_work) in changes {
            all[worker].note_at_work(scenario, is_at_work);
        }
        let told = [Some(0), Some(1), None].map(|scenario| {
            let vus = vus_at_work(&all, scenario);
            (vus.scenario, vus.run)
        });
        assert_eq!(told, [(2, 3), (1, 3), (1, 3)]);
        let mut totals = LiveTotals::default();
        all.iter().for_each(|live| live.add_to(&mut totals));
        assert_eq!(totals.vus_active, 3);
        for (worker, scenario) in [(0, 1), (1, 1), (1, 0)] {
            all[worker].count_ended(scenario);
        }
        let ended = [0, 1, 2].map(|scenario| iterations_ended(&all, scenario));
        assert_eq!(ended, [1, 2, 0]);
    }

    #[test]
    fn who_asks_before_anybody_is_counted_is_at_work() {
        let setup = vus_at_work(&[], None);
        assert_eq!((setup.scenario, setup.run), (1, 1));
    }
}
