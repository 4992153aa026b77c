//! Changes made and undone.
//!
//! Must not know the stand-in's internals. Invariant: what is undone is as it was, even if undone twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use serde_json::{Value, json};

use super::ManualClock;
use crate::clock::Clock;
use crate::testing::ApiServer;
use crate::{
    Change, Cluster, Conflicts, ErrorKind, ResourceChange, Rollout, Undo, WorkloadName,
    read_manifests,
};

fn name(text: &str) -> WorkloadName {
    WorkloadName::parse(text, "shop").expect("a name")
}

/// As a suite does: what takes a change back is stored before it is made.
fn carry_out(cluster: &Cluster, change: &Change) -> Undo {
    let stored = serde_json::to_string(&change.undo).expect("storable");
    cluster.carry_out(change).expect("made");
    serde_json::from_str(&stored).expect("readable")
}

#[test]
fn replicas_are_given_back() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let cluster = server.cluster();
    let change = cluster.plan_scale(&name("api"), 3).expect("planned");
    assert_eq!(
        change.summary,
        "deployment/api in namespace shop: 1 → 3 replicas"
    );
    assert_eq!(server.pod_names("shop").len(), 1, "a plan changes nothing");
    let undo = carry_out(&cluster, &change);
    assert!(
        cluster
            .workload(&name("api"))
            .expect("readable")
            .is_scaled_to(3)
    );
    assert_eq!(server.pod_names("shop").len(), 3);
    for _ in 0..2 {
        assert_eq!(cluster.undo(&undo).expect("taken back").len(), 1);
        assert!(
            cluster
                .workload(&name("api"))
                .expect("readable")
                .is_scaled_to(1)
        );
    }
    let zero = cluster.plan_scale(&name("api"), 0).expect("planned");
    carry_out(&cluster, &zero);
    assert!(
        cluster
            .workload(&name("api"))
            .expect("readable")
            .is_scaled_to(0)
    );
    let error = cluster
        .plan_scale(&name("ds/agent"), 1)
        .expect_err("no scale");
    assert_eq!(error.kind(), ErrorKind::User);
}

#[test]
fn a_restart_makes_new_pods_and_a_rollout() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 2);
    let cluster = server.cluster();
    let before = server.pod_names("shop");
    let rollout = || cluster.workload(&name("api")).expect("readable").rollout();
    assert_eq!(rollout(), Rollout::Complete);
    server.hold_still();
    let change = cluster.plan_restart(&name("api")).expect("planned");
    assert!(carry_out(&cluster, &change).is_nothing());
    assert!(
        matches!(rollout(), Rollout::Progressing(_)),
        "nobody has looked at it yet"
    );
    server.settle();
    assert_eq!(rollout(), Rollout::Complete);
    let after = server.pod_names("shop");
    assert!(
        after.len() == 2 && after.iter().all(|name| !before.contains(name)),
        "{after:?}"
    );
    let deployment = server.get("Deployment", "shop", "api").expect("there");
    let note = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
    assert!(deployment.pointer(note).is_some(), "{deployment}");
}

#[test]
fn requests_and_limits_are_given_back() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let resources = || {
        let deployment = server.get("Deployment", "shop", "api").expect("there");
        deployment
            .pointer("/spec/template/spec/containers/0/resources")
            .cloned()
            .expect("it has some")
    };
    let before = resources();
    let cluster = server.cluster();
    let amounts = |pairs: &[(&str, Option<&str>)]| {
        let owned = pairs
            .iter()
            .map(|(name, amount)| ((*name).to_owned(), amount.map(str::to_owned)));
        owned.collect()
    };
    let change = ResourceChange {
        container: String::new(),
        requests: amounts(&[("cpu", Some("400m")), ("ephemeral-storage", Some("1Gi"))]),
        limits: amounts(&[("memory", None)]),
    };
    let planned = cluster
        .plan_resources(&name("api"), &change)
        .expect("planned");
    assert!(
        planned.summary.contains("cpu request 100m → 400m"),
        "{planned}"
    );
    assert!(
        planned.summary.contains("memory limit 128Mi → none"),
        "{planned}"
    );
    let undo = carry_out(&cluster, &planned);
    let wanted = json!({ "requests": { "cpu": "400m", "memory": "64Mi", "ephemeral-storage": "1Gi" }, "limits": { "cpu": "500m" } });
    assert_eq!(resources(), wanted);
    cluster.undo(&undo).expect("taken back");
    assert_eq!(resources(), before);
    let bad = ResourceChange {
        limits: amounts(&[("cpu", Some("lots"))]),
        ..ResourceChange::default()
    };
    let error = cluster
        .plan_resources(&name("api"), &bad)
        .expect_err("no amount");
    assert!(error.to_string().contains("lots"), "{error}");
    let other = ResourceChange {
        container: "proxy".to_owned(),
        ..ResourceChange::default()
    };
    let error = cluster
        .plan_resources(&name("api"), &other)
        .expect_err("no container");
    assert!(error.to_string().contains("main"), "{error}");
}

