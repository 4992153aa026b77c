//! The container image on a real node: kubelet, containerd, cgroups.
//!
//! These tests need a lab in node mode with the image `loadline:dev`: `LOADLINE_NODE_LAB` names its `in.sh`,
//! the only access to it. Must not know containers' file systems. Invariant: assertions only use data from the
//! API.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use loadline_e2e::clock::wait_for;
use loadline_e2e::run_to_end;
use serde_json::{Value, json};

const PATIENCE: &str = "--timeout=55s";
const LONGEST_WAIT: Duration = Duration::from_secs(120);

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// kubectl inside the lab.
fn spawn(words: &[&str]) -> Output {
    let lab = std::env::var_os("LOADLINE_NODE_LAB").expect("LOADLINE_NODE_LAB names in.sh");
    let mut command = Command::new(lab);
    command.arg("kubectl").args(words).current_dir(repository());
    run_to_end(command)
}

fn kubectl(words: &[&str]) -> String {
    let output = spawn(words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl {words:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn apply(objects: &[Value]) {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("objects.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(&file, list.to_string()).expect("there is room");
    kubectl(&["apply", "-f", &file.to_string_lossy()]);
}

fn status(test: &str) -> Value {
    let text = kubectl(&["get", "testrun", test, "-o", "json"]);
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    whole["status"].clone()
}

/// Polls a test's status until it matches; returns it. On timeout, it fails and shows the status.
fn wait(test: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let as_wanted = wait_for(LONGEST_WAIT, || {
        Some(status(test)).filter(|status| wanted(status))
    });
    as_wanted.unwrap_or_else(|| panic!("not as wanted: {:#}", status(test)))
}

/// Creates the operator from the kustomization, and the service under test; returns its address.
fn prepare() -> String {
    kubectl(&["apply", "--server-side", "-f", "deploy/operator/crd.yaml"]);
    let established = "--for=condition=Established";
    kubectl(&["wait", established, "crd/testruns.k6.io", PATIENCE]);
    kubectl(&["apply", "-k", "deploy/operator"]);
    kubectl(&["apply", "-f", "xtask/kube-lab/examples/web.yaml"]);
    for deployment in ["deployment/loadline-operator", "deployment/web"] {
        kubectl(&["rollout", "status", deployment, PATIENCE]);
    }
    let address = kubectl(&["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"]);
    format!("http://{address}:8080/ok")
}

#[test]
#[ignore = "needs a node"]
fn an_agent_that_the_kernel_kills_is_named_and_replaced() {
    let url = prepare();
    // Leftovers of an earlier attempt.
    kubectl(&["delete", "testrun", "oom", "--ignore-not-found"]);
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 2, duration: '40s', thresholds: {{ http_req_failed: ['rate<0.01'] }} }};
        export default function () {{ http.get('{url}'); sleep(0.05); }}"
    );
    let limits = json!({"cpu": "200m", "memory": "160Mi"});
    let runner = json!({
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": limits},
        // Files there count as memory of the container.
        "volumes": [{"name": "memory", "emptyDir": {"medium": "Memory"}}],
        "volumeMounts": [{"name": "memory", "mountPath": "/tmp"}],
    });
    apply(&[
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "oom"}, "data": {"test.js": script}}),
        json!({
            "apiVersion": "k6.io/v1alpha1", "kind": "TestRun", "metadata": {"name": "oom"},
            "spec": {"parallelism": 2, "script": {"configMap": {"name": "oom"}}, "runner": runner},
        }),
    ]);
    wait("oom", |status| status["stage"] == "started");
    let pod = kubectl(&["get", "pods", "-l", "job-name=oom-2", "-o", "name"]);
    let fill = [
        "/bin/busybox",
        "dd",
        "if=/dev/zero",
        "of=/tmp/much",
        "bs=1M",
        "count=400",
    ];
    // It ends with the container.
    spawn(&[&["exec", pod.trim(), "-c", "k6", "--"], &fill[..]].concat());
    let replaced = wait("oom", |status| status["lost"][0]["replacedBy"].is_string());
    assert_eq!(replaced["lost"][0]["agent"], "oom-2", "{replaced:#}");
    let cause = replaced["lost"][0]["cause"].as_str().expect("a text");
    assert!(cause.contains("OOMKilled"), "{cause}");
    // The exit code is available before all pods have ended.
    let ended = wait("oom", |status| status["stage"] == "finished");
    assert_eq!(ended["result"], "passed", "{ended:#}");
    let log = kubectl(&["logs", "job/oom-coordinator"]);
    assert_eq!(log.matches("http_reqs").count(), 1, "one summary: {log}");
}
