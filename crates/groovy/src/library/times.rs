//! `java.time`: instants, local dates and times, and how they are written.
//!
//! Must not know clocks. Invariant: what has no zone is milliseconds of a day that stands still.
// tidy: table

use std::any::Any;
use std::cmp::Ordering;

use loadline_java::date_format::{Moment, Pattern, date_of, day_number};

use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{long_of, text_of, text_wanted};

const DAY_MS: i64 = 86_400_000;
/// The letters of an offset such as `+01:00`.
const OFFSET: &str = concat!("X", "XX");

/// Which of Java's times it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instant,
    Date,
    Time,
    DateTime,
    Zoned,
}

/// A time: milliseconds since 1970 in its own zone, and how far that is ahead of UTC.
#[derive(Clone, Copy)]
struct Time {
    kind: Kind,
    local_ms: i64,
    offset_s: i32,
}

/// `DateTimeFormatter`.
struct Formatter(String);

/// `Duration`, in milliseconds.
struct Span(i64);

/// An instant.
pub(super) fn instant(unix_ms: i64) -> Value {
    Value::object(Time {
        kind: Kind::Instant,
        local_ms: unix_ms,
        offset_s: 0,
    })
}

fn time(this: &Value) -> Outcome<&Time> {
    this.of::<Time>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

fn moved(this: &Value, ms: i64) -> Outcome {
    let time = time(this)?;
    Ok(Value::object(Time {
        local_ms: match time.kind {
            Kind::Time => (time.local_ms + ms).rem_euclid(DAY_MS),
            _ => time.local_ms.saturating_add(ms),
        },
        ..*time
    }))
}

fn moved_by(this: &Value, given: &[Value], unit_ms: i64) -> Outcome {
    moved(this, long_of(given, 0)?.saturating_mul(unit_ms))
}

fn moved_by_months(this: &Value, given: &[Value], months: i64) -> Outcome {
    let time = time(this)?;
    let (year, month, day) = date_of(time.local_ms.div_euclid(DAY_MS));
    let count = (year * 12 + month - 1).saturating_add(long_of(given, 0)?.saturating_mul(months));
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    let day = day_number(year, month, day)
        .ok_or_else(|| Thrown::of("java.time.DateTimeException", "Invalid value for Year"))?;
    Ok(Value::object(Time {
        local_ms: day * DAY_MS + time.local_ms.rem_euclid(DAY_MS),
        ..*time
    }))
}

fn written(pattern: &str, time: &Time) -> Outcome<String> {
    let read = Pattern::new(pattern)
        .map_err(|_| Thrown::argument(format!("Unknown pattern letter in {pattern}")))?;
    Ok(read.format(Moment {
        unix_ms: time.local_ms - i64::from(time.offset_s) * 1000,
        offset_s: time.offset_s,
        zone: None,
    }))
}

/// A time as Java tells it.
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
        Kind::DateTime => format!("yyyy-MM-dd'T'{clock}"),
        Kind::Instant | Kind::Zoned => format!("yyyy-MM-dd'T'{clock}{OFFSET}"),
    };
    written(&pattern, time).unwrap_or_default()
}

fn part(this: &Value, pattern: &str) -> Outcome {
    let text = written(pattern, time(this)?)?;
    Ok(text
        .parse()
        .map_or_else(|_| Value::text(text.to_uppercase()), Value::Int))
}

fn ordered(this: &Value, given: &[Value]) -> Outcome<Ordering> {
    Ok(time(this)?.local_ms.cmp(&time(&given[0])?.local_ms))
}

fn unix_ms(time: &Time) -> i64 {
    time.local_ms - i64::from(time.offset_s) * 1000
}