const MANIFEST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { level: \"5\" }
---
apiVersion: v1
kind: Namespace
metadata: { name: extra }
";

fn data(server: &ApiServer) -> Option<Value> {
    server
        .get("ConfigMap", "shop", "settings")
        .map(|object| object["data"].clone())
}

#[test]
fn what_was_applied_is_removed_or_put_back() {
    let server = ApiServer::start();
    let cluster = server.cluster();
    let objects = read_manifests(MANIFEST).expect("two objects");
    let change = cluster
        .plan_apply(&objects, "", Conflicts::Refuse)
        .expect("planned");
    assert_eq!(
        change.summary,
        "makes ConfigMap \"settings\" in namespace shop, makes Namespace \"extra\""
    );
    let undo = carry_out(&cluster, &change);
    assert_eq!(data(&server), Some(json!({ "level": "5" })));
    assert!(
        server
            .requests()
            .iter()
            .any(|line| line.contains("fieldManager=loadline"))
    );
    cluster.undo(&undo).expect("taken back");
    assert_eq!(data(&server), None);
    assert!(server.get("Namespace", "", "extra").is_none());
    cluster.undo(&undo).expect("twice does no harm");

    server.put(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "settings", "namespace": "shop",
        "labels": { "by": "hand" } }, "data": { "level": "1", "other": "x" } }));
    let change = cluster
        .plan_apply(&objects[..1], "shop", Conflicts::TakeOver)
        .expect("planned");
    assert!(change.summary.starts_with("changes"), "{change}");
    let undo = carry_out(&cluster, &change);
    assert_eq!(data(&server), Some(json!({ "level": "5", "other": "x" })));
    cluster.undo(&undo).expect("taken back");
    assert_eq!(data(&server), Some(json!({ "level": "1", "other": "x" })));
}

#[test]
fn what_was_deleted_is_put_back() {
    let server = ApiServer::start();
    let cluster = server.cluster();
    let objects = read_manifests(MANIFEST).expect("two objects");
    assert_eq!(
        cluster.plan_delete(&objects, "").expect("planned").summary,
        "nothing to delete"
    );
    server.put(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "settings", "namespace": "shop" },
        "data": { "level": "1" } }));
    let change = cluster.plan_delete(&objects[..1], "").expect("planned");
    let undo = carry_out(&cluster, &change);
    assert_eq!(data(&server), None);
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        assert_eq!(data(&server), Some(json!({ "level": "1" })));
    }
    server.put(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "extra" } }));
    let change = cluster.plan_delete(&objects[1..], "").expect("planned");
    assert!(
        change.undo.is_nothing() && change.summary.contains("cannot be undone"),
        "{change}"
    );
}

