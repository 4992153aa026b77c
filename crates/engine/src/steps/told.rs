//! What the log tells of phases, groups and threads, in JMeter's words.
//!
//! Must not know when they start. Invariant: a thread of which the log tells is told of to its end.

use std::sync::Arc;

use loadline_model::ThreadGroup;
use loadline_steps::host::{LogLevel, World};
use loadline_steps::program::{Group, OnError, Phase};

pub(super) const ENGINE: &str = "o.a.j.e.StandardJMeterEngine";
const GROUP: &str = "o.a.j.t.ThreadGroup";
const THREAD: &str = "o.a.j.t.JMeterThread";

/// The class and text of each line about groups that start together; `are_last`: no ordinary groups come later.
pub(super) fn phase_lines<'g>(
    groups: impl Iterator<Item = (&'g Group, &'g ThreadGroup)>,
    are_last: bool,
) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut is_main = false;
    for (group, shape) in groups {
        if let (true, Some(line)) = (lines.is_empty(), beginning(group.phase)) {
            lines.push((ENGINE, line.to_owned()));
        }
        is_main |= group.phase == Phase::Main;
        lines.extend(group_lines(group, shape));
    }
    if is_main && are_last {
        lines.push((ENGINE, "All thread groups have been started".to_owned()));
    }
    lines
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
    /// A thread starts; without a world, the log tells nothing.
    pub(crate) fn begin(world: Option<Arc<dyn World + Send + Sync>>, name: &str) -> ToldThread {
        let name = name.to_owned();
        let told = ToldThread { world, name };
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
