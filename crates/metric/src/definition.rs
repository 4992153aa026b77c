//! The definition of a metric: its kind, unit and id; and the metrics of every script run.
//!
//! Must not know who records. Invariant: a built-in metric's id is its index in [`BuiltIn::ALL`]; a script's
//! metrics follow.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How the values of a metric are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricType {
    /// A sum.
    Counter,
    /// The last value, with the minimum and the maximum.
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

/// What the values of a metric mean.
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

/// The id of a metric within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MetricId(pub u32);

/// The definition of a metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricDefinition {
    /// Name, unique in a run.
    pub name: Arc<str>,
    /// How its values are aggregated.
    #[serde(rename = "type")]
    pub kind: MetricType,
    /// What its values mean.
    pub contains: Contains,
}

macro_rules! built_in_metrics {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $kind:ident, $contains:ident;)+) => {
        /// The metrics that every script run has (k6's names).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum BuiltIn { $($(#[doc = $doc])+ $variant,)+ }

        impl BuiltIn {
            /// Every built-in metric, in order of ids.
            pub const ALL: &'static [BuiltIn] = &[$(BuiltIn::$variant),+];

            /// The metric's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(BuiltIn::$variant => $name,)+ }
            }

            /// How its values are aggregated.
            #[must_use]
            pub fn kind(self) -> MetricType {
                match self { $(BuiltIn::$variant => MetricType::$kind,)+ }
            }

            /// What its values mean.
            #[must_use]
            pub fn contains(self) -> Contains {
                match self { $(BuiltIn::$variant => Contains::$contains,)+ }
            }
        }
    };
}

built_in_metrics! {
    /// Active virtual users.
    Vus = "vus", Gauge, Default;
    /// Virtual users initialized.
    VusMax = "vus_max", Gauge, Default;
    /// Complete iterations.
    Iterations = "iterations", Counter, Default;
    /// Duration of complete iterations.
    IterationDuration = "iteration_duration", Trend, Time;
    /// Iterations that were due but not started.
    DroppedIterations = "dropped_iterations", Counter, Default;
    /// Checks that passed.
    Checks = "checks", Rate, Default;
    /// Duration of groups.
    GroupDuration = "group_duration", Trend, Time;
    /// HTTP requests; every hop counts.
    HttpReqs = "http_reqs", Counter, Default;
    /// HTTP requests with an unexpected response.
    HttpReqFailed = "http_req_failed", Rate, Default;
    /// Sending + waiting + receiving.
    HttpReqDuration = "http_req_duration", Trend, Time;
    /// Waiting for a connection, including making one.
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
    /// The metric's id.
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
