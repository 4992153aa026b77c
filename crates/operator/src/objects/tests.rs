//! The objects of a few tests, as they are created.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use loadline_model::test_kind::TestKind;

fn run_of(spec: &Value) -> Test {
    crate::test_run::read(
        TestKind::TestRun,
        &json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "0123456789"},
            "spec": spec,
        }),
    )
    .expect("a test")
}

fn settings() -> Settings {
    Settings {
        image: "loadline:1".to_owned(),
        run_as_user: Some(65_532),
        git_image: "git:1".to_owned(),
    }
}

/// In an order that does not depend on who else is built.
fn shown(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    serde_json::to_string_pretty(&value).expect("it is JSON")
}

#[test]
fn a_plain_test() {
    let run =
        run_of(&json!({"parallelism": 2, "script": {"configMap": {"name": "c", "file": "a.js"}}}));
    let agents = agents(&run, &settings(), "10.0.0.1:6570");
    assert_eq!(agents.len(), 2);
    assert_snapshot!("coordinator", shown(&coordinator(&run, &settings())));
    assert_snapshot!("agent", shown(&agents[1]));
    assert_snapshot!("service", shown(&service(&run)));
    let policy = network_policy(&run).expect("agents have addresses");
    assert_snapshot!("network_policy", shown(&policy));
}

#[test]
fn what_cannot_be_checked_out_is_not_tried_with_another_pod() {
    let git = json!({"url": "https://h/r", "revision": "v1"});
    let job = coordinator(&load_test(&json!({"script": {"git": git}})), &settings());
    let rules = job["spec"]["podFailurePolicy"]["rules"].as_array();
    let rules = rules.expect("a list").iter();
    let of_containers: Vec<&Value> = rules
        .map(|rule| &rule["onExitCodes"]["containerName"])
        .collect();
    assert_eq!(
        of_containers,
        [&json!("loadline"), &json!("git-sync"), &Value::Null]
    );
}

#[test]
fn each_pod_mounts_its_own_identity_alone() {
    let run = run_of(&json!({"parallelism": 3, "script": {"configMap": {"name": "c"}}}));
    let identities = Identities {
        coordinator: "c".to_owned(),
        agents: vec!["1".to_owned(), "2".to_owned(), "3".to_owned()],
    };
    let secret = secret(&run, &identities);
    assert_eq!(secret["stringData"]["agent-2.pem"], "2");
    let mut jobs = agents(&run, &settings(), "a:1");
    jobs.push(coordinator(&run, &settings()));
    let mut keys = Vec::new();
    for job in &jobs {
        let volumes = job["spec"]["template"]["spec"]["volumes"].as_array();
        let secrets = volumes
            .expect("a list")
            .iter()
            .filter_map(|volume| volume["secret"].as_object());
        for mounted in secrets {
            assert_eq!(mounted["secretName"], secret["metadata"]["name"]);
            let items = mounted["items"].as_array().expect("a list");
            keys.extend(
                items
                    .iter()
                    .map(|item| item["key"].as_str().expect("a key").to_owned()),
            );
        }
    }
    assert_eq!(
        keys,
        [
            "agent-1.pem",
            "agent-2.pem",
            "agent-3.pem",
            "coordinator.pem"
        ]
    );
}

#[test]
fn there_are_at_most_two_objects_an_agent_and_five() {
    let run = run_of(&json!({"parallelism": 4, "script": {"configMap": {"name": "c"}}}));
    let jobs = agents(&run, &settings(), "a:1").len() + 1;
    let others = [service(&run), network_policy(&run).expect("a policy")].len() + 1;
    // Each Job has one pod.
    assert_eq!(2 * jobs + others, 2 * 4 + 5);
}

#[test]
fn an_address_without_colons_needs_no_name() {
    let run = run_of(&json!({"script": {"configMap": {"name": "c"}}}));
    assert_eq!(join_address(&run, "10.0.0.1"), "10.0.0.1:6570");
    for ip in ["", "None", "fd00::1"] {
        assert_eq!(join_address(&run, ip), "t-coordinator.n.svc:6570", "{ip}");
    }
    let names = coordinator_names(&run, "10.0.0.1");
    assert_eq!(
        names,
        [
            "t-coordinator.n.svc",
            "t-coordinator.n",
            "t-coordinator",
            "10.0.0.1"
        ]
    );
}

#[test]
fn pods_of_the_host_have_no_policy() {
    let run =
        run_of(&json!({"script": {"configMap": {"name": "c"}}, "runner": {"hostNetwork": true}}));
    assert_eq!(network_policy(&run), None);
    let made = coordinator(&run, &settings());
    assert_eq!(made["spec"]["template"]["spec"]["hostNetwork"], Value::Null);
    let agent = agents(&run, &settings(), "a:1").remove(0);
    assert_eq!(agent["spec"]["template"]["spec"]["hostNetwork"], true);
}

