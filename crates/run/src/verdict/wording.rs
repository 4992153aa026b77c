//! Numbers in words.
//!
//! Must not know what they measure. Invariant: a number of any size is short and readable.

/// A number with thousands separators.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 request`, `2 requests`.
pub(super) fn counted(n: u64, thing: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(n))
}

/// A rate per second, with one decimal below a thousand unless it is whole.
pub(super) fn rate(per_second: f64) -> String {
    let tenths = (per_second * 10.0).round() / 10.0;
    match tenths {
        small if small > 0.0 && small < 1.0 => format!("{per_second:.2}/s"),
        whole if whole >= 10.0 && whole.fract() == 0.0 => format!("{}/s", count(whole as u64)),
        few if few < 1_000.0 => format!("{few:.1}/s"),
        many => format!("{}/s", count(many.round() as u64)),
    }
}

/// Iterations of a script per second, as text.
pub(super) fn iterations(per_second: f64) -> String {
    rate(per_second).replace("/s", " iterations/s")
}

/// Parts of a sentence: `a`, `a and b`, `a, b and c`.
pub(super) fn listed(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

/// The margin of a number, as a share of it.
pub(super) fn margin(share: f64) -> String {
    match share {
        small if small < 0.001 => "less than ±0.1 %".to_owned(),
        share => format!("±{}", percent(share)),
    }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p > 0.0 && p < 0.1 => "below 0.1 %".to_owned(),
        p if p > 99.9 && p < 100.0 => "over 99.9 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

/// Seconds with three digits, in a suitable unit.
pub(super) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 0.999_5e-3 => (s * 1e6, "µs"),
        s if s < 0.999_5 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    match value {
        v if v.fract() == 0.0 => format!("{v:.0} {unit}"),
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [count(0), count(999), count(17_017), count(1_000_000)],
            ["0", "999", "17,017", "1,000,000"]
        );
        assert_eq!(
            [
                rate(0.25),
                rate(5.984),
                rate(17.706),
                rate(50.0),
                rate(2_500.0)
            ],
            ["0.25/s", "6.0/s", "17.7/s", "50/s", "2,500/s"]
        );
        assert_eq!(
            [counted(1, "sample"), counted(2_000, "sample")],
            ["1 sample", "2,000 samples"]
        );
        assert_eq!(
            [margin(0.0004), margin(0.15)],
            ["less than ±0.1 %", "±15.0 %"]
        );
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(
            [listed(&parts), listed(&parts[..2]), listed(&parts[..1])],
            ["a, b and c", "a and b", "a"]
        );
        assert_eq!(
            [percent(0.1058), percent(0.000_1), percent(0.0)],
            ["10.6 %", "below 0.1 %", "0.0 %"]
        );
        assert_eq!(
            [
                duration(2.811_2),
                duration(0.05),
                duration(0.000_426_4),
                duration(0.076_2)
            ],
            ["2.81 s", "50 ms", "426 µs", "76.2 ms"]
        );
    }
}
