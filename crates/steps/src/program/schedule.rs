//! Start and end of a group's threads, as texts of the plan.
//!
//! Must not know what threads do. Invariant: nothing here is evaluated yet.

use crate::text::Text;

/// Start delay and duration of a group's threads.
#[derive(Debug, Default)]
pub struct Lifetime {
    /// Whether the scheduler is on: `true` in any case; otherwise the other fields are ignored.
    pub is_on: Text,
    /// Seconds that threads run.
    pub duration_s: Text,
    /// Seconds before the first thread starts.
    pub delay_s: Text,
}

impl GroupSchedule {
    /// The number of iterations of each thread, if set by a loop of the group.
    #[must_use]
    pub fn loops(&self) -> Option<&Text> {
        match self {
            GroupSchedule::Ramp { loops, .. } | GroupSchedule::Rows { loops, .. } => Some(loops),
            GroupSchedule::Steps(steps) => Some(&steps.loops),
            _ => None,
        }
    }
}

/// Start and end of a group's threads.
#[derive(Debug)]
pub enum GroupSchedule {
    /// All threads, started over a ramp.
    Ramp {
        /// Threads.
        threads: Text,
        /// Seconds until all have started.
        ramp_s: Text,
        /// Iterations per thread; -1: no limit.
        loops: Text,
        /// The scheduler's settings.
        lifetime: Box<Lifetime>,
        /// Whether threads are only created when they start.
        is_delayed: bool,
    },
    /// Rows of threads, start delay, startup, hold and shutdown, the times in seconds (Ultimate).
    Rows {
        /// The rows.
        rows: Vec<Vec<Text>>,
        /// Iterations per thread.
        loops: Text,
    },
    /// Threads in steps (Stepping).
    Steps(Box<SteppingSchedule>),
    /// A constant number of threads (Concurrency).
    Concurrency(Box<LevelSchedule>),
    /// Arrivals at a level.
    Arrivals {
        /// The level, as an arrival rate.
        level: Box<LevelSchedule>,
        /// Maximum threads.
        threads_max: Text,
    },
    /// Arrivals in stages: initial rate, final rate, and duration (Free-Form Arrivals).
    FreeForm {
        /// The stages.
        legs: Vec<Vec<Text>>,
        /// `M` for minutes; otherwise seconds.
        unit: Text,
        /// Iterations per thread; 0: no limit.
        loops: Text,
        /// Maximum threads.
        threads_max: Text,
    },
    /// Arrivals by a textual schedule (Open Model).
    Open {
        /// The schedule.
        schedule: Text,
        /// Random seed; 0: none.
        seed: Text,
    },
}

impl GroupSchedule {
    /// The number of threads, if the plan contains it.
    #[must_use]
    pub fn threads(&self) -> Option<&Text> {
        match self {
            GroupSchedule::Ramp { threads, .. } => Some(threads),
            GroupSchedule::Steps(steps) => Some(&steps.threads),
            _ => None,
        }
    }

    /// The suffix to the group's name in its threads' names.
    #[must_use]
    pub fn name_suffix(&self) -> &'static str {
        match self {
            GroupSchedule::Concurrency(_)
            | GroupSchedule::Arrivals { .. }
            | GroupSchedule::FreeForm { .. } => "-ThreadStarter",
            _ => "",
        }
    }
}

/// The parameters of a Stepping group; times in seconds.
#[derive(Debug)]
pub struct SteppingSchedule {
    /// Threads.
    pub threads: Text,
    /// Before the first start.
    pub delay_s: Text,
    /// Threads in the first step.
    pub first_bunch: Text,
    /// Threads in each further step.
    pub bunch: Text,
    /// Between two steps.
    pub period_s: Text,
    /// Ramp-up of one step.
    pub ramp_s: Text,
    /// With all threads running.
    pub hold_s: Text,
    /// Threads that are stopped together.
    pub stop_bunch: Text,
    /// Between two stops.
    pub stop_period_s: Text,
    /// Iterations per thread.
    pub loops: Text,
}

/// A level that is reached in a ramp and then held.
#[derive(Debug)]
pub struct LevelSchedule {
    /// The level.
    pub target: Text,
    /// Duration of the ramp, in units.
    pub ramp: Text,
    /// Steps of the ramp; empty or 0: linear.
    pub steps: Text,
    /// Duration of the hold, in units.
    pub hold: Text,
    /// `M` for minutes; otherwise seconds.
    pub unit: Text,
    /// Iterations per thread; empty or 0: no limit.
    pub loops: Text,
}
