//! Readable numbers: counts, rates, times, shares.
//!
//! Must not know layout. Invariant: at least two significant digits, at most ten columns, and always the unit.

use std::time::Duration;

use loadline_go::GoDuration;

pub use loadline_model::units::Bytes;

/// An integer with thousands separators: `391,840`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 request`, `2 requests`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// A rate per second: `0.50/s`, `17.7/s`, `1,980/s`, `39.2K/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    match per_second {
        value if !value.is_finite() => "-".to_owned(),
        0.0 => "0/s".to_owned(),
        value if value >= 1e6 - 5e3 => format!("{:.2}M/s", value / 1e6),
        value if value >= 1e5 - 500.0 => format!("{:.0}K/s", value / 1e3),
        value if value >= 9_999.5 => format!("{:.1}K/s", value / 1e3),
        value if value >= 99.95 => format!("{}/s", count(value.round() as u64)),
        value if value >= 9.995 => format!("{value:.1}/s"),
        value => format!("{value:.2}/s"),
    }
}

/// A time in nanoseconds: `850 ns`, `212 µs`, `3.61 ms`, `1.20 s`, `2m 05s`.
#[must_use]
pub fn span(ns: f64) -> String {
    match ns {
        value if value < 999.5 => format!("{value:.0} ns"),
        value if value < 999.5e3 => significant(value / 1e3, "µs"),
        value if value < 999.5e6 => significant(value / 1e6, "ms"),
        value if value < 99.95e9 => significant(value / 1e9, "s"),
        value => {
            let seconds = (value / 1e9).round() as u64;
            match seconds / 3_600 {
                0 => format!("{}m {:02}s", seconds / 60, seconds % 60),
                hours => format!("{hours}h {:02}m", seconds % 3_600 / 60),
            }
        }
    }
}

/// Three significant digits.
fn significant(value: f64, unit: &str) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2} {unit}"),
        value if value < 99.95 => format!("{value:.1} {unit}"),
        value => format!("{value:.0} {unit}"),
    }
}

/// A time that may be absent.
#[must_use]
pub fn span_or_dash(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_owned(), span)
}

/// A planned duration in input syntax: `10s`, `1m30s`, `500ms`.
#[must_use]
pub fn planned(duration: Duration) -> String {
    let text = GoDuration::from(duration).to_string();
    match text.strip_suffix("m0s") {
        Some(minutes) => format!("{minutes}m").replace("h0m", "h"),
        None => text,
    }
}

/// A share, from 0 to 1, in percent: with enough digits to distinguish it from 0 and 100.
#[must_use]
pub fn percent(share: f64) -> String {
    let from_end = share.min(1.0 - share).abs();
    let digits = match from_end {
        0.0 => 0,
        _ if share > 1.0 => 1,
        apart if apart >= 0.001 => 1,
        apart if apart >= 0.000_1 => 2,
        apart if apart >= 0.000_01 => 3,
        _ => 4,
    };
    format!("{:.digits$} %", share * 100.0)
}

/// A share of a whole: `0.9 %`; never 0 or 100 for anything in between.
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let percent = part as f64 / whole as f64 * 100.0;
    match percent {
        _ if part == 0 => "0 %".to_owned(),
        _ if part == whole => "100 %".to_owned(),
        percent if percent < 0.1 => "< 0.1 %".to_owned(),
        percent if percent > 99.9 => "> 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_the_digits_that_matter() {
        for (share, expected) in [
            (0.0, "0 %"),
            (0.0012, "0.1 %"),
            (0.000_12, "0.01 %"),
            (0.5, "50.0 %"),
            (0.9995, "99.95 %"),
            (1.0, "100 %"),
            (1.000_4, "100.0 %"),
        ] {
            assert_eq!(percent(share), expected);
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [count(0), count(999), count(1_000), count(12_345_678)],
            ["0", "999", "1,000", "12,345,678"]
        );
        assert_eq!(
            [
                0.5,
                17.72,
                99.96,
                999.6,
                1_980.2,
                39_184.0,
                249_567.0,
                1_250_000.0
            ]
            .map(rate),
            [
                "0.50/s", "17.7/s", "100/s", "1,000/s", "1,980/s", "39.2K/s", "250K/s", "1.25M/s"
            ]
        );
        assert_eq!(
            [
                850.0,
                999.6,
                212_340.0,
                3_610_000.0,
                99_960_000.0,
                1_200_000_000.0,
                125e9,
                7_380e9
            ]
            .map(span),
            [
                "850 ns", "1.00 µs", "212 µs", "3.61 ms", "100 ms", "1.20 s", "2m 05s", "2h 03m"
            ]
        );
        let planned_ms = |ms| planned(Duration::from_millis(ms));
        assert_eq!(
            [500, 10_000, 90_000, 300_000, 3_600_000].map(planned_ms),
            ["500ms", "10s", "1m30s", "5m", "1h"]
        );
    }

    #[test]
    fn shares_never_round_to_none_or_all() {
        assert_eq!(
            [
                share(1, 100_000),
                share(99_999, 100_000),
                share(0, 5),
                share(5, 5),
                share(9, 1_000),
                share(0, 0)
            ],
            ["< 0.1 %", "> 99.9 %", "0 %", "100 %", "0.9 %", "-"]
        );
    }
}
