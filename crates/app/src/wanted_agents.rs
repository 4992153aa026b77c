//! The agents that a command line requests.
//!
//! Must not know how they are started. Invariant: every parser of command lines returns this type.

use std::net::SocketAddr;
use std::time::Duration;

/// Maximum number of agents of a test.
pub(crate) const AGENTS_MAX: u32 = 1_000;

/// The agents that a command line requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedAgents {
    /// How many; `None`: this process makes the load.
    pub count: Option<u32>,
    /// The address where they join; `None`: they are processes on this machine.
    pub listen: Option<SocketAddr>,
    /// The file of the coordinator's identity; `None`: a token is generated.
    pub identity: Option<String>,
    /// How long to wait for a replacement of a lost agent; `None`: the coordinator's default.
    pub await_agent: Option<Duration>,
}
