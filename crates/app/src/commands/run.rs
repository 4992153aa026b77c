//! `run`: a script's test from its options to the exit code.
//!
//! Must not know how a script is loaded or run. Invariant: errors in the options are reported before anything
//! is sent.

use loadline_model::ExitCode;

use super::script::{self, LoadedScript};
use super::seed::fresh_seed;
use crate::k6::{K6Error, K6Invocation, ScriptFacts, ScriptRun};
use crate::{Env, Files};

/// Runs the command.
///
/// # Errors
/// The script cannot be read, its options cannot be run, or the run cannot start.
pub(super) fn run(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<ExitCode, K6Error> {
    let (loaded, config) = script::load_with_config(invocation, env, files)?;
    let run = consolidated(invocation, &loaded, config.as_deref())?;
    loaded.tell(&run.notices);
    script::go(&loaded, &run, invocation, config.as_deref(), env)
}

/// All tiers of options, merged.
///
/// # Errors
/// They cannot be run.
pub(super) fn consolidated(
    invocation: &K6Invocation,
    loaded: &LoadedScript,
    config: Option<&str>,
) -> Result<ScriptRun, K6Error> {
    invocation.consolidate(&ScriptFacts {
        url: &loaded.url,
        options: &loaded.options,
        exports: Some(&loaded.exports),
        metrics: Some(&loaded.loaded.metrics.registry),
        config,
        seed: fresh_seed(),
    })
}
