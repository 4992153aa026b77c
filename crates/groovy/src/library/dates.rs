//! `Date`, `SimpleDateFormat`, `Calendar`, `TimeZone` and `Locale`.
//!
//! Must not know clocks. Invariant: a date is an instant; a zone is only needed for its fields.
// tidy: table

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

use loadline_java::date_format::{Moment, Pattern, date_of, day_number};
use loadline_java::zone;

use super::super::number;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{int_of, long_of, text_of};

const DAY_MS: i64 = 86_400_000;

/// `java.util.Date`.
pub(super) struct Date(pub(super) Cell<i64>, i32);

/// `TimeZone`: a known one, or that of this machine.
struct Zone(Option<Away>, String);

/// The offset of a zone from UTC.
#[derive(Clone, Copy)]
enum Away {
    /// Constant, in seconds.
    Fixed(i32),
    /// According to the rules of a named zone.
    Named(zone::Zone),
}

/// `SimpleDateFormat`.
struct Format {
    pattern: RefCell<String>,
    zone: Cell<Option<Away>>,
    is_lenient: Cell<bool>,
}

/// `Calendar`.
struct Calendar {
    ms: Cell<i64>,
    zone: Cell<Option<Away>>,
}

/// `Locale`.
struct Locale(String);

fn date(machine: &mut dyn Machine, ms: i64) -> Value {
    let offset_s = machine.host().utc_offset_s(ms);
    Value::object(Date(Cell::new(ms), offset_s))
}

fn ms_of(value: &Value) -> Option<i64> {
    if let Some(date) = value.of::<Date>() {
        return Some(date.0.get());
    }
    if let Some(calendar) = value.of::<Calendar>() {
        return Some(calendar.ms.get());
    }
    number::long_of(value)
}

/// Milliseconds since 1970 of anything that `%t` takes.
pub(super) fn instant_of(value: &Value) -> Option<i64> {
    match value {
        Value::Long(ms) => Some(*ms),
        Value::Object(_) => ms_of(value).or_else(|| super::times::unix_ms_of(value).ok()),
        _ => None,
    }
}

/// A date, a calendar, milliseconds or a time in a pattern; `None`: none of them.
pub(super) fn told_of(
    machine: &mut dyn Machine,
    value: &Value,
    pattern: &str,
) -> Outcome<Option<String>> {
    if value.of::<Date>().is_some()
        || value.of::<Calendar>().is_some()
        || matches!(value, Value::Long(_))
    {
        let zone = value.of::<Calendar>().and_then(|one| one.zone.get());
        let ms = wanted_ms(value)?;
        return formatted_in(machine, pattern, ms, zone).map(Some);
    }
    super::times::told_in(value, pattern)
}

/// The span between two dates as `TimeCategory` tells it; `None`: one is no date.
pub(crate) fn between(one: &Value, other: &Value) -> Option<Value> {
    let ms = |value: &Value| value.of::<Date>().map(|date| date.0.get());
    Some(super::units::between(ms(one)?.saturating_sub(ms(other)?)))
}

