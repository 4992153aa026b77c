//! Durations as people write them in URLs and route files: `10ms`, `1.5s`, `250us`, `2m`, or plain seconds.
//!
//! It must not know clocks. Invariant: a parsed duration is finite, not negative and below one day.

use std::time::Duration;

/// The longest duration that is accepted, in seconds: one day.
const SECONDS_MAX: f64 = 86_400.0;

/// Parses a duration; a number without a unit is in seconds.
///
/// # Errors
/// A sentence that names the text and the accepted form.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
    let scale = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        "m" => 60.0,
        "h" => 3_600.0,
        unit => {
            return Err(format!(
                "unknown unit {unit:?} in {text:?}: use ns, us, ms, s, m or h"
            ));
        }
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is not a duration: write 10ms or 1.5s"))?;
    let seconds = number * scale;
    if (0.0..=SECONDS_MAX).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("{text:?} is not between 0 and one day"))
    }
}

/// The duration in nanoseconds; below one day it always fits.
pub(crate) fn as_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_bare_seconds() {
        let cases = [
            ("10ms", 10_000_000),
            ("1.5s", 1_500_000_000),
            ("2", 2_000_000_000),
            ("250us", 250_000),
            ("7ns", 7),
            ("1m", 60_000_000_000),
            (".5", 500_000_000),
        ];
        for (text, ns) in cases {
            assert_eq!(as_ns(parse(text).unwrap()), ns, "{text}");
        }
    }

    #[test]
    fn rejects_what_is_no_duration() {
        for text in ["", "ms", "-1s", "1d", "NaN", "inf", "1e9", "5 s", "1.2.3"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("3parsec").unwrap_err().contains("parsec"));
    }
}
