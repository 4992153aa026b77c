//! Time spans that `TimeCategory` creates from numbers: `3.days`, `1.month.ago`.
//!
//! Must not know clocks. Invariant: a span consists of months and milliseconds, which are not converted to each
//! other.

use super::super::number;
use super::super::table::{Table, row};
use super::super::value::{Object, Value};

/// A span of time.
pub(super) struct Duration {
    pub(super) months: i64,
    pub(super) ms: i64,
}

pub(super) fn duration(count: &Value, ms: i64) -> Value {
    let count = number::long_of(count).unwrap_or(0);
    Value::object(Duration {
        months: 0,
        ms: count.saturating_mul(ms),
    })
}

pub(super) fn months(count: &Value, months: i64) -> Value {
    let count = number::long_of(count).unwrap_or(0);
    Value::object(Duration {
        months: count.saturating_mul(months),
        ms: 0,
    })
}

fn shifted(machine: &mut dyn super::Machine, this: &Value, sign: i64) -> super::Outcome {
    let now = super::construct(machine, "java.util.Date", &[])?;
    match this.of::<Duration>() {
        Some(span) => Ok(super::dates::shifted(
            machine,
            &now,
            span.months * sign,
            span.ms * sign,
        )),
        None => Ok(now),
    }
}

pub(super) static DURATION: Table = Table::new(&[
    row("getAgo", 0, 0, |machine, this, _| {
        shifted(machine, this, -1)
    }),
    row("getFrom", 0, 0, |_, this, _| Ok(this.clone())),
    row("getNow", 0, 0, |machine, this, _| shifted(machine, this, 1)),
    row("toMilliseconds", 0, 0, |_, this, _| {
        Ok(Value::Long(this.of::<Duration>().map_or(0, |span| span.ms)))
    }),
    row("plus", 1, 1, |machine, this, given| {
        let Some(span) = this.of::<Duration>() else {
            return Ok(Value::Null);
        };
        match given[0].of::<Duration>() {
            Some(other) => Ok(Value::object(Duration {
                months: span.months + other.months,
                ms: span.ms + other.ms,
            })),
            None => Ok(super::dates::shifted(
                machine,
                &given[0],
                span.months,
                span.ms,
            )),
        }
    }),
]);

impl Object for Duration {
    fn class(&self) -> &'static str {
        "groovy.time.Duration"
    }

    fn methods(&self) -> &'static Table {
        &DURATION
    }
}
