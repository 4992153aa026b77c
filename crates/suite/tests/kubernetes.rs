//! Suites whose hooks change a cluster, with the real implementation against a fake API server.
//!
//! Must not know how hooks are executed. Invariants: assertions are about the cluster's state; no test waits,
//! since waiting advances the clock, and controllers act then.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_kubernetes::testing::ApiServer;
use loadline_suite::file::{KubernetesTarget, SuiteFile};
use loadline_suite::hooks::{Clock, HttpCall, System, World};
use loadline_suite::plan::{Plan, Surroundings};
use loadline_suite::runner::{
    self, Beat, ExecuteError, Executor, RunFiles, RunOrder, RunSettings, SuiteEnd, SuiteEvent,
};
use loadline_suite::state::{StateFolder, SystemDisk};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Waits after which controllers act.
const WAITS: u32 = 3;

const SUITE: &str = "
name: cluster
target: {kubernetes: {context: shop-test, namespace: shop, service: api, path: /v1}}
prepare:
  - {kubernetes: {apply: manifests.yaml}, wait: {rollout: deployment/cache}}
  - {kubernetes: {delete: configmap/feature}}
defaults: {bench: '-n 100', vus: 5, phases: {smoke: false}}
groups:
  - name: main
    axes: {replicas: [2, 5]}
    before:
      - kubernetes: {scale: deployment/api, replicas: '${axis.replicas}'}
        wait: {replicas: {workload: deployment/api, count: '${axis.replicas}'}}
      - {kubernetes: {restart: deployment/api}, wait: {rollout: deployment/api}}
";

const MANIFESTS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {size: large}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  replicas: 2
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec: {containers: [{name: main, image: 'registry.test/cache:1'}]}
";

/// Time that advances when it is waited for.
struct Waits {
    now: Cell<Duration>,
    count: Cell<u32>,
    /// `None`: controllers never act.
    server: Option<Rc<ApiServer>>,
}

impl Clock for Waits {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn pause(&self, span: Duration) {
        self.now.set(self.now.get() + span);
        self.count.set(self.count.get() + 1);
        if let Some(server) = &self.server
            && self.count.get().is_multiple_of(WAITS)
        {
            server.settle();
        }
    }

    fn should_stop(&self) -> bool {
        false
    }
}

/// What the cluster had when load was to be made.
#[derive(Debug, Default)]
struct Found {
    url: String,
    replicas: Value,
    pods: Vec<String>,
    has_feature: bool,
    size: Value,
    resources: Value,
}

/// Looks at the cluster instead of making load.
struct Looker {
    server: Rc<ApiServer>,
    found: Rc<RefCell<Vec<Found>>>,
    /// The process ends in the middle of this look, from one on.
    dies_at: Option<usize>,
}

impl Executor for Looker {
    fn run(&mut self, order: &RunOrder, _: &mut dyn FnMut(Beat)) -> Result<RunFiles, ExecuteError> {
        let api = self
            .server
            .get("Deployment", "shop", "api")
            .expect("it is there");
        let settings = self
            .server
            .get("ConfigMap", "shop", "settings")
            .expect("it is there");
        self.found.borrow_mut().push(Found {
            url: order.command.last().cloned().unwrap_or_default(),
            replicas: api["spec"]["replicas"].clone(),
            pods: self.server.pod_names("shop"),
            has_feature: self.server.get("ConfigMap", "shop", "feature").is_some(),
            size: settings["data"]["size"].clone(),
            resources: api["spec"]["template"]["spec"]["containers"][0]["resources"].clone(),
        });
        assert!(
            self.dies_at != Some(self.found.borrow().len()),
            "the process is killed"
        );
        Err(ExecuteError {
            why: "only looks".to_owned(),
        })
    }

    fn should_stop(&self) -> bool {
        false
    }
}

/// A cluster, its kubeconfig file, and the folder of a suite.
struct Bench {
    server: Rc<ApiServer>,
    folder: TempDir,
    found: Rc<RefCell<Vec<Found>>>,
    dies_at: Option<usize>,
    only: Option<Vec<usize>>,
    controllers_act: bool,
}

