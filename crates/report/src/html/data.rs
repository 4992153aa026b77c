//! What charts are drawn of: a run's rows as columns, in JSON.
//!
//! Numbers are whole and exact: counts of a row, nanoseconds, bytes; the charts divide. Must not know
//! how they are drawn. Invariant: all columns are of one length, and that of time ascends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loadline_metric::TimeTrend;
use loadline_model::event::Mark;
use loadline_model::result::{Percentiles, Row};
use loadline_model::{ErrorClass, Observations, RunResult};
use serde_json::{Value, json};

use super::lines;
use crate::observed;
use crate::text::{response_time, service_time};

/// The columns: name, and a row's value; `None` is a gap.
type Column = (&'static str, fn(&Row) -> Option<u64>);

const COLUMNS: &[Column] = &[
    ("at", |row| Some(row.at_ns)),
    ("span", |row| Some(row.span_ns)),
    ("offered", |row| row.offered),
    ("started", |row| Some(row.started)),
    ("completed", |row| Some(row.completed)),
    ("good", |row| Some(row.good)),
    ("failed", |row| Some(row.failed)),
    ("dropped", |row| Some(row.dropped)),
    ("waiting", |row| Some(row.waiting)),
    ("vus", |row| Some(row.active_vus)),
    ("sent", |row| Some(row.bytes_sent)),
    ("received", |row| Some(row.bytes_received)),
    ("s50", |row| percentile(row.service_time_ns, |p| p.p50)),
    ("s90", |row| percentile(row.service_time_ns, |p| p.p90)),
    ("s99", |row| percentile(row.service_time_ns, |p| p.p99)),
    ("r50", |row| percentile(row.response_time_ns, |p| p.p50)),
    ("r90", |row| percentile(row.response_time_ns, |p| p.p90)),
    ("r99", |row| percentile(row.response_time_ns, |p| p.p99)),
    ("lag", |row| row.lag_p99_ns),
    ("cpu", |row| thousandths(row.generator.cpu_cores)),
    ("busiest", |row| thousandths(row.generator.busiest_worker)),
    ("rss", |row| Some(row.generator.rss_bytes)),
];

/// All that the charts of a result need.
pub(super) fn of_result(result: &RunResult) -> String {
    let rows = &result.series;
    let head = json!({
        "began": result.totals.started_unix_ms,
        "is_script": result.plan.sends_several(),
        "warm_up": warm_up_ns(rows),
        "cores": result.environment.cores,
        "thresholds": lines::of(&result.plan),
        "marks": result.events.iter().map(mark).collect::<Vec<_>>(),
        "observed": observed::columns(&result.observations, &result.series),
        "curve": curve(&[("service time", Some(service_time(result))), ("response time", response_time(result))]),
    });
    whole(&head, rows)
}

/// Points of a percentile curve for each factor of ten in how rare a slower request is.
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

/// The same of a run of which nothing is known yet.
pub(super) fn nothing() -> String {
    whole(
        &json!({ "began": 0, "is_script": false, "warm_up": 0, "cores": 0, "thresholds": [], "marks": [], "observed": {}, "curve": {} }),
        &[],
    )
}

/// One row, by the names of the columns. `is_script`: what is due are iterations, and no requests.
/// `seen`: what observers saw so far.
pub(super) fn of_row(row: &Row, is_script: bool, marks: &[Mark], seen: &Observations) -> String {
    let mut values: serde_json::Map<String, Value> = COLUMNS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value(row))))
        .collect();
    let bands = row.heat.bands().iter();
    values.insert(
        "heat".to_owned(),
        bands
            .flat_map(|(band, count)| [u64::from(*band), *count])
            .collect(),
    );
    values.insert("failures".to_owned(), json!(row.failures));
    json!({
        "row": values,
        "is_script": is_script,
        "is_warm_up": row.warm_up,
        "observed": observed_in(row, seen),
        "marks": marks.iter().map(mark).collect::<Vec<_>>(),
    })
    .to_string()
}

/// What observers saw in one row: for each metric the value of each line.
fn observed_in(row: &Row, seen: &Observations) -> BTreeMap<String, BTreeMap<String, f64>> {
    let columns = observed::columns(seen, std::slice::from_ref(row));
    let first =
        |(line, values): (String, Vec<Option<f64>>)| Some((line, *values.first()?.as_ref()?));
    let lines = |(metric, lines): (String, BTreeMap<_, _>)| {
        (metric, lines.into_iter().filter_map(first).collect())
    };
    columns.into_iter().map(lines).collect()
}

fn mark(mark: &Mark) -> Value {
    json!({ "at": mark.at_ns, "kind": mark.kind, "text": mark.text })
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
    for (name, value) in COLUMNS {
        let values = rows.iter().map(value);
        push(&mut out, name, values, |out, value| match value {
            Some(value) => write!(out, "{value}"),
            None => out.write_str("null"),
        });
    }
    // Bands and counts in turn: half the length of pairs.
    push(&mut out, "heat", rows.iter(), |out, row| {
        out.push('[');
        for (place, (band, count)) in row.heat.bands().iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(out, "{comma}{band},{count}")?;
        }
        out.push(']');
        Ok(())
    });
    out.push_str(",\"failures\":");
    out.push_str(&failures(rows));
    out.push('}');
    out
}

/// A column for each class of which something failed.
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
    let mut list = String::new();
    for (place, value) in values.enumerate() {
        if place > 0 {
            list.push(',');
        }
        one(&mut list, value).expect("writing to a string cannot fail");
    }
    write!(out, ",\"{name}\":[{list}]").expect("writing to a string cannot fail");
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
        for (name, _) in COLUMNS {
            assert_eq!(data[name].as_array().map(Vec::len), Some(2), "{name}");
        }
        assert_eq!(data["heat"], json!([[], []]));
        assert_eq!(data["offered"], json!([null, null]));
        assert_eq!(read(&nothing())["at"], json!([]));
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
        let one = read(&of_row(&rows[0], false, &[], &Observations::default()));
        assert_eq!(one["row"]["failures"], json!({ "timeout": 3 }));
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
        let data = read(&of_row(&row(0, 10), true, &[], &Observations::default()));
        let names: Vec<&String> = data["row"].as_object().expect("an object").keys().collect();
        assert_eq!(names.len(), COLUMNS.len() + 2);
        assert_eq!(data["row"]["completed"], json!(7));
        assert_eq!(data["is_script"], json!(true));
    }
}
