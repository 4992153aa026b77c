//! What a script run found, metric by metric: what the end-of-test summary, `handleSummary` and
//! the summary files are made of.
//!
//! Must not know layouts. Invariant: everything that k6 prints at the end of a test can be derived
//! from here and the summary's options.

use std::sync::Arc;

use loadline_metric::{Aggregated, MetricDefinition, TagSet};
use serde::{Deserialize, Serialize};

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

impl Section {
    /// The checks made here and in the groups within, each by its name behind those of its groups, `between` them.
    #[must_use]
    pub fn all_checks(&self, between: &str) -> Vec<(String, &CheckSummary)> {
        let mut found = Vec::new();
        self.gather_checks("", between, &mut found);
        found
    }

    fn gather_checks<'a>(
        &'a self,
        path: &str,
        between: &str,
        found: &mut Vec<(String, &'a CheckSummary)>,
    ) {
        let own = self.checks.iter();
        found.extend(own.map(|check| (format!("{path}{}", check.name), check)));
        for (name, group) in &self.groups {
            group.gather_checks(&format!("{path}{name}{between}"), between, found);
        }
    }
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
