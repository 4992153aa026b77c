//! The operator against a real API server, with real runs.
//!
//! They want `KUBECONFIG` and kubectl of a lab whose image `loadline:dev` (or `LOADLINE_LAB_IMAGE`) has loadline in it, and are ignored
//! otherwise: `cargo test -p loadline-operator --test lab_operator -- --ignored`. Must not know the operator's parts. Invariant: what
//! is claimed is read from the API.

#![expect(clippy::disallowed_methods, reason = "a real cluster takes real time")]

mod lab;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use lab::{Lab, PATIENCE, Service, asking, k8s, kubectl, repository, spawn, until};

fn reasons(lab: &Lab, test: &str) -> Vec<String> {
    let events = lab.get("events");
    let all = events["items"].as_array().expect("a list");
    let of_test = |event: &&Value| {
        event["involvedObject"]["kind"] == "TestRun" && event["involvedObject"]["name"] == test
    };
    let reasons = all.iter().filter(of_test);
    reasons
        .map(|event| event["reason"].as_str().expect("a text").to_owned())
        .collect()
}

fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let mut all = status["conditions"].as_array().expect("a list").iter();
    all.find(|condition| condition["type"] == kind).expect(kind)
}

fn message(status: &Value) -> &str {
    status["message"].as_str().unwrap_or_default()
}

#[test]
#[ignore = "needs a cluster"]
fn a_test_on_four_pods_is_one_test() {
    let (lab, service) = (Lab::begun("one"), Service::start());
    let restricted = "pod-security.kubernetes.io/enforce=restricted";
    lab.kubectl(&["label", "namespace", &lab.namespace, restricted]);
    lab.run(
        "one",
        &asking(&service.url, 4, "2s"),
        &json!({"parallelism": 4}),
    );
    let status = lab.wait("one", "finished");
    assert_eq!(status["result"], "passed");
    assert_eq!(
        (&status["exitCode"], &status["agentsReady"]),
        (&json!(0), &json!(4))
    );
    assert_eq!(condition(&status, "TestRunPassed")["status"], "True");
    assert_eq!(
        condition(&status, "TestRunRunning")["reason"],
        "TestRunRunningFalse"
    );
    assert!(service.asked().0 > 40, "{:?}", service.asked());
    let mut jobs = lab.names("jobs", "one");
    jobs.sort();
    assert_eq!(
        jobs,
        ["1", "2", "3", "4", "coordinator"].map(|name| format!("job.batch/one-{name}"))
    );
    let agent = lab.get("job/one-2");
    let labels = &agent["spec"]["template"]["metadata"]["labels"];
    assert_eq!(
        (&labels["app"], &labels["runner"]),
        (&json!("k6"), &json!("true"))
    );
    assert_eq!(agent["metadata"]["ownerReferences"][0]["kind"], "TestRun");
    for job in ["job/one-2", "job/one-coordinator"] {
        lab.kubectl(&["wait", "--for=condition=Complete", job, PATIENCE]);
    }
    let all: usize = ["jobs", "pods", "services", "secrets", "networkpolicies"]
        .map(|kind| lab.names(kind, "one").len())
        .iter()
        .sum();
    assert!(all <= 2 * 4 + 5, "{all} objects");
    let told = reasons(&lab, "one");
    for stage in [
        "Initialization",
        "Initialized",
        "Created",
        "Started",
        "Stopped",
        "Finished",
        "Passed",
    ] {
        assert_eq!(
            told.iter().filter(|reason| *reason == stage).count(),
            1,
            "{stage} in {told:?}"
        );
    }
    let log = lab.kubectl(&["logs", "job/one-coordinator"]);
    assert_eq!(log.matches("http_reqs").count(), 1, "one summary: {log}");
}

