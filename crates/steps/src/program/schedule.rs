//! When the threads of a group start and end, as a plan says it in texts.
//!
//! Must not know what threads do. Invariant: nothing here is evaluated yet.

use crate::text::Text;

/// How long after the start of a group its threads begin, and how long they run.
#[derive(Debug, Default)]
pub struct Lifetime {
    /// Whether the scheduler is on: `true` in any case; else the rest counts for nothing.
    pub is_on: Text,
    /// Seconds that threads run.
    pub duration_s: Text,
    /// Seconds before the first thread begins.
    pub delay_s: Text,
}

impl GroupSchedule {
    /// How often each thread goes round, where a loop of the group says so.
    #[must_use]
    pub fn loops(&self) -> Option<&Text> {
        match self {
            GroupSchedule::Ramp { loops, .. } | GroupSchedule::Rows { loops, .. } => Some(loops),
            GroupSchedule::Steps(steps) => Some(&steps.loops),
            _ => None,
        }
    }
}

/// When the threads of a group start and end.
#[derive(Debug)]
pub enum GroupSchedule {
    /// All threads over a ramp.
    Ramp {
        /// Threads.
        threads: Text,
        /// Seconds until all have begun.
        ramp_s: Text,
        /// Iterations of each; -1: no limit.
        loops: Text,
        /// What the scheduler says.
        lifetime: Box<Lifetime>,
        /// Whether threads are made only when it is their turn.
        is_delayed: bool,
    },
    /// Rows of threads, start delay, startup, hold and shutdown, the times in seconds (Ultimate).
    Rows {
        /// The rows.
        rows: Vec<Vec<Text>>,
        /// Iterations of each thread.
        loops: Text,
    },
    /// Threads in bunches (Stepping).
    Steps(Box<SteppingSchedule>),
    /// Threads that are kept up (Concurrency).
    Concurrency(Box<LevelSchedule>),
    /// Arrivals by a level.
    Arrivals {
        /// The level, in arrivals.
        level: Box<LevelSchedule>,
        /// Threads at most.
        threads_max: Text,
    },
    /// Arrivals by legs: rate at the start, at the end, and how long it takes (Free-Form Arrivals).
    FreeForm {
        /// The legs.
        legs: Vec<Vec<Text>>,
        /// `M` for minutes; else seconds.
        unit: Text,
        /// Iterations of each thread; 0: no limit.
        loops: Text,
        /// Threads at most.
        threads_max: Text,
    },
    /// Arrivals by a schedule in words (Open Model).
    Open {
        /// The schedule.
        schedule: Text,
        /// Seed of what is by chance; 0: none.
        seed: Text,
    },
}

impl GroupSchedule {
    /// How many threads there are, where that is a number of the plan.
    #[must_use]
    pub fn threads(&self) -> Option<&Text> {
        match self {
            GroupSchedule::Ramp { threads, .. } => Some(threads),
            GroupSchedule::Steps(steps) => Some(&steps.threads),
            _ => None,
        }
    }

    /// What stands behind the group's name in the names of its threads.
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

/// The numbers of a Stepping group; times in seconds.
#[derive(Debug)]
pub struct SteppingSchedule {
    /// Threads.
    pub threads: Text,
    /// Before the first.
    pub delay_s: Text,
    /// Threads of the first bunch.
    pub first_bunch: Text,
    /// Threads of each later one.
    pub bunch: Text,
    /// Between two.
    pub period_s: Text,
    /// Over which a bunch starts.
    pub ramp_s: Text,
    /// That all are at work.
    pub hold_s: Text,
    /// Threads that end together.
    pub stop_bunch: Text,
    /// Between the ends of two.
    pub stop_period_s: Text,
    /// Iterations of each thread.
    pub loops: Text,
}

/// A level that is reached over a ramp and then held.
#[derive(Debug)]
pub struct LevelSchedule {
    /// The level.
    pub target: Text,
    /// How long it takes, in units.
    pub ramp: Text,
    /// Steps of the ramp; empty or 0: it rises evenly.
    pub steps: Text,
    /// How long it is held, in units.
    pub hold: Text,
    /// `M` for minutes; else seconds.
    pub unit: Text,
    /// Iterations of each thread; empty or 0: no limit.
    pub loops: Text,
}
