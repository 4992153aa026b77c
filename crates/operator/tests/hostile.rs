//! TestRuns, LoadTests and LoadSuites that nobody would write.
//!
//! Must not know how they are read. Invariant: any object is refused with a reason, or becomes pods with the
//! operator's own program.

use k8s_openapi::jiff::Timestamp;
use loadline_model::test_kind::TestKind;
use loadline_operator::pods::Settings;
use loadline_operator::schedule::Schedule;
use loadline_operator::status::{Known, Stage, Status};
use loadline_operator::step::{Seen, refuse, step};
use loadline_operator::{objects, pods, reading, test_run};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Names that mean something somewhere.
const WORDS: &[&str] = &[
    "affinity",
    "annotations",
    "args",
    "arguments",
    "automountServiceAccountToken",
    "cleanup",
    "command",
    "configMap",
    "containerSecurityContext",
    "containers",
    "env",
    "envFrom",
    "file",
    "git",
    "hostNetwork",
    "hostname",
    "image",
    "initContainers",
    "initializer",
    "k6_cr",
    "labels",
    "livenessProbe",
    "localFile",
    "metadata",
    "name",
    "parallelism",
    "podAntiAffinity",
    "ports",
    "resources",
    "restartPolicy",
    "revision",
    "runner",
    "script",
    "secret",
    "securityContext",
    "separate",
    "serviceAccountName",
    "starter",
    "terminationGracePeriodSeconds",
    "volumeClaim",
    "volumeMounts",
    "volumes",
    "exec",
    "bench",
    "coordinator",
    "cron",
    "inline",
    "jmx",
    "only",
    "podTemplate",
    "results",
    "schedule",
    "spec",
    "suite",
    "timeZone",
    "ttlAfterFinished",
    "url",
];
const TEXTS: &[&str] = &[
    "",
    "post",
    "true",
    "--agents=3",
    "-o cloud",
    "https://g/shop.git",
    "git+https://g/shop.git@v1:test.js",
    "$(rm -rf /)",
    "; sh -c 'x'",
    "../../etc/passwd",
    "/a/b.js",
    "k6",
    "loadline",
    "loadline-identity",
    "/loadline/identity",
    "* * * * *",
    "always",
    "ü\u{0}\n",
];

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        proptest::sample::select(TEXTS).prop_map(str::to_owned),
        proptest::sample::select(WORDS).prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_i64..9).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let key = proptest::sample::select(WORDS).prop_map(str::to_owned);
    proptest::collection::hash_map(key, inner, 0..7)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// A specification that often gets past the first check.
fn spec() -> impl Strategy<Value = Value> {
    let pod = || prop_oneof![3 => object(value()), 1 => value()];
    (
        object(value()),
        pod(),
        pod(),
        pod(),
        0_i64..5,
        any::<bool>(),
    )
        .prop_map(
            |(mut spec, runner, starter, initializer, parallelism, is_plain)| {
                if is_plain {
                    spec = json!({"separate": true, "args": spec["args"]});
                    spec["script"] = json!({"localFile": "/s/a.js"});
                }
                spec["runner"] = runner;
                spec["starter"] = starter;
                spec["initializer"] = initializer;
                spec["parallelism"] = json!(parallelism);
                spec
            },
        )
}

/// A specification of our own kinds that often gets past the first check: a pod template of any fields beside what is run.
fn own_spec() -> impl Strategy<Value = Value> {
    let run = prop_oneof![
        Just(json!({"script": {"inline": "export default () => {}"}})),
        Just(json!({"bench": ["-n", "1", "http://a/"]})),
        Just(json!({"jmx": {"configMap": {"name": "c"}}})),
        Just(json!({"suite": {"configMap": {"name": "c"}}})),
    ];
    let template = prop_oneof![
        3 => (object(value()), proptest::collection::vec(value(), 0..3)).prop_map(|(mut spec, containers)| {
            for decided in ["restartPolicy", "hostname"] {
                spec.as_object_mut().expect("an object").remove(decided);
            }
            spec["containers"] = json!(containers);
            json!({ "spec": spec })
        }),
        1 => value(),
    ];
    (run, template, object(value()), 0_i64..4, 0..4_u8).prop_map(
        |(mut spec, template, other, parallelism, which)| {
            spec["podTemplate"] = template;
            if which == 0 {
                let other = other.as_object().expect("an object").clone();
                spec.as_object_mut().expect("an object").extend(other);
            }
            if which == 1 && spec["suite"].is_null() {
                spec["parallelism"] = json!(parallelism);
            }
            spec
        },
    )
}

/// What holds for the pods of our own kinds; `key`: that of the pod's identity, if it has one.
fn check_own(job: &Value, key: Option<&str>) {
    let template = &job["spec"]["template"];
    let spec = &template["spec"];
    assert_eq!(spec["restartPolicy"], "Never");
    let containers = spec["containers"].as_array().expect("a list");
    let ours = containers
        .iter()
        .filter(|container| container["name"] == "loadline");
    let ours: Vec<&Value> = ours.collect();
    assert_eq!(ours.len(), 1);
    let command = ours[0]["command"].as_array().expect("a list");
    assert_eq!(command[0], "loadline");
    assert!(command.iter().all(Value::is_string));
    assert!(ours[0].get("args").is_none());
    let of_operator = |volume: &&Value| volume["secret"]["secretName"] == "t-identity-u";
    let volumes = spec["volumes"].as_array().expect("a list");
    let own: Vec<&Value> = volumes.iter().filter(of_operator).collect();
    assert_eq!(own.len(), usize::from(key.is_some()));
    if let Some(key) = key {
        let items = json!([{"key": key, "path": "identity.pem"}]);
        assert_eq!(own[0]["secret"]["items"], items);
    }
}

