//! Rows made from axes, and their run order.
//!
//! Must not know state or time. Invariant: the same file gives the same rows with the same identities.

pub mod command;
mod identity;
mod matrix;
mod order;
mod row;
mod said;
mod settings;
mod sources;
mod spans;
#[cfg(test)]
mod tests;
mod warnings;
mod words;
mod written;

use std::collections::BTreeMap;
use std::time::Duration;

pub use command::{TARGET_URL, TARGET_VARIABLE};
pub use order::order;
pub use said::Said;
pub use settings::{ExecutorSetting, Front, Mode, PhaseSettings, Rate, Settings, Smoke, overlay};

use crate::file::{FileError, Policy, Problem, SuiteFile, Target};
use crate::hooks::HookSpec;

/// What a plan needs from outside: files and the environment.
pub struct Surroundings<'a> {
    /// The bytes of a file that is named relative to the suite file; scripts name further ones, so any name may be
    /// requested, and anything but a regular file must be refused.
    pub read: &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>,
    /// A variable of the process's environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A suite as rows and runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suite's name.
    pub name: String,
    /// The suite file as it was named.
    pub file: String,
    /// What is tested.
    pub target: Option<Target>,
    /// Hooks around the whole suite.
    pub hooks: OuterHooks,
    /// The groups in order.
    pub groups: Vec<PlannedGroup>,
    /// The rows in order.
    pub rows: Vec<PlannedRow>,
    /// The runs in the order in which they are made.
    pub runs: Vec<PlannedRun>,
    /// What is done after a failed run.
    pub policy: Policy,
    /// Facts about the setup for documents.
    pub facts: BTreeMap<String, String>,
    /// Names of the secrets that are used anywhere.
    pub secrets: Vec<String>,
    /// What can be run and is probably not meant, each with its place.
    pub warnings: Vec<FileError>,
}

/// Hooks around a suite or a group.
#[derive(Clone, Debug, Default)]
pub struct OuterHooks {
    /// Before everything within.
    pub prepare: Vec<HookSpec>,
    /// After everything within, whatever happened.
    pub cleanup: Vec<HookSpec>,
}

/// A group.
#[derive(Clone, Debug)]
pub struct PlannedGroup {
    /// Its name; `None` for the rows that belong to no group.
    pub name: Option<String>,
    /// Hooks around it.
    pub hooks: OuterHooks,
}

/// A row.
#[derive(Clone, Debug)]
pub struct PlannedRow {
    /// Its identity.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// Its group, as an index.
    pub group: usize,
    /// Its labels, axes included.
    pub labels: BTreeMap<String, String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// Facts for documents.
    pub facts: BTreeMap<String, String>,
    /// Its files.
    pub settings: Settings,
    /// Its hooks, those of its group and of the suite among them.
    pub hooks: RowHooks,
    /// What is run, in order; the last is measured.
    pub phases: Vec<PlannedPhase>,
    /// Everything that affects what is measured, as a hash in hex.
    pub hash: String,
}

/// Hooks around a run.
#[derive(Clone, Debug, Default)]
pub struct RowHooks {
    /// First.
    pub prepare: Vec<HookSpec>,
    /// Right before the load.
    pub before: Vec<HookSpec>,
    /// After another run, before everything else of this one.
    pub between: Vec<HookSpec>,
    /// Right after the load.
    pub after: Vec<HookSpec>,
    /// Last.
    pub cleanup: Vec<HookSpec>,
}

/// The purpose of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// One iteration that must pass.
    Smoke,
    /// Load that is not measured.
    WarmUp,
    /// The load.
    Load,
}

impl PhaseKind {
    /// Its name in files and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Smoke => "smoke",
            PhaseKind::WarmUp => "warm-up",
            PhaseKind::Load => "load",
        }
    }
}

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPhase {
    /// What it is for.
    pub kind: PhaseKind,
    /// The command, the front end's name first; secrets and the target's URL are not filled yet.
    pub command: Vec<String>,
    /// Its environment, not filled either.
    pub env: BTreeMap<String, String>,
    /// It is stopped after this time; `None`: no limit.
    pub time_limit: Option<Duration>,
    /// How long it should take; `None`: the front end knows.
    pub length: Option<Duration>,
}

/// One repetition of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Which row, as an index.
    pub row: usize,
    /// Which repetition, from one on.
    pub repetition: u32,
}

impl Plan {
    /// Makes rows and runs from a suite file.
    ///
    /// # Errors
    /// Something in the file cannot be run; with its position and a fix.
    pub fn of(file: &SuiteFile, surroundings: &Surroundings) -> Result<Plan, FileError> {
        plan(file, surroundings).map_err(|problem| problem.of(&file.path))
    }

    /// Finds a row by its identity or its title.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<usize> {
        let is = |row: &&PlannedRow| row.id == name || row.title == name;
        let found = self.rows.iter().find(is)?;
        self.rows.iter().position(|row| row.id == found.id)
    }

    /// A command as people read it: with the target's URL, if the file says it. What the URL is made of stays a
    /// placeholder.
    #[must_use]
    pub fn with_target(&self, command: &[String]) -> Vec<String> {
        let fill = |word: &String| match &self.target {
            Some(Target::Url(url)) => word.replace(TARGET_URL, url),
            _ => word.clone(),
        };
        command.iter().map(fill).collect()
    }
}

fn plan(file: &SuiteFile, surroundings: &Surroundings) -> Result<Plan, Problem> {
    let mut scripts = sources::Scripts::new(surroundings.read);
    let mut rows = Vec::new();
    let mut runs = Vec::new();
    let mut groups = Vec::new();
    for (index, group) in file.groups.iter().enumerate() {
        let first = rows.len();
        for combination in matrix::combinations(group)? {
            let row = row::row(file, index, &combination, surroundings, &mut scripts)?;
            rows.push(row);
        }
        let repeats: Vec<u32> = rows[first..]
            .iter()
            .map(|row: &PlannedRow| row.settings.repeat)
            .collect();
        let order = order(&repeats, file.order, file.seed.wrapping_add(index as u64));
        runs.extend(order.into_iter().map(|(row, repetition)| PlannedRun {
            row: first + row,
            repetition,
        }));
        groups.push(PlannedGroup {
            name: group.name.clone(),
            hooks: row::outer_hooks(file, &group.hooks, surroundings)?,
        });
    }
    if rows.is_empty() {
        let axes = file.groups.iter().flat_map(|group| &group.axes);
        let at = axes.map(|axis| axis.at).next().unwrap_or_default();
        let fix = "leave a combination in, or write `rows:` with a row";
        return Err(Problem::new(
            at,
            "`exclude` leaves no row of the suite",
            fix,
        ));
    }
    let hooks = row::outer_hooks(file, &file.hooks, surroundings)?;
    let warnings = warnings::of(file, &groups, &rows, &|script| {
        scripts.names_scenarios(script)
    });
    let rows = identity::distinct(rows)?;
    warnings::documents::check_rows(file, &rows)?;
    written::check(file, &rows)?;
    Ok(Plan {
        warnings: warnings
            .into_iter()
            .map(|warning| warning.of(&file.path))
            .collect(),
        name: file.name.clone(),
        file: file.path.clone(),
        target: file.target.clone(),
        secrets: row::secrets(&rows, &groups, &hooks),
        hooks,
        groups,
        rows,
        runs,
        policy: file.policy,
        facts: file.facts.iter().cloned().collect(),
    })
}
