//! Numbers as k6's summary prints them: JavaScript's number texts, sizes, times, shares.
//!
//! The rules were measured on k6 v2.2.0 (`tests/golden/k6/numbers.*`). Must not know layout. Invariant: shares
//! and times are truncated, never rounded up.

use loadline_go::json;
use loadline_metric::Contains;

/// The unit in which all times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryTimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`, shown as `µs`
    Microseconds,
}

impl SummaryTimeUnit {
    /// The unit with this name in options; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<SummaryTimeUnit> {
        [Self::Seconds, Self::Milliseconds, Self::Microseconds]
            .into_iter()
            .find(|unit| unit.name() == name)
    }

    /// The name in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }

    fn of(self, ms: f64) -> String {
        match self {
            Self::Seconds => format!("{}s", to_fixed(ms * 0.001, 2)),
            Self::Milliseconds => format!("{}ms", to_fixed(ms, 2)),
            Self::Microseconds => format!("{}µs", to_fixed(ms * 1_000.0, 2)),
        }
    }
}

/// A value of a metric; `unit` of `None` picks the unit of a time by its size.
pub(super) fn value(number: f64, contains: Contains, unit: Option<SummaryTimeUnit>) -> String {
    match (contains, unit) {
        (Contains::Time, Some(unit)) => unit.of(number),
        (Contains::Time, None) => time(number),
        (Contains::Data, _) => data(number),
        (Contains::Default, _) => plain(number),
    }
}

/// A share of 0 to 1 in percent with two decimals, cut off.
pub(super) fn share(number: f64) -> String {
    format!("{}%", to_fixed((number * 10_000.0).trunc() / 100.0, 2))
}

/// A number with at most six decimals.
pub(super) fn plain(number: f64) -> String {
    let fixed = to_fixed(number, 6);
    fixed.parse().map_or(fixed, text)
}

/// JavaScript's text of a number: the shortest digits that read back the same, with an exponent
/// below 1e-6 and from 1e21 on (ECMA-262, Number::toString).
pub(super) fn text(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    json::number(number)
}

/// JavaScript's `toFixed`: of two equally near numbers the one further from zero.
fn to_fixed(number: f64, decimals: usize) -> String {
    if number.abs() >= 1e21 || !number.is_finite() {
        return text(number);
    }
    // A tie is exact in binary, so that all digits behind its five are zeros.
    const DIGITS_BEYOND: usize = 40;
    let exact = format!("{number:.*}", decimals + DIGITS_BEYOND);
    let beyond = &exact[exact.len() - DIGITS_BEYOND..];
    let is_tie = beyond.starts_with('5') && beyond[1..].bytes().all(|digit| digit == b'0');
    if is_tie {
        // The last digit alone decides: one more than half is not a tie.
        let nudged = format!("{}{}", &exact[..exact.len() - DIGITS_BEYOND], "6");
        let nudged: f64 = nudged.parse().unwrap_or(number);
        return format!("{nudged:.decimals$}");
    }
    let fixed = format!("{number:.decimals$}");
    match fixed.strip_prefix('-') {
        Some(digits) if number == 0.0 => digits.to_owned(),
        _ => fixed,
    }
}

/// Cut off behind two decimals, without trailing zeros.
fn cut(number: f64) -> String {
    text((100.0 * number).trunc() / 100.0)
}

/// A time in milliseconds, in the unit that fits its size.
fn time(ms: f64) -> String {
    if ms == 0.0 {
        return "0s".to_owned();
    }
    match ms {
        ms if ms < 0.001 => format!("{}ns", text((ms * 1e6).trunc())),
        ms if ms < 1.0 => format!("{}µs", cut(ms * 1_000.0)),
        ms if ms < 1_000.0 => format!("{}ms", cut(ms)),
        ms if ms < 60_000.0 => format!("{}s", cut(ms / 1_000.0)),
        ms => minutes(ms),
    }
}

fn minutes(ms: f64) -> String {
    let all_minutes = (ms / 60_000.0).trunc();
    let seconds = text((ms % 60_000.0 / 1_000.0).trunc());
    if all_minutes < 60.0 {
        return format!("{}m{seconds}s", text(all_minutes));
    }
    let hours = (all_minutes / 60.0).trunc();
    format!("{}h{}m{seconds}s", text(hours), text(all_minutes % 60.0))
}

/// Bytes in powers of a thousand.
fn data(bytes: f64) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    if bytes < 10.0 {
        return format!("{} B", text(bytes));
    }
    let power = (bytes.ln() / 1_000f64.ln()).floor();
    let scaled = (bytes / 1_000f64.powf(power) * 10.0 + 0.5).floor() / 10.0;
    let unit = UNITS.get(power as usize).copied().unwrap_or("?");
    format!("{} {unit}", to_fixed(scaled, usize::from(scaled < 10.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_javascripts() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.0078125, "0.007813"),
            (-2.0000005, "-2.000001"),
            (0.1234565, "0.123456"),
            (2.5e-7, "0"),
            (1e15, "1000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (-18.0, "-18"),
        ] {
            assert_eq!(plain(number), text, "{number:e}");
        }
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        for (ms, text) in [
            (0.0, "0s"),
            (0.0009999, "999ns"),
            (0.001, "1µs"),
            (0.99999, "999.99µs"),
            (1.005, "1ms"),
            (999.9999, "999.99ms"),
            (59999.9999, "59.99s"),
            (60_000.0, "1m0s"),
            (62_345.6, "1m2s"),
            (3_661_000.4, "1h1m1s"),
            (1e22, "2777777777777777h36m40s"),
            (2.3783192417918254e25, "6606442338310625000h36m43s"),
            (-0.5, "-500000ns"),
            (1e-9, "0ns"),
        ] {
            assert_eq!(value(ms, Contains::Time, None), text, "{ms:e}");
        }
        let us = SummaryTimeUnit::from_name("us");
        assert_eq!(value(1.999900, Contains::Time, us), "1999.90µs");
        assert_eq!(SummaryTimeUnit::from_name("h"), None);
    }

    #[test]
    fn sizes_and_shares() {
        assert_eq!(value(0.0, Contains::Data, None), "0 B");
        assert_eq!(value(310.0, Contains::Data, None), "310 B");
        assert_eq!(value(1_374.0, Contains::Data, None), "1.4 kB");
        assert_eq!(value(120_781.0, Contains::Data, None), "121 kB");
        assert_eq!(value(3.25, Contains::Data, None), "3.25 B");
        assert_eq!(share(6.0 / 23.0), "26.08%");
        assert_eq!(share(1.0), "100.00%");
    }
}
