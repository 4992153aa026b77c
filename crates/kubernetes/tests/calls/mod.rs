//! Calls to a cluster with the same results from the stand-in and from a real API server.
//!
//! Must not know which of them responds, beyond what [`Stage`] does for both. Invariants: a suite that omits a call
//! does not compile without a warning; only what a user of this crate sees is asserted.

pub(crate) mod changing;
pub(crate) mod logs;
pub(crate) mod reading;
pub(crate) mod refusals;
mod stage;

use std::fmt::Debug;
use std::time::Duration;

use loadline_kubernetes::{
    Change, Clock, Cluster, Conflicts, Error, ErrorKind, SystemClock, Undo, WorkloadName,
};
use serde_json::{Value, json};

pub(crate) use stage::{Stage, cluster_of};

/// A deployment whose pods print some lines and then wait.
pub(crate) fn deployment(stage: &dyn Stage, name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } },
                "spec": { "terminationGracePeriodSeconds": 0, "containers": [{
                    "name": "main", "image": stage.image(),
                    "command": ["/bin/sh", "-c", "echo one; echo two; echo three; sleep 600"],
                    "ports": [{ "name": "http", "containerPort": 8080 }],
                    "resources": { "requests": { "cpu": "100m", "memory": "64Mi" },
                        "limits": { "cpu": "500m", "memory": "128Mi" } } }] } } },
    })
}

pub(crate) fn config_map(name: &str, data: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}

/// Applies objects; returns the undo record, as read back after it was stored.
pub(crate) fn apply(stage: &dyn Stage, objects: &[Value], conflicts: Conflicts) -> Undo {
    let change = stage
        .cluster()
        .plan_apply(objects, stage.namespace(), conflicts);
    carry_out(stage.cluster(), &change.expect("planned"))
}

pub(crate) fn carry_out(cluster: &Cluster, change: &Change) -> Undo {
    let stored = serde_json::to_string(&change.undo).expect("storable");
    cluster.carry_out(change).expect("made");
    serde_json::from_str(&stored).expect("readable")
}

/// A deployment that is there, all of its pods ready.
pub(crate) fn deployed(stage: &dyn Stage, name: &str, replicas: u32) -> WorkloadName {
    apply(
        stage,
        &[deployment(stage, name, replicas)],
        Conflicts::Refuse,
    );
    let name = WorkloadName::parse(name, stage.namespace()).expect("a name");
    until("all of its pods are ready", || {
        scaled(stage, &name, replicas)
    });
    stage.print(&name.name, &["one", "two", "three"]);
    name
}

pub(crate) fn scaled(stage: &dyn Stage, name: &WorkloadName, replicas: u32) -> bool {
    let found = stage.cluster().workload(name).expect("readable");
    found.is_scaled_to(replicas)
}

/// The error of a call that has to fail in one way, with words in its text.
pub(crate) fn fails<T: Debug>(result: Result<T, Error>, kind: ErrorKind, words: &[&str]) {
    let error = result.expect_err("it is refused");
    let text = error.to_string();
    let has_all = words.iter().all(|word| text.contains(word));
    assert!(
        error.kind() == kind && has_all,
        "{kind:?} {words:?}, got {:?}: {text}",
        error.kind()
    );
}

/// Waits until it holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    const LOOKS: u32 = 600;
    for _ in 0..LOOKS {
        if holds() {
            return;
        }
        SystemClock.wait(Duration::from_millis(100));
    }
    panic!("waited in vain: {what}");
}
