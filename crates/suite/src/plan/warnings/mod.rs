//! Warnings about plans that can be run but probably do not do what was meant.
//!
//! Must not know state, nor how a script is run. Invariants: a warning has a position and says what to write;
//! there are at most [`WARNINGS_MAX`], however large the plan is.

pub(super) mod documents;

use std::collections::BTreeMap;

use super::command;
use super::settings::Front;
use super::{PlannedGroup, PlannedRow, written};
use crate::file::{Axis, GroupSpec, Node, Problem, SuiteFile};
use crate::hooks::HookSpec;

/// Maximum warnings shown; after fixing them the user sees the next.
const WARNINGS_MAX: usize = 20;

/// All warnings about a plan; `scenarios` says whether a script defines its own scenarios.
pub(super) fn of(
    file: &SuiteFile,
    groups: &[PlannedGroup],
    rows: &[PlannedRow],
    scenarios: &dyn Fn(&str) -> bool,
) -> Vec<Problem> {
    let keys: Vec<String> = rows
        .iter()
        .map(|row| key(row, &groups[row.group]))
        .collect();
    let mut found = Vec::new();
    let mut idle_groups = Vec::new();
    for (index, group) in file.groups.iter().enumerate() {
        let idle = group
            .axes
            .iter()
            .filter(|axis| is_idle(axis, group, index, rows, &keys));
        let before = found.len();
        found.extend(idle.map(idle_axis));
        if found.len() > before {
            idle_groups.push(index);
        }
        found.extend(dropped_args(group));
    }
    found.extend(twins(rows, &keys, &idle_groups));
    let replaced = rows
        .iter()
        .filter_map(|row| replaced_scenarios(row, scenarios));
    found.extend(grouped(replaced, ["row", "rows"]));
    found.extend(grouped(
        written::shared(rows).into_iter(),
        ["file", "files"],
    ));
    found.extend(documents::doubts(file, groups, rows));
    let mut told: Vec<Problem> = Vec::new();
    for problem in found {
        let is_told = told
            .iter()
            .any(|known| known.at == problem.at && known.what == problem.what);
        if !is_told && told.len() < WARNINGS_MAX {
            told.push(problem);
        }
    }
    told
}

/// What is doubtful in the same way, such as of rows of one script, as one: the first, with how many there are besides.
fn grouped(
    doubts: impl Iterator<Item = (String, Problem)>,
    [one, several]: [&str; 2],
) -> Vec<Problem> {
    let mut groups: Vec<(String, Problem, usize)> = Vec::new();
    for (key, problem) in doubts {
        match groups.iter_mut().find(|(known, _, _)| *known == key) {
            Some((_, _, more)) => *more += 1,
            None => groups.push((key, problem, 0)),
        }
    }
    let told = groups.into_iter().map(|(_, mut problem, more)| {
        match more {
            0 => {}
            1 => problem.what += &format!(", and so for 1 more {one}"),
            more => problem.what += &format!(", and so for {more} more {several}"),
        }
        problem
    });
    told.collect()
}

/// Everything that a row does, what it is called left out.
fn key(row: &PlannedRow, group: &PlannedGroup) -> String {
    let (own, settings) = (&row.hooks, &row.settings);
    let hooks = [&group.hooks.prepare, &own.between, &own.after];
    let hooks: Vec<String> = hooks
        .into_iter()
        .flatten()
        .map(HookSpec::identity)
        .collect();
    let gates = &settings.gates;
    let (mode, repeat, limit) = (settings.mode, settings.repeat, settings.time_limit);
    format!(
        "{} {hooks:?} {gates:?} {mode:?} {repeat} {limit:?}",
        row.hash
    )
}

/// Whether rows that differ in this axis alone do the same.
fn is_idle(
    axis: &Axis,
    group: &GroupSpec,
    index: usize,
    rows: &[PlannedRow],
    keys: &[String],
) -> bool {
    if axis.values.len() < 2 {
        return false;
    }
    let mut alike: BTreeMap<Vec<&str>, Vec<(&str, &str)>> = BTreeMap::new();
    for (row, key) in rows.iter().zip(keys).filter(|(row, _)| row.group == index) {
        let Some(own) = row.labels.get(&axis.name) else {
            continue;
        };
        let others = group.axes.iter().filter(|other| other.name != axis.name);
        let others = others.map(|other| row.labels.get(&other.name).map_or("", String::as_str));
        alike.entry(others.collect()).or_default().push((own, key));
    }
    let mut compared = false;
    for rows in alike.values() {
        let first = rows[0];
        for row in &rows[1..] {
            compared |= row.0 != first.0;
            if row.1 != first.1 {
                return false;
            }
        }
    }
    compared
}

