//! An agent: joins a coordinator, runs its share of the load, and reports.
//!
//! Must not know what a script is. Invariant: an agent that has lost its coordinator continues for a limited time and
//! keeps its measurements; then it stops, because nobody would count its load.

mod archive;
mod line;
mod outbox;
mod outlet;
mod parting;
mod post;
mod session;
mod standing_in;
mod work;

#[cfg(test)]
pub(crate) use outbox::Outbox;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use loadline_engine::batches::ValueSender;
use loadline_engine::{EngineSetup, ScriptLog, platform};
use loadline_model::sample::Sample;
use loadline_script::secrets::Secrets;
use loadline_script::vu::SetupData;

use crate::coordinator::Recipe;
use crate::identity::{Identity, fresh_name};
use archive::Held;
use standing_in::StandIns;

/// Settings of an agent.
#[derive(Debug)]
pub struct AgentSettings {
    /// Host and port of the coordinator.
    pub join: String,
    /// Whom the agent trusts, and its own identity.
    pub identity: Identity,
    /// Its name in messages.
    pub name: String,
    /// How long its load continues without a coordinator while it tries to rejoin.
    pub orphan_grace: Duration,
    /// Called with notes about the connection.
    pub on_note: fn(&str),
    /// Where it runs.
    pub place: Place,
    /// Set when the agent has to leave the test, such as by a signal: its share is free at once.
    pub leave: Arc<AtomicBool>,
}

/// Where an agent runs, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its pod; empty: it runs in none.
    pub pod: String,
    /// The pod's node; empty: unknown.
    pub node: String,
}

/// How a test ended for one of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The test's exit code.
    pub exit_code: u8,
    /// The text of the result, or its location.
    pub text: String,
}

/// Secrets that no message of an agent may contain, once they are known.
pub type HiddenSecrets = Arc<OnceLock<Arc<Secrets>>>;

/// The work assigned to an agent.
pub struct Assignment {
    /// The input from which the plan is made.
    pub recipe: Recipe,
    /// The index of the agent's part, from 0.
    pub number: u32,
    /// How many parts there are.
    pub agents: u32,
    /// Where the data of `setup()` will be stored.
    pub data: SetupData,
    /// The destination of log lines.
    pub log: Arc<dyn ScriptLog>,
    /// Where to store the agent's secrets before any part of a script runs: they are removed from all messages of the
    /// agent.
    pub secrets: HiddenSecrets,
    /// The destination of each value of a script; `None`: none.
    pub values: Option<ValueSender>,
    /// The destination of each request; `None`: none.
    pub samples: Option<SyncSender<Vec<Sample>>>,
    /// The destination of results of a plan of steps, in the program's own format; `None`: none.
    pub results: Option<SyncSender<Vec<u8>>>,
}

/// Prepares an assignment for the engine; the error says why it cannot be run.
pub type Prepare = fn(Assignment) -> Result<EngineSetup, String>;

/// Why an agent's part ended before the test did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentError {
    /// The coordinator cannot be reached.
    Unreachable(String),
    /// The coordinator rejects it.
    Refused(String),
    /// The coordinator was lost.
    CoordinatorLost {
        /// How the loss was noticed.
        why: String,
        /// Whether the agent may join as a new one: it has no load that could continue.
        may_join_anew: bool,
    },
    /// The agent cannot do what the coordinator asks.
    Unable(String),
    /// A part of it crashed; the coordinator was informed.
    Defect(String),
    /// It was asked to leave.
    Left,
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Unreachable(why) => write!(f, "the coordinator cannot be reached: {why}"),
            AgentError::Refused(why) => write!(f, "the coordinator refuses this agent: {why}"),
            AgentError::CoordinatorLost { why, .. } => {
                write!(
                    f,
                    "the coordinator is gone, and the load was stopped: {why}"
                )
            }
            AgentError::Unable(why) => f.write_str(why),
            AgentError::Defect(why) => write!(
                f,
                "{why}; the coordinator was notified; this is a defect of loadline: please report it with this message"
            ),
            AgentError::Left => f.write_str("stopped by a signal"),
        }
    }
}

impl std::error::Error for AgentError {}

/// How long to wait for a coordinator to become reachable.
const JOIN_PATIENCE: Duration = Duration::from_secs(60);
/// Time between two attempts.
const TRY_EVERY: Duration = Duration::from_millis(250);

/// Takes part in a test until its end; returns how it ended. An agent that loses its connection during the test
/// continues and reconnects; if its load cannot continue, it joins again as a new agent.
///
/// # Errors
/// Why the agent's part ended early.
pub fn attend(settings: AgentSettings, prepare: Prepare) -> Result<Ended, AgentError> {
    let agent = Arc::new(Agent {
        settings,
        prepare,
        process: fresh_name().unwrap_or_default(),
        stand_ins: StandIns::default(),
        archive: Held::default(),
    });
    let outcome = attend_for_oneself(&agent);
    // Stand-ins for others also end with the test.
    agent.stand_ins.join(outcome.is_ok());
    outcome
}

/// An agent: one process, and everything that it does in a test.
#[derive(Debug)]
struct Agent {
    settings: AgentSettings,
    prepare: Prepare,
    /// A name that no other process has.
    process: String,
    stand_ins: StandIns,
    /// The last archive that was received.
    archive: Held,
}

fn attend_for_oneself(agent: &Arc<Agent>) -> Result<Ended, AgentError> {
    let settings = &agent.settings;
    let mut outcome = session::attend(agent, JOIN_PATIENCE, None);
    while let Err(AgentError::CoordinatorLost {
        why,
        may_join_anew: true,
    }) = &outcome
        && !settings.orphan_grace.is_zero()
    {
        (settings.on_note)(&format!(
            "the coordinator is gone, and no load is running: {why}; joining again"
        ));
        match joined_anew(agent) {
            Some(again) => outcome = again,
            None => break,
        }
    }
    outcome
}

/// Joins as a new agent; `None`: that failed within the time limit.
#[expect(
    clippy::disallowed_methods,
    reason = "its place is free when the coordinator knows of the loss, which it is asked for now and then"
)]
fn joined_anew(agent: &Arc<Agent>) -> Option<Result<Ended, AgentError>> {
    let begun = platform::monotonic_ns();
    loop {
        let tried = Duration::from_nanos(platform::monotonic_ns().saturating_sub(begun));
        let left = agent.settings.orphan_grace.checked_sub(tried)?;
        match session::attend(agent, left, None) {
            Err(AgentError::Refused(_)) => std::thread::sleep(TRY_EVERY),
            Err(AgentError::Unreachable(_)) => return None,
            outcome => return Some(outcome),
        }
    }
}
