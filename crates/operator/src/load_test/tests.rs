//! The allowed content of a `LoadTest`. Must not know the objects made from it. Invariant: each refused field
//! is named.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::git::GitFile;
use crate::test::Cleanup;

fn read(spec: &Value) -> Result<Test, Refusal> {
    super::read(&json!({
        "metadata": {"name": "t", "namespace": "n", "uid": "u"},
        "spec": spec,
    }))
}

fn with(field: &str, value: Value) -> Value {
    let mut spec = json!({"script": {"inline": "export default () => {}"}});
    spec[field] = value;
    spec
}

#[test]
fn one_of_three_is_run() {
    let test =
        read(&json!({"bench": ["-r", "10", "http://a/"], "parallelism": 3})).expect("a test");
    assert_eq!(test.work, Work::Bench);
    assert_eq!(test.arguments, ["-r", "10", "http://a/"]);
    assert_eq!(test.agents(), 3);
    let test = read(&json!({"jmx": {"configMap": {"name": "c"}}})).expect("a test");
    assert_eq!(
        test.work.source().map(Source::path).as_deref(),
        Some("/test/test.jmx")
    );
    let git =
        json!({"jmx": {"git": {"url": "https://g/shop.git", "revision": "v1", "secret": "g"}}});
    assert_eq!(
        read(&git).expect("a test").work.source(),
        Some(&Source::Git(GitFile {
            url: "https://g/shop.git".to_owned(),
            revision: "v1".to_owned(),
            file: "test.jmx".to_owned(),
            secret: Some("g".to_owned()),
        }))
    );
    let shared = json!({"jmx": {"configMap": {"name": "c"}}, "parallelism": 4});
    assert_eq!(read(&shared).expect("a test").agents(), 4);
    for script in [
        json!({"configMap": {"name": "c", "file": "a.js"}}),
        json!({"volumeClaim": {"name": "c", "file": "a.js"}}),
        json!({"git": {"url": "https://g/shop.git"}}),
        json!({"localFile": "/s/a.js"}),
        json!({"inline": "export default () => {}"}),
    ] {
        let test = read(&json!({"script": script})).expect("a test");
        assert!(matches!(test.work, Work::Script(_)), "{script}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_its_field() {
    for (spec, named) in [
        (json!({}), "one of script, bench and jmx"),
        (
            with("bench", json!(["http://a/"])),
            "one of script, bench and jmx",
        ),
        (with("script", json!({})), "spec.script: one of"),
        (
            with("script", json!({"inline": "x", "localFile": "/s/a.js"})),
            "spec.script: one of",
        ),
        (
            with("script", json!({"inline": "x".repeat(INLINE_MAX + 1)})),
            "spec.script.inline",
        ),
        (with("script", json!({"git": {}})), "spec.script.git"),
        (
            with("script", json!({"git": {"url": "ssh://g/shop.git"}})),
            "ssh is not supported",
        ),
        (
            with(
                "script",
                json!({"git": {"url": "https://g/a"}, "inline": "x"}),
            ),
            "spec.script",
        ),
        (
            with("coordinator", json!({"replicas": 2})),
            "spec.coordinator.replicas",
        ),
        (json!({"jmx": {"inline": "<xml/>"}}), "spec.jmx.inline"),
        (
            json!({"bench": ["http://a/"], "arguments": ["-q"]}),
            "spec.arguments",
        ),
        (json!({"bench": ["--agents=3", "http://a/"]}), "--agents"),
        (with("arguments", json!("--vus 3")), "spec.arguments"),
        (with("arguments", json!(["--listen", "x"])), "--listen"),
        (with("cleanup", json!("post")), "spec.cleanup"),
        (with("results", json!("s3")), "spec.results"),
        (with("results", json!("s3://bucket")), "spec.resultsSecret"),
        (
            with("ttlAfterFinished", json!("1w")),
            "spec.ttlAfterFinished",
        ),
        (with("paralellism", json!(2)), "spec.paralellism"),
    ] {
        refused(&spec, named);
    }
}

fn refused(spec: &Value, named: &str) {
    let refusal = read(spec).expect_err(named);
    assert!(refusal.message.contains(named), "{refusal}");
}

#[test]
fn what_the_operator_decides_of_pods_is_refused() {
    let pod = |spec: Value| with("podTemplate", json!({ "spec": spec }));
    for (spec, named) in [
        (pod(json!({"volumes": {}})), "volumes: a list"),
        (
            pod(json!({"containers": [{"name": "loadline", "env": {}}]})),
            "env: a list",
        ),
        (
            pod(json!({"hostname": "x"})),
            "spec.podTemplate.spec.hostname",
        ),
        (pod(json!({"restartPolicy": "Always"})), "restartPolicy"),
        (
            pod(json!({"containers": [{"name": "loadline", "command": ["sh"]}]})),
            "command of loadline",
        ),
        (
            pod(json!({"containers": [{"name": "loadline", "tty": true}, {"name": "loadline"}]})),
            "twice",
        ),
        (
            pod(
                json!({"containers": [{"name": "loadline", "env": [{"name": "JOB_COMPLETION_INDEX"}]}]}),
            ),
            "JOB_COMPLETION_INDEX",
        ),
        (
            with("podTemplate", json!({"kind": "Pod"})),
            "spec.podTemplate.kind",
        ),
        (
            with(
                "coordinator",
                json!({"podTemplate": {"spec": {"hostname": "x"}}}),
            ),
            "spec.coordinator.podTemplate",
        ),
    ] {
        refused(&spec, named);
    }
}

#[test]
fn containers_but_ours_stand_beside_it() {
    let spec = json!({"containers": [
        {"name": "proxy", "image": "p:1"},
        {"name": "loadline", "image": "mine:1", "resources": {"limits": {"cpu": "2"}}, "env": [{"name": "B", "value": "2"}]},
    ], "nodeSelector": {"a": "b"}});
    let template =
        json!({"metadata": {"labels": {"team": "x"}, "creationTimestamp": null}, "spec": spec});
    let mut test = with("podTemplate", template);
    test["env"] = json!([{"name": "A", "value": "1"}]);
    let test = read(&test).expect("a test");
    assert_eq!(
        test.agent.beside,
        [json!({"name": "proxy", "image": "p:1"})]
    );
    assert_eq!(test.agent.container["resources"]["limits"]["cpu"], "2");
    assert_eq!(test.agent.container["env"][1]["name"], "B");
    assert_eq!(test.agent.labels["team"], "x");
    assert_eq!(test.coordinator.container["image"], "mine:1");
    assert_eq!(
        test.coordinator.container["env"],
        json!([{"name": "A", "value": "1"}])
    );
    assert_eq!(test.coordinator.spec.get("nodeSelector"), None);
    assert!(test.coordinator.beside.is_empty());
}

#[test]
fn it_says_when_it_goes() {
    let test = read(&with("ttlAfterFinished", json!("2h"))).expect("a test");
    assert_eq!(test.ttl, Some(Duration::from_secs(7_200)));
    assert_eq!(test.cleanup, Cleanup::Never);
    let test = read(&with("cleanup", json!("on-success"))).expect("a test");
    assert_eq!(test.cleanup, Cleanup::OnSuccess);
}
