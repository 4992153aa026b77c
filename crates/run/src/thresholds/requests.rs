//! Thresholds of a run of requests, held against what it measured.
//!
//! Must not parse or show them. Invariant: a threshold that names what a run does not measure is
//! refused before the run starts.

use std::time::Duration;

use loadline_metric::threshold::{Aggregate, Aggregation, MetricKind, Outcome, Threshold};
use loadline_metric::{Counter, Rate, TimeTrend};
use loadline_model::result::ThresholdOutcome;
use loadline_model::{Snapshot, TestPlan};

/// What a threshold may name, with what it means, for messages and references.
const METRICS: [(&str, Metric); 10] = [
    ("service_time", Metric::ServiceTime),
    ("http_req_duration", Metric::ServiceTime),
    ("response_time", Metric::ResponseTime),
    ("schedule_lag", Metric::ScheduleLag),
    ("error_rate", Metric::Failed),
    ("http_req_failed", Metric::Failed),
    ("throughput", Metric::Completed),
    ("http_reqs", Metric::Completed),
    ("goodput", Metric::Good),
    ("dropped_iterations", Metric::Dropped),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    ServiceTime,
    ResponseTime,
    ScheduleLag,
    Failed,
    Completed,
    Good,
    Dropped,
}

/// Refuses thresholds that cannot be evaluated.
///
/// # Errors
/// Names the threshold and what is there instead.
pub(crate) fn check(plan: &TestPlan) -> Result<(), String> {
    for threshold in &plan.thresholds {
        let metric = metric_of(threshold, plan.is_open())?;
        threshold
            .check(metric.kind())
            .map_err(|why| format!("threshold {:?}: {why}", &*threshold.source))?;
        if threshold.window.is_some() {
            return Err(format!(
                "threshold {:?}: sliding windows need a script run; leave the window out",
                &*threshold.source
            ));
        }
    }
    Ok(())
}

/// How the thresholds came out.
pub fn evaluate(plan: &TestPlan, seen: &Snapshot, measured: Duration) -> Vec<ThresholdOutcome> {
    plan.thresholds
        .iter()
        .map(|threshold| match metric_of(threshold, plan.is_open()) {
            Ok(metric) => evaluate_one(threshold, metric, seen, measured),
            Err(_) => outcome(threshold, None, false),
        })
        .collect()
}

fn metric_of(threshold: &Threshold, open: bool) -> Result<Metric, String> {
    let Some(selector) = &threshold.metric else {
        return Ok(default_metric(threshold, open));
    };
    let known = METRICS.iter().find(|(name, _)| *name == &*selector.metric);
    let names = || METRICS.map(|(name, _)| name).join(", ");
    match known {
        Some((_, Metric::ResponseTime)) if !open => Err(format!(
            "threshold {:?}: a closed model has no response time; use service_time",
            &*threshold.source
        )),
        Some((_, metric)) => Ok(*metric),
        None => Err(format!(
            "threshold {:?}: {:?} is not measured here; there are {}",
            &*threshold.source,
            &*selector.metric,
            names()
        )),
    }
}

/// A threshold without a metric is about what users feel: response time where arrivals are
/// planned, service time otherwise; a bare `rate` is that of failed requests.
fn default_metric(threshold: &Threshold, open: bool) -> Metric {
    match threshold.aggregation {
        Aggregation::Rate => Metric::Failed,
        Aggregation::Count => Metric::Completed,
        _ if open => Metric::ResponseTime,
        _ => Metric::ServiceTime,
    }
}

impl Metric {
    fn kind(self) -> MetricKind {
        match self {
            Metric::ServiceTime | Metric::ResponseTime | Metric::ScheduleLag => {
                Aggregate::Times(&TimeTrend::default()).kind()
            }
            Metric::Failed => MetricKind::Rate,
            Metric::Completed | Metric::Good | Metric::Dropped => MetricKind::Counter,
        }
    }
}

fn evaluate_one(
    threshold: &Threshold,
    metric: Metric,
    seen: &Snapshot,
    measured: Duration,
) -> ThresholdOutcome {
    let service_time = seen.service_time();
    let mut counter = Counter::default();
    let mut rate = Rate::default();
    let failed = seen.counts.failed_total() + (seen.counts.completed - seen.counts.good);
    let aggregate = match metric {
        Metric::ServiceTime => Aggregate::Times(&service_time),
        Metric::ResponseTime => Aggregate::Times(&seen.response_time),
        Metric::ScheduleLag => Aggregate::Times(&seen.schedule_lag),
        Metric::Failed => {
            rate.record_n(failed, seen.counts.completed + seen.counts.failed_total());
            Aggregate::Rate(&rate)
        }
        Metric::Completed => counted(&mut counter, seen.counts.completed),
        Metric::Good => counted(&mut counter, seen.counts.good),
        Metric::Dropped => counted(&mut counter, seen.counts.dropped),
    };
    match threshold.evaluate(aggregate, measured) {
        Ok(evaluation) => {
            let passed = match evaluation.outcome {
                Outcome::Passed => true,
                Outcome::Failed => false,
                // Nothing measured is no proof of anything.
                Outcome::NoData => false,
            };
            outcome(threshold, evaluation.observed, passed)
        }
        Err(_) => outcome(threshold, None, false),
    }
}

fn counted(counter: &mut Counter, number: u64) -> Aggregate<'_> {
    counter.add(number);
    Aggregate::Counter(counter)
}

fn outcome(threshold: &Threshold, value: Option<f64>, passed: bool) -> ThresholdOutcome {
    ThresholdOutcome {
        threshold: threshold.source.to_string(),
        value,
        passed,
    }
}
