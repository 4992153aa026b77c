//! The measures for responses, checks and a script's own metrics: one for each that any of the results has.
//!
//! Must not know how values are compared. Invariant: the number of measures is bounded, whatever the results
//! contain.

use std::collections::BTreeMap;

use loadline_metric::{Aggregated, BuiltIn, Contains, MetricType};
use loadline_model::result::RunResult;
use loadline_model::snapshot::Shape;
use loadline_model::test_summary::{CheckSummary, MetricSummary};

use super::measures::Measure;
use super::numbers::Unit;
use super::{Better, Side};
use crate::units::Bytes;

/// Most rows of each section; the commonest are kept.
const ROWS_MAX: usize = 24;

/// Shares of the responses by status, size and content type.
pub(super) fn shapes<'a>(sides: &[Side<'a>]) -> Vec<Measure<'a>> {
    let mut seen: BTreeMap<(u16, u8, String), u64> = BTreeMap::new();
    for run in sides.iter().flat_map(|side| &side.runs) {
        for (shape, tally) in run.totals.seen.shapes.rows() {
            let key = (shape.status, shape.size_class, shape.content_type.clone());
            *seen.entry(key).or_default() += tally.count;
        }
    }
    if seen.is_empty() {
        return statuses(sides);
    }
    commonest(seen)
        .into_iter()
        .map(|(status, size_class, content_type)| {
            let shape = Shape {
                status,
                size_class,
                content_type,
            };
            let id = format!("answers.{status}.{size_class}.{}", shape.content_type);
            let label = described(&shape);
            Measure::new(id, label, (Unit::Share, Better::Neither), move |run| {
                let rows = run.totals.seen.shapes.rows();
                let count = rows
                    .filter(|(one, _)| **one == shape)
                    .map(|(_, tally)| tally.count);
                of_answers(run, count.sum())
            })
        })
        .collect()
}

fn described(shape: &Shape) -> String {
    let size = match u32::from(shape.size_class) {
        0 => "no body".to_owned(),
        1 => Bytes(1).to_string(),
        digits => {
            let least = 1_u64.checked_shl(digits - 1).unwrap_or(u64::MAX);
            format!(
                "{} to {}",
                Bytes(least),
                Bytes(least.saturating_mul(2).saturating_sub(1))
            )
        }
    };
    let kind = match shape.content_type.as_str() {
        "" => "no content type",
        kind => kind,
    };
    format!("{} {kind}, {size}", shape.status)
}

fn statuses<'a>(sides: &[Side<'a>]) -> Vec<Measure<'a>> {
    let mut seen: BTreeMap<u16, u64> = BTreeMap::new();
    for run in sides.iter().flat_map(|side| &side.runs) {
        for (status, count) in run.totals.seen.statuses.rows() {
            *seen.entry(*status).or_default() += count;
        }
    }
    let measure = |status: u16| {
        let (id, label) = (format!("answers.{status}"), status.to_string());
        Measure::new(id, label, (Unit::Share, Better::Neither), move |run| {
            let rows = run.totals.seen.statuses.rows();
            let count = rows
                .filter(|(one, _)| **one == status)
                .map(|(_, count)| *count);
            of_answers(run, count.sum())
        })
    };
    commonest(seen).into_iter().map(measure).collect()
}

fn of_answers(run: &RunResult, count: u64) -> Option<f64> {
    let answered = run.totals.seen.counts.completed;
    (answered > 0).then(|| count as f64 / answered as f64)
}

/// The keys with the highest counts, the highest first.
fn commonest<K: Ord>(counts: BTreeMap<K, u64>) -> Vec<K> {
    let mut counts: Vec<(K, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(ROWS_MAX);
    counts.into_iter().map(|(key, _)| key).collect()
}

/// Shares of checks that held: a script's checks, and the expectations that responses failed.
pub(super) fn checks<'a>(sides: &[Side<'a>]) -> Vec<Measure<'a>> {
    const SHARE: (Unit, Better) = (Unit::Share, Better::Higher);
    let runs = || sides.iter().flat_map(|side| side.runs.iter().copied());
    let mut all = vec![Measure::new("checks", "All checks", SHARE, |run| {
        let (passed, made) = run.checks_passed()?;
        Some(passed as f64 / made as f64)
    })];
    let mut names: Vec<String> = Vec::new();
    for (path, _) in runs().flat_map(checks_of) {
        if !names.contains(&path) && names.len() < ROWS_MAX {
            names.push(path);
        }
    }
    all.extend(names.into_iter().map(|name| {
        let (id, label) = (format!("checks.{name}"), format!("  {name}"));
        Measure::new(id, label, SHARE, move |run| {
            let (_, check) = checks_of(run).find(|(path, _)| *path == name)?;
            let made = check.passes + check.fails;
            (made > 0).then(|| check.passes as f64 / made as f64)
        })
    }));
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in runs().flat_map(|run| run.totals.seen.failed_checks.rows()) {
        *failed.entry(name.clone()).or_default() += count;
    }
    all.extend(commonest(failed).into_iter().map(|name| {
        let (id, label) = (format!("expect.{name}"), format!("expected {name}"));
        Measure::new(id, label, SHARE, move |run| {
            let rows = run.totals.seen.failed_checks.rows();
            let failed: u64 = rows.filter(|(one, _)| **one == name).map(|(_, n)| *n).sum();
            of_answers(run, failed).map(|share| 1.0 - share)
        })
    }));
    all
}

