//! The Helm chart with a real API server: installed, upgraded, removed, with existing objects before it.
//!
//! These tests need helm, and `KUBECONFIG` and kubectl of a lab whose image `loadline:dev` has both programs.
//! Must not know templates. Invariant: definitions are restored, for other tests in the same cluster.

use std::path::PathBuf;
use std::process::{Command, Output};

use loadline_e2e::process::has_program;
use loadline_e2e::{run_to_end, skip};
use serde_json::Value;

const CHART: &str = "deploy/helm/loadline-operator";
const DEFINITION: &str = "crd/testruns.k6.io";
const TEST: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {test.js: "export const options = { vus: 2, iterations: 4 }; export default function () {}"}
---
apiVersion: k6.io/v1alpha1
kind: TestRun
metadata: {name: NAME}
spec: {parallelism: 2, script: {configMap: {name: NAME}}}
"#;

fn run(program: &str, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    command.args(words).current_dir(root);
    run_to_end(command)
}

/// The output of a program that must succeed.
fn must(program: &str, words: &[&str]) -> String {
    let output = run(program, words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn kubectl(words: &[&str]) -> String {
    must("kubectl", words)
}

/// Annotations and labels of the definition of `TestRun`s.
fn definition() -> Value {
    let text = kubectl(&["get", DEFINITION, "-o", "json"]);
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    whole["metadata"].clone()
}

/// Installs or upgrades, and waits until it runs.
fn install(release: &str, namespace: &str, more: &[&str]) -> String {
    let words = [
        "upgrade",
        "--install",
        release,
        CHART,
        "--namespace",
        namespace,
        "--create-namespace",
        "--wait",
        "--timeout",
        "50s",
        "--set",
        "image.tag=dev",
    ];
    must("helm", &[&words[..], more].concat())
}

fn uninstall(release: &str, namespace: &str) {
    must(
        "helm",
        &[
            "uninstall",
            release,
            "--namespace",
            namespace,
            "--wait",
            "--timeout",
            "50s",
        ],
    );
}

/// Asserts that the operator installed by the chart runs a test.
fn a_test_passes(namespace: &str, name: &str) {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("test.yaml");
    std::fs::write(&file, TEST.replace("NAME", name)).expect("there is room");
    kubectl(&["-n", namespace, "apply", "-f", &file.to_string_lossy()]);
    let test = format!("testrun/{name}");
    let passed = [
        "wait",
        "--for=jsonpath={.status.result}=passed",
        &test,
        "--timeout=50s",
    ];
    let waited = run("kubectl", &[&["-n", namespace], &passed[..]].concat());
    let log = run(
        "kubectl",
        &["-n", namespace, "logs", "deployment/one-loadline-operator"],
    );
    let log = String::from_utf8_lossy(&log.stdout);
    assert!(
        waited.status.success(),
        "{}\n{log}",
        kubectl(&["-n", namespace, "get", &test, "-o", "yaml"])
    );
    assert!(!log.contains("forbidden"), "{log}");
}

/// A definition by k6-operator or an administrator: not Helm's.
fn definition_from_elsewhere() {
    run("kubectl", &["delete", DEFINITION, "--timeout=50s"]);
    kubectl(&["apply", "--server-side", "-f", "deploy/operator/crd.yaml"]);
    kubectl(&[
        "wait",
        "--for=condition=Established",
        DEFINITION,
        "--timeout=50s",
    ]);
}

#[test]
#[ignore = "needs a cluster"]
fn it_is_installed_upgraded_and_taken_away_and_definitions_stay() {
    if !has_program("helm") {
        return skip("lab_chart", "helm is not installed");
    }
    let namespace = format!("chart-{}", std::process::id());
    let (namespace, other) = (namespace.as_str(), format!("{namespace}-more"));
    definition_from_elsewhere();
    let told = install("one", namespace, &[]);
    assert!(told.contains("from elsewhere"), "{told}");
    assert_eq!(
        definition()["annotations"]["helm.sh/resource-policy"],
        Value::Null
    );
    a_test_passes(namespace, "before");

    kubectl(&["create", "namespace", &other]);
    let watched = format!("watchNamespaces={{{namespace},{other}}}");
    install(
        "one",
        namespace,
        &["--set", "replicas=2", "--set", &watched],
    );
    kubectl(&[
        "-n",
        namespace,
        "get",
        "poddisruptionbudget/one-loadline-operator",
    ]);
    a_test_passes(&other, "after");

    uninstall("one", namespace);
    kubectl(&["-n", namespace, "get", "testrun/before"]);

    kubectl(&["delete", DEFINITION, "--timeout=50s"]);
    install("one", namespace, &[]);
    assert_eq!(
        definition()["annotations"]["helm.sh/resource-policy"],
        "keep"
    );
    assert_eq!(definition()["labels"]["app.kubernetes.io/instance"], "one");
    // The chart's own objects are upgraded: a label defined by the chart is restored.
    kubectl(&[
        "label",
        DEFINITION,
        "app.kubernetes.io/instance=changed",
        "--overwrite",
    ]);
    install("one", namespace, &[]);
    assert_eq!(definition()["labels"]["app.kubernetes.io/instance"], "one");
    uninstall("one", namespace);
    assert_eq!(
        definition()["annotations"]["meta.helm.sh/release-name"],
        "one"
    );

    kubectl(&["delete", "namespace", namespace, &other, "--wait=false"]);
    definition_from_elsewhere();
}
