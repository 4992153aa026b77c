//! Formats moments with a pattern.
//!
//! Must not know how patterns are parsed. Invariant: every moment has a text.

use std::fmt::Write as _;

use super::pattern::{Field, Item, OffsetStyle, Pattern, Width};
use super::{MONTHS, Moment, WEEKDAYS, date_of, day_number};

const DAY_MS: i64 = 86_400_000;

/// The calendar and clock fields of a moment.
struct Civil {
    days: i64,
    year: i64,
    month: i64,
    day: i64,
    ms_of_day: i64,
    offset_s: i32,
    of: Moment,
}

impl Civil {
    fn new(moment: Moment) -> Civil {
        let local = moment
            .unix_ms
            .saturating_add(i64::from(moment.offset_s) * 1000);
        let days = local.div_euclid(DAY_MS);
        let (year, month, day) = date_of(days);
        Civil {
            days,
            year,
            month,
            day,
            ms_of_day: local.rem_euclid(DAY_MS),
            offset_s: moment.offset_s,
            of: moment,
        }
    }

    /// From 0, for Monday.
    fn weekday(&self) -> i64 {
        (self.days + 3).rem_euclid(7)
    }

    /// Days since the first of January.
    fn day_of_year(&self) -> i64 {
        self.days - day_number(self.year, 1, 1).unwrap_or(self.days)
    }

    /// Year and week in US style: weeks start on Sunday, and the first week contains the first of January.
    fn week(&self) -> (i64, i64) {
        let until_saturday = 6 - (self.weekday() + 1) % 7;
        let saturday = Civil {
            days: self.days + until_saturday,
            ..Civil::at(self.days + until_saturday)
        };
        let first = (saturday.weekday() + 1 - saturday.day_of_year()).rem_euclid(7);
        (saturday.year, (saturday.day_of_year() + first) / 7 + 1)
    }

    fn at(days: i64) -> Civil {
        let unix_ms = days.saturating_mul(DAY_MS);
        Civil::new(Moment {
            unix_ms,
            ..Moment::default()
        })
    }

    fn field(&self, field: Field) -> i64 {
        let second_of_day = self.ms_of_day / 1000;
        let hour = second_of_day / 3600;
        let sunday_of_first = (self.weekday() + 1 - (self.day - 1)).rem_euclid(7);
        match field {
            Field::YearOfEra if self.year < 1 => 1 - self.year,
            Field::YearOfEra | Field::Year => self.year,
            Field::WeekYear => self.week().0,
            Field::Month => self.month,
            Field::Quarter => (self.month + 2) / 3,
            Field::WeekOfYear => self.week().1,
            Field::WeekOfMonth => (self.day - 1 + sunday_of_first) / 7 + 1,
            Field::DayOfYear => self.day_of_year() + 1,
            Field::Day => self.day,
            Field::WeekdayInMonth => (self.day - 1) % 7 + 1,
            Field::Weekday => (self.weekday() + 1) % 7 + 1,
            Field::WeekdayFromMonday => self.weekday() + 1,
            Field::OrdinalInMonth => (self.day - 1) / 7 + 1,
            Field::Hour => hour,
            Field::HourFrom1 => (hour + 23) % 24 + 1,
            Field::ClockHour => (hour + 11) % 12 + 1,
            Field::ClockHourFrom0 => hour % 12,
            Field::Minute => second_of_day / 60 % 60,
            Field::Second => second_of_day % 60,
            Field::Nano => self.ms_of_day % 1000 * 1_000_000,
            Field::Milli => self.ms_of_day % 1000,
            Field::MilliOfDay => self.ms_of_day,
            Field::NanoOfDay => self.ms_of_day * 1_000_000,
        }
    }

