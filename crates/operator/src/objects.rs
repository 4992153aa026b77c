//! The objects of a test: a coordinator, its agents, and what connects them.
//!
//! Must not know the API or a clock. Invariants: each object is owned by the resource that requested the test
//! and is deleted with it; a `TestRun` has at most 2N + 5.

use serde_json::{Value, json};

use crate::identity::Identities;
use crate::names::{MANAGER, Names};
use crate::pods::{self, JOIN_PORT, Settings};
use crate::test::{Source, Test};

/// Time for a test to end after its pod was asked to stop: `teardown()` and the summary.
const GRACE_S: u32 = 30;
/// How often an agent's pod may be replaced: as often as the coordinator accepts.
const REPLACED_MAX: u32 = 5;
/// How often the coordinator's pod may be replaced: a test that kills it would kill the next one, too.
const COORDINATORS_MAX: u32 = 3;

/// The Service for reaching the coordinator.
#[must_use]
pub fn service(run: &Test) -> Value {
    let name = Names::of(run).coordinator();
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(run, &name),
        "spec": {
            "selector": {"job-name": name, run.kind.label(): run.name},
            "ports": [{"name": "join", "port": JOIN_PORT, "targetPort": JOIN_PORT}],
            "publishNotReadyAddresses": true,
        },
    })
}

/// Number of agent identities.
#[must_use]
pub fn identities(run: &Test) -> u32 {
    match run.kind.is_indexed() {
        true => 1,
        false => run.parallelism,
    }
}

/// The Secret with all identities.
#[must_use]
pub fn secret(run: &Test, identities: &Identities) -> Value {
    let agents = (1..).zip(&identities.agents);
    let mut data: serde_json::Map<String, Value> = agents
        .map(|(number, identity)| (pods::identity_key(run.kind, number), json!(identity)))
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

/// The ConfigMap with the script embedded in the test; `None`: there is none.
#[must_use]
pub fn files(run: &Test) -> Option<Value> {
    match run.work.source()? {
        Source::Inline { file, text } => Some(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "immutable": true,
            "metadata": metadata(run, &Names::of(run).files()),
            "data": {*file: text},
        })),
        Source::ConfigMap { .. }
        | Source::Volume { .. }
        | Source::Local { .. }
        | Source::Address(_)
        | Source::Git(_) => None,
    }
}

/// Prevents voluntary eviction of the test's pods while it runs; `None`: k6-operator's tests do not have this.
#[must_use]
pub fn disruption_budget(run: &Test) -> Option<Value> {
    (!run.kind.is_k6s()).then(|| {
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata(run, &Names::of(run).coordinator()),
            "spec": {
                "selector": {"matchLabels": {run.kind.label(): run.name}},
                "minAvailable": run.agents() + 1,
                "unhealthyPodEvictionPolicy": "AlwaysAllow",
            },
        })
    })
}

/// Restricts who may connect to the coordinator; `None`: agents have no addresses of their own by which to
/// allow them.
#[must_use]
pub fn network_policy(run: &Test) -> Option<Value> {
    let on_host = run.agent.spec.get("hostNetwork") == Some(&Value::Bool(true));
    let agents = run.kind.agent_labels(&run.name);
    let name = Names::of(run).coordinator();
    (!on_host).then(|| {
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata(run, &name),
            "spec": {
                "podSelector": {"matchLabels": {"job-name": name, run.kind.label(): run.name}},
                "policyTypes": ["Ingress"],
                "ingress": [{
                    "from": [{"podSelector": {"matchLabels": agents}}],
                    "ports": [{"protocol": "TCP", "port": JOIN_PORT}],
                }],
            },
        })
    })
}

/// The coordinator's Job.
#[must_use]
pub fn coordinator(run: &Test, settings: &Settings) -> Value {
    let name = Names::of(run).coordinator();
    let mut job = job(run, &name, pods::coordinator(run, settings));
    if run.work.is_alone() {
        // Nobody else has its results so far.
        return job;
    }
    job["spec"]["backoffLimit"] = json!(COORDINATORS_MAX);
    let mut rules = vec![ended("FailJob", Some(run.kind.container()))];
    if matches!(run.work.source(), Some(Source::Git(_))) {
        // A failed checkout would fail again.
        rules.push(ended("FailJob", Some(pods::GIT_CONTAINER)));
    }
    rules.push(moved());
    job["spec"]["podFailurePolicy"] = replaced_after(&rules);
    job
}

