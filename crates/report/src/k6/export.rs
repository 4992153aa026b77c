//! The summary files: `--summary-export` in its old shape, and the newer machine-readable one.
//!
//! Shapes: k6 v2.2.0. Must not know files. Invariant: the same numbers as the text, uncut.

use loadline_model::TestSummary;
use loadline_model::test_summary::CheckSummary;
use serde_json::{Value, json};

use super::SummaryOptions;
use super::data::contains;
use super::stats::{Metric, Stats, TrendStat, Values};
use super::text::is_shown;

/// The version of the machine-readable summary's shape.
const MACHINE_SUMMARY_VERSION: &str = "1.0.0";

/// The value of `--summary-export`, from the argument of `handleSummary` or its modified form. In it, a crossed
/// threshold is true.
#[must_use]
pub fn summary_export(data: &Value) -> Value {
    let parts = data.as_object().into_iter().flatten();
    let told = parts.filter(|(name, _)| !matches!(name.as_str(), "options" | "state"));
    let part = |(name, value): (&String, &Value)| {
        let value = match name.as_str() {
            "root_group" => by_name(value),
            "metrics" => each(value, flat),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    Value::Object(told.map(part).collect())
}

fn each(rows: &Value, of: impl Fn(&Value) -> Value) -> Value {
    let rows = rows.as_object().into_iter().flatten();
    Value::Object(rows.map(|(name, row)| (name.clone(), of(row))).collect())
}

/// A group whose lists are objects by name.
fn by_name(group: &Value) -> Value {
    let mut group = group.clone();
    for list in ["groups", "checks"] {
        let Some(Value::Array(rows)) = group.get(list) else {
            continue;
        };
        let named = rows.iter().filter_map(|row| {
            let name = row.get("name")?.as_str()?;
            Some((name.to_owned(), by_name(row)))
        });
        group[list] = Value::Object(named.collect());
    }
    group
}

fn flat(metric: &Value) -> Value {
    let mut values = metric["values"].as_object().cloned().unwrap_or_default();
    if metric["type"] == "rate"
        && let Some(rate) = values.remove("rate")
    {
        values.insert("value".to_owned(), rate);
    }
    if let Some(thresholds) = metric.get("thresholds") {
        let crossed = each(thresholds, |held| Value::Bool(held["ok"] != true));
        values.insert("thresholds".to_owned(), crossed);
    }
    Value::Object(values)
}

/// What the machine-readable summary contains besides the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSummaryContext {
    /// When it was made, RFC 3339 with nanoseconds.
    pub generated_at: String,
    /// The version of k6 that is imitated.
    pub k6_version: String,
    /// The script's source text.
    pub script: String,
}

/// The value of `--new-machine-readable-summary`, for files and for `handleSummary`. A trend has six
/// statistics, which are null if the options omit them; metrics without a line in the text are omitted, too.
#[must_use]
pub fn machine_readable(
    summary: &TestSummary,
    options: &SummaryOptions,
    context: &MachineSummaryContext,
) -> Value {
    let root = Stats::of(&summary.root, summary.duration_ns, &options.trend_stats);
    let metrics = root
        .metrics
        .iter()
        .filter(|metric| is_shown(&metric.name, options.mode));
    let results = json!({
        "metrics": metrics.map(machine_metric).collect::<Vec<_>>(),
        "checks": machine_checks(&root),
    });
    json!({
        "version": MACHINE_SUMMARY_VERSION,
        "metadata": { "generated_at": context.generated_at, "k6_version": context.k6_version },
        "config": {
            "duration": summary.duration_ns as f64 / 1e9,
            "execution": "local",
            "script": context.script,
        },
        "results": results,
    })
}

/// Both lists are empty if no check ran, and no threshold asks for them.
fn machine_checks(root: &Stats) -> Value {
    let checks = root.metric("checks").map(|metric| &metric.values);
    let Some(&Values::Rate { passes, fails, .. }) = checks else {
        return json!({ "metrics": [], "results": [] });
    };
    let named = |name: &str, kind: &str, values: Value| json!({ "name": name, "type": kind, "contains": "default", "values": values });
    let total = passes + fails;
    let result = |check: &CheckSummary| json!({ "name": check.name, "passes": check.passes, "fails": check.fails });
    json!({
        "metrics": [
            named("checks_total", "counter", json!({ "count": total })),
            named("checks_failed", "rate", matches(fails, total)),
            named("checks_succeeded", "rate", matches(passes, total)),
        ],
        "results": root.all_checks().iter().map(result).collect::<Vec<_>>(),
    })
}

fn machine_metric(metric: &Metric) -> Value {
    let values = match &metric.values {
        Values::Counter { count, .. } => json!({ "count": count }),
        Values::Gauge { value, min, max } => json!({ "value": value, "min": min, "max": max }),
        Values::Rate { passes, fails, .. } => matches(*passes, passes + fails),
        Values::Trend(stats) => six_stats(stats),
    };
    json!({
        "name": metric.key,
        "type": metric.kind().name(),
        "contains": contains(metric.contains),
        "values": values,
    })
}

fn matches(matching: u64, total: u64) -> Value {
    let rate = if total > 0 {
        matching as f64 / total as f64
    } else {
        0.0
    };
    json!({ "matches": matching, "total": total, "rate": rate })
}

fn six_stats(stats: &[(TrendStat, f64)]) -> Value {
    const SHOWN: [(&str, &str); 6] = [
        ("avg", "avg"),
        ("max", "max"),
        ("med", "med"),
        ("min", "min"),
        ("p90", "p(90)"),
        ("p95", "p(95)"),
    ];
    let value = |name: &str| {
        stats
            .iter()
            .find(|(stat, _)| stat.name() == name)
            .map(|(_, value)| *value)
    };
    SHOWN
        .iter()
        .map(|(short, name)| ((*short).to_owned(), json!(value(name))))
        .collect()
}
