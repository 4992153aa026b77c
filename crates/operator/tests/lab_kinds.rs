//! Our own kinds against a real API server, with real runs.
//!
//! They want a cluster as those of `lab_operator` do, and are ignored otherwise. Must not know the operator's parts. Invariant: what
//! is claimed is read from the API.

#![expect(clippy::disallowed_methods, reason = "a real cluster takes real time")]

#[expect(dead_code, reason = "the other suite uses all of it")]
mod lab;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use lab::{Lab, Service, asking, image, k8s, repository, until};

fn of_kind(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "loadline.io/v1alpha1", "kind": kind, "metadata": {"name": name},
        "spec": spec,
    })
}

fn finished(lab: &Lab, object: &str) -> Value {
    lab.wait_of(object, "jsonpath={.status.stage}=finished")
}

fn names(lab: &Lab, kind: &str, label: &str) -> Vec<String> {
    let text = lab.kubectl(&["get", kind, "-l", label, "-o", "name"]);
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs a cluster"]
fn one_job_has_all_agents_of_a_load_test() {
    let (lab, service) = (Lab::begun("own"), Service::start());
    let url = &service.url;
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 3, duration: '25s' }};
        export default function () {{ http.get('{url}'); sleep(0.05); }}"
    );
    let beside = json!({"name": "beside", "image": "loadline:dev", "command": ["sleep", "600"]});
    lab.apply(&of_kind(
        "LoadTest",
        "l",
        &json!({
            "parallelism": 3,
            "script": {"inline": script},
            "podTemplate": {"metadata": {"labels": {"team": "x"}}, "spec": {"containers": [beside]}},
        }),
    ));
    lab.wait_of("loadtest/l", "jsonpath={.status.stage}=started");
    until("there is load", || service.asked().0 > 0);
    let all = lab.get("jobs");
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "{all:#}");
    let job = lab.get("job/l-agent");
    assert_eq!(job["spec"]["completionMode"], "Indexed");
    let budget = lab.get("poddisruptionbudget/l-coordinator");
    assert_eq!(
        (
            &budget["spec"]["minAvailable"],
            &budget["status"]["disruptionsAllowed"]
        ),
        (&json!(4), &json!(0))
    );
    let second = "batch.kubernetes.io/job-completion-index=1";
    let lost = names(&lab, "pods", second).remove(0);
    lab.kubectl(&["delete", &lost, "--wait=false"]);
    lab.wait_of("loadtest/l", "jsonpath={.status.lost[*].replacedBy}");
    let status = finished(&lab, "loadtest/l");
    assert_eq!(
        (
            &status["result"],
            &status["exitCode"],
            &status["agentsReady"]
        ),
        (&json!("passed"), &json!(0), &json!(3)),
        "{status:#}"
    );
    assert_eq!(status["lost"][0]["agent"], "l-agent-1");
    let kinds: Vec<&Value> = status["conditions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["type"])
        .collect();
    assert_eq!(kinds, ["Running", "Passed"]);
    let next = status["lost"][0]["replacedBy"].as_str().expect("a pod");
    let log = lab.kubectl(&["logs", next, "-c", "loadline"]);
    assert!(
        log.contains("its result is in the log of l-agent-0"),
        "{log}"
    );
}

