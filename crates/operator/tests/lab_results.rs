//! What is left of a test against a real API server: figures, the whole result, and both where somebody stopped it.
//!
//! They want what `lab_operator` wants, and `LOADLINE_BIN`. Must not know the operator's parts. Invariant: what is claimed is read from
//! the API, or by the command that users read it with.

#![expect(clippy::disallowed_methods, reason = "a real cluster takes real time")]

#[expect(dead_code, reason = "the other suites use all of it")]
mod lab;
#[path = "lab/page.rs"]
mod page;
#[path = "lab/request.rs"]
mod request;
#[path = "lab/store.rs"]
mod store;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use lab::{Lab, Service, k8s, k8s_with, kubectl, until};
use store::Store;

/// A script that asks a service for so long.
fn asking(url: &str, vus: u32, duration: &str) -> String {
    format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: {vus}, duration: '{duration}',
            thresholds: {{ http_req_failed: ['rate==0'], iterations: ['count>1000000'] }} }};
        export default function () {{ http.get('{url}'); sleep(0.05); }}"
    )
}

/// `loadline k8s`; gives standard output.
fn told_by(lab: &Lab, action: &str, words: &[&str]) -> String {
    let output = k8s(lab, action, words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{action} {words:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The JSON result and the report in a folder.
fn files(folder: &Path) -> (Value, String) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let result = serde_json::from_str(&read("result.json")).expect("JSON");
    (result, read("report.html"))
}

/// The ConfigMap of the test `f` is its own, and what is in it is what was measured.
fn the_whole_is_fetched(lab: &Lab, status: &Value, asked: &Value) {
    let map = status["results"]["configMap"].as_str().expect("a name");
    let owner = lab.get(&format!("configmap/{map}"))["metadata"]["ownerReferences"][0].clone();
    assert_eq!(owner["name"], "f");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy();
    told_by(lab, "results", &["--out", &out, "f"]);
    let (result, page) = files(folder.path());
    assert_eq!(result["totals"]["seen"]["counts"]["started"], *asked);
    assert!(page.contains("<html") && page.contains("iterations"));
}

#[test]
#[ignore = "needs a cluster"]
fn figures_and_the_whole_result_are_left() {
    let (lab, service) = (Lab::begun("figures"), Service::start());
    lab.run(
        "f",
        &asking(&service.url, 4, "2s"),
        &json!({"parallelism": 4}),
    );
    let status = lab.wait("f", "finished");
    let figures = &status["figures"];
    let asked = json!(service.asked().0);
    assert_eq!(figures["requests"]["started"], asked, "{status:#}");
    assert_eq!(figures["requests"]["completed"], asked);
    assert_eq!(figures["iterations"]["completed"], asked);
    // They are counted once a second, and one may be between two iterations.
    let vus = figures["vusMax"].as_u64().expect("a number");
    assert!((1..=4).contains(&vus), "{status:#}");
    assert_eq!(figures["times"]["metric"], "http_req_duration");
    assert_eq!(figures["times"]["count"], asked);
    let thresholds = figures["thresholds"].as_array().expect("a list");
    let told = |threshold: &Value| (threshold["name"].clone(), threshold["passed"].clone());
    assert_eq!(
        thresholds.iter().map(told).collect::<Vec<_>>(),
        [
            (json!("iterations"), json!(false)),
            (json!("http_req_failed"), json!(true))
        ]
    );
    assert!(
        status["message"]
            .as_str()
            .expect("why")
            .contains("'iterations'"),
        "{status:#}"
    );
    let p95 = figures["times"]["p95"].as_str().expect("a duration");
    let row = lab.kubectl(&["get", "testrun", "f"]);
    let columns: Vec<&str> = row.lines().flat_map(str::split_whitespace).collect();
    assert_eq!(
        columns[..8],
        [
            "NAME", "STAGE", "RESULT", "VUS", "RATE", "P95", "LOST", "AGE"
        ]
    );
    assert_eq!(
        (columns[11], columns[13], columns[14]),
        (&*vus.to_string(), p95, "0")
    );
    let top = told_by(&lab, "top", &[]);
    assert!(top.contains(p95), "{top}");
    let told = told_by(&lab, "results", &["f"]);
    assert!(
        told.contains("threshold crossed: iterations count>1000000"),
        "{told}"
    );

    the_whole_is_fetched(&lab, &status, &asked);
    // The pods end with the test, what hands the result on too.
    lab.kubectl(&[
        "wait",
        "--for=condition=Failed",
        "job/f-coordinator",
        lab::PATIENCE,
    ]);
    lab.kubectl(&["delete", "testrun", "f"]);
    until("the result goes with the test", || {
        lab.names("configmaps", "f").is_empty()
    });
}

#[test]
#[ignore = "needs a cluster"]
fn a_stopped_test_keeps_its_result() {
    let (lab, service) = (Lab::begun("stopped"), Service::start());
    lab.run(
        "s",
        &asking(&service.url, 2, "60s"),
        &json!({"parallelism": 2}),
    );
    lab.wait("s", "started");
    until("there is load", || service.asked().0 > 20);
    let pods = lab.get("pods")["items"].clone();
    let mut pods = pods.as_array().expect("a list").iter();
    let pod = pods.find(|pod| pod["metadata"]["labels"]["job-name"] == "s-coordinator");
    let address = pod.expect("the coordinator's")["status"]["podIP"].clone();
    let log = lab.kubectl(&["logs", "job/s-coordinator"]);
    // Where pods have addresses of loopback, none is wanted.
    let token = log.split_once("Authorization: Bearer ");
    let token = token.and_then(|(_, rest)| rest.split_whitespace().next());
    let body = r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#;
    let address = format!("{}:6565", address.as_str().expect("an address"));
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let stopped = Instant::now();
    write!(
        stream,
        "PATCH /v1/status HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        token.unwrap_or("none"),
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    // The test may be over before its answer is read to its end.
    let _ = stream.read_to_string(&mut answer);
    let status = lab.wait("s", "finished");
    let last = service.asked().1.expect("it was asked");
    let after = last.saturating_duration_since(stopped);
    assert!(after <= Duration::from_secs(5), "{after:?}");
    assert_eq!(
        (&status["result"], &status["reason"]),
        (&json!("error"), &json!("RestAbort")),
        "{answer}"
    );
    let begun = status["figures"]["requests"]["started"].as_u64();
    assert!(begun.is_some_and(|begun| begun > 20), "{status:#}");
    let folder = tempfile::tempdir().expect("a folder");
    told_by(
        &lab,
        "results",
        &["--out", &folder.path().to_string_lossy(), "s"],
    );
    assert_eq!(files(folder.path()).0["totals"]["stop"], "remote");
}

#[test]
#[ignore = "needs a cluster"]
fn a_volume_takes_the_result_where_it_is_wanted() {
    let lab = Lab::begun("volume");
    let folder = tempfile::tempdir().expect("a folder");
    let volume = format!("results-{}", lab.namespace);
    let rest = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": ""});
    let mut spec = rest.clone();
    spec["capacity"] = json!({"storage": "1Gi"});
    spec["hostPath"] = json!({"path": folder.path()});
    let object = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": spec});
    kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    let mut spec = rest;
    spec["volumeName"] = json!(volume);
    spec["resources"] = json!({"requests": {"storage": "1Gi"}});
    lab.apply(&json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "kept"}, "spec": spec}));
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "v"},
        "data": {"test.js": "export const options = { vus: 1, iterations: 3 }; export default function () {}"},
    }));
    lab.apply(&json!({
        "apiVersion": "k6.io/v1alpha1", "kind": "TestRun",
        "metadata": {"name": "v", "annotations": {"loadline.io/results": "volumeClaim/kept/nightly/one"}},
        "spec": {"parallelism": 1, "script": {"configMap": {"name": "v", "file": "test.js"}}},
    }));
    let status = lab.wait("v", "finished");
    let results = &status["results"];
    assert_eq!(
        (&results["volumeClaim"], &results["path"]),
        (&json!("kept"), &json!("nightly/one")),
        "{status:#}"
    );
    let (result, page) = files(&folder.path().join("nightly/one"));
    assert_eq!(result["totals"]["stop"], "finished");
    assert!(page.contains("<html"));
    kubectl(
        &["delete", "persistentvolume", &volume, "--wait=false"],
        None,
    );
}

