//! What a run of a plan of steps brings to the engine, and what its threads share over all workers.
//!
//! Must not know XML. Invariant: a phase begins when every thread of the phases before it has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use loadline_steps::host::World;
use loadline_steps::program::Program;
use loadline_steps::sample::Sample;
use loadline_steps::scope::Commons;
use loadline_steps::variables::Variables;

/// How many threads a group has, and when each begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTimes {
    /// Threads.
    pub threads: u32,
    /// Milliseconds between the starts of two.
    pub step_ms: u64,
    /// Iterations of each; `None`: no limit.
    pub loops: Option<u64>,
    /// Milliseconds before the first.
    pub delay_ms: u64,
    /// Milliseconds from the first start to the end; `None`: no limit.
    pub lasts_ms: Option<u64>,
    /// Which of the phases it runs in, from 0.
    pub stage: usize,
}

/// What a run of a plan of steps brings to the engine.
#[derive(Clone)]
pub struct StepsSetup {
    /// What the threads do.
    pub program: Arc<Program>,
    /// The plan's variables, evaluated.
    pub variables: Variables,
    /// The file name of the plan, without its folder.
    pub plan: String,
    /// The times of each group of the program.
    pub groups: Arc<[GroupTimes]>,
    /// The world outside.
    pub world: Arc<dyn World + Send + Sync>,
    /// Where samples go, in the order in which they are done.
    pub samples: SyncSender<Vec<Arc<Sample>>>,
    /// What all threads share.
    pub state: Arc<StepsState>,
}

/// What all threads of a run share.
#[derive(Debug)]
pub struct StepsState {
    pub(crate) commons: Arc<Commons>,
    /// Threads that have not ended, by phase.
    left: Vec<AtomicU32>,
    /// When each phase began, in milliseconds since 1970; 0: it has not.
    begun_ms: Vec<AtomicI64>,
    stage: AtomicUsize,
    is_stopping: AtomicBool,
    at_work: Vec<AtomicU32>,
    started: AtomicU32,
    finished: AtomicU32,
}

impl StepsState {
    /// The state before a run of groups.
    #[must_use]
    pub fn new(groups: &[GroupTimes]) -> StepsState {
        let stages = groups
            .iter()
            .map(|group| group.stage + 1)
            .max()
            .unwrap_or(0);
        let threads_of = |stage: usize| {
            let of_stage = groups.iter().filter(|group| group.stage == stage);
            AtomicU32::new(of_stage.map(|group| group.threads).sum())
        };
        StepsState {
            commons: Arc::default(),
            left: (0..stages).map(threads_of).collect(),
            begun_ms: (0..stages).map(|_| AtomicI64::new(0)).collect(),
            stage: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
            at_work: groups.iter().map(|_| AtomicU32::new(0)).collect(),
            started: AtomicU32::new(0),
            finished: AtomicU32::new(0),
        }
    }

    /// Threads that are at work, have started, and have finished.
    #[must_use]
    pub fn threads(&self) -> (u32, u32, u32) {
        let started = self.started.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        (started.saturating_sub(finished), started, finished)
    }

    /// When a phase began, if it has; begins it if all before it have ended.
    pub(crate) fn phase_began(&self, stage: usize, now_ms: i64) -> Option<i64> {
        loop {
            let current = self.stage.load(Ordering::Acquire);
            if current >= stage {
                break;
            }
            if self.left[current].load(Ordering::Acquire) > 0 {
                return None;
            }
            // Where another thread was quicker, the stage is what it made it.
            self.stage.fetch_max(current + 1, Ordering::AcqRel);
        }
        let begun = &self.begun_ms[stage];
        match begun.compare_exchange(0, now_ms, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(now_ms),
            Err(before) => Some(before),
        }
    }

    /// A thread of a group takes up its work.
    pub(crate) fn begin_thread(&self, group: usize) {
        self.at_work[group].fetch_add(1, Ordering::Relaxed);
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread of a group is over; `had_begun`: it had taken up its work.
    pub(crate) fn end_thread(&self, group: usize, stage: usize, had_begun: bool) {
        if had_begun {
            self.at_work[group].fetch_sub(1, Ordering::Relaxed);
            self.finished.fetch_add(1, Ordering::Relaxed);
        }
        self.left[stage].fetch_sub(1, Ordering::AcqRel);
    }

    /// Threads at work: of a group, and of all.
    pub(crate) fn threads_at_work(&self, group: usize) -> (u32, u32) {
        let of_group = self.at_work[group].load(Ordering::Relaxed);
        (of_group, self.threads().0)
    }

    /// Lets every thread end after its sample.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether threads are to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_begins_when_those_before_it_have_ended() {
        let group = |stage, threads| GroupTimes {
            threads,
            stage,
            ..GroupTimes::default()
        };
        let state = StepsState::new(&[group(0, 1), group(1, 2), group(2, 1)]);
        assert_eq!(state.phase_began(1, 5), None);
        assert_eq!(state.phase_began(0, 5), Some(5));
        state.begin_thread(0);
        assert_eq!(state.threads_at_work(0), (1, 1));
        state.end_thread(0, 0, true);
        assert_eq!(state.phase_began(1, 9), Some(9));
        assert_eq!(state.phase_began(1, 11), Some(9));
        state.end_thread(1, 1, false);
        assert_eq!(state.phase_began(2, 12), None);
        state.end_thread(1, 1, false);
        assert_eq!(state.phase_began(2, 12), Some(12));
        assert_eq!(state.threads(), (0, 1, 1));
    }
}
