//! Thread groups of JMeter plans as data: when their threads start and end, relative to the start of the group.
//!
//! Must not know when a group starts, nor how a start is decided; that is the `schedule` crate. Invariant:
//! rates are whole numbers of millionths, so that groups can be compared.

use serde::{Deserialize, Serialize};

/// Units of an [`ArrivalLeg`]'s rate in one start per second: a unit is a millionth.
pub const RATE_UNITS: f64 = 1_000_000.0;

/// Maximum arrivals of a leg whose instants are all drawn before it starts.
pub const DRAWN_MAX: u64 = 20_000_000;

/// When the threads of a group start and end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "shape")]
pub enum ThreadGroup {
    /// One thread after another, at equal intervals; all end together.
    Ramp {
        /// Threads.
        threads: u32,
        /// Milliseconds before the first.
        delay_ms: u64,
        /// Milliseconds between two.
        step_ms: u64,
        /// Milliseconds from the first start to the end; `None`: no limit.
        lasts_ms: Option<u64>,
        /// Whether a thread that would start at or after the end is skipped; otherwise it takes one sample.
        leaves_out_late: bool,
    },
    /// Rows of threads, each with a startup and a shutdown time (Ultimate Thread Group).
    Rows {
        /// The rows.
        rows: Vec<ThreadRow>,
    },
    /// Threads that start and stop in batches (Stepping Thread Group).
    Steps(ThreadSteps),
    /// A constant number of threads: one that ends is replaced by a new one.
    Concurrency(Concurrency),
    /// One iteration per arrival, whatever the target does.
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
    /// Seconds during which all are running.
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
    /// Threads in the first batch; 0: as many as in later batches.
    pub first_bunch: u32,
    /// Threads per later batch; 0: all.
    pub bunch: u32,
    /// Seconds between the ramp of one batch and the next batch.
    pub period_s: u64,
    /// Seconds over which a batch starts.
    pub ramp_s: u64,
    /// Seconds during which all are running.
    pub hold_s: u64,
    /// Threads that stop together; 0: all.
    pub stop_bunch: u32,
    /// Seconds between the stops of two batches.
    pub stop_period_s: u64,
}

/// A constant number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrency {
    /// Running threads.
    pub target: u32,
    /// Seconds until the target is reached.
    pub ramp_s: u64,
    /// Steps of the ramp; 0: it rises evenly.
    pub steps: u32,
    /// Seconds after the ramp.
    pub hold_s: u64,
}

/// One iteration per arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// When they are due.
    pub course: ArrivalCourse,
    /// Limit on the number of arrivals; `None`: no limit.
    pub limit: Option<u64>,
    /// Maximum busy threads; an arrival beyond that is dropped.
    pub threads_max: u32,
    /// Whether an idle thread takes the next arrival; otherwise each thread handles a single arrival.
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
    /// Legs whose arrivals are spaced by the momentary rate (Free-Form Arrivals Thread Group).
    FreeForm {
        /// The legs.
        legs: Vec<ArrivalLeg>,
    },
    /// Legs whose number of arrivals is computed in advance (Open Model Thread Group).
    Counted {
        /// The legs.
        legs: Vec<ArrivalLeg>,
        /// Seed of the random instants.
        seed: i64,
    },
}

/// A period over which the arrival rate changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalLeg {
    /// The rate at its start, in millionths of a start per second.
    pub from: u64,
    /// The rate at its end, likewise.
    pub to: u64,
    /// Its duration in milliseconds.
    pub lasts_ms: u64,
    /// Whether arrivals are random.
    pub by_chance: bool,
}

impl ArrivalLeg {
    /// The number of arrivals in the leg.
    #[must_use]
    pub fn arrivals(&self) -> f64 {
        (self.from as f64 + self.to as f64) / 2.0 / RATE_UNITS * (self.lasts_ms as f64 / 1000.0)
    }
}

impl ThreadGroup {
    /// The maximum number of threads running at any time.
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

    /// The number of threads that start if each starts once; `None`: they start as often as time allows.
    #[must_use]
    pub fn planned_starts(&self) -> Option<u64> {
        match self {
            ThreadGroup::Ramp { .. } | ThreadGroup::Rows { .. } | ThreadGroup::Steps(_) => {
                Some(u64::from(self.threads_max()))
            }
            ThreadGroup::Concurrency(_) | ThreadGroup::Arrivals(_) => None,
        }
    }

    /// Checks that this group can be run.
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
                "{} arrivals between two rates exceed the limit of {DRAWN_MAX}",
                leg.arrivals()
            )),
            None => Ok(()),
        }
    }
}
