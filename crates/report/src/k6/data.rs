//! The argument of `handleSummary(data)`, including the tree of groups.
//!
//! Shape: k6 v2.2.0. Must not know JavaScript. Invariant: every check and group has the id that k6 would give
//! it, the MD5 of its path.

use data_encoding::HEXLOWER;
use loadline_metric::Contains;
use loadline_model::TestSummary;
use loadline_model::test_summary::CheckSummary;
use md5::{Digest, Md5};
use serde_json::{Map, Value, json};

use super::SummaryOptions;
use super::stats::{Metric, Stats, TrendStat, Values};

/// What the value contains besides the test's results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandleSummaryContext {
    /// What `setup()` returned; `None`: there was none, or it returned nothing.
    pub setup_data: Option<Value>,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether the user asked for no colours.
    pub no_colour: bool,
}

/// The argument of `handleSummary`.
#[must_use]
pub fn handle_summary_data(
    summary: &TestSummary,
    options: &SummaryOptions,
    context: &HandleSummaryContext,
) -> Value {
    let root = Stats::of(&summary.root, summary.duration_ns, &options.trend_stats);
    let stats: Vec<&str> = options.trend_stats.iter().map(TrendStat::name).collect();
    let mut data = json!({
        "root_group": group(&root, "", ""),
        "options": {
            "summaryTrendStats": stats,
            "summaryTimeUnit": options.time_unit.map_or("", |unit| unit.name()),
            "noColor": context.no_colour,
        },
        "state": {
            "isStdOutTTY": context.stdout_is_terminal,
            "isStdErrTTY": context.stderr_is_terminal,
            "testRunDurationMs": summary.duration_ns as f64 / 1e6,
        },
        "metrics": root.metrics.iter().map(|m| (m.key.clone(), metric(m))).collect::<Map<_, _>>(),
    });
    if let Some(setup_data) = &context.setup_data {
        data["setup_data"] = setup_data.clone();
    }
    data
}

fn metric(metric: &Metric) -> Value {
    let mut value = json!({
        "type": metric.kind().name(),
        "contains": metric.contains.name(),
        "values": values(&metric.values),
    });
    if !metric.thresholds.is_empty() {
        let outcome = |t: &loadline_model::test_summary::ThresholdSummary| {
            (t.source.to_string(), json!({ "ok": t.passed }))
        };
        value["thresholds"] = Value::Object(metric.thresholds.iter().map(outcome).collect());
    }
    value
}

fn values(values: &Values) -> Value {
    match values {
        Values::Counter { count, rate } => json!({ "count": count, "rate": rate }),
        Values::Gauge { value, min, max } => json!({ "value": value, "min": min, "max": max }),
        Values::Rate {
            passes,
            fails,
            rate,
        } => {
            json!({ "rate": rate, "passes": passes, "fails": fails })
        }
        Values::Trend(stats) => trend(stats),
    }
}

/// The statistics of a trend by their names.
pub(super) fn trend(stats: &[(TrendStat, f64)]) -> Value {
    let field = |(stat, value): &(TrendStat, f64)| (stat.name().to_owned(), json!(value));
    Value::Object(stats.iter().map(field).collect())
}

/// A group with its content; `path` is its own.
fn group(stats: &Stats, name: &str, path: &str) -> Value {
    let within = |name: &str| format!("{path}::{name}");
    // A name that looks like a path has no place in the tree of k6 either.
    let checks = stats
        .checks
        .iter()
        .filter(|check| !check.name.contains("::"));
    let checks: Vec<Value> = checks
        .map(|check| check_value(check, &within(&check.name)))
        .collect();
    let groups = stats.groups.iter();
    let groups: Vec<Value> = groups
        .filter(|(name, inner)| !path.is_empty() || !is_bare_hook(name, inner))
        .map(|(name, inner)| group(inner, name, &within(name)))
        .collect();
    json!({ "name": name, "path": path, "id": identity(path), "groups": groups, "checks": checks })
}

/// Whether a group at the top is that of `setup()` or `teardown()`, and nothing was grouped or checked in it: samples alone
/// make no group in k6's tree.
fn is_bare_hook(name: &str, group: &Stats) -> bool {
    let has = |metric: &str| group.metric(metric).is_some();
    // Without metrics of their own, groups are known by checks and groups alone.
    let is_entered = has("group_duration") || has("checks") || group.metrics.is_empty();
    matches!(name, "setup" | "teardown")
        && !is_entered
        && group.checks.is_empty()
        && group.groups.is_empty()
}

fn check_value(check: &CheckSummary, path: &str) -> Value {
    json!({
        "name": check.name,
        "path": path,
        "id": identity(path),
        "passes": check.passes,
        "fails": check.fails,
    })
}

/// The identity of a group or check.
pub(super) fn identity(path: &str) -> String {
    HEXLOWER.encode(&Md5::digest(path))
}

/// The name of a value type, as files write it.
pub(super) fn contains(contains: Contains) -> Value {
    Value::from(contains.name())
}
