//! Creation of times: the current one, from parts, and from text.
//!
//! Must not know clocks. Invariant: nanoseconds are truncated to whole milliseconds.
// tidy: table

use super::super::super::table::{Table, row};
use super::super::super::thrown::Thrown;
use super::super::super::value::{Machine, Outcome, Value};
use super::super::{Class, long_of};
use super::formatter::{FORMATTERS, read};
use super::names::{DAYS, MONTH_NAMES};
use super::place::{Place, ZONE_IDS, ZONE_OFFSETS, place_of};
use super::spans::{SPANS, UNITS};
use super::{DAY_MS, Kind, NANOS_OF_MS, Time, exact_day, instant, time, unix_ms};

/// The current time of a kind, at the given place or otherwise that of the machine.
fn now(machine: &mut dyn Machine, given: &[Value], kind: Kind) -> Outcome {
    let place = match given.first() {
        Some(place) => place_of(place)?,
        None => Place::of_machine(machine),
    };
    let now_ms = machine.host().unix_ms();
    Ok(at(now_ms, place, kind))
}

/// The local time at a place for an instant, as a kind of time.
fn at(unix_ms: i64, place: Place, kind: Kind) -> Value {
    let zoned = Time::at_instant(unix_ms, place, Kind::Zoned);
    Value::object(match kind {
        Kind::Instant => Time::local(kind, unix_ms),
        Kind::Date => Time::local(kind, zoned.local_ms.div_euclid(DAY_MS) * DAY_MS),
        Kind::Time => Time::local(kind, zoned.local_ms.rem_euclid(DAY_MS)),
        Kind::DateTime => Time::local(kind, zoned.local_ms),
        Kind::Zoned | Kind::Offset => Time { kind, ..zoned },
    })
}

fn at_instant(given: &[Value], kind: Kind) -> Outcome {
    Ok(at(unix_ms(time(&given[0])?), place_of(&given[1])?, kind))
}

/// A number argument; a month may also be given by its name.
fn number(given: &[Value], place: usize) -> Outcome<i64> {
    if place >= given.len() {
        return Ok(0);
    }
    match super::names::number_of(&given[place]) {
        Some(number) => Ok(number),
        None => long_of(given, place),
    }
}

fn day(given: &[Value]) -> Outcome<i64> {
    exact_day(number(given, 0)?, number(given, 1)?, number(given, 2)?)
}

/// Milliseconds since midnight from hour, minute, second and nanoseconds.
fn clock(given: &[Value]) -> Outcome<i64> {
    let minutes = number(given, 0)? * 60 + number(given, 1)?;
    Ok((minutes * 60 + number(given, 2)?) * 1000 + number(given, 3)? / NANOS_OF_MS)
}

/// Milliseconds of a day with its time: from a date and a time, or from numbers.
fn day_and_clock(given: &[Value]) -> Outcome<i64> {
    match given {
        [date, of_day] => Ok(time(date)?.local_ms + time(of_day)?.local_ms),
        _ => Ok(day(given)? * DAY_MS + clock(&given[3..])?),
    }
}

fn made(kind: Kind, local_ms: i64) -> Outcome {
    Ok(Value::object(Time::local(kind, local_ms)))
}

/// A time with a zone, which is the last argument.
fn made_in_place(given: &[Value], kind: Kind) -> Outcome {
    let Some((place, parts)) = given.split_last() else {
        return Err(Thrown::argument("a zone is wanted"));
    };
    let local_ms = match parts {
        [whole] => time(whole)?.local_ms,
        _ => day_and_clock(parts)?,
    };
    Ok(Value::object(Time::at_local(
        local_ms,
        place_of(place)?,
        kind,
    )))
}

