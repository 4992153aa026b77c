//! Time spans of `TimeCategory`: `3.days`, `1.month.ago`, the difference of two dates.
//!
//! Must not know clocks. Invariant: a span keeps the units that it was made of.

use super::super::number;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Object, Outcome, Value};
use super::Class;

/// Places of the units in a span.
pub(super) const YEARS: usize = 0;
pub(super) const MONTHS: usize = 1;
pub(super) const DAYS: usize = 2;
pub(super) const HOURS: usize = 3;
pub(super) const MINUTES: usize = 4;
pub(super) const SECONDS: usize = 5;
pub(super) const MILLIS: usize = 6;

/// Names of the units before the seconds.
const NAMES: [&str; SECONDS] = ["years", "months", "days", "hours", "minutes"];
/// Milliseconds of the units from days on.
const UNITS_MS: [i64; 5] = [86_400_000, 3_600_000, 60_000, 1_000, 1];

/// A span of time: its count of each unit.
#[derive(Clone, Copy, Default)]
pub(super) struct Duration([i64; 7]);

impl Duration {
    /// Whole months, which have no length in milliseconds.
    pub(super) fn months(&self) -> i64 {
        self.0[YEARS]
            .saturating_mul(12)
            .saturating_add(self.0[MONTHS])
    }

    /// Milliseconds of the units from days on.
    pub(super) fn ms(&self) -> i64 {
        let counts = self.0[DAYS..].iter().zip(UNITS_MS);
        counts.fold(0, |sum: i64, (count, unit_ms)| {
            sum.saturating_add(count.saturating_mul(unit_ms))
        })
    }

    fn plus(&self, other: &Duration, sign: i64) -> Duration {
        let mut sum = *self;
        for (one, other) in sum.0.iter_mut().zip(other.0) {
            *one = one.saturating_add(other.saturating_mul(sign));
        }
        sum
    }
}

/// A span of one unit.
pub(super) fn duration(count: &Value, unit: usize, each: i64) -> Value {
    let count = number::long_of(count).unwrap_or(0);
    let mut span = Duration::default();
    span.0[unit] = count.saturating_mul(each);
    Value::object(span)
}

/// The span between two instants, from days on.
pub(super) fn between(ms: i64) -> Value {
    let mut span = Duration::default();
    let mut rest = ms;
    for (count, unit_ms) in span.0[DAYS..].iter_mut().zip(UNITS_MS) {
        *count = rest / unit_ms;
        rest %= unit_ms;
    }
    Value::object(span)
}

fn own(this: &Value) -> Outcome<Duration> {
    let span = this.of::<Duration>().copied();
    span.ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

fn count(this: &Value, unit: usize) -> Outcome {
    own(this).map(|span| Value::whole(span.0[unit]))
}

fn shifted(machine: &mut dyn super::Machine, this: &Value, sign: i64) -> Outcome {
    let now = super::construct(machine, "java.util.Date", &[])?;
    let span = own(this)?;
    Ok(super::dates::shifted(
        machine,
        &now,
        span.months() * sign,
        span.ms() * sign,
    ))
}

pub(super) static DURATION: Table = Table::new(&[
    row("getAgo", 0, 0, |machine, this, _| {
        shifted(machine, this, -1)
    }),
    row("getFrom", 0, 0, |_, this, _| Ok(this.clone())),
    row("getNow", 0, 0, |machine, this, _| shifted(machine, this, 1)),
    row("getYears", 0, 0, |_, this, _| count(this, YEARS)),
    row("getMonths", 0, 0, |_, this, _| count(this, MONTHS)),
    row("getDays", 0, 0, |_, this, _| count(this, DAYS)),
    row("getHours", 0, 0, |_, this, _| count(this, HOURS)),
    row("getMinutes", 0, 0, |_, this, _| count(this, MINUTES)),
    row("getSeconds", 0, 0, |_, this, _| count(this, SECONDS)),
    row("getMillis", 0, 0, |_, this, _| count(this, MILLIS)),
    row("toMilliseconds", 0, 0, |_, this, _| {
        own(this).map(|span| Value::Long(span.ms()))
    }),
    row("plus", 1, 1, |machine, this, given| {
        let span = own(this)?;
        match given[0].of::<Duration>() {
            Some(other) => Ok(Value::object(span.plus(other, 1))),
            None => Ok(super::dates::shifted(
                machine,
                &given[0],
                span.months(),
                span.ms(),
            )),
        }
    }),
    row("minus", 1, 1, |_, this, given| {
        Ok(Value::object(own(this)?.plus(&own(&given[0])?, -1)))
    }),
]);

static CATEGORY: Table = Table::new(&[row("minus", 2, 2, |_, _, given| {
    super::dates::between(&given[0], &given[1])
        .ok_or_else(|| super::missing(&given[0], "minus", &given[1..]))
})]);

pub(super) const CLASSES: &[Class] = &[Class {
    name: "groovy.time.TimeCategory",
    statics: &CATEGORY,
}];

impl Object for Duration {
    fn class(&self) -> &'static str {
        match self.months() {
            0 => "groovy.time.TimeDuration",
            _ => "groovy.time.DatumDependentDuration",
        }
    }

    fn methods(&self) -> &'static Table {
        &DURATION
    }

    fn text(&self) -> String {
        let counts = NAMES.iter().zip(self.0);
        let mut parts: Vec<String> = counts
            .filter(|(_, count)| *count != 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        let (seconds, millis) = (self.0[SECONDS], self.0[MILLIS]);
        if seconds != 0 || millis != 0 {
            let rest = millis % 1000;
            let whole = seconds.saturating_add(millis / 1000);
            let sign = if whole == 0 && rest < 0 { "-" } else { "" };
            parts.push(format!("{sign}{whole}.{:03} seconds", rest.abs()));
        }
        match parts.is_empty() {
            true => "0".to_owned(),
            false => parts.join(", "),
        }
    }
}
