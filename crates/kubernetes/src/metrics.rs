//! Resource use of pods and nodes: from the metrics API if available, otherwise from the kubelets' summaries.
//!
//! Must not know its use. Invariant: every value has its source and time of measurement; unavailable values are
//! absent, never zero.
//!
//! Sources: `metrics.k8s.io/v1beta1`; the kubelet's `stats/summary` (`stats/v1alpha1`).

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_go::duration;
use serde_json::Value;

use crate::access::Call;
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::objects::{Pod, amount};
use crate::place::{ApiPlace, Verb};
use crate::quantity::Quantity;
use crate::selector::Selector;
use crate::time;

const METRICS: &str = "metrics.k8s.io/v1beta1";

/// The source of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageSource {
    /// The metrics API, usually of metrics-server: a mean over a window of some 15 s, renewed as often.
    MetricsApi,
    /// The kubelets, asked through the API server: a mean over some 10 s.
    KubeletSummary,
}

impl UsageSource {
    /// Its name in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            UsageSource::MetricsApi => "metrics API",
            UsageSource::KubeletSummary => "kubelet summary",
        }
    }
}

/// Measurements with their source.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage<T> {
    /// By whom.
    pub source: UsageSource,
    /// Of each, by name. One that was not measured yet is missing.
    pub items: Vec<T>,
    /// Parts that could not be queried, in words: a node that does not respond.
    pub troubles: Vec<String>,
}

/// Resource use of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodUsage {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it was measured, in nanoseconds since 1970; `None`: unknown.
    pub at_unix_ns: Option<u64>,
    /// The time before that over which CPU is averaged; `None`: unknown.
    pub window: Option<Duration>,
    /// Of each of its containers.
    pub containers: Vec<ContainerUsage>,
}

/// Resource use of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerUsage {
    /// Its name.
    pub name: String,
    /// CPU cores; `None`: unknown.
    pub cpu_cores: Option<f64>,
    /// Working set in bytes; `None`: unknown.
    pub memory_bytes: Option<u64>,
}

/// Resource use of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeUsage {
    /// Its name.
    pub name: String,
    /// When it was measured, in nanoseconds since 1970; `None`: unknown.
    pub at_unix_ns: Option<u64>,
    /// The time before that over which CPU is averaged; `None`: unknown.
    pub window: Option<Duration>,
    /// CPU cores; `None`: unknown.
    pub cpu_cores: Option<f64>,
    /// Working set in bytes; `None`: unknown.
    pub memory_bytes: Option<u64>,
}

impl PodUsage {
    /// CPU cores of all containers; `None` if one of them is missing.
    #[must_use]
    pub fn cpu_cores(&self) -> Option<f64> {
        self.containers
            .iter()
            .map(|container| container.cpu_cores)
            .sum()
    }

    /// Memory bytes of all containers; `None` if one of them is missing.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        self.containers
            .iter()
            .map(|container| container.memory_bytes)
            .sum()
    }
}