fn wanted_ms(value: &Value) -> Outcome<i64> {
    ms_of(value).ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

/// A date shifted by months and milliseconds.
pub(super) fn shifted(machine: &mut dyn Machine, value: &Value, months: i64, ms: i64) -> Value {
    let from = ms_of(value).unwrap_or(0);
    let moved = match months {
        0 => from,
        months => {
            let offset_ms = i64::from(machine.host().utc_offset_s(from)) * 1000;
            later_by_months(from + offset_ms, months) - offset_ms
        }
    };
    date(machine, moved.saturating_add(ms))
}

fn later_by_months(local_ms: i64, months: i64) -> i64 {
    let day = local_ms.div_euclid(DAY_MS);
    let (year, month, of_month) = date_of(day);
    let count = (year * 12 + month - 1).saturating_add(months);
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    let moved = day_number(year, month, of_month).unwrap_or(day);
    moved * DAY_MS + local_ms.rem_euclid(DAY_MS)
}

/// The JSON of a date; `None`: not a date.
pub(super) fn json_text(value: &Value) -> Option<String> {
    let date = value.of::<Date>()?;
    let pattern = Pattern::new("yyyy-MM-dd'T'HH:mm:ssZ").ok()?;
    Some(pattern.format(Moment {
        unix_ms: date.0.get(),
        offset_s: 0,
        zone: None,
    }))
}

fn formatted(pattern: &str, unix_ms: i64, offset_s: i32) -> Outcome<String> {
    let moment = Moment {
        unix_ms,
        offset_s,
        zone: None,
    };
    written(pattern, moment)
}

/// A date formatted in a zone.
fn formatted_in(
    machine: &mut dyn Machine,
    pattern: &str,
    unix_ms: i64,
    zone: Option<Away>,
) -> Outcome<String> {
    let moment = Moment {
        unix_ms,
        offset_s: offset_of(machine, zone, unix_ms),
        zone: match zone {
            Some(Away::Named(zone)) => Some(zone),
            _ => None,
        },
    };
    written(pattern, moment)
}

fn written(pattern: &str, moment: Moment) -> Outcome<String> {
    Ok(simple(pattern)?.format(moment))
}

fn simple(pattern: &str) -> Outcome<Pattern> {
    Pattern::simple(pattern).map_err(Thrown::argument)
}

/// The instant of a local time on this machine.
fn of_local(machine: &mut dyn Machine, local_ms: i64) -> i64 {
    local_ms - i64::from(machine.host().utc_offset_s(local_ms)) * 1000
}

/// Local milliseconds from year, month from 0, day, hour, minute and second, each of which may be beyond its range.
fn local_of(year: i64, given: &[Value]) -> Outcome<i64> {
    let part = |place: usize| match given.len() > place {
        true => long_of(given, place),
        false => Ok(0),
    };
    let month = part(0)?;
    let first = day_number(year + month.div_euclid(12), month.rem_euclid(12) + 1, 1);
    let first = first.ok_or_else(|| Thrown::argument("a year out of range"))?;
    let day_ms = (first + part(1)? - 1).saturating_mul(DAY_MS);
    let seconds = (part(2)? * 60 + part(3)?) * 60 + part(4)?;
    Ok(day_ms.saturating_add(seconds.saturating_mul(1000)))
}

/// Texts that `new Date(text)` reads; the longest first.
const DATE_TEXTS: [&str; 11] = [
    "EEE, d MMM yyyy HH:mm:ss z",
    "EEE MMM d HH:mm:ss z yyyy",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy/MM/dd HH:mm",
    "yyyy/MM/dd",
    "MM/dd/yyyy HH:mm:ss",
    "MM/dd/yyyy",
    "d MMM yyyy HH:mm:ss",
    "d MMM yyyy",
    "MMM d, yyyy HH:mm:ss",
    "MMM d, yyyy",
];

/// `new Date(text)`.
fn of_text(machine: &mut dyn Machine, text: &str) -> Outcome {
    for pattern in DATE_TEXTS {
        if let Ok(date) = read(machine, pattern, text, None, false) {
            return Ok(date);
        }
    }
    Err(Thrown::bare("java.lang.IllegalArgumentException"))
}

/// Java's `Date.toString`.
fn told(ms: i64, offset_s: i32) -> String {
    let zone = match offset_s {
        0 => "'UTC'".to_owned(),
        _ => format!("'GMT'{}", "X".repeat(3)),
    };
    formatted(&format!("EEE MMM dd HH:mm:ss {zone} yyyy"), ms, offset_s).unwrap_or_default()
}

/// Parses a date with a pattern of `SimpleDateFormat`.
fn read(
    machine: &mut dyn Machine,
    pattern: &str,
    text: &str,
    zone: Option<Away>,
    is_lenient: bool,
) -> Outcome {
    let unparseable = || {
        Thrown::of(
            "java.text.ParseException",
            format!("Unparseable date: \"{text}\""),
        )
    };
    let now_ms = machine.host().unix_ms();
    let reading = simple(pattern)?
        .read_simply(text, now_ms, is_lenient)
        .ok_or_else(unparseable)?;
    let local = reading.local_ms;
    let zone = reading.zone.map(Away::Named).or(zone);
    let offset_s = match (reading.offset_s, zone) {
        (Some(offset_s), _) => offset_s,
        (None, Some(Away::Fixed(offset_s))) => i64::from(offset_s),
        (None, Some(Away::Named(zone))) => i64::from(zone.offset_s_at_local(local)),
        (None, None) => i64::from(machine.host().utc_offset_s(local)),
    };
    Ok(date(machine, local - offset_s * 1000))
}

fn offset_of(machine: &mut dyn Machine, zone: Option<Away>, ms: i64) -> i32 {
    match zone {
        Some(Away::Fixed(offset_s)) => offset_s,
        Some(Away::Named(zone)) => zone.offset_s(ms),
        None => machine.host().utc_offset_s(ms),
    }
}

fn zone_of(value: &Value) -> Option<Away> {
    value.of::<Zone>().and_then(|zone| zone.0)
}

/// The offset of a zone by its name; `None`: unknown.
fn named_zone(name: &str) -> Option<Away> {
    let fixed = fixed_zone(name).map(Away::Fixed);
    fixed.or_else(|| zone::Zone::named(name).map(Away::Named))
}

fn fixed_zone(name: &str) -> Option<i32> {
    let rest = name
        .strip_prefix("GMT")
        .or_else(|| name.strip_prefix("UTC"))
        .unwrap_or(name);
    match rest {
        "" | "Z" | "Etc/UTC" | "Etc/GMT" => return Some(0),
        _ => {}
    }
    let (sign, digits) = match rest.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() > 2 => digits.split_at(digits.len() - 2),
        None => (digits, "0"),
    };
    Some(sign * (hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60))
}

