//! Observations prepared for display: one group per quantity, in words and aligned to the run's rows.
//!
//! Must not know layouts. Invariant: a time without a reading stays empty.

use std::collections::BTreeMap;

use loadline_model::Observations;
use loadline_model::observation::{
    self, Aggregation, ObservedSeries, Phase, Point, Span, limited_by, without_unit,
};
use loadline_model::result::Row;

use crate::units::{Bytes, percent, rate, span};

/// Maximum lines in one chart; more cannot be distinguished.
pub(crate) const LINES_MAX: usize = 20;

/// All series of one quantity, such as `cpu_cores`; a limit is with what it limits.
pub(crate) struct Quantity<'r> {
    /// The metric's name.
    pub(crate) metric: &'r str,
    pub(crate) series: Vec<&'r ObservedSeries>,
    pub(crate) limits: Vec<&'r ObservedSeries>,
}

/// Quantities that come first, in this order; the others follow in the order in which they were first read.
const FIRST: [&str; 5] = [
    "cpu_cores",
    "memory_bytes",
    "replicas",
    "rate_per_s",
    "backlog",
];

/// The quantities, those of most interest first.
pub(crate) fn quantities(observations: &Observations) -> Vec<Quantity<'_>> {
    let mut found: Vec<Quantity<'_>> = Vec::new();
    let (limits, others): (Vec<_>, Vec<_>) = observations
        .series
        .iter()
        .partition(|series| limited_by(&series.metric).is_some());
    for series in others {
        match found.iter_mut().find(|known| known.metric == series.metric) {
            Some(known) => known.series.push(series),
            None => found.push(Quantity {
                metric: &series.metric,
                series: vec![series],
                limits: Vec::new(),
            }),
        }
    }
    for limit in limits {
        let limited = limited_by(&limit.metric).unwrap_or_default();
        if let Some(known) = found.iter_mut().find(|known| known.metric == limited) {
            known.limits.push(limit);
        }
    }
    let rank = |metric: &str| FIRST.iter().position(|first| *first == metric);
    found.sort_by_key(|quantity| rank(quantity.metric).unwrap_or(FIRST.len()));
    found
}

/// A series' name in a legend or a table.
pub(crate) fn title(series: &ObservedSeries) -> String {
    observation::title(&series.observer, &series.component)
}

/// The display name of a metric: `cpu_cores` is CPU, in cores.
pub(crate) fn metric_title(metric: &str) -> String {
    if let Some(limited) = limited_by(metric) {
        return format!("{} limit", metric_title(&limited));
    }
    match metric {
        "cpu_cores" => "CPU".to_owned(),
        "memory_bytes" => "memory".to_owned(),
        other => without_unit(other).replace('_', " "),
    }
}

/// A value with its unit.
pub(crate) fn amount(metric: &str, value: f64) -> String {
    match metric {
        m if m.ends_with("_cores") => format!("{value:.2} cores"),
        m if m.ends_with("_bytes") => Bytes(value.max(0.0) as u64).to_string(),
        m if m.ends_with("_seconds") => span(value * 1e9),
        m if m.ends_with("_ratio") => percent(value),
        m if m.ends_with("_bytes_per_s") => format!("{}/s", Bytes(value.max(0.0) as u64)),
        m if m.ends_with("_per_s") => rate(value),
        _ if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    }
}

/// A series in the phases of the run, for a table.
pub(crate) struct Told {
    pub(crate) before: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) most: Option<f64>,
    pub(crate) last: Option<f64>,
    pub(crate) after: Option<f64>,
}

/// The figures of a series; without phases all of it counts as load.
pub(crate) fn told(series: &ObservedSeries, observations: &Observations) -> Told {
    let of = |aggregation, phase| {
        let phases = observations.phases;
        let span = phases.map_or(Span::ALL, |phases| phases.span(phase));
        series.aggregate(aggregation, span)
    };
    let has_phases = observations.phases.is_some();
    Told {
        before: of(Aggregation::Avg, Phase::Baseline).filter(|_| has_phases),
        mean: of(Aggregation::Avg, Phase::Load),
        p95: of(Aggregation::P95, Phase::Load),
        most: of(Aggregation::Max, Phase::Load),
        last: of(Aggregation::Last, Phase::Load),
        after: of(Aggregation::Last, Phase::Tail).filter(|_| has_phases),
    }
}

