//! The objects of a test: a coordinator, its agents, and what lets them find each other.
//!
//! Must not know the API or a clock. Invariants: each object belongs to the `TestRun` and goes with it; there are at most 2N + 5.

use serde_json::{Value, json};

use crate::identity::Identities;
use crate::names::{LABEL, MANAGER, Names};
use crate::pods::{self, JOIN_PORT, Settings};
use crate::test_run::TestRun;

/// Version of the API that a `TestRun` is of.
pub const API_VERSION: &str = "k6.io/v1alpha1";
/// Time for a test to end after its pod was told to: `teardown()` and the summary.
const GRACE_S: u32 = 30;
/// How many pods may come in the place of an agent's: as many as the coordinator takes.
const REPLACED_MAX: u32 = 5;
/// How many pods may come in the place of the coordinator's: a test that kills it would kill the next one, too.
const COORDINATORS_MAX: u32 = 3;

/// The Service under which the coordinator is found.
#[must_use]
pub fn service(run: &TestRun) -> Value {
    let name = Names::of(run).coordinator();
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(run, &name),
        "spec": {
            "selector": {"job-name": name, LABEL: run.name},
            "ports": [{"name": "join", "port": JOIN_PORT, "targetPort": JOIN_PORT}],
            "publishNotReadyAddresses": true,
        },
    })
}

/// The Secret with everybody's identity.
#[must_use]
pub fn secret(run: &TestRun, identities: &Identities) -> Value {
    let agents = identities.agents.iter().enumerate();
    let mut data: serde_json::Map<String, Value> = agents
        .map(|(index, identity)| (format!("agent-{}.pem", index + 1), json!(identity)))
        .collect();
    data.insert("coordinator.pem".into(), json!(identities.coordinator));
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": true,
        "metadata": metadata(run, &Names::of(run).secret()),
        "stringData": data,
    })
}

/// Who may speak with the coordinator; `None`: agents have no addresses of their own to be told by.
#[must_use]
pub fn network_policy(run: &TestRun) -> Option<Value> {
    let on_host = run.runner.get("hostNetwork") == Some(&Value::Bool(true));
    let name = Names::of(run).coordinator();
    (!on_host).then(|| {
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata(run, &name),
            "spec": {
                "podSelector": {"matchLabels": {"job-name": name, LABEL: run.name}},
                "policyTypes": ["Ingress"],
                "ingress": [{
                    "from": [{"podSelector": {"matchLabels": {LABEL: run.name, "runner": "true"}}}],
                    "ports": [{"protocol": "TCP", "port": JOIN_PORT}],
                }],
            },
        })
    })
}

/// The coordinator's Job.
#[must_use]
pub fn coordinator(run: &TestRun, settings: &Settings) -> Value {
    let name = Names::of(run).coordinator();
    let mut job = job(run, &name, pods::coordinator(run, settings));
    job["spec"]["backoffLimit"] = json!(COORDINATORS_MAX);
    job["spec"]["podFailurePolicy"] = replaced_after([ENDED_BY_ITSELF, MOVED]);
    job
}

/// The agents' Jobs; `address`: where the coordinator is.
#[must_use]
pub fn agents(run: &TestRun, settings: &Settings, address: &str) -> Vec<Value> {
    let of_one = |number| {
        let template = pods::agent(run, settings, number, address);
        let mut job = job(run, &Names::of(run).agent(number), template);
        job["spec"]["backoffLimit"] = json!(REPLACED_MAX);
        job["spec"]["podFailurePolicy"] = replaced_after([MOVED, ENDED_BY_ITSELF]);
        job
    };
    (1..=run.parallelism).map(of_one).collect()
}

/// What a Job does with a pod of its own.
type Rule = fn() -> Value;

/// A pod that was moved away is made anew.
const MOVED: Rule = || {
    let moved = json!([{"type": "DisruptionTarget", "status": "True"}]);
    json!({"action": "Ignore", "onPodConditions": moved})
};

/// One that ended by itself has had its test.
const ENDED_BY_ITSELF: Rule = || {
    let signals: Vec<u8> = (129..=159).collect();
    json!({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": signals}})
};

/// Which pods are made anew: those that were moved away or killed. The first rule that fits counts: an agent that was moved away is
/// replaced however it ended, but a coordinator that ended its test while it was moved away has a result.
fn replaced_after(rules: [Rule; 2]) -> Value {
    json!({"rules": rules.map(|rule| rule())})
}

/// Host and port under which agents call the coordinator: an address, which needs no names to be served, or where it has colons a name.
#[must_use]
pub fn join_address(run: &TestRun, cluster_ip: &str) -> String {
    let name = Names::of(run).coordinator();
    match cluster_ip {
        ip if ip.is_empty() || ip == "None" || ip.contains(':') => {
            format!("{name}.{}.svc:{JOIN_PORT}", run.namespace)
        }
        ip => format!("{ip}:{JOIN_PORT}"),
    }
}

/// The names that the coordinator's certificate has.
#[must_use]
pub fn coordinator_names(run: &TestRun, cluster_ip: &str) -> Vec<String> {
    let name = Names::of(run).coordinator();
    let namespace = &run.namespace;
    let mut names = vec![
        format!("{name}.{namespace}.svc"),
        format!("{name}.{namespace}"),
        name,
    ];
    if cluster_ip.parse::<std::net::IpAddr>().is_ok() {
        names.push(cluster_ip.to_owned());
    }
    names
}

fn job(run: &TestRun, name: &str, mut template: Value) -> Value {
    template["spec"]["terminationGracePeriodSeconds"]
        .as_u64()
        .map_or_else(
            || template["spec"]["terminationGracePeriodSeconds"] = json!(GRACE_S),
            drop,
        );
    let mut metadata = metadata(run, name);
    metadata["labels"] = template["metadata"]["labels"].clone();
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"backoffLimit": 0, "template": template},
    })
}

fn metadata(run: &TestRun, name: &str) -> Value {
    json!({
        "name": name,
        "namespace": run.namespace,
        "labels": {"app": "k6", LABEL: run.name, "app.kubernetes.io/managed-by": MANAGER},
        "ownerReferences": [{
            "apiVersion": API_VERSION,
            "kind": "TestRun",
            "name": run.name,
            "uid": run.uid,
            "controller": true,
        }],
    })
}

#[cfg(test)]
mod tests;
