//! Observers of a cluster, on their threads, against a fake API server.
//!
//! Must not know how a read works. Invariant: assertions use what a run would receive, and every wait is
//! bounded.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use loadline_kubernetes::testing::ApiServer;
use loadline_model::observation::{
    EVICTION_NOTE, GAP_NOTE, OOM_NOTE, Observed, RESTART_NOTE, Reading, Remark, TOTAL_COMPONENT,
};
use loadline_observe::{
    Clock, ObserveError, ObserverSetup, ObserverSpec, ObserverSpecs, Observers, SystemClock,
};
use serde_json::json;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);
/// The common settings of every observer: where, and how often.
const WHERE: &str = "context=stand-in;namespace=shop;interval=100ms;required=true";
const MIB: f64 = 1_048_576.0;

/// A cluster, and its kubeconfig file.
struct Place {
    server: ApiServer,
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let (server, folder) = (
            ApiServer::start(),
            TempDir::new().expect("a folder can be made"),
        );
        let place = Place { server, folder };
        std::fs::write(place.file(), place.server.kubeconfig("stand-in"))
            .expect("it can be written");
        place
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    fn start(&self, lines: &[&str]) -> Result<Watching, ObserveError> {
        let specs = lines
            .iter()
            .flat_map(|line| ObserverSpec::parse(line).expect(line));
        let specs = ObserverSpecs::new(specs.collect())
            .expect("names differ")
            .into_vec();
        let setup = ObserverSetup {
            kubeconfig: Some(self.file()),
            ..ObserverSetup::of_this_process(Duration::ZERO)
        };
        let (sender, receiver) = sync_channel(100_000);
        let observers = Observers::start(&specs, &setup, &sender)?;
        Ok(Watching {
            observers,
            receiver,
            seen: Vec::new(),
        })
    }

    /// Two pods with a service and a proxy before it, whose memory has no limit.
    fn deploy_pairs(&self) -> Vec<String> {
        let container = |name: &str, limits| {
            json!({ "name": name, "image": "registry.test/api:1",
                "resources": { "requests": { "cpu": "100m", "memory": "64Mi" }, "limits": limits } })
        };
        let main = container("main", json!({ "cpu": "500m", "memory": "128Mi" }));
        let proxy = container("proxy", json!({ "cpu": "500m" }));
        self.server.put(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "api", "namespace": "shop" },
            "spec": { "replicas": 2, "selector": { "matchLabels": { "app": "api" } },
                "template": { "metadata": { "labels": { "app": "api" } }, "spec": { "containers": [main, proxy] } } },
        }));
        let pods = self.server.pod_names("shop");
        for pod in &pods {
            self.server.set_usage("shop", pod, "main", "300m", "32Mi");
            self.server.set_usage("shop", pod, "proxy", "100m", "32Mi");
        }
        pods
    }

    fn put_node(&self, name: &str, zone: &str) {
        self.server.put(json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { "zone": zone } },
            "status": { "capacity": { "cpu": "4", "memory": "8Gi", "pods": "110" },
                "allocatable": { "cpu": "3500m", "memory": "6Gi", "pods": "110" } },
        }));
    }
}

/// Running observers, and what they reported.
struct Watching {
    observers: Observers,
    receiver: Receiver<Observed>,
    seen: Vec<Observed>,
}

impl Watching {
    /// Takes what comes until something that is meant does.
    fn until(&mut self, what: &str, is_meant: impl Fn(&Observed) -> bool) -> Observed {
        let clock = SystemClock::start();
        let end = clock.unix_ns() + PATIENCE.as_secs() * 1_000_000_000;
        loop {
            // Looks go on, whether what is meant comes or not.
            assert!(clock.unix_ns() < end, "{what} does not come");
            let next = self.receiver.recv_timeout(PATIENCE);
            let next = next.unwrap_or_else(|_| panic!("{what} does not come: {:?}", self.seen));
            self.seen.push(next.clone());
            if is_meant(&next) {
                return next;
            }
        }
    }

    fn until_value(&mut self, component: &str, metric: &str, value: f64) {
        self.until(&format!("{component} {metric} {value}"), |observed| {
            is_of(observed, component, metric).is_some_and(|reading| reading.value == value)
        });
    }