#[test]
#[ignore = "needs a cluster"]
fn a_crossed_threshold_fails_the_test() {
    let lab = Lab::begun("threshold");
    let script = "export const options = { vus: 2, iterations: 4, thresholds: { iterations: ['count>100'] } };
        export default function () {}";
    lab.run("t", script, &json!({"parallelism": 2}));
    let status = lab.wait("t", "finished");
    assert_eq!(
        (&status["result"], &status["exitCode"]),
        (&json!("failed"), &json!(99))
    );
    assert_eq!(status["reason"], "ThresholdsFailed");
    assert!(
        message(&status).contains("'iterations'"),
        "{}",
        message(&status)
    );
    lab.kubectl(&["wait", "--for=condition=Failed", "job/t-1", PATIENCE]);
}

#[test]
#[ignore = "needs a cluster"]
fn what_cannot_be_run_is_an_error_that_says_why() {
    let lab = Lab::begun("cannot");
    let fine = "export const options = { vus: 2, iterations: 2 }; export default function () {}";
    lab.run(
        "syntax",
        "export default function () { syntax error",
        &json!({"parallelism": 2}),
    );
    lab.run("many", fine, &json!({"parallelism": 6}));
    lab.run(
        "cloud",
        fine,
        &json!({"parallelism": 1, "arguments": "--out cloud"}),
    );
    lab.run(
        "field",
        fine,
        &json!({"parallelism": 1, "runner": {"noSuchField": {"a": 1}}}),
    );
    let image = json!({"parallelism": 1, "runner": {"initContainers": [{"name": "i", "image": "none:1", "command": ["true"]}]}});
    lab.run("image", fine, &image);
    for (test, reason, part) in [
        (
            "syntax",
            "ScriptException",
            "Line 1:37 Unexpected identifier",
        ),
        (
            "many",
            "InvalidConfig",
            "6 agents are more than the test's 2 virtual users",
        ),
        ("cloud", "Unsupported", "--out cloud"),
        ("field", "Invalid", "noSuchField"),
        ("image", "ErrImageNeverPull", "no such image"),
    ] {
        let status = lab.wait(test, "error");
        assert_eq!(
            (&status["result"], &status["reason"]),
            (&json!("error"), &json!(reason)),
            "{test}"
        );
        assert!(
            message(&status).contains(part),
            "{test}: {}",
            message(&status)
        );
        let told = reasons(&lab, test);
        assert!(told.iter().any(|told| told == reason), "{test}: {told:?}");
        let agent = format!("job/{test}-1");
        assert!(
            !spawn(&["-n", &lab.namespace, "get", &agent], None)
                .status
                .success(),
            "{agent}"
        );
    }
}

#[test]
#[ignore = "needs a cluster"]
fn a_pod_without_a_node_is_told() {
    let lab = Lab::begun("pending");
    let script = "export default function () {}";
    lab.run(
        "p",
        script,
        &json!({"parallelism": 1, "runner": {"nodeSelector": {"moon": "full"}}}),
    );
    let status = lab.wait_for("p", "jsonpath={.status.reason}=Unschedulable");
    assert_eq!(status["stage"], "initialization");
    assert!(
        message(&status).contains("0/1 nodes are available"),
        "{}",
        message(&status)
    );
}

#[test]
#[ignore = "needs a cluster"]
fn a_quota_that_keeps_pods_away_is_told() {
    let lab = Lab::begun("quota");
    lab.apply(&json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "1"}},
    }));
    let script = "export const options = { vus: 1, iterations: 1 }; export default function () {}";
    lab.run("q", script, &json!({"parallelism": 1}));
    let status = lab.wait_for("q", "jsonpath={.status.reason}=FailedCreate");
    assert_eq!(status["stage"], "created");
    assert!(
        message(&status).contains("exceeded quota"),
        "{}",
        message(&status)
    );
    lab.kubectl(&["delete", "resourcequota", "q"]);
    let status = lab.wait("q", "finished");
    assert_eq!(status["result"], "passed");
}

