//! Durations as parsed and printed by Go, and as written in the options of a k6 script.
//!
//! Source: the documentation of Go's package `time`, and the reference of k6's options. Must not know flags.
//! Invariant: printed durations parse to the same value; texts that Go refuses are refused, in its words.

use std::fmt;
use std::time::Duration;

use crate::float;
use crate::integer::parse_int;
use crate::quote::quoted;
use crate::syntax::split_sign;

/// A duration in nanoseconds; may be negative, as in Go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(pub i64);

/// Nanoseconds in a day.
const DAY: i64 = 86_400_000_000_000;

impl GoDuration {
    /// A number of seconds.
    pub const fn seconds(seconds: i64) -> GoDuration {
        GoDuration(seconds * 1_000_000_000)
    }

    /// The duration, or zero if it is negative.
    pub fn or_zero(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }

    /// A number of milliseconds, including fractions. A value out of range becomes the minimum, as in Go's
    /// conversion on x86 processors.
    pub fn from_milliseconds(milliseconds: f64) -> GoDuration {
        let ns = milliseconds * 1e6;
        let is_held = (-(2_f64.powi(63))..2_f64.powi(63)).contains(&ns);
        GoDuration(if is_held { ns as i64 } else { i64::MIN })
    }

    /// Parses durations as k6 does: a number of milliseconds, `<days>d<rest>`, or a Go duration.
    ///
    /// # Errors
    /// Go's message.
    pub fn parse_extended(text: &str) -> Result<GoDuration, String> {
        if let Ok(milliseconds) = float::parse_float(text) {
            return Ok(GoDuration::from_milliseconds(milliseconds));
        }
        let Some((days, rest)) = text.split_once('d') else {
            return parse(text).map(GoDuration);
        };
        let bad = || format!("time: invalid duration {}", quoted(text));
        let rest = match rest {
            "" => 0,
            rest if rest.starts_with('-') => {
                return Err(format!("invalid time format '{rest}'"));
            }
            rest => parse(rest)?,
        };
        let days = parse_int(days)?;
        let whole = days.checked_mul(DAY).ok_or_else(bad)?;
        let rest = if days < 0 {
            rest.checked_neg()
        } else {
            Some(rest)
        };
        let sum = rest.and_then(|rest| whole.checked_add(rest));
        sum.map(GoDuration).ok_or_else(bad)
    }
}

impl From<Duration> for GoDuration {
    /// Saturates at Go's maximum, some 292 years.
    fn from(span: Duration) -> GoDuration {
        GoDuration(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
    }
}

/// Nanoseconds of a text such as `300ms`, `-1.5h` or `2h45m`.
///
/// # Errors
/// Go's message.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let (negative, digits) = split_sign(text);
    if digits == "0" {
        return Ok(0);
    }
    if digits.is_empty() {
        return Err(invalid());
    }
    let mut sum: u128 = 0;
    let mut rest = digits;
    while !rest.is_empty() {
        let (part, after) = take_part(text, rest)?;
        sum += part;
        if sum > 1 << 63 {
            return Err(invalid());
        }
        rest = after;
    }
    let sum = i128::try_from(sum).map_err(|_| invalid())?;
    i64::try_from(if negative { -sum } else { sum }).map_err(|_| invalid())
}

/// One number with its unit, in nanoseconds, and the rest.
fn take_part<'a>(text: &str, rest: &'a str) -> Result<(u128, &'a str), String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let number_end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (number, after) = rest.split_at(number_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(invalid());
    }
    let unit_end = after
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(after.len());
    let (unit, after) = after.split_at(unit_end);
    let scale: u128 = match unit {
        "" => return Err(format!("time: missing unit in duration {}", quoted(text))),
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        other => {
            let unit = quoted(other);
            return Err(format!(
                "time: unknown unit {unit} in duration {}",
                quoted(text)
            ));
        }
    };
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| invalid())?
    };
    // Go drops excess digits; nineteen are enough for a nanosecond of any unit.
    let fraction = &fraction[..fraction.len().min(19)];
    let tail: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| invalid())?
    };
    let places = 10_u128.pow(fraction.len() as u32);
    Ok((u128::from(whole) * scale + tail * scale / places, after))
}

impl fmt::Display for GoDuration {
    /// Like Go's `Duration.String`: `1h0m30s`, `1.5s`, `500ms`, `0s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        let (unit, per) = match ns {
            0 => return f.write_str("0s"),
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        f.write_str(sign)?;
        let whole = ns / per;
        match (whole / 3600, whole / 60 % 60) {
            _ if unit != "s" => write!(f, "{whole}")?,
            (0, 0) => write!(f, "{whole}")?,
            (0, minutes) => write!(f, "{minutes}m{}", whole % 60)?,
            (hours, minutes) => write!(f, "{hours}h{minutes}m{}", whole % 60)?,
        }
        let places = per.ilog10() as usize;
        let fraction = format!("{:0places$}", ns % per);
        match fraction.trim_end_matches('0') {
            "" => f.write_str(unit),
            digits => write!(f, ".{digits}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_go_takes() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("5m", 300_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("2h45m", 9_900_000_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("+3µs", 3_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("0.3333333333333333333h", 1_200_000_000_000 - 1),
        ] {
            assert_eq!(parse(text), Ok(nanoseconds), "{text}");
        }
    }

    #[test]
    fn what_go_refuses() {
        for (text, message) in [
            ("", "time: invalid duration \"\""),
            ("abc", "time: invalid duration \"abc\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5d", "time: unknown unit \"d\" in duration \"5d\""),
            (".s", "time: invalid duration \".s\""),
            ("1..5s", "time: invalid duration \"1..5s\""),
            (
                "9223372036854775808ns",
                "time: invalid duration \"9223372036854775808ns\"",
            ),
            ("9999999999h", "time: invalid duration \"9999999999h\""),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_k6_takes() {
        for (text, shown) in [
            ("5s", "5s"),
            ("1500.5", "1.5005s"),
            ("5", "5ms"),
            ("1d2h", "26h0m0s"),
            ("1d", "24h0m0s"),
            ("-1d2h", "-26h0m0s"),
            ("1m30s", "1m30s"),
            ("90m", "1h30m0s"),
            ("0", "0s"),
            ("1e3", "1s"),
            ("150us", "150µs"),
            ("-1.5s", "-1.5s"),
            ("1_000", "1s"),
            ("1d+2h", "26h0m0s"),
        ] {
            assert_eq!(
                GoDuration::parse_extended(text).expect(text).to_string(),
                shown
            );
        }
        for text in ["NaN", "inf", "-Infinity", "1e13"] {
            let read = GoDuration::parse_extended(text);
            assert_eq!(read, Ok(GoDuration(i64::MIN)), "{text}");
        }
        for text in [
            "x",
            "",
            "5x",
            "1dx",
            "xd",
            "1d-",
            "1e400",
            "99999999999d",
            "1.5d",
            "1d-2h",
            "1d2",
        ] {
            assert!(GoDuration::parse_extended(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(ns in -(1_i64 << 62)..1 << 62) {
            let span = GoDuration(ns);
            prop_assert_eq!(parse(&span.to_string()), Ok(ns));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9._a-zµ]{0,30}") {
            let _ = GoDuration::parse_extended(&text);
        }
    }
}
