//! `Duration` and `ChronoUnit`: the time between two times.
//!
//! Must not know clocks. Invariant: a span is a whole number of nanoseconds.
// tidy: table

use std::cmp::Ordering;

use super::super::super::table::{Table, row};
use super::super::super::value::{Object, Outcome, Value};
use super::super::long_of;
use super::{DAY_MS, Kind, NANOS_OF_MS, Time, time, unix_ms};

/// `Duration`, in nanoseconds.
pub(super) struct Span(i128);

impl Span {
    fn of_ms(ms: i64) -> Span {
        Span(i128::from(ms) * i128::from(NANOS_OF_MS))
    }

    /// Its whole milliseconds.
    pub(super) fn ms(&self) -> i64 {
        bounded(self.0.div_euclid(i128::from(NANOS_OF_MS)))
    }
}

/// The nearest `long`.
fn bounded(number: i128) -> i64 {
    i64::try_from(number.clamp(i128::from(i64::MIN), i128::from(i64::MAX))).unwrap_or(0)
}

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
fn told(nanos: i128) -> String {
    const SECOND: i128 = 1_000_000_000;
    let (hours, minutes) = (nanos / (3600 * SECOND), nanos / (60 * SECOND) % 60);
    let rest = nanos % (60 * SECOND);
    let mut text = "PT".to_owned();
    if hours != 0 {
        text.push_str(&format!("{hours}H"));
    }
    if minutes != 0 {
        text.push_str(&format!("{minutes}M"));
    }
    if rest != 0 || nanos == 0 {
        let sign = if rest < 0 { "-" } else { "" };
        let rest = rest.abs();
        let fraction = format!(".{:09}", rest % SECOND);
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
        text.push_str(&format!("{sign}{}{fraction}S", rest / SECOND));
    }
    text
}

fn nanos_of(this: &Value) -> i128 {
    this.of::<Span>().map_or(0, |span| span.0)
}

fn ms_of(this: &Value) -> i64 {
    this.of::<Span>().map_or(0, Span::ms)
}

fn whole(this: &Value, unit_ms: i64) -> Outcome {
    let unit = i128::from(unit_ms) * i128::from(NANOS_OF_MS);
    Ok(Value::Long(bounded(nanos_of(this) / unit)))
}

/// What remains of a unit beyond the next longer one, which has so many of it.
fn part(this: &Value, unit_ms: i64, count: i128) -> Outcome {
    let unit = i128::from(unit_ms) * i128::from(NANOS_OF_MS);
    let part = (nanos_of(this) / unit) % count;
    Ok(Value::Int(i32::try_from(part).unwrap_or(0)))
}

fn longer(this: &Value, given: &[Value], unit_ms: i64) -> Outcome {
    longer_by(this, given, i128::from(unit_ms) * i128::from(NANOS_OF_MS))
}

/// The sum with another span, or with a number of units in nanoseconds; a negative unit is taken off.
fn longer_by(this: &Value, given: &[Value], unit: i128) -> Outcome {
    let by = match given[0].of::<Span>() {
        Some(span) => span.0 * unit.signum(),
        None => i128::from(long_of(given, 0)?) * unit,
    };
    Ok(Value::object(Span(nanos_of(this) + by)))
}

/// A span of so many milliseconds, or multiples of them.
fn made(given: &[Value], unit_ms: i64) -> Outcome {
    let ms = long_of(given, 0)?.saturating_mul(unit_ms);
    Ok(Value::object(Span::of_ms(ms)))
}

pub(in super::super) static SPAN: Table = Table::new(&[
    row("toMillis", 0, 0, |_, this, _| Ok(Value::Long(ms_of(this)))),
    row("toNanos", 0, 0, |_, this, _| {
        Ok(Value::Long(bounded(nanos_of(this))))
    }),
    row("getNano", 0, 0, |_, this, _| {
        let nanos = nanos_of(this).rem_euclid(1_000_000_000);
        Ok(Value::Int(i32::try_from(nanos).unwrap_or(0)))
    }),
    row("plusNanos", 1, 1, |_, this, given| {
        longer_by(this, given, 1)
    }),
    row("minusMillis", 1, 1, |_, this, given| {
        longer(this, given, -1)
    }),
    row("minusSeconds", 1, 1, |_, this, given| {
        longer(this, given, -1000)
    }),
    row("minusMinutes", 1, 1, |_, this, given| {
        longer(this, given, -60_000)
    }),
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
    row("negated", 0, 0, |_, this, _| {
        Ok(Value::object(Span(-nanos_of(this))))
    }),
    row("multipliedBy", 1, 1, |_, this, given| {
        let by = i128::from(long_of(given, 0)?);
        Ok(Value::object(Span(nanos_of(this).saturating_mul(by))))
    }),
    row("toSecondsPart", 0, 0, |_, this, _| part(this, 1000, 60)),
    row("toMinutesPart", 0, 0, |_, this, _| part(this, 60_000, 60)),
    row("toHoursPart", 0, 0, |_, this, _| part(this, 3_600_000, 24)),
    row("toMillisPart", 0, 0, |_, this, _| part(this, 1, 1000)),
    row("isNegative", 0, 0, |_, this, _| {
        Ok(Value::Truth(nanos_of(this) < 0))
    }),
    row("isZero", 0, 0, |_, this, _| {
        Ok(Value::Truth(nanos_of(this) == 0))
    }),
    row("abs", 0, 0, |_, this, _| {
        Ok(Value::object(Span(nanos_of(this).abs())))
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
    row("ZERO", 0, 0, |_, _, _| Ok(Value::object(Span(0)))),
    row("between", 2, 2, |_, _, given| {
        let (from, to) = (time(&given[0])?, time(&given[1])?);
        Ok(Value::object(Span::of_ms(unix_ms(to) - unix_ms(from))))
    }),
    row("ofNanos", 1, 1, |_, _, given| {
        Ok(Value::object(Span(i128::from(long_of(given, 0)?))))
    }),
    row("ofMillis", 1, 1, |_, _, given| made(given, 1)),
    row("ofSeconds", 1, 1, |_, _, given| made(given, 1000)),
    row("ofMinutes", 1, 1, |_, _, given| made(given, 60_000)),
    row("ofHours", 1, 1, |_, _, given| made(given, 3_600_000)),
    row("ofDays", 1, 1, |_, _, given| made(given, DAY_MS)),
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
