//! The objects of a new test in a cluster: a ConfigMap with its files, and the `TestRun` or `LoadTest`.
//!
//! Must not know what happens to it. Invariant: an existing test is never changed.

use std::fs;
use std::path::Path;

use loadline_kubernetes::{Conflicts, TestName, read_manifests};
use loadline_model::test_kind::TestKind;
use serde_json::{Map, Value, json};

use super::load::Load;
use super::{Place, refused, told};
use crate::Ending;
use crate::cli::k8s::K8sNewArgs;

/// The fields of a test that define its load; one of them must be present.
const WORK: [&str; 3] = ["bench", "jmx", "script"];

/// The objects to be created for a new test.
#[derive(Debug)]
pub(super) struct NewTest {
    id: TestName,
    /// The ConfigMap with its files; `None`: it needs none.
    pub(super) files: Option<Value>,
    pub(super) test: Value,
}

/// The test in a file.
pub(super) fn read_template(path: &Path) -> Result<Value, Ending> {
    let refused = |why: String| Ending::usage(&format!("--template: {}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let all = read_manifests(&text).map_err(|error| refused(error.to_string()))?;
    let mut tests = all.into_iter().filter(|one| kind_of(one).is_some());
    match (tests.next(), tests.next()) {
        (Some(test), None) => Ok(test),
        (None, _) => Err(refused("it holds no TestRun or LoadTest".to_owned())),
        (Some(_), Some(_)) => Err(refused("it holds more than one test".to_owned())),
    }
}

/// The kind of a test that runs one load.
fn kind_of(object: &Value) -> Option<TestKind> {
    let kinds = [TestKind::TestRun, TestKind::K6, TestKind::LoadTest];
    kinds.into_iter().find(|kind| object["kind"] == kind.name())
}

/// The objects of a new test.
pub(super) fn manifests(
    args: &K8sNewArgs,
    name: &str,
    load: &Load,
    template: Option<Value>,
) -> Result<NewTest, Ending> {
    let template = template.unwrap_or_default();
    let kind = kind_of(&template).unwrap_or_else(|| load.kind());
    if !load.fits(kind) {
        return Err(Ending::usage(&format!(
            "--template: a {} only runs scripts: use a LoadTest",
            kind.name()
        )));
    }
    let mut spec = template["spec"].as_object().cloned().unwrap_or_default();
    for work in WORK {
        spec.remove(work);
    }
    let (field, what) = load.field(name);
    spec.insert(field.to_owned(), what);
    if let Some(parallelism) = args.parallelism {
        spec.insert("parallelism".to_owned(), json!(parallelism));
    }
    add_words(&mut spec, args, load, kind)?;
    let files = load.data();
    let files = (!files.is_empty()).then(|| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": name, "labels": { kind.label(): name } },
            "binaryData": files,
        })
    });
    let mut metadata = json!({ "name": name });
    for kept in ["labels", "annotations"] {
        if let Some(given) = template["metadata"].get(kept) {
            metadata[kept] = given.clone();
        }
    }
    Ok(NewTest {
        id: TestName {
            kind,
            name: name.to_owned(),
        },
        files,
        test: json!({
            "apiVersion": kind.api_version(),
            "kind": kind.name(),
            "metadata": metadata,
            "spec": spec,
        }),
    })
}

/// Adds arguments and variables of the command line where tests of a kind have them.
fn add_words(
    spec: &mut Map<String, Value>,
    args: &K8sNewArgs,
    load: &Load,
    kind: TestKind,
) -> Result<(), Ending> {
    let mut words = Vec::new();
    if load.reads_variables() {
        let variables = args.env.iter();
        words.extend(variables.flat_map(|one| ["--env".to_owned(), one.clone()]));
    } else {
        let mut env = match spec.remove("env") {
            Some(Value::Array(env)) => env,
            _ => Vec::new(),
        };
        for variable in &args.env {
            let (name, value) = variable
                .split_once('=')
                .ok_or_else(|| Ending::usage(&format!("--env {variable}: write NAME=VALUE")))?;
            env.push(json!({ "name": name, "value": value }));
        }
        if !env.is_empty() {
            spec.insert("env".to_owned(), json!(env));
        }
    }
    if !spec.contains_key("bench") {
        words.extend(load.words.iter().cloned());
    }
    if words.is_empty() {
        return Ok(());
    }
    if spec.contains_key("args") || spec.contains_key("arguments") {
        return Err(Ending::usage(
            "the template sets arguments: add --env and the options after -- there, or remove them from it",
        ));
    }
    let field = match kind {
        TestKind::TestRun | TestKind::K6 => "args",
        TestKind::LoadTest | TestKind::LoadSuite => "arguments",
    };
    spec.insert(field.to_owned(), json!(words));
    Ok(())
}

/// Applies the objects of a new test, and makes the test the owner of its files.
pub(super) fn apply(place: &Place, new: &NewTest) -> Result<TestName, Ending> {
    let namespace = &place.namespace;
    let id = &new.id;
    let name = &id.name;
    match place.cluster.test(namespace, id) {
        Ok(_) => {
            return Err(Ending::usage(&format!(
                "test {name} already exists in namespace {namespace}: choose another --name, or delete it"
            )));
        }
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(told(error)),
    }
    let apply = |objects: &[Value]| {
        let plan = place
            .cluster
            .plan_apply(objects, namespace, Conflicts::Refuse);
        let change = plan.map_err(refused)?;
        place.cluster.carry_out(&change).map_err(told)
    };
    let objects = new.files.iter().chain([&new.test]);
    let objects: Vec<Value> = objects.cloned().collect();
    apply(&objects)?;
    let test = place.cluster.test(namespace, id).map_err(told)?;
    if let Some(mut owned) = new.files.clone() {
        owned["metadata"]["ownerReferences"] = json!([{
            "apiVersion": id.kind.api_version(), "kind": id.kind.name(), "name": name, "uid": test.uid,
        }]);
        apply(&[owned])?;
    }
    Ok(id.clone())
}

/// Deletes a test, and everything that belongs to it.
pub(super) fn delete(place: &Place, test: &TestName) -> Result<(), Ending> {
    let (version, kind) = (test.kind.api_version(), test.kind.name());
    let test = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": test.name } });
    let plan = place.cluster.plan_delete(&[test], &place.namespace);
    let change = plan.map_err(refused)?;
    place.cluster.carry_out(&change).map_err(told)
}
