//! `inspect` of a JMeter plan.
//!
//! Must not know how a plan is read or shown. Invariant: nothing is sent, and nothing is written.

use std::sync::Arc;

use loadline_model::ExitCode;

use crate::cli::plan_run::PlanInspectArgs;
use crate::jmeter::bench::Bench;
use crate::jmeter::inspection::Inspection;
use crate::jmeter::plan_file;
use crate::jmeter::test_plan;
use crate::jmeter::world::World;
use crate::terminal::print;
use crate::{Ending, Env, Files};

/// Runs the command.
///
/// # Errors
/// The plan cannot be read, or standard output cannot be written.
pub(super) fn run(args: &PlanInspectArgs, env: &Env) -> Result<ExitCode, Ending> {
    let options = args.source.options(env);
    let name = &args.source.plan;
    let (properties, tree) = plan_file::read(&args.source, &options, &Files::Disk)?;
    let reading = loadline_jmeter::explained(&tree);
    let world = Arc::new(World::new(name, properties, env, None));
    let mut bench = Bench::new(name, Arc::clone(&world));
    let program = &reading.program;
    test_plan::set_variables(program, &mut bench.scope());
    let times = test_plan::times(program, &mut bench.scope());
    let scope = &mut bench.scope();
    let inspection = Inspection::new(&tree, &reading, program, &times, scope, &world);
    let text = match args.json {
        true => format!("{:#}\n", inspection.json(name)),
        false => inspection.text(name),
    };
    print::to_stdout(&text).map_err(|error| Ending::unwritten("the inspection", &error))?;
    Ok(ExitCode::Ok)
}