pub(super) static TIME: Table = Table::new(&[
    row("format", 1, 1, |_, this, given| {
        let pattern = given[0]
            .of::<Formatter>()
            .map_or_else(|| text_of(given, 0), |one| one.0.clone());
        Ok(Value::text(written(&pattern, time(this)?)?))
    }),
    row("plusYears", 1, 1, |_, this, given| {
        moved_by_months(this, given, 12)
    }),
    row("plusMonths", 1, 1, |_, this, given| {
        moved_by_months(this, given, 1)
    }),
    row("plusWeeks", 1, 1, |_, this, given| {
        moved_by(this, given, 7 * DAY_MS)
    }),
    row("plusDays", 1, 1, |_, this, given| {
        moved_by(this, given, DAY_MS)
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
        moved_by(this, given, -7 * DAY_MS)
    }),
    row("minusDays", 1, 1, |_, this, given| {
        moved_by(this, given, -DAY_MS)
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
    row("plus", 1, 1, |_, this, given| match given[0].of::<Span>() {
        Some(span) => moved(this, span.0),
        None => moved_by(this, given, DAY_MS),
    }),
    row("minus", 1, 1, |_, this, given| {
        match given[0].of::<Span>() {
            Some(span) => moved(this, -span.0),
            None => moved_by(this, given, -DAY_MS),
        }
    }),
    row("getYear", 0, 0, |_, this, _| part(this, "u")),
    row("getMonthValue", 0, 0, |_, this, _| part(this, "M")),
    row("getMonth", 0, 0, |_, this, _| part(this, "MMMM")),
    row("getDayOfMonth", 0, 0, |_, this, _| part(this, "d")),
    row("getDayOfYear", 0, 0, |_, this, _| part(this, "D")),
    row("getDayOfWeek", 0, 0, |_, this, _| part(this, "EEEE")),
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
    row("toEpochSecond", 0, 1, |_, this, _| {
        Ok(Value::Long(unix_ms(time(this)?).div_euclid(1000)))
    }),
    row("toEpochDay", 0, 0, |_, this, _| {
        Ok(Value::Long(time(this)?.local_ms.div_euclid(DAY_MS)))
    }),
    row("toInstant", 0, 1, |_, this, _| {
        Ok(instant(unix_ms(time(this)?)))
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
        }))
    }),
    row("toLocalTime", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::Time,
            local_ms: time.local_ms.rem_euclid(DAY_MS),
            offset_s: 0,
        }))
    }),
    row("toLocalDateTime", 0, 0, |_, this, _| {
        let time = time(this)?;
        Ok(Value::object(Time {
            kind: Kind::DateTime,
            local_ms: time.local_ms,
            offset_s: 0,
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
        }))
    }),
    row("until", 2, 2, |_, this, given| {
        between(this, &given[0], &text_of(given, 1))
    }),
]);

fn between(from: &Value, to: &Value, unit: &str) -> Outcome {
    let ms = time(to)?.local_ms - time(from)?.local_ms;
    Ok(Value::Long(match unit {
        "DAYS" => ms / DAY_MS,
        "WEEKS" => ms / (7 * DAY_MS),
        "HOURS" => ms / 3_600_000,
        "MINUTES" => ms / 60_000,
        "SECONDS" => ms / 1000,
        _ => ms,
    }))
}

impl Object for Time {
    fn class(&self) -> &'static str {
        match self.kind {
            Kind::Instant => "java.time.Instant",
            Kind::Date => "java.time.LocalDate",
            Kind::Time => "java.time.LocalTime",
            Kind::DateTime => "java.time.LocalDateTime",
            Kind::Zoned => "java.time.ZonedDateTime",
        }
    }

    fn methods(&self) -> &'static Table {
        &TIME
    }

    fn any(&self) -> &dyn Any {
        self
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
        Some(self.local_ms.cmp(&other.local_ms))
    }
}

pub(super) static FORMATTER: Table = Table::new(&[row("format", 1, 1, |_, this, given| {
    let pattern = this
        .of::<Formatter>()
        .map_or_else(String::new, |one| one.0.clone());
    Ok(Value::text(written(&pattern, time(&given[0])?)?))
})]);

impl Object for Formatter {
    fn class(&self) -> &'static str {
        "java.time.format.DateTimeFormatter"
    }

    fn methods(&self) -> &'static Table {
        &FORMATTER
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

pub(super) static SPAN: Table = Table::new(&[
    row("toMillis", 0, 0, |_, this, _| {
        Ok(Value::Long(this.of::<Span>().map_or(0, |span| span.0)))
    }),
    row("getSeconds", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Span>().map_or(0, |span| span.0 / 1000),
        ))
    }),
    row("toSeconds", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Span>().map_or(0, |span| span.0 / 1000),
        ))
    }),
    row("toMinutes", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Span>().map_or(0, |span| span.0 / 60_000),
        ))
    }),
    row("toHours", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Span>().map_or(0, |span| span.0 / 3_600_000),
        ))
    }),
    row("toDays", 0, 0, |_, this, _| {
        Ok(Value::Long(
            this.of::<Span>().map_or(0, |span| span.0 / DAY_MS),
        ))
    }),
]);

