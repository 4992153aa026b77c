//! Resource use, as reported by the metrics API and the kubelets' summaries.
//!
//! Must not know who set it. Invariant: what was not set is left out, like what was not measured yet.

use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::routes::{Found, Target, no_path, object};
use super::select::selected;
use super::state::{Key, State};
use crate::quantity::Quantity;

pub(super) fn metrics(state: &mut State, request: &Request, target: &Target) -> Found<Answer> {
    if !state.has_metrics {
        return Err(no_path());
    }
    let now = state.now();
    let objects = state.objects.iter().filter(|(key, object)| {
        let is_of_kind = key[0] == "v1" && key[1] == target.resource;
        is_of_kind
            && (target.namespace.is_empty() || key[2] == target.namespace)
            && selected(object, request)
    });
    let items: Vec<Value> = objects
        .filter_map(|(key, object)| {
            let mut item = json!({ "metadata": { "name": key[3], "labels": object["metadata"]["labels"], "creationTimestamp": now },
                "timestamp": now, "window": "15.12s" });
            if target.resource == "nodes" {
                item["usage"] = json!({ "cpu": "250m", "memory": "1024Mi" });
                return Some(item);
            }
            item["metadata"]["namespace"] = key[2].as_str().into();
            let containers: Vec<Value> = usage_of(state, key)
                .map(|(name, usage)| json!({ "name": name, "usage": { "cpu": usage[0], "memory": usage[1] } }))
                .collect();
            item["containers"] = json!(containers);
            (!containers.is_empty()).then_some(item)
        })
        .collect();
    let kind = if target.resource == "nodes" {
        "NodeMetricsList"
    } else {
        "PodMetricsList"
    };
    Ok(Answer::json(
        200,
        &json!({ "kind": kind, "apiVersion": target.group_version, "metadata": {}, "items": items }),
    ))
}

fn usage_of<'a>(
    state: &'a State,
    key: &'a Key,
) -> impl Iterator<Item = (&'a String, &'a [String; 2])> {
    let of_pod = state
        .usage
        .iter()
        .filter(|(of, _)| of[0] == key[2] && of[1] == key[3]);
    of_pod.map(|(of, usage)| (&of[2], usage))
}

/// The kubelet's summary of a node.
pub(super) fn summary(state: &mut State, key: &Key) -> Found<Answer> {
    object(state, key)?;
    let now = state.now();
    let nano = |text: &str| {
        text.parse::<Quantity>()
            .map_or(0, |quantity| quantity.nano() as i64)
    };
    let pods = state.objects.iter().filter(|(other, object)| {
        other[1] == "pods" && object["spec"]["nodeName"] == key[3].as_str()
    });
    let pods: Vec<Value> = pods
        .map(|(pod, object)| {
            let containers: Vec<Value> = usage_of(state, pod)
                .map(|(name, [cpu, memory])| {
                    json!({ "name": name, "startTime": now,
                        "cpu": { "time": now, "usageNanoCores": nano(cpu), "usageCoreNanoSeconds": 1 },
                        "memory": { "time": now, "workingSetBytes": nano(memory) / 1_000_000_000 } })
                })
                .collect();
            json!({ "podRef": { "name": pod[3], "namespace": pod[2], "uid": object["metadata"]["uid"] },
                "startTime": now, "containers": containers })
        })
        .collect();
    Ok(Answer::json(
        200,
        &json!({
            "node": { "nodeName": key[3], "cpu": { "time": now, "usageNanoCores": 250_000_000 },
                "memory": { "time": now, "workingSetBytes": 1_u64 << 30 } },
            "pods": pods,
        }),
    ))
}
