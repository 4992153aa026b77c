//! The Helm chart: its objects, and that they equal those of `deploy/operator`.
//!
//! helm's output is stored in `crates/e2e/chart` (written by `cargo xtask chart`), so that it is compared with
//! `deploy/operator` even where helm is not installed. Must not know templates. Invariant: objects are compared
//! as data, never as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use loadline_e2e::process::has_program;
use loadline_e2e::{run_to_end, skip};
use serde_json::{Value, json};

const CHART: &str = "deploy/helm/loadline-operator";

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The objects in a text, without empty documents.
fn objects(text: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_saphyr::from_multiple(text).expect("YAML");
    all.into_iter().filter(|object| !object.is_null()).collect()
}

fn objects_of(file: &str) -> Vec<Value> {
    let path = repository().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{file}: {why}"));
    objects(&text)
}

fn one<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let mut of_kind = objects.iter().filter(|object| object["kind"] == kind);
    let one = of_kind.next().unwrap_or_else(|| panic!("a {kind}"));
    assert!(of_kind.next().is_none(), "one {kind}");
    one
}

fn container(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["containers"][0]
}

/// Rules without an order.
fn rules(role: &Value) -> BTreeSet<String> {
    let rules = role["rules"].as_array().expect("rules");
    // The order of a rule's fields is irrelevant.
    let in_order = |rule: &Value| {
        let fields = rule.as_object().into_iter().flatten();
        let fields: BTreeMap<&String, &Value> = fields.collect();
        json!(fields).to_string()
    };
    rules.iter().map(in_order).collect()
}

/// helm (or the program named by `LOADLINE_HELM`) in the root of the sources; `None`: it is not installed,
/// which is reported.
fn helm(words: &[&str]) -> Option<Output> {
    let named = std::env::var_os("LOADLINE_HELM");
    if named.is_none() && !has_program("helm") {
        skip("chart", "helm is not installed");
        return None;
    }
    let mut helm = Command::new(named.unwrap_or_else(|| "helm".into()));
    helm.args(words).current_dir(repository());
    Some(run_to_end(helm))
}

fn template(words: &[&str]) -> Option<Output> {
    let all = [
        "template",
        "loadline-operator",
        CHART,
        "--namespace",
        "default",
    ];
    helm(&[&all[..], &["--kube-version", "1.37.1"], words].concat())
}

fn rendered(words: &[&str]) -> Option<Vec<Value>> {
    let output = template(words)?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(objects(&String::from_utf8_lossy(&output.stdout)))
}

#[test]
fn what_is_rendered_is_what_is_stored() {
    for case in ["default", "everything"] {
        let values = format!("crates/e2e/chart/{case}.values.yaml");
        let Some(fresh) = rendered(&["--values", &values]) else {
            return;
        };
        let stored = objects_of(&format!("crates/e2e/chart/{case}.yaml"));
        assert_eq!(fresh, stored, "{case}: run `cargo xtask chart`");
    }
}

