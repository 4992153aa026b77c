//! `Duration` and `ChronoUnit`: the time between two times.
//!
//! Must not know clocks. Invariant: a span is a whole number of milliseconds.
// tidy: table

use std::cmp::Ordering;

use super::super::super::table::{Table, row};
use super::super::super::value::{Object, Outcome, Value};
use super::super::long_of;
use super::{DAY_MS, Kind, NANOS_OF_MS, Time, time, unix_ms};

/// `Duration`, in milliseconds.
pub(super) struct Span(pub(super) i64);

/// The milliseconds of a unit by its name; `None`: its length varies.
pub(super) fn unit_ms(unit: &str) -> Option<i64> {
    Some(match unit.to_uppercase().as_str() {
        "WEEKS" => 7 * DAY_MS,
        "DAYS" => DAY_MS,
        "HOURS" => 3_600_000,
        "MINUTES" => 60_000,
        "SECONDS" => 1000,
        "MILLIS" => 1,
        _ => return None,
    })
}

/// The number of whole units between two times.
pub(super) fn between(from: &Value, to: &Value, unit: &str) -> Outcome {
    let (from, to) = (time(from)?, time(to)?);
    let elapsed_ms = unix_ms(to) - unix_ms(from);
    // Days are those in the calendar of the first one.
    let to = match from.place {
        Some(place) => Time::at_instant(unix_ms(to), place, Kind::Zoned),
        None => *to,
    };
    let unit = unit.to_uppercase();
    Ok(Value::Long(match (unit.as_str(), unit_ms(&unit)) {
        ("YEARS", _) => months_between(from, &to) / 12,
        ("MONTHS", _) => months_between(from, &to),
        (_, Some(ms)) if ms >= DAY_MS => (to.local_ms - from.local_ms) / ms,
        (_, Some(ms)) => elapsed_ms / ms,
        (_, None) => elapsed_ms.saturating_mul(NANOS_OF_MS),
    }))
}

/// Whole months, as counted by Java: by the days of the two dates and the times of day.
fn months_between(from: &Time, to: &Time) -> i64 {
    let packed = |time: &Time| {
        let (year, month, day) = time.date();
        let within_ms = (day - 1) * DAY_MS + time.local_ms.rem_euclid(DAY_MS);
        (year * 12 + month) * 32 * DAY_MS + within_ms
    };
    (packed(to) - packed(from)) / (32 * DAY_MS)
}

/// A span in Java's format: `PT1H30M5.5S`.
fn told(ms: i64) -> String {
    let (hours, minutes, rest_ms) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    let mut text = "PT".to_owned();
    if hours != 0 {
        text.push_str(&format!("{hours}H"));
    }
    if minutes != 0 {
        text.push_str(&format!("{minutes}M"));
    }
    if rest_ms != 0 || ms == 0 {
        let sign = if rest_ms < 0 { "-" } else { "" };
        let rest_ms = rest_ms.abs();
        let fraction = format!(".{:03}", rest_ms % 1000);
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
        text.push_str(&format!("{sign}{}{fraction}S", rest_ms / 1000));
    }
    text
}

fn ms_of(this: &Value) -> i64 {
    this.of::<Span>().map_or(0, |span| span.0)
}

fn whole(this: &Value, unit_ms: i64) -> Outcome {
    Ok(Value::Long(ms_of(this) / unit_ms))
}

fn longer(this: &Value, given: &[Value], unit_ms: i64) -> Outcome {
    let by_ms = match given[0].of::<Span>() {
        Some(span) => span.0.saturating_mul(unit_ms.signum()),
        None => long_of(given, 0)?.saturating_mul(unit_ms),
    };
    Ok(Value::object(Span(ms_of(this).saturating_add(by_ms))))
}