/// A series on the rows of a run: the mean of the readings in a row. An observer that looks more seldom than there
/// are rows holds its value until the next reading is overdue.
pub(crate) fn on_rows(series: &ObservedSeries, rows: &[Row]) -> Vec<Option<f64>> {
    let holds_ns = usual_distance(&series.points).saturating_mul(3) / 2;
    let mut points = series.points.iter().peekable();
    let mut latest: Option<Point> = None;
    rows.iter()
        .map(|row| {
            let from = i64::try_from(row.at_ns).unwrap_or(i64::MAX);
            let to = i64::try_from(row.at_ns.saturating_add(row.span_ns)).unwrap_or(i64::MAX);
            let (mut sum, mut readings) = (0.0, 0_u32);
            while let Some(point) = points.next_if(|point| point.0 < to) {
                if point.0 >= from {
                    sum += point.1;
                    readings += 1;
                }
                latest = Some(*point);
            }
            if readings > 0 {
                return Some(sum / f64::from(readings));
            }
            let held = latest.filter(|point| to.saturating_sub(point.0) <= holds_ns);
            held.map(|point| point.1)
        })
        .collect()
}

/// The median distance between points, in nanoseconds; zero for fewer than two.
fn usual_distance(points: &[Point]) -> i64 {
    let mut distances: Vec<i64> = points
        .windows(2)
        .map(|pair| pair[1].0.saturating_sub(pair[0].0))
        .collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).copied().unwrap_or(0)
}

/// For each metric, each line by its name on the rows: what charts are drawn of.
pub(crate) fn columns(
    observations: &Observations,
    rows: &[Row],
) -> BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>> {
    let mut columns = BTreeMap::new();
    for quantity in quantities(observations) {
        let lines = quantity
            .series
            .iter()
            .map(|series| (title(series), *series));
        let limits = quantity.limits.iter();
        let limits = limits.map(|series| (format!("{} limit", title(series)), *series));
        let lines: BTreeMap<String, Vec<Option<f64>>> = lines
            .chain(limits)
            .take(LINES_MAX)
            .map(|(name, series)| (name, on_rows(series, rows)))
            .filter(|(_, values)| values.iter().any(Option::is_some))
            .collect();
        if !lines.is_empty() {
            columns.insert(quantity.metric.to_owned(), lines);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn rows(count: u64) -> Vec<Row> {
        let row = |number| Row {
            at_ns: number * S,
            span_ns: S,
            ..Row::default()
        };
        (0..count).map(row).collect()
    }

    fn series(points: &[(i64, f64)]) -> ObservedSeries {
        ObservedSeries {
            observer: "o".to_owned(),
            component: "o".to_owned(),
            metric: "cpu_cores".to_owned(),
            points: points
                .iter()
                .map(|(ms, value)| Point(ms * 1_000_000, *value))
                .collect(),
            per_point: 1,
            peak: None,
        }
    }

    #[test]
    fn readings_before_and_after_the_load_are_on_no_row() {
        let all = [
            (-500, 9.0),
            (200, 1.0),
            (700, 3.0),
            (1_500, 4.0),
            (2_500, 8.0),
        ];
        assert_eq!(on_rows(&series(&all), &rows(2)), [Some(2.0), Some(4.0)]);
    }

    #[test]
    fn a_gap_stays_one_and_a_slow_observer_does_not_make_any() {
        let gap = [(500, 1.0), (1_500, 1.0), (2_500, 1.0), (6_500, 2.0)];
        let seen = on_rows(&series(&gap), &rows(7));
        assert_eq!(
            seen,
            [
                Some(1.0),
                Some(1.0),
                Some(1.0),
                Some(1.0),
                None,
                None,
                Some(2.0)
            ]
        );
        let slow = [(0, 1.0), (3_000, 2.0), (6_000, 3.0)];
        assert!(
            on_rows(&series(&slow), &rows(7))
                .iter()
                .all(Option::is_some)
        );
    }

    #[test]
    fn values_carry_their_unit() {
        for (metric, value, text) in [
            ("cpu_cores", 2.944, "2.94 cores"),
            ("memory_bytes", 52_428_800.0, "52.4 MB"),
            ("p95_seconds", 0.0012, "1.20 ms"),
            ("throttled_ratio", 0.25, "25.0 %"),
            ("replicas", 3.0, "3"),
            ("value", 0.5, "0.500"),
        ] {
            assert_eq!(amount(metric, value), text);
        }
        assert_eq!(metric_title("p95_seconds"), "p95");
        assert_eq!(metric_title("memory_bytes"), "memory");
        assert_eq!(metric_title("cpu_limit_cores"), "CPU limit");
    }
}
