//! Reads and checks a `TestRun`, or a `K6`, as k6-operator once called it.
//!
//! Must not know the objects made from it, nor the API. Invariant: any object yields data or a refusal with a
//! reason; no part of it is ever interpreted by a shell.

mod pods;
mod quantity;

use serde_json::{Map, Value};

use crate::arguments;
use crate::fields::{self, Fields};
use crate::git::{self, GitFile};
use crate::results::{RESULTS_ANNOTATION, RESULTS_SECRET_ANNOTATION, Said, Wanted};
use crate::script_address::{self, SCRIPT_ANNOTATION};
use crate::test::{Cleanup, Refusal, Source, Test, Work, invalid, unsupported};
use loadline_model::test_kind::TestKind;

use pods::{PodFields, Pods};

/// Annotation: `keep` uses the runner's image, which must contain loadline.
pub const IMAGE_ANNOTATION: &str = "loadline.io/image";
/// Annotation: the Secret for reading the script's git repository.
pub const SECRET_ANNOTATION: &str = "loadline.io/script-secret";
/// Annotation: `always` or `on-success` deletes the `TestRun` at its end.
pub const CLEANUP_ANNOTATION: &str = "loadline.io/cleanup";
/// Annotation: how long after its end the `TestRun` is deleted, such as `30m`.
pub const TTL_ANNOTATION: &str = "loadline.io/ttl-after-finished";

/// Reads an object from the API.
///
/// # Errors
/// It cannot be run.
pub fn read(kind: TestKind, object: &Value) -> Result<Test, Refusal> {
    let empty = Map::new();
    let spec = Fields::spec(object, &empty);
    let name = fields::name(object)?;
    for field in ["testRunId", "token"] {
        if !spec.text(field)?.unwrap_or_default().is_empty() {
            return Err(unsupported(format!(
                "spec.{field}: a test in k6's cloud is not run here"
            )));
        }
    }
    let places =
        [RESULTS_ANNOTATION, RESULTS_SECRET_ANNOTATION].map(|name| format!("annotation {name}"));
    let annotation = |name: &str| object["metadata"]["annotations"][name].as_str();
    let said = Said {
        results: annotation(RESULTS_ANNOTATION),
        secret: annotation(RESULTS_SECRET_ANNOTATION),
    };
    let ttl = |text: &str| fields::span(&format!("annotation {TTL_ANNOTATION}"), text);
    let pods = Pods {
        runner: PodFields::read(&spec, "runner")?,
        starter: PodFields::read(&spec, "starter")?,
        initializer: PodFields::read(&spec, "initializer")?,
        ports: spec.list("ports")?.to_vec(),
        keeps_image: annotation(IMAGE_ANNOTATION) == Some("keep"),
    };
    let mut ignored = pods.ignored();
    ignored.extend(ignored_of(&spec)?);
    let mut agent = pods.agent();
    if spec.flag("separate")? {
        pods::keep_apart(&mut agent, &kind.agent_labels(&name));
    }
    Ok(Test {
        kind,
        results: Wanted::read([&places[0], &places[1]], &said, &name)?,
        namespace: fields::of_metadata(object, "namespace"),
        uid: fields::of_metadata(object, "uid"),
        generation: fields::generation(object),
        work: Work::Script(match annotation(SCRIPT_ANNOTATION) {
            Some(address) => elsewhere(&spec, address, annotation(SECRET_ANNOTATION))?,
            None => script(&spec, &pods)?,
        }),
        parallelism: spec.parallelism()?,
        arguments: arguments::read(&spec)?,
        quiet: spec.worded_flag("quiet", true)?,
        cleanup: cleanup(&spec, annotation(CLEANUP_ANNOTATION))?,
        ttl: annotation(TTL_ANNOTATION).map(ttl).transpose()?,
        ignored,
        coordinator: pods.coordinator(),
        agent,
        name,
    })
}