impl Bench {
    /// One replica of `api` behind a service, and two maps; from now on controllers only act during waits.
    fn new() -> Bench {
        let server = ApiServer::start();
        server.deploy("shop", "api", 1);
        server.put(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": "api", "namespace": "shop" },
            "spec": { "selector": { "app": "api" }, "clusterIP": "10.96.0.9",
                "ports": [{ "name": "web", "port": 80, "targetPort": "http", "protocol": "TCP" }] },
        }));
        for (name, data) in [
            ("settings", json!({ "size": "small" })),
            ("feature", json!({ "on": "yes" })),
        ] {
            server.put(json!({ "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": name, "namespace": "shop" }, "data": data }));
        }
        server.hold_still();
        let folder = TempDir::new().expect("a folder can be made");
        std::fs::write(folder.path().join("manifests.yaml"), MANIFESTS).expect("it can be written");
        let bench = Bench {
            server: Rc::new(server),
            folder,
            found: Rc::default(),
            dies_at: None,
            only: None,
            controllers_act: true,
        };
        bench.lead_to(&bench.server);
        bench
    }

    /// Writes the kubeconfig file.
    fn lead_to(&self, server: &ApiServer) {
        std::fs::write(self.kubeconfig(), server.kubeconfig("shop-test"))
            .expect("it can be written");
    }

    fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    fn system(&self) -> System {
        let clock = Waits {
            now: Cell::default(),
            count: Cell::default(),
            server: self.controllers_act.then(|| Rc::clone(&self.server)),
        };
        let system = System::new(Box::new(clock), self.folder.path().to_owned());
        system.with_kubeconfig(self.kubeconfig())
    }

    fn state(&self) -> StateFolder {
        StateFolder::new(self.folder.path().join("s.state"), Arc::new(SystemDisk))
    }

    /// Starts a suite as a process does that knows only what is on the disk.
    fn run(&self, yaml: &str) -> (SuiteEnd, Vec<SuiteEvent>) {
        let plan = plan(yaml).expect("the suite is good");
        let mut executor = Looker {
            server: Rc::clone(&self.server),
            found: Rc::clone(&self.found),
            dies_at: self.dies_at,
        };
        let settings = RunSettings {
            only: self.only.clone(),
            failed_again: false,
            secrets: BTreeMap::new(),
            facts: BTreeMap::new(),
            component_patterns: Vec::new(),
            unix_ms: &|| 1_000,
        };
        let mut events = Vec::new();
        let end = runner::run(
            &plan,
            &self.state(),
            &mut executor,
            &mut self.system(),
            &settings,
            &mut |event| events.push(event),
        );
        (end.expect("the disk is well"), events)
    }

    fn assert_as_before(&self) {
        let (server, data) = (&self.server, |map: &str| {
            let map = self.server.get("ConfigMap", "shop", map);
            map.expect("it is there")["data"].clone()
        });
        server.settle();
        let api = server
            .get("Deployment", "shop", "api")
            .expect("it is there");
        assert_eq!(api["spec"]["replicas"], 1);
        assert_eq!(server.pod_names("shop").len(), 1);
        assert_eq!(server.get("Deployment", "shop", "cache"), None);
        assert_eq!(data("settings"), json!({ "size": "small" }));
        assert_eq!(data("feature"), json!({ "on": "yes" }));
        assert_eq!(self.state().changes().expect("the state can be read"), []);
    }
}

fn plan(yaml: &str) -> Result<Plan, String> {
    let file = SuiteFile::parse("s.yaml", yaml).map_err(|error| error.to_string())?;
    let surroundings = Surroundings {
        read: &|_| Ok(Vec::new()),
        variable: &|_| None,
    };
    Plan::of(&file, &surroundings).map_err(|error| error.to_string())
}

