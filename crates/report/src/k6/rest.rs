//! Metrics and groups as documents of the REST API (JSON:API).
//!
//! Shape: k6 v2.2.0. Must not know how they are requested. Invariants: metrics and groups are sorted by names
//! and paths; the numbers are those of the summary at that moment.

use loadline_go::json::{number, string};
use loadline_metric::Aggregated;
use loadline_model::TestSummary;
use loadline_model::test_summary::{CheckSummary, MetricSummary, Section};

use super::data::identity;
use super::stats::{Metric, Stats, TrendStat, Values};

/// The document of all metrics.
#[must_use]
pub fn metrics_document(summary: &TestSummary) -> String {
    let rows: Vec<String> = metrics(summary).into_iter().map(|(_, row)| row).collect();
    format!("{{\"data\":[{}]}}", rows.join(","))
}

/// The document of a metric or sub-metric; `None` if there is none with this name.
#[must_use]
pub fn metric_document(summary: &TestSummary, name: &str) -> Option<String> {
    let found = metrics(summary).into_iter().find(|(key, _)| key == name);
    found.map(|(_, row)| format!("{{\"data\":{row}}}"))
}

/// The document of all groups, starting with the nameless root group.
#[must_use]
pub fn groups_document(summary: &TestSummary) -> String {
    let rows: Vec<String> = groups(summary).into_iter().map(|(_, row)| row).collect();
    format!("{{\"data\":[{}]}}", rows.join(","))
}

/// The document of the group with this id; `None` if there is none.
#[must_use]
pub fn group_document(summary: &TestSummary, id: &str) -> Option<String> {
    let found = groups(summary).into_iter().find(|(own, _)| own == id);
    found.map(|(_, row)| format!("{{\"data\":{row}}}"))
}

fn metrics(summary: &TestSummary) -> Vec<(String, String)> {
    let shown = Stats::of(&summary.root, summary.duration_ns, &TrendStat::defaults());
    let mut rows: Vec<(String, String)> = shown
        .metrics
        .iter()
        .map(|metric| {
            let seen = summary.root.metrics.iter().find(|m| m.key() == metric.key);
            (metric.key.clone(), metric_row(metric, seen))
        })
        .collect();
    rows.sort();
    rows
}

fn metric_row(metric: &Metric, seen: Option<&MetricSummary>) -> String {
    format!(
        "{{\"type\":\"metrics\",\"id\":{},\"attributes\":{{\"type\":\"{}\",\"contains\":\"{}\",\
         \"tainted\":{},\"sample\":{}}}}}",
        string(&metric.key),
        metric.kind().name(),
        metric.contains.name(),
        tainted(metric, seen),
        sample(&metric.values)
    )
}

/// Whether a threshold failed; null before any was evaluated.
fn tainted(metric: &Metric, seen: Option<&MetricSummary>) -> &'static str {
    let is_empty = seen.is_none_or(|seen| is_empty(&seen.values));
    if metric.thresholds.is_empty() || is_empty {
        "null"
    } else if metric.thresholds.iter().all(|held| held.passed) {
        "false"
    } else {
        "true"
    }
}

fn is_empty(values: &Aggregated) -> bool {
    match values {
        Aggregated::Counter(counter) => counter.total() == 0.0,
        Aggregated::Gauge(gauge) => gauge.last().is_none(),
        Aggregated::Rate(rate) => rate.total() == 0,
        Aggregated::Values(trend) => trend.is_empty(),
        Aggregated::Times(trend) => trend.is_empty(),
    }
}

/// The values, by name.
fn sample(values: &Values) -> String {
    let mut fields: Vec<(&str, f64)> = match values {
        Values::Counter { count, rate } => vec![("count", *count), ("rate", *rate)],
        Values::Gauge { value, .. } => vec![("value", *value)],
        Values::Rate { rate, .. } => vec![("rate", *rate)],
        Values::Trend(stats) => stats
            .iter()
            .map(|(stat, value)| (stat.name(), *value))
            .collect(),
    };
    fields.sort_by_key(|(name, _)| *name);
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{}:{}", string(name), number(value)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn groups(summary: &TestSummary) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    add_group(&summary.root, ("", ""), None, &mut rows);
    rows
}

