//! What a run of a plan of steps passes to the engine, and the state shared by its threads on all workers.
//!
//! Must not know XML. Invariant: a phase starts when every group of the previous phases has ended on every
//! worker.

pub(crate) mod metrics;
pub mod phases;
pub mod scripts;
pub(crate) mod told;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use loadline_model::{Nanos, ThreadGroup};
use loadline_steps::host::{LogLevel, World};
use loadline_steps::program::{Phase, Program};
use loadline_steps::scope::{Commons, Part};
use loadline_steps::variables::Variables;
use tokio::sync::Notify;

use crate::record_script::ScriptMetrics;
pub use crate::vu::steps::Outbox;

/// How long Java caches that a name has no address (`networkaddress.cache.negative.ttl`).
pub(crate) const FAILED_NAMES_KEPT: Duration = Duration::from_secs(10);

/// When the threads of a group run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTimes {
    /// When each starts and ends.
    pub shape: ThreadGroup,
    /// Iterations of each; `None`: no limit.
    pub loops: Option<u64>,
    /// Whether each thread evaluates the number in the plan when it starts: earlier steps may have changed it.
    pub asks_loops: bool,
    /// The phase in which it runs, from 0.
    pub stage: usize,
}

/// What a run of a plan of steps passes to the engine.
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
    /// The destination of samples, in order of completion.
    pub samples: Arc<Outbox>,
    /// State shared by all threads.
    pub state: Arc<StepsState>,
    /// What samples are measured with; `None`: only their requests are counted.
    pub metrics: Option<ScriptMetrics>,
}

impl StepsSetup {
    /// What a group waits for. As in JMeter, tear-down groups outlive a stop if the plan says so and set-up was
    /// complete.
    pub(crate) fn gate_of(&self, group: usize) -> PhaseGate {
        let groups = || self.program.groups.iter().zip(self.groups.iter());
        let set_up = groups().filter(|(group, _)| group.phase == Phase::SetUp);
        let after_set_up = set_up.map(|(_, times)| times.stage + 1).max().unwrap_or(0);
        let is_spared = self.program.tear_down_on_shutdown
            && self.program.groups[group].phase == Phase::TearDown;
        PhaseGate {
            told_by: Some(self.clone()),
            state: Arc::clone(&self.state),
            stage: self.groups[group].stage,
            group,
            outlives_stop_after: is_spared.then_some(after_set_up),
        }
    }
}

impl StepsSetup {
    /// The world whose log tells of the run; `None`: only a share of the plan runs, and others would tell the same.
    pub(crate) fn world_to_tell(&self) -> Option<Arc<dyn World + Send + Sync>> {
        let is_whole = self.state.commons.part == Part::default();
        is_whole.then(|| Arc::clone(&self.world))
    }

    /// Tells once of a phase that starts.
    pub(crate) fn tell_phase(&self, stage: usize) {
        let told = self.state.told.get(stage);
        if told.is_none_or(|told| told.swap(true, Ordering::Relaxed)) {
            return;
        }
        let Some(world) = self.world_to_tell() else {
            return;
        };
        let groups = || self.program.groups.iter().zip(self.groups.iter());
        let are_last =
            groups().all(|(group, times)| group.phase != Phase::Main || times.stage <= stage);
        let of_phase = groups().filter(|(_, times)| times.stage == stage);
        let of_phase = of_phase.map(|(group, times)| (group, &times.shape));
        for (class, line) in told::phase_lines(of_phase, are_last) {
            world.log(LogLevel::Info, class, &line);
        }
    }

    /// Tells of the end of a phase; after the last one, that is the end of the test.
    pub(crate) fn tell_phase_end(&self, stage: usize) {
        let Some(world) = self.world_to_tell() else {
            return;
        };
        let tell = |line: &str| world.log(LogLevel::Info, told::ENGINE, line);
        let groups = || self.program.groups.iter().zip(self.groups.iter());
        if groups().any(|(group, times)| times.stage == stage && group.phase == Phase::SetUp) {
            tell("All Setup Threads have ended");
        }
        if groups().all(|(_, times)| times.stage <= stage) {
            tell("Notifying test listeners of end of test");
        }
    }
}

/// Declares the metrics of samples, for processes that aggregate those of others.
///
/// # Errors
/// Other metrics have these names.
pub fn declare_metrics(metrics: &ScriptMetrics) -> Result<(), String> {
    metrics::OtherSamplers::declare(metrics).map(drop)
}

