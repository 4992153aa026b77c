//! A script whose load is made by agents.
//!
//! Must not know what is sent to them. Invariant: agents measure what one process would.

use std::sync::Arc;

use loadline_cluster::{Bytes, Recipe};
use loadline_model::TestPlan;
use loadline_run::ScriptSetup;

use super::Going;
use crate::Files;
use crate::agents::{AgentsJob, StartedAgents};
use crate::k6::K6Error;
use crate::recipe::{PlanRecipe, ScriptRecipe};

/// From which agents rebuild a script's test.
pub(crate) struct AgentsRecipe {
    /// The script and everything that it reads.
    pub(crate) archive: Bytes,
    /// The recipe of the plan.
    pub(crate) plan: ScriptRecipe,
}

impl Going<'_> {
    /// Starts the agents that make the load, if any are requested.
    ///
    /// # Errors
    /// The request cannot be fulfilled by agents, or they cannot be started.
    pub(super) fn start_agents(
        &self,
        plan: &Arc<TestPlan>,
        script: &ScriptSetup,
    ) -> Result<Option<StartedAgents>, K6Error> {
        let Some(recipe) = &self.recipe else {
            return Ok(None);
        };
        let plan_recipe = PlanRecipe::Script(Box::new(ScriptRecipe {
            by_all_tags: script.metrics.series.by_all_tags,
            counts_series: script.metrics.series.counts_series,
            ..recipe.plan.clone()
        }));
        let recipe = Recipe {
            plan: serde_json::to_vec(&plan_recipe)
                .map_err(|error| K6Error::other(error.to_string()))?,
            archive: recipe.archive.clone(),
            ..Recipe::default()
        };
        let job = AgentsJob {
            plan,
            recipe,
            data: Arc::clone(&script.data),
            metrics: Some(&script.metrics),
            log: Some(Arc::clone(&script.log)),
            samples: None,
            results: None,
        };
        let started = self.run.agents.start(job, self.env, &Files::Disk);
        started.map_err(|ending| K6Error::new(ending.code, ending.message()))
    }
}
