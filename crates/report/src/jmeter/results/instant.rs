//! Instants as results files write them.
//!
//! Must not know time zones: a written date is interpreted as UTC. Invariant: an invalid text never yields an
//! instant.

use super::ReadInstant;

/// Milliseconds since 1970 of a timestamp: as a number, by the file's pattern, or as a date whose parts descend
/// from the year, such as `2026/11/23 01:02:03.004`.
pub(super) fn read(text: &str, by_pattern: Option<&ReadInstant>) -> Option<i64> {
    let text = text.trim();
    if let Ok(ms) = text.parse() {
        return Some(ms);
    }
    by_pattern
        .and_then(|read| read(text))
        .or_else(|| of_parts(text))
}

fn of_parts(text: &str) -> Option<i64> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    let mut next = |most: i64| {
        let part = parts.next()?;
        let value = part.parse::<i64>().ok()?;
        (part.len() <= 4 && value <= most).then_some(value)
    };
    let (year, month, day) = (next(9999)?, next(12)?, next(31)?);
    let (hour, minute, second) = (next(23)?, next(59)?, next(60)?);
    let ms = next(999).unwrap_or(0);
    let days = days_since_1970(year, month.max(1), day.max(1));
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, by counting years from March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let in_year = (153 * month + 2) / 5 + day - 1;
    365 * year + leap_days + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_milliseconds_are_read() {
        for (text, ms) in [
            ("1795395206839", 1_795_395_206_839),
            ("-5", -5),
            ("1970/01/01 00:00:00", 0),
            ("2026/11/23 00:53:26.839", 1_795_395_206_839),
            ("2024-02-29T23:59:59,999", 1_709_251_199_999),
        ] {
            assert_eq!(read(text, None), Some(ms), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_instants() {
        for text in [
            "",
            "x",
            "11/23/26 00:53:26",
            "2026/13/01 00:00:00",
            "2026/11/23",
        ] {
            assert_eq!(read(text, None), None, "{text}");
        }
    }
}
