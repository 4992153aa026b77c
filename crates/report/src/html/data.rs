//! The data of charts: a run's rows as columns, in JSON.
//!
//! Numbers are integers: counts of a row are exact, and times and sizes have four digits, more than any chart
//! can show; the charts divide. Must not know how they are drawn. Invariants: all columns have the same length,
//! and the time column ascends; if there is no room for all rows, neighbours are merged, and counts still add
//! up.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::result::{Percentiles, Row};
use loadline_model::rows::halve;
use loadline_model::{ErrorClass, Observations, RunResult};
use serde_json::{Map, Value, json};

use crate::marks::{self, Shown};
use crate::text::{response_time, service_time};
use crate::{limits, observed};

/// The columns: name, precision, and a row's value; `None` is a gap.
type Column = (&'static str, Digits, fn(&Row) -> Option<u64>);

/// The precision of a value.
#[derive(Clone, Copy)]
enum Digits {
    /// To the last digit.
    All,
    /// Rounded to four digits.
    Four,
}

use Digits::{All, Four};

const COLUMNS: &[Column] = &[
    ("at", All, |row| Some(row.at_ns)),
    ("span", All, |row| Some(row.span_ns)),
    ("offered", All, |row| row.offered),
    ("started", All, |row| Some(row.started)),
    ("completed", All, |row| Some(row.completed)),
    ("good", All, |row| Some(row.good)),
    ("failed", All, |row| Some(row.failed)),
    ("dropped", All, |row| Some(row.dropped)),
    ("waiting", All, |row| Some(row.waiting)),
    ("vus", All, |row| Some(row.active_vus)),
    ("sent", Four, |row| Some(row.bytes_sent)),
    ("received", Four, |row| Some(row.bytes_received)),
    ("s50", Four, |row| {
        percentile(row.service_time_ns, |p| p.p50)
    }),
    ("s90", Four, |row| {
        percentile(row.service_time_ns, |p| p.p90)
    }),
    ("s99", Four, |row| {
        percentile(row.service_time_ns, |p| p.p99)
    }),
    ("r50", Four, |row| {
        percentile(row.response_time_ns, |p| p.p50)
    }),
    ("r90", Four, |row| {
        percentile(row.response_time_ns, |p| p.p90)
    }),
    ("r99", Four, |row| {
        percentile(row.response_time_ns, |p| p.p99)
    }),
    ("lag", Four, |row| row.lag_p99_ns),
    ("cpu", All, |row| thousandths(row.generator.cpu_cores)),
    ("busiest", All, |row| {
        thousandths(row.generator.busiest_worker)
    }),
    ("rss", Four, |row| Some(row.generator.rss_bytes)),
];

/// Minimum rows: fewer would be visible as steps on a screen.
const ROWS_MIN: usize = 600;

/// All that the charts of a result need, in at most `room` bytes where the least number of rows fits there.
pub(super) fn of_result(result: &RunResult, room: usize) -> String {
    let mut rows = Cow::Borrowed(result.series.as_slice());
    loop {
        let text = whole(&head(result, &rows), &rows);
        if text.len() <= room || rows.len() < ROWS_MIN * 2 {
            return text;
        }
        halve(rows.to_mut());
    }
}

fn head(result: &RunResult, rows: &[Row]) -> Value {
    json!({
        "began": result.totals.started_unix_ms,
        "is_script": result.plan.sends_several(),
        "warm_up": warm_up_ns(rows),
        "cores": result.environment.cores,
        "thresholds": thresholds(result),
        "marks": marks(result),
        "observed": observed(&result.observations, rows),
        "curve": curve(&[("service time", Some(service_time(result))), ("response time", response_time(result))]),
    })
}

fn thresholds(result: &RunResult) -> Vec<Value> {
    let limits = limits::of(&result.plan).into_iter();
    limits
        .map(|of| json!({ "chart": of.chart, "value": of.value, "words": of.words }))
        .collect()
}

/// What observers saw on the rows: for each metric, each line's values.
fn observed(
    observations: &Observations,
    rows: &[Row],
) -> BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>> {
    let mut columns = observed::columns(observations, rows);
    let values = columns
        .values_mut()
        .flat_map(BTreeMap::values_mut)
        .flatten();
    for value in values.flatten() {
        *value = four_digits(*value);
    }
    columns
}

/// Points of a percentile curve per decade of 1/(1 − p).
const POINTS_PER_DECADE: u32 = 12;

/// Times by percentile, in nanoseconds, from the fastest to the percentile that one value lies beyond:
/// point n is the quantile 1 − 10^(−n ∕ [`POINTS_PER_DECADE`]).
fn curve(trends: &[(&str, Option<TimeTrend>)]) -> Value {
    let points = |trend: &TimeTrend| -> Vec<u64> {
        let decades = (trend.count() as f64).log10();
        let last = (decades * f64::from(POINTS_PER_DECADE)).floor() as u32;
        let quantile = |n: u32| 1.0 - 10_f64.powf(-f64::from(n) / f64::from(POINTS_PER_DECADE));
        let times = (0..=last).filter_map(|n| trend.quantile(quantile(n)));
        times.map(|ns| ns.round() as u64).collect()
    };
    let known = trends
        .iter()
        .filter_map(|(name, trend)| Some((*name, trend.as_ref()?)));
    let curves: BTreeMap<&str, Vec<u64>> = known
        .filter(|(_, trend)| !trend.is_empty())
        .map(|(name, trend)| (name, points(trend)))
        .collect();
    json!(curves)
}

/// The same for a run without data yet.
pub(super) fn nothing() -> String {
    whole(
        &json!({ "began": 0, "is_script": false, "warm_up": 0, "cores": 0, "thresholds": [], "marks": [], "observed": {}, "curve": {} }),
        &[],
    )
}

/// One row, with all marks and what observers saw in it. `result`: the run so far.
pub(super) fn of_row(row: &Row, result: &RunResult) -> String {
    json!({
        "row": by_name(row),
        "is_script": result.plan.sends_several(),
        "is_warm_up": row.warm_up,
        "observed": observed_in(row, &result.observations),
        "marks": marks(result),
    })
    .to_string()
}

/// A row by the names of the columns.
fn by_name(row: &Row) -> Map<String, Value> {
    let columns = COLUMNS.iter();
    let mut values: Map<String, Value> = columns
        .map(|(name, _, value)| ((*name).to_owned(), json!(value(row))))
        .collect();
    values.insert("heat".to_owned(), json!(packed(&row.heat)));
    values.insert("failures".to_owned(), json!(row.failures));
    values
}

/// What observers saw in one row: for each metric the value of each line.
fn observed_in(row: &Row, seen: &Observations) -> BTreeMap<String, BTreeMap<String, f64>> {
    let columns = observed(seen, std::slice::from_ref(row));
    let first =
        |(line, values): (String, Vec<Option<f64>>)| Some((line, *values.first()?.as_ref()?));
    let lines = |(metric, lines): (String, BTreeMap<_, _>)| {
        (metric, lines.into_iter().filter_map(first).collect())
    };
    columns.into_iter().map(lines).collect()
}

fn marks(result: &RunResult) -> Vec<Value> {
    let all = marks::of(result).into_iter();
    all.map(|Shown { mark, label }| json!({ "at": mark.at_ns, "kind": mark.kind, "text": mark.text, "label": label }))
        .collect()
}

fn warm_up_ns(rows: &[Row]) -> u64 {
    let warm = rows.iter().take_while(|row| row.warm_up);
    warm.last()
        .map_or(0, |row| row.at_ns.saturating_add(row.span_ns))
}

fn percentile(of: Option<Percentiles>, which: fn(&Percentiles) -> u64) -> Option<u64> {
    of.as_ref().map(which)
}

/// A share or a number of cores in whole thousandths, which is finer than it was measured.
fn thousandths(value: f64) -> Option<u64> {
    value
        .is_finite()
        .then(|| (value.max(0.0) * 1e3).round() as u64)
}

fn whole(head: &Value, rows: &[Row]) -> String {
    let mut out = head.to_string();
    out.pop();
    for (name, digits, value) in COLUMNS {
        let values = rows.iter().map(value);
        push(&mut out, name, values, |out, value| match (value, digits) {
            (None, _) => out.write_str("null"),
            (Some(value), All) => shortest(out, value),
            (Some(value), Four) => shortest(out, four_digits(value as f64) as u64),
        });
    }
    push(&mut out, "heat", rows.iter(), |out, row| {
        out.write_str(&json!(packed(&row.heat)).to_string())
    });
    out.push_str(",\"failures\":");
    out.push_str(&failures(rows));
    out.push('}');
    out
}

/// A whole number in the fewest characters that JSON has for it: `32e9`.
pub(super) fn shortest(out: &mut String, value: u64) -> std::fmt::Result {
    let text = value.to_string();
    let digits = text.trim_end_matches('0');
    match text.len() - digits.len() {
        zeros if zeros > 2 && value > 0 => write!(out, "{digits}e{zeros}"),
        _ => out.write_str(&text),
    }
}

pub(super) fn four_digits(value: f64) -> f64 {
    let text = format!("{value:.3e}");
    text.parse().unwrap_or(value)
}

/// The first band of a row, and the counts from there on; a negative number skips that many bands.
fn packed(heat: &Heat) -> Vec<i64> {
    let mut packed = Vec::new();
    let mut next = None;
    for (band, count) in heat.bands() {
        let band = i64::from(*band);
        match next {
            None => packed.push(band),
            Some(next) if next < band => packed.push(next - band),
            Some(_) => {}
        }
        packed.push(i64::try_from(*count).unwrap_or(i64::MAX));
        next = Some(band + 1);
    }
    packed
}

/// A column for each class with failures.
fn failures(rows: &[Row]) -> String {
    let classes: BTreeSet<ErrorClass> = rows
        .iter()
        .flat_map(|row| row.failures.keys().copied())
        .collect();
    let columns = classes.into_iter().map(|class| {
        let counts = rows.iter().map(|row| row.failures.get(&class).copied());
        let counts: Vec<u64> = counts.map(Option::unwrap_or_default).collect();
        (class.name().to_owned(), json!(counts))
    });
    Value::Object(columns.collect()).to_string()
}

fn push<T>(
    out: &mut String,
    name: &str,
    values: impl Iterator<Item = T>,
    one: impl Fn(&mut String, T) -> std::fmt::Result,
) {
    let list = listed(values, one);
    write!(out, ",\"{name}\":{list}").expect("writing to a string cannot fail");
}

/// A list in JSON.
pub(super) fn listed<T>(
    values: impl Iterator<Item = T>,
    one: impl Fn(&mut String, T) -> std::fmt::Result,
) -> String {
    let mut list = String::from("[");
    for (place, value) in values.enumerate() {
        if place > 0 {
            list.push(',');
        }
        one(&mut list, value).expect("writing to a string cannot fail");
    }
    list.push(']');
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at_ns: u64, span_ns: u64) -> Row {
        Row {
            at_ns,
            span_ns,
            completed: 7,
            ..Row::default()
        }
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).expect("it is JSON")
    }

    #[test]
    fn all_columns_are_of_one_length() {
        let rows = [row(0, 10), row(10, 10)];
        let data = read(&whole(&json!({ "a": 1 }), &rows));
        for (name, ..) in COLUMNS {
            assert_eq!(data[name].as_array().map(Vec::len), Some(2), "{name}");
        }
        assert_eq!(data["heat"], json!([[], []]));
        assert_eq!(data["offered"], json!([null, null]));
        assert_eq!(read(&nothing())["at"], json!([]));
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let short = |value| {
            let mut out = String::new();
            shortest(&mut out, value).expect("a string takes it");
            out
        };
        let all = [0, 7, 100, 1_000, 32_000_000_000, 1_234_567].map(short);
        assert_eq!(all, ["0", "7", "100", "1e3", "32e9", "1234567"]);
        assert_eq!(four_digits(103_456_789.0), 103_500_000.0);
        assert_eq!(four_digits(0.000_123_456), 0.000_123_5);
        let mut times = TimeTrend::new();
        let all = [1 << 20, (1 << 20) + 1, 1 << 21, 1 << 21];
        all.into_iter().for_each(|ns| times.record(ns));
        assert_eq!(packed(&Heat::of(&times)), [79, 1, 1, -2, 2]);
        assert_eq!(packed(&Heat::default()), Vec::<i64>::new());
    }

    #[test]
    fn each_class_of_failure_is_a_column() {
        let failed = |failures: &[(ErrorClass, u64)]| Row {
            failures: failures.iter().copied().collect(),
            ..row(0, 10)
        };
        let rows = [
            failed(&[(ErrorClass::Timeout, 3)]),
            failed(&[]),
            failed(&[(ErrorClass::Refused, 1), (ErrorClass::Timeout, 2)]),
        ];
        let data = read(&whole(&json!({ "a": 1 }), &rows));
        let columns = json!({ "refused": [0, 0, 1], "timeout": [3, 0, 2] });
        assert_eq!(data["failures"], columns);
        assert_eq!(by_name(&rows[0])["failures"], json!({ "timeout": 3 }));
        assert_eq!(read(&nothing())["failures"], json!({}));
    }

    #[test]
    fn a_curve_ends_where_one_value_lies_beyond() {
        let mut trend = TimeTrend::new();
        (1..=1_000).for_each(|ms| trend.record(ms * 1_000_000));
        let told = curve(&[("service time", Some(trend)), ("response time", None)]);
        assert!(told["response time"].is_null());
        let points = told["service time"].as_array().expect("points");
        assert_eq!(points.len(), 37);
        for (place, wanted_ms) in [(0, 1.0), (12, 900.0), (24, 990.0), (36, 999.0)] {
            let ms = points[place].as_f64().expect("a number") / 1e6;
            assert!((ms / wanted_ms - 1.0).abs() < 0.02, "{place}: {ms} ms");
        }
        assert_eq!(
            curve(&[("service time", Some(TimeTrend::new()))]),
            json!({})
        );
    }

    #[test]
    fn one_row_has_the_same_names() {
        let values = by_name(&row(0, 10));
        assert_eq!(values.len(), COLUMNS.len() + 2);
        assert_eq!(values["completed"], json!(7));
    }
}
