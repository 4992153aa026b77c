//! Thresholds of a run of requests, evaluated on its measurements.
//!
//! Must not parse or show them. Invariant: a threshold on a metric that a run does not measure is refused
//! before the run starts.

use std::time::Duration;

use loadline_metric::threshold::{Aggregate, MetricKind, Outcome, Threshold};
use loadline_metric::{Counter, Rate, TimeTrend};
use loadline_model::rates::measured_ns;
use loadline_model::result::ThresholdOutcome;
use loadline_model::{RequestMetric, Snapshot, TestPlan};

use super::HOLD_EVERY;
use super::crossing::Crossing;

/// Refuses thresholds that cannot be evaluated.
///
/// # Errors
/// Names the threshold and the available alternatives.
pub(crate) fn check(plan: &TestPlan) -> Result<(), String> {
    for threshold in &plan.thresholds {
        let metric = RequestMetric::of(threshold, plan.is_open())?;
        threshold
            .check(kind_of(metric))
            .map_err(|why| format!("threshold {:?}: {why}", &*threshold.source))?;
        if threshold.window.is_some() {
            return Err(format!(
                "threshold {:?}: sliding windows need a script run; remove the window",
                &*threshold.source
            ));
        }
    }
    Ok(())
}

/// The outcomes of the thresholds.
pub fn evaluate(plan: &TestPlan, seen: &Snapshot, measured: Duration) -> Vec<ThresholdOutcome> {
    plan.thresholds
        .iter()
        .map(
            |threshold| match RequestMetric::of(threshold, plan.is_open()) {
                Ok(metric) => evaluate_one(threshold, metric, seen, measured),
                Err(_) => outcome(threshold, None, false),
            },
        )
        .collect()
}

/// When thresholds of a run of requests are first crossed; evaluated as often as those of a script.
#[derive(Default)]
pub(crate) struct RequestCrossings {
    known: Vec<Crossing>,
    next_at: u64,
}

impl RequestCrossings {
    /// Takes the data up to now; returns the thresholds that were crossed for the first time.
    pub(crate) fn told(&mut self, plan: &TestPlan, seen: &Snapshot, until_ns: u64) -> Vec<String> {
        let measured_ns = measured_ns(plan, until_ns);
        if plan.thresholds.is_empty() || measured_ns == 0 || until_ns < self.next_at {
            return Vec::new();
        }
        self.next_at = until_ns - until_ns % HOLD_EVERY + HOLD_EVERY;
        self.known
            .resize(plan.thresholds.len(), Crossing::default());
        let held = evaluate(plan, seen, Duration::from_nanos(measured_ns));
        let all = plan.thresholds.iter().zip(held).zip(&mut self.known);
        let crossed = all.filter_map(|((threshold, held), known)| {
            let outcome = match (held.value, held.passed) {
                (None, _) => Outcome::NoData,
                (_, true) => Outcome::Passed,
                (_, false) => Outcome::Failed,
            };
            known.is_first(threshold, outcome).then_some(held.threshold)
        });
        crossed.collect()
    }
}

fn kind_of(metric: RequestMetric) -> MetricKind {
    match metric {
        RequestMetric::ServiceTime | RequestMetric::ResponseTime | RequestMetric::ScheduleLag => {
            Aggregate::Times(&TimeTrend::default()).kind()
        }
        RequestMetric::Failed => MetricKind::Rate,
        RequestMetric::Completed | RequestMetric::Good | RequestMetric::Dropped => {
            MetricKind::Counter
        }
    }
}

fn evaluate_one(
    threshold: &Threshold,
    metric: RequestMetric,
    seen: &Snapshot,
    measured: Duration,
) -> ThresholdOutcome {
    let service_time = seen.service_time();
    let mut counter = Counter::default();
    let mut rate = Rate::default();
    let outcomes = seen.counts.outcomes();
    let aggregate = match metric {
        RequestMetric::ServiceTime => Aggregate::Times(&service_time),
        RequestMetric::ResponseTime => Aggregate::Times(&seen.response_time),
        RequestMetric::ScheduleLag => Aggregate::Times(&seen.schedule_lag),
        RequestMetric::Failed => {
            rate.record_n(outcomes.bad(), outcomes.done());
            Aggregate::Rate(&rate)
        }
        RequestMetric::Completed => counted(&mut counter, seen.counts.completed),
        RequestMetric::Good => counted(&mut counter, seen.counts.good),
        RequestMetric::Dropped => counted(&mut counter, seen.counts.dropped),
    };
    match threshold.evaluate(aggregate, measured) {
        Ok(evaluation) => {
            let passed = match evaluation.outcome {
                Outcome::Passed => true,
                Outcome::Failed => false,
                // Without measurements nothing is proved.
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
