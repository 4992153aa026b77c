//! What a `TestRun` says: read, and checked.
//!
//! Fields of pods are handed through as they were written; only what is decided by is looked at. Must not know objects that are made
//! of it, nor the API. Invariant: whatever an object holds becomes data or a refusal with a reason; nothing of it is ever read by a shell.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::arguments;
use crate::script_address::{self, SCRIPT_ANNOTATION};

/// Most agents of a test: their identities lie in one Secret, which holds a mebibyte.
pub const PARALLELISM_MAX: u32 = 500;
/// Longest name: what is made of it is a label of 63 characters at most.
const NAME_MAX: usize = 63 - "-coordinator".len();
/// Annotation: `keep` runs the image that the runner names, which has loadline in it.
pub const IMAGE_ANNOTATION: &str = "loadline.io/image";
/// Annotation: `always` or `on-success` deletes the `TestRun` at its end.
pub const CLEANUP_ANNOTATION: &str = "loadline.io/cleanup";
/// Annotation: how long after its end the `TestRun` is deleted, such as `30m`.
pub const TTL_ANNOTATION: &str = "loadline.io/ttl-after-finished";
/// Names of pod fields that the operator decides about.
const DECIDED: &[&str] = &[
    "containers",
    "ephemeralContainers",
    "hostname",
    "restartPolicy",
    "subdomain",
];

/// Where the script is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// A key of a ConfigMap.
    ConfigMap {
        /// Name of the ConfigMap.
        name: String,
        /// The key, which is the file's name.
        file: String,
    },
    /// A file on a volume.
    Volume {
        /// Name of the claim.
        claim: String,
        /// Path on the volume.
        file: String,
        /// Whether it is mounted for reading only.
        read_only: bool,
    },
    /// A file in an image.
    Local {
        /// Absolute path.
        path: String,
    },
    /// A file or an archive of the web, with its digest.
    Address(String),
}

impl Script {
    /// The path under which the script is run.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Script::ConfigMap { file, .. } | Script::Volume { file, .. } => format!("/test/{file}"),
            Script::Local { path } | Script::Address(path) => path.clone(),
        }
    }
}

/// When a `TestRun` is deleted by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// It stays.
    Never,
    /// Whatever came out.
    Always,
    /// When the test passed.
    OnSuccess,
}

/// Fields of a pod as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodFields(pub Map<String, Value>);

impl PodFields {
    /// A field that has a value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that is not empty.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    /// The elements of a list; none where it is absent.
    #[must_use]
    pub fn list(&self, name: &str) -> &[Value] {
        let list = self.get(name).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }
}

/// A test that can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRun {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Tells it from one of the same name that was there before.
    pub uid: String,
    /// The script.
    pub script: Script,
    /// How many agents.
    pub parallelism: u32,
    /// Whether no two agents share a node.
    pub separate: bool,
    /// Arguments of the run.
    pub arguments: Vec<String>,
    /// Ports that agents declare.
    pub ports: Vec<Value>,
    /// Whether there is no progress in the log.
    pub quiet: bool,
    /// When it is deleted.
    pub cleanup: Cleanup,
    /// How long after its end it is deleted; `None`: it is not.
    pub ttl: Option<Duration>,
    /// Whether the runner's image has loadline in it.
    pub keeps_image: bool,
    /// Fields of the agents' pods.
    pub runner: PodFields,
    /// Fields of the pod that started the test.
    pub starter: PodFields,
    /// Fields of the pod that read the script.
    pub initializer: PodFields,
}

/// Why a `TestRun` cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One word for machines.
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for Refusal {}

/// A field that cannot be read.
pub(crate) fn invalid(message: String) -> Refusal {
    Refusal {
        reason: "InvalidSpec",
        message,
    }
}

/// Something that there is not.
pub(crate) fn unsupported(message: String) -> Refusal {
    Refusal {
        reason: "Unsupported",
        message,
    }
}

