//! How the user's fields are used. Must not know the API. Invariant: each field of the table in
//! docs/kubernetes-distributed.md is here.

use serde_json::{Value, json};

use super::*;

mod scripts;

fn run_of(spec: &Value) -> Test {
    let mut spec = spec.clone();
    if spec["script"].is_null() {
        spec["script"] = json!({"configMap": {"name": "c"}});
    }
    crate::test_run::read(TestKind::TestRun, &json!({
        "metadata": {"name": "t", "namespace": "n", "uid": "u", "annotations": spec["annotations"]},
        "spec": spec,
    }))
    .expect("a test")
}

fn settings() -> Settings {
    Settings {
        image: "loadline:1".to_owned(),
        run_as_user: None,
        git_image: "git:1".to_owned(),
    }
}

fn user_settings() -> Settings {
    Settings {
        run_as_user: Some(65_532),
        git_image: "git:1".to_owned(),
        ..settings()
    }
}

fn agent_of(spec: &Value) -> Value {
    agent(&run_of(spec), &settings(), 1, "10.0.0.1:6570")
}

fn coordinator_of(spec: &Value) -> Value {
    coordinator(&run_of(spec), &settings())
}

fn container(template: &Value) -> &Value {
    &template["spec"]["containers"][0]
}

fn words(template: &Value) -> Vec<&str> {
    let command = container(template)["command"].as_array().expect("a list");
    command.iter().filter_map(Value::as_str).collect()
}

#[test]
fn arguments_are_words_of_their_own() {
    let made = coordinator_of(&json!({"args": ["--tag", "a=b; rm -rf / #", "$(X)"]}));
    assert_eq!(
        words(&made),
        [
            "loadline",
            "run",
            "--quiet",
            "--agents",
            "1",
            "--listen",
            "0.0.0.0:6570",
            "--identity",
            "/loadline/identity/identity.pem",
            "--address=0.0.0.0:6565",
            "--tag",
            "testrun_name=t",
            "--tag",
            "a=b; rm -rf / #",
            "$(X)",
            "/test/test.js",
        ]
    );
    let loud = coordinator_of(&json!({"quiet": "false", "arguments": "-q --address=:1"}));
    assert_eq!(
        words(&loud)
            .iter()
            .filter(|word| **word == "--quiet")
            .count(),
        0
    );
    assert_eq!(
        words(&loud)
            .iter()
            .filter(|word| word.starts_with("--address"))
            .count(),
        1
    );
}

#[test]
fn keys_of_a_config_map_lie_where_its_items_say() {
    let items = json!([{"key": "0-a", "path": "data/a.csv"}]);
    let script = json!({"configMap": {"name": "c", "items": items}});
    let made = coordinator_of(&json!({ "script": script }));
    let volumes = made["spec"]["volumes"].as_array().expect("a list");
    let of_script = volumes.iter().find(|one| one["configMap"]["name"] == "c");
    assert_eq!(
        of_script.expect("a volume")["configMap"],
        json!({"name": "c", "items": items})
    );
}

