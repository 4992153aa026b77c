//! The agents that a command line asks for.
//!
//! Must not know how they are had. Invariant: whoever reads command lines says it in these words.

use std::net::SocketAddr;
use std::time::Duration;

/// Most agents of a test.
pub(crate) const AGENTS_MAX: u32 = 1_000;

/// The agents that a command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedAgents {
    /// How many; `None`: the load is made here.
    pub count: Option<u32>,
    /// Where they join; `None`: they are processes of this machine.
    pub listen: Option<SocketAddr>,
    /// The file of the coordinator's identity; `None`: a token is made.
    pub identity: Option<String>,
    /// How long another is waited for in the place of a lost one; `None`: as long as the coordinator does by itself.
    pub await_agent: Option<Duration>,
}
