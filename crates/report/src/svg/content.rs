//! The content of line charts for a result.
//!
//! Must not know SVG. Invariant: a line has at most six hundred points; merging seconds does not lose a peak.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use loadline_model::result::{Percentiles, Row, TimeMetric};
use loadline_model::{ErrorClass, RunResult};

use super::axis::{Axis, Quantity};
use super::chart::{Chart, Limit, Line, Manner, Mark, Panel, Shade};
use crate::units::{count, rate, span};
use crate::{limits, marks};

/// Most points of a line: more than a screen has columns for.
const POINTS_MAX: usize = 600;

/// Rows that are drawn as one point.
pub(super) struct Group<'r> {
    rows: &'r [Row],
}

impl Group<'_> {
    fn span_s(&self) -> f64 {
        self.rows.iter().map(|row| row.span_ns as f64).sum::<f64>() / 1e9
    }

    /// The middle of the group, in seconds.
    pub(super) fn middle_s(&self) -> f64 {
        self.rows.first().map_or(0.0, |row| row.at_ns as f64 / 1e9) + self.span_s() / 2.0
    }

    pub(super) fn per_second(&self, of: impl Fn(&Row) -> u64) -> Option<f64> {
        let span = self.span_s();
        (span > 0.0).then(|| self.rows.iter().map(|row| of(row) as f64).sum::<f64>() / span)
    }

    /// The largest value of the rows.
    pub(super) fn largest(&self, of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        self.rows.iter().filter_map(of).reduce(f64::max)
    }
}

/// The rows of a run in at most six hundred groups.
pub(super) fn groups(result: &RunResult) -> Vec<Group<'_>> {
    let rows = &result.series;
    let each = rows.len().div_ceil(POINTS_MAX).max(1);
    rows.chunks(each).map(|rows| Group { rows }).collect()
}

/// The end of the axis of time, in seconds.
pub(super) fn end_s(result: &RunResult) -> f64 {
    let last = result.series.last();
    last.map_or(0.0, |row| {
        row.at_ns.saturating_add(row.span_ns) as f64 / 1e9
    })
}

/// Requests per second: offered, answered, good and failed.
pub(super) fn throughput(result: &RunResult) -> Option<Chart> {
    let groups = groups(result);
    let line = |name: &str, colour: usize, manner: Manner, of: fn(&Row) -> u64| {
        let points = groups
            .iter()
            .map(|group| (group.middle_s(), group.per_second(of)));
        Line {
            name: name.to_owned(),
            colour,
            manner,
            points: points.collect(),
        }
    };
    let rows = &result.series;
    let has = |of: fn(&Row) -> bool| rows.iter().any(of);
    let mut lines = vec![line("delivered (answered)", 0, Manner::Filled, |row| {
        row.completed
    })];
    if has(|row| row.good < row.completed) {
        lines.push(line("good", 2, Manner::Solid, |row| row.good));
    }
    // Due and dropped starts are iterations; those of a script send any number of requests.
    let is_script = result.plan.sends_several();
    let (failed, bad): (_, fn(&Row) -> u64) = match is_script {
        true => ("failed", |row| row.failed),
        false => ("failed or dropped", |row| row.failed + row.dropped),
    };
    if rows.iter().any(|row| bad(row) > 0) {
        lines.push(line(failed, 1, Manner::Solid, bad));
    }
    let mut iterations = Vec::new();
    if has(|row| row.offered.is_some()) {
        let due: fn(&Row) -> u64 = |row| row.offered.unwrap_or(0);
        match is_script {
            true => iterations.push(line("due", 4, Manner::Dashed, due)),
            false => lines.push(line("offered", 4, Manner::Dashed, due)),
        }
    }
    if is_script && has(|row| row.dropped > 0) {
        iterations.push(line("dropped", 1, Manner::Solid, |row| row.dropped));
    }
    if lines[0].points.is_empty() {
        return None;
    }
    let of = |chart: &str| limits_of(result, chart);
    let mut panels = vec![panel(
        "requests per second",
        Quantity::Rate,
        lines,
        of("rate"),
    )];
    if !iterations.is_empty() {
        let label = "iterations per second";
        let limits = of("iterations");
        panels.push(panel(label, Quantity::Rate, iterations, limits));
    }
    Some(chart(
        result,
        "throughput",
        "Throughput",
        throughput_in_words(result, is_script),
        panels,
    ))
}

fn throughput_in_words(result: &RunResult, is_script: bool) -> String {
    let rates = &result.totals.rates;
    let offered = rates.offered.map_or_else(String::new, |offered| {
        let what = if is_script {
            "iterations due"
        } else {
            "offered"
        };
        format!("{} {what}, ", rate(offered))
    });
    format!(
        "Requests per second over {}: {offered}{} answered, {} good on average.",
        span(end_s(result) * 1e9),
        rate(rates.average),
        rate(rates.goodput)
    )
}

/// Maximum classes with a separate line; the rest share one.
const CLASSES_MAX: usize = 5;