    fn push(&self, item: &Item, out: &mut String) {
        // Writing to a String does not fail.
        let _ = match item {
            Item::Literal(text) => out.write_str(text),
            Item::Number(field, fewest, _, signed) => {
                let value = self.field(*field);
                let sign = match value {
                    ..0 => "-",
                    _ if *signed && value.to_string().len() > *fewest => "+",
                    _ => "",
                };
                write!(out, "{sign}{:0fewest$}", value.abs())
            }
            Item::TwoDigitYear(field) => write!(out, "{:02}", self.field(*field).rem_euclid(100)),
            Item::Fraction(count) => {
                let nano = format!("{:09}", self.field(Field::Nano));
                out.write_str(&nano[..*count])
            }
            Item::Month(width) => out.write_str(name(&MONTHS, self.month - 1, *width)),
            Item::Weekday(width) => out.write_str(name(&WEEKDAYS, self.weekday(), *width)),
            Item::HalfDay if self.ms_of_day < DAY_MS / 2 => out.write_str("AM"),
            Item::HalfDay => out.write_str("PM"),
            Item::Era(width) => out.write_str(era(self.year > 0, *width)),
            Item::Quarter(width) => {
                let quarter = self.field(Field::Quarter);
                let suffix = ["st", "nd", "rd", "th"][usize::try_from(quarter - 1).unwrap_or(0)];
                match width {
                    Width::Short => write!(out, "Q{quarter}"),
                    Width::Full => write!(out, "{quarter}{suffix} quarter"),
                    Width::Narrow => write!(out, "{quarter}"),
                }
            }
            Item::Offset(style) => push_offset(self.offset_s, *style, out),
            Item::Zone(_) | Item::ZoneName if self.of.zone.is_some() => self.push_zone(item, out),
            Item::Zone(Width::Full) if self.offset_s == 0 => {
                out.write_str("Coordinated Universal Time")
            }
            Item::Zone(_) | Item::ZoneName if self.offset_s == 0 => out.write_str("UTC"),
            Item::Zone(_) | Item::ZoneName => {
                let style = OffsetStyle {
                    zero: "UTC",
                    colon: true,
                    short: false,
                    gmt: true,
                };
                push_offset(self.offset_s, style, out)
            }
        };
    }
}

impl Civil {
    /// A named zone.
    fn push_zone(&self, item: &Item, out: &mut String) -> std::fmt::Result {
        let Some(zone) = self.of.zone else {
            return Ok(());
        };
        out.write_str(&match item {
            Item::ZoneName => zone.name(),
            Item::Zone(Width::Full) => zone.long_name(self.of.unix_ms),
            _ => zone.short_name(self.of.unix_ms),
        })
    }
}

/// A name from a list, in the requested length.
pub(super) fn name(names: &[&'static str], index: i64, width: Width) -> &'static str {
    let name = usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index))
        .unwrap_or(&"");
    match width {
        Width::Short => &name[..name.len().min(3)],
        Width::Full => name,
        Width::Narrow => &name[..name.len().min(1)],
    }
}

fn era(after: bool, width: Width) -> &'static str {
    match (after, width) {
        (true, Width::Short) => "AD",
        (true, Width::Full) => "Anno Domini",
        (true, Width::Narrow) => "A",
        (false, Width::Short) => "BC",
        (false, Width::Full) => "Before Christ",
        (false, Width::Narrow) => "B",
    }
}

fn push_offset(offset_s: i32, style: OffsetStyle, out: &mut String) -> std::fmt::Result {
    if offset_s == 0 && !style.zero.is_empty() {
        return out.write_str(style.zero);
    }
    let sign = if offset_s < 0 { '-' } else { '+' };
    let minutes = offset_s.abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let colon = if style.colon { ":" } else { "" };
    match (style.gmt, style.short) {
        (true, true) if minutes == 0 => write!(out, "GMT{sign}{hours}"),
        (true, true) => write!(out, "GMT{sign}{hours}:{minutes:02}"),
        (true, false) => write!(out, "GMT{sign}{hours:02}:{minutes:02}"),
        (false, true) if minutes == 0 => write!(out, "{sign}{hours:02}"),
        (false, _) => write!(out, "{sign}{hours:02}{colon}{minutes:02}"),
    }
}

impl Pattern {
    /// Formats a moment.
    #[must_use]
    pub fn format(&self, moment: Moment) -> String {
        let civil = Civil::new(moment);
        let mut out = String::new();
        for item in &self.items {
            civil.push(item, &mut out);
        }
        out
    }

    /// Whether it formats any part of a date, of a time of day, and of a zone.
    #[must_use]
    pub fn wants(&self) -> (bool, bool, bool) {
        let mut wants = (false, false, false);
        for item in &self.items {
            match item {
                Item::Literal(_) => {}
                Item::Number(field, ..) if field.is_of_time() => wants.1 = true,
                Item::Fraction(_) | Item::HalfDay => wants.1 = true,
                Item::Offset(_) | Item::Zone(_) | Item::ZoneName => wants.2 = true,
                _ => wants.0 = true,
            }
        }
        wants
    }
}

impl Field {
    fn is_of_time(self) -> bool {
        matches!(
            self,
            Field::Hour
                | Field::HourFrom1
                | Field::ClockHour
                | Field::ClockHourFrom0
                | Field::Minute
                | Field::Second
                | Field::Nano
                | Field::Milli
                | Field::MilliOfDay
                | Field::NanoOfDay
        )
    }
}
