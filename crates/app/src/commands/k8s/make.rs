//! What a test needs in a cluster: a ConfigMap with its script, and the `TestRun`.
//!
//! Must not know what becomes of it. Invariant: a test that is there is never changed.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadline_kubernetes::{Conflicts, TestKind, TestName, read_manifests};
use serde_json::{Value, json};

use super::{Place, refused, told};
use crate::cli::k8s::K8sRunArgs;
use crate::cli::script::ScriptCommand;
use crate::commands::{archive, k6, run, script, seed};
use crate::k6::{Identity, K6Error, K6Invocation, LogSettings, Reading};
use crate::{Ending, Env, Files};

/// Most bytes of an archive: a ConfigMap holds 1 MiB, and a third more than these as base64.
const ARCHIVE_MAX: usize = 750_000;
/// The archive's name in the ConfigMap.
const ARCHIVE: &str = "archive.tar";
/// Most characters of a name, which becomes that of a host with a number after it.
const NAME_MAX: usize = 40;

/// A script with all that it imports and opens.
pub(super) fn pack(
    script: &str,
    variables: &[String],
    env: &Env,
    files: &Files,
) -> Result<Vec<u8>, Ending> {
    let refused = |error: K6Error| k6::refused(&error, &LogSettings::default());
    let mut words = vec!["--exclude-env-vars".to_owned()];
    for variable in variables {
        words.extend(["--env".to_owned(), variable.clone()]);
    }
    words.push(script.to_owned());
    let read = K6Invocation::parse(Identity::Loadline, ScriptCommand::Archive, &words, env);
    let invocation = match read.map_err(refused)? {
        Reading::Invocation(invocation) => invocation,
        Reading::Help(text) => return Err(Ending::usage(&text)),
    };
    let packed = || -> Result<Vec<u8>, K6Error> {
        let loaded = script::load(&invocation, env, files)?;
        let run = run::consolidated(&invocation, &loaded, None)?;
        let mut bytes = Vec::new();
        let written = archive::packed(&invocation, &loaded, &run)?.write(&mut bytes);
        written.map_err(|error| K6Error::other(format!("cannot pack {script}: {error}")))?;
        Ok(bytes)
    };
    let bytes = packed().map_err(refused)?;
    match bytes.len() {
        0..=ARCHIVE_MAX => Ok(bytes),
        size => Err(Ending::usage(&format!(
            "{script} and its files take {size} bytes as an archive, and a ConfigMap holds {ARCHIVE_MAX}: put the archive on a volume, \
             and name it in a TestRun with script.volumeClaim"
        ))),
    }
}

/// The `TestRun` of a file.
pub(super) fn read_template(path: &Path) -> Result<Value, Ending> {
    let refused = |why: String| Ending::usage(&format!("--template: {}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let all = read_manifests(&text).map_err(|error| refused(error.to_string()))?;
    let mut tests = all.into_iter().filter(|one| one["kind"] == "TestRun");
    match (tests.next(), tests.next()) {
        (Some(test), None) => Ok(test),
        (None, _) => Err(refused("it holds no TestRun".to_owned())),
        (Some(_), Some(_)) => Err(refused("it holds more than one TestRun".to_owned())),
    }
}

/// A name that no other test is likely to have.
pub(super) fn fresh_name(script: &Path) -> String {
    let stem = script.file_stem().unwrap_or_default().to_string_lossy();
    let letter = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '-',
    };
    let stem: String = stem.chars().map(letter).take(NAME_MAX - 6).collect();
    let stem = match stem.trim_matches('-') {
        "" => "test",
        stem => stem,
    };
    format!("{stem}-{:05}", seed::fresh_seed() % 100_000)
}

/// The objects, the `TestRun` last.
pub(super) fn manifests(
    args: &K8sRunArgs,
    name: &str,
    archive: &[u8],
    template: Option<Value>,
) -> Result<[Value; 2], Ending> {
    let template = template.unwrap_or_default();
    let mut spec = template["spec"].as_object().cloned().unwrap_or_default();
    let script = json!({ "configMap": { "name": name, "file": ARCHIVE } });
    spec.insert("script".to_owned(), script);
    if let Some(parallelism) = args.parallelism {
        spec.insert("parallelism".to_owned(), json!(parallelism));
    }
    let variables = args.env.iter().flat_map(|one| ["--env", one]);
    let options = args.options.iter().map(String::as_str);
    let words: Vec<&str> = variables.chain(options).collect();
    if !words.is_empty() {
        if spec.contains_key("args") || spec.contains_key("arguments") {
            return Err(Ending::usage(
                "the template has arguments of its own: say --env and the options after -- there, or take them out of it",
            ));
        }
        spec.insert("args".to_owned(), json!(words));
    }
    let config_map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "labels": { "k6_cr": name } },
        "binaryData": { ARCHIVE: STANDARD.encode(archive) },
    });
    let mut metadata = json!({ "name": name });
    for kept in ["labels", "annotations"] {
        if let Some(given) = template["metadata"].get(kept) {
            metadata[kept] = given.clone();
        }
    }
    let test = json!({
        "apiVersion": TestKind::TestRun.api_version(),
        "kind": TestKind::TestRun.name(),
        "metadata": metadata,
        "spec": spec,
    });
    Ok([config_map, test])
}

/// Applies the objects of a new test, and makes the script go with it.
pub(super) fn apply(place: &Place, name: &str, objects: &[Value]) -> Result<TestName, Ending> {
    let namespace = &place.namespace;
    let id = TestName {
        kind: TestKind::TestRun,
        name: name.to_owned(),
    };
    match place.cluster.test(namespace, &id) {
        Ok(_) => {
            return Err(Ending::usage(&format!(
                "there is a test {name} in namespace {namespace} already: choose another --name, or delete it"
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
    apply(objects)?;
    let test = place.cluster.test(namespace, &id).map_err(told)?;
    let mut owned = objects[0].clone();
    owned["metadata"]["ownerReferences"] = json!([{
        "apiVersion": id.kind.api_version(), "kind": id.kind.name(), "name": name, "uid": test.uid,
    }]);
    apply(&[owned])?;
    Ok(id)
}

/// Deletes a test, and all that belongs to it.
pub(super) fn delete(place: &Place, test: &TestName) -> Result<(), Ending> {
    let (version, kind) = (test.kind.api_version(), test.kind.name());
    let test = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": test.name } });
    let plan = place.cluster.plan_delete(&[test], &place.namespace);
    let change = plan.map_err(refused)?;
    place.cluster.carry_out(&change).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_host() {
        for (script, begin) in [
            ("a/Check Out.js", "check-out-"),
            ("-.js", "test-"),
            ("ü", "test-"),
        ] {
            let name = fresh_name(Path::new(script));
            assert!(name.starts_with(begin) && name.len() <= NAME_MAX, "{name}");
        }
    }
}