#[test]
fn fields_that_are_not_known_go_through() {
    let runner = json!({
        "futureField": {"x": 1}, "tolerations": [{"key": "k"}], "priorityClassName": "p",
        "nodeSelector": {"a": "b"}, "imagePullSecrets": [{"name": "s"}], "resources": {"limits": {"cpu": "2"}},
        "topologySpreadConstraints": [{"maxSkew": 1}], "metadata": {"labels": {"l": "1", "app": "mine"}, "annotations": {"a": "1"}},
        "env": [{"name": "EMPTY", "value": ""}], "envFrom": [{"secretRef": {"name": "e"}}],
        "volumes": [{"name": "v", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "initContainers": [{"name": "i", "image": "x"}],
    });
    let made = agent_of(&json!({"runner": runner}));
    let spec = &made["spec"];
    for field in [
        "futureField",
        "tolerations",
        "priorityClassName",
        "nodeSelector",
        "topologySpreadConstraints",
    ] {
        assert_eq!(spec[field], runner[field], "{field}");
    }
    assert_eq!(spec["initContainers"][0]["image"], "x");
    for field in ["envFrom", "resources"] {
        assert_eq!(container(&made)[field], runner[field], "{field}");
    }
    // After them come the variables for an agent's location, for messages about its loss.
    let env = container(&made)["env"].as_array().expect("a list").clone();
    let names: Vec<_> = env.iter().map(|one| &one["name"]).collect();
    assert_eq!(
        names,
        ["EMPTY", "POD_NAME", "NODE_NAME", "LOADLINE_AGENT_VARIABLES"]
    );
    assert_eq!(env[0], runner["env"][0]);
    let own = json!({"runner": {"env": [{"name": "NODE_NAME", "value": "mine"}]}});
    let own = container(&agent_of(&own))["env"].clone();
    assert_eq!(own.as_array().map(Vec::len), Some(3), "{own}");
    assert_eq!(own[0]["value"], "mine");
    assert_eq!(
        made["metadata"]["labels"],
        json!({"l": "1", "app": "k6", "k6_cr": "t", "runner": "true"})
    );
    assert_eq!(made["metadata"]["annotations"], json!({"a": "1"}));

    let made = coordinator_of(&json!({"runner": runner}));
    let spec = &made["spec"];
    for field in ["tolerations", "priorityClassName", "nodeSelector"] {
        assert_eq!(spec[field], runner[field], "{field}");
    }
    assert_eq!(spec["initContainers"][0]["image"], "x");
    assert_eq!(spec["topologySpreadConstraints"], Value::Null);
    assert_eq!(container(&made)["envFrom"], runner["envFrom"]);
    assert_eq!(container(&made)["env"][0], runner["env"][0]);
}

#[test]
fn a_coordinator_has_the_limits_that_a_quota_may_want_of_all_pods() {
    let of = |resources: Value| {
        let made = coordinator_of(&json!({"runner": {"resources": resources}}));
        container(&made)["resources"].clone()
    };
    let usual = json!({"requests": {"cpu": "100m", "memory": "128Mi"}});
    assert_eq!(of(json!(null)), usual);
    assert_eq!(of(json!({"requests": {"cpu": "4"}})), usual);
    assert_eq!(
        of(json!({"requests": {"cpu": "4"}, "limits": {"cpu": "4", "memory": "64Mi"}})),
        json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "4", "memory": "64Mi"}})
    );
}

/// What k6-operator adds to them: manifests leave out names, and read the script in them.
#[test]
fn init_containers_are_named_and_have_the_script() {
    let runner = json!({
        "imagePullPolicy": "Never",
        "initContainers": [
            {"image": "a", "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            {"image": "b", "name": "second", "securityContext": {"privileged": true}},
        ],
    });
    for made in [
        agent_of(&json!({"runner": runner})),
        coordinator_of(&json!({"runner": runner})),
    ] {
        let before = &made["spec"]["initContainers"];
        assert_eq!(
            (&before[0]["name"], &before[1]["name"]),
            (&json!("k6-init-0"), &json!("second"))
        );
        assert_eq!(before[0]["imagePullPolicy"], "Never");
        let script = json!({"name": "k6-test-volume", "mountPath": "/test", "readOnly": true});
        assert_eq!(
            before[0]["volumeMounts"],
            json!([script, {"name": "v", "mountPath": "/v"}])
        );
        assert_eq!(before[1]["volumeMounts"], json!([script]));
        // With the restricted Pod Security Standard, a pod is refused if one container may do more.
        assert_eq!(
            before[0]["securityContext"]["allowPrivilegeEscalation"],
            false
        );
        assert_eq!(before[1]["securityContext"], json!({"privileged": true}));
        let volumes = made["spec"]["volumes"].as_array().expect("a list");
        let of_script = volumes.iter().filter(|one| one["name"] == "k6-test-volume");
        assert_eq!(of_script.count(), 1);
    }
    let agent = agent_of(&json!({"runner": runner}));
    let mounts = container(&agent)["volumeMounts"]
        .as_array()
        .expect("a list");
    assert!(mounts.iter().all(|mount| mount["name"] != "k6-test-volume"));
    let users = json!({"securityContext": {"runAsUser": 7}});
    let told =
        json!({"runner": {"containerSecurityContext": users, "initContainers": [{"image": "a"}]}});
    let before = &agent_of(&told)["spec"]["initContainers"];
    assert_eq!(before[0]["securityContext"], users);
}

/// On as many nodes as agents there is no place for one more that they keep apart from.
#[test]
fn a_coordinator_is_not_one_of_those_that_are_spread() {
    let selector = |name: &str| json!({"labelSelector": {"matchLabels": {name: "1"}}});
    let expression =
        json!({"labelSelector": {"matchExpressions": [{"key": "d", "operator": "Exists"}]}});
    let runner = json!({
        "metadata": {"labels": {"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"}},
        "topologySpreadConstraints": [selector("a")],
        "affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [selector("b"), expression],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": selector("c")}],
        }},
    });
    let labels = |spec: Value| {
        let made = coordinator_of(&spec);
        let labels = made["metadata"]["labels"]
            .as_object()
            .expect("labels")
            .clone();
        let short = labels.into_iter().map(|(name, _)| name);
        short.filter(|name| name.len() == 1).collect::<Vec<_>>()
    };
    assert_eq!(labels(json!({ "runner": runner })), ["e"]);
    let told = json!({"metadata": {"labels": {"b": "2"}}});
    let spec = json!({"runner": runner, "initializer": told});
    assert_eq!(labels(spec), ["b", "e"]);
    let agent = agent_of(&json!({ "runner": runner }));
    assert_eq!(agent["metadata"]["labels"]["a"], "1");
}