fn compare(this: &Value, given: &[Value]) -> Outcome<Ordering> {
    Ok(wanted_ms(this)?.cmp(&wanted_ms(&given[0])?))
}

pub(super) static DATE: Table = Table::new(&[
    row("getTime", 0, 0, |_, this, _| {
        Ok(Value::Long(wanted_ms(this)?))
    }),
    row("setTime", 1, 1, |_, this, given| {
        if let Some(date) = this.of::<Date>() {
            date.0.set(long_of(given, 0)?);
        }
        Ok(Value::Null)
    }),
    row("format", 0, 2, |machine, this, given| {
        let ms = wanted_ms(this)?;
        let pattern = if given.is_empty() {
            "M/d/yy, h:mm a".to_owned()
        } else {
            text_of(given, 0)
        };
        let zone = given.get(1).and_then(zone_of);
        Ok(Value::text(formatted_in(machine, &pattern, ms, zone)?))
    }),
    row(
        "plus",
        1,
        1,
        |machine, this, given| match given[0].of::<super::units::Duration>() {
            Some(span) => Ok(shifted(machine, this, span.months(), span.ms())),
            None => {
                let days = long_of(given, 0)?;
                Ok(shifted(machine, this, 0, days.saturating_mul(DAY_MS)))
            }
        },
    ),
    row(
        "minus",
        1,
        1,
        |machine, this, given| match given[0].of::<super::units::Duration>() {
            Some(span) => Ok(shifted(machine, this, -span.months(), -span.ms())),
            None if given[0].of::<Date>().is_some() => Ok(Value::whole(
                (wanted_ms(this)? - wanted_ms(&given[0])?) / DAY_MS,
            )),
            None => {
                let days = long_of(given, 0)?;
                Ok(shifted(machine, this, 0, days.saturating_mul(-DAY_MS)))
            }
        },
    ),
    row("before", 1, 1, |_, this, given| {
        Ok(Value::Truth(compare(this, given)?.is_lt()))
    }),
    row("after", 1, 1, |_, this, given| {
        Ok(Value::Truth(compare(this, given)?.is_gt()))
    }),
    row("compareTo", 1, 1, |_, this, given| {
        Ok(Value::Int(compare(this, given)? as i32))
    }),
    row("next", 0, 0, |machine, this, _| {
        Ok(shifted(machine, this, 0, DAY_MS))
    }),
    row("previous", 0, 0, |machine, this, _| {
        Ok(shifted(machine, this, 0, -DAY_MS))
    }),
    row("upto", 2, 2, |machine, this, given| {
        day_by_day(machine, this, given, DAY_MS)
    }),
    row("downto", 2, 2, |machine, this, given| {
        day_by_day(machine, this, given, -DAY_MS)
    }),
    row("toGMTString", 0, 0, |machine, this, _| {
        let ms = wanted_ms(this)?;
        let zone = Some(Away::Fixed(0));
        let told = formatted_in(machine, "d MMM yyyy HH:mm:ss 'GMT'", ms, zone)?;
        Ok(Value::text(told))
    }),
    row("clearTime", 0, 0, |machine, this, _| {
        let ms = wanted_ms(this)?;
        let offset_ms = i64::from(machine.host().utc_offset_s(ms)) * 1000;
        let midnight = (ms + offset_ms).div_euclid(DAY_MS) * DAY_MS - offset_ms;
        if let Some(date) = this.of::<Date>() {
            date.0.set(midnight);
        }
        Ok(this.clone())
    }),
    row("toCalendar", 0, 0, |_, this, _| {
        Ok(Value::object(Calendar {
            ms: Cell::new(wanted_ms(this)?),
            zone: Cell::new(None),
        }))
    }),
    row("toInstant", 0, 0, |_, this, _| {
        Ok(super::times::instant(wanted_ms(this)?))
    }),
    row("getYear", 0, 0, |machine, this, _| {
        part(machine, this, 1).map(|one| Value::Int(one - 1900))
    }),
    row("getMonth", 0, 0, |machine, this, _| {
        part(machine, this, 2).map(Value::Int)
    }),
    row("getDate", 0, 0, |machine, this, _| {
        part(machine, this, 5).map(Value::Int)
    }),
    row("getDay", 0, 0, |machine, this, _| {
        part(machine, this, 7).map(|one| Value::Int(one - 1))
    }),
    row("getHours", 0, 0, |machine, this, _| {
        part(machine, this, 11).map(Value::Int)
    }),
    row("getMinutes", 0, 0, |machine, this, _| {
        part(machine, this, 12).map(Value::Int)
    }),
    row("getSeconds", 0, 0, |machine, this, _| {
        part(machine, this, 13).map(Value::Int)
    }),
    row("getAt", 1, 1, |machine, this, given| {
        let field = int_of(given, 0)?;
        part(machine, this, field).map(Value::Int)
    }),
]);

