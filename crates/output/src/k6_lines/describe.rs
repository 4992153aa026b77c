//! What a line format says about a metric itself.
//!
//! Must not know how thresholds are parsed. Invariant: texts are the script's own.

use loadline_metric::{MetricDefinition, TagSet};

/// A metric, with its thresholds and sub-metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricDescription {
    /// The definition of the metric.
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
    /// The delay before that, in Go's duration format; `None`: no delay.
    pub delay_abort_eval: Option<String>,
}

/// A sub-metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubMetricDescription {
    /// The text between the braces of its name.
    pub suffix: String,
    /// The tags that its samples have.
    pub tags: TagSet,
}