#[test]
#[ignore = "needs a cluster"]
fn a_deleted_test_stops() {
    let (lab, service) = (Lab::begun("deleted"), Service::start());
    lab.run(
        "d",
        &asking(&service.url, 2, "60s"),
        &json!({"parallelism": 2}),
    );
    lab.wait("d", "started");
    until("there is load", || service.asked().0 > 0);
    let deleted = Instant::now();
    lab.kubectl(&["delete", "testrun", "d", "--wait=false"]);
    until("all pods are gone", || lab.names("pods", "d").is_empty());
    let last = service.asked().1.expect("it was asked");
    let after = last.saturating_duration_since(deleted);
    assert!(after <= Duration::from_secs(5), "{after:?}");
}

#[test]
#[ignore = "needs a cluster"]
fn a_lost_agent_is_named() {
    let (lab, service) = (Lab::begun("lost"), Service::start());
    lab.run(
        "l",
        &asking(&service.url, 2, "4s"),
        &json!({"parallelism": 2}),
    );
    lab.wait("l", "started");
    until("there is load", || service.asked().0 > 0);
    let pods = lab.kubectl(&["get", "pods", "-l", "job-name=l-2", "-o", "name"]);
    let pod = pods.trim().trim_start_matches("pod/").to_owned();
    lab.kubectl(&["delete", "pod", &pod, "--grace-period=0", "--force"]);
    let status = lab.wait("l", "finished");
    assert_eq!(
        (&status["result"], &status["exitCode"]),
        (&json!("error"), &json!(112))
    );
    assert_eq!(status["reason"], "AgentLost");
    assert_eq!(status["lost"][0]["agent"], "l-2");
    assert!(
        message(&status).contains("agent l-2"),
        "{}",
        message(&status)
    );
    assert!(
        reasons(&lab, "l")
            .iter()
            .any(|reason| reason == "AgentLost")
    );
}

#[test]
#[ignore = "needs a cluster"]
fn another_pod_takes_over_the_share_of_a_lost_one() {
    let (lab, service) = (Lab::begun("replaced"), Service::start());
    lab.run(
        "m",
        &asking(&service.url, 2, "25s"),
        &json!({"parallelism": 2}),
    );
    lab.wait("m", "started");
    until("there is load", || service.asked().0 > 0);
    lab.kubectl(&["delete", "pod", "-l", "job-name=m-2", "--wait=false"]);
    lab.wait_for("m", "jsonpath={.status.lost[*].replacedBy}");
    let status = lab.wait("m", "finished");
    assert_eq!(status["result"], "passed", "{status:#}");
    let next = status["lost"][0]["replacedBy"].as_str().expect("a pod");
    let log = lab.kubectl(&["logs", next]);
    assert!(log.contains("its result is in the log of m-1"), "{log}");
    let told = reasons(&lab, "m");
    for reason in ["AgentLost", "AgentReplaced"] {
        assert!(told.iter().any(|other| other == reason), "{told:?}");
    }
    let log = lab.kubectl(&["logs", "job/m-coordinator"]);
    assert!(log.contains("has taken over the share, 1/2"), "{log}");
}

/// The processes that run a test's coordinator: pods of the lab are processes of this machine.
fn coordinators(test: &str) -> Vec<u32> {
    let tag = format!("testrun_name={test}");
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let runs_it = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words
            .first()
            .is_some_and(|word| word.ends_with(b"loadline"))
            && words.contains(&tag.as_bytes())
    };
    pids.filter(runs_it).collect()
}

#[test]
#[ignore = "needs a cluster"]
fn another_coordinator_goes_on_where_the_first_is_killed() {
    let (lab, service) = (Lab::begun("coordinator"), Service::start());
    let name = format!("k{}", std::process::id());
    lab.run(
        &name,
        &asking(&service.url, 2, "30s"),
        &json!({"parallelism": 2}),
    );
    lab.wait(&name, "started");
    until("there is load", || service.asked().0 > 20);
    let pids = coordinators(&name);
    assert!(!pids.is_empty());
    for pid in pids {
        let killed = std::process::Command::new("kill")
            .args(["-9", &pid.to_string()])
            .status();
        assert!(killed.expect("kill is there").success());
    }
    let before = service.asked().0;
    lab.wait_for(&name, "condition=TestRunCoordinatorReplaced");
    assert!(service.asked().0 > before + 20, "the load goes on");
    let status = lab.wait(&name, "finished");
    assert_eq!(status["result"], "passed", "{status:#}");
    let started = &status["figures"]["requests"]["started"];
    assert_eq!(*started, json!(service.asked().0), "{status:#}");
    let told = reasons(&lab, &name);
    for reason in ["CoordinatorLost", "CoordinatorReplaced", "Passed"] {
        let times = told.iter().filter(|other| *other == reason).count();
        assert_eq!(times, 1, "{reason} in {told:?}");
    }
}