#[test]
#[ignore = "needs a cluster"]
fn a_line_of_bench_and_a_plan_are_load_tests() {
    let (lab, service) = (Lab::begun("lines"), Service::start());
    let bench = json!({"parallelism": 2, "bench": ["-n", "40", "-c", "4", service.url]});
    lab.apply(&of_kind("LoadTest", "b", &bench));
    let status = finished(&lab, "loadtest/b");
    assert_eq!(status["result"], "passed", "{status:#}");
    assert_eq!(service.asked().0, 40);
    assert_eq!(status["figures"]["requests"]["completed"], 40, "{status:#}");
    let kept = status["results"]["configMap"]
        .as_str()
        .expect("a ConfigMap");
    lab.kubectl(&["get", "configmap", kept]);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy();
    let told = k8s(&lab, "results", &["--json", "--out", &out, "b"]);
    let told: Value = serde_json::from_slice(&told.stdout).expect("it is JSON");
    assert_eq!(
        (&told["kind"], &told["exitCode"]),
        (&json!("LoadTest"), &json!(0))
    );
    assert!(folder.path().join("result.json").exists());
    let plan = repository().join("crates/e2e/jmeter/plans/http_bare.jmx");
    let plan = std::fs::read_to_string(plan).expect("a plan");
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}, "data": {"a.jmx": plan},
    }));
    let port = service.url.trim_end_matches('/').rsplit(':').next();
    let port = format!("-Jport={}", port.expect("a port"));
    let spec = json!({
        "jmx": {"configMap": {"name": "p", "file": "a.jmx"}},
        "arguments": ["-Jhost=127.0.0.1", port],
        "parallelism": 1,
    });
    lab.apply(&of_kind("LoadTest", "p", &spec));
    let status = finished(&lab, "loadtest/p");
    assert_eq!(status["result"], "passed", "{status:#}");
    assert!(service.asked().0 > 40, "{:?}", service.asked());
    assert_eq!(names(&lab, "pods", "loadline.io/load-test=p").len(), 2);
}

/// A plan of which a thread asks once for each line of a file below the plan's folder.
const PLAN_WITH_DATA: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="shop"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">-1</stringProp>
</elementProp><stringProp name="ThreadGroup.num_threads">2</stringProp></ThreadGroup><hashTree>
<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="names">
<stringProp name="filename">data/my names.csv</stringProp><stringProp name="variableNames">name</stringProp>
<boolProp name="recycle">false</boolProp><boolProp name="stopThread">true</boolProp></CSVDataSet><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="ask">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
<stringProp name="HTTPSampler.path">/${name}</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#;

#[test]
#[ignore = "needs a cluster"]
fn one_command_runs_a_plan_with_its_data_or_a_line_of_bench() {
    let (lab, service) = (Lab::begun("one"), Service::start());
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("my shop.jmx");
    std::fs::write(&plan, PLAN_WITH_DATA).expect("a file");
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    let names = folder.path().join("data/my names.csv");
    std::fs::write(names, "ann\nbob\ncid\ndan\neve\n").expect("a file");
    let plan = plan.to_string_lossy();
    let port = service.url.trim_end_matches('/').rsplit(':').next();
    let port = format!("-Jport={}", port.expect("a port"));
    let ran = k8s(&lab, "run", &["-p", "2", "--name", "p", &plan, "--", &port]);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert!(err.contains("test loadtest/p: finished, passed"), "{err}");
    assert_eq!(service.asked().0, 5, "{err}");
    let line = ["-p", "2", "--rm", "--", "-n", "20", "-c", "2", &service.url];
    let ran = k8s(&lab, "bench", &line);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert_eq!(service.asked().0, 25, "{err}");
    let left = lab.kubectl(&["get", "loadtests", "-o", "name"]);
    assert_eq!(left.trim(), "loadtest.loadline.io/p");
}

#[test]
#[ignore = "needs a cluster"]
fn a_schedule_makes_a_test_at_its_instant() {
    let (lab, service) = (Lab::begun("schedule"), Service::start());
    let spec = json!({
        "schedule": {"cron": "* * * * *", "timeZone": "Europe/Vienna", "concurrencyPolicy": "Forbid"},
        "bench": ["-n", "4", "-c", "1", service.url],
    });
    lab.apply(&of_kind("LoadTest", "s", &spec));
    lab.wait_of("loadtest/s", "jsonpath={.status.nextScheduleTime}");
    let made = || names(&lab, "loadtests", "loadline.io/schedule=s");
    // It comes within a minute, and a little.
    let begun = Instant::now();
    while !lab.get("loadtest/s")["status"]["lastScheduleTime"].is_string() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "no instant came"
        );
        std::thread::sleep(Duration::from_secs(1));
    }
    let child = made().remove(0);
    let child = child.replace("loadtest.loadline.io", "loadtest");
    let status = finished(&lab, &child);
    assert_eq!(status["result"], "passed", "{status:#}");
    let object = lab.get(&child);
    assert_eq!(object["metadata"]["ownerReferences"][0]["name"], "s");
    assert_eq!(object["spec"]["schedule"], Value::Null);
    let refused = k8s(&lab, "stop", &["loadtest/s"]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && why.contains("schedule"),
        "{why}"
    );
    let suspended = json!({"spec": {"schedule": {"suspend": true}}}).to_string();
    lab.kubectl(&["patch", "loadtest/s", "--type=merge", "-p", &suspended]);
    let status = lab.wait_of("loadtest/s", "jsonpath={.status.stage}=suspended");
    assert_eq!(status["nextScheduleTime"], Value::Null);
}

