//! Numbers as people read them: counts, rates, times, shares.
//!
//! Must not know what they measure, nor layout. Invariant: a number has the same text in a verdict, a summary, a page and a
//! document, with two or more significant digits, at most ten columns, and its unit.

/// An integer with thousands separators: `391,840`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 request`, `2 requests`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// A rate per second: `0.25/s`, `5/s`, `5.98/s`, `50/s`, `249.6/s`, `39,184/s`, `1.25M/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    let tenths = (per_second * 10.0).round() / 10.0;
    match per_second {
        value if !value.is_finite() => "-".to_owned(),
        value if value.fract() == 0.0 && (0.0..1e6).contains(&value) => {
            format!("{}/s", count(value as u64))
        }
        value if value.abs() < 0.000_05 => "below 0.0001/s".to_owned(),
        value if value.abs() < 0.009_5 => format!("{value:.4}/s"),
        value if value.abs() < 0.095 => format!("{value:.3}/s"),
        value if value < 9.995 => format!("{value:.2}/s"),
        _ if tenths.fract() == 0.0 && tenths < 1e6 => format!("{}/s", count(tenths as u64)),
        _ if tenths < 1_000.0 => format!("{tenths:.1}/s"),
        value if value < 999_999.5 => format!("{}/s", count(value.round() as u64)),
        value => format!("{:.2}M/s", value / 1e6),
    }
}

/// A time in nanoseconds, with three digits unless it is whole: `850 ns`, `212 µs`, `50 ms`, `1.20 s`, `2m 05s`.
#[must_use]
pub fn span(ns: f64) -> String {
    match ns.round() {
        value if value < 999.5 => format!("{value:.0} ns"),
        value if value < 999.5e3 => in_unit(value / 1e3, "µs"),
        value if value < 999.5e6 => in_unit(value / 1e6, "ms"),
        value if value < 99.95e9 => in_unit(value / 1e9, "s"),
        value => {
            let seconds = (value / 1e9).round() as u64;
            match seconds / 3_600 {
                0 => format!("{}m {:02}s", seconds / 60, seconds % 60),
                hours => format!("{hours}h {:02}m", seconds % 3_600 / 60),
            }
        }
    }
}

fn in_unit(value: f64, unit: &str) -> String {
    match value {
        whole if whole.fract() == 0.0 => format!("{whole:.0} {unit}"),
        value if value < 9.995 => format!("{value:.2} {unit}"),
        value if value < 99.95 => format!("{value:.1} {unit}"),
        value => format!("{value:.0} {unit}"),
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
#[expect(clippy::cast_precision_loss, reason = "a share for showing")]
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
    fn counts_have_thousands() {
        assert_eq!(
            [count(0), count(999), count(17_017), count(12_345_678)],
            ["0", "999", "17,017", "12,345,678"]
        );
        assert_eq!(
            [counted(1, "sample"), counted(2_000, "sample")],
            ["1 sample", "2,000 samples"]
        );
    }

    #[test]
    fn rates_of_any_size_are_short() {
        for (per_second, expected) in [
            (0.0, "0/s"),
            (0.000_01, "below 0.0001/s"),
            (0.004_2, "0.0042/s"),
            (0.033, "0.033/s"),
            (0.25, "0.25/s"),
            (5.0, "5/s"),
            (5.984, "5.98/s"),
            (9.996, "10/s"),
            (17.706, "17.7/s"),
            (50.0, "50/s"),
            (99.96, "100/s"),
            (249.62, "249.6/s"),
            (999.97, "1,000/s"),
            (1_980.2, "1,980/s"),
            (39_184.4, "39,184/s"),
            (999_999.7, "1.00M/s"),
            (1_250_000.0, "1.25M/s"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(rate(per_second), expected);
        }
    }

    #[test]
    fn times_have_three_digits_unless_they_are_whole() {
        for (ns, expected) in [
            (850.0, "850 ns"),
            (999.6, "1 µs"),
            (212_340.0, "212 µs"),
            (3_610_000.0, "3.61 ms"),
            (50e6, "50 ms"),
            (76.2e6, "76.2 ms"),
            (99_960_000.0, "100 ms"),
            (2.811_2e9, "2.81 s"),
            (125e9, "2m 05s"),
            (7_380e9, "2h 03m"),
        ] {
            assert_eq!(span(ns), expected);
        }
    }

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
