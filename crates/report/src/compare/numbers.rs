//! Units of what is compared, and readable numbers and changes.
//!
//! Must not know what is compared. Invariant: a change is shown in the unit of its values, or relative to the
//! first one.

use crate::units::{self, Bytes};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Per second.
    Rate,
    /// Nanoseconds.
    Span,
    /// A share, from 0 to 1.
    Share,
    /// Processor cores.
    Cores,
    /// Bytes.
    Size,
    /// A number of things.
    Count,
    /// A value of a script's own metric.
    Plain,
}

impl Unit {
    /// The name in data.
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Rate => "per second",
            Unit::Span => "nanoseconds",
            Unit::Share => "share",
            Unit::Cores => "cores",
            Unit::Size => "bytes",
            Unit::Count => "count",
            Unit::Plain => "value",
        }
    }
}

/// A value with its unit.
pub(super) fn value(unit: Unit, number: f64) -> String {
    match unit {
        Unit::Rate => units::rate(number),
        Unit::Span => units::span(number),
        Unit::Share => units::percent(number),
        Unit::Cores => format!("{number:.2} cores"),
        Unit::Size => Bytes(number.max(0.0).round() as u64).to_string(),
        Unit::Count => units::count(number.max(0.0).round() as u64),
        Unit::Plain => plain(number),
    }
}

/// A value that may be absent.
pub(super) fn value_or_dash(unit: Unit, number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| value(unit, number))
}

fn plain(number: f64) -> String {
    let digits = match number.abs() {
        value if value >= 1_000.0 || value.fract() == 0.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 4,
    };
    format!("{number:.digits$}")
}

/// How far a value is above (below) another: for shares in percentage points, for changes from zero in the value's
/// unit, otherwise in percent.
pub(super) fn change(unit: Unit, first: f64, by: f64) -> String {
    match unit {
        _ if by == 0.0 => "0 %".to_owned(),
        Unit::Share => format!("{} pp", signed(by * 100.0)),
        _ if first == 0.0 => format!("{}{}", sign(by), value(unit, by.abs())),
        _ => format!("{} %", signed(by / first.abs() * 100.0)),
    }
}

/// An interval of changes, its ends as [`change`] writes them.
pub(super) fn interval(unit: Unit, first: f64, low: f64, high: f64) -> String {
    // Ends beyond the value itself only mean that there was too little data.
    if unit != Unit::Share && first != 0.0 && high - low > 2.0 * first.abs() {
        return "\u{b1} over 100 %".to_owned();
    }
    let (low, high) = (change(unit, first, low), change(unit, first, high));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((from, one)), Some((_, other))) if one == other => format!("{from} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

fn sign(number: f64) -> &'static str {
    if number < 0.0 { "\u{2212}" } else { "+" }
}

/// A number with its sign and about two digits after it.
fn signed(number: f64) -> String {
    let size = number.abs();
    let digits = match size {
        size if size >= 99.95 => 0,
        size if size >= 0.095 => 1,
        size if size >= 0.009_5 => 2,
        _ => 3,
    };
    format!("{}{size:.digits$}", sign(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_their_unit() {
        let written = |unit, number| value(unit, number);
        assert_eq!(written(Unit::Rate, 39_200.0), "39,200/s");
        assert_eq!(written(Unit::Span, 3_610_000.0), "3.61 ms");
        assert_eq!(written(Unit::Cores, 0.4), "0.40 cores");
        assert_eq!(written(Unit::Size, 12_000_000.0), "12.0 MB");
        assert_eq!(written(Unit::Count, 1_234.0), "1,234");
        assert_eq!(
            [3.0, 0.25, 12.34].map(|n| written(Unit::Plain, n)),
            ["3", "0.2500", "12.3"]
        );
        let shares = [0.0, 0.5, 0.000_02, 0.999_9, 1.0].map(|n| written(Unit::Share, n));
        assert_eq!(shares, ["0 %", "50.0 %", "0.002 %", "99.990 %", "100 %"]);
        assert_eq!(value_or_dash(Unit::Rate, None), "-");
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(change(Unit::Rate, 100.0, 10.0), "+10.0 %");
        assert_eq!(change(Unit::Span, 200.0, -3.0), "\u{2212}1.5 %");
        assert_eq!(change(Unit::Share, 0.01, 0.005), "+0.5 pp");
        assert_eq!(change(Unit::Count, 0.0, 12.0), "+12");
        assert_eq!(change(Unit::Count, 5.0, 0.0), "0 %");
        assert_eq!(change(Unit::Rate, 1.0, 2.0), "+200 %");
        assert_eq!(
            interval(Unit::Rate, 100.0, -1.0, 3.0),
            "\u{2212}1.0 to +3.0 %"
        );
        assert_eq!(interval(Unit::Rate, 1.0, -3.0, 4.0), "\u{b1} over 100 %");
    }
}
