//! `loadline bench`.
//!
//! Must not know how a plan is built, run or reported. Invariant: what cannot be run is refused before anything
//! is sent.

use std::sync::Arc;

use loadline_cluster::Recipe;
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd};

use super::own_run::{OwnRun, check_outputs};
use super::running;
use super::seed::fresh_seed;
use crate::cli::bench::BenchArgs;
use crate::recipe::{BenchRecipe, PlanRecipe, variables, written};
use crate::{Ending, Env, Files, plan};

/// The name of the run in outputs.
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
    let wanted = args.agents.wanted();
    let files = match wanted.any() {
        true => &Files::Recorded(Arc::default()),
        false => files,
    };
    let plan = plan::bench(args, env, files, fresh_seed()).map_err(|why| Ending::usage(&why))?;
    let read = [
        ("--body-file", &args.body.body_file),
        ("--urls", &args.request.urls),
    ];
    let read = read
        .into_iter()
        .filter_map(|(option, path)| Some((option, path.as_deref()?)));
    check_outputs(&args.results, &read.collect::<Vec<_>>(), env)?;
    let agents = match wanted.any() {
        true => Some((wanted, recipe(command_line, env, files, plan.seed)?)),
        false => None,
    };
    let run = OwnRun {
        plan,
        name: NAME,
        steps: None,
        observe: &args.observe,
        agents,
        log: None,
        results: &args.results,
        command_line: &redacted_command_line(command_line, FrontEnd::Bench),
        env,
    };
    let done = run.go()?;
    let code = running::exit_code(&done.result);
    Ok(done.conclude(code))
}

/// From which agents rebuild the plan.
fn recipe(words: &[String], env: &Env, files: &Files, seed: u64) -> Result<Recipe, Ending> {
    let recipe = PlanRecipe::Bench(BenchRecipe {
        words: words.to_vec(),
        env: variables(env),
        files: written(&files.recorded()),
        seed,
    });
    let plan = serde_json::to_vec(&recipe)
        .map_err(|error| Ending::refusal(ExitCode::Internal, &error.to_string()))?;
    Ok(Recipe {
        plan,
        ..Recipe::default()
    })
}
