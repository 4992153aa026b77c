//! Controllers of pod replicas: deployments, stateful sets, daemon sets, replica sets.
//!
//! Must not know how long a caller waits. Invariant: a rollout is judged from a single read, and only if its
//! status reflects the newest specification.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity;
use crate::error::{Error, Result, quoted};
use crate::json;

/// Which kind of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkloadKind {
    /// `apps/v1` Deployment.
    Deployment,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `apps/v1` DaemonSet.
    DaemonSet,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
}

/// One workload of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkloadName {
    /// Which kind.
    pub kind: WorkloadKind,
    /// In which namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A workload and its progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Which.
    pub name: WorkloadName,
    /// Replicas that are wanted; a daemon set wants one on each of its nodes.
    pub wanted: u32,
    /// Replicas that there are, in any state.
    pub replicas: u32,
    /// Replicas that are ready.
    pub ready: u32,
    /// Replicas that were made from the newest template.
    pub updated: u32,
    /// Replicas that have been ready for long enough.
    pub available: u32,
    /// The number of the newest specification.
    pub generation: u64,
    /// The number of the specification that the status knows.
    pub observed_generation: u64,
    /// The labels that its pods have, as a selector's text.
    pub selector: String,
    /// Names of the containers of its template.
    pub containers: Vec<String>,
    /// Why the rollout cannot go on, or is not one; `None` usually.
    stuck: Option<String>,
    /// Whether the newest template has become the one in force (stateful sets; others: true).
    is_current: bool,
}

/// The progress of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// All replicas are of the newest template and available.
    Complete,
    /// It is in progress; the text says what is still missing.
    Progressing(String),
    /// It will not complete; the text says why.
    Failed(String),
}

impl WorkloadKind {
    /// Every kind.
    pub const ALL: [WorkloadKind; 4] = [
        WorkloadKind::Deployment,
        WorkloadKind::StatefulSet,
        WorkloadKind::DaemonSet,
        WorkloadKind::ReplicaSet,
    ];

    /// Its resource, as in the API's paths.
    #[must_use]
    pub fn resource(self) -> &'static str {
        match self {
            WorkloadKind::Deployment => "deployments",
            WorkloadKind::StatefulSet => "statefulsets",
            WorkloadKind::DaemonSet => "daemonsets",
            WorkloadKind::ReplicaSet => "replicasets",
        }
    }

    /// Its name, as kubectl prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WorkloadKind::Deployment => "deployment",
            WorkloadKind::StatefulSet => "statefulset",
            WorkloadKind::DaemonSet => "daemonset",
            WorkloadKind::ReplicaSet => "replicaset",
        }
    }

    /// Whether its number of replicas can be set.
    #[must_use]
    pub fn has_scale(self) -> bool {
        self != WorkloadKind::DaemonSet
    }

    fn of(word: &str) -> Option<WorkloadKind> {
        Some(match word.to_ascii_lowercase().as_str() {
            "deployment" | "deployments" | "deploy" => WorkloadKind::Deployment,
            "statefulset" | "statefulsets" | "sts" => WorkloadKind::StatefulSet,
            "daemonset" | "daemonsets" | "ds" => WorkloadKind::DaemonSet,
            "replicaset" | "replicasets" | "rs" => WorkloadKind::ReplicaSet,
            _ => return None,
        })
    }
}

