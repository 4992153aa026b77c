//! Numbers of tables: those of the model, absent and planned times.
//!
//! Must not know layout. Invariant: at least two significant digits, at most ten columns, and always the unit.

use std::time::Duration;

use loadline_go::GoDuration;

pub use loadline_model::numbers::{count, counted, percent, rate, share, span};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_times_are_those_of_options() {
        let planned_ms = |ms| planned(Duration::from_millis(ms));
        assert_eq!(
            [500, 10_000, 90_000, 300_000, 3_600_000].map(planned_ms),
            ["500ms", "10s", "1m30s", "5m", "1h"]
        );
    }
}
