//! What a line format tells about a metric itself.
//!
//! Must not know how thresholds are parsed. Invariant: texts are the script's own.

use loadline_metric::{MetricDefinition, TagSet};

/// A metric, and what the test asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricDescription {
    /// Which metric.
    pub definition: MetricDefinition,
    /// Thresholds on the metric itself, in the order of the script.
    pub thresholds: Vec<ThresholdDescription>,
    /// Its sub-metrics, in any order.
    pub sub_metrics: Vec<SubMetricDescription>,
}

/// A threshold as the script writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdDescription {
    /// The condition.
    pub source: String,
    /// Whether crossing it ends the test.
    pub abort_on_fail: bool,
    /// How long that waits, as Go prints a duration; `None`: not at all.
    pub delay_abort_eval: Option<String>,
}

/// A part of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubMetricDescription {
    /// What stands between the braces of its name.
    pub suffix: String,
    /// The tags that its samples have.
    pub tags: TagSet,
}
