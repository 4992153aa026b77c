//! Instants that an expression of cron names, in a time zone.
//!
//! Five fields as in cron(8): minute, hour, day of the month, month, day of the week; if both days are restricted,
//! either is enough. A local time that a clock change skips does not occur; one that occurs twice counts twice if the
//! hour field begins with `*`, otherwise only the first time. Must not know a clock. Invariant: an instant is a whole
//! minute, and there is none between it and the previous one.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::civil::Date;
use k8s_openapi::jiff::tz::{AmbiguousOffset, TimeZone};

/// Maximum days that are searched: a 29 February comes after eight years at the latest.
const DAYS_MAX: usize = 9 * 366;
const MONTHS: &[&str] = &[
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: Set,
    hours: Set,
    days: Set,
    months: Set,
    weekdays: Set,
}

/// The values that a field allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Set {
    /// One bit for each value.
    bits: u64,
    /// Whether it begins with `*`.
    is_any: bool,
}

/// A field: its name, its minimum and maximum, and the names of values from the minimum on.
struct Field(&'static str, u8, u8, &'static [&'static str]);

impl Cron {
    /// Parses an expression.
    ///
    /// # Errors
    /// It is invalid; says why.
    pub fn parse(text: &str) -> Result<Cron, String> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(format!(
                "{text:?} has {} fields; five are required: minute, hour, day, month, day of the week",
                fields.len()
            ));
        };
        let mut weekdays = set(weekdays, &Field("day of the week", 0, 7, WEEKDAYS))?;
        // Sunday is 0 and 7.
        weekdays.bits |= weekdays.bits >> 7 & 1;
        Ok(Cron {
            minutes: set(minutes, &Field("minute", 0, 59, &[]))?,
            hours: set(hours, &Field("hour", 0, 23, &[]))?,
            days: set(days, &Field("day", 1, 31, &[]))?,
            months: set(months, &Field("month", 1, 12, MONTHS))?,
            weekdays,
        })
    }

    /// The first matching instant after another; `None`: there is none.
    #[must_use]
    pub fn next(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        let mut date = zone.to_datetime(after).date();
        for _ in 0..DAYS_MAX {
            let tomorrow = date.tomorrow().ok()?;
            // If clocks go back over midnight, two days overlap.
            let both = [date, tomorrow].map(|date| self.of_day(zone, date));
            let later = both.concat().into_iter().filter(|at| *at > after).min();
            if later.is_some() {
                return later;
            }
            date = tomorrow;
        }
        None
    }

    /// The last matching instant after `after` and not after `until`; `None`: there is none.
    #[must_use]
    pub fn last(&self, zone: &TimeZone, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let mut date = zone.to_datetime(until).date();
        let first = zone.to_datetime(after).date().yesterday().ok()?;
        for _ in 0..DAYS_MAX {
            let yesterday = date.yesterday().ok()?;
            let both = [yesterday, date].map(|date| self.of_day(zone, date));
            let all = both.concat().into_iter();
            let sooner = all.filter(|at| *at > after && *at <= until).max();
            if sooner.is_some() || date < first {
                return sooner;
            }
            date = yesterday;
        }
        None
    }

    /// The instants of a day.
    fn of_day(&self, zone: &TimeZone, date: Date) -> Vec<Timestamp> {
        let mut all = Vec::new();
        if !self.has_day(date) {
            return all;
        }
        for hour in (0..24).filter(|hour| self.hours.has(*hour)) {
            for minute in (0..60).filter(|minute| self.minutes.has(*minute)) {
                let local = date.at(hour, minute, 0, 0);
                let offsets = match zone.to_ambiguous_timestamp(local).offset() {
                    AmbiguousOffset::Unambiguous { offset } => [Some(offset), None],
                    AmbiguousOffset::Gap { .. } => [None, None],
                    AmbiguousOffset::Fold { before, after } => {
                        [Some(before), Some(after).filter(|_| self.hours.is_any)]
                    }
                };
                let at = offsets.into_iter().flatten();
                all.extend(at.filter_map(|offset| offset.to_timestamp(local).ok()));
            }
        }
        all
    }

    fn has_day(&self, date: Date) -> bool {
        let day = self.days.has(date.day());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let is_one = match self.days.is_any || self.weekdays.is_any {
            true => day && weekday,
            false => day || weekday,
        };
        self.months.has(date.month()) && is_one
    }
}

impl Set {
    fn has(self, value: i8) -> bool {
        self.bits >> value & 1 == 1
    }
}

fn set(text: &str, field: &Field) -> Result<Set, String> {
    let mut bits = 0;
    for part in text.split(',') {
        for value in values(part, field)? {
            bits |= 1 << value;
        }
    }
    Ok(Set {
        bits,
        is_any: text.starts_with('*'),
    })
}

/// The values of one part: `*`, a value or a range, and perhaps a step.
fn values(part: &str, field: &Field) -> Result<impl Iterator<Item = u8> + use<>, String> {
    let Field(name, least, greatest, _) = *field;
    let (range, step) = part
        .split_once('/')
        .map_or((part, None), |(range, step)| (range, Some(step)));
    let no_step = || format!("{name}: {part:?} has no step of 1 or more");
    let width = match step {
        None => 1,
        Some(step) => number(step).filter(|step| *step > 0).ok_or_else(no_step)?,
    };
    let (first, last) = match (range, range.split_once('-')) {
        ("*", _) => (least, greatest),
        (_, Some((first, last))) => (value(first, field)?, value(last, field)?),
        // A value with a step continues to the end.
        (first, None) if step.is_some() => (value(first, field)?, greatest),
        (only, None) => (value(only, field)?, value(only, field)?),
    };
    if first > last {
        return Err(format!("{name}: {part:?} ends before it begins"));
    }
    Ok((first..=last).step_by(usize::from(width)))
}

fn value(text: &str, field: &Field) -> Result<u8, String> {
    let Field(name, least, greatest, names) = *field;
    let named = names
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text));
    let named = named
        .and_then(|at| u8::try_from(at).ok())
        .map(|at| at + least);
    let value = named.or_else(|| number(text));
    value
        .filter(|value| (least..=greatest).contains(value))
        .ok_or_else(|| format!("{name}: {text:?} is not between {least} and {greatest}"))
}

/// Digits only, without a sign.
fn number(text: &str) -> Option<u8> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests;
