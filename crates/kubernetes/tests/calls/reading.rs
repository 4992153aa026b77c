//! What runs in a cluster.
//!
//! Must not know which server responds. Invariant: what is read is what was stored.

use loadline_kubernetes::{
    Conflicts, Error, ErrorKind, Phase, Quantity, Rollout, Selector, WorkloadName,
};
use serde_json::{Value, json};

use super::{Stage, apply, deployed, fails};

pub(crate) fn a_version_is_told(stage: &dyn Stage) {
    let version = stage.cluster().version().expect("it answers");
    assert!(version.starts_with("v1."), "{version}");
}

pub(crate) fn pods_of_a_workload_are_read(stage: &dyn Stage) {
    let name = deployed(stage, "api", 2);
    let cluster = stage.cluster();
    let workload = cluster.workload(&name).expect("readable");
    assert!(workload.selector == "app=api" && workload.containers == ["main"]);
    assert_eq!(workload.rollout(), Rollout::Complete);
    let pods = cluster
        .pods(stage.namespace(), &Selector::labels("app=api"))
        .expect("readable");
    assert_eq!(pods.len(), 2);
    for pod in &pods {
        assert!(pod.is_ready && pod.phase == Phase::Running && pod.node.is_some());
        let owner = pod.owner.as_ref().expect("it is kept");
        assert!(
            owner.kind == "ReplicaSet" && pod.name.starts_with(&owner.name),
            "{owner:?}"
        );
        assert!(pod.labels.contains_key("pod-template-hash"), "{pod:?}");
        let main = pod.container("main").expect("it has one");
        assert!(main.is_running && main.restarts == 0);
        assert_eq!(main.cpu_limit.map(Quantity::as_f64), Some(0.5));
        assert_eq!(main.ports, [("http".to_owned(), 8080)]);
        let alone = cluster.pod(stage.namespace(), &pod.name).expect("readable");
        assert_eq!(alone.uid, pod.uid);
    }
}

pub(crate) fn pods_are_selected(stage: &dyn Stage) {
    deployed(stage, "api", 2);
    deployed(stage, "web", 1);
    let found = |selector: &Selector| stage.cluster().pods(stage.namespace(), selector);
    let count = |selector: Selector| found(&selector).expect("readable").len();
    for (labels, wanted) in [
        ("app=api", 2),
        ("app==web", 1),
        ("app!=api", 1),
        ("app in (api, web)", 3),
        ("app notin (api),app", 1),
        ("!app", 0),
        ("other", 0),
    ] {
        assert_eq!(count(Selector::labels(labels)), wanted, "{labels}");
    }
    for (fields, wanted) in [
        ("status.phase=Running", 3),
        ("status.phase!=Running", 0),
        ("spec.nodeName=nowhere", 0),
        ("metadata.name=none", 0),
    ] {
        assert_eq!(
            count(Selector::all().and_fields(fields)),
            wanted,
            "{fields}"
        );
    }
    let fields = Selector::all().and_fields("spec.priority=1");
    fails(
        found(&fields),
        ErrorKind::Refused,
        &["(400)", "field label not supported: spec.priority"],
    );
    for wrong in ["app in api", "a b"] {
        let words = ["(400)", "unable to parse requirement"];
        fails(found(&Selector::labels(wrong)), ErrorKind::Refused, &words);
    }
    let elsewhere = stage.cluster().pods("nowhere", &Selector::all());
    assert!(elsewhere.expect("it is listed").is_empty());
}

pub(crate) fn what_is_not_there_is_told(stage: &dyn Stage) {
    let (cluster, namespace) = (stage.cluster(), stage.namespace());
    let told = |what: &str, result: Result<(), Error>| {
        let said = format!("{what} \\\"none\\\" not found");
        fails(result, ErrorKind::NotFound, &["(404)", &said]);
    };
    let none = WorkloadName::parse("none", namespace).expect("a name");
    told("pods", cluster.pod(namespace, "none").map(drop));
    told("deployments.apps", cluster.workload(&none).map(drop));
    told("services", cluster.service(namespace, "none").map(drop));
    told(
        "ingresses.networking.k8s.io",
        cluster.ingress(namespace, "none").map(drop),
    );
    told("deployments.apps", cluster.plan_scale(&none, 1).map(drop));
    told("deployments.apps", cluster.plan_restart(&none).map(drop));
    // Its definition need not be installed.
    let knative = cluster.knative_service(namespace, "none");
    fails(knative, ErrorKind::NotFound, &["(404)"]);
}

