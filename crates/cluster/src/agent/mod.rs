//! An agent: joins a coordinator, makes its share of the load, and reports.
//!
//! Must not know what a script is. Invariant: an agent that has lost its coordinator stops, for nobody would count what it
//! does.

mod outbox;
mod outlet;
mod session;
mod work;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use loadline_engine::batches::ValueSender;
use loadline_engine::{EngineSetup, ScriptLog};
use loadline_model::snapshot::Sample;
use loadline_script::vu::SetupData;

use crate::coordinator::Recipe;
use crate::identity::Identity;

pub use session::attend;

/// How an agent takes part.
#[derive(Debug)]
pub struct AgentSettings {
    /// Host and port of the coordinator.
    pub join: String,
    /// Whom the agent trusts, and as whom it is known.
    pub identity: Identity,
    /// What it is called in messages.
    pub name: String,
}

/// How a test ended for one of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The test's exit code.
    pub exit_code: u8,
    /// The result of the test as it was told, or where that is.
    pub text: String,
}

/// What an agent is to do.
pub struct Assignment {
    /// From what the plan is made.
    pub recipe: Recipe,
    /// Which part of it is the agent's, from 0.
    pub number: u32,
    /// How many parts there are.
    pub agents: u32,
    /// Where the data of `setup()` will be.
    pub data: SetupData,
    /// Where lines of the log go.
    pub log: Arc<dyn ScriptLog>,
    /// Where each value of a script goes; `None`: nowhere.
    pub values: Option<ValueSender>,
    /// Where each request goes; `None`: nowhere.
    pub samples: Option<SyncSender<Vec<Sample>>>,
}

/// Makes an assignment ready for the engine; an error says why it cannot be done.
pub type Prepare = Box<dyn FnOnce(Assignment) -> Result<EngineSetup, String> + Send>;

/// Why an agent's part ended before the test did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentError {
    /// The coordinator cannot be reached.
    Unreachable(String),
    /// The coordinator does not want it.
    Refused(String),
    /// The coordinator is gone.
    CoordinatorLost(String),
    /// The agent cannot do what is asked of it.
    Unable(String),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Unreachable(why) => write!(f, "the coordinator cannot be reached: {why}"),
            AgentError::Refused(why) => write!(f, "the coordinator refuses this agent: {why}"),
            AgentError::CoordinatorLost(why) => {
                write!(
                    f,
                    "the coordinator is gone, and the load was stopped: {why}"
                )
            }
            AgentError::Unable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for AgentError {}
