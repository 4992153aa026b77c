//! `ZoneId` and `ZoneOffset`: the place of a time.
//!
//! Must not know times. Invariant: a place is a named zone, or a fixed offset from UTC.
// tidy: table

use loadline_java::zone::Zone;

use super::super::super::table::{Table, row};
use super::super::super::thrown::Thrown;
use super::super::super::value::{Machine, Object, Outcome, Value};
use super::super::{long_of, text_of};

/// The place of a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Offset from UTC in seconds; positive: ahead.
    Offset(i32),
    Named(Zone),
}

impl Place {
    /// The place for a text: `Europe/Berlin`, `Z`, `+02:00`.
    pub(super) fn of(name: &str) -> Outcome<Place> {
        if name == "Z" || name.starts_with(['+', '-']) {
            let offset_s = offset_of(name).ok_or_else(|| {
                let message = format!("Invalid ID for ZoneOffset, invalid format: {name}");
                Thrown::of("java.time.DateTimeException", message)
            })?;
            return Ok(Place::Offset(offset_s));
        }
        // Three-letter short names are not valid here, with a few exceptions.
        let is_short = name.len() == 3 && !["UTC", "GMT"].contains(&name);
        let zone = Zone::named(name).filter(|_| !is_short || name == "CET" || name == "EET");
        zone.map(Place::Named).ok_or_else(|| {
            let message = format!("Unknown time-zone ID: {name}");
            Thrown::of("java.time.zone.ZoneRulesException", message)
        })
    }

    /// The zone of the machine.
    pub(super) fn of_machine(machine: &mut dyn Machine) -> Place {
        let host = machine.host();
        let now_ms = host.unix_ms();
        Place::Offset(host.utc_offset_s(now_ms))
    }

    /// The zone, if it has a name.
    pub(super) fn zone(self) -> Option<Zone> {
        match self {
            Place::Named(zone) => Some(zone),
            Place::Offset(_) => None,
        }
    }

    /// Its id.
    pub(super) fn id(self) -> String {
        match self {
            Place::Named(zone) => zone.name(),
            Place::Offset(offset_s) => offset_text(offset_s),
        }
    }

    /// Its offset from UTC in seconds at an instant; positive: ahead.
    pub(super) fn offset_s(self, unix_ms: i64) -> i32 {
        match self {
            Place::Named(zone) => zone.offset_s(unix_ms),
            Place::Offset(offset_s) => offset_s,
        }
    }

    /// The same for a local time.
    pub(super) fn offset_s_at_local(self, local_ms: i64) -> i32 {
        match self {
            Place::Named(zone) => zone.offset_s_at_local(local_ms),
            Place::Offset(offset_s) => offset_s,
        }
    }
}

/// The place in a value, or given by its text.
pub(super) fn place_of(value: &Value) -> Outcome<Place> {
    match value.of::<Place>() {
        Some(place) => Ok(*place),
        None => Place::of(&text_of(std::slice::from_ref(value), 0)),
    }
}

/// Seconds of `Z`, `+2`, `+02`, `+0230` and `+02:30`.
fn offset_of(text: &str) -> Option<i32> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|letter| *letter != ':').collect();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// An offset in Java's format.
pub(super) fn offset_text(offset_s: i32) -> String {
    if offset_s == 0 {
        return "Z".to_owned();
    }
    let sign = if offset_s < 0 { '-' } else { '+' };
    let seconds = offset_s.abs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let tail = match seconds % 60 {
        0 => String::new(),
        seconds => format!(":{seconds:02}"),
    };
    format!("{sign}{hours:02}:{minutes:02}{tail}")
}

pub(in super::super) static PLACE: Table = Table::new(&[
    row("getId", 0, 0, |_, this, _| {
        Ok(Value::text(place_of(this)?.id()))
    }),
    row("getTotalSeconds", 0, 0, |_, this, _| {
        Ok(Value::Int(place_of(this)?.offset_s(0)))
    }),
]);

impl Object for Place {
    fn class(&self) -> &'static str {
        match self {
            Place::Named(_) => "java.time.ZoneRegion",
            Place::Offset(_) => "java.time.ZoneOffset",
        }
    }

    fn methods(&self) -> &'static Table {
        &PLACE
    }

    fn text(&self) -> String {
        self.id()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.any().downcast_ref::<Place>() == Some(self)
    }
}

fn offset(seconds: i64) -> Outcome {
    let seconds = i32::try_from(seconds).ok();
    let offset_s = seconds.filter(|seconds| seconds.abs() <= 18 * 3600);
    let offset_s = offset_s.ok_or_else(|| {
        let message = "Zone offset not in valid range: -18:00 to +18:00";
        Thrown::of("java.time.DateTimeException", message)
    })?;
    Ok(Value::object(Place::Offset(offset_s)))
}

pub(super) static ZONE_IDS: Table = Table::new(&[
    row("of", 1, 1, |_, _, given| {
        Ok(Value::object(Place::of(&text_of(given, 0))?))
    }),
    row("systemDefault", 0, 0, |machine, _, _| {
        Ok(Value::object(Place::of_machine(machine)))
    }),
]);

pub(super) static ZONE_OFFSETS: Table = Table::new(&[
    row("UTC", 0, 0, |_, _, _| offset(0)),
    row("of", 1, 1, |_, _, given| {
        let text = text_of(given, 0);
        offset_of(&text).map_or_else(
            || {
                let message = format!("Invalid ID for ZoneOffset, invalid format: {text}");
                Err(Thrown::of("java.time.DateTimeException", message))
            },
            |seconds| offset(i64::from(seconds)),
        )
    }),
    row("ofHours", 1, 1, |_, _, given| {
        offset(long_of(given, 0)?.saturating_mul(3600))
    }),
    row("ofHoursMinutes", 2, 2, |_, _, given| {
        let minutes = long_of(given, 0)?.saturating_mul(60);
        offset(
            minutes
                .saturating_add(long_of(given, 1)?)
                .saturating_mul(60),
        )
    }),
    row("ofTotalSeconds", 1, 1, |_, _, given| {
        offset(long_of(given, 0)?)
    }),
]);
