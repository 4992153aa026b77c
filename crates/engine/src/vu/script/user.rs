//! A script's virtual user: the state it keeps between iterations and between scenarios.
//!
//! Source: k6's virtual users outlive a scenario, with `__ITER`, the variables of modules, and connections.
//! Must not know when iterations are due. Invariant: it belongs to one scenario at a time.

use std::cell::Cell;
use std::rc::Rc;

use loadline_metric::TagSet;
use loadline_script::host::Host;
use loadline_script::vu::{Ending, Iteration, ScriptFailure, VuIds};
use loadline_script::{ScriptVu, Task};

use super::asks::Asks;
use super::host::VuHost;
use super::worker::{ScenarioScript, WorkerScript};
use crate::slot::VuSlot;
use crate::timers::Timers;
use crate::vu::beginning::Beginning;
use crate::vu::script_client::ScriptClient;
use crate::vu::shared::Shared;

/// One virtual user of a script.
pub(crate) struct ScriptUser {
    pub(super) ids: VuIds,
    pub(super) host: Rc<VuHost>,
    pub(super) asks: Asks,
    worker: Rc<WorkerScript>,
    /// Created on first use, and again after an iteration that left something behind.
    pub(super) vu: Option<ScriptVu>,
    /// Iterations that it started, over all scenarios.
    iterations: u64,
}

impl ScriptUser {
    /// One whose init context has not run yet.
    pub(super) fn new(
        scenario: &Rc<ScenarioScript>,
        shared: &Rc<Shared>,
        slot: &Rc<VuSlot>,
        timers: &Rc<Timers>,
    ) -> ScriptUser {
        let worker = Rc::clone(&scenario.worker);
        let ids = scenario.ids(slot.global);
        let number = ids.shown.saturating_sub(1);
        let client = ScriptClient::new(number, Rc::clone(slot), Rc::clone(&worker.client));
        ScriptUser {
            ids,
            host: Rc::new(VuHost::new(shared, &worker, scenario)),
            asks: Asks {
                client: Rc::new(client),
                slot: Rc::clone(slot),
                timers: Rc::clone(timers),
                clock: shared.clock,
                slept_ns: Cell::default(),
            },
            worker,
            vu: None,
            iterations: 0,
        }
    }

    /// Runs the script's init context; no effect if that is interrupted.
    pub(super) async fn initialise(&mut self) -> Result<(), ScriptFailure> {
        let host: Rc<dyn Host> = Rc::clone(&self.host) as Rc<dyn Host>;
        let program = self.worker.program.clone();
        let stacks = Rc::clone(&self.worker.stacks);
        let mut vu = ScriptVu::new(program, host, stacks, self.ids)?;
        let step = vu.begin(Task::Init)?;
        match self.asks.fulfil(&mut vu, step).await {
            Ending::Failed(failure) => return Err(failure),
            Ending::Done(_) => self.vu = Some(vu),
            Ending::Cancelled => {}
        }
        Ok(())
    }

    /// Joins a scenario, whose slot stops and wakes it from now on.
    pub(super) fn join(&mut self, scenario: &Rc<ScenarioScript>, slot: &Rc<VuSlot>) {
        self.host.join(scenario);
        self.asks.move_to(slot);
    }

    /// Runs one iteration, number `in_scenario` of the scenario; returns its result, and the tags of its
    /// samples at the end. `None`: the script's init context has not run.
    pub(super) async fn iterate(
        &mut self,
        scenario: &ScenarioScript,
        beginning: Beginning,
        in_scenario: u64,
    ) -> Option<(Ending, Rc<TagSet>)> {
        let mut vu = self.vu.take()?;
        let number = self.iterations;
        self.iterations += 1;
        self.host.begin_iteration(beginning, in_scenario);
        let task = Task::Iteration(Iteration {
            scenario: Rc::clone(&scenario.setup),
            number,
        });
        let ending = match vu.begin(task) {
            Ok(step) => self.asks.fulfil(&mut vu, step).await,
            Err(failure) => Ending::Failed(failure),
        };
        let tags = self.host.tags_at_end(&vu.tags());
        match vu.is_reusable() {
            true => self.vu = Some(vu),
            false => self.worker.retire(vu),
        }
        Some((ending, tags))
    }
}

impl Drop for ScriptUser {
    fn drop(&mut self) {
        if let Some(vu) = self.vu.take() {
            self.worker.retire(vu);
        }
    }
}