impl WorkloadName {
    /// Parses `deployment/api`, with kubectl's names and short names of the kinds; the default kind is a
    /// deployment.
    ///
    /// # Errors
    /// The kind is not one of the four, or there is no name.
    pub fn parse(text: &str, namespace: &str) -> Result<WorkloadName> {
        let (kind, name) = text.split_once('/').unwrap_or(("deployment", text));
        let kind = WorkloadKind::of(kind).filter(|_| !name.is_empty() && !name.contains('/'));
        let Some(kind) = kind else {
            return Err(Error::user(format!(
                "a workload is written KIND/NAME with the kind deployment, statefulset, daemonset or replicaset, got {}",
                quoted(text)
            )));
        };
        Ok(WorkloadName {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, namespace, name) = (self.kind.name(), &self.namespace, &self.name);
        write!(f, "{kind}/{name} in namespace {namespace}")
    }
}

impl Workload {
    /// Reads a workload of a kind.
    ///
    /// # Errors
    /// It has no name.
    pub fn read(value: &Value, kind: WorkloadKind) -> Result<Workload> {
        let (namespace, name, _) = identity(value)?;
        let status = |field: &str| json::count(value, &format!("/status/{field}"), 0);
        let is_daemon_set = kind == WorkloadKind::DaemonSet;
        let [replicas, ready, updated, available] = match is_daemon_set {
            true => [
                "currentNumberScheduled",
                "numberReady",
                "updatedNumberScheduled",
                "numberAvailable",
            ],
            false => [
                "replicas",
                "readyReplicas",
                "updatedReplicas",
                "availableReplicas",
            ],
        };
        let wanted = match is_daemon_set {
            true => status("desiredNumberScheduled"),
            false => json::count(value, "/spec/replicas", 1),
        };
        // A replica set's template never changes.
        let updated = match kind {
            WorkloadKind::ReplicaSet => status(replicas),
            _ => status(updated),
        };
        let containers = json::items(value, "/spec/template/spec/containers");
        Ok(Workload {
            name: WorkloadName {
                kind,
                namespace,
                name,
            },
            wanted,
            replicas: status(replicas),
            ready: status(ready),
            updated,
            available: status(available),
            generation: json::number(value, "/metadata/generation").unwrap_or_default(),
            observed_generation: json::number(value, "/status/observedGeneration")
                .unwrap_or_default(),
            selector: selector(value),
            containers: containers
                .iter()
                .map(|container| json::owned(container, "/name"))
                .collect(),
            stuck: stuck(value, kind),
            is_current: is_current(value, kind),
        })
    }

    /// The progress of its newest rollout, by the rules of `kubectl rollout status`.
    #[must_use]
    pub fn rollout(&self) -> Rollout {
        let progressing = |text: String| Rollout::Progressing(format!("{}: {text}", self.name));
        if self.observed_generation < self.generation {
            return progressing("the newest specification has not been processed yet".to_owned());
        }
        if let Some(why) = &self.stuck {
            return Rollout::Failed(format!("{}: {why}", self.name));
        }
        let wanted = self.wanted;
        if self.updated < wanted {
            return progressing(format!("{} of {wanted} replicas are updated", self.updated));
        }
        if self.replicas > wanted.max(self.updated) {
            return progressing(format!(
                "{} old replicas have not ended yet",
                self.replicas - self.updated
            ));
        }
        if self.available < wanted {
            return progressing(format!(
                "{} of {wanted} replicas are available",
                self.available
            ));
        }
        match self.is_current {
            true => Rollout::Complete,
            false => progressing("the newest template has not been rolled out yet".to_owned()),
        }
    }