fn check(template: &Value, hostname: &str, key: &str) {
    let spec = &template["spec"];
    assert_eq!(spec["restartPolicy"], "Never");
    assert_eq!(spec["hostname"], hostname);
    assert_eq!(template["metadata"]["labels"]["k6_cr"], "t");
    let containers = spec["containers"].as_array().expect("a list");
    let beside = usize::from(key == "coordinator.pem");
    assert_eq!(containers.len(), 1 + beside);
    for keeper in &containers[1..] {
        assert_eq!(
            (&keeper["name"], &keeper["image"]),
            (&json!("results"), &json!("ours:1"))
        );
        let command = keeper["command"].as_array().expect("a list");
        assert_eq!(command[..3], ["loadline", "k8s", "keep"]);
        let mounts = keeper["volumeMounts"].as_array().expect("a list");
        assert!(
            mounts
                .iter()
                .all(|mount| mount["mountPath"] == "/loadline/results")
        );
        assert_eq!(
            (&keeper["env"], &keeper["envFrom"]),
            (&Value::Null, &Value::Null)
        );
    }
    assert_eq!(
        (&containers[0]["name"], &containers[0]["image"]),
        (&json!("k6"), &json!("ours:1"))
    );
    let command = containers[0]["command"].as_array().expect("a list");
    assert_eq!(command[0], "loadline");
    assert!(command.iter().all(Value::is_string));
    let of_operator = |volume: &&Value| volume["secret"]["secretName"] == "t-identity-u";
    let volumes = spec["volumes"].as_array().expect("a list");
    let own: Vec<&Value> = volumes.iter().filter(of_operator).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(
        own[0]["secret"]["items"],
        json!([{"key": key, "path": "identity.pem"}])
    );
}

proptest! {
    #[test]
    fn what_is_not_refused_becomes_pods_of_the_operators(spec in spec(), status in value()) {
        let object = json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "u"},
            "spec": spec, "status": status,
        });
        let now = Timestamp::UNIX_EPOCH;
        let known = Known::read(&object);
        let settings = Settings { image: "ours:1".to_owned(), run_as_user: None, git_image: "git:1".to_owned() };
        match test_run::read(TestKind::TestRun, &object) {
            Err(refusal) => {
                prop_assert!(!refusal.message.is_empty());
                let refused = refuse(TestKind::TestRun, &known, &refusal, now);
                let is_error = |status: &Status| status.stage == Stage::Error;
                prop_assert!(refused.status.as_ref().is_none_or(is_error));
            }
            Ok(run) => {
                let next = || step(&run, &known, &Seen::default(), now);
                prop_assert_eq!(next(), next());
                let coordinator = pods::coordinator(&run, &settings);
                check(&coordinator, "t-coordinator", "coordinator.pem");
                let agents = objects::agents(&run, &settings, "10.0.0.1:6570");
                prop_assert_eq!(agents.len(), run.parallelism as usize);
                for (index, job) in agents.iter().enumerate() {
                    let number = index + 1;
                    check(&job["spec"]["template"], &format!("t-{number}"), &format!("agent-{number}.pem"));
                }
            }
        }
    }

    #[test]
    fn what_our_own_kinds_do_not_refuse_becomes_pods_of_the_operators(spec in own_spec(), status in value()) {
        let kind = match spec["suite"].is_null() {
            true => TestKind::LoadTest,
            false => TestKind::LoadSuite,
        };
        let object = json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "u"},
            "spec": spec, "status": status,
        });
        let known = Known::read(&object);
        let settings = Settings { image: "ours:1".to_owned(), run_as_user: None, git_image: "git:1".to_owned() };
        match reading::read(kind, &object) {
            Err(refusal) => prop_assert!(!refusal.message.is_empty()),
            Ok(run) => {
                let next = || step(&run, &known, &Seen::default(), Timestamp::UNIX_EPOCH);
                prop_assert_eq!(next(), next());
                let key = (!run.work.is_alone()).then_some("coordinator.pem");
                check_own(&objects::coordinator(&run, &settings), key);
                if !run.work.is_alone() {
                    let agents = objects::agents(&run, &settings, "10.0.0.1:6570");
                    prop_assert_eq!(agents.len(), 1);
                    prop_assert_eq!(&agents[0]["spec"]["completions"], &json!(run.parallelism));
                    check_own(&agents[0], Some("agent.pem"));
                }
            }
        }
    }

    #[test]
    fn a_schedule_of_anything_is_refused_or_followed(schedule in object(value()), spec in own_spec(), cron in "[ -~]{0,20}", second in any::<u32>()) {
        let mut spec = spec;
        spec["schedule"] = schedule;
        let text = &mut spec["schedule"]["cron"];
        if text.is_null() {
            *text = json!(cron);
        }
        let object = json!({"metadata": {"name": "t", "namespace": "n", "uid": "u"}, "spec": spec});
        let now = Timestamp::from_second(second.into()).expect("an instant");
        match Schedule::read(&object) {
            Err(refusal) => prop_assert!(!refusal.message.is_empty()),
            Ok(schedule) => {
                let next = schedule.follow(None, Timestamp::UNIX_EPOCH, &[], now);
                prop_assert!(next.told.next_schedule_time.is_none_or(|next| next.0 > now));
            }
        }
    }
}