static INSTANTS: Table = Table::new(&[
    row("EPOCH", 0, 0, |_, _, _| Ok(instant(0))),
    row("now", 0, 0, |machine, _, _| {
        now(machine, &[], Kind::Instant)
    }),
    row("parse", 1, 1, |_, _, given| read(given, Kind::Instant)),
    row("ofEpochMilli", 1, 1, |_, _, given| {
        Ok(instant(long_of(given, 0)?))
    }),
    row("ofEpochSecond", 1, 1, |_, _, given| {
        Ok(instant(long_of(given, 0)?.saturating_mul(1000)))
    }),
]);
static LOCAL_DATES: Table = Table::new(&[
    row("now", 0, 1, |machine, _, given| {
        now(machine, given, Kind::Date)
    }),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Date)),
    row("of", 3, 3, |_, _, given| {
        made(Kind::Date, day(given)? * DAY_MS)
    }),
    row("ofInstant", 2, 2, |_, _, given| {
        at_instant(given, Kind::Date)
    }),
    row("ofEpochDay", 1, 1, |_, _, given| {
        made(Kind::Date, long_of(given, 0)?.saturating_mul(DAY_MS))
    }),
]);
static LOCAL_TIMES: Table = Table::new(&[
    row("now", 0, 1, |machine, _, given| {
        now(machine, given, Kind::Time)
    }),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Time)),
    row("of", 2, 4, |_, _, given| made(Kind::Time, clock(given)?)),
    row("MIDNIGHT", 0, 0, |_, _, _| made(Kind::Time, 0)),
    row("MIN", 0, 0, |_, _, _| made(Kind::Time, 0)),
    row("NOON", 0, 0, |_, _, _| made(Kind::Time, DAY_MS / 2)),
]);
static LOCAL_DATE_TIMES: Table = Table::new(&[
    row("now", 0, 1, |machine, _, given| {
        now(machine, given, Kind::DateTime)
    }),
    row("parse", 1, 2, |_, _, given| read(given, Kind::DateTime)),
    row("of", 5, 7, |_, _, given| {
        made(Kind::DateTime, day_and_clock(given)?)
    }),
    row("of", 2, 2, |_, _, given| {
        made(Kind::DateTime, day_and_clock(given)?)
    }),
    row("ofInstant", 2, 2, |_, _, given| {
        at_instant(given, Kind::DateTime)
    }),
    row("ofEpochSecond", 3, 3, |_, _, given| {
        let unix_ms = long_of(given, 0)?.saturating_mul(1000);
        let nanos_ms = long_of(given, 1)? / NANOS_OF_MS;
        Ok(at(
            unix_ms.saturating_add(nanos_ms),
            place_of(&given[2])?,
            Kind::DateTime,
        ))
    }),
]);
static ZONED: Table = Table::new(&[
    row("now", 0, 1, |machine, _, given| {
        now(machine, given, Kind::Zoned)
    }),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Zoned)),
    row("ofInstant", 2, 2, |_, _, given| {
        at_instant(given, Kind::Zoned)
    }),
    row("of", 2, 3, |_, _, given| made_in_place(given, Kind::Zoned)),
    row("of", 8, 8, |_, _, given| made_in_place(given, Kind::Zoned)),
]);
static WITH_OFFSET: Table = Table::new(&[
    row("now", 0, 1, |machine, _, given| {
        now(machine, given, Kind::Offset)
    }),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Offset)),
    row("ofInstant", 2, 2, |_, _, given| {
        at_instant(given, Kind::Offset)
    }),
    row("of", 2, 3, |_, _, given| made_in_place(given, Kind::Offset)),
    row("of", 8, 8, |_, _, given| made_in_place(given, Kind::Offset)),
]);

pub(in super::super) const CLASSES: &[Class] = &[
    Class {
        name: "java.time.Instant",
        statics: &INSTANTS,
    },
    Class {
        name: "java.time.LocalDate",
        statics: &LOCAL_DATES,
    },
    Class {
        name: "java.time.LocalTime",
        statics: &LOCAL_TIMES,
    },
    Class {
        name: "java.time.LocalDateTime",
        statics: &LOCAL_DATE_TIMES,
    },
    Class {
        name: "java.time.ZonedDateTime",
        statics: &ZONED,
    },
    Class {
        name: "java.time.OffsetDateTime",
        statics: &WITH_OFFSET,
    },
    Class {
        name: "java.time.ZoneId",
        statics: &ZONE_IDS,
    },
    Class {
        name: "java.time.ZoneOffset",
        statics: &ZONE_OFFSETS,
    },
    Class {
        name: "java.time.format.DateTimeFormatter",
        statics: &FORMATTERS,
    },
    Class {
        name: "java.time.Duration",
        statics: &SPANS,
    },
    Class {
        name: "java.time.temporal.ChronoUnit",
        statics: &UNITS,
    },
    Class {
        name: "java.time.DayOfWeek",
        statics: &DAYS,
    },
    Class {
        name: "java.time.Month",
        statics: &MONTH_NAMES,
    },
];