/// State shared by all threads of a run.
#[derive(Debug)]
pub struct StepsState {
    pub(crate) commons: Arc<Commons>,
    /// Threads of each group at most.
    threads: Vec<u32>,
    /// Groups on workers that have not ended, by phase.
    left: Vec<AtomicU32>,
    /// When each phase started, in nanoseconds of the run's clock, plus one; 0: it has not.
    begun: Vec<AtomicU64>,
    /// Phases that the log tells of.
    told: Vec<AtomicBool>,
    is_stopping: AtomicBool,
    /// Number of phases that had started when the test was last stopped.
    stopped_in: AtomicU32,
    /// Whether a thread wants running samples to be interrupted.
    is_cut: AtomicBool,
    at_work: Vec<AtomicU32>,
    /// Number of threads that got a number, by group.
    numbered: Vec<AtomicU32>,
    /// Number of threads that each group maintains.
    targets: Vec<AtomicU32>,
    /// Groups that have to end.
    is_over: Vec<AtomicBool>,
    /// Notified whenever threads that wait for each other are released.
    pub(crate) let_go: Notify,
    started: AtomicU32,
    finished: AtomicU32,
}

impl StepsState {
    /// The state before a run of groups.
    #[must_use]
    pub fn new(groups: &[GroupTimes]) -> StepsState {
        let threads = groups.iter().map(|group| group.shape.threads_max());
        StepsState::of_part(groups, Part::default(), threads.collect())
    }

    /// The state before a part of a run of groups; `threads`: the number of threads of each group in the part.
    #[must_use]
    pub fn of_part(groups: &[GroupTimes], part: Part, threads: Vec<u32>) -> StepsState {
        let stages = groups.iter().map(|group| group.stage + 1).max();
        let stages = stages.unwrap_or(0);
        let of_groups = || groups.iter().map(|_| AtomicU32::new(0)).collect();
        StepsState {
            commons: Arc::new(Commons::of_part(part)),
            threads,
            left: (0..stages).map(|_| AtomicU32::new(0)).collect(),
            begun: (0..stages).map(|_| AtomicU64::new(0)).collect(),
            told: (0..stages).map(|_| AtomicBool::new(false)).collect(),
            is_stopping: AtomicBool::new(false),
            stopped_in: AtomicU32::new(0),
            is_cut: AtomicBool::new(false),
            at_work: of_groups(),
            numbered: of_groups(),
            targets: groups
                .iter()
                .map(|group| AtomicU32::new(group.shape.threads_max()))
                .collect(),
            is_over: groups.iter().map(|_| AtomicBool::new(false)).collect(),
            let_go: Notify::new(),
            started: AtomicU32::new(0),
            finished: AtomicU32::new(0),
        }
    }

    /// Threads that are running, have started, and have finished.
    #[must_use]
    pub fn threads(&self) -> (u32, u32, u32) {
        let started = self.started.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        (started.saturating_sub(finished), started, finished)
    }

    /// Announces that a group of a phase will run on this many workers. Call it before the first starts.
    pub(crate) fn expect(&self, stage: usize, workers: u32) {
        self.left[stage].fetch_add(workers, Ordering::AcqRel);
    }

