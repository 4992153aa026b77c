//! What charts are drawn of: a run's rows as columns, in JSON.
//!
//! Numbers are whole and exact: counts of a row, nanoseconds, bytes; the charts divide. Must not know
//! how they are drawn. Invariant: all columns are of one length, and that of time ascends.

use std::borrow::Cow;
use std::fmt::Write as _;

use loadline_model::RunResult;
use loadline_model::event::Mark;
use loadline_model::result::{Percentiles, Row};
use loadline_model::rows::joined;
use serde_json::{Value, json};

/// A last row shorter than this part of the one before it is no row of its own: a rate over a moment
/// means nothing.
const LAST_PART: u64 = 10;

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
    let rows = &*charted(&result.series);
    let head = json!({
        "began": result.totals.started_unix_ms,
        "warm_up": warm_up_ns(rows),
        "cores": result.environment.cores,
        "marks": result.events.iter().map(mark).collect::<Vec<_>>(),
    });
    whole(&head, rows)
}

/// The same of a run of which nothing is known yet.
pub(super) fn nothing() -> String {
    whole(
        &json!({ "began": 0, "warm_up": 0, "cores": 0, "marks": [] }),
        &[],
    )
}

/// One row, by the names of the columns.
pub(super) fn of_row(row: &Row, marks: &[Mark]) -> String {
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
    json!({
        "row": values,
        "is_warm_up": row.warm_up,
        "marks": marks.iter().map(mark).collect::<Vec<_>>(),
    })
    .to_string()
}

fn mark(mark: &Mark) -> Value {
    json!({ "at": mark.at_ns, "kind": mark.kind, "text": mark.text })
}

/// The rows, a last one of a moment joined to the one before: workers tell the end of a run there.
fn charted(rows: &[Row]) -> Cow<'_, [Row]> {
    match rows {
        [before @ .., previous, last] if last.span_ns < previous.span_ns / LAST_PART => {
            let end = Row {
                active_vus: previous.active_vus,
                ..joined(previous, last)
            };
            Cow::Owned([before, &[end]].concat())
        }
        all => Cow::Borrowed(all),
    }
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
    out.push('}');
    out
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
    fn one_row_has_the_same_names() {
        let data = read(&of_row(&row(0, 10), &[]));
        let names: Vec<&String> = data["row"].as_object().expect("an object").keys().collect();
        assert_eq!(names.len(), COLUMNS.len() + 1);
        assert_eq!(data["row"]["completed"], json!(7));
    }

    #[test]
    fn a_moment_at_the_end_is_no_row_of_its_own() {
        let joined = charted(&[row(0, 100), row(100, 9)]).into_owned();
        let told: Vec<_> = joined
            .iter()
            .map(|row| (row.span_ns, row.completed))
            .collect();
        assert_eq!(told, [(109, 14)]);
        assert_eq!(charted(&[row(0, 100), row(100, 10)]).len(), 2);
        assert_eq!(charted(&[row(0, 1)]).len(), 1);
        assert!(charted(&[]).is_empty());
    }
}