fn job(parallelism: u32) -> Value {
    json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "fill", "namespace": "shop" },
        "spec": { "parallelism": parallelism, "template": { "metadata": { "labels": { "app": "fill" } },
            "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "registry.test/fill:1" }] } } } })
}

#[test]
fn a_job_is_put_back_without_what_its_pods_were_known_by() {
    const UID: &str = "/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid";
    let server = ApiServer::start();
    let cluster = server.cluster();
    server.put(job(1));
    let there = || server.get("Job", "shop", "fill").expect("there");
    let first = there();
    let change = cluster.plan_delete(&[job(1)], "shop").expect("planned");
    let undo = carry_out(&cluster, &change);
    assert!(server.get("Job", "shop", "fill").is_none());
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        let labels = &there()["spec"]["template"]["metadata"]["labels"];
        assert_eq!(
            (&labels["app"], &labels["job-name"]),
            (&json!("fill"), &json!("fill"))
        );
        assert_eq!(there().pointer(UID), there().pointer("/metadata/uid"));
    }
    assert_ne!(there().pointer(UID), first.pointer(UID));
    // The one who put it back did not apply, and is another manager for the server.
    let change = cluster.plan_apply(&[job(3)], "shop", Conflicts::TakeOver);
    let undo = carry_out(&cluster, &change.expect("planned"));
    assert_eq!(there()["spec"]["parallelism"], 3);
    cluster.undo(&undo).expect("taken back");
    assert_eq!(there()["spec"]["parallelism"], 1);
    assert_eq!(there().pointer(UID), there().pointer("/metadata/uid"));
}

/// Time in which a server ends what it began to delete.
#[derive(Debug)]
struct Reaper {
    server: Arc<ApiServer>,
    waits: AtomicU32,
}

impl Clock for Reaper {
    fn unix_ns(&self) -> u64 {
        0
    }

    fn wait(&self, _: Duration) {
        if self.waits.fetch_add(1, Relaxed) == 2 {
            self.server.remove("ConfigMap", "shop", "settings");
        }
    }
}

#[test]
fn what_is_still_being_deleted_is_put_back_when_it_is_gone() {
    let server = Arc::new(ApiServer::start());
    let settings = || {
        server.put(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "settings", "namespace": "shop" },
            "data": { "level": "1" } }));
    };
    let going = || {
        server.change("ConfigMap", "shop", "settings", |map| {
            map["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            map["metadata"]["finalizers"] = json!(["test/hold"]);
        });
    };
    settings();
    let objects = read_manifests(MANIFEST).expect("two objects");
    let change = server.cluster().plan_delete(&objects[..1], "");
    let undo = change.expect("planned").undo;
    going();
    let reaper = Arc::new(Reaper {
        server: Arc::clone(&server),
        waits: AtomicU32::new(0),
    });
    let cluster = server.cluster_with(reaper.clone());
    cluster.undo(&undo).expect("taken back");
    assert_eq!(reaper.waits.load(Relaxed), 3);
    let there = server.get("ConfigMap", "shop", "settings").expect("there");
    assert_eq!(there.pointer("/metadata/deletionTimestamp"), None);
    assert_eq!(data(&server), Some(json!({ "level": "1" })));
    going();
    let clock = Arc::new(ManualClock::default());
    let error = server.cluster_with(clock.clone()).undo(&undo);
    let error = error.expect_err("it never goes").to_string();
    assert!(error.contains("still being deleted after 60 s"), "{error}");
    assert_eq!(clock.waits().len(), 60);
}

#[test]
fn half_a_change_is_taken_back_too() {
    let server = ApiServer::start();
    let cluster = server.cluster();
    let objects = read_manifests(MANIFEST).expect("two objects");
    let change = cluster
        .plan_apply(&objects, "", Conflicts::Refuse)
        .expect("planned");
    server.forbid("patch", "namespaces");
    assert_eq!(
        cluster.carry_out(&change).expect_err("half of it").kind(),
        ErrorKind::Forbidden
    );
    assert!(data(&server).is_some());
    cluster.undo(&change.undo).expect("taken back");
    assert!(data(&server).is_none());
}

#[test]
fn a_change_is_taken_back_where_it_was_made_alone() {
    let (server, other) = (ApiServer::start(), ApiServer::start());
    server.deploy("shop", "api", 1);
    let change = server
        .cluster()
        .plan_scale(&name("api"), 3)
        .expect("planned");
    let error = other
        .cluster()
        .undo(&change.undo)
        .expect_err("another cluster");
    assert!(
        error.kind() == ErrorKind::User && error.to_string().contains(server.cluster().server()),
        "{error}"
    );
}

#[test]
fn an_unknown_kind_is_told() {
    let server = ApiServer::start();
    let objects =
        [json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "a" } })];
    let error = server
        .cluster()
        .plan_apply(&objects, "", Conflicts::Refuse)
        .expect_err("unknown");
    assert!(
        error.kind() == ErrorKind::User && error.to_string().contains("Widget"),
        "{error}"
    );
}
