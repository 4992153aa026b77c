//! `java.text.SimpleDateFormat`: its letters, and its lenient reading.
//!
//! Must not know clocks. Invariant: text behind what the pattern asks for is ignored, and a field beyond its range is
//! carried into the next greater one unless the reading is strict.
//!
//! Source: the documentation of `SimpleDateFormat` and `GregorianCalendar`, and their behaviour.

use super::pattern::{Field, Item, OffsetStyle, Part, Pattern, Width, parts};
use super::read::{offset, zone};
use super::{MONTHS, WEEKDAYS, date_of, day_number, days_in_month};
use crate::zone::Zone;

const DAY_MS: i64 = 86_400_000;
/// Digits of a number in a text at most: more do not fit into any field.
const DIGITS_MAX: usize = 12;
/// Letters of a number at most: each writes a digit.
const LETTERS_MAX: usize = 1_000;

/// A text as read: local milliseconds since 1970, and what the text says of its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Milliseconds since 1970 on the clocks of the zone.
    pub local_ms: i64,
    /// Offset from UTC in seconds, if the text has one.
    pub offset_s: Option<i64>,
    /// The zone, if named.
    pub zone: Option<Zone>,
}

/// Fields of a text, before they become a date.
#[derive(Clone, Copy, Default)]
struct Found {
    year: Option<i64>,
    is_short_year: bool,
    is_before_era: bool,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    week_of_year: Option<i64>,
    week_of_month: Option<i64>,
    ordinal: Option<i64>,
    /// From 0, for Monday.
    weekday: Option<i64>,
    hour: Option<i64>,
    clock_hour: Option<i64>,
    half_day: Option<i64>,
    minute: i64,
    second: i64,
    milli: i64,
    offset_s: Option<i64>,
    zone: Option<Zone>,
}

impl Pattern {
    /// Parses a pattern of `SimpleDateFormat`.
    ///
    /// # Errors
    /// Java's message.
    pub fn simple(pattern: &str) -> Result<Pattern, String> {
        let items = parts(pattern)
            .into_iter()
            .map(|part| match part {
                Part::Letters(letter, count) => item(letter, count),
                Part::Quoted(text) => Ok(Item::Literal(text)),
                Part::Unclosed => Err("Unterminated quote".to_owned()),
                Part::Other(letter) => Ok(Item::Literal(letter.to_string())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Pattern { items })
    }

    /// Reads a text as `SimpleDateFormat.parse` does; `None` if Java throws. `now_ms`: years of two digits are those
    /// from 80 years before it on.
    #[must_use]
    pub fn read_simply(&self, text: &str, now_ms: i64, is_lenient: bool) -> Option<Reading> {
        let mut found = Found::default();
        let mut rest = text;
        for (index, item) in self.items.iter().enumerate() {
            rest = match item {
                Item::Literal(literal) => rest.strip_prefix(literal.as_str())?,
                item => {
                    let is_adjacent = self.items.get(index + 1).is_some_and(is_number);
                    found.take(item, rest.trim_start_matches([' ', '\t']), is_adjacent)?
                }
            };
        }
        let local_ms = found.local_ms(now_ms, is_lenient)?;
        Some(Reading {
            local_ms,
            offset_s: found.offset_s,
            zone: found.zone,
        })
    }
}

fn item(letter: char, count: usize) -> Result<Item, String> {
    let width = if count < 4 { Width::Short } else { Width::Full };
    let number = |field| Item::Number(field, count.min(LETTERS_MAX), DIGITS_MAX, false);
    Ok(match letter {
        'y' if count == 2 => Item::TwoDigitYear(Field::YearOfEra),
        'y' => number(Field::YearOfEra),
        'Y' if count == 2 => Item::TwoDigitYear(Field::WeekYear),
        'Y' => number(Field::WeekYear),
        'M' | 'L' if count > 2 => Item::Month(width),
        'M' | 'L' => number(Field::Month),
        'w' => number(Field::WeekOfYear),
        'W' => number(Field::WeekOfMonth),
        'D' => number(Field::DayOfYear),
        'd' => number(Field::Day),
        'F' => number(Field::OrdinalInMonth),
        'E' => Item::Weekday(width),
        'u' => number(Field::WeekdayFromMonday),
        'a' => Item::HalfDay,
        'G' => Item::Era(Width::Short),
        'H' => number(Field::Hour),
        'k' => number(Field::HourFrom1),
        'h' => number(Field::ClockHour),
        'K' => number(Field::ClockHourFrom0),
        'm' => number(Field::Minute),
        's' => number(Field::Second),
        'S' => number(Field::Milli),
        'z' => Item::Zone(width),
        'Z' => Item::Offset(style("", false, false)),
        'X' if count <= 3 => Item::Offset(style("Z", count == 3, count == 1)),
        'X' => return Err("invalid ISO 8601 format: length=".to_owned() + &count.to_string()),
        other => return Err(format!("Illegal pattern character '{other}'")),
    })
}

fn style(zero: &'static str, colon: bool, short: bool) -> OffsetStyle {
    OffsetStyle {
        zero,
        colon,
        short,
        gmt: false,
    }
}

fn is_number(item: &Item) -> bool {
    matches!(item, Item::Number(..) | Item::TwoDigitYear(_))
}

/// The number at the start of a text, how many digits it has, and the rest.
fn digits(text: &str, most: usize) -> Option<(i64, usize, &str)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let count = count.min(most);
    let value = text[..count].parse().ok().filter(|_| count <= DIGITS_MAX)?;
    Some((value, count, &text[count..]))
}

/// The name at the start of a text, whole or short and in any case, and the rest.
fn named<'t>(names: &[&str], text: &'t str) -> Option<(i64, &'t str)> {
    let starts = |name: &str| {
        let start = text.get(..name.len())?;
        start
            .eq_ignore_ascii_case(name)
            .then(|| &text[name.len()..])
    };
    let whole = (0..)
        .zip(names)
        .find_map(|(at, name)| Some((at, starts(name)?)));
    let short = || {
        let mut all = (0..).zip(names);
        all.find_map(|(at, name)| Some((at, starts(name.get(..3).unwrap_or(name))?)))
    };
    whole.or_else(short)
}

