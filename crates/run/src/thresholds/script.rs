//! Thresholds of a script run: k6's, and those over sliding windows.
//!
//! Must not know how a run is stopped. Invariants: they are evaluated over the whole run every two seconds, as
//! in k6, and again at its end, which decides; a threshold over a window has failed if any window did.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loadline_metric::threshold::{Bound, MetricKind, Mismatch, Outcome, Threshold};
use loadline_metric::{
    Aggregated, BuiltIn, Contains, MeasurementsDelta, MetricDefinition, MetricId, MetricRegistry,
    MetricType, TagSet,
};
use loadline_model::summarize::HeldThresholds;
use loadline_model::test_summary::ThresholdSummary;
use loadline_model::{Nanos, TestPlan, ThresholdPlan};

use super::crossing::Crossing;
use super::window::Watch;
use crate::script::Part;

/// Evaluation interval of thresholds during a run, in nanoseconds; as in k6.
pub(crate) const HOLD_EVERY: u64 = 2 * Nanos::PER_SECOND;

/// The thresholds of one key.
struct Key {
    /// As k6 shows it.
    text: Arc<str>,
    suffix: Option<Arc<str>>,
    metric: MetricId,
    definition: MetricDefinition,
    tags: TagSet,
    conditions: Vec<Condition>,
}

struct Condition {
    /// As evaluated; times are in milliseconds, where the script's own times are.
    threshold: Threshold,
    abort_on_fail: bool,
    delay_abort_eval: Duration,
    /// `None`: over the whole run.
    watch: Option<Watch>,
    crossing: Crossing,
}

/// The thresholds of a script run.
#[derive(Default)]
pub(crate) struct ScriptThresholds {
    keys: Vec<Key>,
    next_at: u64,
    /// Crossed for the first time since the last call of `take_first_crossed`.
    first_crossed: Vec<String>,
}

/// The thresholds of a run, to which its conductor adds while others look at them.
#[derive(Clone)]
pub(crate) struct HeldTogether(Arc<Mutex<ScriptThresholds>>);

impl HeldTogether {
    /// Those of a plan, with what its script's settings add.
    ///
    /// # Errors
    /// As [`ScriptThresholds::new`].
    pub(crate) fn of_plan(
        plan: &TestPlan,
        registry: &MetricRegistry,
    ) -> Result<HeldTogether, String> {
        let fail_on_drop = plan.script.as_deref().is_some_and(|it| it.fail_on_drop);
        let thresholds = ScriptThresholds::new(&plan.script_thresholds, fail_on_drop, registry)?;
        Ok(HeldTogether(Arc::new(Mutex::new(thresholds))))
    }

    /// The thresholds, for the moment.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ScriptThresholds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a plan whose thresholds cannot be evaluated, before anything is created for it.
///
/// # Errors
/// k6's message for a metric that does not exist, or that does not support the aggregation.
pub fn check_script(plan: &[ThresholdPlan], registry: &MetricRegistry) -> Result<(), String> {
    ScriptThresholds::new(plan, false, registry).map(drop)
}

impl ScriptThresholds {
    /// The thresholds of a plan; with `fail_on_drop` also the one that no iteration was dropped.
    ///
    /// # Errors
    /// k6's message for a metric that does not exist, or that does not support the aggregation.
    pub(crate) fn new(
        plan: &[ThresholdPlan],
        fail_on_drop: bool,
        registry: &MetricRegistry,
    ) -> Result<ScriptThresholds, String> {
        let mut thresholds = ScriptThresholds {
            keys: Vec::new(),
            next_at: HOLD_EVERY,
            first_crossed: Vec::new(),
        };
        for threshold in plan.iter().filter(|threshold| threshold.is_judged) {
            thresholds.add(threshold, registry)?;
        }
        if fail_on_drop {
            let name = BuiltIn::DroppedIterations.name();
            let none = ThresholdPlan::parse(name, "count==0", false, Duration::ZERO);
            thresholds.add(&none.map_err(|error| error.to_string())?, registry)?;
        }
        Ok(thresholds)
    }

    fn add(&mut self, plan: &ThresholdPlan, registry: &MetricRegistry) -> Result<(), String> {
        let shown = plan.shown_key();
        let place = match self.keys.iter().position(|key| *key.text == *shown) {
            Some(place) => place,
            None => {
                self.keys.push(key_of(plan, registry)?);
                self.keys.len() - 1
            }
        };
        let Some(condition) = &plan.condition else {
            return Ok(());
        };
        let key = &mut self.keys[place];
        let nothing = key.nothing();
        let threshold = fitted(condition, &nothing, key.definition.contains);
        threshold
            .check(nothing.for_threshold().kind())
            .map_err(|why| mismatch(&plan.key, &condition.source, &why, key.definition.kind))?;
        key.conditions.push(Condition {
            watch: threshold.window.map(|window| Watch::new(window, nothing)),
            threshold,
            abort_on_fail: plan.abort_on_fail,
            delay_abort_eval: plan.delay_abort_eval,
            crossing: Crossing::default(),
        });
        Ok(())
    }

