//! A script under a plan that replaces that of its options: one load of several.
//!
//! Must not know the reason. Invariant: the script is loaded once; each load has its own virtual users, data
//! and metrics.

use std::sync::Arc;

use loadline_model::{RunEvent, TestPlan};
use loadline_run::{Ran, RunScript, RunSetup, ScriptMetrics};

use super::{Going, setup_of};
use crate::k6::K6Error;

impl Going<'_> {
    /// Runs the script under a plan; `setup` does not include the script.
    ///
    /// # Errors
    /// The run could not start.
    pub(crate) fn put(
        &self,
        plan: Arc<TestPlan>,
        setup: RunSetup,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Result<Ran, K6Error> {
        let metrics = ScriptMetrics {
            registry: Arc::clone(&self.loaded.metrics.registry),
            series: Arc::new(plan.series()),
            values: None,
        };
        let log = Arc::clone(&self.logger) as _;
        let script = setup_of(self.loaded, &plan, metrics, log)
            .ok_or_else(|| K6Error::other("the plan has no script"))?;
        let setup = RunSetup {
            steps: None,
            script: Some(RunScript {
                setup: script,
                functions: self.loaded.exports.functions.clone(),
            }),
            ..setup
        };
        loadline_run::run(plan, setup, on_event)
            .map_err(|error| K6Error::new(error.exit_code(), error.to_string()))
    }
}
