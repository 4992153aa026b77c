//! Single values, for sinks that want every one of them.
//!
//! Must not sum anything up: that is a snapshot's.

use std::sync::Arc;

use loadline_metric::{MetricId, TagSet};

use crate::error_class::ErrorClass;

/// One request as a sink that wants them all gets it; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Actual start, from the start of the run.
    pub start_ns: u64,
    /// Intended start; equal to the actual one in a closed model.
    pub intended_ns: u64,
    /// Looking up the name; zero on a connection in use.
    pub dns_ns: u64,
    /// Making the connection, TLS included; zero on a connection in use.
    pub connect_ns: u64,
    /// Handing the request to the operating system.
    pub sending_ns: u64,
    /// To the first byte.
    pub waiting_ns: u64,
    /// From the first byte to the last.
    pub receiving_ns: u64,
    /// Service time.
    pub service_ns: u64,
    /// Status code; zero for a failure.
    pub status: u16,
    /// Why it failed; `None` for an answer.
    pub error: Option<ErrorClass>,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Bytes of the request as it was sent, of HTTP/2 before its head was packed; zero for a failure.
    pub sent_bytes: u64,
    /// Virtual users at work when it ended.
    pub vus: u32,
}

/// Values that a script run recorded at one instant under the same tags; for sinks that want
/// every single one. A request is one of these, not ten.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedValues {
    /// When, in nanoseconds since 1970.
    pub time_unix_ns: u64,
    /// The tags, system tags among them.
    pub tags: Arc<TagSet>,
    /// Values that identify single events and so are no tags (`vu`, `iter`, a trace's number);
    /// `None` without any.
    pub metadata: Option<Arc<TagSet>>,
    /// The values, in the unit of their metric (times in milliseconds).
    pub values: Vec<(MetricId, f64)>,
    /// What else is known of the one request that the values are of; `None` for other values.
    pub request: Option<RequestFacts>,
}

/// What is known of one request beside its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// Its bytes as it was sent, of HTTP/2 before its head was packed; zero for a failure.
    pub sent_bytes: u64,
    /// Bytes of the answer's body.
    pub body_bytes: u64,
    /// Who was at work when it ended.
    pub vus: VusAtWork,
}

/// Virtual users at work at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VusAtWork {
    /// Of one scenario.
    pub scenario: u32,
    /// Of all scenarios.
    pub run: u32,
}
