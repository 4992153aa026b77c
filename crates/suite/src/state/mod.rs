//! The folder with a suite's state.
//!
//! Must not know what is run. Invariant: at any instant the folder shows which runs are complete: a status is
//! written after what it refers to, and replaces the previous one atomically.

mod disk;
mod lock;
mod misfits;
mod record;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadline_model::RunResult;
use loadline_model::audit::AuditedOutput;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hooks::Undo;
use crate::outcome::{RowOutcome, RowStatus, RunOutcome, SuiteOutcome};
use crate::plan::Said;

pub use disk::{Disk, SystemDisk};
pub use lock::{LockError, StateLock};
pub use record::{RowRecord, RunState, RunStatus, SuiteRecord};

/// The record of the suite.
const SUITE: &str = "suite.json";
/// Changes made by hooks that have to be undone.
const CHANGES: &str = "changes.json";
/// The status of a run, in its folder.
const STATUS: &str = "status.json";
/// Folder of the runs.
const RUNS: &str = "runs";
/// Folder of runs that were made again.
const HISTORY: &str = "history";
/// The result of a run, in its folder.
pub const RESULT: &str = "result.json";
/// The audits of a run's outputs, in its folder.
pub(crate) const AUDITS: &str = "audits.json";

/// A state folder.
#[derive(Clone)]
pub struct StateFolder {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
}

/// A complete run.
#[derive(Clone, Debug)]
pub struct WholeRun {
    /// Its status.
    pub status: RunStatus,
    /// Its result.
    pub result: Arc<RunResult>,
}

/// A file of the state that could not be read or written.
#[derive(Debug)]
pub struct StateError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state file {}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for StateError {}

impl StateError {
    fn of(path: &Path, error: impl fmt::Display) -> StateError {
        StateError {
            path: path.to_owned(),
            why: format!(
                "{error}; check permissions and disk space, or choose another directory with --state"
            ),
        }
    }
}

/// The default state folder of a suite file: next to it, with `.state` instead of its extension.
#[must_use]
pub fn usual_folder(file: &Path) -> PathBuf {
    file.with_extension("state")
}

impl StateFolder {
    /// A state folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf, disk: Arc<dyn Disk>) -> StateFolder {
        StateFolder { folder, disk }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it is kept on.
    #[must_use]
    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// The folder of a run.
    #[must_use]
    pub fn run_folder(&self, row: &str, repetition: u32) -> PathBuf {
        self.folder.join(run_path(row, repetition))
    }