impl TestRun {
    /// Reads an object as the API gives it.
    ///
    /// # Errors
    /// It cannot be run as it is.
    pub fn read(object: &Value) -> Result<TestRun, Refusal> {
        let metadata = &object["metadata"];
        let of_metadata = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let spec = Map::new();
        let spec = object["spec"].as_object().unwrap_or(&spec);
        let spec = Fields(spec);
        let name = of_metadata("name");
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(invalid(format!(
                "metadata.name: at most {NAME_MAX} characters, so that what is made of it can be named after it"
            )));
        }
        for field in ["testRunId", "token"] {
            if !spec.text(field)?.unwrap_or_default().is_empty() {
                return Err(unsupported(format!(
                    "spec.{field}: a test in k6's cloud is not run here"
                )));
            }
        }
        let annotation = |name: &str| metadata["annotations"][name].as_str();
        Ok(TestRun {
            name,
            namespace: of_metadata("namespace"),
            uid: of_metadata("uid"),
            script: match annotation(SCRIPT_ANNOTATION) {
                Some(address) => elsewhere(&spec, address)?,
                None => script(&spec)?,
            },
            parallelism: parallelism(&spec)?,
            separate: spec.flag("separate")?,
            arguments: arguments::read(&spec)?,
            ports: spec.list("ports")?.to_vec(),
            quiet: spec.text("quiet")? != Some("false"),
            cleanup: cleanup(&spec, annotation(CLEANUP_ANNOTATION))?,
            ttl: annotation(TTL_ANNOTATION).map(ttl).transpose()?,
            keeps_image: annotation(IMAGE_ANNOTATION) == Some("keep"),
            runner: pod(&spec, "runner")?,
            starter: pod(&spec, "starter")?,
            initializer: pod(&spec, "initializer")?,
        })
    }
}

impl TestRun {
    /// The test as it was begun: what is edited in it afterwards changes nothing. `agents`: how many it was begun with.
    ///
    /// # Errors
    /// It was not begun in earnest, and cannot be run as it is.
    pub fn begun(object: &Value, agents: u32, is_made: bool) -> Result<TestRun, Refusal> {
        let mut run = match TestRun::read(object) {
            Ok(run) => run,
            Err(refusal) if !is_made => return Err(refusal),
            Err(_) => {
                // What names its objects cannot be edited, and no more of them are made.
                let mut plain = json!({"metadata": object["metadata"]});
                plain["metadata"]["annotations"] = Value::Null;
                plain["spec"] = json!({"script": {"localFile": "/test/test.js"}});
                TestRun::read(&plain)?
            }
        };
        if agents > 0 {
            run.parallelism = agents;
        }
        Ok(run)
    }
}

/// The fields of a specification.
pub(crate) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn typed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let refused = || invalid(format!("spec.{name}: {what} is wanted"));
        read(value).map(Some).ok_or_else(refused)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.typed(name, "a text", Value::as_str)
    }

    fn flag(&self, name: &str) -> Result<bool, Refusal> {
        let flag = self.typed(name, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or_default())
    }

    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], Refusal> {
        let list = self.typed(name, "a list", Value::as_array)?;
        Ok(list.map_or(&[], Vec::as_slice))
    }

    fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, Refusal> {
        self.typed(name, "an object", Value::as_object)
    }

    #[cfg(test)]
    pub(crate) fn of(spec: &'a Value) -> Fields<'a> {
        Fields(spec.as_object().expect("an object"))
    }
}

fn parallelism(spec: &Fields<'_>) -> Result<u32, Refusal> {
    let wanted = spec.typed("parallelism", "a number", Value::as_i64)?;
    let wanted = wanted.unwrap_or(1);
    u32::try_from(wanted)
        .ok()
        .filter(|wanted| (1..=PARALLELISM_MAX).contains(wanted))
        .ok_or_else(|| {
            invalid(format!(
                "spec.parallelism: {wanted} is not between 1 and {PARALLELISM_MAX}"
            ))
        })
}

/// A script that an annotation names; the specification must not name another.
fn elsewhere(spec: &Fields<'_>, address: &str) -> Result<Script, Refusal> {
    let named = spec.object("script")?;
    if named.is_some_and(|named| !named.is_empty()) {
        return Err(invalid(format!(
            "annotation {SCRIPT_ANNOTATION}: spec.script says where the script is, too; leave it empty (script: {{}})"
        )));
    }
    script_address::read(address).map(Script::Address)
}

