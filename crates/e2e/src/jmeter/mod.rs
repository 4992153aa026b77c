//! The suite of JMeter plans: the location of plans and golden files, recording the latter, and comparing with
//! them.
//!
//! Must not know any single plan. Invariant: JMeter and the binary under test are observed by the same code,
//! against separate servers; a plan that differs on purpose is listed with its reason, and one that does not
//! differ is not listed.

mod answers;
mod case;
mod normal;
mod observe;
mod site;
mod table;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::difference;
use crate::k6::repository;
use crate::process::binary;
use case::Case;

/// The tool from which the golden files were recorded.
const PEER: &str = "JMeter 5.6.3";
/// Number of observations of a plan before a difference counts: threads of a plan race each other.
const LOOKS: usize = 2;

/// A program that runs plans, and the words before its arguments.
struct Tool<'a> {
    /// A preceding shell command: a runaway plan must not take down the machine.
    before: &'a str,
    program: &'a OsStr,
    words: &'a [&'a str],
}

fn root() -> PathBuf {
    repository().join("crates/e2e/jmeter")
}

/// The topics of the existing plans: the part before the first `_` of their names.
#[must_use]
pub fn topics() -> Vec<String> {
    let mut found: Vec<String> = Case::all()
        .iter()
        .map(|case| case.topic().to_owned())
        .collect();
    found.dedup();
    found
}

/// Runs the plans of a topic with the binary under test, and compares each with its golden file.
///
/// # Panics
/// One differs that is not a known difference, or a known difference does not differ.
pub fn hold(topic: &str) {
    let known = known_differences();
    let cases: Vec<Case> = Case::all()
        .into_iter()
        .filter(|case| case.topic() == topic)
        .collect();
    let told: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let is_known = known.contains_key(&case.name);
            difference::judged(&case.name, &differences(case), is_known)
        })
        .collect();
    assert!(
        told.is_empty(),
        "{} of {} plans differ from {PEER}\n{}",
        told.len(),
        cases.len(),
        told.join("\n")
    );
}

/// The recording of a plan, its current observation, and the differences.
///
/// # Panics
/// There is no such plan, or it cannot be run.
#[must_use]
pub fn show(name: &str) -> String {
    let all = Case::all();
    let case = all.iter().find(|case| case.name == name);
    let case = case.unwrap_or_else(|| panic!("{name}: no such plan in {}", root().display()));
    let seen = see(case);
    let lines = difference::between(&golden(case), &seen);
    format!(
        "{PEER}:\n{:#}\n\nseen:\n{seen:#}\n\n{}",
        golden(case),
        lines.join("\n")
    )
}

fn differences(case: &Case) -> Vec<String> {
    let golden = golden(case);
    let mut least: Option<Vec<String>> = None;
    for _ in 0..LOOKS {
        let lines = difference::between(&golden, &see(case));
        if lines.is_empty() {
            return lines;
        }
        least = match least {
            Some(earlier) if earlier.len() <= lines.len() => Some(earlier),
            _ => Some(lines),
        };
    }
    least.unwrap_or_default()
}

fn see(case: &Case) -> Value {
    let binary = binary();
    let tool = Tool {
        before: "ulimit -v 4000000; ",
        program: &binary,
        words: &["jmeter"],
    };
    observe::see(case, &tool)
}

/// Records the golden files of all plans whose name contains `only`, from the JMeter at `peer`.
///
/// # Panics
/// The peer is of another version, or a golden file cannot be written.
pub fn record(peer: &OsStr, only: &str) {
    let tool = Tool {
        before: "",
        program: peer,
        words: &[],
    };
    for case in Case::all().iter().filter(|case| case.name.contains(only)) {
        let (mut seen, log) = observe::see_with_log(case, &tool);
        let version = format!("Version {}", PEER.rsplit(' ').next().unwrap_or(PEER));
        assert!(
            case.is_line() || log.contains(&version),
            "{}: {PEER} is required: {log}",
            case.name
        );
        seen["peer"] = json!(PEER);
        let text = format!("{seen:#}\n");
        std::fs::write(golden_path(&case.name), text).expect("the checkout can be written to");
    }
}

/// Plans without a golden file, golden files without a plan, and cases and known differences without a plan.
#[must_use]
pub fn strays() -> Vec<String> {
    let all = Case::all();
    let is_plan = |name: &str| all.iter().any(|case| case.name == name);
    let mut found: Vec<String> = all
        .iter()
        .filter(|case| !golden_path(&case.name).is_file())
        .map(|case| format!("{} was never recorded", case.name))
        .collect();
    let goldens = case::names_in(&root().join("goldens"), "json");
    let named = goldens.into_iter().chain(known_differences().into_keys());
    let strays = named.chain(case::directed()).filter(|name| !is_plan(name));
    found.extend(strays.map(|name| format!("{name}: no such plan")));
    found
}

fn golden_path(name: &str) -> PathBuf {
    root().join("goldens").join(format!("{name}.json"))
}

/// The recording, without the name of the peer.
fn golden(case: &Case) -> Value {
    let path = golden_path(&case.name);
    let mut value: Value = serde_json::from_str(&read(&path)).expect("a golden file is JSON");
    let peer = value.as_object_mut().and_then(|map| map.remove("peer"));
    assert_eq!(peer, Some(json!(PEER)), "{}", path.display());
    value
}

/// Plans that differ on purpose, with the reason.
fn known_differences() -> BTreeMap<String, String> {
    toml::from_str(&read(&root().join("known_differences.toml"))).expect("a table of reasons")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}