/// Calls a closure with each day from a date to another one.
fn day_by_day(machine: &mut dyn Machine, this: &Value, given: &[Value], step_ms: i64) -> Outcome {
    let (mut ms, to_ms) = (wanted_ms(this)?, wanted_ms(&given[0])?);
    let (from, to) = (print::text(this), print::text(&given[0]));
    let is_beyond = |ms: i64| (to_ms - ms).signum() == -step_ms.signum();
    if is_beyond(ms) {
        let (which, order) = match step_ms > 0 {
            true => ("upto()", "earlier"),
            false => ("downto()", "later"),
        };
        return Err(Thrown::of(
            "groovy.lang.GroovyRuntimeException",
            format!(
                "The argument ({to}) to {which} cannot be {order} than the value ({from}) it's called on."
            ),
        ));
    }
    while !is_beyond(ms) {
        let day = date(machine, ms);
        machine.call(&given[1], vec![day])?;
        ms = ms.saturating_add(step_ms);
    }
    Ok(Value::Null)
}

/// A field of a date or calendar by Java's field number.
fn part(machine: &mut dyn Machine, this: &Value, field: i32) -> Outcome<i32> {
    let ms = wanted_ms(this)?;
    let zone = this
        .of::<Calendar>()
        .and_then(|calendar| calendar.zone.get());
    let local = ms + i64::from(offset_of(machine, zone, ms)) * 1000;
    let day = local.div_euclid(DAY_MS);
    let of_day = local.rem_euclid(DAY_MS);
    let (year, month, of_month) = date_of(day);
    let first = day_number(year, 1, 1).unwrap_or(day);
    let hour = of_day / 3_600_000;
    let weekday = (day + 4).rem_euclid(7);
    let value = match field {
        1 => year,
        2 => month - 1,
        3 => (day - first + (first + 4).rem_euclid(7)) / 7 + 1,
        5 => of_month,
        6 => day - first + 1,
        7 => weekday + 1,
        9 => i64::from(hour >= 12),
        10 => hour % 12,
        11 => hour,
        12 => of_day / 60_000 % 60,
        13 => of_day / 1000 % 60,
        14 => of_day % 1000,
        15 => i64::from(offset_of(machine, zone, ms)) * 1000,
        _ => 0,
    };
    Ok(i32::try_from(value).unwrap_or(0))
}

