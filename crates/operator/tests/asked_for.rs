//! Features requested from k6-operator, as in the table of docs/kubernetes-distributed.md: each issue listed as
//! done has a test.
//!
//! Tests name their issues in a comment, `grafana/k6-operator#N`; those that are not beside the code are here.
//! Must not know the API. Invariant: a row of the table without a test fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Pod;
use loadline_model::test_kind::TestKind;
use loadline_operator::names::Names;
use loadline_operator::objects;
use loadline_operator::pods::Settings;
use loadline_operator::seen::SeenPod;
use loadline_operator::test::Test;
use serde_json::{Value, json};

fn run_of(spec: &Value) -> Test {
    let object = json!({"metadata": {"name": "t", "namespace": "n", "uid": "u"}, "spec": spec});
    loadline_operator::test_run::read(TestKind::TestRun, &object).expect("a test")
}

fn settings() -> Settings {
    Settings {
        image: "loadline:1".to_owned(),
        run_as_user: None,
        git_image: "git:1".to_owned(),
    }
}

fn words(job: &Value) -> Vec<&str> {
    let command = &job["spec"]["template"]["spec"]["containers"][0]["command"];
    let words = command.as_array().expect("a list").iter();
    words.filter_map(Value::as_str).collect()
}

/// One summary and thresholds over all pods: grafana/k6-operator#115, grafana/k6-operator#413, grafana/k6-operator#812. `setup()` once:
/// grafana/k6-operator#223. No pod reads the script beforehand: grafana/k6-operator#193, grafana/k6-operator#657.
#[test]
fn one_pod_reads_and_judges_the_script() {
    let run = run_of(&json!({
        "parallelism": 3, "script": {"configMap": {"name": "c"}}, "arguments": "--summary-export /tmp/s.json",
    }));
    let coordinator = objects::coordinator(&run, &settings());
    let of_coordinator = words(&coordinator);
    assert_eq!(&of_coordinator[..2], ["loadline", "run"]);
    assert_eq!(of_coordinator.last(), Some(&"/test/test.js"));
    assert!(of_coordinator.contains(&"--summary-export"));
    let agents = objects::agents(&run, &settings(), "10.0.0.1:6570");
    assert_eq!(agents.len(), 3);
    for agent in &agents {
        let of_agent = words(agent);
        assert_eq!(&of_agent[..2], ["loadline", "agent"]);
        for foreign in ["/test/test.js", "--summary-export"] {
            assert!(!of_agent.contains(&foreign), "{of_agent:?}");
        }
    }
}

/// grafana/k6-operator#207, grafana/k6-operator#211, grafana/k6-operator#162.
#[test]
fn variables_and_arguments_stay_as_they_were_written() {
    let env = json!([
        {"name": "EMPTY", "value": ""}, {"name": "QUOTED", "value": "a \"b\" 'c' $(d) `e` \\"},
    ]);
    let args = json!(["-e", "GREETING=it's \"here\" $HOME", "--tag", "a=b c"]);
    let spec =
        json!({"script": {"configMap": {"name": "c"}}, "runner": {"env": env}, "args": args});
    let run = run_of(&spec);
    let coordinator = objects::coordinator(&run, &settings());
    let agent = &objects::agents(&run, &settings(), "a:1")[0];
    for job in [&coordinator, agent] {
        let told = &job["spec"]["template"]["spec"]["containers"][0]["env"];
        let told = &told.as_array().expect("a list")[..2];
        assert_eq!(told, env.as_array().expect("a list"));
    }
    let words = words(&coordinator);
    for word in args.as_array().expect("a list") {
        assert!(words.contains(&word.as_str().expect("a text")), "{word}");
    }
}

/// grafana/k6-operator#164, grafana/k6-operator#172, grafana/k6-operator#195.
#[test]
fn a_sidecar_that_goes_on_does_not_hold_the_end_up() {
    let container = |name: &str, state: Value| json!({"name": name, "state": state, "image": "", "imageID": "", "ready": false, "restartCount": 0});
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "t-1-x", "labels": {"job-name": "t-1"}},
        "status": {"phase": "Running", "containerStatuses": [
            container("istio-proxy", json!({"running": {}})),
            container("k6", json!({"terminated": {"exitCode": 0, "reason": "Completed"}})),
        ]},
    }))
    .expect("a pod");
    let seen =
        SeenPod::of(&pod, &Names::new(TestKind::TestRun, "t", "u")).expect("a pod of the test");
    assert!(seen.is_over() && !seen.is_running);
    assert_eq!(seen.ended.map(|ended| ended.code), Some(0));
}

/// grafana/k6-operator#150, grafana/k6-operator#667.
#[test]
fn rights_are_in_namespaces_and_name_what_they_are_for() {
    let folder = repository().join("deploy/operator");
    let files = fs::read_dir(folder).expect("a folder").flatten();
    for file in files.filter(|file| file.path().is_file()) {
        let text = fs::read_to_string(file.path()).expect("a file");
        for line in text.lines().map(str::trim) {
            let wide = ["kind: ClusterRole", "- \"*\"", "[\"*\"]", "['*']", "[*]"];
            assert!(!wide.iter().any(|word| line.ends_with(word)), "{line}");
        }
    }
}

/// Virtual users are scaled at one REST API, that of the whole test: grafana/k6-operator#407.
#[test]
fn one_rest_api_is_that_of_the_whole_test() {
    let run = run_of(&json!({"parallelism": 2, "script": {"configMap": {"name": "c"}}}));
    let coordinator = objects::coordinator(&run, &settings());
    assert!(words(&coordinator).contains(&"--address=0.0.0.0:6565"));
    let ports = &coordinator["spec"]["template"]["spec"]["containers"][0]["ports"];
    let mut ports = ports.as_array().expect("a list").iter();
    assert!(ports.any(|port| port["containerPort"] == 6_565));
    for agent in objects::agents(&run, &settings(), "10.0.0.1:6570") {
        let of_agent = words(&agent);
        assert!(!of_agent.iter().any(|word| word.starts_with("--address")));
    }
}

#[test]
fn each_row_of_the_table_has_a_test() {
    let page = repository().join("docs/kubernetes-distributed.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, table) = page
        .split_once("| what people ask k6-operator for")
        .expect("the table");
    // The rest of the head is no row.
    let rows = table.lines().skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut done = BTreeSet::new();
    for row in rows.filter(|row| !row.contains("| not supported |")) {
        done.extend(issues(row, "#"));
    }
    assert!(done.len() > 20, "{done:?}");
    let mut tested = BTreeSet::new();
    for folder in ["src", "tests"] {
        collect(
            &PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut tested,
        );
    }
    let without: Vec<&u32> = done.difference(&tested).collect();
    assert!(
        without.is_empty(),
        "no test names grafana/k6-operator#N for {without:?}"
    );
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The issues that comments of a folder's files name.
fn collect(folder: &Path, into: &mut BTreeSet<u32>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a file");
            let comments = text
                .lines()
                .filter(|line| line.trim_start().starts_with("//"));
            comments.for_each(|line| into.extend(issues(line, "grafana/k6-operator#")));
        }
    }
}

/// The numbers that follow a mark.
fn issues(text: &str, mark: &str) -> Vec<u32> {
    let after = text.split(mark).skip(1);
    let number = |rest: &str| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok())
    };
    after.filter_map(number).collect()
}