/// A script that an annotation names; the specification must not name another.
fn elsewhere(spec: &Fields<'_>, address: &str, secret: Option<&str>) -> Result<Source, Refusal> {
    let named = spec.object("script")?;
    if named.is_some_and(|named| !named.is_empty()) {
        return Err(invalid(format!(
            "annotation {SCRIPT_ANNOTATION}: spec.script says where the script is, too; leave it empty (script: {{}})"
        )));
    }
    if git::is_meant(address) {
        let place = format!("annotation {SCRIPT_ANNOTATION}");
        return GitFile::read(&place, address, secret).map(Source::Git);
    }
    if secret.is_some() {
        return Err(invalid(format!(
            "annotation {SECRET_ANNOTATION}: only a script of a git repository is read with a Secret"
        )));
    }
    script_address::read(address).map(Source::Address)
}

fn script(spec: &Fields<'_>, pods: &Pods) -> Result<Source, Refusal> {
    let none = || {
        invalid("spec.script: one of configMap, volumeClaim and localFile is required".to_owned())
    };
    let script = spec.within("script")?.ok_or_else(none)?;
    if let Some(mounted) = script.mounted("test.js")? {
        return Ok(mounted);
    }
    let path = script.local_file()?.ok_or_else(none)?;
    let image = pods.script_image(&path);
    Ok(Source::Local { path, image })
}

/// What is said of the whole test and has no effect.
fn ignored_of(spec: &Fields<'_>) -> Result<Vec<String>, Refusal> {
    let mut ignored = Vec::new();
    if !spec.worded_flag("paused", true)? {
        ignored.push("spec.paused: all agents start at one instant".to_owned());
    }
    let scuttle = spec
        .object("scuttle")?
        .and_then(|scuttle| scuttle.get("enabled"));
    if scuttle.is_some_and(|enabled| enabled.as_str().is_some_and(fields::is_true)) {
        ignored.push("spec.scuttle: a sidecar does not delay the end of a test".to_owned());
    }
    Ok(ignored)
}