/// The agents' Jobs; `address`: that of the coordinator.
#[must_use]
pub fn agents(run: &Test, settings: &Settings, address: &str) -> Vec<Value> {
    if run.kind.is_indexed() {
        return vec![indexed(run, settings, address)];
    }
    let of_one = |number| {
        let template = pods::agent(run, settings, number, address);
        let mut job = job(run, &Names::of(run).agent(number), template);
        job["spec"]["backoffLimit"] = json!(REPLACED_MAX);
        job["spec"]["podFailurePolicy"] = replaced_after(&[moved(), ended("FailJob", None)]);
        job
    };
    (1..=run.parallelism).map(of_one).collect()
}

/// The one Job of all agents: each index is an agent.
fn indexed(run: &Test, settings: &Settings, address: &str) -> Value {
    let template = pods::agent(run, settings, 1, address);
    let mut job = job(run, &Names::of(run).agents(), template);
    let spec = &mut job["spec"];
    spec["completionMode"] = json!("Indexed");
    spec["completions"] = json!(run.parallelism);
    spec["parallelism"] = json!(run.parallelism);
    spec["backoffLimitPerIndex"] = json!(REPLACED_MAX);
    spec["podFailurePolicy"] =
        replaced_after(&[moved(), ended("FailIndex", Some(run.kind.container()))]);
    // Only the limit of each index counts.
    spec["backoffLimit"] = json!(i32::MAX);
    job
}

/// A pod that was evicted is recreated.
fn moved() -> Value {
    let moved = json!([{"type": "DisruptionTarget", "status": "True"}]);
    json!({"action": "Ignore", "onPodConditions": moved})
}

/// A pod that ended normally has finished its test. `container`: the decisive one; `None`: there is no other.
fn ended(action: &str, container: Option<&str>) -> Value {
    let signals: Vec<u8> = (129..=159).collect();
    let mut codes = json!({"operator": "NotIn", "values": signals});
    if let Some(container) = container {
        codes["containerName"] = json!(container);
    }
    json!({"action": action, "onExitCodes": codes})
}

/// Which pods are recreated: those that were evicted or killed. The first rule that fits counts: an evicted agent is
/// replaced however it ended, but a coordinator that ended its test during its eviction has a result.
fn replaced_after(rules: &[Value]) -> Value {
    json!({"rules": rules})
}

/// Host and port for agents to reach the coordinator: an IP address, which needs no DNS, or a name if the
/// address contains colons.
#[must_use]
pub fn join_address(run: &Test, cluster_ip: &str) -> String {
    let name = Names::of(run).coordinator();
    match cluster_ip {
        ip if ip.is_empty() || ip == "None" || ip.contains(':') => {
            format!("{name}.{}.svc:{JOIN_PORT}", run.namespace)
        }
        ip => format!("{ip}:{JOIN_PORT}"),
    }
}

/// The names in the coordinator's certificate.
#[must_use]
pub fn coordinator_names(run: &Test, cluster_ip: &str) -> Vec<String> {
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

fn job(run: &Test, name: &str, mut template: Value) -> Value {
    template["spec"]["terminationGracePeriodSeconds"]
        .as_u64()
        .map_or_else(
            || template["spec"]["terminationGracePeriodSeconds"] = json!(GRACE_S),
            drop,
        );
    let mut metadata = metadata(run, name);
    metadata["labels"] = template["metadata"]["labels"].clone();
    metadata["annotations"] = template["metadata"]["annotations"].clone();
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"backoffLimit": 0, "template": template},
    })
}

/// Name, labels and the owner.
pub(crate) fn metadata(run: &Test, name: &str) -> Value {
    let mut labels = run.kind.labels(&run.name);
    labels["app.kubernetes.io/managed-by"] = json!(MANAGER);
    json!({
        "name": name,
        "namespace": run.namespace,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": run.kind.api_version(),
            "kind": run.kind.name(),
            "name": run.name,
            "uid": run.uid,
            "controller": true,
        }],
    })
}

#[cfg(test)]
mod tests;
