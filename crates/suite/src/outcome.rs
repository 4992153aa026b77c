//! The state of a suite as data: every row with its runs. Loaded from the state folder, and used for documents.
//!
//! Must not know file formats or how a row is run. Invariant: rows are in the order of the plan, including
//! pending ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_model::RunResult;
use serde::{Deserialize, Serialize};

/// A suite with all measurements so far.
#[derive(Clone, Debug)]
pub struct SuiteOutcome {
    /// The suite's name.
    pub name: String,
    /// The rows in the order of the plan.
    pub rows: Vec<RowOutcome>,
    /// Facts about the suite for its document (`suite.*`): versions, limits, its file, when it was run.
    pub facts: BTreeMap<String, String>,
}

/// One row: a test with all decisions about it.
#[derive(Clone, Debug)]
pub struct RowOutcome {
    /// The row's identity, stable from run to run and unique in the suite.
    pub id: String,
    /// The group that the row belongs to; documents are made of one group or of all.
    pub group: Option<String>,
    /// The row's labels (`label.*`), axes included.
    pub labels: BTreeMap<String, String>,
    /// Facts of the row's plan (`plan.*`), among them `short`, `users`, `duration`, `executor`, `command`.
    pub plan: BTreeMap<String, String>,
    /// The row's environment (`env.*`), secrets left out.
    pub env: BTreeMap<String, String>,
    /// Its status.
    pub status: RowStatus,
    /// What failed, in words, the first first; empty unless the status is [`RowStatus::Failed`].
    pub reasons: Vec<String>,
    /// Its whole runs in the order of repetitions.
    pub runs: Vec<RunOutcome>,
}

/// The status of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStatus {
    /// Not all of its repetitions were run.
    Pending,
    /// All were run, and every gate was passed.
    Passed,
    /// A gate was not passed, or a run could not be made.
    Failed,
}

/// One run of a row.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Which repetition, from one on.
    pub repetition: u32,
    /// The JSON result, as a path below the state folder with `/` between its parts.
    pub file: String,
    /// What the run found.
    pub result: Arc<RunResult>,
}