    /// Keeps every phase open.
    fn hold_phases(&self) {
        for left in &self.left {
            left.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Whether a phase is open for no other reason than that it is held; `false`: there is no such phase.
    fn is_only_held(&self, stage: usize) -> bool {
        let left = self.left.get(stage);
        left.is_some_and(|left| left.load(Ordering::Acquire) == 1)
    }

    /// Stops keeping a phase open, if it was.
    fn release_phase(&self, stage: usize) {
        if let Some(left) = self.left.get(stage) {
            let less = |left: u32| left.checked_sub(1);
            // A phase that is not open cannot be closed.
            let _ = left.try_update(Ordering::AcqRel, Ordering::Acquire, less);
        }
    }

    /// When a phase started, if it has; starts it if all previous phases have ended.
    pub(crate) fn phase_began(&self, stage: usize, now: Nanos) -> Option<Nanos> {
        let mut before = self.left[..stage].iter();
        if before.any(|left| left.load(Ordering::Acquire) > 0) {
            return None;
        }
        let begun = &self.begun[stage];
        let at = now.0.saturating_add(1);
        let began = begun.compare_exchange(0, at, Ordering::AcqRel, Ordering::Acquire);
        Some(Nanos(began.map_or_else(|earlier| earlier - 1, |_| now.0)))
    }

    /// A group of a phase has ended on a worker; returns whether that was the last one.
    pub(crate) fn end_share(&self, stage: usize) -> bool {
        self.left[stage].fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The number of the next thread of a group, from 1.
    pub(crate) fn number_thread(&self, group: usize) -> u32 {
        let count = self.numbered[group].fetch_add(1, Ordering::Relaxed) + 1;
        let number = self.commons.part.numbered(count.into());
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Maximum threads of a group.
    pub(crate) fn threads_of(&self, group: usize) -> u32 {
        self.threads[group]
    }

    /// A thread of a group starts running, for the first time or again, until what is returned is dropped.
    pub(crate) fn begin_thread(&self, group: usize) -> AtWork<'_> {
        self.at_work[group].fetch_add(1, Ordering::Relaxed);
        self.started.fetch_add(1, Ordering::Relaxed);
        AtWork { state: self, group }
    }

    /// A thread of a group has ended.
    fn end_thread(&self, group: usize) {
        self.at_work[group].fetch_sub(1, Ordering::Relaxed);
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    /// Running threads: of a group, and in total.
    pub(crate) fn threads_at_work(&self, group: usize) -> (u32, u32) {
        let of_group = self.at_work[group].load(Ordering::Relaxed);
        (of_group, self.threads().0)
    }

    /// Number of threads that a group maintains.
    pub(crate) fn target(&self, group: usize) -> u32 {
        self.targets[group].load(Ordering::Relaxed)
    }

    /// Sets the number of threads that a group maintains.
    pub(crate) fn set_target(&self, group: usize, threads: u32) {
        self.targets[group].store(threads, Ordering::Relaxed);
    }

    /// Makes every thread of a group end after its sample.
    pub(crate) fn end_group(&self, group: usize) {
        self.is_over[group].store(true, Ordering::Relaxed);
    }

    /// Whether the threads of a group have to end.
    pub(crate) fn is_group_over(&self, group: usize) -> bool {
        self.is_over[group].load(Ordering::Relaxed)
    }

    /// Whether a phase has started.
    pub(crate) fn has_begun(&self, stage: usize) -> bool {
        let begun = self.begun.get(stage);
        begun.is_some_and(|begun| begun.load(Ordering::Acquire) > 0)
    }

    /// Makes every thread end after its sample.
    pub fn stop(&self) {
        let begun = (0..self.begun.len()).filter(|stage| self.has_begun(*stage));
        let begun = u32::try_from(begun.count()).unwrap_or(u32::MAX);
        self.stopped_in.fetch_max(begun, Ordering::Relaxed);
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// The same for a thread that also wants running samples to be interrupted, which others have to do.
    pub(crate) fn stop_now(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Whether threads have to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }
}

/// Counts a thread as running while this exists.
pub(crate) struct AtWork<'a> {
    state: &'a StepsState,
    group: usize,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.state.end_thread(self.group);
    }
}

impl PhaseGate {
    /// Whether the group's threads have to end, and no more may start.
    pub(crate) fn is_to_end(&self) -> bool {
        let state = &self.state;
        state.is_group_over(self.group) || state.is_stopping() && !self.outlives_stop()
    }

    /// Whether a stop of the test does not affect the group. A stop while the group runs does.
    pub(crate) fn outlives_stop(&self) -> bool {
        let after = self.outlives_stop_after;
        let is_late = self.state.stopped_in.load(Ordering::Relaxed) as usize > self.stage;
        !is_late && after.is_some_and(|stage| self.state.has_begun(stage))
    }
}

/// What a group waits for on a worker: the end of all groups of previous phases.
pub(crate) struct PhaseGate {
    /// Whose log tells of phases; `None`: no log does.
    pub(crate) told_by: Option<StepsSetup>,
    pub(crate) state: Arc<StepsState>,
    pub(crate) stage: usize,
    /// Its index in the program.
    pub(crate) group: usize,
    /// The phase that must have started for it to run even after a stop; `None`: it does not run then.
    pub(crate) outlives_stop_after: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_begins_when_those_before_it_have_ended() {
        let group = |stage| GroupTimes {
            shape: ThreadGroup::Rows { rows: Vec::new() },
            loops: None,
            asks_loops: false,
            stage,
        };
        let state = StepsState::new(&[group(0), group(1), group(2)]);
        for stage in 0..3 {
            state.expect(stage, 2);
        }
        assert_eq!(state.phase_began(1, Nanos(5)), None);
        assert_eq!(state.phase_began(0, Nanos(5)), Some(Nanos(5)));
        let thread = state.begin_thread(0);
        assert_eq!(state.threads_at_work(0), (1, 1));
        drop(thread);
        assert!(!state.end_share(0));
        assert_eq!(state.phase_began(1, Nanos(8)), None);
        assert!(state.end_share(0));
        assert_eq!(state.phase_began(1, Nanos(9)), Some(Nanos(9)));
        assert_eq!(state.phase_began(1, Nanos(11)), Some(Nanos(9)));
        assert_eq!(state.phase_began(2, Nanos(12)), None);
        assert_eq!(state.threads(), (0, 1, 1));
        assert_eq!((state.number_thread(1), state.number_thread(1)), (1, 2));
    }

    #[test]
    fn a_stop_concerns_a_tear_down_that_runs() {
        let group = |stage| GroupTimes {
            shape: ThreadGroup::Rows { rows: Vec::new() },
            loops: None,
            asks_loops: false,
            stage,
        };
        let state = Arc::new(StepsState::new(&[group(0), group(1)]));
        state.expect(0, 1);
        state.expect(1, 1);
        let gate = PhaseGate {
            told_by: None,
            state: Arc::clone(&state),
            stage: 1,
            group: 1,
            outlives_stop_after: Some(0),
        };
        state.phase_began(0, Nanos(5));
        state.stop();
        assert!(gate.outlives_stop() && !gate.is_to_end());
        state.end_share(0);
        state.phase_began(1, Nanos(6));
        assert!(!gate.is_to_end());
        state.stop();
        assert!(gate.is_to_end());
    }
}
