//! The kinds of resources that the operator runs, and what each is called in the API.
//!
//! Must not know what they say. Invariant: a name of a group, kind, label or container is written here and nowhere else.

use serde_json::{Value, json};

/// Version that all kinds have.
const VERSION: &str = "v1alpha1";

/// A kind of resource that becomes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// k6-operator's.
    TestRun,
    /// A test: a script, a line of `bench`, or a JMeter plan.
    LoadTest,
    /// A suite file: rows of tests, one after the other, and their document.
    LoadSuite,
}

impl Kind {
    /// All of them.
    pub const ALL: &'static [Kind] = &[Kind::TestRun, Kind::LoadTest, Kind::LoadSuite];

    /// Its group.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Kind::TestRun => "k6.io",
            Kind::LoadTest | Kind::LoadSuite => "loadline.io",
        }
    }

    /// Its version.
    #[must_use]
    pub fn version(self) -> &'static str {
        VERSION
    }

    /// Group and version, as objects name them.
    #[must_use]
    pub fn api_version(self) -> String {
        format!("{}/{VERSION}", self.group())
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::TestRun => "TestRun",
            Kind::LoadTest => "LoadTest",
            Kind::LoadSuite => "LoadSuite",
        }
    }

    /// The file that defines it for a cluster.
    #[must_use]
    pub fn definition(self) -> &'static str {
        match self {
            Kind::TestRun => "deploy/operator/crd.yaml",
            Kind::LoadTest => "deploy/operator/crd-loadtest.yaml",
            Kind::LoadSuite => "deploy/operator/crd-loadsuite.yaml",
        }
    }

    /// The label by which the objects of one are found; its value is the name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Kind::TestRun => "k6_cr",
            Kind::LoadTest => "loadline.io/load-test",
            Kind::LoadSuite => "loadline.io/load-suite",
        }
    }

    /// The container in which loadline runs.
    #[must_use]
    pub fn container(self) -> &'static str {
        match self {
            Kind::TestRun => "k6",
            Kind::LoadTest | Kind::LoadSuite => "loadline",
        }
    }

    /// The volume with the script.
    #[must_use]
    pub fn volume(self) -> &'static str {
        match self {
            Kind::TestRun => "k6-test-volume",
            Kind::LoadTest | Kind::LoadSuite => "loadline-files",
        }
    }

    /// Whether one Job has all agents; else each has its own, as k6-operator's users know them.
    #[must_use]
    pub fn is_indexed(self) -> bool {
        match self {
            Kind::TestRun | Kind::LoadSuite => false,
            Kind::LoadTest => true,
        }
    }

    /// Labels of what belongs to a test but is no pod.
    #[must_use]
    pub fn labels(self, name: &str) -> Value {
        match self {
            Kind::TestRun => json!({"app": "k6", self.label(): name}),
            Kind::LoadTest | Kind::LoadSuite => {
                json!({"app.kubernetes.io/name": "loadline", self.label(): name})
            }
        }
    }

    /// Labels of agents, by which they are told from the coordinator.
    #[must_use]
    pub fn agent_labels(self, name: &str) -> Value {
        let mut labels = self.labels(name);
        match self {
            Kind::TestRun => labels["runner"] = json!("true"),
            Kind::LoadTest | Kind::LoadSuite => {
                labels["app.kubernetes.io/component"] = json!("agent");
            }
        }
        labels
    }

    /// Labels of the coordinator: not those by which agents are kept apart.
    #[must_use]
    pub fn coordinator_labels(self, name: &str) -> Value {
        let mut labels = self.labels(name);
        match self {
            Kind::TestRun => labels["app"] = json!("loadline"),
            Kind::LoadTest => labels["app.kubernetes.io/component"] = json!("coordinator"),
            Kind::LoadSuite => labels["app.kubernetes.io/component"] = json!("suite"),
        }
        labels
    }
}
