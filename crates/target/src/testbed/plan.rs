//! A testbed as data: its components and their configuration.
//!
//! It must not know files, processes or sockets. Invariant: every plan is valid: all referenced names exist,
//! there are no cycles, and every number is in its range; [`super::file`] ensures that.

use crate::random::RandomDuration;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// All components of a testbed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TestbedPlan {
    /// Seed of all randomness; each process mixes in its own name and number. Default: 1.
    pub(crate) seed: u64,
    /// Where the control port listens. Default: a free port of the loopback address.
    pub(crate) control: SocketAddr,
    /// In the order of their names.
    pub(crate) components: Vec<ComponentPlan>,
}

/// One component.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComponentPlan {
    pub(crate) name: String,
    /// How many processes there are at the start.
    pub(crate) replicas: u32,
    /// The port of replica 0, the next replicas take the next ports; 0: free ports.
    pub(crate) port: u16,
    /// The same for HTTPS; `None`: none.
    pub(crate) https: Option<u16>,
    /// From the start of a process to its readiness. Default: 0.
    pub(crate) start_delay: Duration,
    /// How long after its end a process is started again; `None`: never.
    pub(crate) restart_after: Option<Duration>,
    pub(crate) kind: ComponentKind,
}

/// The kinds of component, each with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ComponentKind {
    Service(Box<ServicePlan>),
    Gateway(GatewayPlan),
    Balancer(BalancerPlan),
    Queue(QueuePlan),
    Autoscaler(AutoscalerPlan),
    Network(NetworkPlan),
}

impl ComponentKind {
    /// The word for it in files and answers.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Gateway(_) => "gateway",
            Self::Balancer(_) => "balancer",
            Self::Queue(_) => "queue",
            Self::Autoscaler(_) => "autoscaler",
            Self::Network(_) => "network",
        }
    }

    /// Whether it may have more or fewer processes than one.
    pub(crate) fn has_replicas(&self) -> bool {
        matches!(self, Self::Service(_) | Self::Gateway(_))
    }

    /// Whether it has something that can be slowed down.
    pub(crate) fn can_degrade(&self) -> bool {
        !matches!(self, Self::Balancer(_) | Self::Autoscaler(_))
    }

    /// The components that it sends to, each once.
    pub(crate) fn sends_to(&self) -> Vec<&str> {
        let mut names: Vec<&str> = match self {
            Self::Service(_) | Self::Queue(_) => Vec::new(),
            Self::Gateway(plan) => plan.routes.iter().map(|route| route.to.as_str()).collect(),
            Self::Balancer(plan) => vec![&plan.to],
            Self::Autoscaler(plan) => vec![&plan.to],
            Self::Network(plan) => vec![&plan.to],
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The factor with which that replica starts: above 1 is slower.
    pub(crate) fn factor_of(&self, replica: u32) -> f64 {
        match self {
            Self::Service(plan) => plan
                .slow
                .as_ref()
                .filter(|slow| slow.replica == replica)
                .map_or(1.0, |slow| slow.factor),
            _ => 1.0,
        }
    }
}

/// A server with known costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServicePlan {
    /// Service time besides CPU. Default: `None`, nothing is waited for.
    pub(crate) time: Option<RandomDuration>,
    /// Requests served at once. Default: 1,000.
    pub(crate) workers: u32,
    /// Requests that may wait for a worker; more get 503. Default: 10,000.
    pub(crate) room: u32,
    /// CPU time burnt for each request. Default: 0.
    pub(crate) cpu: Duration,
    pub(crate) memory: MemoryPlan,
    /// Share of requests that fail. Default: 0.
    pub(crate) failing: f64,
    /// Status of those that fail. Default: 500.
    pub(crate) fail_status: u16,
    /// Share of requests that succeed and say nothing. Default: 0.
    pub(crate) empty: f64,
    /// The body of those. Default: JSON whose values are all null.
    pub(crate) empty_body: String,
    /// A file with more routes. Default: `None`.
    pub(crate) routes: Option<PathBuf>,
    pub(crate) log: Option<LogPlan>,
    /// One replica slower than the others.
    pub(crate) slow: Option<SlowPlan>,
    /// Slower after the start, until it is warm.
    pub(crate) warm_up: Option<WarmUpPlan>,
}

/// What a process holds in memory; all of it is really written to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemoryPlan {
    /// Held from the start, bytes.
    pub(crate) base: u64,
    /// Held by each request while it is there, bytes.
    pub(crate) per_request: u64,
    /// Kept of each request for ever, bytes.
    pub(crate) leak: u64,
    /// Resident bytes of the process above which it is killed; `None`: no cap.
    pub(crate) cap: Option<u64>,
}

