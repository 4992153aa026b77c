//! Resource use and schedule lag of the generator, and results of thresholds.
//!
//! Must not judge; the verdict does. Invariant: lag is shown whenever there was a schedule.

use loadline_metric::threshold::{Aggregation, Bound, Threshold};
use loadline_model::RunResult;
use loadline_model::test_summary::MetricSummary;

use crate::amounts::{number, observed, percent};
use crate::page::{Page, bound, pad_right};
use crate::units::{Bytes, count, span};

/// In a shorter run, starting threads and reading certificates dominate the resource use.
const CPU_SPAN_MIN_NS: u64 = 100_000_000;

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let parts = facts(result);
    if parts.is_empty() {
        return;
    }
    let parts: Vec<String> = parts.iter().map(|part| bound(part)).collect();
    page.section("Generator", "");
    page.paragraph("  ", 2, &parts.join(", "));
    if let Some(text) = schedule_lag(result) {
        page.paragraph("  ", 2, &text);
    }
}

/// The generator's resource use, one fact per entry.
pub(crate) fn facts(result: &RunResult) -> Vec<String> {
    let totals = &result.totals;
    let mut parts = Vec::new();
    let cores = totals.cpu_cores();
    if let Some(cores) = cores.filter(|_| totals.elapsed_ns >= CPU_SPAN_MIN_NS) {
        let of = if result.environment.cores > 0.0 {
            format!(" of {} cores", trimmed(result.environment.cores))
        } else {
            " cores".to_owned()
        };
        parts.push(format!("CPU {cores:.2}{of}"));
    }
    let busiest = result
        .series
        .iter()
        .map(|row| row.generator.busiest_worker)
        .fold(0.0, f64::max);
    if busiest > 0.0 {
        parts.push(format!("busiest worker {:.0} % at most", busiest * 100.0));
    }
    if totals.rss_max_bytes > 0 {
        parts.push(format!("memory {}", Bytes(totals.rss_max_bytes)));
    }
    if let Some(throttled) = totals.throttled_ns.filter(|ns| *ns > 0) {
        parts.push(format!("throttled for {}", span(throttled as f64)));
    }
    if totals.seen.back_pressure_ns > 0 {
        parts.push(format!(
            "held up by outputs for {}",
            span(totals.seen.back_pressure_ns as f64)
        ));
    }
    parts
}

fn trimmed(cores: f64) -> String {
    if cores.fract() == 0.0 {
        format!("{cores:.0}")
    } else {
        format!("{cores:.1}")
    }
}

/// How late the generator was; `None` if nothing had a scheduled start.
pub(crate) fn schedule_lag(result: &RunResult) -> Option<String> {
    let lag = &result.totals.seen.schedule_lag;
    let quantiles = lag.quantiles(&[0.5, 0.99, 1.0])?;
    let at = |which: usize| span(quantiles.get(which).copied().unwrap_or(0.0));
    let window = span(result.plan.start_window.as_nanos() as f64);
    Some(format!(
        "schedule lag p50 {}, p99 {}, max {} of {} starts (start window {window})",
        at(0),
        at(1),
        at(2),
        count(lag.count())
    ))
}

pub(super) fn thresholds(page: &mut Page, result: &RunResult) {
    if result.thresholds.is_empty() {
        return;
    }
    page.section("Thresholds", "");
    let widest = result
        .thresholds
        .iter()
        .map(|outcome| outcome.threshold.chars().count())
        .max();
    for outcome in &result.thresholds {
        let style = page.style;
        let mark = if outcome.passed {
            style.good("✓")
        } else {
            style.alarm("✗")
        };
        let name = pad_right(&outcome.threshold, widest.unwrap_or(0));
        let value = match outcome.value {
            Some(value) => match metric_of(result, &outcome.threshold) {
                Some((metric, condition)) => {
                    format!("was {}", observed(value, &metric.definition, condition))
                }
                None => format!("was {}", written(value, &outcome.threshold)),
            },
            None => "no samples to evaluate".to_owned(),
        };
        page.line(&format!("  {mark} {name}   {value}"));
    }
}

/// The script metric of a threshold and the condition on it; `None` in other runs.
fn metric_of<'r>(
    result: &'r RunResult,
    threshold: &'r str,
) -> Option<(&'r MetricSummary, &'r str)> {
    let metrics = &result.summary.as_ref()?.root.metrics;
    metrics.iter().find_map(|metric| {
        let condition = threshold.strip_prefix(&metric.key())?.strip_prefix(": ")?;
        let is_on = metric
            .thresholds
            .iter()
            .any(|one| *one.source == *condition);
        is_on.then_some((metric, condition))
    })
}

/// A value in its metric's unit: times are recorded in nanoseconds.
pub(crate) fn written(value: f64, threshold: &str) -> String {
    let parsed = threshold.parse::<Threshold>().ok();
    match parsed.map(|threshold| (threshold.aggregation, threshold.bound)) {
        Some((_, Bound::Percent(_))) => percent(value),
        Some((
            Aggregation::Avg
            | Aggregation::Min
            | Aggregation::Max
            | Aggregation::Med
            | Aggregation::Percentile(_),
            _,
        )) => span(value),
        _ => number(value),
    }
}
