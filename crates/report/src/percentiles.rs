//! The percentiles of times that reports show, and which of them are guesses.
//!
//! Must not know layouts. Invariant: the median is never marked as a guess.

/// Below this many values beyond a percentile it is a guess.
const BEYOND_MIN: f64 = 10.0;

const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
];

/// A percentile in a table.
pub(crate) struct Percentile {
    /// Its name; that of a guess has an asterisk.
    pub(crate) name: String,
    /// From 0 to 1.
    pub(crate) quantile: f64,
    /// Whether too few values lie beyond it.
    pub(crate) is_guess: bool,
}

/// The percentiles of so many values, ascending.
pub(crate) fn of(count: u64) -> impl Iterator<Item = Percentile> {
    PERCENTILES.into_iter().map(move |(name, quantile)| {
        let is_guess = count as f64 * (1.0 - quantile) < BEYOND_MIN && quantile > 0.5;
        Percentile {
            name: format!("{name}{}", if is_guess { " *" } else { "" }),
            quantile,
            is_guess,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_beyond_make_a_guess() {
        let names = |count| of(count).map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(
            names(2),
            ["p50", "p75 *", "p90 *", "p95 *", "p99 *", "p99.9 *"]
        );
        assert_eq!(names(1_000), ["p50", "p75", "p90", "p95", "p99", "p99.9 *"]);
    }
}
