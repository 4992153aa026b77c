//! Reads k6's recording of a test (its samples and the data of its summary) into a [`TestSummary`], so that our
//! summary of it can be compared with k6's own.
//!
//! The files in `golden/k6-2.2.0` are from k6 v2.2.0; `record.sh` there makes them. Must not compute a
//! statistic itself. Invariant: every sample of the file is in the summary.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use loadline_metric::threshold::{Aggregate, Outcome, Threshold};
use loadline_metric::{Aggregated, BuiltIn, MetricDefinition, TagSet};
use loadline_model::TestSummary;
use loadline_model::test_summary::{CheckSummary, MetricSummary, Section, ThresholdSummary};
use serde_json::Value;

/// A recorded file as text.
pub(crate) fn recorded(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/k6-2.2.0")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A recorded file as JSON.
pub(crate) fn recorded_json(name: &str) -> Value {
    serde_json::from_str(&recorded(name)).expect("k6 writes JSON")
}

/// One sample.
struct Point {
    metric: String,
    value: f64,
    tags: BTreeMap<String, String>,
}

/// A recorded test.
pub(crate) struct Recorded {
    points: Vec<Point>,
    /// Conditions per metric or sub-metric, in the order of the script where k6 tells it.
    conditions: BTreeMap<String, Vec<String>>,
    sub_metric_tags: BTreeMap<String, TagSet>,
    definitions: BTreeMap<String, MetricDefinition>,
}

fn definition(name: &str, data: &Value) -> MetricDefinition {
    MetricDefinition {
        name: name.into(),
        kind: serde_json::from_value(data["type"].clone()).expect("a type"),
        contains: serde_json::from_value(data["contains"].clone()).expect("what it contains"),
    }
}

/// The aggregate of points, as a run makes it: times that the engine measures in nanoseconds.
fn aggregated<'a>(
    definition: &MetricDefinition,
    points: impl Iterator<Item = &'a Point>,
) -> Aggregated {
    let is_built_in = BuiltIn::ALL
        .iter()
        .any(|metric| *metric.name() == *definition.name);
    let mut all = Aggregated::empty(definition.kind, definition.contains, is_built_in);
    for (place, point) in points.enumerate() {
        all.record(point.value, place as u64)
            .expect("k6 records finite numbers");
    }
    all
}

fn aggregate(values: &Aggregated) -> Aggregate<'_> {
    match values {
        Aggregated::Counter(counter) => Aggregate::ValueCounter(counter),
        Aggregated::Gauge(gauge) => Aggregate::Gauge(gauge),
        Aggregated::Rate(rate) => Aggregate::Rate(rate),
        Aggregated::Values(trend) => Aggregate::Values(trend),
        Aggregated::Times(trend) => Aggregate::Times(trend),
    }
}

impl Point {
    fn is(&self, tag: &str, value: &str) -> bool {
        self.tags.get(tag).is_some_and(|known| known == value)
    }

    fn has(&self, wanted: &TagSet) -> bool {
        wanted.iter().all(|(tag, value)| self.is(tag, value))
    }
}

fn strings(value: &Value) -> BTreeMap<String, String> {
    serde_json::from_value(value.clone()).expect("tags are texts")
}

impl Recorded {
    /// Reads `<name>.jsonl`.
    pub(crate) fn read(name: &str) -> Recorded {
        let mut read = Recorded {
            points: Vec::new(),
            conditions: BTreeMap::new(),
            sub_metric_tags: BTreeMap::new(),
            definitions: BTreeMap::new(),
        };
        for line in recorded(&format!("{name}.jsonl")).lines() {
            let line: Value = serde_json::from_str(line).expect("one value a line");
            if line["type"] == "Point" {
                read.points.push(Point {
                    metric: line["metric"].as_str().expect("a name").to_owned(),
                    value: line["data"]["value"].as_f64().expect("a number"),
                    tags: strings(&line["data"]["tags"]),
                });
            } else {
                read.describe(&line["data"]);
            }
        }
        read
    }

    fn describe(&mut self, data: &Value) {
        let conditions = data["thresholds"].as_array().into_iter().flatten();
        let source = |t: &Value| {
            t.as_str()
                .or(t["threshold"].as_str())
                .expect("a condition")
                .to_owned()
        };
        let name = data["name"].as_str().expect("a name").to_owned();
        self.definitions
            .insert(name.clone(), definition(&name, data));
        self.conditions
            .insert(name, conditions.map(source).collect());
        for sub in data["submetrics"].as_array().into_iter().flatten() {
            let key = sub["name"].as_str().expect("a name").to_owned();
            self.sub_metric_tags
                .insert(key, TagSet::from(strings(&sub["tags"])));
        }
    }