/// Puts the address and the keys of a store into the secret `keys`; gives the variables that name them to a client.
fn keep_keys<'s>(lab: &Lab, store: &'s Store) -> [(&'static str, &'s str); 3] {
    let keys = [
        ("AWS_ENDPOINT_URL", store.url.as_str()),
        ("AWS_ACCESS_KEY_ID", "AKIDLAB"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    let data: serde_json::Map<String, Value> = keys
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    lab.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": data}));
    keys
}

#[test]
#[ignore = "needs a cluster"]
fn an_object_store_takes_the_result_and_gives_it_back() {
    let (lab, store) = (Lab::begun("store"), Store::serve("AKIDLAB"));
    let keys = keep_keys(&lab, &store);
    let script = "export const options = { vus: 1, iterations: 3 }; export default function () {}";
    let spec = json!({"script": {"inline": script}, "results": "s3://bucket/nightly", "resultsSecret": "keys"});
    lab.apply(&json!({"apiVersion": "loadline.io/v1alpha1", "kind": "LoadTest", "metadata": {"name": "o"}, "spec": spec}));
    let status = lab.wait_of("loadtest/o", "jsonpath={.status.stage}=finished");
    assert_eq!(
        status["results"],
        json!({"objectStore": "s3://bucket/nightly"}),
        "{status:#}"
    );
    let paths = ["report.html", "result.json"].map(|file| format!("/bucket/nightly/{file}"));
    assert_eq!(store.paths(), paths);

    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy();
    let output = k8s_with(&lab, &keys, "results", &["--out", &out, "loadtest/o"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(files(folder.path()).0["totals"]["stop"], "finished");
}

/// The Job of a test that passed is complete, and makes no other pod: that would wait for agents once more.
#[test]
#[ignore = "needs a cluster"]
fn a_store_that_takes_nothing_is_told_and_no_other_pod_is_made() {
    let lab = Lab::begun("no-store");
    lab.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"other": "x"}}));
    let script = "export const options = { vus: 1, iterations: 3 }; export default function () {}";
    let spec =
        json!({"script": {"inline": script}, "results": "s3://bucket/a", "resultsSecret": "keys"});
    lab.apply(&json!({"apiVersion": "loadline.io/v1alpha1", "kind": "LoadTest", "metadata": {"name": "w"}, "spec": spec}));
    let status = lab.wait_of("loadtest/w", "jsonpath={.status.stage}=finished");
    assert_eq!(status["result"], "passed", "{status:#}");
    let why = status["results"]["message"].as_str().expect("why");
    assert!(
        why.starts_with("not written to s3://bucket/a: AWS_"),
        "{why}"
    );
    assert!(status["results"]["configMap"].is_string(), "{status:#}");
    lab.kubectl(&[
        "wait",
        "--for=condition=Complete",
        "job/w-coordinator",
        lab::PATIENCE,
    ]);
    let pods = lab.kubectl(&["get", "pods", "-l", "job-name=w-coordinator", "-o", "name"]);
    assert_eq!(pods.lines().count(), 1, "{pods}");
}

