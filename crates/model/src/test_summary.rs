//! What a script run found, metric by metric: what the end-of-test summary, `handleSummary` and
//! the summary files are made of.
//!
//! Must not know layouts. Invariant: everything that k6 prints at the end of a test can be derived
//! from here and the summary's options.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use loadline_metric::{Aggregated, BuiltIn, MetricDefinition, Rate, TagSet, ValueCounter};
use serde::{Deserialize, Serialize};

use crate::bounded::Bounded;
use crate::result::RunResult;
use crate::snapshot::RequestTally;
use crate::tag_series::TagSeries;

/// What a script run found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestSummary {
    /// Length of the test run in nanoseconds, setup and teardown included: what rates per second
    /// are over.
    pub duration_ns: u64,
    /// Everything together: its metrics, checks and groups.
    pub root: Section,
    /// Each scenario for itself, by name; empty unless asked for (`--summary-mode full`).
    pub scenarios: Vec<(String, Section)>,
    /// Requests by name, or by the tag of `--summary-by`; `None`: there were none.
    pub by_tag: Option<ByTag>,
}

/// Metrics, checks and groups of the whole test, of a scenario, or of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Metrics with a value or a threshold; each with its sub-metrics behind it.
    pub metrics: Vec<MetricSummary>,
    /// Checks made directly here, in the order in which they were first seen.
    pub checks: Vec<CheckSummary>,
    /// Groups directly within, by name, in the order in which they were first seen.
    pub groups: Vec<(String, Section)>,
}

/// One metric or sub-metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// Which metric.
    pub definition: MetricDefinition,
    /// The tags of a sub-metric; `None` for the metric itself.
    pub tags: Option<TagSet>,
    /// What stands between the braces of the threshold that asked for a sub-metric, as written;
    /// `None`: as its tags are written in order.
    pub suffix: Option<Arc<str>>,
    /// What was measured.
    pub values: Aggregated,
    /// Thresholds on it, in the order of the script.
    pub thresholds: Vec<ThresholdSummary>,
}

impl MetricSummary {
    /// `name`, or `name{tag:value}` for a sub-metric.
    #[must_use]
    pub fn key(&self) -> String {
        match (&self.suffix, &self.tags) {
            (Some(suffix), _) => format!("{}{{{suffix}}}", self.definition.name),
            (None, Some(tags)) => format!("{}{tags}", self.definition.name),
            (None, None) => self.definition.name.to_string(),
        }
    }

    /// Whether this is a part of a metric.
    #[must_use]
    pub fn is_sub_metric(&self) -> bool {
        self.suffix.is_some() || self.tags.is_some()
    }
}

/// A threshold and how it came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdSummary {
    /// The condition as written.
    pub source: Arc<str>,
    /// The value it was held against, in the metric's unit (times in milliseconds); `None` without data.
    pub observed: Option<f64>,
    /// Whether it held.
    pub passed: bool,
}

/// How often a check held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSummary {
    /// Name.
    pub name: String,
    /// When it was first seen, on a scale that all checks of the test share: lists over several
    /// groups are in this order.
    pub first_seen: u64,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// One row per value of a tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByTag {
    /// The tag.
    pub tag: String,
    /// Value of the tag, and what was seen with it, most requests first.
    pub rows: Vec<(String, Vec<MetricSummary>)>,
    /// Samples whose value found no place of its own.
    pub overflowed: u64,
    /// Value of the tag, and why its requests failed (the error, else the status) with how many, most first; only
    /// values with failures.
    #[serde(default)]
    pub failures: Vec<(String, Vec<(String, u64)>)>,
    /// The same values over time; `None`: not known.
    #[serde(default)]
    pub over_time: Option<TagSeries>,
}

/// The tag of a table of requests that have no tags: their method and URL.
const REQUEST: &str = "URL";

impl ByTag {
    /// A run's table of requests: by name those of a script or a plan, else by method and URL where there are several; `None`:
    /// all are alike.
    #[must_use]
    pub fn of(result: &RunResult) -> Option<Cow<'_, ByTag>> {
        let summary = result.summary.as_ref();
        let table = summary.and_then(|summary| summary.by_tag.as_ref());
        let requests = &result.totals.seen.requests;
        match table {
            Some(table) => Some(Cow::Borrowed(table)),
            None if requests.is_empty() => None,
            None => Some(Cow::Owned(ByTag::of_requests(requests))),
        }
    }

    fn of_requests(requests: &Bounded<String, RequestTally>) -> ByTag {
        let mut rows: Vec<(&String, &RequestTally)> = requests.rows().collect();
        rows.sort_by_key(|(_, tally)| Reverse(tally.answered + tally.failed));
        let rest = requests.overflow();
        ByTag {
            tag: REQUEST.to_owned(),
            rows: rows
                .into_iter()
                .map(|(request, tally)| (request.clone(), tally.metrics()))
                .collect(),
            overflowed: rest.map_or(0, |tally| tally.answered + tally.failed),
            ..ByTag::default()
        }
    }
}

impl RequestTally {
    /// The same as metrics.
    fn metrics(&self) -> Vec<MetricSummary> {
        let total = self.answered + self.failed;
        let mut requests = ValueCounter::default();
        requests
            .add(total as f64)
            .expect("a whole number is finite");
        let mut failed = Rate::default();
        failed.record_n(total - self.good.min(total), total);
        let values = [
            (BuiltIn::HttpReqs, Aggregated::Counter(requests)),
            (BuiltIn::HttpReqFailed, Aggregated::Rate(failed)),
            (
                BuiltIn::HttpReqDuration,
                Aggregated::Times(self.time.clone()),
            ),
        ];
        let summary = |(metric, values): (BuiltIn, Aggregated)| MetricSummary {
            definition: metric.definition(),
            tags: None,
            suffix: None,
            values,
            thresholds: Vec::new(),
        };
        values.map(summary).into()
    }
}
