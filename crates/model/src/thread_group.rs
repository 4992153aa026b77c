//! Thread groups of JMeter plans as data: when their threads start and end, counted from the group's beginning.
//!
//! Must not know when a group begins, nor how a start is decided; that is the `schedule` crate. Invariant: rates are whole
//! numbers of millionths, so that groups can be compared.

use serde::{Deserialize, Serialize};

/// Starts a second that a rate of [`ArrivalLeg`] counts in: a millionth.
pub const RATE_UNITS: f64 = 1_000_000.0;

/// Arrivals of one leg at most, where all of its instants are drawn before it begins.
pub const DRAWN_MAX: u64 = 20_000_000;

/// When the threads of a group start and end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "shape")]
pub enum ThreadGroup {
    /// One thread after another, in equal steps; all end together.
    Ramp {
        /// Threads.
        threads: u32,
        /// Milliseconds before the first.
        delay_ms: u64,
        /// Milliseconds between two.
        step_ms: u64,
        /// Milliseconds from the first start to the end; `None`: no limit.
        lasts_ms: Option<u64>,
        /// Whether a thread that would start at or after the end is left out; otherwise it takes one sample.
        leaves_out_late: bool,
    },
    /// Rows of threads that are spread over a startup and a shutdown (Ultimate Thread Group).
    Rows {
        /// The rows.
        rows: Vec<ThreadRow>,
    },
    /// Threads that come and go in bunches (Stepping Thread Group).
    Steps(ThreadSteps),
    /// A number of threads that is kept up: one that ends is followed by a new one.
    Concurrency(Concurrency),
    /// An iteration for each arrival, whatever the target does.
    Arrivals(Arrivals),
}

/// A row of an Ultimate Thread Group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// Threads.
    pub threads: u32,
    /// Seconds before the first.
    pub delay_s: u64,
    /// Seconds until all have started.
    pub startup_s: u64,
    /// Seconds that all are at work.
    pub hold_s: u64,
    /// Seconds until all have ended.
    pub shutdown_s: u64,
}

/// A Stepping Thread Group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSteps {
    /// Threads.
    pub threads: u32,
    /// Seconds before the first.
    pub delay_s: u64,
    /// Threads that start first; 0: as many as in a later bunch.
    pub first_bunch: u32,
    /// Threads of each later bunch; 0: all.
    pub bunch: u32,
    /// Seconds between the ramp of one bunch and the next bunch.
    pub period_s: u64,
    /// Seconds over which a bunch starts.
    pub ramp_s: u64,
    /// Seconds that all are at work.
    pub hold_s: u64,
    /// Threads that end together; 0: all.
    pub stop_bunch: u32,
    /// Seconds between the ends of two bunches.
    pub stop_period_s: u64,
}

/// A number of threads that is kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrency {
    /// Threads at work.
    pub target: u32,
    /// Seconds until there are as many.
    pub ramp_s: u64,
    /// Steps of the ramp; 0: it rises evenly.
    pub steps: u32,
    /// Seconds after the ramp.
    pub hold_s: u64,
}

/// An iteration for each arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// When they are due.
    pub course: ArrivalCourse,
    /// Arrivals after which none is due; `None`: no limit.
    pub limit: Option<u64>,
    /// Maximum busy threads; an arrival beyond is dropped.
    pub threads_max: u32,
    /// Whether a thread that is idle takes the next arrival; otherwise each is a thread's only one.
    pub reuses_threads: bool,
}

/// When arrivals are due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "course")]
pub enum ArrivalCourse {
    /// Rising to a rate (Arrivals Thread Group).
    Rising {
        /// The rate, in millionths of a start per second.
        target: u64,
        /// Seconds until it is reached.
        ramp_s: u64,
        /// Steps of the ramp; 0: it rises evenly.
        steps: u32,
        /// Seconds after the ramp.
        hold_s: u64,
    },
    /// Legs whose arrivals follow each other by the rate of the moment (Free-Form Arrivals Thread Group).
    FreeForm {
        /// The legs.
        legs: Vec<ArrivalLeg>,
    },
    /// Legs whose arrivals are counted beforehand (Open Model Thread Group).
    Counted {
        /// The legs.
        legs: Vec<ArrivalLeg>,
        /// Seed of the instants by chance.
        seed: i64,
    },
}

/// A time over which the rate of arrivals changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalLeg {
    /// The rate at its beginning, in millionths of a start per second.
    pub from: u64,
    /// The rate at its end, likewise.
    pub to: u64,
    /// How long it takes, in milliseconds.
    pub lasts_ms: u64,
    /// Whether arrivals lie by chance.
    pub by_chance: bool,
}

impl ArrivalLeg {
    /// Arrivals over the leg.
    #[must_use]
    pub fn arrivals(&self) -> f64 {
        (self.from as f64 + self.to as f64) / 2.0 / RATE_UNITS * (self.lasts_ms as f64 / 1000.0)
    }
}

impl ThreadGroup {
    /// Threads at work at most at any time.
    #[must_use]
    pub fn threads_max(&self) -> u32 {
        match self {
            ThreadGroup::Ramp { threads, .. } => *threads,
            ThreadGroup::Rows { rows } => rows
                .iter()
                .fold(0, |sum, row| u32::saturating_add(sum, row.threads)),
            ThreadGroup::Steps(steps) => steps.threads,
            ThreadGroup::Concurrency(concurrency) => concurrency.target,
            ThreadGroup::Arrivals(arrivals) => arrivals.threads_max,
        }
    }

    /// Whether starts are due at instants that do not depend on the target.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, ThreadGroup::Arrivals(_))
    }

    /// The number of threads that start, where each starts once; `None`: they start as often as there is time.
    #[must_use]
    pub fn planned_starts(&self) -> Option<u64> {
        match self {
            ThreadGroup::Ramp { .. } | ThreadGroup::Rows { .. } | ThreadGroup::Steps(_) => {
                Some(u64::from(self.threads_max()))
            }
            ThreadGroup::Concurrency(_) | ThreadGroup::Arrivals(_) => None,
        }
    }

    /// Says what makes this group impossible to run.
    ///
    /// # Errors
    /// The first contradiction found, in words for the user.
    pub fn validate(&self) -> Result<(), String> {
        let ThreadGroup::Arrivals(Arrivals {
            course: ArrivalCourse::Counted { legs, .. },
            ..
        }) = self
        else {
            return Ok(());
        };
        match legs.iter().find(|leg| leg.arrivals() > DRAWN_MAX as f64) {
            Some(leg) => Err(format!(
                "{} arrivals between two rates are more than the {DRAWN_MAX} that are counted beforehand",
                leg.arrivals()
            )),
            None => Ok(()),
        }
    }
}