/// A suite of two rows under this name, whose documents lie beside each other in folders.
fn apply_suite(lab: &Lab, name: &str, url: &str, results: &Value) {
    let suite = format!(
        "name: rows
target: {url}
defaults: {{bench: '-n 20 -c 2'}}
axes: {{vus: [1, 2]}}
documents:
  - file: results.md
    columns: [{{title: Users, value: plan.users}}]
  - file: pages/results.html
    columns: [{{title: Users, value: plan.users}}]
"
    );
    lab.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"suite.yaml": suite}}));
    let mut spec = json!({"suite": {"configMap": {"name": name}}});
    if results.is_object() {
        spec["results"] = results.clone();
    }
    lab.apply(&json!({"apiVersion": "loadline.io/v1alpha1", "kind": "LoadSuite", "metadata": {"name": name}, "spec": spec}));
}

/// What a folder has of a suite of this name is what was measured.
fn a_suite_is_there(folder: &Path, name: &str) {
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect(path);
    assert!(read("results.md").contains("| Users |"));
    assert!(read("pages/results.html").contains("<html"));
    let runs = folder.join(format!("{name}.state/runs"));
    let rows: Vec<_> = std::fs::read_dir(runs).expect("rows").flatten().collect();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let result = std::fs::read_to_string(row.path().join("1/result.json")).expect("a result");
        let result: Value = serde_json::from_str(&result).expect("JSON");
        assert_eq!(result["totals"]["seen"]["counts"]["completed"], 20);
    }
}