impl Object for Date {
    fn class(&self) -> &'static str {
        "java.util.Date"
    }

    fn methods(&self) -> &'static Table {
        &DATE
    }

    fn text(&self) -> String {
        told(self.0.get(), self.1)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .any()
            .downcast_ref::<Date>()
            .is_some_and(|other| other.0.get() == self.0.get())
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other.any().downcast_ref::<Date>()?;
        Some(self.0.get().cmp(&other.0.get()))
    }

    fn hash(&self) -> i32 {
        super::super::order::hash(&Value::Long(self.0.get()))
    }
}

pub(super) static FORMAT: Table = Table::new(&[
    row("format", 1, 1, |machine, this, given| {
        let Some(format) = this.of::<Format>() else {
            return Ok(Value::Null);
        };
        let ms = ms_of(&given[0])
            .ok_or_else(|| Thrown::argument("Cannot format given Object as a Date"))?;
        let pattern = format.pattern.borrow().clone();
        let told = formatted_in(machine, &pattern, ms, format.zone.get())?;
        Ok(Value::text(told))
    }),
    row("parse", 1, 1, |machine, this, given| {
        let Some(format) = this.of::<Format>() else {
            return Ok(Value::Null);
        };
        let pattern = format.pattern.borrow().clone();
        read(
            machine,
            &pattern,
            &super::text_wanted(given, 0)?,
            format.zone.get(),
            format.is_lenient.get(),
        )
    }),
    row("setTimeZone", 1, 1, |_, this, given| {
        if let Some(format) = this.of::<Format>() {
            format.zone.set(zone_of(&given[0]));
        }
        Ok(Value::Null)
    }),
    row("applyPattern", 1, 1, |_, this, given| {
        if let Some(format) = this.of::<Format>() {
            format.pattern.replace(text_of(given, 0));
        }
        Ok(Value::Null)
    }),
    row("toPattern", 0, 0, |_, this, _| {
        Ok(Value::optional(
            this.of::<Format>()
                .map(|format| format.pattern.borrow().clone()),
        ))
    }),
    row("setLenient", 1, 1, |_, this, given| {
        if let Some(format) = this.of::<Format>() {
            format.is_lenient.set(super::super::order::truth(&given[0]));
        }
        Ok(Value::Null)
    }),
    row("isLenient", 0, 0, |_, this, _| {
        let format = this.of::<Format>();
        Ok(Value::Truth(
            format.is_some_and(|format| format.is_lenient.get()),
        ))
    }),
]);

impl Object for Format {
    fn class(&self) -> &'static str {
        "java.text.SimpleDateFormat"
    }

    fn methods(&self) -> &'static Table {
        &FORMAT
    }

    fn is_a(&self, name: &str) -> bool {
        name == "DateFormat"
    }
}