impl Cluster {
    /// Resource use of the selected pods of a namespace (empty: all).
    ///
    /// # Errors
    /// Neither source responds, or the responding one does not allow it.
    pub fn pod_usage(&self, namespace: &str, selector: &Selector) -> Result<Usage<PodUsage>> {
        let place = ApiPlace::of(METRICS, "pods").within(namespace);
        let Some(found) = self.metrics(&place, selector)? else {
            return self.pod_usage_of_kubelets(&self.pods(namespace, selector)?);
        };
        let mut items: Vec<PodUsage> = found.iter().map(pod_usage).collect::<Result<_>>()?;
        // The metrics API knows labels alone.
        if selector.has_fields() {
            let pods = self.pods(namespace, selector)?;
            items.retain(|usage| is_among(&pods, &usage.namespace, &usage.name));
        }
        items.sort_by(|one, other| {
            (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
        });
        Ok(Usage {
            source: UsageSource::MetricsApi,
            items,
            troubles: Vec::new(),
        })
    }

    /// Resource use of the selected nodes.
    ///
    /// # Errors
    /// Neither source responds, or the responding one does not allow it.
    pub fn node_usage(&self, selector: &Selector) -> Result<Usage<NodeUsage>> {
        if let Some(found) = self.metrics(&ApiPlace::of(METRICS, "nodes"), selector)? {
            let mut items: Vec<NodeUsage> = found.iter().map(node_usage).collect::<Result<_>>()?;
            if selector.has_fields() {
                let nodes = self.nodes(selector)?;
                items.retain(|usage| nodes.iter().any(|node| node.name == usage.name));
            }
            items.sort_by(|one, other| one.name.cmp(&other.name));
            return Ok(Usage {
                source: UsageSource::MetricsApi,
                items,
                troubles: Vec::new(),
            });
        }
        let names = self.nodes(selector)?.into_iter().map(|node| node.name);
        let (summaries, troubles) = self.summaries(names)?;
        let items = summaries.iter().map(|(name, summary)| {
            let node = &summary["node"];
            NodeUsage {
                name: name.clone(),
                at_unix_ns: json::instant(node, "/cpu/time"),
                window: None,
                cpu_cores: summary_cores(node),
                memory_bytes: json::number(node, "/memory/workingSetBytes"),
            }
        });
        Ok(Usage {
            source: UsageSource::KubeletSummary,
            items: items.collect(),
            troubles,
        })
    }

    /// The items of the metrics API; `None`: there is no metrics API, or nothing behind it.
    fn metrics(&self, place: &ApiPlace, selector: &Selector) -> Result<Option<Vec<Value>>> {
        let call = Call::new(Verb::List, place.clone())
            .queries(selector.without_fields().query())
            .once();
        match self.client.json(&call) {
            Ok(list) => Ok(Some(json::items(&list, "/items").to_vec())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unavailable) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn pod_usage_of_kubelets(&self, pods: &[Pod]) -> Result<Usage<PodUsage>> {
        let mut nodes: Vec<String> = pods.iter().filter_map(|pod| pod.node.clone()).collect();
        nodes.sort();
        nodes.dedup();
        let (summaries, troubles) = self.summaries(nodes.into_iter())?;
        let mut items: Vec<PodUsage> = summaries
            .values()
            .flat_map(|summary| json::items(summary, "/pods"))
            .map(summary_usage)
            .filter(|usage| is_among(pods, &usage.namespace, &usage.name))
            .collect();
        items.sort_by(|one, other| {
            (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
        });
        Ok(Usage {
            source: UsageSource::KubeletSummary,
            items,
            troubles,
        })
    }

    /// The summaries of nodes by name, and what those said that gave none.
    ///
    /// # Errors
    /// None of several gave one, or it is not allowed.
    fn summaries(
        &self,
        nodes: impl Iterator<Item = String>,
    ) -> Result<(BTreeMap<String, Value>, Vec<String>)> {
        let mut found = BTreeMap::new();
        let mut troubles: Vec<Error> = Vec::new();
        for node in nodes {
            let place = ApiPlace::of("v1", "nodes")
                .named(&node)
                .part("proxy/stats/summary");
            match self.client.json(&Call::new(Verb::Get, place).once()) {
                Ok(summary) => {
                    found.insert(node, summary);
                }
                Err(error) if error.kind() == ErrorKind::Forbidden => return Err(error),
                Err(error) => troubles.push(error),
            }
        }
        match troubles.first() {
            Some(first) if found.is_empty() => Err(first
                .clone()
                .while_doing("there is no metrics API, and no kubelet answered either")),
            _ => Ok((found, troubles.iter().map(ToString::to_string).collect())),
        }
    }
}

fn is_among(pods: &[Pod], namespace: &str, name: &str) -> bool {
    pods.iter()
        .any(|pod| pod.namespace == namespace && pod.name == name)
}

fn pod_usage(value: &Value) -> Result<PodUsage> {
    let containers = json::items(value, "/containers").iter();
    let containers = containers.map(|container| {
        Ok(ContainerUsage {
            name: json::owned(container, "/name"),
            cpu_cores: amount(container, "/usage/cpu")?.map(Quantity::as_f64),
            memory_bytes: amount(container, "/usage/memory")?.and_then(Quantity::as_u64),
        })
    });
    Ok(PodUsage {
        namespace: json::owned(value, "/metadata/namespace"),
        name: json::owned(value, "/metadata/name"),
        at_unix_ns: json::instant(value, "/timestamp"),
        window: json::text(value, "/window").and_then(go_duration),
        containers: containers.collect::<Result<_>>()?,
    })
}

fn node_usage(value: &Value) -> Result<NodeUsage> {
    Ok(NodeUsage {
        name: json::owned(value, "/metadata/name"),
        at_unix_ns: json::instant(value, "/timestamp"),
        window: json::text(value, "/window").and_then(go_duration),
        cpu_cores: amount(value, "/usage/cpu")?.map(Quantity::as_f64),
        memory_bytes: amount(value, "/usage/memory")?.and_then(Quantity::as_u64),
    })
}

fn summary_usage(value: &Value) -> PodUsage {
    let containers = json::items(value, "/containers");
    let times = containers
        .iter()
        .filter_map(|container| json::text(container, "/cpu/time"));
    PodUsage {
        namespace: json::owned(value, "/podRef/namespace"),
        name: json::owned(value, "/podRef/name"),
        at_unix_ns: times.filter_map(time::parse).min(),
        window: None,
        containers: containers
            .iter()
            .map(|container| ContainerUsage {
                name: json::owned(container, "/name"),
                cpu_cores: summary_cores(container),
                memory_bytes: json::number(container, "/memory/workingSetBytes"),
            })
            .collect(),
    }
}

fn summary_cores(value: &Value) -> Option<f64> {
    json::number(value, "/cpu/usageNanoCores").map(|nano| nano as f64 / 1e9)
}

/// A span of time as Go writes it: `15s`, `1m0.5s`.
fn go_duration(text: &str) -> Option<Duration> {
    let ns = u64::try_from(duration::parse(text).ok()?).ok()?;
    Some(Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_read_as_go_writes_them() {
        let read = |text: &str| go_duration(text).map(|time| time.as_millis());
        assert_eq!(read("15s"), Some(15_000));
        assert_eq!(read("1m0.5s"), Some(60_500));
        assert_eq!(read("10.062s"), Some(10_062));
        assert_eq!(read("500ms"), Some(500));
        for bad in ["", "15", "s", "1x"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_unknown() {
        let container = |cores| ContainerUsage {
            name: "c".to_owned(),
            cpu_cores: cores,
            memory_bytes: Some(1),
        };
        let usage = PodUsage {
            namespace: String::new(),
            name: String::new(),
            at_unix_ns: None,
            window: None,
            containers: vec![container(Some(0.5)), container(None)],
        };
        assert_eq!((usage.cpu_cores(), usage.memory_bytes()), (None, Some(2)));
    }
}
