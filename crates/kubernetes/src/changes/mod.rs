//! Changes of a cluster: planned by reading what is there, made, and taken back.
//!
//! Must not know why a change is wanted. Invariants: a plan changes nothing, and knows before anything is changed what
//! takes the change back; taking back twice does no harm; a change is taken back in the cluster that it was made in.

mod carry_out;
mod manifest;
mod plan;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::objects::WorkloadName;
use crate::place::ApiPlace;

pub use manifest::read_manifests;

/// Who the cluster says made our changes.
pub(crate) const FIELD_MANAGER: &str = "loadline";

/// A change that was planned: what it does, and what takes it back.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it does, in words: `deployment/api in namespace shop: 1 → 3 replicas`.
    pub summary: String,
    /// What takes it back. Store it before the change is made.
    pub undo: Undo,
    steps: Vec<ChangeStep>,
}

/// What takes a change back. It holds what was there before, and no secret but those of secrets that were replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Undo {
    /// The address of the cluster that was changed.
    pub server: String,
    /// The steps, in the order in which they are to be made.
    pub steps: Vec<UndoStep>,
}

/// One step that takes something back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum UndoStep {
    /// Gives a workload the number of replicas that it had.
    Scale {
        /// Which.
        workload: WorkloadName,
        /// How many.
        replicas: u32,
    },
    /// Gives a container the requests and limits that it had.
    Resources {
        /// Whose.
        workload: WorkloadName,
        /// Of which container, and what.
        change: ResourceChange,
    },
    /// Removes an object that was not there.
    Remove {
        /// Which.
        object: ObjectName,
    },
    /// Puts an object back as it was.
    Restore {
        /// Which.
        object: ObjectName,
        /// As it was, without what the cluster itself adds.
        value: Value,
    },
}

/// Requests and limits of one container that are to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// The container's name; empty: the only one.
    #[serde(default)]
    pub container: String,
    /// Requests by resource (`cpu`, `memory`); `None` removes one.
    #[serde(default)]
    pub requests: BTreeMap<String, Option<String>>,
    /// Limits by resource; `None` removes one.
    #[serde(default)]
    pub limits: BTreeMap<String, Option<String>>,
}

/// One object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectName {
    /// As `v1` or `apps/v1`.
    pub api_version: String,
    /// As `ConfigMap`.
    pub kind: String,
    /// Its namespace; empty where its kind has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What to do with fields that somebody else owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflicts {
    /// Refuse the whole object and say who owns them.
    #[default]
    Refuse,
    /// Take them over.
    TakeOver,
}

/// One call of a change.
#[derive(Clone, Debug, PartialEq)]
enum ChangeStep {
    Scale(WorkloadName, u32),
    /// A strategic merge patch.
    Patch(WorkloadName, Value),
    Apply(ApiPlace, Value, Conflicts),
    Delete(ApiPlace),
}

impl Undo {
    /// Whether there is nothing to take back.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.steps.is_empty()
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.name)?;
        match self.namespace.is_empty() {
            true => Ok(()),
            false => write!(f, " in namespace {}", self.namespace),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)
    }
}
