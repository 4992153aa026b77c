//! `run` of a JMeter plan: with loadline's own options, report and exit codes.
//!
//! Must not know JMeter's formats. Invariant: what is wrong with the plan is told before anything is sent.

use std::fs::File;
use std::sync::Arc;
use std::thread;

use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd};

use super::own_run::OwnRun;
use super::running;
use super::seed::fresh_seed;
use crate::cli::plan_run::PlanRunArgs;
use crate::jmeter::plan_file;
use crate::jmeter::prepared::Prepared;
use crate::jmeter::results::{self, Taken};
use crate::jmeter::thresholds;
use crate::jmeter::world::World;
use crate::{Ending, Env};

/// Runs the command.
///
/// # Errors
/// Options and plans that cannot be run, and sinks that failed.
pub(super) fn run(
    args: &PlanRunArgs,
    command_line: &[String],
    env: &Env,
) -> Result<ExitCode, Ending> {
    let options = args.options(env);
    let name = &args.source.plan;
    let properties = plan_file::properties(&options)?;
    let log = match &options.log {
        None => None,
        Some(path) => Some(File::create(path).map_err(|error| {
            Ending::usage(&format!(
                "-j: cannot write {path}: {error}; name another file"
            ))
        })?),
    };
    let tree = plan_file::tree(
        name,
        &args.source.edits(),
        &properties,
        ExitCode::InvalidConfig,
    )?;
    let reading = loadline_jmeter::lowered(&tree);
    let world = Arc::new(World::new(name, properties, env, log));
    plan_file::check(&reading, &options, &world)?;
    let prepared = Prepared::new(name, &tree, reading, &options, world, fresh_seed())?;
    let Prepared {
        mut plan,
        steps,
        samples,
        mut hearers,
        ..
    } = prepared;
    if plan.scenarios.is_empty() {
        return Err(Ending::usage(
            "no group of the plan has a thread: nothing would be sent",
        ));
    }
    plan.script_thresholds = thresholds::of_metrics(args.thresholds())
        .map_err(|why| Ending::usage(&format!("--threshold: {why}")))?;
    plan.labels.extend(args.results.label.iter().cloned());
    plan.tags.extend(args.results.tag.iter().cloned());
    hearers.summaries = None;
    let taker = thread::spawn(move || results::take(&samples, hearers));
    let run = OwnRun {
        plan,
        name,
        steps: Some(steps),
        observe: &args.observe,
        agents: None,
        results: &args.results,
        command_line: &redacted_command_line(command_line, FrontEnd::JMeter),
        env,
    };
    let done = run.go()?;
    let taken = taker.join().unwrap_or_else(|_| Taken {
        fault: Some("the thread that takes samples failed".to_owned()),
        ..Taken::default()
    });
    done.told?;
    Ok(exit_code(running::exit_code(&done.result), &taken))
}

/// The exit code, where that of the requests is known: samplers need send nothing over HTTP, and assertions fail what
/// was answered well.
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
