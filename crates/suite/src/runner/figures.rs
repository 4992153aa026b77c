//! Figures that a run's mode requires: when throughput settled, when the first response arrived, what changed
//! over hours.
//!
//! Must not know rows or files. Invariant: a figure that the result does not contain is absent.

use std::collections::BTreeMap;

use loadline_model::RunResult;
use loadline_model::observation::{Aggregation, Span};
use loadline_model::result::Row;
use loadline_model::snapshot::Outcomes;

use crate::statistics::{mean, variance_of};

/// Seconds that are looked at together.
const WINDOW: usize = 5;
/// Minimum seconds for a plateau.
const SECONDS_MIN: usize = 20;
/// How far a window may be from the plateau, as a share of it.
const TOLERANCE: f64 = 0.05;
/// An hour in nanoseconds.
const HOUR_NS: i64 = 3_600_000_000_000;
/// Shorter runs have no first and last hour that differ.
const HOURS_MIN: i64 = 2 * HOUR_NS;

/// Where throughput settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The first second that belongs to it.
    pub from: usize,
    /// Its level, per second.
    pub level: f64,
}

/// The level that throughput settles on, and since when; `None` if there are fewer than twenty seconds, or if it was
/// still changing in the last third.
///
/// The level is the mean of the last third. The plateau begins with the first window of five seconds that is, like every
/// later one, within five percent of the level, or within three standard errors of a window if throughput is noisy.
#[must_use]
pub fn plateau(rates: &[f64]) -> Option<Plateau> {
    if rates.len() < SECONDS_MIN {
        return None;
    }
    let last = &rates[rates.len() * 2 / 3..];
    let level = mean(last);
    if level <= 0.0 {
        return None;
    }
    let noise = 3.0 * (variance_of(last)? / WINDOW as f64).sqrt();
    let allowed = (TOLERANCE * level).max(noise);
    let (early, late) = last.split_at(last.len() / 2);
    let drift_allowed = (TOLERANCE * level).max(3.0 * noise / (early.len() as f64).sqrt());
    if (mean(early) - mean(late)).abs() > drift_allowed {
        return None;
    }
    let fits = |window: &[f64]| (mean(window) - level).abs() <= allowed;
    let misfit = rates.windows(WINDOW).rposition(|window| !fits(window));
    // The window that does not fit begins one second before the first that does.
    let from = misfit.map_or(0, |at| at + 1);
    (from + WINDOW <= rates.len()).then_some(Plateau { from, level })
}

/// The rows that were measured, the last one left out: it is rarely whole.
fn measured(result: &RunResult) -> Vec<&Row> {
    let mut rows: Vec<&Row> = result
        .series
        .iter()
        .filter(|row| !row.warm_up && row.span_ns > 0)
        .collect();
    rows.pop();
    rows
}

/// Time from the start of the load to its plateau in seconds, and the plateau's level per second.
#[must_use]
pub fn time_to_plateau(result: &RunResult) -> Option<(f64, f64)> {
    let rows = measured(result);
    let rates: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.per_second(row.completed))
        .collect();
    let found = plateau(&rates)?;
    let first = rows.first()?.at_ns;
    let at = rows.get(found.from)?.at_ns.saturating_sub(first);
    Some((at as f64 / 1e9, found.level))
}

/// Time from the start of the load to the first good response, in seconds: within its second, and at least the
/// shortest service time after the start.
#[must_use]
pub fn time_to_first_success(result: &RunResult) -> Option<f64> {
    let row = result.series.iter().find(|row| row.good > 0)?;
    let shortest = result.totals.seen.answered_time.min().unwrap_or_default();
    let end = row.at_ns + row.span_ns;
    Some(shortest.clamp(row.at_ns, end) as f64 / 1e9)
}

/// The figures of a time window of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Completed requests per second.
    pub throughput: f64,
    /// How its requests ended.
    pub outcomes: Outcomes,
    /// Mean of the seconds' 99th percentiles of the service time, in milliseconds, weighted by requests; `None` without
    /// a request.
    pub p99_ms: Option<f64>,
}

/// The first and the last hour of a run of at least two hours.
#[must_use]
pub fn first_and_last_hour(result: &RunResult) -> Option<(Window, Window)> {
    let rows = measured(result);
    let start = rows.first()?.at_ns as i64;
    let end = rows.last().map(|row| (row.at_ns + row.span_ns) as i64)?;
    if end - start < HOURS_MIN {
        return None;
    }
    let span = |from_ns, to_ns| window(&rows, Span { from_ns, to_ns });
    Some((span(start, start + HOUR_NS)?, span(end - HOUR_NS, end)?))
}

fn window(rows: &[&Row], span: Span) -> Option<Window> {
    let rows = rows.iter().filter(|row| span.contains(row.at_ns as i64));
    let (mut outcomes, mut length) = (Outcomes::default(), 0);
    let (mut weighted, mut weights) = (0.0, 0.0);
    for row in rows {
        outcomes.merge(row.outcomes());
        length += row.span_ns;
        if let Some(times) = row.service_time_ns {
            weighted += times.p99 as f64 / 1e6 * row.completed as f64;
            weights += row.completed as f64;
        }
    }
    (length > 0).then(|| Window {
        throughput: outcomes.completed as f64 * 1e9 / length as f64,
        outcomes,
        p99_ms: (weights > 0.0).then(|| weighted / weights),
    })
}

/// A slope of [`leak_slopes`] in words with readable numbers.
#[must_use]
pub fn leak_note(series: &str, per_hour: f64) -> String {
    const MEBI: f64 = 1_048_576.0;
    let (amount, unit) = match series.ends_with("_bytes") {
        true => (per_hour / MEBI, " MiB"),
        false => (per_hour, ""),
    };
    match format!("{:.1}", amount.abs()).as_str() {
        "0.0" => format!("{series} neither grew nor shrank"),
        shown if amount > 0.0 => format!("{series} grew by {shown}{unit} per hour"),
        shown => format!("{series} shrank by {shown}{unit} per hour"),
    }
}

/// Growth per hour of each memory and open-files series of the target under load, by
/// `observer.component.metric`.
#[must_use]
pub fn leak_slopes(result: &RunResult) -> BTreeMap<String, f64> {
    const GROWING: [&str; 4] = ["memory_bytes", "open_files", "threads", "backlog"];
    let span = result
        .observations
        .phases
        .map_or(Span::ALL, |phases| phases.steady);
    let series = result.observations.series.iter();
    let growing = series.filter(|series| GROWING.contains(&series.metric.as_str()));
    let slopes = growing.filter_map(|series| {
        let slope = series.aggregate(Aggregation::Slope, span)?;
        let name = format!("{}.{}.{}", series.observer, series.component, series.metric);
        Some((name, slope * 3600.0))
    });
    slopes.collect()
}
