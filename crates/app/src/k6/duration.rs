//! Durations as the options of a k6 script give them, and as Go prints them.
//!
//! Source: the reference of k6's options, and the documentation of Go's package time. Must not know
//! which option. Invariant: what is printed can be read again, and means the same.

use std::fmt;
use std::time::Duration;

use crate::dialect::{go_duration, go_text::quoted};

/// A span of time; may be negative, as Go's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(pub i64);

/// Nanoseconds in a day.
const DAY: i64 = 86_400_000_000_000;

impl GoDuration {
    /// So many seconds.
    pub const fn seconds(seconds: i64) -> GoDuration {
        GoDuration(seconds * 1_000_000_000)
    }

    /// The span where it is not negative; zero otherwise.
    pub fn or_zero(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }

    /// So many milliseconds, fractions included; saturates.
    pub fn from_milliseconds(milliseconds: f64) -> GoDuration {
        GoDuration((milliseconds * 1e6) as i64)
    }

    /// Reads a number of milliseconds, `<days>d<rest>`, or what Go reads.
    ///
    /// # Errors
    /// Go's message.
    pub fn parse(text: &str) -> Result<GoDuration, String> {
        if let Some(milliseconds) = number(text) {
            return Ok(GoDuration::from_milliseconds(milliseconds));
        }
        let Some((days, rest)) = text.split_once('d') else {
            return go_duration::parse(text).map(GoDuration);
        };
        let bad = || format!("time: invalid duration {}", quoted(text));
        let days: i64 = days
            .parse()
            .map_err(|_| format!("strconv.ParseInt: parsing {}: invalid syntax", quoted(days)))?;
        let rest = match rest {
            "" => 0,
            rest => go_duration::parse(rest)?,
        };
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

/// A number as Go's `strconv.ParseFloat` reads it, without names of what is no number.
fn number(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let value: f64 = text.chars().all(plain).then(|| text.parse().ok())??;
    value.is_finite().then_some(value)
}

impl fmt::Display for GoDuration {
    /// As Go's `Duration.String`: `1h0m30s`, `1.5s`, `500ms`, `0s`.
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
        ] {
            assert_eq!(GoDuration::parse(text).expect(text).to_string(), shown);
        }
        for text in [
            "x",
            "",
            "5x",
            "1dx",
            "xd",
            "1d-",
            "inf",
            "NaN",
            "99999999999d",
        ] {
            assert!(GoDuration::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(ns in -(1_i64 << 62)..1 << 62) {
            let span = GoDuration(ns);
            prop_assert_eq!(go_duration::parse(&span.to_string()), Ok(ns));
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.dhmsunµe]{0,16}") {
            let _ = GoDuration::parse(&text);
        }
    }
}