fn idle_axis(axis: &Axis) -> Problem {
    let name = &axis.name;
    Problem::new(
        axis.at,
        format!("the axis `{name}` changes nothing: rows that differ in it do the same"),
        format!(
            "put ${{axis.{name}}} into arguments, `env` or a hook, or give its values settings"
        ),
    )
}

/// Rows that do the same; for groups with an axis that changes nothing, that warning covers them.
fn twins(rows: &[PlannedRow], keys: &[String], idle_groups: &[usize]) -> Vec<Problem> {
    let mut alike: BTreeMap<&str, Vec<&PlannedRow>> = BTreeMap::new();
    for (row, key) in rows.iter().zip(keys) {
        if !idle_groups.contains(&row.group) {
            alike.entry(key).or_default().push(row);
        }
    }
    let several = alike.into_values().filter(|rows| rows.len() > 1);
    let told = several.map(|rows| {
        let more = match rows.len() - 2 {
            0 => String::new(),
            more => format!(", and so do {more} more"),
        };
        let (one, other) = (&rows[0].title, &rows[1].title);
        let problem = Problem::new(
            rows[1].settings.front_at,
            format!("the rows {one} and {other} do the same{more}: command line, environment and hooks are alike"),
            format!("change what {other} does, or write `repeat` for several runs of one row"),
        );
        (String::new(), problem)
    });
    grouped(told, ["set of rows", "sets of rows"])
}

/// `vus`, `duration` and the warm-up of a row leave one scenario of a script that names its own; with the script.
fn replaced_scenarios(
    row: &PlannedRow,
    scenarios: &dyn Fn(&str) -> bool,
) -> Option<(String, Problem)> {
    let settings = &row.settings;
    let Front::Script { file, .. } = &settings.front else {
        return None;
    };
    let has_length = settings.length().is_some();
    let has_warm_up = settings.phases.warm_up.is_some();
    let is_replaced = settings.executor.is_none()
        && settings.rate.is_none()
        && (settings.vus.is_some() || has_length || has_warm_up);
    if !is_replaced || !scenarios(file) {
        return None;
    }
    let cause = match (settings.vus.is_some(), has_length) {
        (true, true) => "`vus` and `duration` replace",
        (true, false) => "`vus` replaces",
        (false, true) => "`duration` replaces",
        (false, false) => "the warm-up replaces",
    };
    let users = command::said(settings)
        .users
        .unwrap_or_else(|| "1".to_owned());
    let users = match users.as_str() {
        "1" => "1 virtual user".to_owned(),
        users => format!("{users} virtual users"),
    };
    let problem = Problem::new(
        settings.front_at,
        format!("{cause} the scenarios of {file} by one of {users}"),
        "leave the load to the script, and give it what changes in `env`, or name a scenario in `executor`",
    );
    Some((file.clone(), problem))
}

/// A script that takes the place of another without its arguments.
fn dropped_args(group: &GroupSpec) -> Vec<Problem> {
    let args = |node: &Node| {
        let front = ["script", "jmeter"]
            .iter()
            .find_map(|name| node.get(name))?;
        let args = front.get("args").and_then(Node::scalar);
        Some((front.at, args.filter(|args| !args.trim().is_empty())))
    };
    let below = group
        .defaults
        .iter()
        .rev()
        .find_map(args)
        .and_then(|(_, args)| args);
    let Some(below) = below else {
        return Vec::new();
    };
    let values = group
        .axes
        .iter()
        .flat_map(|axis| &axis.values)
        .map(|value| &value.settings);
    let rows = group.rows.iter().map(|row| &row.settings);
    let above = values.chain(&group.include).chain(rows).filter_map(args);
    let dropped = above.filter(|(_, args)| args.is_none()).map(|(at, _)| {
        let problem = Problem::new(
            at,
            format!("this script takes the place of the default's with its arguments, and has none: `{below}` is dropped"),
            "write {file: …, args: …} with the arguments that it is to have".to_owned(),
        );
        (String::new(), problem)
    });
    grouped(dropped, ["script", "scripts"])
}
