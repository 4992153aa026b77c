//! What a virtual user does in one iteration: the closed set of behaviours.
//!
//! A behaviour waits through its client and its slot alone, so that a stop reaches it wherever it
//! is: a native one returns, a script's coroutine is resumed with the order to unwind. Must not
//! know when iterations are due. Invariant: `iterate` returns soon after its slot was cut.

use std::rc::Rc;

use loadline_model::Nanos;

use super::client::VuClient;
use super::requests::RequestsVu;

/// When an iteration begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// When the plan wanted it; `None` in a closed model.
    pub(crate) intended: Option<Nanos>,
    /// When it really begins.
    pub(crate) started: Nanos,
    /// Its number over the whole test, from zero.
    pub(crate) iteration: u64,
}

/// What a virtual user does.
pub(crate) enum VuBehaviour {
    /// One request made from templates.
    Requests(RequestsVu),
}

impl VuBehaviour {
    /// Runs one iteration; gives the instant at which it ended.
    #[inline]
    pub(crate) async fn iterate(&mut self, beginning: Beginning) -> Nanos {
        match self {
            VuBehaviour::Requests(requests) => requests.iterate(beginning).await,
        }
    }

    /// Tells the behaviour that its virtual user has waited.
    #[inline]
    pub(crate) fn note_rest(&mut self) {
        match self {
            VuBehaviour::Requests(requests) => requests.client.note_rest(),
        }
    }
}

/// What all virtual users of a scenario do, made ready once per worker.
pub(crate) enum BehaviourPlan {
    /// One request made from templates.
    Requests(Rc<super::requests::RequestsPlan>),
}

impl BehaviourPlan {
    /// The behaviour of one virtual user.
    pub(crate) fn for_vu(&self, client: impl FnOnce(bool) -> VuClient) -> VuBehaviour {
        match self {
            BehaviourPlan::Requests(plan) => VuBehaviour::Requests(RequestsVu {
                plan: Rc::clone(plan),
                client: client(plan.cookies),
            }),
        }
    }
}