pub(in super::super) static SPAN: Table = Table::new(&[
    row("toMillis", 0, 0, |_, this, _| whole(this, 1)),
    row("getSeconds", 0, 0, |_, this, _| {
        Ok(Value::Long(ms_of(this).div_euclid(1000)))
    }),
    row("toSeconds", 0, 0, |_, this, _| {
        Ok(Value::Long(ms_of(this).div_euclid(1000)))
    }),
    row("toMinutes", 0, 0, |_, this, _| whole(this, 60_000)),
    row("toHours", 0, 0, |_, this, _| whole(this, 3_600_000)),
    row("toDays", 0, 0, |_, this, _| whole(this, DAY_MS)),
    row("plus", 1, 1, |_, this, given| longer(this, given, 1)),
    row("minus", 1, 1, |_, this, given| longer(this, given, -1)),
    row("plusMillis", 1, 1, |_, this, given| longer(this, given, 1)),
    row("plusSeconds", 1, 1, |_, this, given| {
        longer(this, given, 1000)
    }),
    row("plusMinutes", 1, 1, |_, this, given| {
        longer(this, given, 60_000)
    }),
    row("plusHours", 1, 1, |_, this, given| {
        longer(this, given, 3_600_000)
    }),
    row("plusDays", 1, 1, |_, this, given| {
        longer(this, given, DAY_MS)
    }),
    row("isNegative", 0, 0, |_, this, _| {
        Ok(Value::Truth(ms_of(this) < 0))
    }),
    row("isZero", 0, 0, |_, this, _| {
        Ok(Value::Truth(ms_of(this) == 0))
    }),
    row("abs", 0, 0, |_, this, _| {
        Ok(Value::object(Span(ms_of(this).saturating_abs())))
    }),
]);

impl Object for Span {
    fn class(&self) -> &'static str {
        "java.time.Duration"
    }

    fn methods(&self) -> &'static Table {
        &SPAN
    }

    fn text(&self) -> String {
        told(self.0)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other.any().downcast_ref::<Span>()?;
        Some(self.0.cmp(&other.0))
    }
}

pub(super) static SPANS: Table = Table::new(&[
    row("between", 2, 2, |_, _, given| {
        let (from, to) = (time(&given[0])?, time(&given[1])?);
        Ok(Value::object(Span(unix_ms(to) - unix_ms(from))))
    }),
    row("ofMillis", 1, 1, |_, _, given| {
        Ok(Value::object(Span(long_of(given, 0)?)))
    }),
    row("ofSeconds", 1, 1, |_, _, given| {
        Ok(Value::object(Span(long_of(given, 0)?.saturating_mul(1000))))
    }),
    row("ofMinutes", 1, 1, |_, _, given| {
        Ok(Value::object(Span(
            long_of(given, 0)?.saturating_mul(60_000),
        )))
    }),
    row("ofHours", 1, 1, |_, _, given| {
        Ok(Value::object(Span(
            long_of(given, 0)?.saturating_mul(3_600_000),
        )))
    }),
    row("ofDays", 1, 1, |_, _, given| {
        Ok(Value::object(Span(
            long_of(given, 0)?.saturating_mul(DAY_MS),
        )))
    }),
]);

/// A unit, represented by its name.
struct Unit(&'static str);

pub(in super::super) static UNIT: Table = Table::new(&[row("between", 2, 2, |_, this, given| {
    between(
        &given[0],
        &given[1],
        this.of::<Unit>().map_or("", |unit| unit.0),
    )
})]);

impl Object for Unit {
    fn class(&self) -> &'static str {
        "java.time.temporal.ChronoUnit"
    }

    fn methods(&self) -> &'static Table {
        &UNIT
    }

    fn text(&self) -> String {
        self.0.to_owned()
    }
}

pub(super) static UNITS: Table = Table::new(&[
    row("DAYS", 0, 0, |_, _, _| Ok(Value::object(Unit("DAYS")))),
    row("YEARS", 0, 0, |_, _, _| Ok(Value::object(Unit("YEARS")))),
    row("MONTHS", 0, 0, |_, _, _| Ok(Value::object(Unit("MONTHS")))),
    row("WEEKS", 0, 0, |_, _, _| Ok(Value::object(Unit("WEEKS")))),
    row("HOURS", 0, 0, |_, _, _| Ok(Value::object(Unit("HOURS")))),
    row("MINUTES", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("MINUTES")))
    }),
    row("SECONDS", 0, 0, |_, _, _| {
        Ok(Value::object(Unit("SECONDS")))
    }),
    row("MILLIS", 0, 0, |_, _, _| Ok(Value::object(Unit("MILLIS")))),
]);
