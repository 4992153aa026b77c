//! What runs in a cluster, as far as a load test needs it: the relevant fields of each kind of object.
//!
//! Must not know how an object was fetched. Invariant: missing optional fields never cause an error; only an
//! object without a name, or with an invalid amount, is refused.

mod cluster_test;
mod network;
mod node;
mod pod;
mod workload;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Error, Result, quoted};
use crate::json;
use crate::quantity::Quantity;

pub(crate) use cluster_test::place_of_tests;
pub use cluster_test::{ClusterTest, KeptResult, LostAgent, TestName};
pub use network::{Ingress, KnativeService, Service, ServicePort};
pub use node::Node;
pub use pod::{Container, Owner, Phase, Pod, Termination};
pub use workload::{Rollout, Workload, WorkloadKind, WorkloadName};

/// Namespace, name and labels.
fn identity(value: &Value) -> Result<(String, String, BTreeMap<String, String>)> {
    let Some(name) = json::filled(value, "/metadata/name") else {
        return Err(Error::answer(
            "the cluster answered with an object that has no name",
        ));
    };
    let labels = json::texts(value, "/metadata/labels");
    Ok((json::owned(value, "/metadata/namespace"), name, labels))
}

/// The amount at a pointer, which the API writes as a text and takes as a number too.
pub(crate) fn amount(value: &Value, pointer: &str) -> Result<Option<Quantity>> {
    let text = match value.pointer(pointer) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let quantity = text.parse();
    quantity.map(Some).map_err(|error| {
        Error::answer(format!(
            "the cluster sent an invalid quantity at {pointer}: {} {error}",
            quoted(&text)
        ))
    })
}