    /// Adds a part of the run, with the measurements up to its end, `elapsed` after the start of the test. Returns the
    /// crossed keys if one of them ends the run.
    pub(crate) fn told(
        &mut self,
        part: Option<&MeasurementsDelta>,
        total: Option<&MeasurementsDelta>,
        at: Part,
        elapsed: Duration,
    ) -> Option<Vec<Arc<str>>> {
        for key in &mut self.keys {
            key.add_part(part, at.span_ns);
        }
        let over_all = at.until_ns >= self.next_at;
        if over_all {
            self.next_at = at.until_ns - at.until_ns % HOLD_EVERY + HOLD_EVERY;
        }
        if over_all {
            let keys = self.keys.iter_mut();
            let crossed = keys.flat_map(|key| key.first_crossed(total, elapsed));
            self.first_crossed.extend(crossed);
        }
        self.crossed(total, elapsed, over_all)
    }

    /// The thresholds that were crossed for the first time since the last call.
    pub(crate) fn take_first_crossed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.first_crossed)
    }

    /// The currently crossed keys, if one of them ends the run; those over the whole run are only evaluated
    /// with `over_all`.
    pub(crate) fn crossed(
        &self,
        total: Option<&MeasurementsDelta>,
        elapsed: Duration,
        over_all: bool,
    ) -> Option<Vec<Arc<str>>> {
        let mut all = self.keys.iter().flat_map(|key| &key.conditions);
        if !all.any(|condition| condition.ends_run_at(elapsed)) {
            return None;
        }
        let mut crossed = Vec::new();
        let mut ends = false;
        for key in &self.keys {
            let failing = key.failing(total, elapsed, over_all);
            if !failing.is_empty() {
                crossed.push(Arc::clone(&key.text));
            }
            ends |= failing
                .iter()
                .any(|condition| condition.ends_run_at(elapsed));
        }
        crossed.sort();
        ends.then_some(crossed)
    }

    /// The outcomes of all thresholds at the end of the run, by key in the order of the options.
    pub(crate) fn finish(
        &mut self,
        total: &MeasurementsDelta,
        elapsed: Duration,
    ) -> Vec<(Arc<str>, HeldThresholds)> {
        let conditions = self.keys.iter_mut().flat_map(|key| &mut key.conditions);
        for condition in conditions {
            if let Some(watch) = &mut condition.watch {
                watch.finish(&condition.threshold);
            }
        }
        self.outcomes(total, elapsed)
    }

    /// The outcomes so far; windows that have not passed do not count yet.
    pub(crate) fn outcomes(
        &self,
        total: &MeasurementsDelta,
        elapsed: Duration,
    ) -> Vec<(Arc<str>, HeldThresholds)> {
        let held = |key: &Key| (Arc::clone(&key.text), key.outcomes(total, elapsed));
        self.keys.iter().map(held).collect()
    }
}

fn key_of(plan: &ThresholdPlan, registry: &MetricRegistry) -> Result<Key, String> {
    let selector = plan.selector();
    let Some((metric, definition)) = registry.by_name(&selector.metric) else {
        return Err(format!(
            "invalid threshold defined on {key}; reason: no metric name {key:?} found",
            key = &*plan.key
        ));
    };
    Ok(Key {
        text: plan.shown_key().into(),
        suffix: plan.suffix().map(Into::into),
        metric,
        definition,
        tags: selector.tags,
        conditions: Vec::new(),
    })
}

/// A script's own times are in milliseconds, so a bound in another unit is converted.
fn fitted(condition: &Threshold, nothing: &Aggregated, contains: Contains) -> Threshold {
    let mut fitted = condition.clone();
    if let (Bound::Time(number, unit), Contains::Time) = (condition.bound, contains)
        && !matches!(nothing, Aggregated::Times(_))
    {
        fitted.bound = Bound::Number(number * unit.nanoseconds() as f64 / 1e6);
    }
    fitted
}