    /// Stores the definition of the suite.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_suite(&self, record: &SuiteRecord) -> Result<(), StateError> {
        self.create(&self.folder)?;
        self.write_json(&self.folder.join(SUITE), record)
    }

    /// The definition of the suite when it was last run; `None` if it never was.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    pub fn suite(&self) -> Result<Option<SuiteRecord>, StateError> {
        self.read_json(&self.folder.join(SUITE))
    }

    /// Changes by hooks that were not undone, in order.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    pub fn changes(&self) -> Result<Vec<Undo>, StateError> {
        let changes = self.read_json(&self.folder.join(CHANGES))?;
        Ok(changes.unwrap_or_default())
    }

    /// Stores the changes that are not undone.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn keep_changes(&self, changes: &[Undo]) -> Result<(), StateError> {
        self.create(&self.folder)?;
        self.write_json(&self.folder.join(CHANGES), &changes)
    }

    /// The status of a run; `None` if it was never started, or its status cannot be read.
    #[must_use]
    pub fn status(&self, row: &str, repetition: u32) -> Option<RunStatus> {
        let path = self.run_folder(row, repetition).join(STATUS);
        self.read_json(&path).ok().flatten()
    }

    /// A run that is complete, belongs to this plan, and has a readable result.
    #[must_use]
    pub fn whole(&self, row: &RowRecord, repetition: u32) -> Option<WholeRun> {
        let status = self.status(&row.id, repetition)?;
        if status.state != RunState::Done || status.hash != row.hash {
            return None;
        }
        let result = self.result(&row.id, repetition).ok()?;
        Some(WholeRun { status, result })
    }

    /// Starts a run: its previous files are moved to the history.
    ///
    /// # Errors
    /// The folder cannot be prepared.
    pub fn begin(&self, status: &RunStatus) -> Result<PathBuf, StateError> {
        let folder = self.run_folder(&status.row, status.repetition);
        if self.disk.exists(&folder) {
            self.set_aside(&folder, status)?;
        }
        self.create(&folder)?;
        self.keep_status(status)?;
        Ok(folder)
    }

    /// Stores the status of a run, after syncing what it refers to.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_status(&self, status: &RunStatus) -> Result<(), StateError> {
        let folder = self.run_folder(&status.row, status.repetition);
        let result = folder.join(RESULT);
        if status.state == RunState::Done {
            self.sync_file(&result)?;
            let audits = folder.join(AUDITS);
            if self.disk.exists(&audits) {
                self.sync_file(&audits)?;
            }
        }
        self.write_json(&folder.join(STATUS), status)
    }

    /// Whether any run was started.
    #[must_use]
    pub fn has_runs(&self) -> bool {
        let runs = self.disk.list(&self.folder.join(RUNS));
        runs.is_ok_and(|names| !names.is_empty())
    }

    /// Moves all runs aside, so that the suite starts again.
    ///
    /// # Errors
    /// They cannot be moved.
    pub fn set_all_aside(&self) -> Result<(), StateError> {
        let runs = self.folder.join(RUNS);
        if !self.disk.exists(&runs) {
            return Ok(());
        }
        self.move_to_history(&runs, "runs")
    }

    fn set_aside(&self, folder: &Path, status: &RunStatus) -> Result<(), StateError> {
        let name = format!("{}-{}", status.row, status.repetition);
        self.move_to_history(folder, &name)
    }

    fn move_to_history(&self, folder: &Path, name: &str) -> Result<(), StateError> {
        let history = self.folder.join(HISTORY);
        self.create(&history)?;
        let free = |number: &u32| !self.disk.exists(&history.join(format!("{name}-{number}")));
        let number = (1..=u32::MAX).find(free).unwrap_or(u32::MAX);
        let to = history.join(format!("{name}-{number}"));
        let moved = self.disk.rename(folder, &to);
        moved.map_err(|error| StateError::of(folder, error))?;
        self.sync(&history)
    }

    /// A run's result.
    ///
    /// # Errors
    /// It does not exist, or is invalid.
    pub fn result(&self, row: &str, repetition: u32) -> Result<Arc<RunResult>, StateError> {
        let path = self.run_folder(row, repetition).join(RESULT);
        self.result_at(&path)
    }

    /// The result in a file.
    ///
    /// # Errors
    /// It does not exist, or is invalid.
    pub fn result_at(&self, path: &Path) -> Result<Arc<RunResult>, StateError> {
        match self.read_json::<RunResult>(path)? {
            Some(result) => Ok(Arc::new(result)),
            None => Err(StateError {
                path: path.to_owned(),
                why: "it is not there".to_owned(),
            }),
        }
    }

    /// The audits of a run's outputs.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn audits(&self, row: &str, repetition: u32) -> Result<Vec<AuditedOutput>, StateError> {
        self.audits_at(&self.run_folder(row, repetition).join(AUDITS))
    }

    /// The audits in a file; none if there is no such file.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn audits_at(&self, path: &Path) -> Result<Vec<AuditedOutput>, StateError> {
        Ok(self.read_json(path)?.unwrap_or_default())
    }

    /// The state of the suite: the rows of `record` with the complete runs in this folder.
    ///
    /// # Errors
    /// The result of a complete run cannot be read.
    pub fn outcome(&self, record: &SuiteRecord) -> Result<SuiteOutcome, StateError> {
        let rows = record.rows.iter().map(|row| self.row_outcome(row));
        Ok(SuiteOutcome {
            name: record.name.clone(),
            rows: rows.collect::<Result<_, _>>()?,
            facts: record.facts.clone(),
        })
    }

    fn row_outcome(&self, row: &RowRecord) -> Result<RowOutcome, StateError> {
        let mut runs = Vec::new();
        let mut reasons = Vec::new();
        let mut pending = false;
        for repetition in 1..=row.repeat {
            let status = self.status(&row.id, repetition);
            let current = status.filter(|status| status.hash == row.hash);
            if let Some(status) = current.as_ref() {
                reasons.extend(status.told_reasons(row.repeat));
            }
            if let Some(whole) = self.whole(row, repetition) {
                runs.push(RunOutcome {
                    repetition,
                    file: format!("{}/{RESULT}", run_path(&row.id, repetition)),
                    result: whole.result,
                });
            } else if !current.is_some_and(|status| status.state == RunState::Broken) {
                pending = true;
            }
        }
        let status = match (pending, reasons.is_empty()) {
            // What failed does not pass by further repetitions.
            (_, false) => RowStatus::Failed,
            (true, true) => RowStatus::Pending,
            (false, true) => RowStatus::Passed,
        };
        Ok(RowOutcome {
            id: row.id.clone(),
            group: row.group.clone(),
            labels: row.labels.clone(),
            plan: plan_facts(row, runs.first()),
            env: row.env.clone(),
            status,
            reasons,
            runs,
        })
    }

    fn create(&self, folder: &Path) -> Result<(), StateError> {
        let created = self.disk.create_folder(folder);
        created.map_err(|error| StateError::of(folder, error))?;
        match folder.parent() {
            Some(parent) => self.sync(parent),
            None => Ok(()),
        }
    }

    fn sync_file(&self, file: &Path) -> Result<(), StateError> {
        let synced = self.disk.sync_file(file);
        synced.map_err(|error| StateError::of(file, error))
    }

    fn sync(&self, folder: &Path) -> Result<(), StateError> {
        let synced = self.disk.sync_folder(folder);
        synced.map_err(|error| StateError::of(folder, error))
    }

    /// Writes a temporary file, syncs it, renames it, and syncs the folder.
    fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), StateError> {
        let fail = |error: io::Error| StateError::of(path, error);
        let mut bytes =
            serde_json::to_vec_pretty(value).map_err(|error| StateError::of(path, error))?;
        bytes.push(b'\n');
        let beside = path.with_extension("json.new");
        self.disk.write(&beside, &bytes).map_err(fail)?;
        self.disk.sync_file(&beside).map_err(fail)?;
        self.disk.rename(&beside, path).map_err(fail)?;
        match path.parent() {
            Some(parent) => self.sync(parent),
            None => Ok(()),
        }
    }

    fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, StateError> {
        let bytes = match self.disk.read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StateError::of(path, error)),
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|error| StateError {
            path: path.to_owned(),
            why: format!("{error}; it was not written by this version, or was changed by hand"),
        })
    }
}

/// The row's plan; facts about its load come from a run if the plan has none.
fn plan_facts(row: &RowRecord, run: Option<&RunOutcome>) -> BTreeMap<String, String> {
    let mut facts = row.plan.clone();
    if let Some(run) = run {
        let said = Said::of_facts(&facts).or(Said::by_run(&run.result.plan));
        facts.extend(said.facts());
    }
    facts
}

/// A run's folder below the state folder.
fn run_path(row: &str, repetition: u32) -> String {
    format!("{RUNS}/{row}/{repetition}")
}