/// Failed requests per second by class; `None` without a failure, or without classes.
pub(super) fn failures(result: &RunResult) -> Option<Chart> {
    let mut classes: BTreeMap<ErrorClass, u64> = BTreeMap::new();
    for (class, count) in result.series.iter().flat_map(|row| &row.failures) {
        let sum = classes.entry(*class).or_default();
        *sum = sum.saturating_add(*count);
    }
    classes.retain(|_, count| *count > 0);
    let mut sorted: Vec<(ErrorClass, u64)> = classes.into_iter().collect();
    sorted.sort_by_key(|(_, count)| Reverse(*count));
    let told: Vec<String> = sorted
        .iter()
        .map(|(class, total)| format!("{} {}", count(*total), class.name()))
        .collect();
    let own: Vec<ErrorClass> = sorted.iter().map(|(class, _)| *class).collect();
    let (own, others) = own.split_at(own.len().min(CLASSES_MAX));
    let groups = groups(result);
    let line = |name: &str, colour: usize, of: &dyn Fn(&Row) -> u64| Line {
        name: name.to_owned(),
        colour,
        manner: match colour % 2 {
            0 => Manner::Dashed,
            _ => Manner::Solid,
        },
        points: groups
            .iter()
            .map(|group| (group.middle_s(), group.per_second(of)))
            .collect(),
    };
    let mut lines: Vec<Line> = own
        .iter()
        .enumerate()
        .map(|(place, class)| {
            let of = |row: &Row| row.failures.get(class).copied().unwrap_or(0);
            line(class.name(), place + 1, &of)
        })
        .collect();
    if !others.is_empty() {
        let of_others = |row: &Row| {
            let counts = others.iter().filter_map(|class| row.failures.get(class));
            counts.copied().fold(0, u64::saturating_add)
        };
        lines.push(line("other classes", CLASSES_MAX + 1, &of_others));
    }
    if lines.is_empty() {
        return None;
    }
    let description = format!(
        "Failed requests per second by class over {}: {}.",
        span(end_s(result) * 1e9),
        told.join(", ")
    );
    let panel = panel(
        "failed requests per second",
        Quantity::Rate,
        lines,
        Vec::new(),
    );
    Some(chart(
        result,
        "failures",
        "Failures by class",
        description,
        vec![panel],
    ))
}

type OfRow = fn(&Row) -> Option<Percentiles>;

/// Percentiles of each second: of the service time, and in an open model of the response time above it.
pub(super) fn percentiles(result: &RunResult) -> Option<Chart> {
    let both: [(&str, &str, &str, OfRow); 2] = [
        ("Response time", "response", "response_time_ns", |row| {
            row.response_time_ns
        }),
        ("Service time", "service", "service_time_ns", |row| {
            row.service_time_ns
        }),
    ];
    let groups = groups(result);
    let (mut panels, mut told) = (Vec::new(), Vec::new());
    for (what, chart, metric, of_row) in both {
        let lines = lines_of_times(&groups, of_row);
        let limits = limits_of(result, chart);
        let Some(axis) = axis_of_times(&lines, &limits) else {
            continue;
        };
        panels.push(Panel {
            label: label_of_times(what, &axis),
            axis,
            lines,
            limits,
        });
        told.push((what, result.times(metric)));
    }
    let (what, _) = *told.first()?;
    let each = told.iter().map(|(what, whole)| {
        let value = |of: fn(&TimeMetric) -> Option<u64>| {
            let ns = whole.and_then(of);
            ns.map_or_else(|| "unknown".to_owned(), |ns| span(ns as f64))
        };
        format!(
            "{what} of the whole run p50 {}, p90 {}, p99 {}.",
            value(|metric| metric.p50),
            value(|metric| metric.p90),
            value(|metric| metric.p99)
        )
    });
    let description = format!(
        "Percentiles of each second over {}. {}",
        span(end_s(result) * 1e9),
        each.collect::<Vec<_>>().join(" ")
    );
    let title = match panels.len() {
        1 => format!("{what}, percentiles of each second"),
        _ => "Response and service time, percentiles of each second".to_owned(),
    };
    Some(chart(result, "percentiles", &title, description, panels))
}

fn lines_of_times(groups: &[Group<'_>], of_row: OfRow) -> Vec<Line> {
    let line = |name: &str, colour: usize, of: fn(&Percentiles) -> u64| Line {
        name: name.to_owned(),
        colour,
        manner: Manner::Solid,
        points: groups
            .iter()
            .map(|group| {
                let value = group.largest(|row| of_row(row).map(|times| of(&times) as f64));
                (group.middle_s(), value)
            })
            .collect(),
    };
    vec![
        line("p99", 1, |times| times.p99),
        line("p90", 4, |times| times.p90),
        line("p50", 0, |times| times.p50),
    ]
}

pub(super) fn label_of_times(what: &str, axis: &Axis) -> &'static str {
    match (what.starts_with("Response"), axis.is_logarithmic) {
        (true, true) => "response time, logarithmic",
        (true, false) => "response time",
        (false, true) => "service time, logarithmic",
        (false, false) => "service time",
    }
}

