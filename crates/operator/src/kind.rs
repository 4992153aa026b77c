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
}

impl Kind {
    /// All of them.
    pub const ALL: &'static [Kind] = &[Kind::TestRun];

    /// Its group.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Kind::TestRun => "k6.io",
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
        }
    }

    /// The label by which the objects of one are found; its value is the name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Kind::TestRun => "k6_cr",
        }
    }

    /// The container in which loadline runs.
    #[must_use]
    pub fn container(self) -> &'static str {
        match self {
            Kind::TestRun => "k6",
        }
    }

    /// The volume with the script.
    #[must_use]
    pub fn volume(self) -> &'static str {
        match self {
            Kind::TestRun => "k6-test-volume",
        }
    }

    /// Labels of what belongs to a test but is no pod.
    #[must_use]
    pub fn labels(self, name: &str) -> Value {
        match self {
            Kind::TestRun => json!({"app": "k6", self.label(): name}),
        }
    }

    /// Labels of agents, by which they are told from the coordinator.
    #[must_use]
    pub fn agent_labels(self, name: &str) -> Value {
        match self {
            Kind::TestRun => json!({"app": "k6", self.label(): name, "runner": "true"}),
        }
    }

    /// Labels of the coordinator: not those by which agents are kept apart.
    #[must_use]
    pub fn coordinator_labels(self, name: &str) -> Value {
        match self {
            Kind::TestRun => json!({"app": "loadline", self.label(): name}),
        }
    }
}