    /// Whether it has this number of replicas, all ready, and no others.
    #[must_use]
    pub fn is_scaled_to(&self, replicas: u32) -> bool {
        let is_known = self.observed_generation >= self.generation;
        is_known && [self.wanted, self.replicas, self.ready] == [replicas; 3]
    }
}

/// The match labels as a selector's text. Expressions are written in its set form.
fn selector(value: &Value) -> String {
    let labels = json::texts(value, "/spec/selector/matchLabels");
    let mut parts: Vec<String> = labels
        .iter()
        .map(|(name, wanted)| format!("{name}={wanted}"))
        .collect();
    for expression in json::items(value, "/spec/selector/matchExpressions") {
        let key = json::owned(expression, "/key");
        let values: Vec<&str> = json::items(expression, "/values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let values = values.join(",");
        parts.push(match json::text(expression, "/operator") {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key,
        });
    }
    parts.join(",")
}

fn stuck(value: &Value, kind: WorkloadKind) -> Option<String> {
    let strategy = json::text(value, "/spec/updateStrategy/type");
    let is_by_hand = strategy == Some("OnDelete");
    match kind {
        WorkloadKind::Deployment => {
            let progressing = json::condition(value, "Progressing")?;
            let is_late = json::text(progressing, "/reason") == Some("ProgressDeadlineExceeded");
            let message = json::text(progressing, "/message").unwrap_or_default();
            is_late.then(|| format!("the rollout exceeded its deadline: {message}"))
        }
        WorkloadKind::StatefulSet | WorkloadKind::DaemonSet => is_by_hand.then(|| {
            "its update strategy is OnDelete, so nothing is rolled out until pods are deleted"
                .to_owned()
        }),
        WorkloadKind::ReplicaSet => None,
    }
}

fn is_current(value: &Value, kind: WorkloadKind) -> bool {
    let partition = json::number(value, "/spec/updateStrategy/rollingUpdate/partition");
    if kind != WorkloadKind::StatefulSet || partition.is_some_and(|partition| partition > 0) {
        return true;
    }
    let revision = |field: &str| json::text(value, &format!("/status/{field}"));
    revision("updateRevision") == revision("currentRevision")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(status: &Value) -> Workload {
        let value = json!({
            "metadata": { "name": "api", "namespace": "shop", "generation": 4 },
            "spec": { "replicas": 3, "selector": { "matchLabels": { "app": "api" },
                    "matchExpressions": [{ "key": "tier", "operator": "In", "values": ["a", "b"] }] },
                "template": { "spec": { "containers": [{ "name": "main" }] } } },
            "status": status,
        });
        Workload::read(&value, WorkloadKind::Deployment).expect("a deployment")
    }

    fn said(status: &Value) -> &'static str {
        match deployment(status).rollout() {
            Rollout::Complete => "complete",
            Rollout::Failed(_) => "failed",
            Rollout::Progressing(text) => {
                let steps = ["processed", "updated", "old replicas", "available"];
                steps
                    .into_iter()
                    .find(|step| text.contains(step))
                    .unwrap_or("?")
            }
        }
    }

    #[test]
    fn a_rollout_goes_through_its_steps() {
        let status = |generation: u64, [replicas, updated, available]: [u32; 3]| {
            json!({ "observedGeneration": generation, "replicas": replicas, "updatedReplicas": updated,
                "readyReplicas": available, "availableReplicas": available })
        };
        assert_eq!(said(&status(3, [3, 3, 3])), "processed");
        assert_eq!(said(&status(4, [4, 2, 3])), "updated");
        assert_eq!(said(&status(4, [4, 3, 3])), "old replicas");
        assert_eq!(said(&status(4, [3, 3, 2])), "available");
        assert_eq!(said(&status(4, [3, 3, 3])), "complete");
        let mut late = status(4, [4, 2, 3]);
        late["conditions"] =
            json!([{ "type": "Progressing", "reason": "ProgressDeadlineExceeded" }]);
        assert_eq!(said(&late), "failed");
    }

    #[test]
    fn scaled_means_ready_and_none_besides() {
        let status =
            |ready: u32| json!({ "observedGeneration": 4, "replicas": 3, "readyReplicas": ready });
        assert!(deployment(&status(3)).is_scaled_to(3));
        assert!(!deployment(&status(2)).is_scaled_to(3));
        assert!(!deployment(&status(3)).is_scaled_to(2));
        assert_eq!(deployment(&status(3)).selector, "app=api,tier in (a,b)");
    }

    #[test]
    fn a_stateful_set_is_complete_when_its_revision_is_in_force() {
        let set = |current: &str| {
            let value = json!({ "metadata": { "name": "db", "generation": 1 }, "spec": { "replicas": 1 },
                "status": { "observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1,
                    "availableReplicas": 1, "updateRevision": "db-2", "currentRevision": current } });
            Workload::read(&value, WorkloadKind::StatefulSet)
                .expect("a stateful set")
                .rollout()
        };
        assert_eq!(set("db-2"), Rollout::Complete);
        assert!(matches!(set("db-1"), Rollout::Progressing(_)));
    }

    #[test]
    fn names_are_read_as_kubectl_takes_them() {
        let read =
            |text: &str| WorkloadName::parse(text, "shop").map(|name| (name.kind, name.name));
        assert_eq!(
            read("sts/db").expect("a name"),
            (WorkloadKind::StatefulSet, "db".to_owned())
        );
        assert_eq!(
            read("api").expect("a name"),
            (WorkloadKind::Deployment, "api".to_owned())
        );
        for bad in ["pod/api", "deployment/", "deployment/a/b"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
