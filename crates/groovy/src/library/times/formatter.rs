//! `DateTimeFormatter`: formats and parses times.
//!
//! Must not know clocks. Invariant: text parsed with a pattern is formatted the same by it.
// tidy: table

use loadline_java::date_format::{Fields, Pattern};

use super::super::super::print;
use super::super::super::table::{Table, row};
use super::super::super::thrown::Thrown;
use super::super::super::value::{Object, Outcome, Value};
use super::super::{text_of, text_wanted};
use super::place::{Place, offset_text, place_of};
use super::{DAY_MS, Kind, Time, time, unix_ms, written};

/// The letters of an offset such as `+01:00`.
const OFFSET: &str = concat!("X", "XX");

/// The part after an ISO time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Nothing,
    Offset,
    /// The offset, and the zone if it has a name.
    Zone,
}

/// The format of a time.
#[derive(Clone)]
enum Shape {
    Pattern(String),
    /// `2024-05-06T10:20:30.5+02:00[Europe/Paris]`, without parts that the time lacks.
    Iso(Ending),
    /// `2024-05-06T08:20:30.500Z`.
    Instant,
    /// `Mon, 6 May 2024 08:20:30 GMT`.
    Mail,
}

/// `DateTimeFormatter`: the format, and the zone for instants.
#[derive(Clone)]
pub(super) struct Formatter {
    shape: Shape,
    place: Option<Place>,
}

impl Formatter {
    fn shaped(shape: Shape) -> Formatter {
        Formatter { shape, place: None }
    }

    /// A time in this format.
    pub(super) fn written(&self, time: &Time) -> Outcome<String> {
        let is_fixed = time.kind == Kind::Instant || time.place.is_some();
        let time = match self.place.filter(|_| is_fixed) {
            Some(place) => Time::at_instant(unix_ms(time), place, Kind::Zoned),
            None => *time,
        };
        match &self.shape {
            Shape::Pattern(pattern) => written(pattern, &time),
            Shape::Iso(ending) => iso(&time, *ending),
            Shape::Instant => {
                let utc = Time::local(Kind::Instant, unix_ms(&time));
                Ok(super::told(&utc))
            }
            Shape::Mail => {
                let zone = if time.offset_s == 0 { "'GMT'" } else { "Z" };
                written(&format!("EEE, d MMM yyyy HH:mm:ss {zone}"), &time)
            }
        }
    }