/// How far from what was measured a limit may lie, as a factor, to be drawn beside it: on an axis of times, and on one
/// from zero. The page's charts have the same (`html/assets/overlay.js`).
const NEAR_TIMES: f64 = 10.0;
const NEAR: f64 = 3.0;

/// An axis for all values of lines of times, and for the limits near them; `None` without a value.
pub(super) fn axis_of_times(lines: &[Line], limits: &[Limit]) -> Option<Axis> {
    let values = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .filter_map(|(_, value)| *value)
    };
    let most = values().reduce(f64::max)?;
    // A file of whole milliseconds has times of 0. They have no logarithm, and are drawn at the low end.
    let positive = values().filter(|value| *value > 0.0);
    let least = positive.reduce(f64::min).unwrap_or(most);
    let near = least / NEAR_TIMES..=most * NEAR_TIMES;
    let near = || {
        limits
            .iter()
            .map(|of| of.value)
            .filter(|value| near.contains(value))
    };
    Some(Axis::of_times(
        near().fold(least, f64::min),
        near().fold(most, f64::max),
    ))
}

/// The thresholds that a chart of the page draws, by the name that it has there.
fn limits_of(result: &RunResult, chart: &str) -> Vec<Limit> {
    let limits = limits::of(&result.plan).into_iter();
    limits
        .filter(|limit| limit.chart == chart)
        .map(|limit| Limit {
            value: limit.value,
            text: limit.text(),
        })
        .collect()
}

/// CPU and memory of the generator.
pub(super) fn generator(result: &RunResult) -> Option<Chart> {
    let groups = groups(result);
    let points = |of: fn(&Row) -> Option<f64>| -> Vec<(f64, Option<f64>)> {
        groups
            .iter()
            .map(|group| (group.middle_s(), group.largest(of)))
            .collect()
    };
    let filled = |name: &str, colour: usize, of: fn(&Row) -> Option<f64>| Line {
        name: name.to_owned(),
        colour,
        manner: Manner::Filled,
        points: points(of),
    };
    let mut cpu = vec![filled("CPU", 0, |row| Some(row.generator.cpu_cores))];
    let memory = vec![filled("memory (resident)", 2, |row| {
        Some(row.generator.rss_bytes as f64)
    })];
    if cpu[0].points.is_empty() || result.series.iter().all(|row| row.generator.rss_bytes == 0) {
        return None;
    }
    let cores = result.environment.cores;
    if cores > 0.0 {
        let end = end_s(result);
        cpu.push(Line {
            name: "cores that it may use".to_owned(),
            colour: 4,
            manner: Manner::Dashed,
            points: vec![(0.0, Some(cores)), (end, Some(cores))],
        });
    }
    let totals = &result.totals;
    let description = format!(
        "The generator's CPU use in cores and its resident memory over {}: at most {:.0} MB.",
        span(end_s(result) * 1e9),
        totals.rss_max_bytes as f64 / 1e6
    );
    let panels = vec![
        panel("CPU, cores", Quantity::Cores, cpu, Vec::new()),
        panel("resident memory", Quantity::Size, memory, Vec::new()),
    ];
    Some(chart(
        result,
        "generator",
        "Generator: CPU and memory",
        description,
        panels,
    ))
}

/// A panel from zero to what its lines reach, and to the limits near them.
pub(super) fn panel(
    label: &'static str,
    quantity: Quantity,
    lines: Vec<Line>,
    limits: Vec<Limit>,
) -> Panel {
    let values = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|(_, value)| *value);
    let most = values.fold(0.0, f64::max);
    let near = limits
        .iter()
        .map(|of| of.value)
        .filter(|value| *value <= most * NEAR);
    Panel {
        label,
        axis: Axis::linear(near.fold(most, f64::max), quantity),
        lines,
        limits,
    }
}

pub(super) fn chart(
    result: &RunResult,
    name: &'static str,
    title: &str,
    description: String,
    panels: Vec<Panel>,
) -> Chart {
    let seconds = end_s(result);
    let marks = marks::of(result).into_iter().map(|shown| Mark {
        at: shown.mark.at_ns as f64 / 1e9,
        label: shown.label,
        text: shown.mark.text,
    });
    Chart {
        name,
        title: title.to_owned(),
        description,
        seconds,
        panels,
        shades: warm_up(result),
        // The part of a run that was not reached because it ended early.
        marks: marks.filter(|mark| mark.at <= seconds).collect(),
    }
}

/// The span of the warm-up, where there is one.
pub(super) fn warm_up(result: &RunResult) -> Vec<Shade> {
    let rows = result.series.iter().filter(|row| row.warm_up);
    let end = rows.map(|row| row.at_ns.saturating_add(row.span_ns)).max();
    end.map(|end| (0.0, end as f64 / 1e9, "warm-up"))
        .into_iter()
        .collect()
}
