//! The content of files in a state folder.
//!
//! Must not know where they are stored. Invariant: none of them contains a secret.

use std::collections::BTreeMap;

use loadline_model::secret::is_secret_name;
use serde::{Deserialize, Serialize};

use crate::gates::{GateOutcome, Gates};
use crate::plan::{Plan, PlannedRow};

/// The version of the records' layout.
const SCHEMA: &str = "loadline/suite/v1";

/// The definition of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// The version of the layout.
    pub schema: String,
    /// The suite's name.
    pub name: String,
    /// The suite file as it was named.
    pub file: String,
    /// Facts for documents.
    pub facts: BTreeMap<String, String>,
    /// The rows in the order of the plan.
    pub rows: Vec<RowRecord>,
}

/// The definition of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowRecord {
    /// Its identity.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Its group.
    pub group: Option<String>,
    /// Its labels, axes included.
    pub labels: BTreeMap<String, String>,
    /// Facts of its plan.
    pub plan: BTreeMap<String, String>,
    /// Its environment, what names a secret left out.
    pub env: BTreeMap<String, String>,
    /// The hash of everything that affects what is measured.
    pub hash: String,
    /// Repetitions.
    pub repeat: u32,
}

impl SuiteRecord {
    /// The record of a plan; `facts` are additional ones.
    #[must_use]
    pub fn of(plan: &Plan, facts: BTreeMap<String, String>) -> SuiteRecord {
        let mut all = facts;
        all.extend(plan.facts.clone());
        all.insert("name".to_owned(), plan.name.clone());
        all.insert("file".to_owned(), plan.file.clone());
        SuiteRecord {
            schema: SCHEMA.to_owned(),
            name: plan.name.clone(),
            file: plan.file.clone(),
            facts: all,
            rows: plan
                .rows
                .iter()
                .map(|row| RowRecord::of(plan, row))
                .collect(),
        }
    }
}

impl RowRecord {
    fn of(plan: &Plan, row: &PlannedRow) -> RowRecord {
        let env = row.env.iter();
        let env = env.filter(|(name, value)| !is_secret_name(name) && !value.contains("${secret."));
        RowRecord {
            id: row.id.clone(),
            title: row.title.clone(),
            group: plan.groups[row.group].name.clone(),
            labels: row.labels.clone(),
            plan: row.facts.clone(),
            env: env
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            hash: row.hash.clone(),
            repeat: row.settings.repeat,
        }
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It was started; if its runner is gone, it is incomplete.
    Running,
    /// It was measured to its end, and judged.
    Done,
    /// It could not be made.
    Broken,
    /// It was interrupted.
    Interrupted,
}

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The row.
    pub row: String,
    /// Which repetition, from one on.
    pub repetition: u32,
    /// The hash of the row's plan when it was started.
    pub hash: String,
    /// Its status.
    pub state: RunState,
    /// Which try this is, from one on.
    pub attempt: u32,
    /// Milliseconds since 1970 at its beginning.
    pub started_unix_ms: u64,
    /// The same at its end; `None` while it runs.
    pub ended_unix_ms: Option<u64>,
    /// Why it failed; empty when it did not.
    pub reasons: Vec<String>,
    /// What is worth knowing of it.
    pub notes: Vec<String>,
    /// The gates it was judged by.
    pub gates: Gates,
    /// Their results.
    pub judged: Vec<GateOutcome>,
    /// Figures beyond the result by name, with the unit at the end of the name.
    pub figures: BTreeMap<String, f64>,
}

impl RunStatus {
    /// Whether it was measured and judged, and nothing failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.state == RunState::Done && self.reasons.is_empty()
    }

    /// The reasons; with the repetition if there are several.
    #[must_use]
    pub fn told_reasons(&self, repeat: u32) -> Vec<String> {
        let tell = |reason: &String| match repeat {
            1 => reason.clone(),
            _ => format!("repetition {}: {reason}", self.repetition),
        };
        self.reasons.iter().map(tell).collect()
    }
}
