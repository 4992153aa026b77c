//! `pod`, `node` and `replicas`: what runs in a Kubernetes cluster, and its resource usage.
//!
//! Must not know the API, only the client's results. Invariants: clusters are only read; each measurement is
//! passed on once, with the time at which it was taken.

mod nodes;
mod pod;

use std::path::Path;
use std::time::Duration;

use loadline_kubernetes::{
    Cluster, Kubeconfig, LogFollower, LogOptions, LogSince, Node, NodeUsage, Pod, PodUsage,
    Quantity, Selector, Usage, Workload, WorkloadName,
};

use super::Source;
use crate::readings::Gap;
use crate::spec::{LogSettings, NodeSettings, PodSettings, ReplicasSettings};

/// What observers request from a cluster; tests use a fake.
trait Fleet: Send {
    /// The selected pods.
    fn pods(&self) -> Result<Vec<Pod>, Gap>;
    /// Usage of these pods.
    fn pod_usage(&self) -> Result<Usage<PodUsage>, Gap>;
    /// The selected nodes.
    fn nodes(&self) -> Result<Vec<Node>, Gap>;
    /// Usage of these nodes.
    fn node_usage(&self) -> Result<Usage<NodeUsage>, Gap>;
    /// The selected workload.
    fn workload(&self) -> Result<Workload, Gap>;
}

/// A real cluster, and the selection in it.
struct RealFleet {
    cluster: Cluster,
    namespace: String,
    selector: Selector,
    /// `None`: no workload is requested.
    workload: Option<WorkloadName>,
}

impl Fleet for RealFleet {
    fn pods(&self) -> Result<Vec<Pod>, Gap> {
        told(self.cluster.pods(&self.namespace, &self.selector))
    }

    fn pod_usage(&self) -> Result<Usage<PodUsage>, Gap> {
        told(self.cluster.pod_usage(&self.namespace, &self.selector))
    }

    fn nodes(&self) -> Result<Vec<Node>, Gap> {
        told(self.cluster.nodes(&self.selector))
    }

    fn node_usage(&self) -> Result<Usage<NodeUsage>, Gap> {
        told(self.cluster.node_usage(&self.selector))
    }

    fn workload(&self) -> Result<Workload, Gap> {
        let name = self.workload.as_ref();
        let name = name.ok_or_else(|| Gap::new("no workload is named"))?;
        told(self.cluster.workload(name))
    }
}

/// The source of `pod`.
pub(super) fn pods(
    settings: &PodSettings,
    kubeconfig: Option<&Path>,
    timeout: Duration,
) -> Result<Box<dyn Source>, String> {
    let selector = Selector::labels(settings.selector.clone());
    let (context, namespace) = (settings.context.as_deref(), settings.namespace.as_deref());
    let fleet = fleet(connect(kubeconfig, context, namespace)?, selector, timeout)?;
    let source = pod::PodSource::new(Box::new(fleet), settings.containers);
    Ok(Box::new(source))
}

/// The source of `node`.
pub(super) fn nodes(
    settings: &NodeSettings,
    kubeconfig: Option<&Path>,
    timeout: Duration,
) -> Result<Box<dyn Source>, String> {
    let selector = settings
        .selector
        .clone()
        .map_or_else(Selector::all, Selector::labels);
    let connected = connect(kubeconfig, settings.context.as_deref(), None)?;
    let fleet = fleet(connected, selector, timeout)?;
    Ok(Box::new(nodes::NodeSource::new(Box::new(fleet))))
}

/// The source of `replicas`.
pub(super) fn replicas(
    settings: &ReplicasSettings,
    kubeconfig: Option<&Path>,
    timeout: Duration,
) -> Result<Box<dyn Source>, String> {
    let (context, namespace) = (settings.context.as_deref(), settings.namespace.as_deref());
    let connected = connect(kubeconfig, context, namespace)?;
    let mut fleet = fleet(connected, Selector::all(), timeout)?;
    let name = WorkloadName::parse(&settings.workload, &fleet.namespace);
    fleet.workload = Some(name.map_err(|error| error.to_string())?);
    Ok(Box::new(nodes::ReplicaSource::new(Box::new(fleet))))
}

/// Follows the logs of pods, from now on or from their start.
pub(super) fn follow_logs(
    settings: &LogSettings,
    kubeconfig: Option<&Path>,
    now_unix_ns: u64,
) -> Result<LogFollower, Gap> {
    let (context, namespace) = (settings.context.as_deref(), settings.namespace.as_deref());
    let (cluster, namespace) = connect(kubeconfig, context, namespace).map_err(Gap)?;
    let selector = Selector::labels(settings.pod.clone().unwrap_or_default());
    let options = LogOptions {
        container: settings.container.clone(),
        since: (!settings.from_start).then_some(LogSince::Instant(now_unix_ns)),
        ..LogOptions::default()
    };
    told(cluster.follow_logs(&namespace, &selector, &options))
}

/// Each read is short: unreadable data is a gap, and the next read comes soon.
fn fleet(
    (cluster, namespace): (Cluster, String),
    selector: Selector,
    timeout: Duration,
) -> Result<RealFleet, String> {
    let cluster = cluster.hurried(timeout);
    Ok(RealFleet {
        cluster: cluster.map_err(|error| error.to_string())?,
        namespace,
        selector,
        workload: None,
    })
}

/// The cluster of a context, otherwise the current one, otherwise the one that this process runs in; and the
/// namespace.
fn connect(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
    namespace: Option<&str>,
) -> Result<(Cluster, String), String> {
    let config = Kubeconfig::of(kubeconfig);
    let cluster = match context {
        Some(context) => config.and_then(|config| Cluster::from_kubeconfig(&config, context)),
        None => {
            let current = config.and_then(|config| Cluster::for_reading(&config));
            current.or_else(|error| Cluster::in_cluster().map_err(|_| error))
        }
    };
    let cluster = cluster.map_err(|error| error.to_string())?;
    let namespace = namespace.map_or_else(|| cluster.namespace().to_owned(), str::to_owned);
    Ok((cluster, namespace))
}

fn told<T>(result: loadline_kubernetes::Result<T>) -> Result<T, Gap> {
    result.map_err(|error| Gap(error.to_string()))
}

fn amount(quantity: Option<Quantity>) -> Option<f64> {
    quantity.map(Quantity::as_f64)
}

/// A sum of amounts; `None` if one is missing, since the whole then has no bound either.
fn sum(amounts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    amounts.sum()
}

#[cfg(test)]
mod tests;