    fn until_remark(&mut self, kind: &str, text: &str) -> Remark {
        let found = self.until(text, |observed| match observed {
            Observed::Remark(remark) => remark.kind == kind && remark.text.contains(text),
            _ => false,
        });
        match found {
            Observed::Remark(remark) => remark,
            other => panic!("{other:?}"),
        }
    }

    /// The last reading so far.
    fn last(&self, component: &str, metric: &str) -> Option<&Reading> {
        let mut of = self.seen.iter().rev();
        of.find_map(|observed| is_of(observed, component, metric))
    }

    fn value(&self, component: &str, metric: &str) -> Option<f64> {
        self.last(component, metric).map(|reading| reading.value)
    }
}

fn is_of<'a>(observed: &'a Observed, component: &str, metric: &str) -> Option<&'a Reading> {
    match observed {
        Observed::Reading(reading)
            if &*reading.series.component == component && &*reading.series.metric == metric =>
        {
            Some(reading)
        }
        _ => None,
    }
}

#[test]
fn pods_containers_and_all_of_them_are_read_with_requests_limits_and_shares() {
    let place = Place::new();
    let pods = place.deploy_pairs();
    place.server.deploy("shop", "other", 1);
    let mut watching = place.start(&[&format!("pod:app=api;{WHERE}")]).unwrap();
    // It is the last of a look.
    watching.until_value(&format!("{}/proxy", pods[1]), "memory_bytes", 32.0 * MIB);
    let close = |component: &str, metric: &str, wanted: f64| {
        let value = watching.value(component, metric).expect(metric);
        assert!(
            (value - wanted).abs() < 1e-9,
            "{component} {metric}: {value} is not {wanted}"
        );
    };
    close(TOTAL_COMPONENT, "replicas", 2.0);
    close(TOTAL_COMPONENT, "pods", 2.0);
    close(TOTAL_COMPONENT, "cpu_cores", 0.8);
    close(TOTAL_COMPONENT, "cpu_limit_cores", 2.0);
    close(TOTAL_COMPONENT, "cpu_of_limit_ratio", 0.4);
    close(TOTAL_COMPONENT, "memory_of_request_ratio", 0.5);
    let limit = watching.value(TOTAL_COMPONENT, "memory_limit_bytes");
    assert_eq!(limit, None);
    for pod in &pods {
        close(pod, "cpu_cores", 0.4);
        close(pod, "cpu_request_cores", 0.2);
        close(pod, "cpu_limit_cores", 1.0);
        close(pod, "cpu_of_request_ratio", 2.0);
        close(pod, "cpu_of_limit_ratio", 0.4);
        close(pod, "memory_bytes", 64.0 * MIB);
        close(pod, "memory_of_request_ratio", 0.5);
        // One container may use all that there is, so the pod has no limit.
        assert_eq!(watching.value(pod, "memory_limit_bytes"), None);
        assert_eq!(watching.value(pod, "memory_of_limit_ratio"), None);
        let main = format!("{pod}/main");
        close(&main, "cpu_of_limit_ratio", 0.6);
        close(&main, "memory_limit_bytes", 128.0 * MIB);
        close(&main, "memory_of_limit_ratio", 0.25);
        close(&format!("{pod}/proxy"), "cpu_cores", 0.1);
    }
    // What was measured has the cluster's time, which is not ours.
    let measured = watching.last(&pods[0], "cpu_cores").unwrap().at_unix_ns;
    let created = place.server.get("Pod", "shop", &pods[0]).unwrap();
    let created = created["metadata"]["creationTimestamp"].as_str().unwrap();
    let created = loadline_kubernetes::time::parse(created).unwrap();
    assert!((created..created + 3_600_000_000_000).contains(&measured));
    assert!(watching.value("other", "cpu_cores").is_none());
    watching.observers.stop();
}