#[test]
#[ignore = "needs a cluster"]
fn a_restarted_operator_makes_no_second_job() {
    for stage in ["initialization", "created", "started"] {
        let (mut lab, service) = (Lab::begun(&format!("restart-{stage}")), Service::start());
        lab.run(
            "r",
            &asking(&service.url, 2, "4s"),
            &json!({"parallelism": 2}),
        );
        // A stage that is over already is as good.
        lab.wait_for("r", "jsonpath={.status.stage}");
        if stage != "initialization" {
            lab.wait("r", stage);
        }
        lab.kill_operator();
        let of_job = |lab: &Lab| lab.get("job/r-coordinator")["metadata"]["uid"].clone();
        let before = of_job(&lab);
        lab.start_operator(&lab.kubeconfig(None));
        let status = lab.wait("r", "finished");
        assert_eq!(status["result"], "passed", "{stage}: {status:#}");
        assert_eq!(of_job(&lab), before, "{stage}");
        assert_eq!(lab.names("pods", "r").len(), 3, "{stage}");
    }
}

#[test]
#[ignore = "needs a cluster"]
fn the_operators_rights_are_enough_and_no_more() {
    let mut lab = Lab::empty("rights");
    for file in ["operator.yaml", "role.yaml"] {
        let text = std::fs::read_to_string(repository().join("deploy/operator").join(file));
        let text = text.expect("a manifest").replace(
            "namespace: default",
            &format!("namespace: {}", lab.namespace),
        );
        kubectl(&["-n", &lab.namespace, "apply", "-f", "-"], Some(&text));
    }
    // The one of the Deployment is not the one that is tested.
    lab.kubectl(&["scale", "deployment/loadline-operator", "--replicas=0"]);
    let token = lab.kubectl(&["create", "token", "loadline-operator"]);
    let kubeconfig = lab.kubeconfig(Some(token.trim()));
    lab.start_operator(&kubeconfig);
    let script = "export const options = { vus: 2, duration: '1s' }; export default function () {}";
    lab.run("r", script, &json!({"parallelism": 2, "cleanup": "post"}));
    let gone = [
        "-n",
        &lab.namespace,
        "wait",
        "--for=delete",
        "testrun/r",
        PATIENCE,
    ];
    assert!(
        spawn(&gone, None).status.success(),
        "{}",
        lab.operator_log()
    );
    lab.apply(&json!({
        "apiVersion": "loadline.io/v1alpha1", "kind": "LoadTest", "metadata": {"name": "own"},
        "spec": {"script": {"inline": script}, "parallelism": 2, "cleanup": "always"},
    }));
    let gone = [
        "-n",
        &lab.namespace,
        "wait",
        "--for=delete",
        "loadtest/own",
        PATIENCE,
    ];
    assert!(
        spawn(&gone, None).status.success(),
        "{}",
        lab.operator_log()
    );
    lab.run("bad", "syntax error", &json!({"parallelism": 2}));
    lab.wait("bad", "error");
    let log = lab.operator_log();
    assert!(
        !log.contains("forbidden") && log.contains("r: Passed") && log.contains("own: Passed"),
        "{log}"
    );

    nothing_more_is_allowed(&kubeconfig.to_string_lossy());
}

