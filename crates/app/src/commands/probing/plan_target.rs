//! A JMeter plan under other loads than its own.
//!
//! Must not know which loads are applied. Invariant: problems of the plan are reported once, before the first
//! load.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_jmeter::tree::Element;

use crate::cli::ProbingArgs;
use crate::cli::plan_run::PlanProbeArgs;
use crate::jmeter::imposed_load::{self, ImposedLoad, Trial};
use crate::jmeter::plan_file;
use crate::jmeter::world::World;
use crate::{Ending, Env, Files};

/// A plan that was read.
pub(super) struct PlanTarget {
    name: String,
    tree: Vec<Element>,
    properties: BTreeMap<String, String>,
}

impl PlanTarget {
    /// Reads the plan that is the target.
    ///
    /// # Errors
    /// It cannot be run, or options do not apply to plans.
    pub(super) fn read(args: &ProbingArgs, env: &Env) -> Result<PlanTarget, Ending> {
        if !args.told.expect.is_empty() || args.users.exec.is_some() {
            return Err(Ending::usage(
                "--expect is for a URL and --exec for a k6 script: a plan's assertions decide what counts as a success",
            ));
        }
        let words = args.script_flags.iter().chain([&args.target]).cloned();
        let words: Vec<String> = words.collect();
        let wanted = PlanProbeArgs::parse_words(&words)?;
        let options = wanted.options(env);
        let name = wanted.source.plan.clone();
        let (properties, tree) = plan_file::read(&wanted.source, &options, &Files::Disk)?;
        let reading = loadline_jmeter::lowered(&tree);
        let world = Arc::new(World::new(&name, properties.clone(), env, None));
        plan_file::check(&reading, &options, &world)?;
        imposed_load::check(&name, &tree, reading, &world)?;
        Ok(PlanTarget {
            name,
            tree,
            properties,
        })
    }

    /// The plan under a load, restarted: no load depends on an earlier one.
    ///
    /// # Errors
    /// The plan has no group that can be loaded.
    pub(super) fn trial(&self, load: &ImposedLoad, seed: u64, env: &Env) -> Result<Trial, Ending> {
        let program = loadline_jmeter::lowered(&self.tree).program;
        let world = World::new(&self.name, self.properties.clone(), env, None);
        Trial::new(&self.name, program, Arc::new(world), load, seed)
    }
}