impl Object for Span {
    fn class(&self) -> &'static str {
        "java.time.Duration"
    }

    fn methods(&self) -> &'static Table {
        &SPAN
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

fn now(machine: &mut dyn Machine, kind: Kind) -> Outcome {
    let ms = machine.host().unix_ms();
    let offset_s = machine.host().utc_offset_s(ms);
    let local = ms + i64::from(offset_s) * 1000;
    Ok(Value::object(match kind {
        Kind::Instant => Time {
            kind,
            local_ms: ms,
            offset_s: 0,
        },
        Kind::Date => Time {
            kind,
            local_ms: local.div_euclid(DAY_MS) * DAY_MS,
            offset_s: 0,
        },
        Kind::Time => Time {
            kind,
            local_ms: local.rem_euclid(DAY_MS),
            offset_s: 0,
        },
        Kind::DateTime => Time {
            kind,
            local_ms: local,
            offset_s: 0,
        },
        Kind::Zoned => Time {
            kind,
            local_ms: local,
            offset_s,
        },
    }))
}

fn read(given: &[Value], kind: Kind) -> Outcome {
    let text = text_wanted(given, 0)?;
    let patterns: Vec<String> = match given.get(1) {
        Some(formatter) => vec![
            formatter
                .of::<Formatter>()
                .map_or_else(|| print::text(formatter), |one| one.0.clone()),
        ],
        None => {
            let clocks = ["HH:mm:ss.SSS", "HH:mm:ss", "HH:mm"];
            match kind {
                Kind::Date => vec!["uuuu-MM-dd".to_owned()],
                Kind::Time => clocks.map(str::to_owned).to_vec(),
                Kind::DateTime => clocks.map(|clock| format!("uuuu-MM-dd'T'{clock}")).to_vec(),
                _ => clocks
                    .map(|clock| format!("uuuu-MM-dd'T'{clock}{OFFSET}"))
                    .to_vec(),
            }
        }
    };
    for pattern in patterns {
        let Some(fields) = Pattern::new(&pattern)
            .ok()
            .and_then(|pattern| pattern.parse(&text))
        else {
            continue;
        };
        let offset_s = fields.offset_s.unwrap_or(0);
        let (day, clock) = (fields.date(), fields.time_ms());
        let local_ms = match kind {
            Kind::Date => day.map(|day| day * DAY_MS),
            Kind::Time => clock,
            _ => day.zip(clock).map(|(day, clock)| day * DAY_MS + clock),
        };
        if let Some(local_ms) = local_ms {
            let offset_s = i32::try_from(offset_s).unwrap_or(0);
            let is_instant = kind == Kind::Instant;
            return Ok(Value::object(Time {
                kind,
                local_ms: if is_instant {
                    local_ms - i64::from(offset_s) * 1000
                } else {
                    local_ms
                },
                offset_s: if kind == Kind::Zoned { offset_s } else { 0 },
            }));
        }
    }
    Err(Thrown::of(
        "java.time.format.DateTimeParseException",
        format!("Text '{text}' could not be parsed at index 0"),
    ))
}

fn made(given: &[Value], kind: Kind) -> Outcome {
    let at = |place: usize| {
        if place < given.len() {
            long_of(given, place)
        } else {
            Ok(0)
        }
    };
    let clock = |from: usize| -> Outcome<i64> {
        Ok(((at(from)? * 60 + at(from + 1)?) * 60 + at(from + 2)?) * 1000)
    };
    let day = || -> Outcome<i64> {
        let day = day_number(at(0)?, at(1)?, at(2)?);
        day.ok_or_else(|| Thrown::of("java.time.DateTimeException", "Invalid date"))
    };
    Ok(Value::object(Time {
        kind,
        local_ms: match kind {
            Kind::Date => day()? * DAY_MS,
            Kind::Time => clock(0)?,
            _ => day()? * DAY_MS + clock(3)?,
        },
        offset_s: 0,
    }))
}

fn formatter(pattern: &str) -> Outcome {
    Ok(Value::object(Formatter(pattern.to_owned())))
}