/// What the operator has no need of is refused.
fn nothing_more_is_allowed(config: &str) {
    for (verb, what) in [
        ("get", "secrets"),
        ("list", "secrets"),
        ("create", "pods"),
        ("create", "pods/exec"),
        ("get", "configmaps"),
        ("patch", "jobs"),
        ("create", "testruns.k6.io"),
        ("create", "loadsuites.loadline.io"),
        ("patch", "loadtests.loadline.io"),
        ("delete", "poddisruptionbudgets"),
        ("update", "leases/another"),
        ("create", "rolebindings"),
    ] {
        let may = spawn(&["--kubeconfig", config, "auth", "can-i", verb, what], None);
        assert_eq!(
            String::from_utf8_lossy(&may.stdout).trim(),
            "no",
            "{verb} {what}"
        );
    }
    let elsewhere = [
        "--kubeconfig",
        config,
        "-n",
        "default",
        "auth",
        "can-i",
        "list",
        "testruns.k6.io",
    ];
    assert_eq!(
        String::from_utf8_lossy(&spawn(&elsewhere, None).stdout).trim(),
        "no"
    );
}

#[test]
#[ignore = "needs a cluster"]
fn a_k6_operator_at_work_keeps_its_tests() {
    let lab = Lab::empty("beside");
    let now = String::from_utf8_lossy(&spawn_date().stdout)
        .trim()
        .to_owned();
    lab.apply(&json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "fcdfce80.io"},
        "spec": {"holderIdentity": "k6-operator", "leaseDurationSeconds": 600, "renewTime": now},
    }));
    let mut lab = lab;
    lab.start_operator(&lab.kubeconfig(None));
    lab.run(
        "k",
        "export default function () {}",
        &json!({"parallelism": 1}),
    );
    until("it is told", || {
        reasons(&lab, "k")
            .iter()
            .any(|reason| reason == "LeftToK6Operator")
    });
    assert_eq!(lab.get("testrun/k")["status"], Value::Null);
    assert!(lab.names("jobs", "k").is_empty());
}

/// The time as a Lease has it.
fn spawn_date() -> std::process::Output {
    let date = std::process::Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%S.000000Z"])
        .output();
    date.expect("date is there")
}

#[test]
#[ignore = "needs a cluster"]
fn one_command_runs_a_script_and_ends_as_the_test_does() {
    let (lab, service) = (Lab::begun("command"), Service::start());
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("two files.js");
    let url = folder.path().join("url.js");
    std::fs::write(url, "export const url = __ENV.URL;").expect("a file");
    let text = "import http from 'k6/http'; import { url } from './url.js';
        export const options = { thresholds: { http_reqs: ['count<8'] } };
        export default function () { http.get(url); }";
    std::fs::write(&script, text).expect("a file");
    let script = script.to_string_lossy();
    let url = format!("URL={}", service.url);
    let options = ["--", "--vus", "4", "--iterations", "9"];
    let out = folder.path().join("left").to_string_lossy().into_owned();
    let words = ["-p", "2", "--name", "c", "--out", &out, "-e", &url, &script];
    let ran = k8s(&lab, "run", &[&words[..], &options].concat());
    let out = String::from_utf8_lossy(&ran.stdout);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(99), "{out}{err}");
    assert!(out.contains("http_reqs"), "{out}");
    let told = "test c: finished, failed, exit code 99";
    assert!(err.contains(told), "{err}");
    assert_eq!(service.asked().0, 9);
    for file in ["result.json", "report.html"] {
        assert!(folder.path().join("left").join(file).exists(), "{err}");
    }
    let again = k8s(&lab, "logs", &["c"]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), out);
    let results = k8s(&lab, "results", &["--json", "c"]);
    let results: Value = serde_json::from_slice(&results.stdout).expect("it is JSON");
    assert_eq!(
        (&results["exitCode"], &results["agents"]),
        (&json!(99), &json!(2))
    );
    let top = k8s(&lab, "top", &[]);
    let top = String::from_utf8_lossy(&top.stdout);
    assert!(top.contains("finished") && top.contains("failed"), "{top}");
}