impl MemoryPlan {
    /// Whether a request costs memory, or memory has a cap.
    pub(crate) fn is_active(&self) -> bool {
        *self != Self::default()
    }
}

/// A file with a line per request or message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogPlan {
    pub(crate) file: PathBuf,
    pub(crate) template: String,
}

/// A replica that is slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SlowPlan {
    pub(crate) replica: u32,
    /// By which its times are multiplied.
    pub(crate) factor: f64,
}

/// A process that becomes faster after its start: the factor falls to 1 in a straight line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WarmUpPlan {
    /// At the start.
    pub(crate) factor: f64,
    /// Until it is 1.
    pub(crate) time: Duration,
}

/// A reverse proxy that costs CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GatewayPlan {
    /// Threads that burn CPU; requests wait for them. Default: 1.
    pub(crate) workers: u32,
    /// Requests that may wait for a worker; more get 503. Default: 10,000.
    pub(crate) room: u32,
    /// The first whose prefix the path has.
    pub(crate) routes: Vec<GatewayRoute>,
    pub(crate) memory: MemoryPlan,
}

/// Where requests go, and what they cost on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GatewayRoute {
    /// Prefix of the path; `/` is every path.
    pub(crate) path: String,
    /// The component that answers.
    pub(crate) to: String,
    /// Put in place of the prefix; `None`: the path stays.
    pub(crate) rewrite: Option<String>,
    /// CPU time for each request.
    pub(crate) cpu: Duration,
    /// CPU time for each 1,000 bytes of its body.
    pub(crate) cpu_per_kb: Duration,
}

/// Spreads connections or requests over replicas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BalancerPlan {
    pub(crate) to: String,
    pub(crate) policy: Policy,
    /// Whether a replica is chosen for each request; otherwise for each connection.
    pub(crate) per_request: bool,
}

/// Which replica is next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Policy {
    /// Each in turn.
    RoundRobin,
    /// The one with the fewest open connections, or requests in flight.
    LeastConnections,
    /// These replicas in turn, whatever others exist; empty: chosen at random, as a hash of the client's port
    /// would.
    Pinned(Vec<u32>),
}

/// Takes messages at once and acknowledges them later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueuePlan {
    /// How many messages are worked on at once. Default: 1.
    pub(crate) consumers: u32,
    /// Time that one consumer takes for one message.
    pub(crate) interval: Duration,
    /// Messages that may wait; more get 503. Default: 1,000,000.
    pub(crate) backlog: u64,
    /// A line per acknowledged message.
    pub(crate) log: Option<LogPlan>,
}

/// Starts and stops replicas of another component by the load that passes through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AutoscalerPlan {
    pub(crate) to: String,
    /// Requests in flight for which one replica is wanted. Default: 10.
    pub(crate) target: f64,
    /// Default: 0.
    pub(crate) min: u32,
    /// Default: 10.
    pub(crate) max: u32,
    /// From the start of a replica to its readiness. Default: 0.
    pub(crate) cold: Duration,
    /// How long more load must last before replicas are added to those there are. Default: 1 s.
    pub(crate) lag: Duration,
    /// How long less load must last before replicas are taken away. Default: 30 s.
    pub(crate) idle: Duration,
    /// How long a request waits for the first replica; then 503. Default: 60 s.
    pub(crate) patience: Duration,
}

/// A line between a client and a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NetworkPlan {
    pub(crate) to: String,
    /// One way. Default: 0.
    pub(crate) delay: Duration,
    /// Bytes per second in each direction; `None`: as many as there are.
    pub(crate) bandwidth: Option<u64>,
    /// Share of pieces (at most 16 KiB each) that come 200 ms late, as after a retransmission. Default: 0.
    pub(crate) loss: f64,
    /// Share of connections that are reset at their first bytes. Default: 0.
    pub(crate) reset: f64,
}

/// The configuration that a process gets at its start, on its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartPlan {
    pub(crate) component: String,
    pub(crate) replica: u32,
    pub(crate) seed: u64,
    pub(crate) port: u16,
    pub(crate) https: Option<u16>,
    pub(crate) start_delay: Duration,
    /// By which its times are multiplied.
    pub(crate) factor: f64,
    /// The file whose memory it shares with the supervisor.
    pub(crate) tally: PathBuf,
    pub(crate) kind: ComponentKind,
}
