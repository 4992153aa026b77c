//! What runs and what it uses, read over the wire.
//!
//! Must not know the stand-in's internals. Invariant: what is read is what was stored.

use std::time::Duration;

use serde_json::json;

use crate::testing::ApiServer;
use crate::{ErrorKind, Phase, Quantity, Selector, UsageSource, WorkloadName};

#[test]
fn pods_are_found_by_labels_and_fields() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 2);
    server.deploy("shop", "worker", 1);
    let cluster = server.cluster();
    let count = |selector: Selector| cluster.pods("shop", &selector).expect("readable").len();
    assert_eq!(count(Selector::all()), 3);
    assert_eq!(count(Selector::labels("app=api")), 2);
    assert_eq!(
        count(Selector::labels("app in (api, worker),app!=worker")),
        2
    );
    assert_eq!(count(Selector::all().and_fields("spec.nodeName=node-2")), 0);
    let pods = cluster
        .pods("shop", &Selector::labels("app=worker"))
        .expect("readable");
    let pod = pods.first().expect("one");
    assert_eq!(
        (pod.phase, pod.is_ready, pod.node.as_deref()),
        (Phase::Running, true, Some("node-1"))
    );
    let main = pod.container("main").expect("it has one");
    assert_eq!(main.cpu_limit.map(Quantity::as_f64), Some(0.5));
    assert_eq!(
        main.memory_request.and_then(Quantity::as_u64),
        Some(64 << 20)
    );
}

#[test]
fn long_lists_come_in_pages() {
    let server = ApiServer::start();
    for index in 0..1100 {
        let name = format!("c{index:04}");
        server.put(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "shop" } }));
    }
    let pods = server
        .cluster()
        .pods("", &Selector::all())
        .expect("readable");
    assert_eq!(pods.len(), 1100);
    assert_eq!(pods.last().map(|pod| pod.name.as_str()), Some("c1099"));
    let pages = server
        .requests()
        .iter()
        .filter(|line| line.contains("limit=500"))
        .count();
    assert_eq!(pages, 3);
}

#[test]
fn a_restart_and_an_eviction_show_in_the_pod() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let name = server.pod_names("shop").pop().expect("a pod");
    server.restart_container("shop", &name, "main", "OOMKilled");
    let cluster = server.cluster();
    let pod = cluster.pod("shop", &name).expect("readable");
    let main = pod.container("main").expect("it has one");
    assert_eq!(main.restarts, 1);
    assert!(
        main.last_end
            .as_ref()
            .is_some_and(|end| end.is_oom() && end.exit_code == 137)
    );
    server.change("Pod", "shop", &name, |pod| {
        pod["status"] = json!({ "phase": "Failed", "reason": "Evicted", "message": "The node was low on memory." });
    });
    assert!(cluster.pod("shop", &name).expect("readable").is_evicted());
}

#[test]
fn workloads_services_and_nodes_are_read() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 2);
    server.put(json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "api", "namespace": "shop" },
        "spec": { "clusterIP": "10.96.0.7", "ports": [{ "port": 80, "targetPort": "http" }] } }));
    server.put(json!({ "apiVersion": "serving.knative.dev/v1", "kind": "Service",
        "metadata": { "name": "fn", "namespace": "shop" }, "status": { "url": "http://fn.shop.test" } }));
    server.put(json!({ "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": { "name": "web", "namespace": "shop" }, "spec": { "rules": [{ "host": "shop.test" }] },
        "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.9" }] } } }));
    server.put(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" },
        "status": { "allocatable": { "cpu": "3920m" }, "conditions": [{ "type": "Ready", "status": "True" }] } }));
    let cluster = server.cluster();
    let api = cluster
        .workload(&WorkloadName::parse("api", "shop").expect("a name"))
        .expect("readable");
    assert!(api.is_scaled_to(2) && api.containers == ["main"] && api.selector == "app=api");
    assert_eq!(
        cluster
            .service("shop", "api")
            .expect("readable")
            .cluster_ip
            .as_deref(),
        Some("10.96.0.7")
    );
    assert_eq!(
        cluster
            .knative_service("shop", "fn")
            .expect("readable")
            .url
            .as_deref(),
        Some("http://fn.shop.test")
    );
    assert_eq!(
        cluster.ingress("shop", "web").expect("readable").addresses,
        ["192.0.2.9"]
    );
    let nodes = cluster.nodes(&Selector::all()).expect("readable");
    assert_eq!(
        nodes
            .first()
            .and_then(|node| node.cpu_allocatable)
            .map(Quantity::as_f64),
        Some(3.92)
    );
}

#[test]
fn usage_comes_from_the_metrics_api() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 2);
    let names = server.pod_names("shop");
    server.set_usage("shop", &names[0], "main", "123456789n", "104857600");
    let usage = server
        .cluster()
        .pod_usage("shop", &Selector::labels("app=api"))
        .expect("readable");
    assert_eq!(usage.source, UsageSource::MetricsApi);
    let [pod] = usage.items.as_slice() else {
        panic!("one was measured: {usage:?}");
    };
    assert_eq!(
        (pod.name.as_str(), pod.window),
        (names[0].as_str(), Some(Duration::from_secs_f64(15.12)))
    );
    assert_eq!(
        (pod.cpu_cores(), pod.memory_bytes()),
        (Some(0.123_456_789), Some(100 << 20))
    );
    assert!(pod.at_unix_ns.is_some());
    let elsewhere = Selector::all().and_fields(&format!("metadata.name={}", names[1]));
    let usage = server
        .cluster()
        .pod_usage("shop", &elsewhere)
        .expect("readable");
    assert!(
        usage.items.is_empty(),
        "the other pod was not measured: {usage:?}"
    );
}

#[test]
fn without_a_metrics_api_the_kubelets_are_asked() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    server.deploy("shop", "worker", 1);
    server.put(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" } }));
    for pod in server.pod_names("shop") {
        server.set_usage("shop", &pod, "main", "250m", "32Mi");
    }
    server.without_metrics_api();
    let cluster = server.cluster();
    let usage = cluster
        .pod_usage("shop", &Selector::labels("app=api"))
        .expect("readable");
    assert_eq!(
        (usage.source, usage.items.len()),
        (UsageSource::KubeletSummary, 1)
    );
    assert_eq!(usage.items[0].cpu_cores(), Some(0.25));
    assert_eq!(usage.items[0].memory_bytes(), Some(32 << 20));
    let nodes = cluster.node_usage(&Selector::all()).expect("readable");
    assert_eq!(nodes.items[0].memory_bytes, Some(1 << 30));
    server.forbid("get", "nodes/proxy");
    let error = cluster
        .pod_usage("shop", &Selector::all())
        .expect_err("forbidden");
    assert!(
        error.kind() == ErrorKind::Forbidden && error.to_string().contains("nodes/proxy"),
        "{error}"
    );
}

#[test]
fn a_node_that_does_not_answer_is_told_beside_the_others() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 2);
    server.put(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" } }));
    let names = server.pod_names("shop");
    for pod in &names {
        server.set_usage("shop", pod, "main", "1", "1Mi");
    }
    server.change("Pod", "shop", &names[1], |pod| {
        pod["spec"]["nodeName"] = "gone".into();
    });
    server.without_metrics_api();
    let usage = server
        .cluster()
        .pod_usage("shop", &Selector::all())
        .expect("readable");
    assert_eq!(
        (usage.items.len(), usage.troubles.len()),
        (1, 1),
        "{usage:?}"
    );
    assert!(usage.troubles[0].contains("gone"), "{usage:?}");
}