#[test]
fn a_pod_that_was_not_measured_yet_is_no_zero_in_the_total() {
    let place = Place::new();
    place.deploy_pairs();
    let mut watching = place.start(&[&format!("pod:app=api;{WHERE}")]).unwrap();
    watching.until_value(TOTAL_COMPONENT, "memory_bytes", 128.0 * MIB);
    place.server.change("Deployment", "shop", "api", |api| {
        api["spec"]["replicas"] = 3.into();
    });
    place.server.settle();
    watching.until_value(TOTAL_COMPONENT, "pods", 3.0);
    watching.seen.clear();
    watching.until_value(TOTAL_COMPONENT, "pods", 3.0);
    watching.until_value(TOTAL_COMPONENT, "pods", 3.0);
    assert_eq!(watching.value(TOTAL_COMPONENT, "cpu_cores"), None);
    for pod in place.server.pod_names("shop") {
        place.server.set_usage("shop", &pod, "main", "1", "32Mi");
        place.server.set_usage("shop", &pod, "proxy", "1", "32Mi");
    }
    watching.until_value(TOTAL_COMPONENT, "memory_bytes", 192.0 * MIB);
    watching.observers.stop();
}

#[test]
fn restarts_kills_and_evictions_are_told_of_the_pod_that_they_happened_to() {
    let place = Place::new();
    let pods = place.deploy_pairs();
    let mut watching = place.start(&[&format!("pod:app=api;{WHERE}")]).unwrap();
    watching.until_value(TOTAL_COMPONENT, "pods", 2.0);
    assert_eq!(watching.value(&pods[0], "restarts"), None);
    place
        .server
        .restart_container("shop", &pods[0], "main", "OOMKilled");
    let restart = watching.until_remark(RESTART_NOTE, "main");
    assert_eq!(&*restart.component, pods[0]);
    assert!(restart.text.contains("OOMKilled"), "{}", restart.text);
    let kill = watching.until_remark(OOM_NOTE, "main");
    assert_eq!(&*kill.component, pods[0]);
    watching.until_value(&pods[0], "oom_kills", 1.0);
    assert_eq!(watching.value(&pods[0], "restarts"), Some(1.0));
    place
        .server
        .restart_container("shop", &pods[1], "proxy", "Error");
    watching.until_remark(RESTART_NOTE, "container proxy restarted (1×): Error");
    watching.until_value(&pods[1], "restarts", 1.0);
    assert_eq!(watching.value(&pods[1], "oom_kills"), Some(0.0));
    place.server.change("Pod", "shop", &pods[1], |pod| {
        pod["status"]["phase"] = "Failed".into();
        pod["status"]["reason"] = "Evicted".into();
        pod["status"]["message"] = "The node was low on resource: memory.".into();
    });
    let evicted = watching.until_remark(EVICTION_NOTE, "low on resource: memory");
    assert_eq!(&*evicted.component, pods[1]);
    watching.until_value(TOTAL_COMPONENT, "pods", 1.0);
    watching.until_value(TOTAL_COMPONENT, "pods", 1.0);
    for (kind, times) in [(RESTART_NOTE, 2), (OOM_NOTE, 1), (EVICTION_NOTE, 1)] {
        let of_kind = |observed: &&Observed| matches!(observed, Observed::Remark(remark) if remark.kind == kind);
        assert_eq!(
            watching.seen.iter().filter(of_kind).count(),
            times,
            "{kind}"
        );
    }
    watching.observers.stop();
}

#[test]
fn nodes_are_read_by_their_labels_and_tell_of_pods_where_there_is_no_metrics_api() {
    let place = Place::new();
    place.put_node("node-1", "a");
    place.put_node("node-2", "b");
    let node = "node:zone=a;context=stand-in;interval=100ms;required=true";
    let mut watching = place.start(&[node]).unwrap();
    watching.until_value("node-1", "memory_bytes", 1024.0 * MIB);
    assert_eq!(watching.value("node-1", "cpu_cores"), Some(0.25));
    assert_eq!(watching.value("node-1", "cpu_limit_cores"), Some(3.5));
    assert_eq!(
        watching.value("node-1", "memory_limit_bytes"),
        Some(6144.0 * MIB)
    );
    assert_eq!(watching.value("node-2", "cpu_limit_cores"), None);
    watching.observers.stop();
    let nowhere = place.start(&[&node.replace("zone=a", "zone=c")]);
    let refused = nowhere.err().expect("no node is there").to_string();
    assert!(refused.contains("no node has these labels"), "{refused}");

    let pods = place.deploy_pairs();
    place.server.without_metrics_api();
    let mut watching = place
        .start(&[&format!("pod:app=api;{WHERE}"), node])
        .unwrap();
    watching.until_value(TOTAL_COMPONENT, "memory_bytes", 128.0 * MIB);
    watching.until_value(&pods[0], "cpu_cores", 0.4);
    watching.until_value("node-1", "cpu_cores", 0.25);
    watching.observers.stop();
}

