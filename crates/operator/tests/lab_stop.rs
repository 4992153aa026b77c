//! Tests of every kind that are stopped, on a real cluster.
//!
//! They want a cluster as those of `lab_operator` do. Must not know the operator's parts. Invariants: what is claimed is read from the
//! API and from the service under load; the order goes the way that a user's goes.

#![expect(clippy::disallowed_methods, reason = "a real cluster takes real time")]

#[expect(dead_code, reason = "the other suites use all of it")]
mod lab;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use lab::{Lab, Service, binary, k8s, until};

/// How long after a stop the last request may come.
const LAST_REQUEST: Duration = Duration::from_secs(5);

/// A plan whose threads ask for as long as they may.
const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">-1</stringProp>
</elementProp><stringProp name="ThreadGroup.num_threads">2</stringProp></ThreadGroup><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="t">
<stringProp name="ConstantTimer.delay">20</stringProp></ConstantTimer><hashTree/>
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="ask">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
<stringProp name="HTTPSampler.path">/</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#;

fn of_kind(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "loadline.io/v1alpha1", "kind": kind, "metadata": {"name": name},
        "spec": spec,
    })
}

/// What holds of every stopped test; gives its status.
fn is_stopped(lab: &Lab, service: &Service, object: &str, asked: Instant) -> Value {
    let status = lab.wait_of(object, "jsonpath={.status.stage}=finished");
    let last = service.asked().1.expect("it was asked");
    let after = last.saturating_duration_since(asked);
    assert!(after <= LAST_REQUEST, "{after:?}");
    assert_eq!(
        (&status["result"], &status["reason"], &status["exitCode"]),
        (&json!("error"), &json!("RestAbort"), &json!(103)),
        "{status:#}"
    );
    status
}

/// The result that is kept of a stopped test.
fn has_result(lab: &Lab, object: &str, status: &Value) {
    let begun = status["figures"]["requests"]["started"].as_u64();
    assert!(begun.is_some_and(|begun| begun > 20), "{status:#}");
    let folder = tempfile::tempdir().expect("a folder");
    let told = k8s(
        lab,
        "results",
        &["--out", &folder.path().to_string_lossy(), object],
    );
    let told = String::from_utf8_lossy(&told.stderr);
    let result = std::fs::read(folder.path().join("result.json"));
    let result: Value = serde_json::from_slice(&result.expect(&told)).expect("JSON");
    assert_eq!(result["totals"]["stop"], "remote");
}

/// Stops an object as a user does; when that was.
fn stop(lab: &Lab, object: &str) -> Instant {
    let asked = Instant::now();
    let stopped = k8s(lab, "stop", &[object]);
    let told = String::from_utf8_lossy(&stopped.stderr);
    assert!(
        stopped.status.success() && told.contains(" stops"),
        "{told}"
    );
    asked
}

#[test]
#[ignore = "needs a cluster"]
fn ctrl_c_ends_a_line_of_bench() {
    let (lab, service) = (Lab::begun("stop-bench"), Service::start());
    let kubeconfig = lab.kubeconfig(None);
    let text = std::fs::read(&kubeconfig).expect("a file");
    let config: Value = serde_json::from_slice(&text).expect("it is JSON");
    let context = config["contexts"][0]["name"].as_str().expect("a name");
    let child = Command::new(binary())
        .args(["k8s", "bench", "--context", context, "--kubeconfig"])
        .arg(kubeconfig)
        .args(["-p", "2", "--name", "b", "--"])
        .args(["-c", "2", "-r", "100", "-z", "60s", &service.url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    until("there is load", || service.asked().0 > 50);
    lab.wait_of("loadtest/b", "jsonpath={.status.stage}=started");
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.expect("it runs").success());
    let asked = Instant::now();
    let ended = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(103), "{told}");
    let status = is_stopped(&lab, &service, "loadtest/b", asked);
    has_result(&lab, "loadtest/b", &status);
}

#[test]
#[ignore = "needs a cluster"]
fn a_plan_is_stopped() {
    let (lab, service) = (Lab::begun("stop-plan"), Service::start());
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}, "data": {"test.jmx": PLAN},
    }));
    let port = service.url.trim_end_matches('/').rsplit(':').next();
    let port = format!("-Jport={}", port.expect("a port"));
    let spec = json!({"jmx": {"configMap": {"name": "p"}}, "arguments": [port], "parallelism": 2});
    lab.apply(&of_kind("LoadTest", "p", &spec));
    lab.wait_of("loadtest/p", "jsonpath={.status.stage}=started");
    until("there is load", || service.asked().0 > 50);
    let asked = stop(&lab, "loadtest/p");
    let status = is_stopped(&lab, &service, "loadtest/p", asked);
    has_result(&lab, "loadtest/p", &status);
}

#[test]
#[ignore = "needs a cluster"]
fn a_suite_ends_its_row_and_says_which_were_not_run() {
    let (lab, service) = (Lab::begun("stop-suite"), Service::start());
    let suite = format!(
        "name: rows
target: {}
rows:
  - {{name: short, bench: '-n 20 -c 2'}}
  - {{name: long, bench: '-c 2 -r 100 -z 60s'}}
  - {{name: never, bench: '-n 30 -c 2'}}
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
    lab.wait_of("loadsuite/rows", "jsonpath={.status.stage}=started");
    until("the second row is at work", || service.asked().0 > 100);
    let asked = stop(&lab, "loadsuite/rows");
    let status = is_stopped(&lab, &service, "loadsuite/rows", asked);
    let message = status["message"].as_str().expect("a text");
    assert!(message.contains("not run: never"), "{message}");
    let log = lab.kubectl(&["logs", "job/rows-suite"]);
    assert!(log.contains("interrupted: long\nnot run: never"), "{log}");
    assert!(log.contains("/results/results.md written"), "{log}");
}