fn calendar(this: &Value) -> Outcome<&Calendar> {
    this.of::<Calendar>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

/// Sets a field of a calendar.
fn set(machine: &mut dyn Machine, this: &Value, field: i32, value: i64) -> Outcome<()> {
    let before = i64::from(part(machine, this, field)?);
    add(machine, this, field, value - before)
}

/// Adds to a field of a calendar.
fn add(machine: &mut dyn Machine, this: &Value, field: i32, count: i64) -> Outcome<()> {
    let calendar = calendar(this)?;
    let ms = calendar.ms.get();
    let offset_ms = i64::from(offset_of(machine, calendar.zone.get(), ms)) * 1000;
    let moved = match field {
        1 => later_by_months(ms + offset_ms, count.saturating_mul(12)) - offset_ms,
        2 => later_by_months(ms + offset_ms, count) - offset_ms,
        3 | 4 => ms + count.saturating_mul(7 * DAY_MS),
        5..=8 => ms + count.saturating_mul(DAY_MS),
        9 => ms + count.saturating_mul(DAY_MS / 2),
        10 | 11 => ms + count.saturating_mul(3_600_000),
        12 => ms + count.saturating_mul(60_000),
        13 => ms + count.saturating_mul(1000),
        14 => ms + count,
        _ => ms,
    };
    // A day later the zone's clocks show the same time, even if they have changed.
    let moved = match calendar.zone.get() {
        Some(Away::Named(zone)) if matches!(field, 1..=8) => {
            let local = moved + offset_ms;
            local - i64::from(zone.offset_s_at_local(local)) * 1000
        }
        _ => moved,
    };
    calendar.ms.set(moved);
    Ok(())
}

pub(super) static CALENDAR: Table = Table::new(&[
    row("getTime", 0, 0, |machine, this, _| {
        let ms = wanted_ms(this)?;
        Ok(date(machine, ms))
    }),
    row("setTime", 1, 1, |_, this, given| {
        calendar(this)?.ms.set(wanted_ms(&given[0])?);
        Ok(Value::Null)
    }),
    row("setTimeZone", 1, 1, |_, this, given| {
        calendar(this)?.zone.set(zone_of(&given[0]));
        Ok(Value::Null)
    }),
    row("getTimeInMillis", 0, 0, |_, this, _| {
        Ok(Value::Long(wanted_ms(this)?))
    }),
    row("setTimeInMillis", 1, 1, |_, this, given| {
        calendar(this)?.ms.set(long_of(given, 0)?);
        Ok(Value::Null)
    }),
    row("get", 1, 1, |machine, this, given| {
        let field = int_of(given, 0)?;
        part(machine, this, field).map(Value::Int)
    }),
    row("getAt", 1, 1, |machine, this, given| {
        let field = int_of(given, 0)?;
        part(machine, this, field).map(Value::Int)
    }),
    row("set", 2, 2, |machine, this, given| {
        set(machine, this, int_of(given, 0)?, long_of(given, 1)?)?;
        Ok(Value::Null)
    }),
    row("putAt", 2, 2, |machine, this, given| {
        set(machine, this, int_of(given, 0)?, long_of(given, 1)?)?;
        Ok(Value::Null)
    }),
    row("set", 3, 6, |machine, this, given| {
        // The day comes last, so that it is not truncated by a short month.
        for field in [
            (5, Value::Int(1)),
            (1, given[0].clone()),
            (2, given[1].clone()),
            (5, given[2].clone()),
        ] {
            set(
                machine,
                this,
                field.0,
                number::long_of(&field.1).unwrap_or(0),
            )?;
        }
        for (place, field) in [(3, 11), (4, 12), (5, 13)] {
            if given.len() > place {
                set(machine, this, field, long_of(given, place)?)?;
            }
        }
        Ok(Value::Null)
    }),
    row("add", 2, 2, |machine, this, given| {
        add(machine, this, int_of(given, 0)?, long_of(given, 1)?)?;
        Ok(Value::Null)
    }),
    row("format", 1, 1, |machine, this, given| {
        let ms = wanted_ms(this)?;
        let zone = calendar(this)?.zone.get();
        let told = formatted_in(machine, &text_of(given, 0), ms, zone)?;
        Ok(Value::text(told))
    }),
    row("before", 1, 1, |_, this, given| {
        Ok(Value::Truth(compare(this, given)?.is_lt()))
    }),
    row("after", 1, 1, |_, this, given| {
        Ok(Value::Truth(compare(this, given)?.is_gt()))
    }),
    row("clone", 0, 0, |_, this, _| {
        let calendar = calendar(this)?;
        Ok(Value::object(Calendar {
            ms: calendar.ms.clone(),
            zone: calendar.zone.clone(),
        }))
    }),
    row("getActualMaximum", 1, 1, |machine, this, given| {
        let field = int_of(given, 0)?;
        let year = i64::from(part(machine, this, 1)?);
        let month = i64::from(part(machine, this, 2)?) + 1;
        let (next_year, next) = if month == 12 {
            (year + 1, 1)
        } else {
            (year, month + 1)
        };
        let days = |year, month| day_number(year, month, 1).unwrap_or(0);
        Ok(Value::whole(match field {
            5 => days(next_year, next) - days(year, month),
            6 => days(year + 1, 1) - days(year, 1),
            2 => 11,
            11 => 23,
            12 | 13 => 59,
            14 => 999,
            _ => 0,
        }))
    }),
]);

impl Object for Calendar {
    fn class(&self) -> &'static str {
        "java.util.GregorianCalendar"
    }

    fn methods(&self) -> &'static Table {
        &CALENDAR
    }

    fn is_a(&self, name: &str) -> bool {
        name == "Calendar"
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other.any().downcast_ref::<Calendar>()?;
        Some(self.ms.get().cmp(&other.ms.get()))
    }
}

