//! A plan under a load that replaces its own: its single main group runs an iteration for each start of an
//! executor.
//!
//! Must not know which loads are applied, nor results files: listeners write nothing. Invariant: groups before
//! and after the main group run as planned.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use loadline_jmeter::tree::Element;
use loadline_jmeter::{Reading, parts};
use loadline_model::thread_group::{ArrivalCourse, ArrivalLeg, Arrivals};
use loadline_model::{Behaviour, Executor, RunEvent, TestPlan, ThreadGroup};
use loadline_run::steps::{GroupTimes, StepsSetup, StepsState};
use loadline_run::{Ran, RunSetup, ScriptMetrics};
use loadline_steps::listener::Heard;
use loadline_steps::program::{Phase, Program};

use super::BATCHES;
use super::evaluated::Evaluated;
use super::silences;
use super::test_plan;
use super::world::World;
use crate::Ending;

/// A load that replaces the plan's own.
pub(crate) struct ImposedLoad {
    /// When iterations of the main group start.
    pub(crate) executor: Executor,
    /// The group's threads end after this time, which includes the graceful stop.
    pub(crate) lasts: Duration,
}

impl ImposedLoad {
    /// When threads of the main group run: each repeatedly, until the time is over.
    fn shape(&self) -> ThreadGroup {
        let leg = ArrivalLeg {
            from: 0,
            to: 0,
            lasts_ms: u64::try_from(self.lasts.as_millis()).unwrap_or(u64::MAX),
            by_chance: false,
        };
        ThreadGroup::Arrivals(Arrivals {
            course: ArrivalCourse::FreeForm { legs: vec![leg] },
            limit: None,
            threads_max: self.executor.max_vus(),
            reuses_threads: true,
        })
    }

    /// Applies this load to the scenario of a group.
    fn take_place(&self, group: usize, plan: &mut TestPlan) {
        for scenario in &mut plan.scenarios {
            if matches!(&scenario.behaviour, Behaviour::Steps(steps) if steps.group == group) {
                scenario.executor = self.executor.clone();
            }
        }
    }
}

/// Reports likely mistakes in a plan; later trials do not repeat them.
///
/// # Errors
/// It has no main group with threads, or several.
pub(crate) fn check(
    plan_name: &str,
    tree: &[Element],
    reading: Reading,
    world: &Arc<World>,
) -> Result<(), Ending> {
    let parts = parts::parts(tree, &reading);
    let mut evaluated = Evaluated::new(plan_name, reading.program, Arc::clone(world));
    let program = Arc::clone(&evaluated.program);
    silences::tell(&parts, &program, &mut evaluated.bench.scope(), world);
    main_group(&program, &evaluated.times).map(drop)
}

/// A plan under such a load.
pub(crate) struct Trial {
    plan: TestPlan,
    steps: StepsSetup,
    samples: Receiver<Vec<Heard>>,
}

impl Trial {
    /// Prepares a program for a load.
    ///
    /// # Errors
    /// It has no main group with threads, or several.
    pub(crate) fn new(
        plan_name: &str,
        program: Program,
        world: Arc<World>,
        load: &ImposedLoad,
        seed: u64,
    ) -> Result<Trial, Ending> {
        let mut evaluated = Evaluated::new(plan_name, program, world);
        let group = main_group(&evaluated.program, &evaluated.times)?;
        evaluated.times[group] = GroupTimes {
            shape: load.shape(),
            loops: None,
            asks_loops: false,
            ..evaluated.times[group]
        };
        let mut plan = test_plan::test_plan(&evaluated.program, &evaluated.times, seed);
        load.take_place(group, &mut plan);
        let state = Arc::new(StepsState::new(&evaluated.times));
        let (sender, samples) = sync_channel(BATCHES);
        Ok(Trial {
            plan,
            steps: evaluated.steps(state, sender),
            samples,
        })
    }

    /// Runs it, with its plan modified by `tuned`.
    ///
    /// # Errors
    /// The plan contradicts itself, or the run could not start.
    pub(crate) fn go(
        self,
        tuned: &dyn Fn(TestPlan) -> Result<Arc<TestPlan>, Ending>,
        setup: RunSetup,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Result<Ran, Ending> {
        let plan = tuned(self.plan)?;
        let metrics = ScriptMetrics {
            registry: Arc::default(),
            series: Arc::new(plan.series()),
            values: None,
        };
        let steps = StepsSetup {
            metrics: Some(metrics),
            ..self.steps
        };
        let setup = RunSetup {
            load: None,
            steps: Some(steps),
            ..setup
        };
        let samples = self.samples;
        // Metrics contain everything; single samples are dropped.
        let taker = thread::spawn(move || samples.into_iter().for_each(drop));
        let ran = loadline_run::run(plan, setup, on_event);
        drop(taker.join());
        ran.map_err(|error| Ending::refusal(error.exit_code(), &error.to_string()))
    }
}

/// The only main group that has threads.
fn main_group(program: &Program, times: &[GroupTimes]) -> Result<usize, Ending> {
    let groups = program.groups.iter().zip(times).enumerate();
    let main = groups
        .filter(|(_, (group, times))| group.phase == Phase::Main && times.shape.threads_max() > 0);
    let main: Vec<(usize, &str)> = main
        .map(|(index, (group, _))| (index, group.name.as_str()))
        .collect();
    match main[..] {
        [(index, _)] => Ok(index),
        [] => Err(Ending::usage(
            "no thread group of the plan has a thread: nothing would be sent",
        )),
        _ => {
            let names: Vec<&str> = main.iter().map(|(_, name)| *name).collect();
            Err(Ending::usage(&format!(
                "this command loads one thread group, and the plan has several: {}; disable all but one, as with \
                 -- --set \"{}.enabled=false\"",
                names.join(", "),
                names[0],
            )))
        }
    }
}