fn add_group(
    section: &Section,
    (name, path): (&str, &str),
    parent: Option<&str>,
    rows: &mut Vec<(String, String)>,
) {
    let within = |name: &str| format!("{path}::{name}");
    let related = |path: &str| format!("{{\"type\":\"groups\",\"id\":\"{}\"}}", identity(path));
    let mut inner: Vec<(&str, String, &Section)> = section
        .groups
        .iter()
        .map(|(name, group)| (name.as_str(), within(name), group))
        .collect();
    inner.sort_by_key(|(name, ..)| *name);
    let groups: Vec<String> = inner.iter().map(|(_, path, _)| related(path)).collect();
    let id = identity(path);
    let row = format!(
        "{{\"type\":\"groups\",\"id\":\"{id}\",\"attributes\":{{\"path\":{},\"name\":{},\
         \"checks\":{}}},\"relationships\":{{\"groups\":{{\"data\":[{}]}},\
         \"parent\":{{\"data\":{}}}}}}}",
        string(path),
        string(name),
        checks(&section.checks, path),
        groups.join(","),
        parent.map_or_else(|| "null".to_owned(), related),
    );
    rows.push((id, row));
    for (name, inner_path, group) in inner {
        add_group(group, (name, &inner_path), Some(path), rows);
    }
}

fn checks(checks: &[CheckSummary], path: &str) -> String {
    if checks.is_empty() {
        return "null".to_owned();
    }
    let mut checks: Vec<&CheckSummary> = checks.iter().collect();
    checks.sort_by(|left, right| left.name.cmp(&right.name));
    let row = |check: &&CheckSummary| {
        let path = format!("{path}::{}", check.name);
        format!(
            "{{\"id\":\"{}\",\"path\":{},\"name\":{},\"passes\":{},\"fails\":{}}}",
            identity(&path),
            string(&path),
            string(&check.name),
            check.passes,
            check.fails
        )
    };
    let rows: Vec<String> = checks.iter().map(row).collect();
    format!("[{}]", rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> CheckSummary {
        CheckSummary {
            name: name.to_owned(),
            first_seen: 0,
            passes: 2,
            fails: 1,
        }
    }

    /// Recorded from k6 v2.2.0.
    #[test]
    fn groups_are_told_as_k6_tells_them() {
        let inner = Section::default();
        let outer = Section {
            groups: vec![("inner".to_owned(), inner)],
            checks: vec![check("one"), check("b<c")],
            ..Section::default()
        };
        let summary = TestSummary {
            root: Section {
                groups: vec![("outer".to_owned(), outer)],
                ..Section::default()
            },
            ..TestSummary::default()
        };
        let id = "c34b428ee7255085dfe7fef53d3394d5";
        let told = group_document(&summary, id).expect("the identity is the path's");
        let expected = concat!(
            r#"{"data":{"type":"groups","id":"c34b428ee7255085dfe7fef53d3394d5","attributes":"#,
            r#"{"path":"::outer","name":"outer","checks":[{"id":"53d135ec65e282d2c04d922a2520d11c","#,
            r#""path":"::outer::b\u003cc","name":"b\u003cc","passes":2,"fails":1},"#,
            r#"{"id":"f06919b91bbf4683d175f09f6afae1e1","path":"::outer::one","name":"one","#,
            r#""passes":2,"fails":1}]},"relationships":{"groups":{"data":[{"type":"groups","#,
            r#""id":"b6c425bc7b9e3d21a2d56ce7a6de3614"}]},"parent":{"data":{"type":"groups","#,
            r#""id":"d41d8cd98f00b204e9800998ecf8427e"}}}}}"#,
        );
        assert_eq!(told, expected);
        assert!(groups_document(&summary).starts_with(concat!(
            r#"{"data":[{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e","attributes":"#,
            r#"{"path":"","name":"","checks":null},"#
        )));
        assert_eq!(group_document(&summary, "nope"), None);
    }

    #[test]
    fn values_stand_in_the_order_of_their_names() {
        let stats = TrendStat::defaults()
            .into_iter()
            .zip([1.0, 0.5, 1.25, 1e21, 2.0, 3.0]);
        assert_eq!(
            sample(&Values::Trend(stats.collect())),
            r#"{"avg":1,"max":1e+21,"med":1.25,"min":0.5,"p(90)":2,"p(95)":3}"#
        );
        let rate = Values::Rate {
            passes: 1,
            fails: 1,
            rate: 0.5,
        };
        assert_eq!(sample(&rate), r#"{"rate":0.5}"#);
    }
}
