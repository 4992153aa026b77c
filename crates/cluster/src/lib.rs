//! One test on several processes: a coordinator that reads, judges and tells, and agents that make the load.
//!
//! The coordinator is a run whose load is made by others: [`Fleet`] stands in the place of the engine. Agents are engines
//! that are told what to do. Both sides decide in state machines over time and messages, which own no socket. Must not know
//! scripts, command lines or Kubernetes. Invariants: what an agent has reported is counted once, what it had begun and not
//! reported when it was lost is counted as lost, and the load is in nobody's way: agents need the coordinator alone.

mod agent;
mod batch;
mod clocks;
mod coordinator;
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, unreachable_pub, unused_qualifications, reason = "it is generated")]
mod generated;
mod identity;
mod local;
mod message;
mod share;

pub use agent::{
    AgentError, AgentSettings, Assignment, Ended, HiddenSecrets, Place, Prepare, attend,
};
pub use coordinator::hear_hostile;
pub use coordinator::{Fleet, FleetError, FleetHandle, FleetSettings, Recipe, ResultTaker, Takers};
pub use identity::{Identity, IdentityError, Token};
pub use prost::bytes::Bytes;

pub use local::{LocalAgents, TOKEN_VARIABLE};
pub use share::share_of;
