//! A script that is to be run, and what it is lent.
//!
//! Must not know who runs it. Invariant: a script sees and changes nothing but what is lent to it.

use std::sync::Arc;

use super::value::ScriptValue;
use crate::action::Action;
use crate::sample::{AssertionOutcome, Sample};
use crate::variables::Variables;

/// A script that is to be run.
#[derive(Debug)]
pub struct ScriptTask<'t> {
    /// Its text.
    pub source: &'t str,
    /// What it finds by name.
    pub bindings: Vec<(&'static str, ScriptValue)>,
    /// Whether what it comes to is wanted.
    pub wants_value: bool,
}

/// What a script is lent.
#[derive(Debug, Default)]
pub struct ScriptContext {
    /// The thread's variables.
    pub variables: Variables,
    /// The sample that came last, or the one that the script stands behind.
    pub previous: Option<Arc<Sample>>,
    /// The sample of a sampler that is a script.
    pub own: Option<Box<Sample>>,
    /// What an assertion that is a script found.
    pub finding: AssertionOutcome,
    /// The name of the thread.
    pub thread_name: String,
    /// Its number within its group, from 1.
    pub thread_number: u32,
    /// The name of its group.
    pub group_name: String,
    /// Passes of the thread group's loop that the thread has begun.
    pub iteration: u64,
    /// The name of the sampler.
    pub sampler: String,
    /// The name that lines are logged under.
    pub class: String,
    /// When it runs, in milliseconds since 1970.
    pub unix_ms: i64,
    /// What it told the thread to do after the sampler at work.
    pub ordered: Option<Action>,
    /// How long it has slept, which the thread has yet to do.
    pub slept_ms: u64,
}
