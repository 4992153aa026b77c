//! Trace of a script for `--once`: each hop of each request with its fields, bodies and times.
//!
//! Must not know how it is shown. Invariant: nothing is kept for it unless requested.

use crate::hop::{HopHeaders, HopProtocol, HopRequest, HopTimes};

/// One completed hop.
#[derive(Clone, Debug)]
pub struct HopTrace<'a> {
    /// Path of its group; empty outside of groups.
    pub group: &'a str,
    /// Method.
    pub method: &'a str,
    /// URL, without user and password.
    pub url: &'a str,
    /// The sent request; `None`: it could not be sent.
    pub request: Option<&'a HopRequest>,
    /// The result.
    pub outcome: TracedOutcome<'a>,
    /// Where the time went.
    pub times: HopTimes,
}

/// The result of a hop.
#[derive(Clone, Debug)]
pub enum TracedOutcome<'a> {
    /// A response.
    Answer {
        /// Status code.
        status: u16,
        /// Reason phrase; empty for HTTP/2.
        reason: &'a str,
        /// HTTP version.
        protocol: HopProtocol,
        /// Fields.
        headers: &'a HopHeaders,
        /// The body with its content coding decoded; empty if the script did not want it.
        body: &'a [u8],
    },
    /// No response, or an unreadable one.
    Failed {
        /// k6's error code.
        code: u16,
        /// The error.
        detail: &'a str,
    },
}
