//! Durations as written on command lines and in loadline's own files: `30s`, `1m30s`, `1.5h`, `500ms`.
//!
//! Must not know which option or key a duration belongs to, nor how other tools write durations. Grammar: one
//! or more decimal numbers, each followed by a unit, added up; the units are `ns`, `us` or `µs`, `ms`, `s`,
//! `m`, `h` and `d`. Invariant: a written duration reads back equal.

use std::borrow::Cow;
use std::time::Duration;

/// The longest accepted duration, one year: anything longer is a typo.
pub const DURATION_MAX: Duration = Duration::from_secs(366 * 86_400);

/// Units with their length in nanoseconds, longest first. Of two names with the same length, the first is
/// written.
const UNITS: [(&str, u64); 8] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];
/// Decimal places that are read; further ones are below a nanosecond in every unit.
const PLACES_MAX: usize = 18;

/// Parses a duration, to the nearest nanosecond; a number without a unit is in seconds.
///
/// # Errors
/// What is wrong with the text; the caller adds an example of a valid form.
pub fn parse(text: &str) -> Result<Duration, String> {
    let ends_in_number = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match ends_in_number && number.is_empty() {
        true => parse_with_units(&format!("{text}s")),
        false => parse_with_units(text),
    }
}

/// Parses a duration in which every number has a unit; only `0` needs none.
///
/// # Errors
/// As for [`parse`].
pub fn parse_with_units(text: &str) -> Result<Duration, String> {
    match text {
        "" => return Err("it is empty".to_owned()),
        "0" => return Ok(Duration::ZERO),
        _ if text.starts_with('-') => return Err("it must not be negative".to_owned()),
        _ => {}
    }
    let mut total = 0_u128;
    let mut rest = text;
    while !rest.is_empty() {
        let (part, behind) = part(rest, text)?;
        total = total.saturating_add(part);
        rest = behind;
    }
    match total <= DURATION_MAX.as_nanos() {
        true => Ok(Duration::from_nanos(total as u64)),
        false => Err("it is longer than a year".to_owned()),
    }
}

/// A duration from seconds; `None` if negative, not a number, or longer than a year.
#[must_use]
pub fn from_seconds(seconds: f64) -> Option<Duration> {
    let is_held = (0.0..=DURATION_MAX.as_secs_f64()).contains(&seconds);
    is_held.then(|| Duration::from_secs_f64(seconds))
}

/// Formats a duration in its largest whole units: `1m30s` for ninety seconds, `0s` for zero.
#[must_use]
pub fn text(duration: Duration) -> String {
    let mut rest = duration.as_nanos();
    let mut text = String::new();
    for (unit, length) in UNITS {
        let whole = rest / u128::from(length);
        if whole > 0 {
            text += &format!("{whole}{unit}");
            rest %= u128::from(length);
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

/// Normalizes a unit's name for the tables: the micro sign exists as U+00B5 and as U+03BC; this returns the
/// first.
#[must_use]
pub fn unit_name(text: &str) -> Cow<'_, str> {
    match text.contains('\u{3bc}') {
        true => Cow::Owned(text.replace('\u{3bc}', "\u{b5}")),
        false => Cow::Borrowed(text),
    }
}

/// The first number with its unit, in nanoseconds, and the remaining text. `text` is the whole text, for the
/// message.
fn part<'t>(rest: &'t str, text: &str) -> Result<(u128, &'t str), String> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let number_end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
    let (number, behind) = rest.split_at(number_end);
    let unit_end = behind.find(is_of_number).unwrap_or(behind.len());
    let (unit, behind) = behind.split_at(unit_end);
    let bad = || format!("{text:?} is not a duration");
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(bad());
    }
    let mut known = UNITS.iter();
    let known = known.find(|(name, _)| *name == unit_name(unit));
    let (_, length) = known.ok_or_else(|| format!("{unit:?} is not a unit of time"))?;
    let length = u128::from(*length);
    // A number with too many digits is longer than a year anyway.
    let whole = match whole {
        "" => 0,
        digits => digits.parse::<u64>().unwrap_or(u64::MAX),
    };
    let fraction = &fraction[..fraction.len().min(PLACES_MAX)];
    let scale = 10_u128.pow(fraction.len() as u32);
    let tail = fraction.parse::<u128>().unwrap_or(0) * length;
    Ok((
        u128::from(whole) * length + (tail + scale / 2) / scale,
        behind,
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ns) in [
            ("30s", 30_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("1d", 86_400_000_000_000),
            ("500ms", 500_000_000),
            ("1m.5s", 60_500_000_000),
            ("3µs", 3_000),
            ("3us", 3_000),
            ("3\u{3bc}s", 3_000),
            ("7ns", 7),
            ("0.6ns", 1),
            ("0", 0),
            ("0s", 0),
            ("0.1s", 100_000_000),
            ("366d", 31_622_400_000_000_000),
        ] {
            let wanted = Ok(Duration::from_nanos(ns));
            assert_eq!(parse(text), wanted, "{text}");
            assert_eq!(parse_with_units(text), wanted, "{text}");
        }
        assert_eq!(parse("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(parse(".5"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn what_is_no_duration_is_told() {
        for (text, why) in [
            ("", "empty"),
            ("-1s", "negative"),
            ("s", "not a duration"),
            (".s", "not a duration"),
            ("1.2.3s", "not a duration"),
            ("10x", "unit of time"),
            ("1m30", "unit of time"),
            ("1s 2s", "unit of time"),
            ("5 s", "unit of time"),
            ("inf", "not a duration"),
            ("NaN", "not a duration"),
            ("1e3", "unit of time"),
            ("367d", "a year"),
            ("99999999999999999999999d", "a year"),
        ] {
            let told = parse(text).expect_err(text);
            assert!(told.contains(why), "{text}: {told}");
        }
        assert!(parse_with_units("30").is_err(), "of which unit?");
    }

    #[test]
    fn numbers_of_seconds_have_the_same_limits() {
        assert_eq!(from_seconds(1.5), Some(Duration::from_millis(1_500)));
        for odd in [-1.0, f64::NAN, f64::INFINITY, 4e7] {
            assert_eq!(from_seconds(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(ns in 0..=DURATION_MAX.as_nanos() as u64) {
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse_with_units(&text(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in "[-0-9.a-zµμ ]{0,60}") {
            let _ = parse(&text);
        }
    }
}
