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

/// How long connecting to the coordinator, which has just asked, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an agent does for others.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Whether the test is over, as the agent learned for its own part.
    is_over: AtomicBool,
}

impl StandIns {
    /// Whether no more tests may be joined.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Waits until all of them have ended; if the test is over they do not rejoin.
    pub(super) fn join(&self, is_over: bool) {
        self.is_over.store(is_over, Relaxed);
        let mut known = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in known.drain(..) {
            // One that panicked has ended, and the coordinator has seen its connection close.
            let _ = thread.join();
        }
    }
}

/// Starts to run the share of a lost agent at the coordinator's request. If that fails, the coordinator notices that
/// the connection is missing or closed.
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

/// A note about it.
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
