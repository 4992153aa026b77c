//! Parses texts with a pattern.
//!
//! Must not know how patterns are parsed. Invariant: a text is parsed completely or not at all, in time linear
//! in its length.

use super::pattern::{Field, Item, OffsetStyle, Pattern, Width};
use super::write::name;
use super::{Fields, MONTHS, WEEKDAYS};
use crate::zone::Zone;

impl Pattern {
    /// Parses a text; `None` if Java throws, and for fields that are only formatted.
    #[must_use]
    pub fn parse(&self, text: &str) -> Option<Fields> {
        let mut fields = Fields::default();
        let mut rest = text;
        for (index, item) in self.items.iter().enumerate() {
            rest = match item {
                Item::Literal(literal) => rest.strip_prefix(literal.as_str())?,
                Item::Number(field, fewest, most, signed) => {
                    let reserved = reserved_after(&self.items[index + 1..]);
                    let (value, rest) = number(rest, *fewest, *most, *signed, reserved)?;
                    fields.set(*field, value)?;
                    rest
                }
                Item::TwoDigitYear(field) => {
                    let (value, rest) = number(rest, 2, 2, false, 0)?;
                    fields.set(*field, 2000 + value)?;
                    rest
                }
                Item::Fraction(count) => {
                    let (value, rest) = number(rest, *count, *count, false, 0)?;
                    let power = u32::try_from(9 - count).ok()?;
                    fields.nano = Some(value * 10_i64.pow(power));
                    rest
                }
                Item::Month(width) => {
                    let (index, rest) = one_of(&MONTHS, rest, *width)?;
                    fields.month = Some(index + 1);
                    rest
                }
                Item::Weekday(width) => {
                    let (index, rest) = one_of(&WEEKDAYS, rest, *width)?;
                    fields.weekday = Some(index);
                    rest
                }
                Item::HalfDay => {
                    let (index, rest) = one_of(&["AM", "PM"], rest, Width::Full)?;
                    fields.half_day = Some(index);
                    rest
                }
                Item::Era(Width::Short) => rest.strip_prefix("AD")?,
                Item::Era(_) | Item::Quarter(_) => return None,
                Item::Offset(style) => {
                    let (offset_s, rest) = offset(rest, *style)?;
                    fields.offset_s = Some(offset_s);
                    rest
                }
                Item::Zone(_) | Item::ZoneName => {
                    let (zone, rest) = zone(rest)?;
                    fields.zone = zone;
                    if zone.is_none() {
                        fields.offset_s = Some(0);
                    }
                    rest
                }
            };
        }
        (rest.is_empty() && fields.are_in_range()).then_some(fields)
    }
}

/// Digits required by the directly following numbers: a number of variable length leaves them alone.
fn reserved_after(items: &[Item]) -> usize {
    let widths = items.iter().map_while(|item| match item {
        Item::Number(_, fewest, most, _) if fewest == most => Some(*fewest),
        Item::TwoDigitYear(_) => Some(2),
        Item::Fraction(count) => Some(*count),
        _ => None,
    });
    widths.sum()
}

fn number(
    text: &str,
    fewest: usize,
    most: usize,
    signed: bool,
    reserved: usize,
) -> Option<(i64, &str)> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' if fewest != most => (-1, &text[1..]),
        b'+' if signed => (1, &text[1..]),
        _ => (1, text),
    };
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let length = digits
        .saturating_sub(reserved)
        .max(fewest)
        .min(most)
        .min(digits);
    let plus = unsigned.len() < text.len() && sign == 1;
    // A year of more than four digits must have a plus sign, and one of four must not.
    if length < fewest || (signed && sign == 1 && plus != (length > fewest)) {
        return None;
    }
    let value: i64 = unsigned[..length].parse().ok()?;
    Some((sign * value, &unsigned[length..]))
}

/// The name at the start of a text, and the rest.
fn one_of<'t>(names: &[&'static str], text: &'t str, width: Width) -> Option<(i64, &'t str)> {
    (0..).zip(names).find_map(|(index, _)| {
        let rest = text.strip_prefix(name(names, index, width))?;
        Some((index, rest))
    })
}

/// The zone named at the start of a text, and the rest; `None`: UTC.
pub(super) fn zone(text: &str) -> Option<(Option<Zone>, &str)> {
    let is_of_name =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '-' | '+');
    let end = text.find(|letter| !is_of_name(letter));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    if !matches!(name, "UTC" | "GMT")
        && let Some(zone) = Zone::named(name)
    {
        return Some((Some(zone), rest));
    }
    let mut none = ["UTC", "GMT", "Z"].iter();
    let rest = none.find_map(|zone| text.strip_prefix(zone))?;
    Some((None, rest))
}

pub(super) fn offset(text: &str, style: OffsetStyle) -> Option<(i64, &str)> {
    if !style.zero.is_empty()
        && let Some(rest) = text.strip_prefix(style.zero)
        && !rest.starts_with(['+', '-'])
    {
        return Some((0, rest));
    }
    let text = if style.gmt {
        text.strip_prefix("GMT")?
    } else {
        text
    };
    let (sign, text) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, rest) = number(text, 2, 2, false, 0)?;
    let after_colon = if style.colon {
        rest.strip_prefix(':')
    } else {
        Some(rest)
    };
    let minutes = after_colon.and_then(|rest| number(rest, 2, 2, false, 0));
    let (minutes, rest) = match minutes {
        Some(found) => found,
        None if style.short => (0, rest),
        None => return None,
    };
    let seconds = hours * 3600 + minutes * 60;
    (seconds <= 18 * 3600 && minutes < 60).then_some((sign * seconds, rest))
}

impl Fields {
    fn set(&mut self, field: Field, value: i64) -> Option<()> {
        let place = match field {
            Field::YearOfEra => &mut self.year_of_era,
            Field::Year => &mut self.year,
            Field::Month => &mut self.month,
            Field::Day => &mut self.day,
            Field::DayOfYear => &mut self.day_of_year,
            Field::Hour | Field::HourFrom1 => &mut self.hour,
            Field::ClockHour | Field::ClockHourFrom0 => &mut self.clock_hour,
            Field::Minute => &mut self.minute,
            Field::Second => &mut self.second,
            Field::Nano => &mut self.nano,
            _ => return None,
        };
        *place = Some(match field {
            Field::HourFrom1 if value == 24 => 0,
            Field::HourFrom1 if value == 0 => return None,
            Field::ClockHourFrom0 if value > 11 => return None,
            Field::ClockHour if value == 0 => return None,
            _ => value,
        });
        Some(())
    }

    fn are_in_range(&self) -> bool {
        let within = |value: Option<i64>, highest: i64| {
            value.is_none_or(|value| (0..=highest).contains(&value))
        };
        let midnight = self.hour == Some(24)
            && [self.minute, self.second, self.nano]
                .iter()
                .all(|part| part.unwrap_or(0) == 0);
        (within(self.hour, 23) || midnight)
            && within(self.clock_hour, 12)
            && within(self.minute, 59)
            && within(self.second, 59)
            && within(self.nano, 999_999_999)
    }
}
