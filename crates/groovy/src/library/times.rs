//! `java.time`: instants, dates and times with and without a zone, and their texts.
//!
//! Must not know clocks. Invariant: a time without a zone is stored as local milliseconds.
// tidy: table

mod formatter;
mod names;
mod place;
mod spans;
pub(super) mod statics;

use std::cmp::Ordering;

use loadline_java::date_format::{Moment, Pattern, date_of, day_number, days_in_month};

use self::formatter::Formatter;
use self::place::{Place, place_of};
use self::spans::Span;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Object, Outcome, Value};
use super::{long_of, text_of};

pub(super) use self::formatter::FORMATTER;
pub(super) use self::names::NAME;
pub(super) use self::place::PLACE;
pub(super) use self::spans::{SPAN, UNIT};

const DAY_MS: i64 = 86_400_000;
const NANOS_OF_MS: i64 = 1_000_000;

/// The Java class of a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instant,
    Date,
    Time,
    DateTime,
    Zoned,
    Offset,
}

/// A time: milliseconds since 1970 in its own zone, the zone's offset from UTC, and the zone if it has one.
#[derive(Clone, Copy)]
struct Time {
    kind: Kind,
    local_ms: i64,
    offset_s: i32,
    place: Option<Place>,
}

impl Time {
    /// A time without a zone.
    fn local(kind: Kind, local_ms: i64) -> Time {
        Time {
            kind,
            local_ms,
            offset_s: 0,
            place: None,
        }
    }

    /// The time at a place for an instant.
    fn at_instant(unix_ms: i64, place: Place, kind: Kind) -> Time {
        let offset_s = place.offset_s(unix_ms);
        Time {
            kind,
            local_ms: unix_ms.saturating_add(i64::from(offset_s) * 1000),
            offset_s,
            place: Some(place),
        }
    }

    /// The time at a place for a local time. A skipped local time is moved later accordingly, and of an
    /// ambiguous one the first is used.
    fn at_local(local_ms: i64, place: Place, kind: Kind) -> Time {
        let offset_s = place.offset_s_at_local(local_ms);
        Time::at_instant(local_ms - i64::from(offset_s) * 1000, place, kind)
    }

    /// Year, month and day.
    fn date(&self) -> (i64, i64, i64) {
        date_of(self.local_ms.div_euclid(DAY_MS))
    }

    /// The same kind of time with another local time.
    fn showing(&self, local_ms: i64) -> Time {
        match self.place {
            Some(place) => Time::at_local(local_ms, place, self.kind),
            None if self.kind == Kind::Time => Time::local(self.kind, local_ms.rem_euclid(DAY_MS)),
            None => Time { local_ms, ..*self },
        }
    }
}

/// An instant.
pub(super) fn instant(unix_ms: i64) -> Value {
    Value::object(Time::local(Kind::Instant, unix_ms))
}

/// The milliseconds since 1970 of an instant.
pub(super) fn unix_ms_of(instant: &Value) -> Outcome<i64> {
    Ok(unix_ms(time(instant)?))
}

