//! Shares of lost agents that an agent runs in addition to its own, each over a separate connection.
//!
//! Must not know how a share is run. Invariants: these shares do not affect the agent's own, and end before the
//! process does; their number is limited.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Agent, session};
use crate::generated::StandIn;
use crate::share::SHARES_MAX;

/// How long the coordinator, which has just asked, may take to be reached.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an agent does for others.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether the test is over, as the agent has heard for its own part.
    is_over: AtomicBool,
}

impl StandIns {
    /// Whether nobody is to be joined any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Waits until all of it has ended; where the test is over nothing is joined again.
    pub(super) fn join(&self, is_over: bool) {
        self.is_over.store(is_over, Relaxed);
        let mut known = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in known.drain(..) {
            // One that panicked has ended, and the coordinator has seen its connection close.
            let _ = thread.join();
        }
    }
}

/// Begins to make the share of a lost agent, as the coordinator asks. Where that fails the coordinator learns of it by the connection that does
/// not come, or closes.
pub(super) fn begin(agent: &Arc<Agent>, asked: StandIn) {
    let note = agent.settings.on_note;
    let mut known = agent.stand_ins.threads.lock();
    let known = known.as_mut().unwrap_or_else(|poisoned| poisoned.get_mut());
    known.retain(|thread| !thread.is_finished());
    if known.len() + 1 >= SHARES_MAX {
        return note(&said(&asked, "it already runs too many shares"));
    }
    let own = Arc::clone(agent);
    let thread = thread::Builder::new().name("stand-in".to_owned());
    let refused = said(&asked, "cannot start a thread");
    match thread.spawn(move || make(&own, &asked)) {
        Ok(thread) => known.push(thread),
        Err(_) => note(&refused),
    }
}

/// What is said of it.
pub(super) fn said(asked: &StandIn, text: &str) -> String {
    format!("standing in for {}: {text}", asked.lost)
}

fn make(agent: &Arc<Agent>, asked: &StandIn) {
    let note = agent.settings.on_note;
    note(&said(asked, "the coordinator asks for it"));
    if let Err(error) = session::attend(agent, PATIENCE, Some(asked.clone())) {
        note(&said(asked, &error.to_string()));
    }
}
