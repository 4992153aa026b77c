//! A test that an operator runs on pods, according to its status.
//!
//! Must not know how it is run. Invariant: a test that no operator has handled yet has an empty stage.
//!
//! Source: `deploy/operator/crd.yaml`, `crd-loadtest.yaml`, `crd-loadsuite.yaml`.

use std::fmt;

use loadline_model::test_kind::TestKind;
use serde_json::Value;

use super::identity;
use crate::error::Result;
use crate::json;
use crate::place::ApiPlace;

/// Where the tests of a kind are in the API.
pub(crate) fn place_of_tests(kind: TestKind) -> ApiPlace {
    ApiPlace::of(&kind.api_version(), &format!("{}s", kind.word()))
}

/// Identifies a test in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestName {
    /// Of which kind.
    pub kind: TestKind,
    /// Its name.
    pub name: String,
}

impl TestName {
    /// The Job of its coordinator, or of its only pod.
    #[must_use]
    pub fn coordinator(&self) -> String {
        self.kind.coordinator(&self.name)
    }
}

/// As it is typed: a `TestRun` by its name, others with their kind before it.
impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TestKind::TestRun => f.write_str(&self.name),
            TestKind::K6 | TestKind::LoadTest | TestKind::LoadSuite => {
                write!(f, "{}/{}", self.kind.word(), self.name)
            }
        }
    }
}

/// A test according to its resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTest {
    /// Its kind.
    pub kind: TestKind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Distinguishes it from others with its name.
    pub uid: String,
    /// `initialization`, `started`, `finished` and others; empty: no operator looked at it yet.
    pub stage: String,
    /// `passed`, `failed`, `error`; `None`: there is none yet.
    pub result: Option<String>,
    /// The test's exit code; `None`: it has not ended, or never ran.
    pub exit_code: Option<i64>,
    /// The reason in one word; empty: none.
    pub reason: String,
    /// Why, in words.
    pub message: String,
    /// Finished runs of a suite, and all of them; `None`: it is not a suite, or has not started.
    pub runs: Option<(u32, u32)>,
    /// How many agents it has.
    pub agents: u32,
    /// How many of them have joined.
    pub agents_ready: u32,
    /// The agents that were lost.
    pub lost: Vec<LostAgent>,
    /// When it was applied, in nanoseconds since 1970.
    pub made_unix_ns: Option<u64>,
    /// When its load began, likewise.
    pub start_unix_ns: Option<u64>,
    /// When it ended, likewise.
    pub end_unix_ns: Option<u64>,
    /// The test in numbers, from the status; `None`: there are none yet.
    pub figures: Option<Value>,
    /// Where its whole result is.
    pub kept: KeptResult,
}

/// The location of a test's whole result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptResult {
    /// In a ConfigMap of this name.
    ConfigMap(String),
    /// On a volume.
    Volume {
        /// The claim of the volume.
        claim: String,
        /// The folder in it.
        path: String,
    },
    /// In a folder of an object store, as `s3://` names it.
    ObjectStore(String),
    /// In a log, while its pod exists.
    Log {
        /// The pod.
        pod: String,
        /// The container.
        container: String,
    },
    /// It is not kept (yet), and why; empty: nothing is said.
    Nowhere(String),
}

/// An agent that was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostAgent {
    /// Its name.
    pub agent: String,
    /// Its pod; empty: it was gone before it was seen.
    pub pod: String,
    /// The node of that; `None`: it had none, or it is not known.
    pub node: Option<String>,
    /// Why, in the cluster's words.
    pub cause: String,
    /// The pod that went on in its place.
    pub replaced_by: Option<String>,
}

impl ClusterTest {
    /// Reads a resource; `kind` is given because lists do not contain it.
    ///
    /// # Errors
    /// It has no name.
    pub fn read(kind: TestKind, value: &Value) -> Result<ClusterTest> {
        let (namespace, name, _) = identity(value)?;
        let lost = json::items(value, "/status/lost").iter();
        let runs = value.pointer("/status/runs");
        Ok(ClusterTest {
            kind,
            namespace,
            name,
            uid: json::owned(value, "/metadata/uid"),
            stage: json::owned(value, "/status/stage"),
            result: json::filled(value, "/status/result"),
            exit_code: value.pointer("/status/exitCode").and_then(Value::as_i64),
            reason: json::owned(value, "/status/reason"),
            message: json::owned(value, "/status/message"),
            runs: runs.map(|runs| {
                (
                    json::count(runs, "/done", 0),
                    json::count(runs, "/total", 0),
                )
            }),
            agents: json::count(value, "/spec/parallelism", 1),
            agents_ready: json::count(value, "/status/agentsReady", 0),
            lost: lost.map(LostAgent::read).collect(),
            made_unix_ns: json::instant(value, "/metadata/creationTimestamp"),
            start_unix_ns: json::instant(value, "/status/startTime"),
            end_unix_ns: json::instant(value, "/status/endTime"),
            kept: KeptResult::read(value),
            figures: value
                .pointer("/status/figures")
                .filter(|one| one.is_object())
                .cloned(),
        })
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> TestName {
        TestName {
            kind: self.kind,
            name: self.name.clone(),
        }
    }

    /// Whether it runs nothing itself, but creates tests on a schedule.
    #[must_use]
    pub fn is_schedule(&self) -> bool {
        ["scheduled", "suspended"].contains(&self.stage.as_str())
    }

    /// Whether its load has started.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.start_unix_ns.is_some() || ["started", "stopped"].contains(&self.stage.as_str())
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        ["finished", "error"].contains(&self.stage.as_str())
    }
}

