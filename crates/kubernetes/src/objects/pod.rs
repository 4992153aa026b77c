//! A pod and its containers.
//!
//! Must not know who asks. Invariant: containers are in start order and unique; init containers that end before
//! the others start are omitted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{amount, identity};
use crate::error::Result;
use crate::json;
use crate::quantity::Quantity;

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Distinguishes it from a later pod with the same name.
    pub uid: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// How far it is.
    pub phase: Phase,
    /// The node it runs on; `None` before it is scheduled.
    pub node: Option<String>,
    /// Its address; `None` before it has one.
    pub ip: Option<String>,
    /// Whether it receives traffic of its services.
    pub is_ready: bool,
    /// Whether it is terminating.
    pub is_ending: bool,
    /// Why it is in its phase, in one word: `Evicted`, `NodeLost`; `None` usually.
    pub reason: Option<String>,
    /// The same in words.
    pub message: Option<String>,
    /// Its controller: a replica set, a stateful set; `None` for a bare pod.
    pub owner: Option<Owner>,
    /// When it was started, in nanoseconds since 1970; `None` before.
    pub started_unix_ns: Option<u64>,
    /// Its containers, including sidecars, but not init containers that end before.
    pub containers: Vec<Container>,
}

/// What controls a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind, as `ReplicaSet`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// The phase of a pod. Source: the API reference, `PodStatus.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Accepted, not all containers started.
    Pending,
    /// Bound to a node, at least one container runs or starts.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, at least one badly.
    Failed,
    /// Its node does not report.
    Unknown,
}

/// A container of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// CPU request in cores; `None`: none.
    pub cpu_request: Option<Quantity>,
    /// CPU limit in cores; `None`: none.
    pub cpu_limit: Option<Quantity>,
    /// Memory request in bytes; `None`: none.
    pub memory_request: Option<Quantity>,
    /// Memory limit in bytes, beyond which it is killed; `None`: the node's.
    pub memory_limit: Option<Quantity>,
    /// The ports that it names: name (perhaps empty) and number.
    pub ports: Vec<(String, u16)>,
    /// Whether its readiness probe succeeds.
    pub is_ready: bool,
    /// Whether it is running.
    pub is_running: bool,
    /// When the running one was started, in nanoseconds since 1970; `None`: it is not running.
    pub started_unix_ns: Option<u64>,
    /// How often it was restarted.
    pub restarts: u32,
    /// Why it waits, such as `CrashLoopBackOff`; `None`: it does not.
    pub waiting: Option<String>,
    /// Its last termination, or that of its predecessor; `None`: there was none.
    pub last_end: Option<Termination>,
}

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Termination {
    /// One word, as `OOMKilled`, `Error`, `Completed`.
    pub reason: String,
    /// Its exit code.
    pub exit_code: i32,
    /// When, in nanoseconds since 1970; `None`: unknown.
    pub at_unix_ns: Option<u64>,
}

impl Termination {
    /// Whether it was OOM-killed.
    #[must_use]
    pub fn is_oom(&self) -> bool {
        self.reason == "OOMKilled"
    }
}

impl Pod {
    /// Reads a pod.
    ///
    /// # Errors
    /// It has no name, or an invalid amount.
    pub fn read(value: &Value) -> Result<Pod> {
        let (namespace, name, labels) = identity(value)?;
        let containers = beside(value).chain(json::items(value, "/spec/containers"));
        let containers = containers.map(|container| {
            let name = json::text(container, "/name").unwrap_or_default();
            Container::read(container, status_of(value, name))
        });
        Ok(Pod {
            namespace,
            name,
            uid: json::owned(value, "/metadata/uid"),
            labels,
            phase: Phase::read(json::text(value, "/status/phase")),
            node: json::filled(value, "/spec/nodeName"),
            ip: json::filled(value, "/status/podIP"),
            is_ready: json::condition(value, "Ready")
                .is_some_and(|ready| json::text(ready, "/status") == Some("True")),
            is_ending: json::text(value, "/metadata/deletionTimestamp").is_some(),
            reason: json::filled(value, "/status/reason"),
            message: json::filled(value, "/status/message"),
            owner: owner(value),
            started_unix_ns: json::instant(value, "/status/startTime"),
            containers: containers.collect::<Result<_>>()?,
        })
    }

    /// Whether its node evicted it.
    #[must_use]
    pub fn is_evicted(&self) -> bool {
        self.reason.as_deref() == Some("Evicted")
    }

    /// Restarts of all its containers.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        let restarts = self.containers.iter().map(|container| container.restarts);
        restarts.fold(0, u32::saturating_add)
    }

    /// A container by name.
    #[must_use]
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers
            .iter()
            .find(|container| container.name == name)
    }
}

impl Phase {
    fn read(text: Option<&str>) -> Phase {
        match text {
            Some("Running") => Phase::Running,
            Some("Succeeded") => Phase::Succeeded,
            Some("Failed") => Phase::Failed,
            Some("Unknown") => Phase::Unknown,
            _ => Phase::Pending,
        }
    }
}

impl Container {
    fn read(specified: &Value, status: Option<&Value>) -> Result<Container> {
        let absent = Value::Null;
        let status = status.unwrap_or(&absent);
        let ports = json::items(specified, "/ports").iter().filter_map(|port| {
            let number = u16::try_from(json::number(port, "/containerPort")?).ok()?;
            Some((json::owned(port, "/name"), number))
        });
        let ended_now = Termination::read(status.pointer("/state/terminated"));
        let ended_before = || Termination::read(status.pointer("/lastState/terminated"));
        Ok(Container {
            name: json::owned(specified, "/name"),
            image: json::owned(specified, "/image"),
            cpu_request: amount(specified, "/resources/requests/cpu")?,
            cpu_limit: amount(specified, "/resources/limits/cpu")?,
            memory_request: amount(specified, "/resources/requests/memory")?,
            memory_limit: amount(specified, "/resources/limits/memory")?,
            ports: ports.collect(),
            is_ready: json::is_true(status, "/ready"),
            is_running: status.pointer("/state/running").is_some(),
            started_unix_ns: json::instant(status, "/state/running/startedAt"),
            restarts: json::count(status, "/restartCount", 0),
            waiting: json::filled(status, "/state/waiting/reason"),
            last_end: ended_now.or_else(ended_before),
        })
    }
}

