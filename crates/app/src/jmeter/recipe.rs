//! From which an agent rebuilds the test of a plan: the plan's files, and the values of its own texts,
//! evaluated once for the whole test.
//!
//! Must not know how it is transferred. Invariant: a text whose value differs in each evaluation is the same
//! for all agents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_model::segment::SegmentSequence;
use loadline_model::{ExitCode, TestPlan, ThreadGroup};
use loadline_report::jmeter::save_config::SaveConfig;
use loadline_run::ScriptLog;
use loadline_run::steps::{GroupTimes, Outbox, StepsSetup, StepsState};
use loadline_steps::host::World as _;
use loadline_steps::listener::Heard;
use loadline_steps::scope::Part;
use loadline_steps::variables::Variables;
use serde::{Deserialize, Serialize};

use super::named_files::{self, NamedFile};
use super::plan_file;
use super::test_plan;
use super::world::{LogTo, World};
use crate::cli::plan_run::PlanRunArgs;
use crate::recipe::written;
use crate::{Ending, Env, Files};

/// From which a plan is rebuilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepsRecipe {
    /// The words after `loadline run`.
    words: Vec<String>,
    /// The plan's file and its includes, in base64.
    files: BTreeMap<String, String>,
    /// Files that its elements read, also in base64.
    data: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    groups: Vec<GroupRecipe>,
    seed: u64,
}

/// The values of a group's texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct GroupRecipe {
    name: String,
    shape: ThreadGroup,
    loops: Option<u64>,
    asks_loops: bool,
    stage: usize,
}

/// A rebuilt plan.
pub(crate) struct Remade {
    pub(crate) args: PlanRunArgs,
    /// The whole plan.
    pub(crate) plan: TestPlan,
    steps: StepsSetup,
}

impl Remade {
    /// The work of the threads of a part of the plan, which is divided by this sequence.
    pub(crate) fn steps_of(self, part: Part, sequence: &SegmentSequence) -> StepsSetup {
        let own = |group: &GroupTimes| {
            let parts = sequence.scale_all(group.shape.threads_max().into());
            let own = parts.get(part.number as usize).copied();
            u32::try_from(own.unwrap_or(0)).unwrap_or(u32::MAX)
        };
        let threads = self.steps.groups.iter().map(own).collect();
        let state = StepsState::of_part(&self.steps.groups, part, threads);
        StepsSetup {
            state: Arc::new(state),
            ..self.steps
        }
    }
}

impl StepsRecipe {
    /// For a plan whose texts were evaluated; `named`: the files that its elements name, `files`: where the
    /// plan was read.
    ///
    /// # Errors
    /// A file that an element names cannot be read.
    pub(crate) fn of(
        words: &[String],
        files: &Files,
        (named, world): (&[NamedFile], &World),
        steps: &StepsSetup,
        seed: u64,
    ) -> Result<StepsRecipe, Ending> {
        let data = named_files::contents(named, world)?.into_iter();
        let data = data.map(|(name, bytes)| (name, STANDARD.encode(bytes)));
        let groups = steps.program.groups.iter().zip(steps.groups.iter());
        let variables = steps.variables.iter();
        Ok(StepsRecipe {
            words: words.to_vec(),
            files: written(&files.recorded()),
            data: data.collect(),
            properties: world.properties().into_iter().collect(),
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            groups: groups
                .map(|(group, times)| GroupRecipe {
                    name: group.name.clone(),
                    shape: times.shape.clone(),
                    loops: times.loops,
                    asks_loops: times.asks_loops,
                    stage: times.stage,
                })
                .collect(),
            seed,
        })
    }

    /// Rebuilds the plan. Results go to `samples`, and JMeter's log lines to `log`.
    ///
    /// # Errors
    /// It cannot be rebuilt, which means that the two programs differ.
    pub(crate) fn remade(
        self,
        samples: SyncSender<Vec<Heard>>,
        log: Arc<dyn ScriptLog>,
    ) -> Result<Remade, String> {
        let told = |ending: Ending| ending.message().to_owned();
        let args = PlanRunArgs::parse_words(&self.words).map_err(told)?;
        let files = Files::Memory(read(self.files)?);
        let name = args.source.plan.clone();
        let edits = args.source.edits();
        let tree = plan_file::tree(
            &name,
            &edits,
            &self.properties,
            ExitCode::InvalidConfig,
            &files,
        );
        let mut program = loadline_jmeter::lowered(&tree.map_err(told)?).program;
        if program.groups.len() != self.groups.len() {
            return Err("the plan has other groups here".to_owned());
        }
        let mut times = Vec::new();
        for (group, recipe) in program.groups.iter_mut().zip(self.groups) {
            group.name = recipe.name;
            times.push(GroupTimes {
                shape: recipe.shape,
                loops: recipe.loops,
                asks_loops: recipe.asks_loops,
                stage: recipe.stage,
            });
        }
        let properties = self.properties.clone();
        let world = World::of(&name, properties, &Env::of_process(), LogTo::Agents(log));
        world.keep_files(read(self.data)?);
        let config = SaveConfig::from_properties(&|name| world.property(name))?;
        program.sample_variables = config.variables;
        let mut plan = test_plan::test_plan(&program, &times, self.seed);
        args.lay_over(&mut plan).map_err(told)?;
        let mut variables = Variables::default();
        for (name, value) in self.variables {
            variables.put(name, value);
        }
        let steps = StepsSetup {
            variables,
            plan: plan_file::bare_name(&name),
            state: Arc::new(StepsState::new(&times)),
            groups: times.into(),
            world: Arc::new(world),
            samples: Arc::new(Outbox::new(samples)),
            program: Arc::new(program),
            metrics: None,
        };
        Ok(Remade { args, plan, steps })
    }
}

/// The files of a recipe.
fn read(files: BTreeMap<String, String>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let files = files.into_iter().map(|(name, text)| {
        let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
        Ok((name, bytes))
    });
    files.collect()
}
