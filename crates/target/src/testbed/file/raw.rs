//! The raw content of a testbed file.
//!
//! It must not know ranges, defaults or references; see [`super::convert`]. Invariant: keys not listed here are
//! refused.

use super::values::RawTime;
use loadline_yaml::Placed;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A text with its position.
pub(super) type Text = Option<Placed<String>>;
/// An integer with its position.
pub(super) type Count = Option<Placed<u32>>;
/// A number with its position.
pub(super) type Number = Option<Placed<f64>>;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub(super) seed: Option<u64>,
    pub(super) control: Option<Placed<u16>>,
    pub(super) components: Placed<BTreeMap<String, Placed<RawKind>>>,
}

/// A component under the name of its kind.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawKind {
    Service(Box<RawService>),
    Gateway(Box<RawGateway>),
    Balancer(RawBalancer),
    Queue(RawQueue),
    Autoscaler(RawAutoscaler),
    Network(RawNetwork),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawService {
    pub(super) replicas: Count,
    pub(super) port: Option<Placed<u16>>,
    pub(super) https: Option<Placed<u16>>,
    pub(super) start_delay: Text,
    pub(super) restart: Text,
    pub(super) time: Option<Placed<RawTime>>,
    pub(super) workers: Count,
    pub(super) queue: Count,
    pub(super) cpu: Text,
    pub(super) memory: Option<RawMemory>,
    pub(super) failing: Number,
    pub(super) fail_status: Option<Placed<u16>>,
    pub(super) empty: Number,
    pub(super) empty_body: Option<String>,
    pub(super) routes: Text,
    pub(super) log: Option<RawLog>,
    pub(super) slow: Option<RawSlow>,
    pub(super) warm_up: Option<RawWarmUp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMemory {
    pub(super) base: Text,
    pub(super) per_request: Text,
    pub(super) leak: Text,
    pub(super) cap: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLog {
    pub(super) file: Placed<String>,
    pub(super) template: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSlow {
    pub(super) replica: Placed<u32>,
    pub(super) factor: Placed<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWarmUp {
    pub(super) factor: Placed<f64>,
    pub(super) time: Placed<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGateway {
    pub(super) to: Text,
    pub(super) replicas: Count,
    pub(super) port: Option<Placed<u16>>,
    pub(super) https: Option<Placed<u16>>,
    pub(super) start_delay: Text,
    pub(super) restart: Text,
    pub(super) workers: Count,
    pub(super) queue: Count,
    pub(super) cpu: Text,
    pub(super) cpu_per_kb: Text,
    pub(super) memory: Option<RawMemory>,
    #[serde(default)]
    pub(super) routes: Vec<RawRoute>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRoute {
    pub(super) path: Placed<String>,
    pub(super) to: Text,
    pub(super) rewrite: Text,
    pub(super) cpu: Text,
    pub(super) cpu_per_kb: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBalancer {
    pub(super) to: Placed<String>,
    pub(super) port: Option<Placed<u16>>,
    pub(super) restart: Text,
    pub(super) policy: Text,
    pub(super) level: Text,
    pub(super) pattern: Option<Placed<Vec<u32>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawQueue {
    pub(super) port: Option<Placed<u16>>,
    pub(super) https: Option<Placed<u16>>,
    pub(super) start_delay: Text,
    pub(super) restart: Text,
    pub(super) consumers: Count,
    pub(super) rate: Number,
    pub(super) rate_each: Number,
    pub(super) backlog: Option<Placed<u64>>,
    pub(super) log: Option<RawLog>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAutoscaler {
    pub(super) to: Placed<String>,
    pub(super) port: Option<Placed<u16>>,
    pub(super) restart: Text,
    pub(super) target: Number,
    pub(super) min: Count,
    pub(super) max: Count,
    pub(super) cold: Text,
    pub(super) lag: Text,
    pub(super) idle: Text,
    pub(super) wait: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNetwork {
    pub(super) to: Placed<String>,
    pub(super) port: Option<Placed<u16>>,
    pub(super) restart: Text,
    pub(super) delay: Text,
    pub(super) bandwidth: Text,
    pub(super) loss: Number,
    pub(super) reset: Number,
}
