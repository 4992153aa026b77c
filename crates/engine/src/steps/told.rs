//! What the log tells of phases, groups and threads, in JMeter's words.
//!
//! Must not know when they start. Invariant: a phase is told once, and nothing is told where only a share of the
//! plan runs: others would tell the same.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadline_model::ThreadGroup;
use loadline_steps::host::{LogLevel, World};
use loadline_steps::program::{Group, OnError, Phase};
use loadline_steps::scope::Part;

use super::{StepsSetup, StepsState};

const ENGINE: &str = "o.a.j.e.StandardJMeterEngine";
const GROUP: &str = "o.a.j.t.ThreadGroup";
const THREAD: &str = "o.a.j.t.JMeterThread";

impl StepsState {
    /// Whether the log tells of this run.
    fn is_told(&self) -> bool {
        self.commons.part == Part::default()
    }

    /// Whether the log does not tell of a phase yet; now it does.
    fn is_untold(&self, stage: usize) -> bool {
        let told = self.told.get(stage);
        told.is_some_and(|told| !told.swap(true, Ordering::Relaxed))
    }
}

impl StepsSetup {
    /// Tells of a phase that starts, unless that is told already.
    pub(crate) fn tell_phase(&self, stage: usize) {
        if !self.state.is_told() || !self.state.is_untold(stage) {
            return;
        }
        let tell = |class: &str, line: &str| self.world.log(LogLevel::Info, class, line);
        let groups = self.program.groups.iter().zip(self.groups.iter());
        let of_phase = groups.filter(|(_, times)| times.stage == stage);
        let mut is_main = false;
        for (place, (group, times)) in of_phase.enumerate() {
            if let (0, Some(line)) = (place, beginning(group.phase)) {
                tell(ENGINE, line);
            }
            is_main |= group.phase == Phase::Main;
            for (class, line) in group_lines(group, &times.shape) {
                tell(class, &line);
            }
        }
        if is_main && !self.has_main_after(stage) {
            tell(ENGINE, "All thread groups have been started");
        }
    }

    /// Tells of the end of a phase; after the last one, that is the end of the test.
    pub(crate) fn tell_phase_end(&self, stage: usize) {
        if !self.state.is_told() {
            return;
        }
        let tell = |line: &str| self.world.log(LogLevel::Info, ENGINE, line);
        let groups = || self.program.groups.iter().zip(self.groups.iter());
        if groups().any(|(group, times)| times.stage == stage && group.phase == Phase::SetUp) {
            tell("All Setup Threads have ended");
        }
        if groups().all(|(_, times)| times.stage <= stage) {
            tell("Notifying test listeners of end of test");
        }
    }

    /// Whether ordinary groups start after a phase, one after the other.
    fn has_main_after(&self, stage: usize) -> bool {
        let mut groups = self.program.groups.iter().zip(self.groups.iter());
        groups.any(|(group, times)| group.phase == Phase::Main && times.stage > stage)
    }
}

/// The line before the groups of a phase.
fn beginning(phase: Phase) -> Option<&'static str> {
    match phase {
        Phase::SetUp => Some("Starting setUp thread groups"),
        Phase::Main => None,
        Phase::TearDown => Some("Starting tearDown thread groups"),
    }
}

/// The lines of a group that starts.
fn group_lines(group: &Group, shape: &ThreadGroup) -> Vec<(&'static str, String)> {
    let Group { name, number, .. } = group;
    // The blank after the name of a setUp group is JMeter's.
    let (kind, end) = match group.phase {
        Phase::SetUp => ("setUp ThreadGroup", " "),
        Phase::Main => ("ThreadGroup", ""),
        Phase::TearDown => ("tearDown ThreadGroup", ""),
    };
    let threads = shape.threads_max();
    let mut lines = vec![
        (ENGINE, format!("Starting {kind}: {number} : {name}{end}")),
        (
            ENGINE,
            format!("Starting {threads} threads for group {name}."),
        ),
        (ENGINE, after_an_error(group.on_error).to_owned()),
    ];
    if let ThreadGroup::Ramp {
        step_ms,
        leaves_out_late,
        ..
    } = shape
    {
        let ramp_s = (step_ms * u64::from(threads) + 500) / 1000;
        lines.push((
            GROUP,
            format!(
                "Starting thread group... number={number} threads={threads} ramp-up={ramp_s} \
                 delayedStart={leaves_out_late}"
            ),
        ));
        lines.push((GROUP, format!("Started thread group number {number}")));
    }
    lines
}

fn after_an_error(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Continue => "Thread will continue on error",
        OnError::NextIteration => "Thread will start next loop on error",
        OnError::StopThread => "Thread will stop on error",
        OnError::StopTest => "Test will stop on error",
        OnError::StopTestNow => "Test will stop abruptly on error",
    }
}

/// What the log tells of a thread while this exists, and that it has finished when this is dropped.
pub(crate) struct ToldThread {
    /// `None`: the log tells nothing.
    world: Option<Arc<dyn World + Send + Sync>>,
    name: String,
}

impl ToldThread {
    /// A thread starts.
    pub(crate) fn begin(setup: &StepsSetup, name: &str) -> ToldThread {
        let told = ToldThread {
            world: setup.state.is_told().then(|| Arc::clone(&setup.world)),
            name: name.to_owned(),
        };
        told.tell("Thread started: ");
        told
    }

    /// Tells what happened to the thread.
    pub(crate) fn tell(&self, what: &str) {
        if let Some(world) = &self.world {
            let line = format!("{what}{}", self.name);
            world.log(LogLevel::Info, THREAD, &line);
        }
    }
}

impl Drop for ToldThread {
    fn drop(&mut self) {
        self.tell("Thread finished: ");
    }
}
