//! The stand-in's state: objects with their versions, events, logs, usage, and failures to simulate.
//!
//! Must not know HTTP. Invariants: every change of an object gives it a new, greater resource version; a change of its
//! specification gives it a new generation.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::{Value, json};

use super::log::Log;
use super::ownership::{Manager, Owners};
use crate::json;
use crate::time;

/// The stand-in's resources: group and version, resource, kind, whether it is namespaced.
pub const RESOURCES: &[(&str, &str, &str, bool)] = &[
    ("v1", "configmaps", "ConfigMap", true),
    ("v1", "namespaces", "Namespace", false),
    ("v1", "nodes", "Node", false),
    (
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        true,
    ),
    ("v1", "pods", "Pod", true),
    ("v1", "secrets", "Secret", true),
    ("v1", "services", "Service", true),
    ("apps/v1", "daemonsets", "DaemonSet", true),
    ("apps/v1", "deployments", "Deployment", true),
    ("apps/v1", "replicasets", "ReplicaSet", true),
    ("apps/v1", "statefulsets", "StatefulSet", true),
    ("batch/v1", "jobs", "Job", true),
    ("k6.io/v1alpha1", "testruns", "TestRun", true),
    ("k6.io/v1alpha1", "k6s", "K6", true),
    ("loadline.io/v1alpha1", "loadsuites", "LoadSuite", true),
    ("loadline.io/v1alpha1", "loadtests", "LoadTest", true),
    ("networking.k8s.io/v1", "ingresses", "Ingress", true),
    ("serving.knative.dev/v1", "services", "Service", true),
];

/// Those that a custom resource definition brought.
pub(super) const DEFINED: [&str; 3] = [
    "k6.io/v1alpha1",
    "loadline.io/v1alpha1",
    "serving.knative.dev/v1",
];

/// When the stand-in's time begins: 2026-01-01.
const BEGIN_S: u64 = 1_767_225_600;
/// How far its time advances with each event.
const TICK_NS: u64 = 250_000_000;

/// Group version, resource, namespace, name.
pub(super) type Key = [String; 4];

/// Everything.
#[derive(Debug)]
pub(super) struct State {
    pub(super) objects: BTreeMap<Key, Value>,
    pub(super) owners: BTreeMap<Key, Owners>,
    version: u64,
    ticks: u64,
    /// What was let pass besides, in nanoseconds.
    passed_ns: u64,
    pub(super) holds_still: bool,
    /// By namespace, pod, container: CPU and memory.
    pub(super) usage: BTreeMap<[String; 3], [String; 2]>,
    pub(super) has_metrics: bool,
    /// By namespace, pod, container.
    pub(super) logs: BTreeMap<[String; 3], Log>,
    pub(super) failure: Option<Failure>,
    pub(super) forbidden: Vec<(String, String)>,
    pub(super) listeners: BTreeMap<(String, u16), SocketAddr>,
    pub(super) requests: Vec<String>,
    /// Of the last request.
    pub(super) headers: Vec<(String, String)>,
}

/// What goes wrong next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) times: u32,
    pub(super) status: u16,
    pub(super) retry_after_s: Option<u64>,
}

impl Default for State {
    fn default() -> State {
        State {
            objects: BTreeMap::new(),
            owners: BTreeMap::new(),
            version: 100,
            ticks: 0,
            passed_ns: 0,
            holds_still: false,
            usage: BTreeMap::new(),
            has_metrics: true,
            logs: BTreeMap::new(),
            failure: None,
            forbidden: Vec::new(),
            listeners: BTreeMap::new(),
            requests: Vec::new(),
            headers: Vec::new(),
        }
    }
}

impl State {
    /// The version of the newest change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// An instant later than all before, in nanoseconds since 1970.
    pub(super) fn tick(&mut self) -> u64 {
        self.ticks += 1;
        BEGIN_S * 1_000_000_000 + self.ticks * TICK_NS + self.passed_ns
    }