fn script(spec: &Fields<'_>) -> Result<Script, Refusal> {
    let none =
        || invalid("spec.script: one of configMap, volumeClaim and localFile is wanted".to_owned());
    let script = Fields(spec.object("script")?.ok_or_else(none)?);
    let named = |from: &Map<String, Value>, field: &str| {
        let name = from.get("name").and_then(Value::as_str).unwrap_or_default();
        let wanted = || invalid(format!("spec.script.{field}.name: a name is wanted"));
        (!name.is_empty())
            .then(|| name.to_owned())
            .ok_or_else(wanted)
    };
    let is_named = |from: &&Map<String, Value>| from.get("name").is_some_and(|name| name != "");
    if let Some(from) = script.object("volumeClaim")?.filter(is_named) {
        return Ok(Script::Volume {
            claim: named(from, "volumeClaim")?,
            file: file(from)?,
            read_only: from.get("readOnly") == Some(&Value::Bool(true)),
        });
    }
    if let Some(from) = script.object("configMap")?.filter(is_named) {
        return Ok(Script::ConfigMap {
            name: named(from, "configMap")?,
            file: file(from)?,
        });
    }
    let path = script.text("localFile")?.unwrap_or_default();
    match path {
        "" => Err(none()),
        path if !path.starts_with('/') || folder(path).is_empty() => Err(invalid(format!(
            "spec.script.localFile: {path:?} is not the absolute path of a file in a folder"
        ))),
        path => Ok(Script::Local {
            path: path.to_owned(),
        }),
    }
}

/// The folder of a path; empty for that of all.
#[must_use]
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn file(from: &Map<String, Value>) -> Result<String, Refusal> {
    let file = from.get("file").and_then(Value::as_str);
    let file = file.filter(|file| !file.is_empty()).unwrap_or("test.js");
    if file.split('/').any(|part| part == "..") {
        return Err(invalid(format!(
            "spec.script: the file {file:?} leaves its folder"
        )));
    }
    Ok(file.to_owned())
}

fn pod(spec: &Fields<'_>, name: &str) -> Result<PodFields, Refusal> {
    let fields = spec.object(name)?.cloned().unwrap_or_default();
    if let Some(decided) = DECIDED.iter().find(|field| fields.contains_key(**field)) {
        return Err(invalid(format!(
            "spec.{name}.{decided}: the operator decides about it"
        )));
    }
    Ok(PodFields(fields))
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
            "spec.cleanup: {other:?} is not post, the only value that there is"
        ))),
    }
}

fn ttl(text: &str) -> Result<Duration, Refusal> {
    let refused = || {
        invalid(format!(
            "annotation {TTL_ANNOTATION}: {text:?} is not a number with s, m, h or d"
        ))
    };
    let last = text.chars().last().ok_or_else(refused)?;
    let seconds = match last {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(refused()),
    };
    let count = text[..text.len() - 1]
        .parse::<u32>()
        .map_err(|_| refused())?;
    Ok(Duration::from_secs(u64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(spec: &Value) -> Result<TestRun, Refusal> {
        read_annotated(spec, &json!({}))
    }

    fn read_annotated(spec: &Value, annotations: &Value) -> Result<TestRun, Refusal> {
        TestRun::read(&json!({
            "metadata": {"name": "t", "namespace": "n", "uid": "u", "annotations": annotations},
            "spec": spec,
        }))
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
        assert_eq!(run.script.path(), "/test/a.js");
        assert!(run.quiet && !run.separate && !run.keeps_image);
        assert_eq!((run.cleanup, run.ttl), (Cleanup::Never, None));
    }

    #[test]
    fn scripts_come_from_three_places() {
        let volume = json!({"volumeClaim": {"name": "v", "file": "d/a.js", "readOnly": true}});
        let run = read(&with("script", volume)).expect("a test");
        assert_eq!(run.script.path(), "/test/d/a.js");
        let run = read(&with("script", json!({"localFile": "/scripts/a.js"}))).expect("a test");
        assert_eq!(run.script.path(), "/scripts/a.js");
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
        assert_eq!(annotated(json!({})).expect("a test").script.path(), address);
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
                "a number is wanted",
            ),
            (with("separate", json!("true")), "InvalidSpec", "separate"),
            (with("runner", json!([])), "InvalidSpec", "spec.runner"),
            (
                with("runner", json!({"containers": []})),
                "InvalidSpec",
                "spec.runner.containers",
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
        assert!(TestRun::read(&long).is_err());
    }

    #[test]
    fn what_is_edited_in_mid_run_changes_nothing() {
        let edited = |spec: Value| json!({"metadata": {"name": "t", "uid": "u"}, "spec": spec});
        let more = edited(with("parallelism", json!(9)));
        let run = TestRun::begun(&more, 2, true).expect("a test");
        assert_eq!(run.parallelism, 2);
        let broken = edited(with("parallelism", json!("many")));
        let run = TestRun::begun(&broken, 2, true).expect("a test");
        assert_eq!((run.name.as_str(), run.parallelism), ("t", 2));
        assert!(TestRun::begun(&broken, 2, false).is_err());
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
