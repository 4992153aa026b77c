//! What `--once` shows of a script: each hop of each request with its fields, bodies and times.
//!
//! Must not know how it is shown. Invariant: nothing is kept for it unless it was asked for.

use crate::hop::{HopHeaders, HopProtocol, HopRequest, HopTimes};

/// One hop, when it has ended.
#[derive(Clone, Debug)]
pub struct HopTrace<'a> {
    /// Path of the group that it was made in; empty outside of groups.
    pub group: &'a str,
    /// Method.
    pub method: &'a str,
    /// URL, without user and password.
    pub url: &'a str,
    /// What was sent; `None`: nothing could be.
    pub request: Option<&'a HopRequest>,
    /// What came back.
    pub outcome: TracedOutcome<'a>,
    /// Where the time went.
    pub times: HopTimes,
}

/// What came back.
#[derive(Clone, Debug)]
pub enum TracedOutcome<'a> {
    /// An answer.
    Answer {
        /// Status code.
        status: u16,
        /// Reason phrase; over HTTP/2 empty.
        reason: &'a str,
        /// Version of HTTP.
        protocol: HopProtocol,
        /// Fields.
        headers: &'a HopHeaders,
        /// The body, its content coding undone; empty when the script wanted none.
        body: &'a [u8],
    },
    /// None, or none that can be read.
    Failed {
        /// k6's error code.
        code: u16,
        /// What happened.
        detail: &'a str,
    },
}