pub(super) static ZONE: Table = Table::new(&[
    row("getID", 0, 0, |_, this, _| {
        Ok(Value::optional(
            this.of::<Zone>().map(|zone| zone.1.as_str()),
        ))
    }),
    row("getOffset", 1, 1, |machine, this, given| {
        let ms = long_of(given, 0)?;
        let offset_s = offset_of(machine, zone_of(this), ms);
        Ok(Value::Int(offset_s * 1000))
    }),
    row("getRawOffset", 0, 0, |machine, this, _| {
        let offset_s = offset_of(machine, zone_of(this), 0);
        Ok(Value::Int(offset_s * 1000))
    }),
]);

impl Object for Zone {
    fn class(&self) -> &'static str {
        "sun.util.calendar.ZoneInfo"
    }

    fn methods(&self) -> &'static Table {
        &ZONE
    }

    fn is_a(&self, name: &str) -> bool {
        name == "TimeZone"
    }
}

pub(super) static LOCALE: Table = Table::new(&[
    row("toString", 0, 0, |_, this, _| {
        Ok(Value::text(print::text(this)))
    }),
    row("getLanguage", 0, 0, |_, this, _| {
        Ok(Value::text(
            print::text(this).split('_').next().unwrap_or_default(),
        ))
    }),
]);

impl Object for Locale {
    fn class(&self) -> &'static str {
        "java.util.Locale"
    }

    fn methods(&self) -> &'static Table {
        &LOCALE
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// `new Date(year - 1900, month, day, …)`.
fn of_parts(machine: &mut dyn Machine, _: &Value, given: &[Value]) -> Outcome {
    let local = local_of(long_of(given, 0)?.saturating_add(1900), &given[1..])?;
    let ms = of_local(machine, local);
    Ok(date(machine, ms))
}

/// `new GregorianCalendar(year, month, day, …)`.
fn calendar_of_parts(machine: &mut dyn Machine, _: &Value, given: &[Value]) -> Outcome {
    let local = local_of(long_of(given, 0)?, &given[1..])?;
    Ok(Value::object(Calendar {
        ms: Cell::new(of_local(machine, local)),
        zone: Cell::new(None),
    }))
}

static DATES: Table = Table::new(&[
    row("from", 1, 1, |machine, _, given| {
        let ms = super::times::unix_ms_of(&given[0])?;
        Ok(date(machine, ms))
    }),
    row("new", 0, 0, |machine, _, _| {
        let now = machine.host().unix_ms();
        Ok(date(machine, now))
    }),
    row("new", 1, 1, |machine, _, given| {
        if let Value::Text(text) = &given[0] {
            return of_text(machine, text);
        }
        let ms = long_of(given, 0)?;
        Ok(date(machine, ms))
    }),
    row("new", 3, 3, of_parts),
    row("new", 5, 6, of_parts),
    row("parse", 2, 2, |machine, _, given| {
        let (pattern, text) = (text_of(given, 0), text_of(given, 1));
        read(machine, &pattern, &text, None, true)
    }),
]);

static FORMATS: Table = Table::new(&[row("new", 1, 2, |_, _, given| {
    let pattern = text_of(given, 0);
    formatted(&pattern, 0, 0)?;
    Ok(Value::object(Format {
        pattern: RefCell::new(pattern),
        zone: Cell::new(None),
        is_lenient: Cell::new(true),
    }))
})]);

/// A zone by its name; an unknown one is GMT, as in Java.
fn zone_named(name: String) -> Value {
    let known = named_zone(&name);
    Value::object(match known {
        Some(away) => Zone(Some(away), name),
        None => Zone(Some(Away::Fixed(0)), "GMT".to_owned()),
    })
}

static ZONES: Table = Table::new(&[
    row("getTimeZone", 1, 1, |_, _, given| {
        Ok(zone_named(text_of(given, 0)))
    }),
    row("getDefault", 0, 0, |_, _, _| {
        Ok(Value::object(Zone(None, "UTC".to_owned())))
    }),
]);

