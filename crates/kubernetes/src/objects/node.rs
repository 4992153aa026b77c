//! A node: its capacity, and what pods may use of it.
//!
//! Must not know what runs on it. Invariant: the allocatable amount is never derived from the capacity.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{amount, identity};
use crate::error::Result;
use crate::json;
use crate::quantity::Quantity;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Whether it accepts pods.
    pub is_ready: bool,
    /// CPU capacity in cores; `None`: unknown.
    pub cpu_capacity: Option<Quantity>,
    /// Memory capacity in bytes; `None`: unknown.
    pub memory_capacity: Option<Quantity>,
    /// CPU cores for pods; `None`: unknown.
    pub cpu_allocatable: Option<Quantity>,
    /// Memory bytes for pods; `None`: unknown.
    pub memory_allocatable: Option<Quantity>,
    /// Its address inside the cluster; `None`: unknown.
    pub internal_ip: Option<String>,
    /// Its address outside; `None`: it has none.
    pub external_ip: Option<String>,
    /// The version of its kubelet.
    pub kubelet_version: String,
    /// Its instance type, if the cloud provider labels it.
    pub instance_type: Option<String>,
}

impl Node {
    /// Reads a node.
    ///
    /// # Errors
    /// It has no name, or an invalid amount.
    pub fn read(value: &Value) -> Result<Node> {
        let (_, name, labels) = identity(value)?;
        let address = |kind: &str| {
            let addresses = json::items(value, "/status/addresses").iter();
            let mut of_kind = addresses.filter(|one| json::text(one, "/type") == Some(kind));
            of_kind.next().and_then(|one| json::filled(one, "/address"))
        };
        Ok(Node {
            name,
            is_ready: json::condition(value, "Ready")
                .is_some_and(|ready| json::text(ready, "/status") == Some("True")),
            cpu_capacity: amount(value, "/status/capacity/cpu")?,
            memory_capacity: amount(value, "/status/capacity/memory")?,
            cpu_allocatable: amount(value, "/status/allocatable/cpu")?,
            memory_allocatable: amount(value, "/status/allocatable/memory")?,
            internal_ip: address("InternalIP"),
            external_ip: address("ExternalIP"),
            kubelet_version: json::owned(value, "/status/nodeInfo/kubeletVersion"),
            instance_type: labels.get("node.kubernetes.io/instance-type").cloned(),
            labels,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_is_read_with_what_pods_may_have() {
        let node = Node::read(&json!({
            "metadata": { "name": "n1", "labels": { "node.kubernetes.io/instance-type": "m5.large" } },
            "status": { "capacity": { "cpu": "2", "memory": "8008708Ki" }, "allocatable": { "cpu": "1930m", "memory": "7Gi" },
                "addresses": [{ "type": "Hostname", "address": "n1" }, { "type": "InternalIP", "address": "10.1.0.4" }],
                "conditions": [{ "type": "Ready", "status": "True" }], "nodeInfo": { "kubeletVersion": "v1.34.1" } },
        }));
        let node = node.expect("a node");
        assert_eq!(node.cpu_allocatable.map(Quantity::as_f64), Some(1.93));
        assert_eq!(
            node.memory_capacity.and_then(Quantity::as_u64),
            Some(8_008_708 << 10)
        );
        assert_eq!(node.internal_ip.as_deref(), Some("10.1.0.4"));
        assert_eq!((node.external_ip, node.is_ready), (None, true));
        assert_eq!(node.instance_type.as_deref(), Some("m5.large"));
    }
}
