//! A script to run, and the state lent to it.
//!
//! Must not know who runs it. Invariant: a script only reads and changes what is lent to it.

use std::sync::Arc;

use super::value::ScriptValue;
use crate::action::Action;
use crate::sample::{AssertionOutcome, Sample};
use crate::variables::Variables;

/// A script to run.
#[derive(Debug)]
pub struct ScriptTask<'t> {
    /// Its text.
    pub source: &'t str,
    /// Its variables by name.
    pub bindings: Vec<(&'static str, ScriptValue)>,
    /// Whether its value is needed.
    pub wants_value: bool,
}

/// The state lent to a script.
#[derive(Debug, Default)]
pub struct ScriptContext {
    /// The thread's variables.
    pub variables: Variables,
    /// The last sample, or the one after which the script runs.
    pub previous: Option<Arc<Sample>>,
    /// The sample of a script sampler.
    pub own: Option<Box<Sample>>,
    /// The result of a script assertion.
    pub finding: AssertionOutcome,
    /// The name of the thread.
    pub thread_name: String,
    /// Its number within its group, from 1.
    pub thread_number: u32,
    /// The name of its group.
    pub group_name: String,
    /// Iterations of the thread group's loop that the thread has started.
    pub iteration: u64,
    /// The name of the sampler.
    pub sampler: String,
    /// The logger name.
    pub class: String,
    /// The current time, in milliseconds since 1970.
    pub unix_ms: i64,
    /// The action that it requested after the current sampler.
    pub ordered: Option<Action>,
    /// How long it has slept, which the thread still has to wait.
    pub slept_ms: u64,
}