static INSTANTS: Table = Table::new(&[
    row("now", 0, 0, |machine, _, _| now(machine, Kind::Instant)),
    row("parse", 1, 1, |_, _, given| read(given, Kind::Instant)),
    row("ofEpochMilli", 1, 1, |_, _, given| {
        Ok(instant(long_of(given, 0)?))
    }),
    row("ofEpochSecond", 1, 1, |_, _, given| {
        Ok(instant(long_of(given, 0)?.saturating_mul(1000)))
    }),
]);
static LOCAL_DATES: Table = Table::new(&[
    row("now", 0, 0, |machine, _, _| now(machine, Kind::Date)),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Date)),
    row("of", 3, 3, |_, _, given| made(given, Kind::Date)),
    row("ofEpochDay", 1, 1, |_, _, given| {
        Ok(Value::object(Time {
            kind: Kind::Date,
            local_ms: long_of(given, 0)?.saturating_mul(DAY_MS),
            offset_s: 0,
        }))
    }),
]);
static LOCAL_TIMES: Table = Table::new(&[
    row("now", 0, 0, |machine, _, _| now(machine, Kind::Time)),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Time)),
    row("of", 2, 3, |_, _, given| made(given, Kind::Time)),
    row("MIDNIGHT", 0, 0, |_, _, _| {
        made(&[Value::Int(0), Value::Int(0)], Kind::Time)
    }),
    row("NOON", 0, 0, |_, _, _| {
        made(&[Value::Int(12), Value::Int(0)], Kind::Time)
    }),
]);
static LOCAL_DATE_TIMES: Table = Table::new(&[
    row("now", 0, 0, |machine, _, _| now(machine, Kind::DateTime)),
    row("parse", 1, 2, |_, _, given| read(given, Kind::DateTime)),
    row("of", 5, 6, |_, _, given| made(given, Kind::DateTime)),
    row("of", 2, 2, |machine, _, given| {
        machine.invoke(&given[0], "atTime", &given[1..])
    }),
]);
static ZONED: Table = Table::new(&[
    row("now", 0, 0, |machine, _, _| now(machine, Kind::Zoned)),
    row("parse", 1, 2, |_, _, given| read(given, Kind::Zoned)),
]);
static FORMATTERS: Table = Table::new(&[
    row("ofPattern", 1, 2, |_, _, given| {
        let pattern = text_of(given, 0);
        Pattern::new(&pattern).map_err(Thrown::argument)?;
        formatter(&pattern)
    }),
    row("ISO_LOCAL_DATE", 0, 0, |_, _, _| formatter("uuuu-MM-dd")),
    row("ISO_DATE", 0, 0, |_, _, _| formatter("uuuu-MM-dd")),
    row("ISO_LOCAL_TIME", 0, 0, |_, _, _| formatter("HH:mm:ss.SSS")),
    row("BASIC_ISO_DATE", 0, 0, |_, _, _| formatter("uuuuMMdd")),
]);
static SPANS: Table = Table::new(&[
    row("between", 2, 2, |_, _, given| {
        Ok(Value::object(Span(
            unix_ms(time(&given[1])?) - unix_ms(time(&given[0])?),
        )))
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

/// A unit, which is told by its name.
struct Unit(&'static str);

pub(super) static UNIT: Table = Table::new(&[row("between", 2, 2, |_, this, given| {
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

    fn any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> String {
        self.0.to_owned()
    }
}

static UNITS: Table = Table::new(&[
    row("DAYS", 0, 0, |_, _, _| Ok(Value::object(Unit("DAYS")))),
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

fn weekday(name: &str) -> Outcome {
    Ok(Value::text(name))
}

static WEEKDAYS: Table = Table::new(&[
    row("MONDAY", 0, 0, |_, _, _| weekday("MONDAY")),
    row("TUESDAY", 0, 0, |_, _, _| weekday("TUESDAY")),
    row("WEDNESDAY", 0, 0, |_, _, _| weekday("WEDNESDAY")),
    row("THURSDAY", 0, 0, |_, _, _| weekday("THURSDAY")),
    row("FRIDAY", 0, 0, |_, _, _| weekday("FRIDAY")),
    row("SATURDAY", 0, 0, |_, _, _| weekday("SATURDAY")),
    row("SUNDAY", 0, 0, |_, _, _| weekday("SUNDAY")),
]);

pub(super) const CLASSES: &[Class] = &[
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
        statics: &ZONED,
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
        statics: &WEEKDAYS,
    },
];
