//! `DayOfWeek` and `Month`: enums with names and numbers.
//!
//! Must not know times. Invariant: two with the same number are equal.
// tidy: table

use std::cmp::Ordering;

use super::super::super::table::{Table, row};
use super::super::super::thrown::Thrown;
use super::super::super::value::{Object, Outcome, Value};
use super::super::long_of;

const WEEKDAYS: [&str; 7] = [
    "MONDAY",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
    "SUNDAY",
];

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

/// A day of the week or a month: its index in the enum, from 0.
struct Name {
    of: &'static [&'static str],
    place: usize,
}

impl Name {
    fn text(&self) -> &'static str {
        self.of[self.place]
    }

    fn later(&self, by: i64) -> Value {
        let count = self.of.len() as i64;
        numbered(
            self.of,
            (self.place as i64).saturating_add(by).rem_euclid(count) + 1,
        )
    }
}

fn numbered(of: &'static [&'static str], number: i64) -> Value {
    let place = usize::try_from(number - 1).unwrap_or(0).min(of.len() - 1);
    Value::object(Name { of, place })
}

/// A day of the week by its number; 1 is Monday.
pub(super) fn weekday(number: i64) -> Value {
    numbered(&WEEKDAYS, number)
}

/// A month by its number.
pub(super) fn month(number: i64) -> Value {
    numbered(&MONTHS, number)
}

/// The number of a day or a month; `None`: neither of them.
pub(super) fn number_of(value: &Value) -> Option<i64> {
    value.of::<Name>().map(|name| name.place as i64 + 1)
}

fn name(this: &Value) -> Outcome<&Name> {
    this.of::<Name>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

pub(in super::super) static NAME: Table = Table::new(&[
    row("getValue", 0, 0, |_, this, _| {
        Ok(Value::whole(name(this)?.place as i64 + 1))
    }),
    row("ordinal", 0, 0, |_, this, _| {
        Ok(Value::whole(name(this)?.place as i64))
    }),
    row("name", 0, 0, |_, this, _| {
        Ok(Value::text(name(this)?.text()))
    }),
    row("plus", 1, 1, |_, this, given| {
        Ok(name(this)?.later(long_of(given, 0)?))
    }),
    row("minus", 1, 1, |_, this, given| {
        Ok(name(this)?.later(-long_of(given, 0)?))
    }),
]);

impl Object for Name {
    fn class(&self) -> &'static str {
        match self.of.len() {
            7 => "java.time.DayOfWeek",
            _ => "java.time.Month",
        }
    }

    fn methods(&self) -> &'static Table {
        &NAME
    }

    fn text(&self) -> String {
        Name::text(self).to_owned()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other.any().downcast_ref::<Name>()?;
        (self.of.len() == other.of.len()).then(|| self.place.cmp(&other.place))
    }
}

pub(super) static DAYS: Table = Table::new(&[
    row("MONDAY", 0, 0, |_, _, _| Ok(weekday(1))),
    row("TUESDAY", 0, 0, |_, _, _| Ok(weekday(2))),
    row("WEDNESDAY", 0, 0, |_, _, _| Ok(weekday(3))),
    row("THURSDAY", 0, 0, |_, _, _| Ok(weekday(4))),
    row("FRIDAY", 0, 0, |_, _, _| Ok(weekday(5))),
    row("SATURDAY", 0, 0, |_, _, _| Ok(weekday(6))),
    row("SUNDAY", 0, 0, |_, _, _| Ok(weekday(7))),
    row("of", 1, 1, |_, _, given| Ok(weekday(long_of(given, 0)?))),
]);

pub(super) static MONTH_NAMES: Table = Table::new(&[
    row("JANUARY", 0, 0, |_, _, _| Ok(month(1))),
    row("FEBRUARY", 0, 0, |_, _, _| Ok(month(2))),
    row("MARCH", 0, 0, |_, _, _| Ok(month(3))),
    row("APRIL", 0, 0, |_, _, _| Ok(month(4))),
    row("MAY", 0, 0, |_, _, _| Ok(month(5))),
    row("JUNE", 0, 0, |_, _, _| Ok(month(6))),
    row("JULY", 0, 0, |_, _, _| Ok(month(7))),
    row("AUGUST", 0, 0, |_, _, _| Ok(month(8))),
    row("SEPTEMBER", 0, 0, |_, _, _| Ok(month(9))),
    row("OCTOBER", 0, 0, |_, _, _| Ok(month(10))),
    row("NOVEMBER", 0, 0, |_, _, _| Ok(month(11))),
    row("DECEMBER", 0, 0, |_, _, _| Ok(month(12))),
    row("of", 1, 1, |_, _, given| Ok(month(long_of(given, 0)?))),
]);
