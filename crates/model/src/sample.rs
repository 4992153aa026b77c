//! Single values, for sinks that need every one of them.
//!
//! Must not aggregate anything; snapshots do that.

use std::sync::Arc;

use loadline_metric::{MetricId, TagSet};

use crate::error_class::ErrorClass;

/// One request for sinks that need every one; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Actual start, from the start of the run.
    pub start_ns: u64,
    /// Scheduled start; equal to the actual start in a closed model.
    pub intended_ns: u64,
    /// Name lookup; zero on a reused connection.
    pub dns_ns: u64,
    /// Making the connection, including TLS; zero on a reused connection.
    pub connect_ns: u64,
    /// Passing the request to the operating system.
    pub sending_ns: u64,
    /// To the first byte.
    pub waiting_ns: u64,
    /// From the first byte to the last.
    pub receiving_ns: u64,
    /// Service time.
    pub service_ns: u64,
    /// Status code; zero for a failure.
    pub status: u16,
    /// Error class; `None` if there was a response.
    pub error: Option<ErrorClass>,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Bytes sent, for HTTP/2 before header compression; zero for a failure.
    pub sent_bytes: u64,
    /// Active virtual users when it ended.
    pub vus: u32,
}

/// Values that a script run recorded at one instant under the same tags, for sinks that need every one. A
/// request is one of these, not ten.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedValues {
    /// When, in nanoseconds since 1970.
    pub time_unix_ns: u64,
    /// The tags, including system tags.
    pub tags: Arc<TagSet>,
    /// Values that identify single events and so are not tags (`vu`, `iter`, a trace id); `None` without any.
    pub metadata: Option<Arc<TagSet>>,
    /// The values, in the unit of their metric (times in milliseconds).
    pub values: Vec<(MetricId, f64)>,
    /// Further data on the request that the values belong to; `None` for other values.
    pub request: Option<RequestFacts>,
}

/// Data on a request besides its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// Bytes sent, for HTTP/2 before header compression; zero for a failure.
    pub sent_bytes: u64,
    /// Bytes of the response body.
    pub body_bytes: u64,
    /// Active virtual users when it ended.
    pub vus: VusAtWork,
}

/// Active virtual users at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VusAtWork {
    /// Of one scenario.
    pub scenario: u32,
    /// Of all scenarios.
    pub run: u32,
}
