//! Figures of a script's metrics: `run.metrics.NAME.WHAT`.
//!
//! Must not know layouts of summaries. Invariant: times are in seconds whatever the metric's own unit.

use loadline_metric::BuiltIn;
use loadline_metric::{Aggregated, Contains, MetricType};
use loadline_model::RunResult;
use loadline_model::test_summary::MetricSummary;

use super::OF_METRICS;
use crate::expression::dimension::Dimension;
use crate::expression::value::{Value, ValueKind};

/// `NAME.WHAT`; `None` where that is no question.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (metric, wanted) = name.rsplit_once('.')?;
    (!metric.is_empty() && OF_METRICS.contains(&wanted)).then_some((metric, wanted))
}

pub(super) fn kind_of(name: &str) -> Option<ValueKind> {
    let (metric, wanted) = parts(name)?;
    let plain = metric.split('{').next().unwrap_or(metric);
    let known = BuiltIn::ALL.iter().find(|known| known.name() == plain);
    let dimension = match known {
        Some(known) => Some(dimension(known.kind(), known.contains(), wanted)),
        None if matches!(wanted, "passes" | "fails") => Some(Dimension::NUMBER),
        None => None,
    };
    Some(ValueKind::Number(dimension))
}

fn dimension(kind: MetricType, contains: Contains, wanted: &str) -> Dimension {
    let own = match contains {
        Contains::Default => Dimension::NUMBER,
        Contains::Time => Dimension::TIME,
        Contains::Data => Dimension::BYTES,
    };
    match (kind, wanted) {
        (MetricType::Counter, "rate") => own.over(Dimension::TIME),
        (MetricType::Counter, _) => own,
        (MetricType::Rate, _) | (_, "count" | "passes" | "fails") => Dimension::NUMBER,
        _ => own,
    }
}

pub(super) fn value_of<'a>(run: &RunResult, name: &str) -> Value<'a> {
    let Some((metric, wanted)) = parts(name) else {
        return Value::Missing;
    };
    let Some(summary) = &run.summary else {
        return Value::Missing;
    };
    let found = summary
        .root
        .metrics
        .iter()
        .find(|known| is_called(known, metric));
    let Some(found) = found else {
        return Value::Missing;
    };
    let definition = &found.definition;
    let seconds = summary.duration_ns as f64 / 1e9;
    let Some(amount) = amount(&found.values, wanted, seconds, definition.contains) else {
        return Value::Missing;
    };
    Value::number(
        amount,
        dimension(definition.kind, definition.contains, wanted),
    )
}

fn is_called(metric: &MetricSummary, name: &str) -> bool {
    if metric.is_sub_metric() {
        metric.key() == name
    } else {
        &*metric.definition.name == name
    }
}

fn amount(values: &Aggregated, wanted: &str, seconds: f64, contains: Contains) -> Option<f64> {
    // Scripts count times in milliseconds.
    let own = |value: f64| {
        if contains == Contains::Time {
            value / 1e3
        } else {
            value
        }
    };
    match (values, wanted) {
        (Aggregated::Counter(counter), "count" | "value") => Some(own(counter.total())),
        (Aggregated::Counter(counter), "rate") => {
            (seconds > 0.0).then(|| own(counter.total()) / seconds)
        }
        (Aggregated::Gauge(gauge), "value" | "last") => gauge.last().map(own),
        (Aggregated::Gauge(gauge), "min") => gauge.min().map(own),
        (Aggregated::Gauge(gauge), "max") => gauge.max().map(own),
        (Aggregated::Rate(rate), "rate" | "value") => rate.share(),
        (Aggregated::Rate(rate), "passes") => Some(rate.nonzero() as f64),
        (Aggregated::Rate(rate), "fails") => Some((rate.total() - rate.nonzero()) as f64),
        (Aggregated::Rate(rate), "count") => Some(rate.total() as f64),
        (Aggregated::Times(times), "count") => Some(times.count() as f64),
        (Aggregated::Times(times), _) => {
            let ns = match wanted {
                "avg" => times.mean(),
                "min" => times.min().map(|ns| ns as f64),
                "max" => times.max().map(|ns| ns as f64),
                _ => times.quantile(quantile(wanted)?),
            };
            ns.map(|ns| ns / 1e9)
        }
        (Aggregated::Values(values), "count") => Some(values.count() as f64),
        (Aggregated::Values(values), _) => match wanted {
            "avg" => values.mean(),
            "min" => values.min(),
            "max" => values.max(),
            _ => values.quantile(quantile(wanted)?),
        }
        .map(own),
        _ => None,
    }
}

fn quantile(wanted: &str) -> Option<f64> {
    match wanted {
        "med" | "p50" => Some(0.5),
        "p90" => Some(0.9),
        "p95" => Some(0.95),
        "p99" => Some(0.99),
        "p99_9" => Some(0.999),
        _ => None,
    }
}
