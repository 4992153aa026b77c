//! Numbers of tables: those of the model, absent and planned times, shares.
//!
//! Must not know layout. Invariant: at least two significant digits, at most ten columns, and always the unit.

use std::time::Duration;

use loadline_go::GoDuration;

pub use loadline_model::numbers::{count, counted, rate, span};
pub use loadline_model::units::Bytes;

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
    fn planned_times_are_those_of_options() {
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
