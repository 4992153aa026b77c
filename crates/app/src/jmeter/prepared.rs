//! A prepared run of a plan: what its threads do, when, and where their samples go.
//!
//! Must not know which command needs it. Invariant: unwritable files are refused before anything is sent.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use loadline_jmeter::tree::Element;
use loadline_jmeter::{Reading, parts};
use loadline_model::{ExitCode, TestPlan};
use loadline_report::jmeter::save_config::SaveConfig;
use loadline_run::steps::{GroupTimes, StepsSetup, StepsState};
use loadline_steps::host::World as _;
use loadline_steps::listener::{self, Heard};
use loadline_steps::program::Program;

use super::BATCHES;
use super::cut;
use super::evaluated::Evaluated;
use super::options::Options;
use super::plan_file::warn;
use super::results::{Backends, Hearers, Outlets, Summaries};
use super::silences;
use super::test_plan;
use super::world::World;
use crate::Ending;

/// A prepared run of a plan.
pub(crate) struct Prepared {
    /// The plan for the engine; it has no scenarios if no group has a thread.
    pub(crate) plan: TestPlan,
    pub(crate) steps: StepsSetup,
    /// Where samples arrive.
    pub(crate) samples: Receiver<Vec<Heard>>,
    /// The receivers of samples.
    pub(crate) hearers: Hearers,
    pub(crate) world: Arc<World>,
    /// Names of groups whose scheduler is on but has no duration.
    pub(crate) without_duration: Vec<String>,
}

impl Prepared {
    /// Prepares a plan read from a file with this name.
    ///
    /// # Errors
    /// Invalid properties, parts that agents cannot divide, or an unwritable results file.
    pub(crate) fn new(
        plan_name: &str,
        tree: &[Element],
        reading: Reading,
        options: &Options,
        world: Arc<World>,
        seed: u64,
    ) -> Result<Prepared, Ending> {
        let config = SaveConfig::from_properties(&|name| world.property(name))
            .map_err(|why| Ending::usage(&why))?;
        let parts = parts::parts(tree, &reading);
        let mut program = reading.program;
        program.sample_variables.clone_from(&config.variables);
        let mut evaluated = Evaluated::new(plan_name, program, Arc::clone(&world));
        let Evaluated {
            program,
            bench,
            times,
            ..
        } = &mut evaluated;
        if options.once && options.agents.is_some() {
            return Err(Ending::usage(
                "--agents: --once runs in one process; drop one of them",
            ));
        }
        if options.once {
            times.iter_mut().for_each(test_plan::cut_to_one_loop);
        }
        let without_duration = test_plan::groups_without_duration(program, &mut bench.scope());
        warn_of_empty_groups(program, times, &world);
        if let Some(agents) = options.agents {
            let plan = (parts.as_slice(), &**program, times.as_slice());
            cut::check(plan, agents, &mut bench.scope(), &world)?;
        }
        silences::tell(&parts, program, &mut bench.scope(), &world);
        let results = options.results.as_deref();
        if options.replace {
            remove_results(program, results, &world);
        }
        let outlets = Outlets::open(program, results, &config, &world, &mut bench.scope())
            .map_err(|why| Ending::refusal(ExitCode::Other, &why))?;
        let (sender, samples) = sync_channel(BATCHES);
        let plan = test_plan::test_plan(program, times, seed);
        let state = Arc::new(StepsState::new(times));
        let around = (Arc::clone(&state), Arc::clone(&world));
        let hearers = Hearers {
            outlets,
            summaries: Some(Summaries::new(program, around.clone(), &mut bench.scope())),
            backends: Backends::start(program, around, &mut bench.scope()),
        };
        let steps = evaluated.steps(state, sender);
        Ok(Prepared {
            plan,
            steps,
            samples,
            hearers,
            world,
            without_duration,
        })
    }
}

/// Removes the results file, and the files of listeners.
fn remove_results(program: &Program, results: Option<&str>, world: &World) {
    for name in program.listener_files().chain(results) {
        // If it cannot be removed, opening it fails as well, or it does not exist.
        let _ = fs::remove_file(listener::place_of(name, world));
    }
}

fn warn_of_empty_groups(program: &Program, times: &[GroupTimes], world: &World) {
    for (group, _) in program
        .groups
        .iter()
        .zip(times)
        .filter(|(_, times)| times.shape.threads_max() == 0)
    {
        let warning = format!(
            "{}: the group has no thread: its number of threads or its duration is 0, blank or not a number",
            group.name
        );
        warn(world, &warning);
    }
}