#[test]
fn hooks_change_the_cluster_wait_for_it_and_all_is_taken_back_at_the_end() {
    let bench = Bench::new();
    let first = bench.server.pod_names("shop");
    let (end, events) = bench.run(SUITE);
    assert_eq!(end.problems, Vec::<String>::new(), "{events:?}");
    let found = bench.found.borrow();
    assert_eq!(found.len(), 2, "{events:?}");
    for (found, replicas) in found.iter().zip([2, 5]) {
        assert_eq!(found.url, "http://api.shop.svc:80/v1");
        assert_eq!(found.replicas, replicas);
        let of = |name: &str| {
            let pods = found.pods.iter().filter(|pod| pod.starts_with(name));
            pods.count()
        };
        assert_eq!((of("api-"), of("cache-")), (replicas, 2));
        assert!(!found.has_feature);
        assert_eq!(found.size, "large");
        // They were recreated, so none has an earlier name.
        assert!(!found.pods.contains(&first[0]), "{:?}", found.pods);
    }
    let restored = |event: &&SuiteEvent| matches!(event, SuiteEvent::Restoring { changes: 3 });
    assert_eq!(events.iter().filter(restored).count(), 1, "{events:?}");
    bench.assert_as_before();
}

#[test]
fn what_a_killed_process_left_changed_is_taken_back_by_the_next_start() {
    let killed = Bench {
        dies_at: Some(2),
        ..Bench::new()
    };
    catch_unwind(AssertUnwindSafe(|| killed.run(SUITE))).expect_err("it was killed");
    assert_eq!(
        killed
            .state()
            .changes()
            .expect("the state can be read")
            .len(),
        3
    );
    let api = killed
        .server
        .get("Deployment", "shop", "api")
        .expect("it is there");
    assert_eq!(api["spec"]["replicas"], 5);
    // Nothing has to run: existing changes are only undone.
    let next = Bench {
        dies_at: None,
        only: Some(Vec::new()),
        ..killed
    };
    // Behind the context's name is another cluster by now: it is not touched, and the changes are kept.
    let other = ApiServer::start();
    next.lead_to(&other);
    let (end, _) = next.run(SUITE);
    assert_eq!(end.problems.len(), 3, "{:?}", end.problems);
    assert!(end.problems[0].contains("could not be undone"));
    assert!(other.requests().iter().all(|line| line.starts_with("GET")));
    assert_eq!(
        next.state().changes().expect("the state can be read").len(),
        3
    );
    next.lead_to(&next.server);
    let (end, events) = next.run(SUITE);
    assert_eq!(end.problems, Vec::<String>::new());
    assert_eq!(events[0], SuiteEvent::Restoring { changes: 3 });
    next.assert_as_before();
}

#[test]
fn a_change_that_is_refused_halfway_is_taken_back_as_far_as_it_was_made() {
    let bench = Bench::new();
    // The map of the file is changed, the deployment after it is not made.
    bench.server.forbid("patch", "deployments");
    let (end, events) = bench.run(SUITE);
    assert_eq!(end.problems.len(), 1, "{:?}", end.problems);
    assert!(end.problems[0].contains("forbidden"), "{:?}", end.problems);
    assert!(events.contains(&SuiteEvent::Restoring { changes: 1 }));
    let changed = |line: &&String| line.starts_with("PATCH") && line.contains("/configmaps/");
    assert_eq!(bench.server.requests().iter().filter(changed).count(), 1);
    bench.assert_as_before();
}

#[test]
fn a_wait_in_vain_says_what_the_cluster_has_and_changes_are_taken_back() {
    for (hook, said) in [
        (
            "{kubernetes: {scale: deployment/api, replicas: 4}, \
             wait: {replicas: {workload: deployment/api, count: 4}, timeout: 30s}}",
            "deployment/api does not have 4 replicas",
        ),
        (
            "{kubernetes: {restart: deployment/api}, wait: {rollout: deployment/api, timeout: 30s}}",
            "timed out after 30s",
        ),
        (
            "{kubernetes: {scale: deployment/web, replicas: 4}}",
            "not found",
        ),
        ("{kubernetes: {apply: missing.yaml}}", "missing.yaml"),
    ] {
        let bench = Bench {
            controllers_act: false,
            ..Bench::new()
        };
        let before = SUITE.find("prepare:").expect("it is in the text");
        let after = SUITE.find("defaults:").expect("it is in the text");
        let yaml = format!("{}prepare: [{hook}]\n{}", &SUITE[..before], &SUITE[after..]);
        let (end, _) = bench.run(&yaml);
        assert_eq!(end.problems.len(), 1, "{:?}", end.problems);
        assert!(end.problems[0].contains(said), "{:?}", end.problems);
        assert!(bench.found.borrow().is_empty());
        bench.assert_as_before();
    }
}

