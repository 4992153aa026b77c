//! How an agent leaves during a test: its load stops, its measurements are reported, and then it exits.
//!
//! Must not own connections. Invariant: whatever happens to the last reports, a leaving agent exits within a
//! bounded time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::AgentError;

/// How long the last reports may take to arrive.
const LAST_REPORTS: Duration = Duration::from_secs(2);

/// Shared by the session and the engine of an agent.
#[derive(Default)]
pub(super) struct Parting {
    state: Mutex<State>,
    /// Notified when the engine has news.
    pub(super) changed: Notify,
}

#[derive(Default)]
struct State {
    /// `None`: the agent is not leaving.
    why: Option<Why>,
    /// When to stop waiting for it.
    until_ns: u64,
    is_done: bool,
}

/// Why an agent leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It was asked to.
    Stopped,
    /// Something in it crashed.
    Defect(String),
}

impl Why {
    /// The message to the coordinator.
    pub(super) fn words(&self) -> String {
        match self {
            Why::Stopped => "it was stopped by a signal".to_owned(),
            Why::Defect(what) => what.clone(),
        }
    }
}

impl From<Why> for AgentError {
    fn from(why: Why) -> AgentError {
        match why {
            Why::Stopped => AgentError::Left,
            Why::Defect(what) => AgentError::Defect(what),
        }
    }
}

impl Parting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent has to leave; returns whether that is news.
    pub(super) fn begin(&self, why: Why, now_ns: u64) -> bool {
        let mut state = self.state();
        if state.why.is_some() {
            return false;
        }
        state.why = Some(why);
        state.until_ns = now_ns.saturating_add(LAST_REPORTS.as_nanos() as u64);
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Everything that will be reported has arrived.
    pub(super) fn done(&self) {
        self.state().is_done = true;
        self.changed.notify_one();
    }

    /// Why the agent may exit now; `None`: it may not, or it is not leaving.
    pub(super) fn over(&self, now_ns: u64) -> Option<Why> {
        let state = self.state();
        let why = state.why.as_ref()?;
        (state.is_done || now_ns >= state.until_ns).then(|| why.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_goes_when_all_has_arrived_or_its_time_is_up() {
        let parting = Parting::default();
        assert_eq!(parting.over(u64::MAX), None, "nobody leaves");
        assert!(parting.begin(Why::Stopped, 5));
        assert!(
            !parting.begin(Why::Defect("late".to_owned()), 6),
            "the first reason stays"
        );
        assert_eq!(parting.over(6), None, "its last reports are on their way");
        assert_eq!(parting.over(2_000_000_005), Some(Why::Stopped));
        parting.done();
        assert_eq!(parting.over(6), Some(Why::Stopped));
    }
}