#[test]
fn replicas_are_read_while_a_deployment_is_scaled() {
    let place = Place::new();
    place.server.deploy("shop", "api", 1);
    let spec = format!("scale=replicas:deployment/api;{WHERE}");
    let mut watching = place.start(&[&spec]).unwrap();
    watching.until_value("scale", "replicas_existing", 1.0);
    assert_eq!(watching.value("scale", "replicas"), Some(1.0));
    assert_eq!(watching.value("scale", "replicas_wanted"), Some(1.0));
    place.server.change("Deployment", "shop", "api", |api| {
        api["spec"]["replicas"] = 3.into();
    });
    watching.until_value("scale", "replicas_wanted", 3.0);
    assert_eq!(watching.value("scale", "replicas"), Some(1.0));
    place.server.settle();
    watching.until_value("scale", "replicas", 3.0);
    watching.until_value("scale", "replicas_existing", 3.0);
    watching.observers.stop();
}

#[test]
fn lines_of_pods_are_counted_from_now_on_or_from_their_beginning() {
    let place = Place::new();
    let pods = place.deploy_pairs();
    place
        .server
        .print("shop", &pods[0], "main", "order 1 took 5 ms");
    let log = format!("log:pod:app=api;container=main;match=took ([0-9]+) ms;{WHERE}");
    let lines = [format!("new={log}"), format!("all={log};from_start=true")];
    let mut watching = place.start(&[&lines[0], &lines[1]]).unwrap();
    let asked = || {
        let requests = place.server.requests();
        requests
            .iter()
            .filter(|line| line.contains("/log?"))
            .count()
    };
    // Both observers follow both pods; each look hands something on.
    watching.until("the last of four logs", |_| asked() == 4);
    place
        .server
        .print("shop", &pods[0], "main", "order 2 took 30 ms");
    place
        .server
        .print("shop", &pods[0], "main", "order 3 is lost");
    place
        .server
        .print("shop", &pods[0], "proxy", "order 2 took 31 ms");
    place
        .server
        .print("shop", &pods[1], "main", "order 4 took 12 ms");
    watching.until_value("new", "sum", 42.0);
    watching.until_value("all", "sum", 47.0);
    assert_eq!(watching.value("new", "count"), Some(2.0));
    assert_eq!(watching.value("all", "count"), Some(3.0));
    watching.observers.stop();
}

#[test]
fn a_context_that_is_not_there_is_named_and_the_current_one_is_read_without_a_name() {
    let place = Place::new();
    place.server.deploy("shop", "api", 2);
    let refused = place.start(&["replicas:deployment/api;context=elsewhere;required=true"]);
    let refused = refused.err().expect("there is no such context").to_string();
    assert!(refused.contains("elsewhere"), "{refused}");
    let refused = place.start(&["replicas:deployment/web;required=true"]);
    let refused = refused
        .err()
        .expect("there is no such workload")
        .to_string();
    assert!(refused.contains("web"), "{refused}");
    let mut watching = place
        .start(&["replicas:deployment/api;interval=100ms;required=true"])
        .unwrap();
    watching.until_value("replicas", "replicas", 2.0);
    watching.observers.stop();
}

#[test]
fn what_the_cluster_forbids_is_a_gap_and_never_a_zero() {
    let place = Place::new();
    place.deploy_pairs();
    let spec = "pod:app=api;context=stand-in;namespace=shop;interval=100ms";
    let mut watching = place.start(&[spec]).unwrap();
    watching.until_value(TOTAL_COMPONENT, "pods", 2.0);
    place.server.forbid("list", "pods");
    let gap = watching.until_remark(GAP_NOTE, "forbidden");
    assert!(gap.text.contains("cannot be read"), "{}", gap.text);
    assert!(watching.seen.iter().all(|observed| {
        is_of(observed, TOTAL_COMPONENT, "pods").is_none_or(|reading| reading.value == 2.0)
    }));
    watching.observers.stop();
}
