//! Changes of a cluster: planned by reading the current state, executed, and undone.
//!
//! Must not know the purpose of a change. Invariants: planning changes nothing, and determines the undo before
//! anything is changed; undoing twice does no harm; a change is undone in the cluster in which it was made.

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

/// The field manager of our changes.
pub(crate) const FIELD_MANAGER: &str = "loadline";

/// A planned change and its undo.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Description of the change: `deployment/api in namespace shop: 1 → 3 replicas`.
    pub summary: String,
    /// Its undo. Store it before the change is executed.
    pub undo: Undo,
    steps: Vec<ChangeStep>,
}

/// The undo of a change. It contains the previous state, and no secrets except those of replaced Secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Undo {
    /// The address of the cluster that was changed.
    pub server: String,
    /// The steps, in order.
    pub steps: Vec<UndoStep>,
}

/// One step of an undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum UndoStep {
    /// Restores the number of replicas of a workload.
    Scale {
        /// Which.
        workload: WorkloadName,
        /// How many.
        replicas: u32,
    },
    /// Restores requests and limits of a container.
    Resources {
        /// Whose.
        workload: WorkloadName,
        /// Of which container, and what.
        change: ResourceChange,
    },
    /// Removes an object that did not exist before.
    Remove {
        /// Which.
        object: ObjectName,
    },
    /// Restores an object.
    Restore {
        /// Which.
        object: ObjectName,
        /// Its previous state, without fields that the cluster itself sets.
        value: Value,
    },
}

/// Changes of requests and limits of one container.
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

/// Identifies an object of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectName {
    /// Such as `v1` or `apps/v1`.
    pub api_version: String,
    /// Such as `ConfigMap`.
    pub kind: String,
    /// Its namespace; empty if its kind has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What to do with fields owned by another manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflicts {
    /// Refuse the whole object and name the owners.
    #[default]
    Refuse,
    /// Take ownership.
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
    /// Whether there is nothing to undo.
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