impl KeptResult {
    fn read(value: &Value) -> KeptResult {
        let of = |field: &str| json::filled(value, &format!("/status/results/{field}"));
        if let Some(name) = of("configMap") {
            return KeptResult::ConfigMap(name);
        }
        if let Some(folder) = of("objectStore") {
            return KeptResult::ObjectStore(folder);
        }
        if let Some(claim) = of("volumeClaim") {
            return KeptResult::Volume {
                claim,
                path: of("path").unwrap_or_default(),
            };
        }
        match (of("pod"), of("container")) {
            (Some(pod), Some(container)) => KeptResult::Log { pod, container },
            _ => KeptResult::Nowhere(of("message").unwrap_or_default()),
        }
    }
}

impl LostAgent {
    fn read(value: &Value) -> LostAgent {
        LostAgent {
            agent: json::owned(value, "/agent"),
            pod: json::owned(value, "/pod"),
            node: json::filled(value, "/node"),
            cause: json::owned(value, "/cause"),
            replaced_by: json::filled(value, "/replacedBy"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_tells_how_far_it_is() {
        let fresh =
            json!({ "metadata": { "name": "t", "namespace": "n" }, "spec": { "parallelism": 4 } });
        let fresh = ClusterTest::read(TestKind::TestRun, &fresh).expect("a test");
        assert_eq!((fresh.agents, fresh.stage.as_str()), (4, ""));
        assert!(!fresh.has_started() && !fresh.is_over());
        let ended = json!({ "metadata": { "name": "t" }, "status": { "stage": "finished", "result": "error",
            "exitCode": 112, "startTime": "2026-01-01T00:00:00Z",
            "lost": [{ "agent": "t-2", "cause": "OOMKilled", "replacedBy": "t-2-y" }] } });
        let ended = ClusterTest::read(TestKind::TestRun, &ended).expect("a test");
        assert!(ended.has_started() && ended.is_over());
        assert_eq!(ended.exit_code, Some(112));
        assert_eq!(ended.lost[0].replaced_by.as_deref(), Some("t-2-y"));
        assert_eq!(
            (ended.figures, ended.kept),
            (None, KeptResult::Nowhere(String::new()))
        );
    }

    #[test]
    fn a_suite_tells_its_runs_and_a_schedule_that_it_is_one() {
        let of = |kind, status: Value| {
            let value = json!({ "metadata": { "name": "t" }, "status": status });
            ClusterTest::read(kind, &value).expect("a test")
        };
        let suite = of(
            TestKind::LoadSuite,
            json!({ "stage": "started", "runs": { "done": 3, "total": 8 } }),
        );
        assert_eq!(suite.runs, Some((3, 8)));
        assert_eq!(suite.id().to_string(), "loadsuite/t");
        assert_eq!(suite.id().coordinator(), "t-suite");
        assert!(!suite.is_schedule());
        assert!(of(TestKind::LoadTest, json!({ "stage": "suspended" })).is_schedule());
    }

    #[test]
    fn a_test_tells_where_its_result_is() {
        let kept = |results| {
            let test = json!({ "metadata": { "name": "t" }, "status": { "results": results } });
            ClusterTest::read(TestKind::TestRun, &test)
                .expect("a test")
                .kept
        };
        assert_eq!(
            kept(json!({ "configMap": "c", "pod": "p", "container": "results" })),
            KeptResult::ConfigMap("c".to_owned())
        );
        assert_eq!(
            kept(json!({ "objectStore": "s3://bucket/a" })),
            KeptResult::ObjectStore("s3://bucket/a".to_owned())
        );
        assert_eq!(
            kept(json!({ "volumeClaim": "v", "path": "a/b" })),
            KeptResult::Volume {
                claim: "v".to_owned(),
                path: "a/b".to_owned()
            }
        );
        assert_eq!(
            kept(json!({ "pod": "p", "container": "results", "message": "too large" })),
            KeptResult::Log {
                pod: "p".to_owned(),
                container: "results".to_owned()
            }
        );
        assert_eq!(
            kept(json!({ "message": "why" })),
            KeptResult::Nowhere("why".to_owned())
        );
    }
}