/// `Never` says that an image is on the nodes: the user's, and not ours.
#[test]
fn when_an_image_is_pulled_is_said_of_the_users() {
    let of = |policy: &str, annotations: Value| {
        let runner = json!({"image": "theirs:1", "imagePullPolicy": policy});
        coordinator_of(&json!({
            "script": {"localFile": "/scripts/a.js"}, "runner": runner, "annotations": annotations,
        }))
    };
    let made = of("Never", json!(null));
    assert_eq!(container(&made)["imagePullPolicy"], Value::Null);
    let copy = &made["spec"]["initContainers"][0];
    assert_eq!(
        (&copy["image"], &copy["imagePullPolicy"]),
        (&json!("theirs:1"), &json!("Never"))
    );
    let made = of("IfNotPresent", json!(null));
    assert_eq!(container(&made)["imagePullPolicy"], "IfNotPresent");
    let made = of("Never", json!({"loadline.io/image": "keep"}));
    assert_eq!(container(&made)["imagePullPolicy"], "Never");
    assert_eq!(made["spec"]["initContainers"], Value::Null);
}

/// An init container of the user's writes it there.
#[test]
fn a_local_file_on_a_volume_is_not_copied_from_an_image() {
    let of = |at: &str| {
        let runner = json!({
            "image": "theirs:1",
            "volumes": [{"name": "v", "emptyDir": {}}],
            "volumeMounts": [{"name": "v", "mountPath": at}],
        });
        let made =
            coordinator_of(&json!({"script": {"localFile": "/scripts/x/a.js"}, "runner": runner}));
        made["spec"]["initContainers"].is_null()
    };
    for at in ["/scripts", "/scripts/x", "/scripts/x/", "/scripts/x/a.js"] {
        assert!(of(at), "{at}");
    }
    for at in ["/scripts/xy", "/other", "/scripts/x/data", ""] {
        assert!(!of(at), "{at}");
    }
}