    fn pattern(&self) -> Option<&str> {
        match &self.shape {
            Shape::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }
}

/// An ISO time: always with seconds, and as many decimal places as necessary.
fn iso(time: &Time, ending: Ending) -> Outcome<String> {
    let mut text = match time.kind {
        Kind::Time => String::new(),
        _ => written("yyyy-MM-dd", time)?,
    };
    if time.kind != Kind::Date {
        if time.kind != Kind::Time {
            text.push('T');
        }
        text.push_str(&written("HH:mm:ss", time)?);
        let fraction = format!(".{:03}", time.local_ms.rem_euclid(1000));
        text.push_str(fraction.trim_end_matches('0').trim_end_matches('.'));
    }
    if let Some(place) = time.place.filter(|_| ending != Ending::Nothing) {
        text.push_str(&offset_text(time.offset_s));
        if ending == Ending::Zone && place.zone().is_some() {
            text.push_str(&format!("[{}]", place.id()));
        }
    }
    Ok(text)
}

/// Parses a time of a kind, with the given formatter, if any.
pub(super) fn read(given: &[Value], kind: Kind) -> Outcome {
    let text = text_wanted(given, 0)?;
    let formatter = given.get(1).map(|formatter| {
        let own = formatter.of::<Formatter>().cloned();
        own.unwrap_or_else(|| Formatter::shaped(Shape::Pattern(print::text(formatter))))
    });
    let pattern = formatter.as_ref().and_then(Formatter::pattern);
    let unparseable = |why: String| {
        Thrown::of(
            "java.time.format.DateTimeParseException",
            format!("Text '{text}' could not be parsed{why}"),
        )
    };
    // Only the ISO format has a zone in brackets.
    let in_brackets = text.strip_suffix(']').and_then(|text| text.split_once('['));
    let in_brackets = in_brackets.filter(|_| pattern.is_none());
    let (rest, zone) = match in_brackets {
        Some((rest, zone)) => (rest, Some(Place::of(zone)?)),
        None => (text.as_str(), None),
    };
    let patterns = match pattern {
        Some(pattern) => vec![pattern.to_owned()],
        None => patterns_of(kind),
    };
    let is_strict = patterns[0].starts_with("uuuu");
    let read = patterns.iter().find_map(|pattern| {
        let fields = Pattern::new(pattern).ok()?.parse(rest)?;
        if let (true, Some(fault)) = (is_strict, date_fault(&fields)) {
            return Some(Err(fault));
        }
        let place = zone.or(formatter.as_ref().and_then(|formatter| formatter.place));
        time_of(&fields, kind, place).map(Ok)
    });
    match read.ok_or_else(|| unparseable(" at index 0".to_owned()))? {
        Ok(time) => Ok(Value::object(time)),
        Err(fault) => Err(unparseable(fault)),
    }
}

/// What is wrong with the date of a text in an ISO format, which must exist.
fn date_fault(fields: &Fields) -> Option<String> {
    let fault = super::exact_day(fields.year?, fields.month?, fields.day?).err()?;
    match fault {
        Thrown::Exception(exception) => exception.message.as_ref().map(|text| format!(": {text}")),
        Thrown::End(_) => None,
    }
}

/// The default patterns of a kind of time.
fn patterns_of(kind: Kind) -> Vec<String> {
    let clocks = [
        "HH:mm:ss.SSS",
        "HH:mm:ss.SSSSSSSSS",
        "HH:mm:ss.SSSSSS",
        "HH:mm:ss.SS",
        "HH:mm:ss.S",
        "HH:mm:ss",
        "HH:mm",
    ];
    let with = |before: &str, behind: &str| {
        let all = clocks.iter();
        all.map(|clock| format!("{before}{clock}{behind}"))
            .collect()
    };
    match kind {
        Kind::Date => vec!["uuuu-MM-dd".to_owned()],
        Kind::Time => with("", ""),
        Kind::DateTime => with("uuuu-MM-dd'T'", ""),
        Kind::Instant | Kind::Zoned | Kind::Offset => with("uuuu-MM-dd'T'", OFFSET),
    }
}

/// The time of a kind from parsed fields; `None`: a field is missing.
fn time_of(fields: &Fields, kind: Kind, place: Option<Place>) -> Option<Time> {
    let (day, clock) = (fields.date(), fields.time_ms());
    match kind {
        Kind::Date => return Some(Time::local(kind, day? * DAY_MS)),
        Kind::Time => return Some(Time::local(kind, clock?)),
        _ => {}
    }
    let local_ms = day? * DAY_MS + clock?;
    if kind == Kind::DateTime {
        return Some(Time::local(kind, local_ms));
    }
    let offset_s = match fields.offset_s {
        Some(offset_s) => Some(i32::try_from(offset_s).ok()?),
        None => None,
    };
    let place = fields.zone.map(Place::Named).or(place);
    let place = place.or(offset_s.map(Place::Offset))?;
    let told = match offset_s {
        Some(offset_s) => Time::at_instant(local_ms - i64::from(offset_s) * 1000, place, kind),
        None => Time::at_local(local_ms, place, kind),
    };
    Some(match kind {
        Kind::Instant => Time::local(kind, unix_ms(&told)),
        _ => told,
    })
}

pub(in super::super) static FORMATTER: Table = Table::new(&[
    row("format", 1, 1, |_, this, given| {
        let time = time(&given[0])?;
        let formatter = this.of::<Formatter>();
        let text = formatter.map_or_else(|| Ok(super::told(time)), |one| one.written(time));
        Ok(Value::text(text?))
    }),
    row("withZone", 1, 1, |_, this, given| {
        let mut formatter = own(this)?;
        formatter.place = Some(place_of(&given[0])?);
        Ok(Value::object(formatter))
    }),
    // Names of days and months are always English.
    row("withLocale", 1, 1, |_, this, _| {
        Ok(Value::object(own(this)?))
    }),
]);

fn own(this: &Value) -> Outcome<Formatter> {
    let formatter = this.of::<Formatter>().cloned();
    formatter.ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

impl Object for Formatter {
    fn class(&self) -> &'static str {
        "java.time.format.DateTimeFormatter"
    }

    fn methods(&self) -> &'static Table {
        &FORMATTER
    }
}

fn shaped(shape: Shape) -> Outcome {
    Ok(Value::object(Formatter::shaped(shape)))
}

pub(super) static FORMATTERS: Table = Table::new(&[
    row("ofPattern", 1, 2, |_, _, given| {
        let pattern = text_of(given, 0);
        Pattern::new(&pattern).map_err(Thrown::argument)?;
        shaped(Shape::Pattern(pattern))
    }),
    row("ISO_LOCAL_DATE", 0, 0, |_, _, _| {
        shaped(Shape::Pattern("uuuu-MM-dd".to_owned()))
    }),
    row("ISO_DATE", 0, 0, |_, _, _| {
        shaped(Shape::Pattern("uuuu-MM-dd".to_owned()))
    }),
    row("BASIC_ISO_DATE", 0, 0, |_, _, _| {
        shaped(Shape::Pattern("uuuuMMdd".to_owned()))
    }),
    row("ISO_LOCAL_TIME", 0, 0, |_, _, _| {
        shaped(Shape::Iso(Ending::Nothing))
    }),
    row("ISO_LOCAL_DATE_TIME", 0, 0, |_, _, _| {
        shaped(Shape::Iso(Ending::Nothing))
    }),
    row("ISO_OFFSET_DATE_TIME", 0, 0, |_, _, _| {
        shaped(Shape::Iso(Ending::Offset))
    }),
    row("ISO_ZONED_DATE_TIME", 0, 0, |_, _, _| {
        shaped(Shape::Iso(Ending::Zone))
    }),
    row("ISO_DATE_TIME", 0, 0, |_, _, _| {
        shaped(Shape::Iso(Ending::Zone))
    }),
    row("ISO_INSTANT", 0, 0, |_, _, _| shaped(Shape::Instant)),
    row("RFC_1123_DATE_TIME", 0, 0, |_, _, _| shaped(Shape::Mail)),
]);