impl Termination {
    fn read(value: Option<&Value>) -> Option<Termination> {
        let value = value?;
        let exit_code = value.pointer("/exitCode").and_then(Value::as_i64);
        Some(Termination {
            reason: json::owned(value, "/reason"),
            exit_code: i32::try_from(exit_code.unwrap_or_default()).unwrap_or(i32::MAX),
            at_unix_ns: json::instant(value, "/finishedAt"),
        })
    }
}

/// Sidecars: containers that start before the others and run next to them for the pod's whole life.
fn beside(pod: &Value) -> impl Iterator<Item = &Value> {
    let before = json::items(pod, "/spec/initContainers").iter();
    before.filter(|container| json::text(container, "/restartPolicy") == Some("Always"))
}

fn status_of<'a>(pod: &'a Value, container: &str) -> Option<&'a Value> {
    let statuses = json::items(pod, "/status/containerStatuses").iter();
    let before = json::items(pod, "/status/initContainerStatuses");
    statuses
        .chain(before)
        .find(|status| json::text(status, "/name") == Some(container))
}

fn owner(value: &Value) -> Option<Owner> {
    let owners = json::items(value, "/metadata/ownerReferences");
    let controller = owners
        .iter()
        .find(|owner| json::is_true(owner, "/controller"))?;
    Some(Owner {
        kind: json::owned(controller, "/kind"),
        name: json::owned(controller, "/name"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn killed() -> Value {
        json!({
            "metadata": { "name": "api-0", "namespace": "shop", "uid": "u1", "labels": { "app": "api" },
                "ownerReferences": [{ "kind": "StatefulSet", "name": "api", "controller": true }] },
            "spec": { "nodeName": "n1", "containers": [
                { "name": "main", "image": "api:1", "ports": [{ "name": "http", "containerPort": 8080 }],
                  "resources": { "requests": { "cpu": "250m" }, "limits": { "cpu": 1, "memory": "512Mi" } } },
                { "name": "proxy", "image": "proxy:1" } ] },
            "status": { "phase": "Running", "podIP": "10.0.0.7",
                "conditions": [{ "type": "Ready", "status": "True" }],
                "containerStatuses": [
                    { "name": "proxy", "ready": false, "restartCount": 0,
                      "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
                    { "name": "main", "ready": true, "restartCount": 2,
                      "state": { "running": { "startedAt": "1970-01-01T00:00:09Z" } },
                      "lastState": { "terminated": { "reason": "OOMKilled", "exitCode": 137,
                          "finishedAt": "1970-01-01T00:00:08Z" } } } ] },
        })
    }

    #[test]
    fn containers_are_joined_with_their_states() {
        let pod = Pod::read(&killed()).expect("a pod");
        assert_eq!(
            (pod.phase, pod.is_ready, pod.restarts()),
            (Phase::Running, true, 2)
        );
        assert_eq!(
            pod.owner.as_ref().map(|owner| owner.kind.as_str()),
            Some("StatefulSet")
        );
        let main = pod.container("main").expect("named");
        assert_eq!(main.cpu_request.map(Quantity::as_f64), Some(0.25));
        assert_eq!(main.cpu_limit.map(Quantity::as_f64), Some(1.0));
        assert_eq!(
            main.memory_limit.and_then(Quantity::as_u64),
            Some(512 << 20)
        );
        assert_eq!((main.memory_request, main.restarts), (None, 2));
        assert_eq!(main.ports, [("http".to_owned(), 8080)]);
        let end = main.last_end.as_ref().expect("it ended");
        assert!(end.is_oom() && end.at_unix_ns == Some(8_000_000_000));
        let proxy = pod.container("proxy").expect("named");
        assert_eq!(proxy.waiting.as_deref(), Some("CrashLoopBackOff"));
        assert!(!proxy.is_running && proxy.last_end.is_none());
    }

    #[test]
    fn sidecars_are_containers_and_preparations_are_not() {
        let mut value = killed();
        value["spec"]["initContainers"] = json!([
            { "name": "migrate", "image": "m:1" },
            { "name": "mesh", "image": "m:2", "restartPolicy": "Always" } ]);
        value["status"]["initContainerStatuses"] = json!([
            { "name": "mesh", "ready": true, "restartCount": 3, "state": { "running": {} } } ]);
        let pod = Pod::read(&value).expect("a pod");
        let names: Vec<&str> = pod.containers.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["mesh", "main", "proxy"]);
        assert_eq!(pod.restarts(), 5);
    }

    #[test]
    fn an_eviction_is_told_by_the_reason() {
        let mut value = killed();
        value["status"] =
            json!({ "phase": "Failed", "reason": "Evicted", "message": "low on memory" });
        let pod = Pod::read(&value).expect("a pod");
        assert!(pod.is_evicted() && pod.phase == Phase::Failed && !pod.is_ready);
    }

    #[test]
    fn an_amount_that_is_none_is_refused() {
        let mut value = killed();
        value["spec"]["containers"][0]["resources"]["limits"]["memory"] = json!("lots");
        let error = Pod::read(&value).expect_err("no amount").to_string();
        assert!(
            error.contains("/resources/limits/memory") && error.contains("lots"),
            "{error}"
        );
    }
}
