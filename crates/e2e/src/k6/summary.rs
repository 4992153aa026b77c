//! The end of a run, read from its `--summary-export` file: checks, thresholds, values of metrics.
//!
//! Must not know how a summary is shown. Invariant: measured values are omitted, but their names are kept.

use serde_json::{Map, Value, json};

use super::normal;
use super::points::{is_by_the_clock, is_measured};

/// Checks by path, as `passes/fails`; groups without checks are included.
pub(crate) fn checks(export: &Value) -> Value {
    let mut found = Map::new();
    gather(&export["root_group"], &mut found);
    Value::Object(found)
}

fn gather(group: &Value, found: &mut Map<String, Value>) {
    for (_, check) in group["checks"].as_object().into_iter().flatten() {
        let path = check["path"].as_str().unwrap_or_default();
        let told = format!("{}/{}", check["passes"], check["fails"]);
        found.insert(path.to_owned(), Value::String(told));
    }
    for (_, group) in group["groups"].as_object().into_iter().flatten() {
        let path = group["path"].as_str().unwrap_or_default();
        found.insert(path.to_owned(), json!("group"));
        gather(group, found);
    }
}

/// Metrics with their values; only the names of measured values.
pub(crate) fn metrics(export: &Value, uncounted: &[String]) -> Value {
    let all = export["metrics"].as_object().into_iter().flatten();
    let told = all
        .filter(|(name, _)| !is_by_the_clock(name))
        .map(|(name, values)| (name.clone(), tell(name, values, uncounted)));
    Value::Object(told.collect())
}

fn tell(name: &str, values: &Value, uncounted: &[String]) -> Value {
    let base = name.split('{').next().unwrap_or(name);
    let hidden = is_measured(base) || uncounted.iter().any(|other| other == base);
    let is_counter = values.get("count").is_some() && values.get("rate").is_some();
    let values = values.as_object().into_iter().flatten();
    let mut told: Vec<String> = values
        .filter(|(key, _)| *key != "thresholds")
        .map(|(key, value)| match value.as_f64() {
            // A counter's rate is per second of the run.
            Some(number) if !(hidden || is_counter && key == "rate") => {
                format!("{key}={}", normal::number(number))
            }
            _ => key.clone(),
        })
        .collect();
    told.sort();
    Value::String(told.join(" "))
}

/// Thresholds by metric and expression: whether each was crossed.
pub(crate) fn thresholds(export: &Value) -> Value {
    let mut found = Map::new();
    for (name, values) in export["metrics"].as_object().into_iter().flatten() {
        for (expression, crossed) in values["thresholds"].as_object().into_iter().flatten() {
            let told = match crossed {
                Value::Bool(true) => json!("crossed"),
                Value::Bool(false) => json!("kept"),
                other => other.clone(),
            };
            found.insert(format!("{name}: {expression}"), told);
        }
    }
    Value::Object(found)
}