fn load_test(spec: &Value) -> Test {
    crate::load_test::read(&json!({
        "metadata": {"name": "t", "namespace": "n", "uid": "0123456789"},
        "spec": spec,
    }))
    .expect("a test")
}

#[test]
fn a_load_test_has_one_job_of_all_agents() {
    let run = load_test(&json!({
        "parallelism": 3,
        "script": {"inline": "export default () => {}"},
        "podTemplate": {"spec": {"containers": [{"name": "proxy", "image": "p:1"}]}},
    }));
    let mut agents = agents(&run, &settings(), "10.0.0.1:6570");
    assert_eq!(agents.len(), 1);
    assert_snapshot!("indexed", shown(&agents.remove(0)));
    assert_snapshot!(
        "load_test_coordinator",
        shown(&coordinator(&run, &settings()))
    );
    let budget = disruption_budget(&run).expect("a budget");
    assert_snapshot!("disruption_budget", shown(&budget));
    let policy = network_policy(&run).expect("agents have addresses");
    let from = &policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"];
    let labels = agent_labels(&run);
    assert!(
        from.as_object()
            .expect("labels")
            .iter()
            .all(|(name, value)| labels[name] == *value)
    );
    let files = files(&run).expect("a ConfigMap");
    assert_eq!(files["data"], json!({"test.js": "export default () => {}"}));
}

fn agent_labels(run: &Test) -> Value {
    let job = agents(run, &settings(), "a:1").remove(0);
    job["spec"]["template"]["metadata"]["labels"].clone()
}

#[test]
fn agents_of_one_job_mount_no_key_of_the_coordinator() {
    let run = load_test(&json!({"parallelism": 3, "bench": ["http://a/"]}));
    assert_eq!(identities(&run), 1);
    let made = Identities {
        coordinator: "c".to_owned(),
        agents: vec!["1".to_owned()],
    };
    let secret = secret(&run, &made);
    assert_eq!(
        secret["stringData"],
        json!({"agent.pem": "1", "coordinator.pem": "c"})
    );
    let job = agents(&run, &settings(), "a:1").remove(0);
    let volumes = job["spec"]["template"]["spec"]["volumes"].to_string();
    assert!(
        volumes.contains("agent.pem") && !volumes.contains("coordinator.pem"),
        "{volumes}"
    );
    let coordinator = coordinator(&run, &settings());
    let command = &coordinator["spec"]["template"]["spec"]["containers"][0]["command"];
    let words = command.as_array().expect("a list");
    assert_eq!(
        (&words[1], words.last()),
        (&json!("bench"), Some(&json!("http://a/")))
    );
}

#[test]
fn agents_share_a_plan() {
    let run = load_test(&json!({
        "jmx": {"configMap": {"name": "c", "file": "a.jmx"}}, "arguments": ["-Jx=1"], "parallelism": 2,
    }));
    let job = coordinator(&run, &settings());
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    let command = container["command"].as_array().expect("a list");
    let words: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
    assert_eq!(words[..5], ["loadline", "run", "--quiet", "--agents", "2"]);
    assert_eq!(words[words.len() - 2..], ["-Jx=1", "/test/a.jmx"]);
    assert!(words.contains(&"--address=0.0.0.0:6565"), "{words:?}");
}

#[test]
fn one_pod_runs_a_suite_and_joins_nothing() {
    let run = crate::load_suite::read(&json!({
        "metadata": {"name": "s", "namespace": "n", "uid": "0123456789"},
        "spec": {"suite": {"configMap": {"name": "c"}}, "only": ["-a"], "results": {"volumeClaim": {"name": "v"}}},
    }))
    .expect("a suite");
    let job = coordinator(&run, &settings());
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["command"],
        json!([
            "loadline",
            "suite",
            "run",
            "--fresh",
            "--state",
            "/results/s.state",
            "--documents",
            "/results",
            "--address=0.0.0.0:6565",
            "--only=-a",
            "/test/suite.yaml"
        ])
    );
    for field in ["ports", "resources", "terminationMessagePath"] {
        assert_eq!(container[field], Value::Null, "{field}");
    }
    let volumes = job["spec"]["template"]["spec"]["volumes"].to_string();
    assert!(
        volumes.contains(r#""claimName":"v""#) && !volumes.contains("identity"),
        "{volumes}"
    );
    let budget = disruption_budget(&run).expect("a budget");
    assert_eq!(budget["spec"]["minAvailable"], 1);
}
