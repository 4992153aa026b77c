//! `run` of a JMeter plan: with loadline's own options, report and exit codes.
//!
//! Must not know JMeter's formats. Invariant: problems of the plan are reported before anything is sent.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use loadline_cluster::Recipe;
use loadline_jmeter::parts::{self, Part};
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd, RunResult};
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
    check_outputs(&args.results, &own, env)?;
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
    let code = exit_code(&done.result, &taken);
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

/// The exit code. Samples decide whether anything succeeded: samplers need not use HTTP, and assertions can fail a
/// successful response.
fn exit_code(result: &RunResult, taken: &Taken) -> ExitCode {
    match running::exit_code_of(result, taken.has_good()) {
        ExitCode::Ok | ExitCode::NothingSucceeded if taken.fault.is_some() => ExitCode::Other,
        code => code,
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::event::{AGENT_LOST_MARK, Mark};
    use loadline_model::result::{Environment, ThresholdOutcome, Totals};
    use loadline_model::{ClientPlan, TestPlan};

    use super::*;

    #[test]
    fn samples_decide_where_nothing_graver_does() {
        let taken = |good_requests, fault: Option<&str>| Taken {
            good: 9,
            requests: 9,
            good_requests,
            fault: fault.map(str::to_owned),
        };
        let plan = TestPlan::without_load(ClientPlan::default());
        let mut result = RunResult::bare(plan, Environment::default(), Totals::default());
        let (good, bad) = (taken(1, None), taken(0, None));
        assert_eq!(exit_code(&result, &good), ExitCode::Ok);
        assert_eq!(exit_code(&result, &bad), ExitCode::NothingSucceeded);
        assert_eq!(exit_code(&result, &taken(1, Some("full"))), ExitCode::Other);
        result.events.push(Mark {
            at_ns: 0,
            kind: AGENT_LOST_MARK.to_owned(),
            text: "it is gone".to_owned(),
        });
        assert_eq!(exit_code(&result, &good), ExitCode::AgentLost);
        result.thresholds.push(ThresholdOutcome {
            threshold: "p(95)<1".to_owned(),
            value: None,
            passed: false,
        });
        let crossed = ExitCode::ThresholdsFailed;
        assert_eq!(exit_code(&result, &taken(0, Some("full"))), crossed);
    }
}