#[test]
#[ignore = "needs a cluster"]
fn a_suite_is_run_row_by_row() {
    let (lab, service) = (Lab::begun("suite"), Service::start());
    let suite = format!(
        "name: rows
target: {}
defaults: {{bench: '-n 20 -c 2'}}
axes: {{vus: [1, 2]}}
documents:
  - file: /results/results.md
    columns: [{{title: Users, value: plan.users}}]
",
        service.url
    );
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rows"}, "data": {"suite.yaml": suite},
    }));
    let spec = json!({"suite": {"configMap": {"name": "rows"}}});
    lab.apply(&of_kind("LoadSuite", "rows", &spec));
    let status = finished(&lab, "loadsuite/rows");
    assert_eq!(
        (&status["result"], &status["runs"]),
        (&json!("passed"), &json!({"done": 2, "total": 2})),
        "{status:#}"
    );
    let log = lab.kubectl(&["logs", "job/rows-suite"]);
    assert!(log.contains("/results/results.md written"), "{log}");
    let followed = k8s(&lab, "logs", &["rows"]);
    assert_eq!(String::from_utf8_lossy(&followed.stdout), log);
    let top = k8s(&lab, "top", &[]);
    let top = String::from_utf8_lossy(&top.stdout);
    assert!(top.contains("loadsuite/rows   finished 2/2"), "{top}");
    let failing = json!({"suite": {"configMap": {"name": "rows", "file": "none.yaml"}}});
    lab.apply(&of_kind("LoadSuite", "none", &failing));
    let status = lab.wait_of("loadsuite/none", "jsonpath={.status.result}");
    assert_eq!(status["result"], "error", "{status:#}");
}

/// As manifests of k6-operator's time before 1.0 have it: the kind `K6`, init containers without a name that read the script, and settings
/// of another image.
#[test]
#[ignore = "needs a cluster"]
fn an_old_manifest_is_run_as_it_is() {
    let (lab, service) = (Lab::begun("old"), Service::start());
    let script = asking(&service.url, 2, "1s");
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stress"},
        "data": {"my.test.js": script},
    }));
    let before =
        json!([{"image": image(), "command": ["loadline", "inspect", "/test/my.test.js"]}]);
    lab.apply(&json!({
        "apiVersion": "k6.io/v1alpha1", "kind": "K6", "metadata": {"name": "old"},
        "spec": {
            "parallelism": 2,
            "script": {"configMap": {"name": "stress", "file": "my.test.js"}},
            "runner": {"image": "another:1", "imagePullPolicy": "Never", "initContainers": before},
            "starter": {"image": "another:1"},
        },
    }));
    let status = lab.wait_of("k6/old", "jsonpath={.status.stage}=finished");
    assert_eq!(status["result"], "passed", "{status:#}");
    assert!(service.asked().0 > 10, "{:?}", service.asked());
    let events = lab.get("events");
    let mut all = events["items"].as_array().expect("a list").iter();
    let ignored =
        all.find(|event| event["involvedObject"]["kind"] == "K6" && event["reason"] == "Ignored");
    let told = ignored.expect("an Event")["message"]
        .as_str()
        .expect("a text");
    assert!(
        told.contains("spec.runner.image: ") && told.contains("spec.starter.image: "),
        "{told}"
    );
    lab.kubectl(&["delete", "k6/old"]);
    until("its Jobs go with it", || {
        lab.names("jobs", "old").is_empty()
    });
}
