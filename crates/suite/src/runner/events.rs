//! The events of a runner.
//!
//! Must not know how they are shown. Invariant: every started run has an end event.

use std::time::Duration;

use crate::plan::PhaseKind;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub enum SuiteEvent {
    /// How many runs the plan has, and how many of them are whole already.
    Planned {
        /// In all.
        runs: usize,
        /// Whole already.
        done: usize,
    },
    /// Changes that an earlier runner left behind are taken back, or those of this one at its end.
    Restoring {
        /// How many.
        changes: usize,
    },
    /// A run begins.
    Started {
        /// Which of those to do, from one on.
        number: usize,
        /// Of how many.
        of: usize,
        /// The row's name.
        title: String,
        /// Which repetition.
        repetition: u32,
        /// Of how many.
        repeat: u32,
        /// Which try.
        attempt: u32,
    },
    /// A phase of it begins.
    Phase {
        /// Which.
        phase: PhaseKind,
        /// Its command line.
        command: String,
        /// How long it should take.
        length: Option<Duration>,
    },
    /// Hooks are done.
    Hooks {
        /// When: `prepare`, `before`, …
        when: &'static str,
        /// What they are called.
        names: Vec<String>,
    },
    /// A sign of life of a long run.
    Heartbeat {
        /// The row's name.
        title: String,
        /// Since the phase began.
        elapsed: Duration,
        /// How long it should take.
        length: Option<Duration>,
        /// The last line that it said.
        line: Option<String>,
    },
    /// A run ended.
    Ended {
        /// The row's name.
        title: String,
        /// Which repetition.
        repetition: u32,
        /// How.
        how: RunEnd,
        /// What is left of the suite, as far as lengths are known.
        left: Option<Duration>,
    },
    /// Something that is worth knowing and does not fail a run.
    Note(String),
    /// Something that failed outside of a run.
    Problem(String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Every gate was passed.
    Passed {
        /// Its headline.
        headline: String,
    },
    /// A gate was not passed, or it could not be made.
    Failed {
        /// Why, the first first.
        reasons: Vec<String>,
        /// Whether it is repeated.
        again: bool,
    },
    /// It was interrupted.
    Interrupted,
}

/// How a suite ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteEnd {
    /// Rows whose repetitions all passed.
    pub passed: usize,
    /// Rows that failed.
    pub failed: usize,
    /// Rows of which something is still to be run.
    pub pending: usize,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// What failed outside of runs.
    pub problems: Vec<String>,
}
