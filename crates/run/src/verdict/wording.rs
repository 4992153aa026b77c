//! Numbers in words.
//!
//! Must not know what they measure. Invariant: a number of any size is short and readable.

use loadline_model::numbers::span;
pub(super) use loadline_model::numbers::{count, counted, percent, rate};

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

/// The first of several statements, and how many more there are.
pub(super) fn some_of(said: &[&str]) -> String {
    const SHOWN: usize = 3;
    let shown = &said[..said.len().min(SHOWN)];
    let shown = shown.join("; ");
    match said.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}; and {} more like these", count(more as u64)),
    }
}

/// The margin of a number, as a share of it.
pub(super) fn margin(share: f64) -> String {
    match share {
        small if small < 0.001 => "less than ±0.1 %".to_owned(),
        share => format!("±{}", percent(share)),
    }
}

/// Seconds, as text.
pub(super) fn duration(seconds: f64) -> String {
    span(seconds * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [margin(0.0004), margin(0.15)],
            ["less than ±0.1 %", "±15.0 %"]
        );
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(
            [listed(&parts), listed(&parts[..2]), listed(&parts[..1])],
            ["a, b and c", "a and b", "a"]
        );
        assert_eq!(some_of(&["a", "b", "c"]), "a; b; c");
        assert_eq!(some_of(&["a"; 108]), "a; a; a; and 105 more like these");
    }
}
