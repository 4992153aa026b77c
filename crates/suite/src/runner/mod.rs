//! Runs everything unfinished, row by row.
//!
//! Must not know how a run is executed. Invariant: cleanup is run, and changes are undone, whatever happened.

mod attempt;
mod events;
pub mod figures;
mod redact;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::plan::PhaseKind;

pub use events::{RunEnd, SuiteEnd, SuiteEvent};
pub use run::{RunSettings, run};

/// One process to run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOrder {
    /// The row's identity.
    pub row: String,
    /// Which repetition.
    pub repetition: u32,
    /// What for.
    pub phase: PhaseKind,
    /// The command, the front end's name first; everything is filled.
    pub command: Vec<String>,
    /// Environment variables besides the process's own.
    pub env: BTreeMap<String, String>,
    /// The folder of the run.
    pub folder: PathBuf,
    /// The path of its JSON result.
    pub result: PathBuf,
    /// The path of the audits of its outputs.
    pub audits: PathBuf,
    /// The path of its journal.
    pub journal: PathBuf,
    /// The path of its output.
    pub log: PathBuf,
    /// The observers, as a file that was written; `None`: nothing is observed.
    pub observe: Option<PathBuf>,
    /// How long observers go on; `None`: as they do.
    pub tail: Option<Duration>,
    /// It is stopped after this time; `None`: no limit.
    pub time_limit: Option<Duration>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    /// Its exit code; `None`: a signal ended it.
    pub exit_code: Option<i32>,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
}

/// Why a process could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteError {
    /// Why, and what to do.
    pub why: String,
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for ExecuteError {}

/// A sign of life from a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// Since it began.
    pub elapsed: Duration,
    /// The last line that it said.
    pub line: Option<String>,
}

/// Runs processes: real ones in the product, simulated ones in tests.
pub trait Executor {
    /// Runs one to its end. `beat` is called every now and then, at least once in a few seconds.
    ///
    /// # Errors
    /// It could not be started.
    fn run(
        &mut self,
        order: &RunOrder,
        beat: &mut dyn FnMut(Beat),
    ) -> Result<RunFiles, ExecuteError>;

    /// Whether the user asked to stop.
    fn should_stop(&self) -> bool;
}
