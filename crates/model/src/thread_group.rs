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

impl ArrivalCourse {
    /// The same as [`ThreadGroup::level_ms`]: of several legs at a constant rate the longest of those at the highest.
    fn level_ms(&self) -> Option<(u64, Option<u64>)> {
        let legs = match self {
            ArrivalCourse::Rising { ramp_s, hold_s, .. } => {
                let from = ramp_s.saturating_mul(1000);
                return Some((from, Some(from.saturating_add(hold_s.saturating_mul(1000)))));
            }
            ArrivalCourse::FreeForm { legs } | ArrivalCourse::Counted { legs, .. } => legs,
        };
        let mut at = 0_u64;
        let mut best: Option<(u64, u64, u64)> = None;
        for leg in legs {
            let level = (leg.to, leg.lasts_ms);
            let is_flat = leg.from == leg.to && leg.to > 0;
            if is_flat && best.is_none_or(|(rate, lasts, _)| level > (rate, lasts)) {
                best = Some((leg.to, leg.lasts_ms, at));
            }
            at = at.saturating_add(leg.lasts_ms);
        }
        best.map(|(_, lasts, from)| (from, Some(from.saturating_add(lasts))))
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

    /// When all threads are running, or arrivals come at a constant rate, in milliseconds from the start of the group:
    /// from, until (`None`: until the threads end on their own). `None` if that is never planned, and for a stepping group,
    /// whose threads may stop while others start.
    #[must_use]
    pub fn level_ms(&self) -> Option<(u64, Option<u64>)> {
        let ms = |seconds: u64| seconds.saturating_mul(1000);
        let held = |from_s: u64, hold_s: u64| (ms(from_s), Some(ms(from_s.saturating_add(hold_s))));
        let (from, until) = match self {
            ThreadGroup::Ramp {
                threads,
                delay_ms,
                step_ms,
                lasts_ms,
                ..
            } => {
                let all_ms = step_ms.saturating_mul(u64::from(threads.saturating_sub(1)));
                let until = lasts_ms.map(|lasts| delay_ms.saturating_add(lasts));
                (delay_ms.saturating_add(all_ms), until)
            }
            ThreadGroup::Rows { rows } => {
                let full = |row: &ThreadRow| row.delay_s.saturating_add(row.startup_s);
                let from = rows.iter().map(full).max()?;
                let ends = rows.iter().map(|row| full(row).saturating_add(row.hold_s));
                (ms(from), ends.min().map(ms))
            }
            ThreadGroup::Steps(_) => return None,
            ThreadGroup::Concurrency(one) => held(one.ramp_s, one.hold_s),
            ThreadGroup::Arrivals(arrivals) => arrivals.course.level_ms()?,
        };
        until
            .is_none_or(|until| from < until)
            .then_some((from, until))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_when_all_threads_run() {
        let ramp = |threads, lasts_ms| ThreadGroup::Ramp {
            threads,
            delay_ms: 1_000,
            step_ms: 500,
            lasts_ms,
            leaves_out_late: true,
        };
        assert_eq!(ramp(5, None).level_ms(), Some((3_000, None)));
        assert_eq!(ramp(5, Some(9_000)).level_ms(), Some((3_000, Some(10_000))));
        assert_eq!(ramp(5, Some(2_000)).level_ms(), None, "it ends before");
        let row = |delay_s, startup_s, hold_s| ThreadRow {
            threads: 1,
            delay_s,
            startup_s,
            hold_s,
            shutdown_s: 9,
        };
        let rows = |rows: &[ThreadRow]| ThreadGroup::Rows {
            rows: rows.to_vec(),
        };
        let both = rows(&[row(0, 2, 8), row(1, 4, 9)]);
        assert_eq!(both.level_ms(), Some((5_000, Some(10_000))));
        assert_eq!(rows(&[row(0, 2, 3), row(9, 1, 1)]).level_ms(), None);
        let concurrency = |hold_s| {
            ThreadGroup::Concurrency(Concurrency {
                target: 3,
                ramp_s: 4,
                steps: 2,
                hold_s,
            })
        };
        assert_eq!(concurrency(6).level_ms(), Some((4_000, Some(10_000))));
        assert_eq!(concurrency(0).level_ms(), None);
        assert_eq!(ThreadGroup::Steps(ThreadSteps::default()).level_ms(), None);
    }

    #[test]
    fn the_level_of_arrivals_is_their_longest_leg_at_the_highest_constant_rate() {
        let level = |course| {
            let arrivals = Arrivals {
                course,
                limit: None,
                threads_max: 9,
                reuses_threads: true,
            };
            ThreadGroup::Arrivals(arrivals).level_ms()
        };
        let rising = ArrivalCourse::Rising {
            target: 5,
            ramp_s: 2,
            steps: 0,
            hold_s: 3,
        };
        assert_eq!(level(rising), Some((2_000, Some(5_000))));
        let leg = |from, to, lasts_ms| ArrivalLeg {
            from,
            to,
            lasts_ms,
            by_chance: false,
        };
        let legs = vec![leg(0, 5, 10), leg(5, 5, 20), leg(5, 5, 30), leg(5, 9, 40)];
        let free = ArrivalCourse::FreeForm { legs };
        assert_eq!(level(free), Some((30, Some(60))));
        let legs = vec![leg(0, 0, 10), leg(0, 5, 20)];
        assert_eq!(level(ArrivalCourse::FreeForm { legs }), None);
    }
}