fn time(this: &Value) -> Outcome<&Time> {
    this.of::<Time>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

/// A time moved later.
fn moved(this: &Value, ms: i64) -> Outcome {
    let time = time(this)?;
    Ok(Value::object(match time.place {
        Some(place) => Time::at_instant(unix_ms(time).saturating_add(ms), place, time.kind),
        None => time.showing(time.local_ms.saturating_add(ms)),
    }))
}

fn moved_by(this: &Value, given: &[Value], unit_ms: i64) -> Outcome {
    moved(this, long_of(given, 0)?.saturating_mul(unit_ms))
}

/// A time with another date or another time of day.
fn with_part(this: &Value, part: &Time) -> Outcome {
    with_local(this, |local_ms| {
        let (day, clock) = match part.kind {
            Kind::Time => (local_ms, part.local_ms),
            _ => (part.local_ms, local_ms),
        };
        Ok(day - day.rem_euclid(DAY_MS) + clock.rem_euclid(DAY_MS))
    })
}

/// A time moved by days, with the same local time of day.
fn moved_by_days(this: &Value, given: &[Value], days: i64) -> Outcome {
    let ms = long_of(given, 0)?
        .saturating_mul(days)
        .saturating_mul(DAY_MS);
    with_local(this, |local_ms| Ok(local_ms.saturating_add(ms)))
}

fn moved_by_units(this: &Value, given: &[Value], sign: i64) -> Outcome {
    match text_of(given, 1).to_uppercase().as_str() {
        "DAYS" => moved_by_days(this, given, sign),
        "WEEKS" => moved_by_days(this, given, 7 * sign),
        "MONTHS" => moved_by_months(this, given, sign),
        "YEARS" => moved_by_months(this, given, 12 * sign),
        unit => moved_by(this, given, sign * spans::unit_ms(unit).unwrap_or(1)),
    }
}

fn moved_by_months(this: &Value, given: &[Value], months: i64) -> Outcome {
    let months = long_of(given, 0)?.saturating_mul(months);
    with_date(this, |(year, month, day)| {
        let count = (year * 12 + month - 1).saturating_add(months);
        (count.div_euclid(12), count.rem_euclid(12) + 1, day)
    })
}

fn with_local(this: &Value, change: impl FnOnce(i64) -> Outcome<i64>) -> Outcome {
    let time = time(this)?;
    Ok(Value::object(time.showing(change(time.local_ms)?)))
}

/// A time with another date; a day beyond the end of its month becomes the last one.
fn with_date(this: &Value, change: impl FnOnce((i64, i64, i64)) -> (i64, i64, i64)) -> Outcome {
    let (year, month, day) = change(time(this)?.date());
    let day = day_number(year, month, day)
        .ok_or_else(|| Thrown::of("java.time.DateTimeException", "Invalid date"))?;
    with_local(this, |local_ms| {
        Ok(day * DAY_MS + local_ms.rem_euclid(DAY_MS))
    })
}

/// Days since 1970 of a date that must exist.
fn exact_day(year: i64, month: i64, day: i64) -> Outcome<i64> {
    let fault = |what: String| Err(Thrown::of("java.time.DateTimeException", what));
    if !(1..=12).contains(&month) {
        return fault(format!(
            "Invalid value for MonthOfYear (valid values 1 - 12): {month}"
        ));
    }
    if !(1..=31).contains(&day) {
        return fault(format!(
            "Invalid value for DayOfMonth (valid values 1 - 28/31): {day}"
        ));
    }
    if day > days_in_month(year, month) {
        return fault(match (month, day) {
            (2, 29) => format!("Invalid date 'February 29' as '{year}' is not a leap year"),
            _ => format!("Invalid date '{} {day}'", print::text(&names::month(month))),
        });
    }
    match day_number(year, month, day) {
        Some(number) => Ok(number),
        None => fault(format!(
            "Invalid value for Year (valid values -999999999 - 999999999): {year}"
        )),
    }
}

/// A time with another value of a clock field, given the field's milliseconds and its limit.
fn with_clock(this: &Value, number: i64, unit_ms: i64, limit: i64) -> Outcome {
    with_local(this, |local_ms| {
        let now = local_ms.div_euclid(unit_ms).rem_euclid(limit);
        Ok(local_ms.saturating_add((number - now).saturating_mul(unit_ms)))
    })
}

/// The instant, in milliseconds since 1970, of this local time at a place.
fn instant_at(this: &Value, place: &Value) -> Outcome<i64> {
    let at = Time::at_local(time(this)?.local_ms, place_of(place)?, Kind::Zoned);
    Ok(unix_ms(&at))
}

/// The time at a place for an instant, or for a local time.
fn in_place(this: &Value, place: &Value, kind: Kind) -> Outcome {
    let (time, place) = (time(this)?, place_of(place)?);
    Ok(Value::object(match time.kind {
        Kind::Instant => Time::at_instant(time.local_ms, place, kind),
        _ => Time::at_local(time.local_ms, place, kind),
    }))
}

/// A time in a pattern; `None`: it is none.
pub(super) fn told_in(value: &Value, pattern: &str) -> Outcome<Option<String>> {
    value
        .of::<Time>()
        .map(|time| written(pattern, time))
        .transpose()
}

fn written(pattern: &str, time: &Time) -> Outcome<String> {
    let read = Pattern::new(pattern)
        .map_err(|_| Thrown::argument(format!("Unknown pattern letter in {pattern}")))?;
    Ok(read.format(Moment {
        unix_ms: unix_ms(time),
        offset_s: time.offset_s,
        zone: time.place.and_then(Place::zone),
    }))
}

/// The text of a time in Java's format.
fn told(time: &Time) -> String {
    let of_day = time.local_ms.rem_euclid(DAY_MS);
    let clock = match (of_day / 1000 % 60, of_day % 1000) {
        (0, 0) if time.kind != Kind::Instant => "HH:mm",
        (_, 0) => "HH:mm:ss",
        _ => "HH:mm:ss.SSS",
    };
    let pattern = match time.kind {
        Kind::Date => "yyyy-MM-dd".to_owned(),
        Kind::Time => clock.to_owned(),
        _ => format!("yyyy-MM-dd'T'{clock}"),
    };
    let mut text = written(&pattern, time).unwrap_or_default();
    match (time.kind, time.place) {
        (Kind::Instant, _) => text.push('Z'),
        (Kind::Zoned | Kind::Offset, Some(place)) => {
            text.push_str(&place::offset_text(time.offset_s));
            if place.zone().is_some() {
                text.push_str(&format!("[{}]", place.id()));
            }
        }
        _ => {}
    }
    text
}

fn part(this: &Value, pattern: &str) -> Outcome {
    let text = written(pattern, time(this)?)?;
    Ok(text.parse().map_or_else(|_| Value::text(text), Value::Int))
}

fn ordered(this: &Value, given: &[Value]) -> Outcome<Ordering> {
    Ok(unix_ms(time(this)?).cmp(&unix_ms(time(&given[0])?)))
}

fn unix_ms(time: &Time) -> i64 {
    time.local_ms - i64::from(time.offset_s) * 1000
}

pub(super) static TIME: Table = Table::new(&[
    row("format", 1, 1, |_, this, given| {
        let text = match given[0].of::<Formatter>() {
            Some(formatter) => formatter.written(time(this)?)?,
            None => written(&text_of(given, 0), time(this)?)?,
        };
        Ok(Value::text(text))
    }),
    row("plusYears", 1, 1, |_, this, given| {
        moved_by_months(this, given, 12)
    }),
    row("plusMonths", 1, 1, |_, this, given| {
        moved_by_months(this, given, 1)
    }),
    row("plusWeeks", 1, 1, |_, this, given| {
        moved_by_days(this, given, 7)
    }),
    row("plusDays", 1, 1, |_, this, given| {
        moved_by_days(this, given, 1)
    }),
    row("plusHours", 1, 1, |_, this, given| {
        moved_by(this, given, 3_600_000)
    }),
    row("plusMinutes", 1, 1, |_, this, given| {
        moved_by(this, given, 60_000)
    }),
    row("plusSeconds", 1, 1, |_, this, given| {
        moved_by(this, given, 1000)
    }),
    row("plusMillis", 1, 1, |_, this, given| {
        moved_by(this, given, 1)
    }),
    row("minusYears", 1, 1, |_, this, given| {
        moved_by_months(this, given, -12)
    }),
    row("minusMonths", 1, 1, |_, this, given| {
        moved_by_months(this, given, -1)
    }),
    row("minusWeeks", 1, 1, |_, this, given| {
        moved_by_days(this, given, -7)
    }),
    row("minusDays", 1, 1, |_, this, given| {
        moved_by_days(this, given, -1)
    }),
    row("minusHours", 1, 1, |_, this, given| {
        moved_by(this, given, -3_600_000)
    }),
    row("minusMinutes", 1, 1, |_, this, given| {
        moved_by(this, given, -60_000)
    }),
    row("minusSeconds", 1, 1, |_, this, given| {
        moved_by(this, given, -1000)
    }),
    row("plusNanos", 1, 1, |_, this, given| {
        moved(this, long_of(given, 0)? / NANOS_OF_MS)
    }),
    row("minusMillis", 1, 1, |_, this, given| {
        moved_by(this, given, -1)
    }),
    row("plus", 1, 1, |_, this, given| match given[0].of::<Span>() {
        Some(span) => moved(this, span.ms()),
        None => moved_by_days(this, given, 1),
    }),
    row("minus", 1, 1, |_, this, given| {
        if let Some(other) = given[0].of::<Time>() {
            let ms = unix_ms(time(this)?) - unix_ms(other);
            return Ok(Value::Long(ms.div_euclid(DAY_MS)));
        }
        match given[0].of::<Span>() {
            Some(span) => moved(this, -span.ms()),
            None => moved_by_days(this, given, -1),
        }
    }),
    row("plus", 2, 2, |_, this, given| {
        moved_by_units(this, given, 1)
    }),
    row("minus", 2, 2, |_, this, given| {
        moved_by_units(this, given, -1)
    }),
    row("truncatedTo", 1, 1, |_, this, given| {
        let unit_ms = spans::unit_ms(&text_of(given, 0)).unwrap_or(1);
        with_local(this, |local_ms| Ok(local_ms - local_ms.rem_euclid(unit_ms)))
    }),
    row("with", 1, 1, |machine, this, given| {
        match given[0].of::<Time>() {
            Some(part) => with_part(this, part),
            None => machine.call_on(&given[0], this.clone(), vec![this.clone()]),
        }
    }),
    row("withYear", 1, 1, |_, this, given| {
        let year = long_of(given, 0)?;
        with_date(this, |(_, month, day)| (year, month, day))
    }),
    row("withMonth", 1, 1, |_, this, given| {
        let month = long_of(given, 0)?;
        with_date(this, |(year, _, day)| (year, month, day))
    }),
    row("withDayOfMonth", 1, 1, |_, this, given| {
        let day = long_of(given, 0)?;
        with_date(this, |(year, month, _)| (year, month, day))
    }),
    row("withHour", 1, 1, |_, this, given| {
        with_clock(this, long_of(given, 0)?, 3_600_000, 24)
    }),
    row("withMinute", 1, 1, |_, this, given| {
        with_clock(this, long_of(given, 0)?, 60_000, 60)
    }),
    row("withSecond", 1, 1, |_, this, given| {
        with_clock(this, long_of(given, 0)?, 1000, 60)
    }),
    row("withNano", 1, 1, |_, this, given| {
        with_clock(this, long_of(given, 0)? / NANOS_OF_MS, 1, 1000)
    }),
    row("lengthOfMonth", 0, 0, |_, this, _| {
        let (year, month, _) = time(this)?.date();
        let last = day_number(year, month, 31).map_or(0, |day| date_of(day).2);
        Ok(Value::whole(last))
    }),
    row("isLeapYear", 0, 0, |_, this, _| {
        let (year, ..) = time(this)?.date();
        let last = day_number(year, 2, 31).map_or(0, |day| date_of(day).2);
        Ok(Value::Truth(last == 29))
    }),
    row("getYear", 0, 0, |_, this, _| part(this, "u")),
    row("getMonthValue", 0, 0, |_, this, _| part(this, "M")),
    row("getMonth", 0, 0, |_, this, _| {
        Ok(names::month(time(this)?.date().1))
    }),
    row("getDayOfMonth", 0, 0, |_, this, _| part(this, "d")),
    row("getDayOfYear", 0, 0, |_, this, _| part(this, "D")),
    row("getDayOfWeek", 0, 0, |_, this, _| {
        let day = time(this)?.local_ms.div_euclid(DAY_MS);
        // 1970-01-01 was a Thursday, the fourth day of the week.
        Ok(names::weekday((day + 3).rem_euclid(7) + 1))
    }),
    row("getHour", 0, 0, |_, this, _| part(this, "H")),
    row("getMinute", 0, 0, |_, this, _| part(this, "m")),
    row("getSecond", 0, 0, |_, this, _| part(this, "s")),
    row("getNano", 0, 0, |_, this, _| {
        Ok(Value::whole(
            time(this)?.local_ms.rem_euclid(1000) * 1_000_000,
        ))
    }),
    row("toEpochMilli", 0, 0, |_, this, _| {
        Ok(Value::Long(unix_ms(time(this)?)))
    }),
    row("getEpochSecond", 0, 0, |_, this, _| {
        Ok(Value::Long(unix_ms(time(this)?).div_euclid(1000)))
    }),
    row("toEpochSecond", 0, 0, |_, this, _| {
        Ok(Value::Long(unix_ms(time(this)?).div_euclid(1000)))
    }),
    row("toEpochSecond", 1, 1, |_, this, given| {
        Ok(Value::Long(instant_at(this, &given[0])?.div_euclid(1000)))
    }),
    row("toEpochDay", 0, 0, |_, this, _| {
        Ok(Value::Long(time(this)?.local_ms.div_euclid(DAY_MS)))
    }),
    row("toInstant", 0, 0, |_, this, _| {
        Ok(instant(unix_ms(time(this)?)))
    }),
    row("toInstant", 1, 1, |_, this, given| {
        Ok(instant(instant_at(this, &given[0])?))
    }),
    row("atZone", 1, 1, |_, this, given| {
        in_place(this, &given[0], Kind::Zoned)
    }),
    row("atOffset", 1, 1, |_, this, given| {
        in_place(this, &given[0], Kind::Offset)
    }),
    row("atStartOfDay", 1, 1, |_, this, given| {
        in_place(this, &given[0], Kind::Zoned)
    }),
    row("withZoneSameInstant", 1, 1, |_, this, given| {
        let place = place_of(&given[0])?;
        Ok(Value::object(Time::at_instant(
            unix_ms(time(this)?),
            place,
            Kind::Zoned,
        )))
    }),
    row("withOffsetSameInstant", 1, 1, |_, this, given| {
        let place = place_of(&given[0])?;
        Ok(Value::object(Time::at_instant(
            unix_ms(time(this)?),
            place,
            Kind::Offset,
        )))
    }),
    row("withZoneSameLocal", 1, 1, |_, this, given| {
        let place = place_of(&given[0])?;
        Ok(Value::object(Time::at_local(
            time(this)?.local_ms,
            place,
            Kind::Zoned,
        )))
    }),
    row("toOffsetDateTime", 0, 0, |_, this, _| {
        let time = *time(this)?;
        Ok(Value::object(Time {
            kind: Kind::Offset,
            place: Some(Place::Offset(time.offset_s)),
            ..time
        }))
    }),
    row("toZonedDateTime", 0, 0, |_, this, _| {
        Ok(Value::object(Time {
            kind: Kind::Zoned,
            ..*time(this)?
        }))
    }),
    row("getZone", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(
            time.place.unwrap_or(Place::Offset(time.offset_s)),
        ))
    }),
    row("getOffset", 0, 0, |_, this, _| {
        Ok(Value::object(Place::Offset(time(this)?.offset_s)))
    }),
    row("isBefore", 1, 1, |_, this, given| {
        Ok(Value::Truth(ordered(this, given)?.is_lt()))
    }),
    row("isAfter", 1, 1, |_, this, given| {
        Ok(Value::Truth(ordered(this, given)?.is_gt()))
    }),
    row("isEqual", 1, 1, |_, this, given| {
        Ok(Value::Truth(ordered(this, given)?.is_eq()))
    }),
    row("compareTo", 1, 1, |_, this, given| {
        Ok(Value::Int(ordered(this, given)? as i32))
    }),
    row("toLocalDate", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::Date,
            local_ms: time.local_ms.div_euclid(DAY_MS) * DAY_MS,
            offset_s: 0,
            place: None,
        }))
    }),
    row("toLocalTime", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::Time,
            local_ms: time.local_ms.rem_euclid(DAY_MS),
            offset_s: 0,
            place: None,
        }))
    }),
    row("toLocalDateTime", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::DateTime,
            local_ms: time.local_ms,
            offset_s: 0,
            place: None,
        }))
    }),
    row("atStartOfDay", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::DateTime,
            ..*time
        }))
    }),
    row("atTime", 1, 1, |_, this, given| {
        Ok(Value::object(Time {
            kind: Kind::DateTime,
            local_ms: time(this)?.local_ms + time(&given[0])?.local_ms,
            offset_s: 0,
            place: None,
        }))
    }),
    row("atTime", 2, 3, |_, this, given| {
        let second = if given.len() > 2 {
            long_of(given, 2)?
        } else {
            0
        };
        let ms = ((long_of(given, 0)? * 60 + long_of(given, 1)?) * 60 + second) * 1000;
        Ok(Value::object(Time {
            kind: Kind::DateTime,
            local_ms: time(this)?.local_ms + ms,
            offset_s: 0,
            place: None,
        }))
    }),
    row("until", 2, 2, |_, this, given| {
        spans::between(this, &given[0], &text_of(given, 1))
    }),
]);

impl Object for Time {
    fn class(&self) -> &'static str {
        match self.kind {
            Kind::Instant => "java.time.Instant",
            Kind::Date => "java.time.LocalDate",
            Kind::Time => "java.time.LocalTime",
            Kind::DateTime => "java.time.LocalDateTime",
            Kind::Zoned => "java.time.ZonedDateTime",
            Kind::Offset => "java.time.OffsetDateTime",
        }
    }

    fn methods(&self) -> &'static Table {
        &TIME
    }

    fn text(&self) -> String {
        told(self)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    fn compare(&self, other: &dyn Object) -> Option<Ordering> {
        let other = other
            .any()
            .downcast_ref::<Time>()
            .filter(|other| other.kind == self.kind)?;
        Some(unix_ms(self).cmp(&unix_ms(other)))
    }
}
