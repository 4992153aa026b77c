//! What a script run found, metric by metric: the source of the end-of-test summary, `handleSummary` and the
//! summary files.
//!
//! Must not know layouts. Invariant: everything that k6 prints at the end of a test can be derived from here
//! and the summary's options.

use std::sync::Arc;

use loadline_metric::{Aggregated, Contains, MetricDefinition, MetricType, TagSet};
use serde::{Deserialize, Serialize};

use crate::tag_series::TagSeries;

/// What a script run found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestSummary {
    /// Duration of the test run in nanoseconds, including setup and teardown; the base of rates per second.
    pub duration_ns: u64,
    /// The whole test: its metrics, checks and groups.
    pub root: Section,
    /// Each scenario separately, by name; empty unless requested (`--summary-mode full`).
    pub scenarios: Vec<(String, Section)>,
    /// Requests by name, or by the tag of `--summary-by`; `None`: there were none.
    pub by_tag: Option<ByTag>,
}

/// Metrics, checks and groups of the whole test, of a scenario, or of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Metrics with a value or a threshold, each followed by its sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Checks made directly here, in the order in which they were first seen.
    pub checks: Vec<CheckSummary>,
    /// Direct subgroups by name, in the order in which they were first seen.
    pub groups: Vec<(String, Section)>,
}

impl Section {
    /// The checks made here and in subgroups, each with its group names as prefix, separated by `between`.
    #[must_use]
    pub fn all_checks(&self, between: &str) -> Vec<(String, &CheckSummary)> {
        let mut found = Vec::new();
        self.gather_checks("", between, &mut found);
        found
    }

    /// How often checks passed, and how often any was made, in this section and those within it.
    #[must_use]
    pub fn checks_passed(&self) -> (u64, u64) {
        let own = self.checks.iter();
        let own = own.map(|check| (check.passes, check.passes.saturating_add(check.fails)));
        let within = self.groups.iter().map(|(_, group)| group.checks_passed());
        own.chain(within).fold((0, 0), |sum, part| {
            (sum.0.saturating_add(part.0), sum.1.saturating_add(part.1))
        })
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
    /// The definition of the metric.
    pub definition: MetricDefinition,
    /// The tags of a sub-metric; `None` for the metric itself.
    pub tags: Option<TagSet>,
    /// The text between the braces of the threshold that requested a sub-metric, as written; `None`: its tags
    /// in order.
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

    /// Whether this is a sub-metric.
    #[must_use]
    pub fn is_sub_metric(&self) -> bool {
        self.suffix.is_some() || self.tags.is_some()
    }
}

/// A threshold and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdSummary {
    /// The condition as written.
    pub source: Arc<str>,
    /// The observed value, in the metric's unit (times in milliseconds); `None` without data.
    pub observed: Option<f64>,
    /// Whether it passed.
    pub passed: bool,
}

/// What the observed value of a threshold on a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedUnit {
    /// A share, from 0 to 1.
    Share,
    /// A number of things.
    Count,
    /// What the metric contains; times are in milliseconds.
    Amount(Contains),
    /// The same per second.
    PerSecond(Contains),
}

impl ObservedUnit {
    /// The unit of a condition such as `rate>100` on a metric.
    #[must_use]
    pub fn of(metric: &MetricDefinition, condition: &str) -> ObservedUnit {
        let condition = condition.trim_start();
        match metric.kind {
            MetricType::Rate => ObservedUnit::Share,
            MetricType::Counter if condition.starts_with("rate") => {
                ObservedUnit::PerSecond(metric.contains)
            }
            MetricType::Trend if condition.starts_with("count") => ObservedUnit::Count,
            _ => ObservedUnit::Amount(metric.contains),
        }
    }
}

/// How often a check passed and failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSummary {
    /// Name.
    pub name: String,
    /// When it was first seen, on a scale that all checks of the test share; lists over several groups use this
    /// order.
    pub first_seen: u64,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}

/// One row per value of a tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByTag {
    /// The tag.
    pub tag: String,
    /// Values of the tag, and what was seen with each; most requests first.
    pub rows: Vec<(String, Vec<MetricSummary>)>,
    /// Samples whose value exceeded the limit.
    pub overflowed: u64,
    /// Values of the tag, with the failure reasons of their requests (the error, otherwise the status) and
    /// counts, most frequent first; only values with failures.
    #[serde(default)]
    pub failures: Vec<(String, Vec<(String, u64)>)>,
    /// The same values over time; `None`: unknown.
    #[serde(default)]
    pub over_time: Option<TagSeries>,
}
