//! Messages between the supervisor and its processes: one JSON value per line.
//!
//! It must not know pipes. Invariant: every command but the last is answered with [`Said::Heard`]. Counters are
//! never sent here: they are in shared memory ([`super::tally`]), where they survive the death of a process.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// From the supervisor to a process, on its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Who answers now, by component; replaces what was said before.
    Upstreams {
        /// Comes back in [`Said::Heard`].
        number: u64,
        /// Only replicas that are ready.
        lists: BTreeMap<String, Vec<Upstream>>,
    },
    /// Times are multiplied by this from now on.
    Factor {
        /// Comes back in [`Said::Heard`].
        number: u64,
        factor: f64,
    },
    /// Ends the process in an orderly way.
    Stop,
}

/// A replica that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Upstream {
    pub(crate) replica: u32,
    pub(crate) address: SocketAddr,
}

/// From a process, on its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It listens.
    Ready {
        address: SocketAddr,
        https: Option<SocketAddr>,
    },
    /// The order of that number is carried out.
    Heard(u64),
    /// It cannot start, and why.
    Failed(String),
}

/// One line.
pub(crate) fn line<T: Serialize>(message: &T) -> String {
    let mut line = serde_json::to_string(message).expect("messages have text keys only");
    line.push('\n');
    line
}