fn field(number: i32) -> Outcome {
    Ok(Value::Int(number))
}

static CALENDARS: Table = Table::new(&[
    row("getInstance", 0, 2, |machine, _, given| {
        Ok(Value::object(Calendar {
            ms: Cell::new(machine.host().unix_ms()),
            zone: Cell::new(given.first().and_then(zone_of)),
        }))
    }),
    row("new", 0, 0, |machine, _, _| {
        Ok(Value::object(Calendar {
            ms: Cell::new(machine.host().unix_ms()),
            zone: Cell::new(None),
        }))
    }),
    row("new", 3, 3, calendar_of_parts),
    row("new", 5, 6, calendar_of_parts),
    row("YEAR", 0, 0, |_, _, _| field(1)),
    row("MONTH", 0, 0, |_, _, _| field(2)),
    row("WEEK_OF_YEAR", 0, 0, |_, _, _| field(3)),
    row("DATE", 0, 0, |_, _, _| field(5)),
    row("DAY_OF_MONTH", 0, 0, |_, _, _| field(5)),
    row("DAY_OF_YEAR", 0, 0, |_, _, _| field(6)),
    row("DAY_OF_WEEK", 0, 0, |_, _, _| field(7)),
    row("AM_PM", 0, 0, |_, _, _| field(9)),
    row("HOUR", 0, 0, |_, _, _| field(10)),
    row("HOUR_OF_DAY", 0, 0, |_, _, _| field(11)),
    row("MINUTE", 0, 0, |_, _, _| field(12)),
    row("SECOND", 0, 0, |_, _, _| field(13)),
    row("MILLISECOND", 0, 0, |_, _, _| field(14)),
    row("ZONE_OFFSET", 0, 0, |_, _, _| field(15)),
    row("SUNDAY", 0, 0, |_, _, _| field(1)),
    row("MONDAY", 0, 0, |_, _, _| field(2)),
    row("TUESDAY", 0, 0, |_, _, _| field(3)),
    row("WEDNESDAY", 0, 0, |_, _, _| field(4)),
    row("THURSDAY", 0, 0, |_, _, _| field(5)),
    row("FRIDAY", 0, 0, |_, _, _| field(6)),
    row("SATURDAY", 0, 0, |_, _, _| field(7)),
    row("JANUARY", 0, 0, |_, _, _| field(0)),
    row("FEBRUARY", 0, 0, |_, _, _| field(1)),
    row("MARCH", 0, 0, |_, _, _| field(2)),
    row("APRIL", 0, 0, |_, _, _| field(3)),
    row("MAY", 0, 0, |_, _, _| field(4)),
    row("JUNE", 0, 0, |_, _, _| field(5)),
    row("JULY", 0, 0, |_, _, _| field(6)),
    row("AUGUST", 0, 0, |_, _, _| field(7)),
    row("SEPTEMBER", 0, 0, |_, _, _| field(8)),
    row("OCTOBER", 0, 0, |_, _, _| field(9)),
    row("NOVEMBER", 0, 0, |_, _, _| field(10)),
    row("DECEMBER", 0, 0, |_, _, _| field(11)),
]);

fn locale(name: &str) -> Outcome {
    Ok(Value::object(Locale(name.to_owned())))
}

static LOCALES: Table = Table::new(&[
    row("US", 0, 0, |_, _, _| locale("en_US")),
    row("UK", 0, 0, |_, _, _| locale("en_GB")),
    row("ENGLISH", 0, 0, |_, _, _| locale("en")),
    row("ROOT", 0, 0, |_, _, _| locale("")),
    row("getDefault", 0, 0, |_, _, _| locale("en_US")),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.Date",
        statics: &DATES,
    },
    Class {
        name: "java.text.SimpleDateFormat",
        statics: &FORMATS,
    },
    Class {
        name: "java.util.Calendar",
        statics: &CALENDARS,
    },
    Class {
        name: "java.util.GregorianCalendar",
        statics: &CALENDARS,
    },
    Class {
        name: "java.util.TimeZone",
        statics: &ZONES,
    },
    Class {
        name: "java.util.Locale",
        statics: &LOCALES,
    },
];
