//! A program whose own texts have been evaluated: its variables, the names of its groups, and when their
//! threads run.
//!
//! Must not know where samples go. Invariant: it is evaluated once, before the first thread.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use loadline_run::steps::{GroupTimes, Outbox, StepsSetup, StepsState};
use loadline_steps::listener::Heard;
use loadline_steps::program::Program;

use super::bench::Bench;
use super::plan_file;
use super::test_plan;
use super::world::World;

/// A program whose own texts have been evaluated.
pub(super) struct Evaluated {
    pub(super) program: Arc<Program>,
    /// For the evaluation of further texts.
    pub(super) bench: Bench,
    /// The times of each group.
    pub(super) times: Vec<GroupTimes>,
    world: Arc<World>,
    /// The file name of the plan, without its folder.
    plan: String,
}

impl Evaluated {
    /// Evaluates a program read from a file with this name.
    pub(super) fn new(plan_name: &str, mut program: Program, world: Arc<World>) -> Evaluated {
        let plan = plan_file::bare_name(plan_name);
        world.begin_test();
        let mut bench = Bench::new(&plan, Arc::clone(&world));
        test_plan::set_variables(&program, &mut bench.scope());
        test_plan::start_scripts(&program, &mut bench.scope());
        test_plan::name_groups(&mut program, &mut bench.scope());
        let times = test_plan::times(&program, &mut bench.scope());
        Evaluated {
            program: Arc::new(program),
            bench,
            times,
            world,
            plan,
        }
    }

    /// The setup for the engine; samples go to `samples`, and nothing is measured. `state` belongs to the same
    /// times.
    pub(super) fn steps(
        self,
        state: Arc<StepsState>,
        samples: SyncSender<Vec<Heard>>,
    ) -> StepsSetup {
        StepsSetup {
            variables: self.bench.variables,
            plan: self.plan,
            state,
            groups: self.times.into(),
            world: self.world as _,
            samples: Arc::new(Outbox::new(samples)),
            program: self.program,
            metrics: None,
        }
    }
}
