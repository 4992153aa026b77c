//! `loadline bench`.
//!
//! Must not know how a plan is built, run or told. Invariant: what cannot be run is refused before anything is sent.

use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd};

use super::own_run::OwnRun;
use super::running;
use super::seed::fresh_seed;
use crate::cli::bench::BenchArgs;
use crate::{Ending, Env, Files, plan};

/// What the run is called in outputs.
const NAME: &str = "loadline bench";

/// Runs the command.
///
/// # Errors
/// Options, files and plans that cannot be run, and sinks that failed.
pub(super) fn run(
    args: &BenchArgs,
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let plan = plan::bench(args, env, files, fresh_seed()).map_err(|why| Ending::usage(&why))?;
    let run = OwnRun {
        plan,
        name: NAME,
        steps: None,
        observe: &args.observe,
        results: &args.results,
        command_line: &redacted_command_line(command_line, FrontEnd::Bench),
        env,
    };
    let done = run.go()?;
    done.told?;
    Ok(running::exit_code(&done.result))
}