#[test]
#[ignore = "needs a cluster"]
fn documents_and_results_of_a_suite_are_fetched() {
    let (lab, service, store) = (
        Lab::begun("suites"),
        Service::start(),
        Store::serve("AKIDLAB"),
    );
    let keys = keep_keys(&lab, &store);
    apply_suite(&lab, "m", &service.url, &Value::Null);
    let stored = json!({"to": "s3://bucket/suites/o", "secret": "keys"});
    apply_suite(&lab, "o", &service.url, &stored);

    let over = "jsonpath={.status.stage}=finished";
    let status = lab.wait_of("loadsuite/m", over);
    assert_eq!(status["result"], "passed", "{status:#}");
    let kept = &status["results"];
    assert_eq!(
        kept["files"],
        json!(["documents.tar.gz", "state.tar.gz"]),
        "{status:#}"
    );
    let map = kept["configMap"].as_str().expect("a name");
    let owner = lab.get(&format!("configmap/{map}"))["metadata"]["ownerReferences"][0].clone();
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&json!("LoadSuite"), &json!("m"))
    );
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy();
    let fetched = k8s(&lab, "results", &["--out", &out, "loadsuite/m"]);
    assert!(fetched.status.success(), "{fetched:?}");
    let told = String::from_utf8_lossy(&fetched.stderr).into_owned();
    assert!(
        told.contains("/results.md") && !told.contains(".state"),
        "{told}"
    );
    a_suite_is_there(folder.path(), "m");

    let status = lab.wait_of("loadsuite/o", over);
    let kept = json!({"objectStore": "s3://bucket/suites/o"});
    assert_eq!(status["results"], kept, "{status:#}");
    let paths = store.paths();
    for path in ["files.txt", "pages/results.html", "results.md"] {
        let path = format!("/bucket/suites/o/{path}");
        assert!(paths.contains(&path), "{path}: {paths:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy();
    let fetched = k8s_with(&lab, &keys, "results", &["--out", &out, "loadsuite/o"]);
    assert!(fetched.status.success(), "{fetched:?}");
    a_suite_is_there(folder.path(), "o");
}

/// What the page tells its readers to type.
#[test]
#[ignore = "needs a cluster"]
fn from_apply_to_a_result() {
    let text = page::text();
    let blocks = page::blocks(&text);
    let [helm, install, apply, read] = &blocks[..] else {
        panic!("helm, install, apply, read: {blocks:#?}");
    };
    assert!(
        helm.starts_with("helm install"),
        "the chart has tests of its own"
    );

    let lab = Lab::empty("page");
    let service = Service::start();
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    page::prepare(folder, &lab.namespace, &service.url);
    page::typed(&lab, folder, install);
    page::typed(&lab, folder, apply);
    let wait = page::in_line(&text, "kubectl wait ");
    page::typed(&lab, folder, &format!("{wait} {}", lab::PATIENCE));

    let printed = page::typed(&lab, folder, read);
    let shown = text
        .lines()
        .find(|line| line.contains("NAME  "))
        .expect("a table");
    let columns = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut lines = printed.lines();
    assert_eq!(lines.next().map(columns), Some(columns(shown)), "{printed}");
    let row = lines.next().map(columns).expect("a row");
    assert_eq!(row[..3], ["checkout", "finished", "passed"], "{printed}");
    assert!(printed.contains("checkout/report.html"), "{printed}");
    assert!(folder.join("checkout/result.json").is_file());
    assert_eq!(service.asked().0, 40);
}
