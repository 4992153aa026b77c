//! `node` and `replicas`: selected nodes, and the number of replicas of a workload.
//!
//! Must not know how a cluster is queried. Invariant: the limit of a node is what pods may use of it
//! (allocatable), not its capacity.

use std::collections::HashMap;

use super::{Fleet, amount};
use crate::readings::{Gap, Readings};
use crate::sources::{Source, Tick};

/// Reads nodes.
pub(super) struct NodeSource {
    fleet: Box<dyn Fleet>,
    /// When each node was measured last, in nanoseconds since 1970.
    measured: HashMap<String, u64>,
}

impl NodeSource {
    pub(super) fn new(fleet: Box<dyn Fleet>) -> NodeSource {
        NodeSource {
            fleet,
            measured: HashMap::new(),
        }
    }
}

impl Source for NodeSource {
    fn read(&mut self, _: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let nodes = self.fleet.nodes()?;
        let usage = self.fleet.node_usage()?;
        for node in &nodes {
            let cores = amount(node.cpu_allocatable.or(node.cpu_capacity));
            let bytes = amount(node.memory_allocatable.or(node.memory_capacity));
            for (metric, bound) in [("cpu_limit_cores", cores), ("memory_limit_bytes", bytes)] {
                if let Some(bound) = bound {
                    readings.put(&node.name, metric, bound);
                }
            }
            let Some(used) = usage.items.iter().find(|used| used.name == node.name) else {
                continue;
            };
            let is_known = used
                .at_unix_ns
                .is_some_and(|at| self.measured.insert(node.name.clone(), at) == Some(at));
            if is_known {
                continue;
            }
            let memory = used.memory_bytes.map(|bytes| bytes as f64);
            for (metric, value) in [("cpu_cores", used.cpu_cores), ("memory_bytes", memory)] {
                match (value, used.at_unix_ns) {
                    (Some(value), Some(at)) => readings.put_at(at, &node.name, metric, value),
                    (Some(value), None) => readings.put(&node.name, metric, value),
                    (None, _) => {}
                }
            }
        }
        for trouble in &usage.troubles {
            readings.missing(&readings.observer(), trouble.clone());
        }
        match nodes.is_empty() {
            true => Err(Gap::new("no node has these labels")),
            false => Ok(()),
        }
    }
}

/// Reads the replicas of a workload.
pub(super) struct ReplicaSource {
    fleet: Box<dyn Fleet>,
}

impl ReplicaSource {
    pub(super) fn new(fleet: Box<dyn Fleet>) -> ReplicaSource {
        ReplicaSource { fleet }
    }
}

impl Source for ReplicaSource {
    fn read(&mut self, _: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let workload = self.fleet.workload()?;
        readings.own("replicas", f64::from(workload.ready));
        readings.own("replicas_wanted", f64::from(workload.wanted));
        readings.own("replicas_existing", f64::from(workload.replicas));
        Ok(())
    }
}