    /// The summary, of the metrics that `metrics` (of `handleSummary`'s data) has.
    pub(crate) fn summary(&self, duration_ms: f64, metrics: &Value) -> TestSummary {
        let all: Vec<&Point> = self.points.iter().collect();
        let metrics = metrics.as_object().expect("metrics by key");
        let keys = metrics.iter();
        let root_metrics = keys
            .map(|(key, data)| self.metric(key, data, duration_ms))
            .collect();
        let root = self.section(&all, root_metrics);
        let mut names: Vec<&str> = all
            .iter()
            .filter_map(|p| p.tags.get("scenario"))
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        names.dedup();
        let scenario = |name: &&str| {
            let points: Vec<&Point> = all
                .iter()
                .copied()
                .filter(|p| p.is("scenario", name))
                .collect();
            let metrics = self.plain_metrics(&points);
            ((*name).to_owned(), self.section(&points, metrics))
        };
        TestSummary {
            duration_ns: (duration_ms * 1e6).round() as u64,
            root,
            scenarios: names.iter().map(scenario).collect(),
            by_tag: None,
        }
    }

    fn metric(&self, key: &str, data: &Value, duration_ms: f64) -> MetricSummary {
        let name = key.split('{').next().expect("a name").to_owned();
        let suffix = key
            .strip_prefix(&*name)
            .and_then(|rest| rest.strip_prefix('{'));
        let suffix = suffix.and_then(|rest| rest.strip_suffix('}'));
        let definition = definition(&name, data);
        let tags = suffix.map(|_| self.sub_metric_tags.get(key).cloned().unwrap_or_default());
        let matching = |point: &&Point| {
            point.metric == name
                && (suffix.is_none() || self.sub_metric_tags.get(key).is_some_and(|t| point.has(t)))
        };
        let values = aggregated(&definition, self.points.iter().filter(matching));
        MetricSummary {
            thresholds: self.thresholds(key, data, &values, duration_ms),
            definition,
            tags,
            suffix: suffix.map(Arc::from),
            values,
        }
    }

    fn thresholds(
        &self,
        key: &str,
        data: &Value,
        values: &Aggregated,
        duration_ms: f64,
    ) -> Vec<ThresholdSummary> {
        let Some(outcomes) = data["thresholds"].as_object() else {
            return Vec::new();
        };
        let known = self.conditions.get(key).cloned();
        let sources = known.unwrap_or_else(|| outcomes.keys().cloned().collect());
        let outcome = |source: String| {
            let threshold: Threshold = source.parse().expect("k6 took it");
            let elapsed = std::time::Duration::from_secs_f64(duration_ms / 1e3);
            let evaluated = threshold
                .evaluate(aggregate(values), elapsed)
                .expect("k6 took it");
            let per_ms = if matches!(values, Aggregated::Times(_)) {
                1e6
            } else {
                1.0
            };
            let passed = outcomes[&source]["ok"].as_bool().expect("an outcome");
            if evaluated.outcome != Outcome::NoData {
                assert_eq!(
                    evaluated.outcome == Outcome::Passed,
                    passed,
                    "{key}: {source}"
                );
            }
            ThresholdSummary {
                observed: evaluated.observed.map(|value| value / per_ms),
                passed,
                source: source.into(),
            }
        };
        sources.into_iter().map(outcome).collect()
    }

    fn plain_metrics(&self, points: &[&Point]) -> Vec<MetricSummary> {
        let mut names: Vec<&str> = points.iter().map(|point| point.metric.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let metric = |name: &str| {
            let definition = self.definitions[name].clone();
            let values = aggregated(
                &definition,
                points.iter().copied().filter(|p| p.metric == name),
            );
            MetricSummary {
                definition,
                tags: None,
                suffix: None,
                values,
                thresholds: Vec::new(),
            }
        };
        names.into_iter().map(metric).collect()
    }

    /// Checks and groups of the points, around their metrics.
    fn section(&self, points: &[&Point], metrics: Vec<MetricSummary>) -> Section {
        let mut section = self.group(points, "");
        section.metrics = metrics;
        section
    }

    fn group(&self, points: &[&Point], path: &str) -> Section {
        let own: Vec<&Point> = points
            .iter()
            .copied()
            .filter(|p| p.is("group", path))
            .collect();
        let mut names: Vec<&str> = Vec::new();
        let inner = format!("{path}::");
        for point in points {
            let name = point
                .tags
                .get("group")
                .and_then(|group| group.strip_prefix(&*inner));
            let name = name.and_then(|rest| rest.split("::").next());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        Section {
            metrics: self.plain_metrics(&own),
            checks: self.checks(&own),
            groups: names
                .iter()
                .map(|name| {
                    (
                        (*name).to_owned(),
                        self.group(points, &format!("{inner}{name}")),
                    )
                })
                .collect(),
        }
    }

    fn checks(&self, own: &[&Point]) -> Vec<CheckSummary> {
        let mut checks: Vec<CheckSummary> = Vec::new();
        for point in own.iter().filter(|point| point.metric == "checks") {
            let name = &point.tags["check"];
            let place = self
                .points
                .iter()
                .position(|other| std::ptr::eq(other, *point));
            let known = checks.iter().position(|check| check.name == *name);
            let known = known.unwrap_or_else(|| {
                checks.push(CheckSummary {
                    name: name.clone(),
                    first_seen: place.expect("the point is one of all") as u64,
                    passes: 0,
                    fails: 0,
                });
                checks.len() - 1
            });
            if point.value == 0.0 {
                checks[known].fails += 1;
            } else {
                checks[known].passes += 1;
            }
        }
        checks
    }
}