fn mismatch(key: &str, source: &str, why: &Mismatch, kind: MetricType) -> String {
    let Mismatch::Aggregation(aggregation, _) = why else {
        return format!("invalid threshold {source:?} applied on metric {key}; reason: {why}");
    };
    let aggregation = aggregation.to_string();
    let method = aggregation.split('(').next().unwrap_or_default();
    let supported = match kind {
        MetricType::Counter => "count, rate",
        MetricType::Gauge => "value",
        MetricType::Rate => "rate",
        MetricType::Trend => "avg, min, max, med, p",
    };
    format!(
        "invalid threshold {source:?} applied on metric {key}; reason: unsupported aggregation method \
         {method} on metric of type {kind}. supported aggregation methods for this metric are: \
         {supported}"
    )
}

impl Condition {
    /// The current outcome, over its window or over `values` of the whole run.
    fn now(&self, values: Option<&Aggregated>, elapsed: Duration) -> Outcome {
        let Some(watch) = &self.watch else {
            let evaluation = values.and_then(|values| {
                self.threshold
                    .evaluate(values.for_threshold(), elapsed)
                    .ok()
            });
            return evaluation.map_or(Outcome::NoData, |evaluation| evaluation.outcome);
        };
        watch.latest()
    }

    fn ends_run_at(&self, elapsed: Duration) -> bool {
        self.abort_on_fail && self.delay_abort_eval < elapsed
    }
}

impl Key {
    fn nothing(&self) -> Aggregated {
        let is_built_in = (self.metric.0 as usize) < BuiltIn::ALL.len();
        Aggregated::empty(self.definition.kind, self.definition.contains, is_built_in)
    }

    fn values<'a>(&self, seen: Option<&'a MeasurementsDelta>) -> Option<&'a Aggregated> {
        seen?.get(self.metric, &self.tags)
    }

    fn add_part(&mut self, part: Option<&MeasurementsDelta>, span_ns: u64) {
        if self.conditions.iter().all(|c| c.watch.is_none()) {
            return;
        }
        let values = self.values(part);
        for condition in &mut self.conditions {
            if let Some(watch) = &mut condition.watch {
                watch.add(&condition.threshold, values, span_ns);
            }
        }
    }

    /// The conditions that currently fail. One over the whole run is evaluated when it is due, and only if its
    /// metric has a value.
    fn failing(
        &self,
        total: Option<&MeasurementsDelta>,
        elapsed: Duration,
        over_all: bool,
    ) -> Vec<&Condition> {
        let values = if over_all { self.values(total) } else { None };
        let fails = |condition: &&Condition| condition.now(values, elapsed) == Outcome::Failed;
        self.conditions.iter().filter(fails).collect()
    }

    fn first_crossed(
        &mut self,
        total: Option<&MeasurementsDelta>,
        elapsed: Duration,
    ) -> Vec<String> {
        let values = self.values(total);
        let text = &self.text;
        let crossed = self.conditions.iter_mut().filter_map(|condition| {
            let outcome = condition.now(values, elapsed);
            let is_first = condition.crossing.is_first(&condition.threshold, outcome);
            is_first.then(|| format!("{text}: {}", condition.threshold.source))
        });
        crossed.collect()
    }

    fn outcomes(&self, total: &MeasurementsDelta, elapsed: Duration) -> HeldThresholds {
        let nothing = self.nothing();
        let values = self.values(Some(total)).unwrap_or(&nothing);
        let kind = values.for_threshold().kind();
        let thresholds = self
            .conditions
            .iter()
            .map(|condition| condition.outcome(values, kind, elapsed))
            .collect();
        HeldThresholds {
            metric: self.metric,
            definition: self.definition.clone(),
            tags: (!self.tags.is_empty()).then(|| self.tags.clone()),
            suffix: self.suffix.clone(),
            thresholds,
        }
    }
}

impl Condition {
    fn outcome(
        &self,
        values: &Aggregated,
        kind: MetricKind,
        elapsed: Duration,
    ) -> ThresholdSummary {
        let (observed, passed) = match &self.watch {
            Some(watch) => (watch.observed(), !watch.has_failed()),
            None => over_whole_run(&self.threshold, values, kind, elapsed),
        };
        let in_ns = matches!(values, Aggregated::Times(_));
        ThresholdSummary {
            source: Arc::clone(&self.threshold.source),
            observed: observed.map(|value| if in_ns { value / 1e6 } else { value }),
            passed,
        }
    }
}

/// The value and whether the threshold holds; without a value k6's rule decides.
fn over_whole_run(
    threshold: &Threshold,
    values: &Aggregated,
    kind: MetricKind,
    elapsed: Duration,
) -> (Option<f64>, bool) {
    let Ok(evaluation) = threshold.evaluate(values.for_threshold(), elapsed) else {
        return (None, false);
    };
    let outcome = match evaluation.outcome {
        Outcome::NoData => threshold.outcome_without_data(kind),
        known => known,
    };
    (evaluation.observed, outcome == Outcome::Passed)
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
