//! Differences between the tests themselves: plan, environment, and how the runs ended.
//!
//! The data of the results is compared leaf by leaf, so that nothing in a result can be forgotten here. Must
//! not know what was measured. Invariant: if two results differ in a leaf of plan or environment, the leaf is
//! named.

use std::collections::{BTreeMap, BTreeSet};

use loadline_model::fnv::fnv1a;
use loadline_model::result::RunResult;
use serde_json::Value;

use super::Side;

/// What a difference affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bearing {
    /// The load, or how it is sent.
    Load,
    /// Which target is tested.
    Target,
    /// The machine and the program that generated the load.
    Environment,
    /// What is judged or kept; it does not affect the run.
    Judgement,
    /// What is written besides the results.
    Note,
}

impl Bearing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Bearing::Load => "load",
            Bearing::Target => "target",
            Bearing::Environment => "environment",
            Bearing::Judgement => "judgement",
            Bearing::Note => "note",
        }
    }

    /// Whether it may change what is measured.
    pub(super) fn matters(self) -> bool {
        matches!(self, Bearing::Load | Bearing::Target | Bearing::Environment)
    }
}

/// One thing that is not the same on all sides.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) bearing: Bearing,
    /// Where in the result, as `scenarios.bench.executor.vus`.
    pub(super) path: String,
    /// The value of each side; for repetitions each distinct value.
    pub(super) values: Vec<String>,
}

/// Maximum differences shown; those that affect the measurements come first.
const DIFFERENCES_MAX: usize = 200;
/// Characters of one value.
const VALUE_MAX: usize = 80;
/// Levels of nesting; no plan has half of them.
const DEPTH_MAX: usize = 32;

/// Everything that differs, what matters most first.
pub(super) fn of(sides: &[Side<'_>]) -> Vec<Difference> {
    let leaves: Vec<Vec<BTreeMap<String, String>>> = sides
        .iter()
        .map(|side| side.runs.iter().map(|run| leaves(run)).collect())
        .collect();
    let paths: BTreeSet<&String> = leaves.iter().flatten().flat_map(BTreeMap::keys).collect();
    let mut found: Vec<Difference> = paths
        .into_iter()
        .filter_map(|path| difference(path, &leaves))
        .collect();
    found.sort_by_key(|difference| difference.bearing);
    found.truncate(DIFFERENCES_MAX);
    found
}

fn difference(path: &str, leaves: &[Vec<BTreeMap<String, String>>]) -> Option<Difference> {
    let absent = || "-".to_owned();
    let of_run = |run: &BTreeMap<String, String>| run.get(path).cloned().unwrap_or_else(absent);
    let each: Vec<BTreeSet<String>> = leaves
        .iter()
        .map(|side| side.iter().map(of_run).collect())
        .collect();
    let all: BTreeSet<&String> = each.iter().flatten().collect();
    (all.len() > 1).then(|| Difference {
        bearing: bearing(path),
        path: path.to_owned(),
        values: each
            .into_iter()
            .map(|values| values.into_iter().collect::<Vec<_>>().join(" / "))
            .collect(),
    })
}

fn bearing(path: &str) -> Bearing {
    let starts = |heads: &[&str]| heads.iter().any(|head| path.starts_with(head));
    if path.ends_with(".seed") || starts(&["labels", "seed", "environment.command"]) {
        Bearing::Note
    } else if starts(&["thresholds", "script_thresholds", "aggregation"])
        || path.contains(".checks")
    {
        Bearing::Judgement
    } else if starts(&["environment."]) {
        Bearing::Environment
    } else if path.contains(".origin.") || starts(&["client.connect_to", "client.resolve"]) {
        Bearing::Target
    } else {
        Bearing::Load
    }
}

/// Every leaf of plan and environment with its path, and how the run ended.
fn leaves(run: &RunResult) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let data = |value: serde_json::Result<Value>| value.unwrap_or(Value::Null);
    flatten("", &data(serde_json::to_value(&run.plan)), 0, &mut found);
    let environment = data(serde_json::to_value(&run.environment));
    flatten("environment", &environment, 0, &mut found);
    let words = run.environment.command.iter().skip(1).map(String::as_str);
    let command = words.collect::<Vec<_>>().join(" ");
    found.insert("environment.command".to_owned(), cut(&command));
    let stop = data(serde_json::to_value(run.totals.stop));
    flatten("stop", &stop, 0, &mut found);
    for (name, value) in &run.labels {
        found.insert(format!("labels.{name}"), cut(value));
    }
    found
}

fn flatten(path: &str, value: &Value, depth: usize, found: &mut BTreeMap<String, String>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        _ if depth > DEPTH_MAX => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                flatten(&below(name), field, depth + 1, found);
            }
        }
        // A list of words is best shown as one.
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            let words: Vec<String> = items.iter().map(leaf).collect();
            found.insert(path.to_owned(), cut(&format!("[{}]", words.join(" "))));
        }
        Value::Array(items) => {
            let names: BTreeSet<&str> = items
                .iter()
                .filter_map(|item| item["name"].as_str())
                .collect();
            let are_named = names.len() == items.len();
            for (position, item) in items.iter().enumerate() {
                let name = item["name"].as_str().filter(|_| are_named);
                let name = name.map_or_else(|| position.to_string(), str::to_owned);
                flatten(&below(&name), item, depth + 1, found);
            }
        }
        Value::Null => {}
        other => {
            found.insert(path.to_owned(), cut(&leaf(other)));
        }
    }
}

fn leaf(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The start and, if it is long, something that distinguishes the rest.
fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().take(VALUE_MAX - 12).collect();
    // Two long texts that begin alike must not look the same.
    format!("{kept}… #{:08x}", fnv1a(text.bytes()) as u32)
}

/// A sentence about the possible causes of the differences below.
pub(super) fn caution(differences: &[Difference]) -> &'static str {
    let has = |bearing: Bearing| differences.iter().any(|one| one.bearing == bearing);
    if has(Bearing::Load) || has(Bearing::Environment) {
        "The tests differ in load or environment, as listed. That may explain the differences below; \
         this comparison does not say what caused them."
    } else if has(Bearing::Target) {
        "Load and environment are the same; the target differs. The differences below are between the \
         targets, as seen from this machine at the time of each run."
    } else {
        "The results record the same load, target and environment. What they do not record (the target's \
         build and data, other programs, time of day) may differ. This comparison does not say what caused a change."
    }
}
