//! The client of a Kubernetes API server: access, discovery, resource use, and changes that are undone.
//!
//! Must not know the engine, nor the use of its results. Invariants: a change is made only in a cluster whose context
//! was named; the replaced state is known before a change is made; no message contains a secret.
//!
//! # The whole of it
//!
//! - [`Kubeconfig`] reads configuration files; [`Cluster::from_kubeconfig`] takes one of its contexts by name,
//!   [`Cluster::for_reading`] the current one and refuses changes, [`Cluster::in_cluster`] the pod's own account.
//! - What runs: [`Cluster::pods`], [`Cluster::pod`], [`Cluster::workload`], [`Cluster::service`],
//!   [`Cluster::ingress`], [`Cluster::knative_service`], [`Cluster::nodes`], [`Cluster::find_test`], [`Cluster::tests`].
//! - What it uses: [`Cluster::pod_usage`], [`Cluster::node_usage`].
//! - What it says: [`Cluster::log`], [`Cluster::follow_logs`].
//! - Changes: `plan_scale`, `plan_restart`, `plan_resources`, `plan_apply`, `plan_delete` read what is there and give a
//!   [`Change`], whose [`Undo`] can be stored; [`Cluster::carry_out`] makes it, [`Cluster::undo`] takes it back.
//! - Waiting is the caller's: [`Workload::rollout`] and [`Workload::is_scaled_to`] judge one look.
//! - [`Cluster::port_forward`] opens a local port that leads to a pod.
//!
//! Calls block, for [`READ_TIMEOUT`] at most unless they say otherwise. A [`Cluster`] is cheap to clone and may be
//! used by several threads.
//!
//! # Why by hand
//!
//! The rules of access that users see (what is kept, shown, refused and tried again) are made here; kube-client makes others,
//! and only the sending of requests could be left to it. `ARCHITECTURE.md` has the figures.

mod access;
mod changes;
mod clock;
mod cluster;
mod discovery;
mod error;
mod forward;
mod json;
mod kubeconfig;
mod logs;
mod metrics;
pub mod objects;
mod place;
mod quantity;
mod selector;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
pub mod time;

pub use access::READ_TIMEOUT;
pub use changes::{Change, Conflicts, ObjectName, ResourceChange, Undo, UndoStep, read_manifests};
pub use clock::{Clock, SystemClock};
pub use cluster::Cluster;
pub use error::{Error, ErrorKind, Result};
pub use forward::{ForwardTo, PortForward, RemotePort};
pub use kubeconfig::Kubeconfig;
pub use logs::{LogBatch, LogFollower, LogLine, LogOptions, LogReader, LogSince};
pub use metrics::{ContainerUsage, NodeUsage, PodUsage, Usage, UsageSource};
pub use objects::{
    ClusterTest, Container, Ingress, KeptResult, KnativeService, LostAgent, Node, Phase, Pod,
    Rollout, Service, ServicePort, TestName, Workload, WorkloadKind, WorkloadName,
};
pub use quantity::{Quantity, QuantityError};
pub use selector::Selector;
