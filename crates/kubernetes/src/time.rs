//! Instants as the API writes them (RFC 3339 in UTC), and as nanoseconds since 1970.
//!
//! Must not know which clock they came from. Invariant: what is formatted is read back as the same instant.

const NS_PER_S: i128 = 1_000_000_000;
const S_PER_DAY: i64 = 86_400;

/// Reads an instant such as `2026-11-21T20:15:58.25Z` or `…+01:00` as nanoseconds since 1970; digits beyond nanoseconds
/// are cut. `None`: it is none, or lies before 1970 or after 2554.
///
/// Source: RFC 3339, section 5.6.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let is_shaped = text.is_ascii()
        && bytes.len() >= 20
        && [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')]
            .iter()
            .all(|(at, wanted)| bytes[*at] == *wanted)
        && matches!(bytes[10], b'T' | b't' | b' ');
    if !is_shaped {
        return None;
    }
    let [year, month, day] = [
        digits(&text[0..4])?,
        digits(&text[5..7])?,
        digits(&text[8..10])?,
    ];
    let [hour, minute, second] = [
        digits(&text[11..13])?,
        digits(&text[14..16])?,
        digits(&text[17..19])?,
    ];
    let is_real = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_real {
        return None;
    }
    let (fraction_ns, zone) = fraction(&text[19..])?;
    let days = days_from_civil(year, month, day);
    let seconds = days * S_PER_DAY + hour * 3600 + minute * 60 + second - offset_s(zone)?;
    u64::try_from(i128::from(seconds) * NS_PER_S + i128::from(fraction_ns)).ok()
}

/// Writes an instant in seconds, as `2026-11-21T20:15:58Z`; a part of a second is cut.
#[must_use]
pub fn format(unix_ns: u64) -> String {
    let seconds = i64::try_from(unix_ns / 1_000_000_000).unwrap_or(i64::MAX);
    let (year, month, day) = civil_from_days(seconds.div_euclid(S_PER_DAY));
    let rest = seconds.rem_euclid(S_PER_DAY);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The fraction of a second in nanoseconds, and what stands behind it.
fn fraction(text: &str) -> Option<(u32, &str)> {
    let Some(rest) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let len = rest.bytes().take_while(u8::is_ascii_digit).count();
    if len == 0 {
        return None;
    }
    let nanoseconds = format!("{:0<9}", &rest[..len.min(9)]);
    Some((nanoseconds.parse().ok()?, &rest[len..]))
}

fn offset_s(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    let is_shaped = hours.len() == 2 && minutes.len() == 2;
    is_shaped.then_some(sign * (digits(hours)? * 3600 + digits(minutes)? * 60))
}

/// Days since 1970 of a date of the Gregorian calendar. Source: Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms".
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse, from the same source.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants_are_read_as_the_api_writes_them() {
        let second = 1_000_000_000;
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse("2026-11-21T20:15:58Z"), Some(1_795_292_158 * second));
        let with_fraction = parse("2026-11-21T21:15:58.250000001+01:00");
        assert_eq!(with_fraction, Some(1_795_292_158 * second + 250_000_001));
        assert_eq!(parse("2024-02-29T00:00:00Z"), Some(1_709_164_800 * second));
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "2026-11-21",
            "2026-13-21T20:15:58Z",
            "2026-11-21T20:15:58",
            "2026-11-21T20:15:58.Z",
            "1969-12-31T23:59:59Z",
            "2026-11-21T20:15:58+1:00",
            "2026-11-2\u{e9}T20:15:58Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0_u64..18_446_744_073) {
            let ns = seconds * 1_000_000_000;
            prop_assert_eq!(parse(&format(ns)), Some(ns));
        }
    }
}
