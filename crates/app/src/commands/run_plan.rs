//! `run` of a JMeter plan: with loadline's own options, report and exit codes.
//!
//! Must not know JMeter's formats. Invariant: problems of the plan are reported before anything is sent.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use loadline_cluster::Recipe;
use loadline_jmeter::parts::{self, Part};
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd};
use loadline_output::files;

use super::own_run::{OwnRun, check_outputs};
use super::running;
use super::seed::fresh_seed;
use crate::cli::plan_run::PlanRunArgs;
use crate::jmeter::bench::Bench;
use crate::jmeter::prepared::Prepared;
use crate::jmeter::recipe::StepsRecipe;
use crate::jmeter::results::{self, Taken};
use crate::jmeter::world::{AgentsLog, World};
use crate::jmeter::{named_files, plan_file};
use crate::recipe::PlanRecipe;
use crate::{Ending, Env, Files, WantedAgents};

/// Runs the command; `words` are those after `run`.
///
/// # Errors
/// Options and plans that cannot be run, and sinks that failed.
pub(super) fn run(
    args: &PlanRunArgs,
    words: &[String],
    command_line: &[String],
    env: &Env,
) -> Result<ExitCode, Ending> {
    let options = args.options(env);
    let own = [("-l", &args.logfile), ("-j", &args.jmeterlogfile)];
    let own = own
        .into_iter()
        .filter_map(|(option, path)| Some((option, path.as_deref()?)));
    let plan = ("the plan", &*args.source.plan);
    let own: Vec<_> = [plan].into_iter().chain(own).collect();
    check_outputs(&args.results, &own)?;
    let name = &args.source.plan;
    let properties = plan_file::properties(&options)?;
    let log = match &options.log {
        None => None,
        Some(path) => Some(files::create(Path::new(path)).map_err(|error| {
            Ending::usage(&format!(
                "-j: cannot write {path}: {error}; name another file"
            ))
        })?),
    };
    let files = match args.agents.agents {
        Some(_) => Files::Recorded(Arc::default()),
        None => Files::Disk,
    };
    let edits = args.source.edits();
    let tree = plan_file::tree(name, &edits, &properties, ExitCode::InvalidConfig, &files)?;
    let reading = loadline_jmeter::lowered(&tree);
    let world = Arc::new(World::new(name, properties, env, log));
    plan_file::check(&reading, &options, &world)?;
    let parts = parts::parts(&tree, &reading);
    let prepared = Prepared::new(name, &tree, reading, &options, world, fresh_seed())?;
    let agents = agents(args, words, (&parts, &files), &prepared)?;
    let world = Arc::clone(&prepared.world);
    let Prepared {
        mut plan,
        steps,
        samples,
        mut hearers,
        ..
    } = prepared;
    if plan.scenarios.is_empty() {
        return Err(Ending::usage(
            "no thread group of the plan has a thread: nothing would be sent",
        ));
    }
    args.lay_over(&mut plan)?;
    hearers.summaries = None;
    let taker = thread::Builder::new()
        .name("results".to_owned())
        .spawn(move || results::take(&samples, hearers))
        .map_err(|error| running::no_thread(&error))?;
    let run = OwnRun {
        plan,
        name,
        steps: Some(steps),
        observe: &args.observe,
        log: agents.as_ref().map(|_| Arc::new(AgentsLog(world)) as _),
        agents,
        results: &args.results,
        command_line: &redacted_command_line(command_line, FrontEnd::JMeter),
        env,
    };
    let done = run.go()?;
    let taken = taker.join().unwrap_or_else(|_| Taken {
        fault: Some("the thread that takes samples failed".to_owned()),
        ..Taken::default()
    });
    let code = exit_code(running::exit_code(&done.result), &taken);
    Ok(done.conclude(code))
}

/// The agents that make the load, and their recipe; `None`: this process makes the load.
///
/// # Errors
/// A file that the plan names cannot be read.
fn agents(
    args: &PlanRunArgs,
    words: &[String],
    (parts, files): (&[Part<'_>], &Files),
    prepared: &Prepared,
) -> Result<Option<(WantedAgents, Recipe)>, Ending> {
    let wanted = args.agents.wanted();
    if !wanted.any() {
        return Ok(None);
    }
    let (steps, world) = (&prepared.steps, &prepared.world);
    let mut bench = Bench::new(&steps.plan, Arc::clone(world));
    bench.variables = steps.variables.clone();
    let named = named_files::of(parts, &mut bench.scope(), world);
    let around = (named.as_slice(), &**world);
    let recipe = StepsRecipe::of(words, files, around, steps, prepared.plan.seed)?;
    let plan = serde_json::to_vec(&PlanRecipe::Steps(Box::new(recipe)))
        .map_err(|error| Ending::refusal(ExitCode::Other, &error.to_string()))?;
    let recipe = Recipe {
        plan,
        ..Recipe::default()
    };
    Ok(Some((wanted, recipe)))
}

/// The exit code, derived from that of the requests: samplers need not use HTTP, and assertions can fail a
/// successful response.
fn exit_code(of_requests: ExitCode, taken: &Taken) -> ExitCode {
    match of_requests {
        ExitCode::Ok | ExitCode::NothingSucceeded => match (taken.has_good(), &taken.fault) {
            (_, Some(_)) => ExitCode::Other,
            (false, None) => ExitCode::NothingSucceeded,
            (true, None) => ExitCode::Ok,
        },
        graver => graver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_decide_where_nothing_graver_does() {
        let taken = |good_requests, fault: Option<&str>| Taken {
            good: 9,
            requests: 9,
            good_requests,
            fault: fault.map(str::to_owned),
        };
        let nothing = ExitCode::NothingSucceeded;
        assert_eq!(exit_code(nothing, &taken(1, None)), ExitCode::Ok);
        assert_eq!(exit_code(ExitCode::Ok, &taken(0, None)), nothing);
        assert_eq!(
            exit_code(ExitCode::Ok, &taken(1, Some("full"))),
            ExitCode::Other
        );
        let crossed = ExitCode::ThresholdsFailed;
        assert_eq!(exit_code(crossed, &taken(0, Some("full"))), crossed);
    }
}
