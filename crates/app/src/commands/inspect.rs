//! `inspect`: the options of a script as JSON.
//!
//! Must not know the meaning of an option. Invariant: standard output only contains the JSON.

use loadline_model::ExitCode;

use super::seed::fresh_seed;
use super::{notices, script};
use crate::k6::{K6Error, K6Invocation, ScriptFacts};
use crate::terminal::print;
use crate::{Env, Files};

/// Runs the command.
///
/// # Errors
/// The script or its options cannot be read.
pub(super) fn run(
    invocation: &K6Invocation,
    env: &Env,
    files: &Files,
) -> Result<ExitCode, K6Error> {
    let (loaded, config) = script::load_with_config(invocation, env, files)?;
    let facts = ScriptFacts {
        url: &loaded.url,
        options: &loaded.options,
        exports: Some(&loaded.exports),
        metrics: Some(&loaded.loaded.metrics.registry),
        config: config.as_deref(),
        seed: fresh_seed(),
    };
    let (text, told) = invocation.inspect(&facts)?;
    notices::tell(&told, &invocation.log);
    print::to_stdout(&text)
        .map_err(|error| K6Error::other(format!("cannot write to standard output: {error}")))?;
    Ok(ExitCode::Ok)
}
