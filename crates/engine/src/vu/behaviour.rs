//! What a virtual user does in one iteration: the closed set of behaviours.
//!
//! A behaviour only waits through its client and its slot, so a stop reaches it everywhere: a native one
//! returns, a script's coroutine is resumed with the order to unwind. Must not know when iterations are due.
//! Invariant: `iterate` returns soon after its slot was interrupted.

use std::rc::Rc;

use loadline_model::Nanos;

use super::Judging;
use super::beginning::Beginning;
use super::client::VuClient;
use super::requests::RequestsVu;
use super::script::{OffDutyVus, ScenarioScript, ScriptBehaviour};
use super::shared::Shared;
use super::steps::{GroupOnWorker, StepsVu};
use crate::script::InitFailure;
use crate::slot::VuSlot;
use crate::timers::Timers;

/// What a virtual user does.
pub(crate) enum VuBehaviour {
    /// One request made from templates.
    Requests(Box<RequestsVu>),
    /// A function of a script.
    Script(Box<ScriptBehaviour>),
    /// A thread of a plan of steps.
    Steps(Box<StepsVu>),
}

impl VuBehaviour {
    /// Runs one iteration; returns the instant at which it ended.
    #[inline]
    pub(crate) async fn iterate(&mut self, beginning: Beginning) -> Nanos {
        match self {
            VuBehaviour::Requests(requests) => requests.iterate(beginning).await,
            VuBehaviour::Script(script) => Box::pin(script.iterate(beginning)).await,
            VuBehaviour::Steps(steps) => Box::pin(steps.iterate(beginning)).await,
        }
    }

    /// Lets the run go on without the virtual user if its initialization fails.
    pub(crate) fn allow_loss(&mut self) {
        match self {
            VuBehaviour::Requests(_) | VuBehaviour::Steps(_) => {}
            VuBehaviour::Script(script) => script.allow_loss(),
        }
    }

    /// Whether initialization failed: the virtual user is unusable, and its iteration did not start.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            VuBehaviour::Requests(_) | VuBehaviour::Steps(_) => false,
            VuBehaviour::Script(script) => script.is_lost(),
        }
    }

    /// Initializes the virtual user, as far as possible before the run starts.
    pub(crate) async fn initialise(&mut self) -> Result<(), InitFailure> {
        match self {
            VuBehaviour::Requests(_) | VuBehaviour::Steps(_) => Ok(()),
            VuBehaviour::Script(script) => script.initialise().await,
        }
    }
}

/// What all virtual users of a scenario do, prepared once per worker.
pub(crate) enum BehaviourPlan {
    /// One request made from templates.
    Requests(Rc<super::requests::RequestsPlan>, Rc<Judging>),
    /// A function of a script.
    Script(Rc<ScenarioScript>, Rc<OffDutyVus>),
    /// The threads of a group.
    Steps(Rc<GroupOnWorker>),
}

impl BehaviourPlan {
    /// The behaviour of one virtual user.
    pub(crate) fn for_vu(
        &self,
        shared: &Rc<Shared>,
        slot: &Rc<VuSlot>,
        timers: &Rc<Timers>,
    ) -> VuBehaviour {
        match self {
            BehaviourPlan::Requests(plan, judging) => {
                let (shared, slot) = (Rc::clone(shared), Rc::clone(slot));
                VuBehaviour::Requests(Box::new(RequestsVu {
                    plan: Rc::clone(plan),
                    client: VuClient::new(shared, slot, Rc::clone(judging), plan.cookies),
                }))
            }
            BehaviourPlan::Script(scenario, off_duty) => {
                let scenario = Rc::clone(scenario);
                let script = ScriptBehaviour::new(scenario, off_duty, shared, slot, timers);
                VuBehaviour::Script(Box::new(script))
            }
            BehaviourPlan::Steps(group) => {
                let steps = StepsVu::new(Rc::clone(group), shared, slot, timers);
                VuBehaviour::Steps(Box::new(steps))
            }
        }
    }
}