    pub(super) fn pass(&mut self, time: std::time::Duration) {
        self.passed_ns += u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    }

    pub(super) fn now(&mut self) -> String {
        time::format(self.tick())
    }

    /// Creates or replaces an object for a field manager, and lets controllers act.
    pub(super) fn put_by(&mut self, by: &Manager, object: Value) -> Option<Key> {
        let (key, object) = located(object)?;
        let before = self.objects.get(&key).unwrap_or(&Value::Null);
        let mut owners = self.owners.get(&key).cloned().unwrap_or_default();
        owners.change(by, before, &object);
        self.put_owned(object, owners)
    }

    /// Makes or replaces an object whose owners are known, and lets controllers act.
    pub(super) fn put_owned(&mut self, object: Value, owners: Owners) -> Option<Key> {
        let (key, object) = located(object)?;
        let is_over = object.pointer("/metadata/deletionTimestamp").is_some()
            && json::items(&object, "/metadata/finalizers").is_empty();
        if is_over {
            self.remove_key(&key);
            return Some(key);
        }
        self.store(&key, object);
        self.owners.insert(key.clone(), owners);
        if !self.holds_still {
            self.settle(&key);
        }
        Some(key)
    }

    /// A new service has an address, unless it wants none.
    pub(super) fn give_address(&self, key: &Key, service: &mut Value) {
        let is_service = key[0] == "v1" && key[1] == "services";
        let kind = json::text(service, "/spec/type").unwrap_or("ClusterIP");
        if !is_service || kind == "ExternalName" {
            return;
        }
        service["spec"]["type"] = kind.to_owned().into();
        if json::filled(service, "/spec/clusterIP").is_none() {
            let [high, low] = (self.version as u16).to_be_bytes();
            service["spec"]["clusterIP"] = format!("10.96.{high}.{low}").into();
        }
    }

    /// Stores an object under its key with what a server adds.
    pub(super) fn store(&mut self, key: &Key, mut object: Value) {
        let before = self.objects.get(key);
        let uid = before.map_or_else(
            || self.new_uid(),
            |before| json::owned(before, "/metadata/uid"),
        );
        let created = before.and_then(|before| json::filled(before, "/metadata/creationTimestamp"));
        let generation = before.map_or(1, |before| {
            let old = json::number(before, "/metadata/generation").unwrap_or(1);
            old + u64::from(before.get("spec") != object.get("spec"))
        });
        let created = created.unwrap_or_else(|| self.now());
        self.version += 1;
        object["metadata"]["uid"] = uid.into();
        object["metadata"]["creationTimestamp"] = created.into();
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        if object.get("spec").is_some() {
            object["metadata"]["generation"] = generation.into();
        }
        if key[1] == "jobs" {
            know_pods(&mut object, &key[3]);
        }
        self.objects.insert(key.clone(), object);
    }

