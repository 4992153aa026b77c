//! The kinds of Kubernetes resources that are tests, and the names by which the operator and its clients find their objects.
//!
//! Must not know their content. Invariant: names of groups, kinds, labels and containers are only written here.

use serde_json::{Value, json};

/// Version that all kinds have.
const VERSION: &str = "v1alpha1";

/// The label of k6-operator for the name of a test, of either kind.
const K6_LABEL: &str = "k6_cr";
/// The label by which objects of a `K6` are told from those of a `TestRun` of the same name.
const OLD_LABEL: &str = "loadline.io/kind";

/// A kind of resource that an operator turns into pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestKind {
    /// k6-operator's.
    TestRun,
    /// What k6-operator called it before its release 1.0.
    K6,
    /// A test: a script, a line of `bench`, or a JMeter plan.
    LoadTest,
    /// A suite file: rows of tests, one after the other, and their document.
    LoadSuite,
}

impl TestKind {
    /// All of them, in the order in which a name is searched.
    pub const ALL: [TestKind; 4] = [
        TestKind::TestRun,
        TestKind::K6,
        TestKind::LoadTest,
        TestKind::LoadSuite,
    ];

    /// Its group.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            TestKind::TestRun | TestKind::K6 => "k6.io",
            TestKind::LoadTest | TestKind::LoadSuite => "loadline.io",
        }
    }

    /// Its version.
    #[must_use]
    pub fn version(self) -> &'static str {
        VERSION
    }

    /// Group and version in the form of `apiVersion`.
    #[must_use]
    pub fn api_version(self) -> String {
        format!("{}/{VERSION}", self.group())
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TestKind::TestRun => "TestRun",
            TestKind::K6 => "K6",
            TestKind::LoadTest => "LoadTest",
            TestKind::LoadSuite => "LoadSuite",
        }
    }

    /// Its name on a command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TestKind::TestRun => "testrun",
            TestKind::K6 => "k6",
            TestKind::LoadTest => "loadtest",
            TestKind::LoadSuite => "loadsuite",
        }
    }

    /// The job, host and service of a test's coordinator, or of its only pod.
    #[must_use]
    pub fn coordinator(self, name: &str) -> String {
        match self {
            TestKind::TestRun | TestKind::K6 | TestKind::LoadTest => format!("{name}-coordinator"),
            TestKind::LoadSuite => format!("{name}-suite"),
        }
    }

    /// Its CustomResourceDefinition file.
    #[must_use]
    pub fn definition(self) -> &'static str {
        match self {
            TestKind::TestRun => "deploy/operator/crd.yaml",
            TestKind::K6 => "deploy/operator/crd-k6.yaml",
            TestKind::LoadTest => "deploy/operator/crd-loadtest.yaml",
            TestKind::LoadSuite => "deploy/operator/crd-loadsuite.yaml",
        }
    }

    /// The label for finding the objects of a test; its value is the test's name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            TestKind::TestRun | TestKind::K6 => K6_LABEL,
            TestKind::LoadTest => "loadline.io/load-test",
            TestKind::LoadSuite => "loadline.io/load-suite",
        }
    }

    /// Selects the objects of all tests of this kind.
    #[must_use]
    pub fn selector(self) -> String {
        match self {
            TestKind::TestRun => format!("{K6_LABEL},!{OLD_LABEL}"),
            TestKind::K6 => format!("{K6_LABEL},{OLD_LABEL}"),
            TestKind::LoadTest | TestKind::LoadSuite => self.label().to_owned(),
        }
    }

    /// Whether it is one of k6-operator's, with its fields, names and conditions.
    #[must_use]
    pub fn is_k6s(self) -> bool {
        match self {
            TestKind::TestRun | TestKind::K6 => true,
            TestKind::LoadTest | TestKind::LoadSuite => false,
        }
    }

    /// The container in which loadline runs.
    #[must_use]
    pub fn container(self) -> &'static str {
        match self {
            TestKind::TestRun | TestKind::K6 => "k6",
            TestKind::LoadTest | TestKind::LoadSuite => "loadline",
        }
    }

    /// The volume with the script.
    #[must_use]
    pub fn volume(self) -> &'static str {
        match self {
            TestKind::TestRun | TestKind::K6 => "k6-test-volume",
            TestKind::LoadTest | TestKind::LoadSuite => "loadline-files",
        }
    }

    /// Whether one Job has all agents; otherwise each agent has its own Job, as users of k6-operator expect.
    #[must_use]
    pub fn is_indexed(self) -> bool {
        match self {
            TestKind::TestRun | TestKind::K6 | TestKind::LoadSuite => false,
            TestKind::LoadTest => true,
        }
    }

    /// Labels for objects of a test, except pods.
    #[must_use]
    pub fn labels(self, name: &str) -> Value {
        match self {
            TestKind::TestRun => json!({"app": "k6", K6_LABEL: name}),
            TestKind::K6 => json!({"app": "k6", K6_LABEL: name, OLD_LABEL: "k6"}),
            TestKind::LoadTest | TestKind::LoadSuite => {
                json!({"app.kubernetes.io/name": "loadline", self.label(): name})
            }
        }
    }

    /// Labels of agents, which distinguish them from the coordinator.
    #[must_use]
    pub fn agent_labels(self, name: &str) -> Value {
        let mut labels = self.labels(name);
        match self {
            TestKind::TestRun | TestKind::K6 => labels["runner"] = json!("true"),
            TestKind::LoadTest | TestKind::LoadSuite => {
                labels["app.kubernetes.io/component"] = json!("agent");
            }
        }
        labels
    }

    /// Labels of the coordinator, without those used to spread agents.
    #[must_use]
    pub fn coordinator_labels(self, name: &str) -> Value {
        let mut labels = self.labels(name);
        match self {
            TestKind::TestRun | TestKind::K6 => labels["app"] = json!("loadline"),
            TestKind::LoadTest => labels["app.kubernetes.io/component"] = json!("coordinator"),
            TestKind::LoadSuite => labels["app.kubernetes.io/component"] = json!("suite"),
        }
        labels
    }
}
