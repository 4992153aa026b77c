//! What a metric is: its kind, its unit, its number; and the metrics that every script run has.
//!
//! Must not know who records. Invariant: a built-in metric's number is its place in
//! [`BuiltIn::ALL`]; metrics of a script are numbered after them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How the values of a metric are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricType {
    /// A sum.
    Counter,
    /// The last value, with the smallest and the largest.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// A distribution.
    Trend,
}

impl MetricType {
    /// The name in outputs and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Rate => "rate",
            MetricType::Trend => "trend",
        }
    }
}

impl fmt::Display for MetricType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contains {
    /// Numbers without a unit.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// The name in outputs and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        }
    }
}

impl fmt::Display for Contains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of a metric within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MetricId(pub u32);

/// What a metric is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricDefinition {
    /// Name, unique in a run.
    pub name: Arc<str>,
    /// How its values are put together.
    #[serde(rename = "type")]
    pub kind: MetricType,
    /// What its values are.
    pub contains: Contains,
}

macro_rules! built_in_metrics {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $kind:ident, $contains:ident;)+) => {
        /// The metrics that every script run has (k6's names).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum BuiltIn { $($(#[doc = $doc])+ $variant,)+ }

        impl BuiltIn {
            /// Every built-in metric, in the order of their numbers.
            pub const ALL: &'static [BuiltIn] = &[$(BuiltIn::$variant),+];

            /// The metric's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(BuiltIn::$variant => $name,)+ }
            }

            /// How its values are put together.
            #[must_use]
            pub fn kind(self) -> MetricType {
                match self { $(BuiltIn::$variant => MetricType::$kind,)+ }
            }

            /// What its values are.
            #[must_use]
            pub fn contains(self) -> Contains {
                match self { $(BuiltIn::$variant => Contains::$contains,)+ }
            }
        }
    };
}

built_in_metrics! {
    /// Virtual users at work.
    Vus = "vus", Gauge, Default;
    /// Virtual users initialized.
    VusMax = "vus_max", Gauge, Default;
    /// Iterations run to their end.
    Iterations = "iterations", Counter, Default;
    /// Length of whole iterations.
    IterationDuration = "iteration_duration", Trend, Time;
    /// Iterations due and not started.
    DroppedIterations = "dropped_iterations", Counter, Default;
    /// Checks that held.
    Checks = "checks", Rate, Default;
    /// Length of groups.
    GroupDuration = "group_duration", Trend, Time;
    /// HTTP requests, each hop for itself.
    HttpReqs = "http_reqs", Counter, Default;
    /// HTTP requests whose answer was not expected.
    HttpReqFailed = "http_req_failed", Rate, Default;
    /// Sending + waiting + receiving.
    HttpReqDuration = "http_req_duration", Trend, Time;
    /// Waiting for a connection, making it included.
    HttpReqBlocked = "http_req_blocked", Trend, Time;
    /// TCP handshake.
    HttpReqConnecting = "http_req_connecting", Trend, Time;
    /// TLS handshake.
    HttpReqTlsHandshaking = "http_req_tls_handshaking", Trend, Time;
    /// Sending the request.
    HttpReqSending = "http_req_sending", Trend, Time;
    /// From the last byte sent to the first received.
    HttpReqWaiting = "http_req_waiting", Trend, Time;
    /// From the first byte received to the last.
    HttpReqReceiving = "http_req_receiving", Trend, Time;
    /// Bytes sent.
    DataSent = "data_sent", Counter, Data;
    /// Bytes received.
    DataReceived = "data_received", Counter, Data;
}

impl BuiltIn {
    /// The metric's number.
    #[must_use]
    pub fn id(self) -> MetricId {
        MetricId(self as u32)
    }

    /// The metric's definition.
    #[must_use]
    pub fn definition(self) -> MetricDefinition {
        MetricDefinition {
            name: self.name().into(),
            kind: self.kind(),
            contains: self.contains(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places() {
        for (place, metric) in BuiltIn::ALL.iter().enumerate() {
            assert_eq!(metric.id().0 as usize, place);
        }
    }
}