    fn new_uid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.version + 1)
    }

    pub(super) fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&self.key_of(kind, namespace, name)?)
    }

    fn key_of(&self, kind: &str, namespace: &str, name: &str) -> Option<Key> {
        let rows = RESOURCES.iter().filter(|row| row.2 == kind);
        let mut keys = rows.map(|row| [row.0, row.1, namespace, name].map(str::to_owned));
        keys.find(|key| self.objects.contains_key(key))
    }

    pub(super) fn names(&self, kind: &str, namespace: &str) -> Vec<String> {
        let keys = self.objects.iter().filter(|(key, object)| {
            json::text(object, "/kind") == Some(kind) && key[2] == namespace
        });
        keys.map(|(key, _)| key[3].clone()).collect()
    }

    pub(super) fn touch(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        how: impl FnOnce(&mut Value),
    ) {
        let Some(key) = self.key_of(kind, namespace, name) else {
            return;
        };
        let mut object = self.objects[&key].clone();
        how(&mut object);
        self.store(&key, object);
    }

    pub(super) fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        if let Some(key) = self.key_of(kind, namespace, name) {
            self.remove_key(&key);
        }
    }

    /// The objects that another one keeps.
    pub(super) fn kept_by(&self, uid: &str) -> Vec<Key> {
        let is_kept = |object: &Value| {
            let mut owners = json::items(object, "/metadata/ownerReferences").iter();
            owners.any(|owner| json::text(owner, "/uid") == Some(uid))
        };
        let kept = self.objects.iter().filter(|(_, object)| is_kept(object));
        kept.map(|(key, _)| key.clone()).collect()
    }

    /// Removes an object and those that it keeps.
    pub(super) fn remove_key(&mut self, key: &Key) {
        self.version += 1;
        let Some(object) = self.objects.remove(key) else {
            return;
        };
        self.owners.remove(key);
        let uid = json::owned(&object, "/metadata/uid");
        self.kept_by(&uid)
            .iter()
            .for_each(|kept| self.remove_key(kept));
        for log in self
            .logs
            .iter_mut()
            .filter(|(of, _)| key[1] == "pods" && of[0] == key[2] && of[1] == key[3])
        {
            log.1.end();
        }
    }

    pub(super) fn print(&mut self, namespace: &str, pod: &str, container: &str, line: &str) {
        let at = self.tick();
        let key = [namespace, pod, container].map(str::to_owned);
        self.logs.entry(key).or_default().print(at, line);
    }

    pub(super) fn restart(&mut self, namespace: &str, pod: &str, container: &str, reason: &str) {
        let at = self.now();
        let key = [namespace, pod, container].map(str::to_owned);
        self.logs.entry(key).or_default().restart();
        self.touch("Pod", namespace, pod, |object| {
            let statuses = object.pointer_mut("/status/containerStatuses").and_then(Value::as_array_mut);
            let named = |status: &&mut Value| json::text(status, "/name") == Some(container);
            let Some(status) = statuses.into_iter().flatten().find(named) else {
                return;
            };
            let restarts = json::number(status, "/restartCount").unwrap_or(0) + 1;
            status["restartCount"] = restarts.into();
            status["lastState"] = json!({ "terminated": { "exitCode": if reason == "OOMKilled" { 137 } else { 1 },
                "reason": reason, "startedAt": at, "finishedAt": at, "containerID": "containerd://0" } });
            status["state"] = json!({ "running": { "startedAt": at } });
        });
    }
}

/// The key of an object of a known kind that has a name, and the object with its namespace.
fn located(mut object: Value) -> Option<(Key, Value)> {
    let version = json::text(&object, "/apiVersion")?;
    let kind = json::text(&object, "/kind")?;
    let row = RESOURCES
        .iter()
        .find(|row| row.0 == version && row.2 == kind)?;
    let name = json::filled(&object, "/metadata/name")?;
    let namespace = match (row.3, json::filled(&object, "/metadata/namespace")) {
        (false, _) => String::new(),
        (true, Some(namespace)) => namespace,
        (true, None) => "default".to_owned(),
    };
    if row.3 {
        object["metadata"]["namespace"] = namespace.as_str().into();
    }
    let key = [row.0.to_owned(), row.1.to_owned(), namespace, name];
    Some((key, object))
}

/// A job knows its pods by its uid, unless it was given a selector.
fn know_pods(job: &mut Value, name: &str) {
    if json::is_true(job, "/spec/manualSelector") || job.pointer("/spec/selector").is_some() {
        return;
    }
    let uid = json::owned(job, "/metadata/uid");
    job["spec"]["selector"] =
        json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } });
    let labels = &mut job["spec"]["template"]["metadata"]["labels"];
    for (label, value) in [("controller-uid", uid.as_str()), ("job-name", name)] {
        labels[label] = value.into();
        labels[format!("batch.kubernetes.io/{label}")] = value.into();
    }
}
