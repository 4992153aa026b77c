//! Changes, and undoing them.
//!
//! Must not know which server responds. Invariant: what is undone is as it was, even if undone twice.

use std::collections::BTreeMap;

use loadline_kubernetes::{Conflicts, ErrorKind, ResourceChange, Rollout, Selector};
use serde_json::{Value, json};

use super::{Stage, apply, carry_out, config_map, deployed, deployment, fails, scaled, until};

fn data(stage: &dyn Stage, name: &str) -> Option<Value> {
    let found = stage.look("ConfigMap", name)?;
    Some(found["data"].clone())
}

pub(crate) fn what_was_made_is_removed(stage: &dyn Stage) {
    let sent = config_map("settings", &json!({ "level": "5" }));
    let undo = apply(stage, &[sent], Conflicts::Refuse);
    assert_eq!(data(stage, "settings"), Some(json!({ "level": "5" })));
    for _ in 0..2 {
        stage.cluster().undo(&undo).expect("taken back");
        assert_eq!(data(stage, "settings"), None);
    }
}

pub(crate) fn fields_of_others_are_refused_or_taken_over(stage: &dyn Stage) {
    let cluster = stage.cluster();
    stage.put(&config_map(
        "settings",
        &json!({ "level": "1", "other": "x" }),
    ));
    let same = config_map("settings", &json!({ "level": "1", "more": "y" }));
    apply(stage, &[same], Conflicts::Refuse);
    let before = json!({ "level": "1", "other": "x", "more": "y" });
    assert_eq!(data(stage, "settings"), Some(before.clone()));
    let sent = [config_map(
        "settings",
        &json!({ "level": "5", "more": "y" }),
    )];
    let planned = || {
        let change = cluster.plan_apply(&sent, stage.namespace(), Conflicts::Refuse);
        change.expect("planned")
    };
    fails(
        cluster.carry_out(&planned()),
        ErrorKind::Conflict,
        &["(409)", "conflict with", ".data.level"],
    );
    assert_eq!(data(stage, "settings"), Some(before.clone()));
    let undo = apply(stage, &sent, Conflicts::TakeOver);
    let taken = json!({ "level": "5", "other": "x", "more": "y" });
    assert_eq!(data(stage, "settings"), Some(taken));
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        assert_eq!(data(stage, "settings"), Some(before.clone()));
    }
    // Who took it back did not apply, and so is another manager.
    fails(
        cluster.carry_out(&planned()),
        ErrorKind::Conflict,
        &["(409)", "conflict with", ".data.level"],
    );
}

pub(crate) fn what_is_no_longer_applied_goes(stage: &dyn Stage) {
    let sent = |data: Value| [config_map("settings", &data)];
    apply(
        stage,
        &sent(json!({ "a": "1", "b": "1" })),
        Conflicts::Refuse,
    );
    let undo = apply(stage, &sent(json!({ "a": "2" })), Conflicts::Refuse);
    assert_eq!(data(stage, "settings"), Some(json!({ "a": "2" })));
    stage.cluster().undo(&undo).expect("taken back");
    let both = json!({ "a": "1", "b": "1" });
    assert_eq!(data(stage, "settings"), Some(both));
}

pub(crate) fn what_cannot_be_applied_is_told(stage: &dyn Stage) {
    let cluster = stage.cluster();
    let plan = |object: &Value, namespace: &str| {
        let objects = std::slice::from_ref(object);
        cluster.plan_apply(objects, namespace, Conflicts::Refuse)
    };
    let made = |object: &Value, namespace: &str| {
        cluster.carry_out(&plan(object, namespace).expect("planned"))
    };
    fails(
        made(&config_map("settings", &json!({})), "nowhere"),
        ErrorKind::NotFound,
        &["(404)", "namespaces \\\"nowhere\\\" not found"],
    );
    fails(
        made(&config_map("Settings", &json!({})), stage.namespace()),
        ErrorKind::Refused,
        &["(422)", "metadata.name: Invalid value"],
    );
    let mut greedy = deployment(stage, "api", 1);
    greedy["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
        json!("2");
    fails(
        made(&greedy, stage.namespace()),
        ErrorKind::Refused,
        &["(422)", "must be less than or equal to cpu limit"],
    );
    let mut misspelt = config_map("settings", &json!({}));
    misspelt["date"] = json!({});
    fails(
        made(&misspelt, stage.namespace()),
        ErrorKind::Refused,
        &[
            ".date: field not declared in schema",
            "correct the field's name",
        ],
    );
    for (version, kind) in [("example.com/v1", "Widget"), ("v1", "Widget")] {
        let widget = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "a" } });
        fails(
            plan(&widget, stage.namespace()),
            ErrorKind::User,
            &["has no kind \"Widget\""],
        );
    }
}

pub(crate) fn replicas_are_given_back(stage: &dyn Stage) {
    let name = deployed(stage, "api", 1);
    let cluster = stage.cluster();
    let change = cluster.plan_scale(&name, 3).expect("planned");
    let wanted = format!(
        "deployment/api in namespace {}: 1 → 3 replicas",
        stage.namespace()
    );
    assert_eq!(change.summary, wanted);
    let undo = carry_out(cluster, &change);
    until("three pods", || scaled(stage, &name, 3));
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        until("one pod", || scaled(stage, &name, 1));
    }
    carry_out(cluster, &cluster.plan_scale(&name, 0).expect("planned"));
    until("no pod", || scaled(stage, &name, 0));
}

