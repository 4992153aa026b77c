//! Reads a figure from a result.
//!
//! Must not know the meaning of names beyond the table. Invariant: reads values that the result contains
//! explicitly, and only walks a distribution for its spread.

use std::borrow::Cow;

use loadline_model::RunResult;
use loadline_model::result::{GeneratorUse, TimeMetric};

use super::{Read, agents, observed, script, table, time_of};
use crate::expression::dimension::Dimension;
use crate::expression::path::Path;
use crate::expression::value::Value;

/// The value of a path in a result; missing for paths that are not measurements.
#[must_use]
pub fn value_of<'a>(run: &'a RunResult, path: &Path) -> Value<'a> {
    match path {
        Path::Run(name) => figure(run, name),
        Path::Observe(selector) => observed::value_of(&run.observations, selector),
        Path::Plan(_) | Path::Env(_) | Path::Label(_) | Path::Suite(_) | Path::Row(_) => {
            Value::Missing
        }
    }
}

fn figure<'a>(run: &'a RunResult, name: &str) -> Value<'a> {
    if let Some(metric) = name.strip_prefix("metrics.") {
        return script::value_of(run, metric);
    }
    if let Some(agent) = name.strip_prefix("agents.") {
        return agents::value_of(run, agent);
    }
    if let Some((metric, wanted)) = time_of(name) {
        let found = run.times(metric).and_then(|times| time(times, wanted));
        return found.map_or(Value::Missing, |ns| {
            Value::number(ns / 1e9, Dimension::TIME)
        });
    }
    match table::find(name).map(|figure| &figure.read) {
        Some(Read::Number(dimension, read)) => {
            read(run).map_or(Value::Missing, |amount| Value::number(amount, *dimension))
        }
        Some(Read::Text(read)) => Value::Text(Cow::Owned(read(run))),
        None => Value::Missing,
    }
}

/// In nanoseconds.
fn time(metric: &TimeMetric, wanted: &str) -> Option<f64> {
    let whole = match wanted {
        "avg" => metric.mean,
        "min" => metric.min,
        "max" => metric.max,
        "med" | "p50" => metric.p50,
        "p90" => metric.p90,
        "p95" => metric.p95,
        "p99" => metric.p99,
        "p99_9" => metric.p99_9,
        _ => return metric.histogram.stddev(),
    };
    whole.map(|ns| ns as f64)
}

pub(super) fn failed(run: &RunResult) -> u64 {
    run.totals.seen.counts.failed_total()
}

pub(super) fn finished(run: &RunResult) -> u64 {
    run.totals.seen.counts.outcomes().done()
}

pub(super) fn delivered(run: &RunResult) -> Option<f64> {
    run.delivered_share().map(|share| share.min(1.0))
}

/// How many checks held, and how many did not; `None` without a check.
pub(super) fn check_passes(run: &RunResult) -> Option<(u64, u64)> {
    let (passes, all) = run.checks_passed()?;
    Some((passes, all - passes))
}

pub(super) fn checks(run: &RunResult) -> Option<f64> {
    let (passes, all) = run.checks_passed()?;
    Some(passes as f64 / all as f64)
}

pub(super) fn generator(run: &RunResult, of: fn(&GeneratorUse) -> f64) -> Option<f64> {
    run.series
        .iter()
        .map(|row| of(&row.generator))
        .reduce(f64::max)
}