#[test]
fn what_differs_between_pods_is_each_agents_own() {
    let named = |spec: Value| {
        let made = agent_of(&spec);
        let env = container(&made)["env"].as_array().expect("a list").clone();
        let mut env = env.into_iter();
        let named = env.find(|one| one["name"] == "LOADLINE_AGENT_VARIABLES");
        named.expect("it is told")["value"].clone()
    };
    assert_eq!(named(json!({})), "HOSTNAME,POD_NAME,NODE_NAME");
    let ip = json!({"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}});
    let cpu = json!({"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}});
    let secret = json!({"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}});
    let host = json!({"name": "HOSTNAME", "value": "api"});
    assert_eq!(
        named(json!({"runner": {"env": [ip, cpu, secret, host]}})),
        "IP,CPU,POD_NAME,NODE_NAME"
    );
    for arguments in [
        "-e HOSTNAME=api",
        "--env HOSTNAME=api",
        "--env=HOSTNAME=api",
    ] {
        assert_eq!(
            named(json!({"arguments": arguments})),
            "POD_NAME,NODE_NAME",
            "{arguments}"
        );
    }
}

#[test]
fn what_has_no_effect_is_named() {
    let spec = json!({
        "script": {"configMap": {"name": "c"}},
        "paused": "false",
        "scuttle": {"enabled": "true"},
        "runner": {"image": "theirs:1", "livenessProbe": {"httpGet": {"port": 1}}, "readinessProbe": {"exec": {}}},
        "starter": {"resources": {"limits": {"cpu": "1"}}},
        "initializer": {"disabled": true, "affinity": {"podAntiAffinity": {}, "nodeAffinity": {}}},
    });
    let ignored = run_of(&spec).ignored;
    let fields: Vec<&str> = ignored
        .iter()
        .filter_map(|one| Some(one.split_once(": ")?.0))
        .collect();
    assert_eq!(
        fields,
        [
            "spec.runner.image",
            "spec.runner.livenessProbe",
            "spec.starter.resources",
            "spec.initializer.disabled",
            "spec.initializer.affinity.podAntiAffinity",
            "spec.paused",
            "spec.scuttle",
        ]
    );
    let kept =
        json!({"runner": {"image": "theirs:1"}, "annotations": {"loadline.io/image": "keep"}});
    assert_eq!(run_of(&kept).ignored, Vec::<String>::new());
    for quiet in ["false", "False", "0", "no"] {
        assert!(!run_of(&json!({"quiet": quiet})).quiet, "{quiet}");
    }
    for quiet in ["", "true", "1", "T"] {
        assert!(run_of(&json!({"quiet": quiet})).quiet, "{quiet}");
    }
}

#[test]
fn the_image_is_ours_unless_it_is_to_be_kept() {
    let spec = json!({"runner": {"image": "theirs:1"}});
    assert_eq!(container(&agent_of(&spec))["image"], "loadline:1");
    let kept =
        json!({"runner": {"image": "theirs:1"}, "annotations": {"loadline.io/image": "keep"}});
    assert_eq!(container(&agent_of(&kept))["image"], "theirs:1");
    assert_eq!(container(&coordinator_of(&kept))["image"], "theirs:1");
}

#[test]
fn agents_are_kept_apart_beside_what_the_user_says() {
    let affinity = json!({
        "nodeAffinity": {"n": 1},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "mine"}]},
    });
    let spec = json!({"separate": true, "runner": {"affinity": affinity}});
    let made = agent_of(&spec);
    let made = &made["spec"]["affinity"];
    assert_eq!(made["nodeAffinity"], affinity["nodeAffinity"]);
    let terms = &made["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms[0]["topologyKey"], "mine");
    assert_eq!(terms[1]["labelSelector"]["matchLabels"]["k6_cr"], "t");
    let coordinator = coordinator_of(&spec);
    assert_eq!(
        coordinator["spec"]["affinity"],
        json!({"nodeAffinity": {"n": 1}})
    );
    let mixed = json!({"initializer": {"affinity": {"podAntiAffinity": {}}}, "runner": {"affinity": affinity}});
    assert_eq!(
        coordinator_of(&mixed)["spec"]["affinity"],
        json!({"nodeAffinity": {"n": 1}})
    );
    let alone = json!({"initializer": {"affinity": affinity}});
    assert_eq!(
        coordinator_of(&alone)["spec"]["affinity"],
        json!({"nodeAffinity": {"n": 1}})
    );
    assert_eq!(agent_of(&json!({}))["spec"]["affinity"], Value::Null);
    for odd in [json!("x"), json!({"podAntiAffinity": 1})] {
        let made = agent_of(&json!({"separate": true, "runner": {"affinity": odd}}));
        assert!(made["spec"]["affinity"]["podAntiAffinity"].is_object());
    }
}

#[test]
fn the_users_security_wins() {
    let own = agent_of(&json!({}));
    assert_eq!(own["spec"]["automountServiceAccountToken"], false);
    assert_eq!(own["spec"]["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        container(&own)["securityContext"]["readOnlyRootFilesystem"],
        true
    );
    let users = agent_of(&json!({"runner": {
        "serviceAccountName": "me", "securityContext": {"runAsUser": 7}, "containerSecurityContext": {"privileged": true},
    }}));
    assert_eq!(users["spec"]["automountServiceAccountToken"], Value::Null);
    assert_eq!(users["spec"]["serviceAccountName"], "me");
    assert_eq!(users["spec"]["securityContext"], json!({"runAsUser": 7}));
    assert_eq!(
        container(&users)["securityContext"],
        json!({"privileged": true})
    );
    for value in [json!("true"), json!(true)] {
        let made = agent_of(&json!({"runner": {"automountServiceAccountToken": value}}));
        assert_eq!(made["spec"]["automountServiceAccountToken"], true);
    }
}

#[test]
fn probes_of_ports_are_left_out_of_agents() {
    let runner = json!({
        "livenessProbe": {"httpGet": {"path": "/v1/status", "port": 6565}},
        "readinessProbe": {"exec": {"command": ["true"]}},
    });
    let made = agent_of(&json!({"runner": runner}));
    assert_eq!(container(&made)["livenessProbe"], Value::Null);
    assert_eq!(container(&made)["readinessProbe"], runner["readinessProbe"]);
}

#[test]
fn the_coordinators_fields_come_first() {
    let spec = json!({
        "initializer": {"image": "i", "resources": {"limits": {"memory": "1Gi"}}, "env": [{"name": "A", "value": "2"}]},
        "starter": {"image": "s", "resources": {"limits": {"cpu": "1m"}}, "nodeSelector": {"from": "starter"}},
        "runner": {"nodeSelector": {"from": "runner"}, "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "4"}}},
    });
    let made = coordinator_of(&spec);
    assert_eq!(made["spec"]["nodeSelector"]["from"], "starter");
    assert_eq!(container(&made)["image"], "loadline:1");
    assert_eq!(
        container(&made)["resources"],
        spec["initializer"]["resources"]
    );
    let env = container(&made)["env"].as_array().expect("a list");
    let values: Vec<&Value> = env.iter().map(|one| &one["value"]).collect();
    assert_eq!(values[..3], ["1", "2", "1"]);
    let last = env.last().expect("ours come last");
    assert_eq!(last["name"], "LOADLINE_JSON");
}

#[test]
fn a_container_beside_the_coordinator_hands_its_result_on() {
    let of = |results: &str, more: Value| {
        let mut spec = more;
        spec["annotations"] = json!({"loadline.io/results": results});
        coordinator(&run_of(&spec), &user_settings())
    };
    let keeper = |made: &Value| made["spec"]["containers"][1].clone();
    let fields = json!({"initializer": {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
        "runner": {"imagePullPolicy": "IfNotPresent", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}});
    let made = of("configMap", fields);
    assert_eq!(
        keeper(&made)["resources"],
        json!({"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "2"}})
    );
    assert_eq!(keeper(&made)["imagePullPolicy"], "IfNotPresent");
    assert_eq!(
        keeper(&made)["securityContext"],
        container(&made)["securityContext"]
    );
    assert_eq!(
        keeper(&made)["volumeMounts"],
        json!([
        {"name": "loadline-results", "mountPath": "/loadline/results", "readOnly": true}])
    );
    assert_eq!(made["spec"]["securityContext"]["fsGroup"], Value::Null);

    let made = of("volumeClaim/v/nightly", json!({}));
    let command = keeper(&made)["command"]
        .as_array()
        .cloned()
        .expect("a list");
    assert_eq!(command[7..], ["--to", "/loadline/kept/nightly"]);
    assert_eq!(made["spec"]["securityContext"]["fsGroup"], 65_532);
    let own = of(
        "volumeClaim/v",
        json!({"runner": {"securityContext": {"runAsUser": 7}}}),
    );
    assert_eq!(own["spec"]["securityContext"], json!({"runAsUser": 7}));

    let stored =
        json!({"loadline.io/results": "s3://bucket/a", "loadline.io/results-secret": "keys"});
    let made = coordinator(&run_of(&json!({"annotations": stored})), &user_settings());
    let command = keeper(&made)["command"]
        .as_array()
        .cloned()
        .expect("a list");
    let authority = "/loadline/store/ca.crt";
    assert_eq!(
        command[7..],
        ["--to", "s3://bucket/a", "--authority", authority]
    );
    let keys = json!([{"secretRef": {"name": "keys"}}]);
    assert_eq!(keeper(&made)["envFrom"], keys);
    assert_eq!(container(&made)["envFrom"], json!([]));

    let suite = json!({"metadata": {"name": "t", "namespace": "n", "uid": "u"},
        "spec": {"suite": {"configMap": {"name": "c"}}}});
    let suite = crate::load_suite::read(&suite).expect("a suite");
    let made = coordinator(&suite, &user_settings());
    let command = keeper(&made)["command"].as_array().cloned();
    assert_eq!(command.expect("a list")[5..], ["--suite", "/results"]);
    let state = json!({"name": "loadline-state", "mountPath": "/results", "readOnly": true});
    assert_eq!(keeper(&made)["volumeMounts"][1], state);
    let env = container(&made)["env"].as_array().expect("a list");
    // Each row has its own result.
    assert!(env.iter().all(|one| one["name"] != "LOADLINE_JSON"));

    let made = of("none", json!({}));
    assert_eq!(keeper(&made), Value::Null);
    let env = container(&made)["env"].as_array().expect("a list");
    assert!(env.iter().all(|one| one["name"] != "LOADLINE_JSON"));
}