fn cleanup(spec: &Fields<'_>, annotation: Option<&str>) -> Result<Cleanup, Refusal> {
    match (spec.text("cleanup")?.unwrap_or_default(), annotation) {
        ("post", None) | ("" | "post", Some("always")) => Ok(Cleanup::Always),
        ("", None) => Ok(Cleanup::Never),
        ("" | "post", Some("on-success")) => Ok(Cleanup::OnSuccess),
        ("" | "post", Some(other)) => Err(invalid(format!(
            "annotation {CLEANUP_ANNOTATION}: {other:?} is neither always nor on-success"
        ))),
        (other, _) => Err(invalid(format!(
            "spec.cleanup: {other:?} is not post, the only valid value"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::reading::begun;

    fn read(spec: &Value) -> Result<Test, Refusal> {
        read_annotated(spec, &json!({}))
    }

    fn read_annotated(spec: &Value, annotations: &Value) -> Result<Test, Refusal> {
        super::read(
            TestKind::TestRun,
            &json!({
                "metadata": {"name": "t", "namespace": "n", "uid": "u", "annotations": annotations},
                "spec": spec,
            }),
        )
    }

    fn path(run: &Test) -> String {
        run.work.source().expect("a script").path()
    }

    fn with(field: &str, value: Value) -> Value {
        let mut spec = json!({"script": {"configMap": {"name": "c"}}, "parallelism": 2});
        spec[field] = value;
        spec
    }

    #[test]
    fn the_least_is_a_script() {
        let run = read(&json!({"script": {"configMap": {"name": "c", "file": "a.js"}}}));
        let run = run.expect("a test");
        assert_eq!(run.parallelism, 1);
        assert_eq!(path(&run), "/test/a.js");
        assert!(run.quiet);
        assert_eq!(run.agent.container.get("image"), None);
        assert_eq!((run.cleanup, run.ttl), (Cleanup::Never, None));
    }

    #[test]
    fn scripts_come_from_three_places() {
        let volume = json!({"volumeClaim": {"name": "v", "file": "d/a.js", "readOnly": true}});
        let run = read(&with("script", volume)).expect("a test");
        assert_eq!(path(&run), "/test/d/a.js");
        let run = read(&with("script", json!({"localFile": "/scripts/a.js"}))).expect("a test");
        assert_eq!(path(&run), "/scripts/a.js");
        let empty =
            json!({"volumeClaim": {"name": ""}, "configMap": {"name": ""}, "localFile": "/s/a.js"});
        assert!(read(&with("script", empty)).is_ok());
    }

    #[test]
    fn an_annotation_names_a_script_elsewhere() {
        let address = format!("https://h/a.tar#sha256={}", "0".repeat(64));
        let annotated = |script: Value| {
            read_annotated(
                &with("script", script),
                &json!({SCRIPT_ANNOTATION: address}),
            )
        };
        let test = annotated(json!({})).expect("a test");
        assert_eq!(test.work.source().map(Source::path), Some(address.clone()));
        let twice = annotated(json!({"configMap": {"name": "c"}})).expect_err("two scripts");
        assert!(twice.message.contains("script: {}"), "{twice}");
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_its_field() {
        for (spec, reason, named) in [
            (json!({}), "InvalidSpec", "spec.script"),
            (with("script", json!({})), "InvalidSpec", "spec.script"),
            (
                with("script", json!({"localFile": "--help"})),
                "InvalidSpec",
                "localFile",
            ),
            (
                with("script", json!({"localFile": "/a.js"})),
                "InvalidSpec",
                "localFile",
            ),
            (
                with(
                    "script",
                    json!({"configMap": {"name": "c", "file": "../etc"}}),
                ),
                "InvalidSpec",
                "leaves",
            ),
            (with("parallelism", json!(0)), "InvalidSpec", "parallelism"),
            (
                with("parallelism", json!(-7)),
                "InvalidSpec",
                "parallelism: -7",
            ),
            (with("parallelism", json!(501)), "InvalidSpec", "500"),
            (
                with("parallelism", json!("4")),
                "InvalidSpec",
                "a number is required",
            ),
            (with("separate", json!("true")), "InvalidSpec", "separate"),
            (with("runner", json!([])), "InvalidSpec", "spec.runner"),
            (
                with("runner", json!({"containers": []})),
                "InvalidSpec",
                "spec.runner.containers",
            ),
            (
                with(
                    "script",
                    json!({"volumeClaim": {"name": "v", "file": "/a.js"}}),
                ),
                "InvalidSpec",
                "not in a directory",
            ),
            (with("cleanup", json!("pre")), "InvalidSpec", "spec.cleanup"),
            (with("testRunId", json!("1")), "Unsupported", "testRunId"),
            (with("token", json!("x")), "Unsupported", "token"),
        ] {
            let refusal = read(&spec).expect_err(named);
            assert_eq!(refusal.reason, reason, "{spec}");
            assert!(refusal.message.contains(named), "{refusal}");
        }
        let long =
            json!({"metadata": {"name": "x".repeat(52)}, "spec": with("quiet", json!("true"))});
        assert!(super::read(TestKind::TestRun, &long).is_err());
    }

    #[test]
    fn what_is_edited_in_mid_run_changes_nothing() {
        let edited = |spec: Value| json!({"metadata": {"name": "t", "uid": "u"}, "spec": spec});
        let more = edited(with("parallelism", json!(9)));
        let run = begun(TestKind::TestRun, &more, 2, true).expect("a test");
        assert_eq!(run.parallelism, 2);
        let broken = edited(with("parallelism", json!("many")));
        let run = begun(TestKind::TestRun, &broken, 2, true).expect("a test");
        assert_eq!((run.name.as_str(), run.parallelism), ("t", 2));
        assert!(begun(TestKind::TestRun, &broken, 2, false).is_err());
    }

    #[test]
    fn annotations_say_when_it_goes() {
        let ttl = |text: &str| {
            read_annotated(
                &with("quiet", json!("false")),
                &json!({TTL_ANNOTATION: text}),
            )
        };
        assert_eq!(
            ttl("30m").expect("a test").ttl,
            Some(Duration::from_secs(1_800))
        );
        for text in ["", "m", "1", "-1s", "1w", "4294967296s", "ü"] {
            assert!(ttl(text).is_err(), "{text}");
        }
        let cleanup =
            |spec: &Value, word: &str| read_annotated(spec, &json!({CLEANUP_ANNOTATION: word}));
        let post = || with("cleanup", json!("post"));
        assert_eq!(read(&post()).expect("a test").cleanup, Cleanup::Always);
        let kept = cleanup(&post(), "on-success").expect("a test");
        assert_eq!(kept.cleanup, Cleanup::OnSuccess);
        assert!(cleanup(&post(), "sometimes").is_err());
    }
}