#[test]
fn a_cluster_that_is_not_named_is_refused_and_one_that_is_not_known_is_named() {
    let unnamed = "
name: a
target: http://h/
prepare: [{kubernetes: {restart: deployment/api}}]
rows: [{bench: '-n 1'}]
";
    let refused = plan(unnamed).expect_err("no cluster is named");
    assert!(refused.contains("the cluster is not named"), "{refused}");
    let target = unnamed.replace("http://h/", "{kubernetes: {service: api}}");
    let refused = plan(&target).expect_err("no context is given");
    assert!(refused.contains("context"), "{refused}");
    let bench = Bench::new();
    let (end, _) = bench.run(&SUITE.replace("shop-test", "elsewhere"));
    assert_eq!(end.problems.len(), 1, "{:?}", end.problems);
    assert!(end.problems[0].contains("elsewhere"), "{:?}", end.problems);
    assert_eq!(bench.server.requests(), Vec::<String>::new());
    bench.assert_as_before();
}

#[test]
fn requests_and_limits_are_changed_by_rows_and_taken_back() {
    let bench = Bench::new();
    let resources = || {
        let api = bench.server.get("Deployment", "shop", "api");
        let place = "/spec/template/spec/containers/0/resources";
        let api = api.expect("it is there");
        api.pointer(place).expect("it has some").clone()
    };
    let before = resources();
    let yaml = "
name: resources
target: {kubernetes: {context: shop-test, namespace: shop, service: api}}
prepare: [{kubernetes: {resources: deployment/api, container: main, requests: {memory: none}}}]
defaults: {bench: '-n 100', phases: {smoke: false}}
groups:
  - name: main
    axes: {cpu: [250m, '1']}
    before: [{kubernetes: {resources: deployment/api, limits: {cpu: '${axis.cpu}'}}, wait: {rollout: deployment/api}}]
";
    let (end, events) = bench.run(yaml);
    assert_eq!(end.problems, Vec::<String>::new(), "{events:?}");
    let found = bench.found.borrow();
    let seen: Vec<_> = found.iter().map(|found| &found.resources).collect();
    for (seen, cpu) in seen.iter().zip(["250m", "1"]) {
        assert_eq!(seen["limits"]["cpu"], cpu);
        assert_eq!(seen["limits"]["memory"], before["limits"]["memory"]);
        assert_eq!(seen["requests"]["memory"], Value::Null);
    }
    assert_eq!(seen.len(), 2);
    assert!(
        events.contains(&SuiteEvent::Restoring { changes: 2 }),
        "{events:?}"
    );
    assert_eq!(resources(), before);
    bench.assert_as_before();
}

fn target(kind: &str, name: &str) -> KubernetesTarget {
    KubernetesTarget {
        context: "shop-test".to_owned(),
        namespace: "shop".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        port: None,
        port_forward: false,
        scheme: "http".to_owned(),
        path: "/v1".to_owned(),
    }
}

/// Services, ingresses and Knative services, of which some lead nowhere yet.
fn put_targets(server: &ApiServer) {
    let put = |version: &str, kind: &str, name: &str, spec: Value, status: Value| {
        server.put(json!({ "apiVersion": version, "kind": kind,
            "metadata": { "name": name, "namespace": "shop" }, "spec": spec, "status": status }));
    };
    let service = |name, spec, status| put("v1", "Service", name, spec, status);
    let ingress = |name, rules: Value, status| {
        let spec = json!({ "rules": rules });
        put("networking.k8s.io/v1", "Ingress", name, spec, status);
    };
    let knative = |name, status| put("serving.knative.dev/v1", "Service", name, json!({}), status);
    let none = || json!({});
    let balanced = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.7" }] } });
    let ports = json!([{ "port": 8080, "protocol": "TCP" }]);
    let spec = json!({ "type": "LoadBalancer", "ports": ports });
    service("balanced", spec, balanced.clone());
    let spec = json!({ "type": "ExternalName", "externalName": "api.test", "ports": ports });
    service("named", spec, none());
    service("bare", json!({ "selector": { "app": "api" } }), none());
    let hosts = json!([{ "host": "*.test" }, { "host": "shop.test" }]);
    ingress("hosts", hosts, none());
    ingress("addresses", json!([{}]), balanced);
    ingress("waiting", json!([{}]), none());
    let ready = json!([{ "type": "Ready", "status": "True" }]);
    knative(
        "ready",
        json!({ "url": "https://ready.test", "conditions": ready }),
    );
    let failing = json!([{ "type": "Ready", "status": "False", "message": "no image" }]);
    knative("failing", json!({ "conditions": failing }));
}

