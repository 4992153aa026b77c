//! What a script run passes to the engine, and how a script affects the test.
//!
//! Must not know JavaScript. Invariant: everything here can be sent to another thread.

use std::sync::Arc;

use loadline_script::Program;
use loadline_script::host::LogEntry;
use loadline_script::trace::HopTrace;
use loadline_script::vu::{ScriptFailure, SetupData};

use crate::record_script::ScriptMetrics;

/// The destination of log lines from scripts, and from the engine about them.
pub trait ScriptLog: Send + Sync {
    /// Writes one line.
    fn write(&self, entry: &LogEntry<'_>);
    /// Shows what a scenario did, whose name is empty for `setup` and `teardown`; only called where
    /// the program's settings ask for it.
    fn traced(&self, _scenario: &str, _what: &Traced<'_>) {}
}

/// Something that `--once` shows.
#[derive(Clone, Debug)]
pub enum Traced<'a> {
    /// A hop of a request.
    Hop(&'a HopTrace<'a>),
    /// A check.
    Check {
        /// Its name.
        name: &'a str,
        /// Path of the group that it was made in; empty outside of groups.
        group: &'a str,
        /// Whether it held.
        passed: bool,
    },
}

/// What a script run passes to the engine.
#[derive(Clone)]
pub struct ScriptSetup {
    /// The script.
    pub program: Arc<Program>,
    /// What it measures with.
    pub metrics: ScriptMetrics,
    /// Where its log goes.
    pub log: Arc<dyn ScriptLog>,
    /// The result of `setup()` as JSON; set before the virtual users start, or never.
    pub data: SetupData,
}

/// A script's effect on the test.
#[derive(Clone, Debug)]
pub enum ScriptSignal {
    /// `exec.test.abort(message)`: the test is to end now.
    Aborted(String),
    /// `exec.test.fail(message)`: the test continues, and counts as failed.
    MarkedFailed(String),
    /// Module code failed in a virtual user that the test needs.
    InitFailed(InitFailure),
}

/// Module code that failed in a virtual user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitFailure {
    /// The number of the virtual user in the whole test, from 1.
    pub vu: u64,
    /// How it failed.
    pub failure: ScriptFailure,
}