/// A run's checks with the groups that they are made in.
fn checks_of(run: &RunResult) -> impl Iterator<Item = (String, &CheckSummary)> {
    let summary = run.summary.iter();
    summary.flat_map(|summary| summary.root.all_checks(" / "))
}

/// Metrics of scripts that are in no other section.
pub(super) fn metrics<'a>(sides: &[Side<'a>]) -> Vec<Measure<'a>> {
    let mut known: Vec<&MetricSummary> = Vec::new();
    for metric in sides
        .iter()
        .flat_map(|side| &side.runs)
        .flat_map(|run| metrics_of(run))
    {
        let is_new = known
            .iter()
            .all(|other| other.definition.name != metric.definition.name);
        if is_new && is_told_here(&metric.definition.name) && known.len() < ROWS_MAX {
            known.push(metric);
        }
    }
    known.into_iter().flat_map(of_metric).collect()
}

fn metrics_of(run: &RunResult) -> impl Iterator<Item = &MetricSummary> {
    let all = run.summary.iter().flat_map(|summary| &summary.root.metrics);
    all.filter(|metric| !metric.is_sub_metric())
}

fn is_told_here(name: &str) -> bool {
    let of_requests = name.starts_with("http_req") || name.starts_with("data_");
    let elsewhere = [BuiltIn::Vus, BuiltIn::VusMax, BuiltIn::Checks].map(BuiltIn::name);
    !of_requests && !elsewhere.contains(&name)
}

/// The statistics shown for a metric of this type.
fn of_metric<'a>(metric: &MetricSummary) -> Vec<Measure<'a>> {
    let definition = &metric.definition;
    let is_time = definition.contains == Contains::Time;
    let unit = match (is_time, definition.contains) {
        (true, _) => Unit::Span,
        (_, Contains::Data) => Unit::Size,
        _ => Unit::Plain,
    };
    let statistics: Vec<(&'static str, Unit)> = match definition.kind {
        MetricType::Counter => vec![("rate", Unit::Rate)],
        MetricType::Gauge => vec![("last", unit)],
        MetricType::Rate => vec![("share", Unit::Share)],
        MetricType::Trend => vec![("p50", unit), ("p95", unit)],
    };
    let measure = |(statistic, unit): (&'static str, Unit)| {
        let name = definition.name.clone();
        let (id, label) = (
            format!("metric.{name}.{statistic}"),
            format!("{name} {statistic}"),
        );
        Measure::new(id, label, (unit, Better::Neither), move |run| {
            let metric = metrics_of(run).find(|metric| metric.definition.name == name)?;
            statistic_of(metric, statistic, run)
        })
    };
    statistics.into_iter().map(measure).collect()
}

/// Times in nanoseconds.
fn statistic_of(metric: &MetricSummary, statistic: &str, run: &RunResult) -> Option<f64> {
    let q = if statistic == "p95" { 0.95 } else { 0.5 };
    match &metric.values {
        Aggregated::Counter(counter) => {
            let seconds = run.summary.as_ref()?.duration_ns as f64 / 1e9;
            (seconds > 0.0).then(|| counter.total() / seconds)
        }
        Aggregated::Gauge(gauge) => gauge.last(),
        Aggregated::Rate(rate) => rate.share(),
        Aggregated::Times(trend) => trend.quantile(q),
        Aggregated::Values(trend) => {
            let scale = match metric.definition.contains {
                Contains::Time => 1e6,
                Contains::Default | Contains::Data => 1.0,
            };
            trend.quantile(q).map(|value| value * scale)
        }
    }
}