#[test]
fn the_target_is_found_by_a_service_an_ingress_or_a_knative_service() {
    let bench = Bench::new();
    put_targets(&bench.server);
    let mut world = bench.system();
    for (kind, name, found) in [
        ("service", "api", Ok("http://api.shop.svc:80/v1")),
        ("service", "balanced", Ok("http://192.0.2.7:8080/v1")),
        ("service", "named", Ok("http://api.test:8080/v1")),
        ("service", "bare", Err("has no ports")),
        ("service", "none", Err("not found")),
        ("ingress", "hosts", Ok("http://shop.test/v1")),
        ("ingress", "addresses", Ok("http://192.0.2.7/v1")),
        ("ingress", "waiting", Err("neither a host nor an address")),
        ("kservice", "ready", Ok("https://ready.test/v1")),
        ("kservice", "failing", Err("no image")),
    ] {
        match (world.find_target(&target(kind, name)), found) {
            (Ok(url), Ok(wanted)) => assert_eq!(url, wanted, "{kind} {name}"),
            (Err(why), Err(wanted)) => assert!(why.contains(wanted), "{kind} {name}: {why}"),
            (other, _) => panic!("{kind} {name}: {other:?}"),
        }
    }
    let secure = KubernetesTarget {
        scheme: "https".to_owned(),
        port: Some(8443),
        ..target("ingress", "hosts")
    };
    let url = world.find_target(&secure);
    assert_eq!(url, Ok("https://shop.test:8443/v1".to_owned()));
}

/// Answers every request with its first line.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection comes");
            let mut asked = Vec::new();
            let mut chunk = [0; 1024];
            while !asked.ends_with(b"\r\n\r\n") {
                match socket.read(&mut chunk) {
                    Ok(length @ 1..) => asked.extend_from_slice(&chunk[..length]),
                    _ => break,
                }
            }
            let asked = String::from_utf8_lossy(&asked).into_owned();
            let line = asked.lines().next().unwrap_or_default();
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}",
                line.len()
            );
            // The first connection is only tried.
            let _ = write!(socket, "{head}\r\n\r\n{line}");
        }
    });
    address
}

#[test]
fn a_forwarded_port_leads_to_a_pod_of_the_service() {
    let bench = Bench::new();
    let pod = bench.server.pod_names("shop").remove(0);
    // The service's port 80 is the pod's 8080.
    bench.server.listen_at(&pod, 8080, echo());
    let mut world = bench.system();
    let url = world.find_target(&KubernetesTarget {
        port_forward: true,
        ..target("service", "api")
    });
    let url = url.expect("a port can be forwarded");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let answer = world.http(&HttpCall::get(&url, None), Duration::from_secs(20));
    assert_eq!(answer.expect("the pod answers").body, "GET /v1 HTTP/1.1");
    assert_eq!(world.target_troubles(), [""; 0]);
    bench.server.change("Pod", "shop", &pod, |pod| {
        pod["status"]["conditions"] = json!([]);
    });
    let answer = world.http(&HttpCall::get(&url, None), Duration::from_secs(20));
    assert!(answer.is_err(), "{answer:?}");
    let troubles = world.target_troubles();
    assert!(
        troubles.len() == 1 && troubles[0].contains("no ready pod"),
        "{troubles:?}"
    );
}