pub(crate) fn a_service_gets_an_address(stage: &dyn Stage) {
    let service = |name: &str, spec: Value| {
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name },
            "spec": spec })
    };
    let ports = json!([{ "name": "web", "port": 80, "targetPort": "http" }]);
    let objects = [
        service(
            "plain",
            json!({ "selector": { "app": "api" }, "ports": ports }),
        ),
        service(
            "none",
            json!({ "clusterIP": "None", "selector": { "app": "api" }, "ports": ports }),
        ),
    ];
    apply(stage, &objects, Conflicts::Refuse);
    let read = |name: &str| {
        let found = stage.cluster().service(stage.namespace(), name);
        found.expect("readable")
    };
    let plain = read("plain");
    let address = plain.cluster_ip.as_deref().expect("it has one");
    assert!(address.parse::<std::net::IpAddr>().is_ok(), "{address}");
    let port = plain.port(Some("web")).expect("it has one");
    assert_eq!((port.port, port.target.as_str()), (80, "http"));
    assert_eq!(read("none").cluster_ip, None);
}

pub(crate) fn tests_are_read(stage: &dyn Stage) {
    stage.define_tests();
    let test = |name: &str, parallelism: u32| {
        let script = json!({ "configMap": { "name": "s", "file": "test.js" } });
        json!({ "apiVersion": "k6.io/v1alpha1", "kind": "TestRun", "metadata": { "name": name },
            "spec": { "parallelism": parallelism, "script": script } })
    };
    let (cluster, namespace) = (stage.cluster(), stage.namespace());
    let undo = apply(stage, &[test("one", 2)], Conflicts::Refuse);
    apply(stage, &[test("other", 2)], Conflicts::Refuse);
    let one = cluster.find_test(namespace, "one").expect("readable");
    assert_eq!(
        (one.stage.as_str(), one.result, one.exit_code),
        ("", None, None)
    );
    assert!(one.made_unix_ns.is_some());
    let names = || {
        // Kinds that are not installed are none to read.
        let (tests, missing) = cluster.tests(namespace).expect("readable");
        assert_eq!(missing, []);
        let mut names: Vec<String> = tests.into_iter().map(|test| test.name).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["one", "other"]);
    let more = apply(stage, &[test("one", 3)], Conflicts::Refuse);
    let parallelism = || {
        let found = stage.look("TestRun", "one").expect("there");
        found["spec"]["parallelism"].clone()
    };
    assert_eq!(parallelism(), 3);
    cluster.undo(&more).expect("taken back");
    assert_eq!(parallelism(), 2);
    cluster.undo(&undo).expect("taken back");
    assert_eq!(names(), ["other"]);
    fails(
        cluster.find_test(namespace, "one"),
        ErrorKind::NotFound,
        &["(404)", "testruns.k6.io \\\"one\\\" not found"],
    );
}

pub(crate) fn long_lists_come_whole(stage: &dyn Stage) {
    const COUNT: usize = 520;
    let pods: Vec<_> = (0..COUNT)
        .map(|index| {
            // Nobody schedules it.
            json!({ "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": format!("p{index:03}"), "labels": { "many": "yes" } },
                "spec": { "schedulingGates": [{ "name": "loadline.test/never" }],
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{ "name": "main", "image": stage.image() }] } })
        })
        .collect();
    apply(stage, &pods, Conflicts::Refuse);
    let pods = stage
        .cluster()
        .pods(stage.namespace(), &Selector::labels("many=yes"))
        .expect("readable");
    assert_eq!(pods.len(), COUNT);
    assert!(
        pods.iter()
            .all(|pod| pod.phase == Phase::Pending && !pod.is_ready)
    );
    assert!(pods.iter().all(|pod| pod.node.is_none()));
}