#[test]
fn the_chart_makes_what_the_kustomization_has() {
    let chart = objects_of("crates/e2e/chart/default.yaml");
    let operator = objects_of("deploy/operator/operator.yaml");
    let role = objects_of("deploy/operator/role.yaml");
    assert_eq!(
        rules(one(&chart, "Role")),
        rules(one(&role, "Role")),
        "run `cargo xtask chart`"
    );
    for part in ["roleRef", "subjects"] {
        assert_eq!(
            one(&chart, "RoleBinding")[part],
            one(&role, "RoleBinding")[part]
        );
    }
    let (of_chart, plain) = (one(&chart, "Deployment"), one(&operator, "Deployment"));
    let spec = |deployment: &Value| {
        let mut spec = deployment["spec"].clone();
        // The chart's objects differ by release, and its image has the chart's version.
        spec["selector"] = json!(null);
        spec["template"]["metadata"] = json!(null);
        for word in ["/image", "/command/2"] {
            let path = format!("/template/spec/containers/0{word}");
            *spec.pointer_mut(&path).expect(word) = json!(null);
        }
        spec
    };
    assert_eq!(spec(of_chart), spec(plain));
    let image = format!("loadline:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(container(of_chart)["image"], image);
    assert_eq!(container(of_chart)["command"][2], image);
}

#[test]
fn each_namespace_has_a_role_and_the_own_one_the_lease() {
    let all = objects_of("crates/e2e/chart/everything.yaml");
    let role = |namespace: &str| {
        let of = |object: &&Value| {
            object["kind"] == "Role" && object["metadata"]["namespace"] == namespace
        };
        rules(
            all.iter()
                .find(of)
                .unwrap_or_else(|| panic!("a Role in {namespace}")),
        )
    };
    let whole = rules(one(&objects_of("deploy/operator/role.yaml"), "Role"));
    assert_eq!(role("shop"), role("search"));
    assert!(role("shop").iter().any(|rule| rule.contains("testruns")));
    let leases = |rules: BTreeSet<String>| {
        let is_lease = |rule: &String| rule.contains("leases");
        rules
            .into_iter()
            .filter(is_lease)
            .collect::<BTreeSet<String>>()
    };
    assert_eq!(leases(role("shop")).len(), 1, "a k6-operator's alone");
    assert_eq!(role("default"), leases(whole.clone()));
    assert_eq!(
        role("shop")
            .union(&role("default"))
            .cloned()
            .collect::<BTreeSet<_>>(),
        whole
    );
    assert_eq!(role("k6-operator-system"), leases(role("shop")));
    let is_wide = |object: &Value| {
        object["kind"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("Cluster"))
    };
    assert!(!all.iter().any(is_wide), "rights are in namespaces");
    let deployment = one(&all, "Deployment");
    let words = container(deployment)["command"].as_array().expect("words");
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    assert_eq!(
        words,
        [
            "loadline-operator",
            "--image",
            "registry.example/tests:1",
            "--git-image",
            "registry.example/git-sync:v4",
            "--run-as-user",
            "image",
            "--namespace",
            "shop",
            "--namespace",
            "search",
            "--context",
            "a b",
        ]
    );
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsUser"], Value::Null);
    assert_eq!(pod["securityContext"]["fsGroup"], 7);
    assert_eq!(
        container(deployment)["securityContext"]["readOnlyRootFilesystem"],
        false
    );
    assert_eq!(
        one(&all, "PodDisruptionBudget")["spec"]["maxUnavailable"],
        1
    );
}

#[test]
fn definitions_are_those_of_the_operator_and_stay() {
    let Some(all) = rendered(&[]) else {
        return;
    };
    let of_chart = all
        .iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition");
    let mut count = 0;
    for definition in of_chart {
        let name = definition["metadata"]["name"].as_str().expect("a name");
        let annotations = &definition["metadata"]["annotations"];
        assert_eq!(annotations["helm.sh/resource-policy"], "keep", "{name}");
        let folder = repository().join("deploy/operator");
        let files = fs::read_dir(folder).expect("a folder").flatten();
        let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "yaml"));
        let sources = files.flat_map(|file| {
            let text = fs::read_to_string(file.path()).expect("a file");
            objects(&text)
        });
        let is_it = |object: &Value| {
            object["kind"] == definition["kind"] && object["metadata"]["name"] == name
        };
        let source = sources.into_iter().find(is_it).expect(name);
        assert_eq!(definition["spec"], source["spec"], "{name}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn values_that_mean_nothing_are_refused() {
    for set in [
        "replica=2",
        "runAsUser=0",
        "runAsUser=root",
        "image.digest=latest",
        "watchNamespaces[0]=UPPER",
        "crds.install=maybe",
    ] {
        let Some(output) = template(&["--set", set]) else {
            return;
        };
        assert!(!output.status.success(), "{set}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("schema"), "{set}: {error}");
    }
}

#[test]
fn a_large_user_is_written_in_digits() {
    let Some(all) = rendered(&["--set-json", "runAsUser=1000660000"]) else {
        return;
    };
    let deployment = one(&all, "Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsUser"], 1_000_660_000);
    assert_eq!(container(deployment)["command"][4], "1000660000");
}

#[test]
fn chart_and_program_have_one_version() {
    let chart = objects_of("deploy/helm/loadline-operator/Chart.yaml");
    for field in ["version", "appVersion"] {
        assert_eq!(chart[0][field], env!("CARGO_PKG_VERSION"), "{field}");
    }
}