pub(crate) fn a_restart_makes_new_pods(stage: &dyn Stage) {
    let name = deployed(stage, "api", 2);
    let cluster = stage.cluster();
    let names = || {
        let pods = cluster.pods(stage.namespace(), &Selector::labels("app=api"));
        let pods = pods.expect("readable").into_iter();
        pods.filter(|pod| !pod.is_ending)
            .map(|pod| pod.name)
            .collect::<Vec<_>>()
    };
    let before = names();
    let undo = carry_out(cluster, &cluster.plan_restart(&name).expect("planned"));
    assert!(undo.is_nothing());
    let rollout = || cluster.workload(&name).expect("readable").rollout();
    until("the rollout is complete", || rollout() == Rollout::Complete);
    until("the old pods are gone", || names().len() == 2);
    let after = names();
    assert!(after.iter().all(|name| !before.contains(name)), "{after:?}");
}

pub(crate) fn requests_and_limits_are_given_back(stage: &dyn Stage) {
    let name = deployed(stage, "api", 1);
    let cluster = stage.cluster();
    let resources = || {
        let found = stage.look("Deployment", "api").expect("there");
        let container = found.pointer("/spec/template/spec/containers/0");
        container.expect("it has one")["resources"].clone()
    };
    let before = resources();
    let amounts = |pairs: &[(&str, Option<&str>)]| -> BTreeMap<String, Option<String>> {
        let owned = pairs
            .iter()
            .map(|(name, amount)| ((*name).to_owned(), amount.map(str::to_owned)));
        owned.collect()
    };
    let change = ResourceChange {
        container: String::new(),
        requests: amounts(&[("cpu", Some("200m")), ("ephemeral-storage", Some("1Gi"))]),
        limits: amounts(&[("memory", None)]),
    };
    let planned = cluster.plan_resources(&name, &change).expect("planned");
    let undo = carry_out(cluster, &planned);
    let wanted = json!({ "requests": { "cpu": "200m", "memory": "64Mi", "ephemeral-storage": "1Gi" },
        "limits": { "cpu": "500m" } });
    assert_eq!(resources(), wanted);
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        assert_eq!(resources(), before);
    }
    let above = ResourceChange {
        requests: amounts(&[("cpu", Some("2"))]),
        ..ResourceChange::default()
    };
    let above = cluster.plan_resources(&name, &above).expect("planned");
    fails(
        cluster.carry_out(&above),
        ErrorKind::Refused,
        &["(422)", "must be less than or equal to cpu limit of 500m"],
    );
}

pub(crate) fn what_was_deleted_is_put_back(stage: &dyn Stage) {
    let cluster = stage.cluster();
    let settings = config_map("settings", &json!({ "level": "1" }));
    let plan = || cluster.plan_delete(std::slice::from_ref(&settings), stage.namespace());
    assert_eq!(plan().expect("planned").summary, "nothing to delete");
    stage.put(&settings);
    let undo = carry_out(cluster, &plan().expect("planned"));
    assert_eq!(data(stage, "settings"), None);
    for _ in 0..2 {
        cluster.undo(&undo).expect("taken back");
        assert_eq!(data(stage, "settings"), Some(json!({ "level": "1" })));
    }
}

pub(crate) fn what_somebody_holds_back_is_put_back_when_it_is_gone(stage: &dyn Stage) {
    let cluster = stage.cluster();
    let mut settings = config_map("settings", &json!({ "level": "1" }));
    settings["metadata"]["finalizers"] = json!(["loadline.test/hold"]);
    stage.put(&settings);
    let change = cluster.plan_delete(std::slice::from_ref(&settings), stage.namespace());
    let undo = carry_out(cluster, &change.expect("planned"));
    let uid = |object: &Value| object["metadata"]["uid"].clone();
    let held = stage
        .look("ConfigMap", "settings")
        .expect("it is held back");
    assert!(
        held.pointer("/metadata/deletionTimestamp").is_some(),
        "{held}"
    );
    stage.let_go("ConfigMap", "settings");
    assert_eq!(stage.look("ConfigMap", "settings"), None);
    // What is restored is as it was, and would be held back again.
    cluster.undo(&undo).expect("taken back");
    let there = stage.look("ConfigMap", "settings").expect("there");
    assert_ne!(uid(&there), uid(&held));
    assert_eq!(
        there["metadata"]["finalizers"],
        settings["metadata"]["finalizers"]
    );
    stage.let_go("ConfigMap", "settings");
}

pub(crate) fn a_job_is_put_back_with_pods_of_its_own(stage: &dyn Stage) {
    const UID: &str = "/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid";
    let cluster = stage.cluster();
    let job = |parallelism: u32| {
        json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "fill" },
            "spec": { "parallelism": parallelism, "template": { "metadata": { "labels": { "app": "fill" } },
                "spec": { "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{
                    "name": "main", "image": stage.image(), "command": ["/bin/sh", "-c", "sleep 600"] }] } } } })
    };
    apply(stage, &[job(1)], Conflicts::Refuse);
    let there = || stage.look("Job", "fill").expect("there");
    let first = there();
    let change = cluster.plan_delete(&[job(1)], stage.namespace());
    let undo = carry_out(cluster, &change.expect("planned"));
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
    let undo = apply(stage, &[job(3)], Conflicts::TakeOver);
    assert_eq!(there()["spec"]["parallelism"], 3);
    cluster.undo(&undo).expect("taken back");
    assert_eq!(there()["spec"]["parallelism"], 1);
}