impl Found {
    /// Reads one item of a pattern; returns the rest of the text.
    fn take<'t>(&mut self, item: &Item, text: &'t str, is_adjacent: bool) -> Option<&'t str> {
        match item {
            Item::Literal(literal) => text.strip_prefix(literal.as_str()),
            Item::Number(..) | Item::TwoDigitYear(_) => {
                let (field, count) = match item {
                    Item::Number(field, count, ..) => (*field, *count),
                    Item::TwoDigitYear(field) => (*field, 2),
                    _ => return None,
                };
                let most = if is_adjacent { count } else { usize::MAX };
                let (value, length, rest) = digits(text, most)?;
                self.is_short_year |= field == Field::YearOfEra && count <= 2 && length == 2;
                self.set(field, value)?;
                Some(rest)
            }
            Item::Month(_) => {
                let (at, rest) = named(&MONTHS, text)?;
                self.month = Some(at + 1);
                Some(rest)
            }
            Item::Weekday(_) => {
                let (at, rest) = named(&WEEKDAYS, text)?;
                self.weekday = Some(at);
                Some(rest)
            }
            Item::HalfDay => {
                let (at, rest) = named(&["AM", "PM"], text)?;
                self.half_day = Some(at);
                Some(rest)
            }
            Item::Era(_) => {
                let (at, rest) = named(&["AD", "BC"], text)?;
                self.is_before_era = at == 1;
                Some(rest)
            }
            Item::Offset(style) if style.zero == "Z" => {
                let (offset_s, rest) = offset(text, *style)?;
                self.offset_s = Some(offset_s);
                Some(rest)
            }
            Item::Offset(_) | Item::Zone(_) => self.take_zone(text),
            Item::Fraction(_) | Item::Quarter(_) | Item::ZoneName => None,
        }
    }

    /// `+0100`, `GMT+01:00` or a name.
    fn take_zone<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let after_gmt = text.strip_prefix("GMT");
        let numbers = offset(text, style("", false, false))
            .or_else(|| offset(after_gmt?, style("", true, false)));
        if let Some((offset_s, rest)) = numbers {
            self.offset_s = Some(offset_s);
            return Some(rest);
        }
        let (zone, rest) = zone(text)?;
        self.zone = zone;
        if zone.is_none() {
            self.offset_s = Some(0);
        }
        Some(rest)
    }

    fn set(&mut self, field: Field, value: i64) -> Option<()> {
        match field {
            Field::YearOfEra | Field::WeekYear => self.year = Some(value),
            Field::Month => self.month = Some(value),
            Field::Day => self.day = Some(value),
            Field::DayOfYear => self.day_of_year = Some(value),
            Field::WeekOfYear => self.week_of_year = Some(value),
            Field::WeekOfMonth => self.week_of_month = Some(value),
            Field::OrdinalInMonth => self.ordinal = Some(value),
            Field::WeekdayFromMonday => self.weekday = Some(value - 1),
            Field::Hour => self.hour = Some(value),
            Field::HourFrom1 => self.hour = Some(if value == 24 { 0 } else { value }),
            Field::ClockHour => self.clock_hour = Some(if value == 12 { 0 } else { value }),
            Field::ClockHourFrom0 => self.clock_hour = Some(value),
            Field::Minute => self.minute = value,
            Field::Second => self.second = value,
            Field::Milli => self.milli = value,
            _ => return None,
        }
        Some(())
    }

    fn local_ms(&self, now_ms: i64, is_lenient: bool) -> Option<i64> {
        let mut year = self.year.unwrap_or(1970);
        if self.is_short_year {
            let (now, month, day) = date_of(now_ms.div_euclid(DAY_MS));
            let first = now - 80;
            year += first - first.rem_euclid(100);
            let start = day_number(first, month, day)? * DAY_MS + now_ms.rem_euclid(DAY_MS);
            if self.days(year)? * DAY_MS + self.clock_ms() < start {
                year += 100;
            }
        }
        if self.is_before_era {
            year = 1 - year;
        }
        let days = self.days(year)?;
        if !is_lenient && !self.is_in_range(year, days) {
            return None;
        }
        days.checked_mul(DAY_MS)?.checked_add(self.clock_ms())
    }

    /// Days since 1970 in a year.
    fn days(&self, year: i64) -> Option<i64> {
        let month = self.month.unwrap_or(1) - 1;
        let (year_of_month, month) = (year + month.div_euclid(12), month.rem_euclid(12) + 1);
        let first = day_number(year_of_month, month, 1)?;
        if let Some(day) = self.day {
            return Some(first + day - 1);
        }
        if let Some(day) = self.day_of_year {
            return Some(day_number(year, 1, 1)? + day - 1);
        }
        // From 0, for Sunday, with which weeks start.
        let from_sunday = |weekday: i64| (weekday + 1).rem_euclid(7);
        let wanted = self.weekday.map_or(0, from_sunday);
        let in_week = |first: i64, week: i64| {
            let sunday = first - (first + 4).rem_euclid(7);
            sunday + (week - 1) * 7 + wanted
        };
        if let Some(week) = self.week_of_month {
            return Some(in_week(first, week));
        }
        if let Some(week) = self.week_of_year {
            return Some(in_week(day_number(year, 1, 1)?, week));
        }
        if self.ordinal.is_some() || self.weekday.is_some() {
            let until = (wanted - (first + 4)).rem_euclid(7);
            return Some(first + until + (self.ordinal.unwrap_or(1) - 1) * 7);
        }
        Some(first)
    }

    /// Milliseconds since midnight, which may be more than a day's.
    fn clock_ms(&self) -> i64 {
        let of_clock = self.clock_hour.unwrap_or(0) + 12 * self.half_day.unwrap_or(0);
        let hour = self.hour.unwrap_or(of_clock);
        ((hour * 60 + self.minute) * 60 + self.second) * 1000 + self.milli
    }

    /// Whether each field has a value that its field can have, and they agree.
    fn is_in_range(&self, year: i64, days: i64) -> bool {
        let month = self.month.unwrap_or(1);
        let within = |value: Option<i64>, least: i64, most: i64| {
            value.is_none_or(|value| (least..=most).contains(&value))
        };
        let of_year = 337 + days_in_month(year, 2);
        within(self.month, 1, 12)
            && within(self.year, 1, i64::MAX)
            && within(self.day, 1, days_in_month(year, month))
            && within(self.day_of_year, 1, of_year)
            && within(self.hour, 0, 23)
            && within(self.clock_hour, 0, 11)
            && within(Some(self.minute), 0, 59)
            && within(Some(self.second), 0, 59)
            && within(Some(self.milli), 0, 999)
            && self
                .weekday
                .is_none_or(|weekday| weekday == (days + 3).rem_euclid(7))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date_format::Moment;

    /// 2026-11-30.
    const NOW_MS: i64 = 1_796_000_000_000;

    fn read(pattern: &str, text: &str, is_lenient: bool) -> Option<i64> {
        let pattern = Pattern::simple(pattern).expect("the pattern is valid");
        let reading = pattern.read_simply(text, NOW_MS, is_lenient)?;
        Some(reading.local_ms - reading.offset_s.unwrap_or(0) * 1000)
    }

    #[test]
    fn texts_are_read_as_by_simple_date_format() {
        for (pattern, text, expected) in [
            ("yyyy-MM-dd", "2024-02-30", 1_709_251_200_000),
            ("dd/MM/yyyy", "31/04/2024", 1_714_521_600_000),
            ("dd/MM/yyyy", "32/01/2020", 1_580_515_200_000),
            ("yyyy-MM-dd", "2024-13-01", 1_735_689_600_000),
            ("yyyy-MM-dd HH:mm", "2024-13-01 25:61", 1_735_783_260_000),
            ("yyyy-MM-dd", "2024-02-03 junk", 1_706_918_400_000),
            ("yy-M-d", "99-1-5", 915_494_400_000),
            ("yy-M-d", "24-1-5", 1_704_412_800_000),
            ("yyyyMMdd", "20240105", 1_704_412_800_000),
            (
                "yyyy-MM-dd'T'HH:mm:ss.SSSX",
                "2024-01-01T00:00:00.5Z",
                1_704_067_200_005,
            ),
            (
                "EEE, d MMM yyyy HH:mm:ss Z",
                "Fri, 5 jan 2024 10:00:00 +0100",
                1_704_445_200_000,
            ),
            ("h:mm a", "12:30 am", 1_800_000),
        ] {
            assert_eq!(
                read(pattern, text, true),
                Some(expected),
                "{pattern} {text}"
            );
        }
        for (pattern, text) in [
            ("yyyy-MM-dd", "2024-02-30"),
            ("yyyy-MM-dd", "2024-13-01"),
            ("HH:mm", "25:00"),
        ] {
            assert_eq!(read(pattern, text, false), None, "{text}");
        }
        assert_eq!(read("yyyy-MM-dd", "soon", true), None);
    }

    #[test]
    fn letters_mean_what_they_mean_to_simple_date_format() {
        // 29 February 2024, a Thursday.
        let moment = Moment {
            unix_ms: 1_709_164_800_005,
            ..Moment::default()
        };
        for (pattern, expected) in [
            ("F", "5"),
            ("u", "4"),
            ("S", "5"),
            ("SSSSSS", "000005"),
            ("yy y yyyyy", "24 2024 02024"),
            ("[MMM] EEEEE", "[Feb] Thursday"),
        ] {
            let pattern = Pattern::simple(pattern).expect("the pattern is valid");
            assert_eq!(pattern.format(moment), expected);
        }
        assert_eq!(
            Pattern::simple("b"),
            Err("Illegal pattern character 'b'".to_owned())
        );
    }
}
