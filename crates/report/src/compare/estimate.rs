//! How precisely a mean is known from consecutive values.
//!
//! Neighbouring seconds are correlated, so n of them say less than n independent ones: the variance of their mean is
//! `variance * tau / n` with the autocorrelation time `tau = 1 + 2 * sum of autocorrelations`. Tau is estimated in
//! two ways and the larger, more careful estimate is used: the sum of the initial positive sequence (C. J. Geyer,
//! "Practical Markov Chain Monte Carlo", Statistical Science 7 (1992)), and that of a first-order autoregressive
//! process with Kendall's correction of its bias (M. G. Kendall, "Note on Bias in the Estimation of Autocorrelation",
//! Biometrika 41 (1954)). Means are compared by B. L. Welch's test (Biometrika 34 (1947)), with fewer degrees of
//! freedom than the `n / tau - 1` of a known tau.
//!
//! Must not know what the values are. Invariant: values without any spread give a variance of zero, and
//! nothing else does.

/// Minimum values for a statement on their spread.
pub(super) const VALUES_MIN: usize = 8;
/// Maximum pairs of lags: with more, even a trend has long been noticed.
const LAG_PAIRS_MAX: usize = 250;
/// The largest share of the values that one independent value may stand for: below two and a half of
/// those nothing can be estimated.
const TAU_SHARE_MAX: f64 = 0.4;
/// The share of the independent values that is relied on, because tau itself is an estimate: with it the
/// simulation of the tests keeps its level far out in the tails.
const CERTAIN_SHARE: f64 = 0.8;
/// The highest correlation of neighbours that is distinguished from one.
const CORRELATION_MAX: f64 = 0.98;

/// A mean and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    /// Variance of the mean.
    pub(super) variance: f64,
    /// Degrees of freedom of that variance.
    pub(super) degrees: f64,
}

impl Estimate {
    /// From values in the order of time; `None` for fewer than eight.
    pub(super) fn of_series(values: &[f64]) -> Option<Estimate> {
        if values.len() < VALUES_MIN {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let apart: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let power = lagged(&apart, 0);
        // The spread of equal values is only rounding.
        if power.sqrt() <= mean.abs() * 1e-12 {
            return Some(Estimate {
                mean,
                variance: 0.0,
                degrees: n - 1.0,
            });
        }
        let tau = initial_sequence(&apart, power).max(first_order(&apart, power));
        let tau = tau.clamp(1.0, (TAU_SHARE_MAX * n).max(1.0));
        // Correlated values are closer to their own mean than to the true one.
        let spread = power * n / (n - tau);
        Some(Estimate {
            mean,
            variance: spread * tau / n,
            degrees: (CERTAIN_SHARE * n / tau - 1.0).max(1.0),
        })
    }

    /// From values that do not depend on each other; `None` for fewer than two.
    pub(super) fn of_independent(values: &[f64]) -> Option<Estimate> {
        if values.len() < 2 {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / (n - 1.0);
        Some(Estimate {
            mean,
            variance: spread / n,
            degrees: n - 1.0,
        })
    }

    /// A single value with the variance of another estimate from `count` values.
    pub(super) fn of_one_like(value: f64, other: &Estimate, count: usize) -> Estimate {
        Estimate {
            mean: value,
            variance: other.variance * count as f64,
            degrees: other.degrees,
        }
    }

    /// How far `other` is above this one.
    pub(super) fn to(&self, other: &Estimate) -> Difference {
        let variance = self.variance + other.variance;
        let parts = self.variance.powi(2) / self.degrees + other.variance.powi(2) / other.degrees;
        Difference {
            by: other.mean - self.mean,
            error: variance.sqrt(),
            degrees: if parts > 0.0 {
                variance.powi(2) / parts
            } else {
                self.degrees + other.degrees
            },
        }
    }
}

/// The difference of two means, and its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) by: f64,
    /// Standard error.
    pub(super) error: f64,
    pub(super) degrees: f64,
}

impl Difference {
    /// Whether there is anything to test: equal values without any spread are the same.
    pub(super) fn is_question(&self) -> bool {
        self.by != 0.0 || self.error > 0.0
    }
}

/// Mean product of values at distance `lag`.
fn lagged(apart: &[f64], lag: usize) -> f64 {
    let products = apart.iter().zip(&apart[lag.min(apart.len())..]);
    products.map(|(one, other)| one * other).sum::<f64>() / apart.len() as f64
}

/// The autocorrelation time by the initial monotone positive sequence.
fn initial_sequence(apart: &[f64], power: f64) -> f64 {
    let n = apart.len();
    let (mut tau, mut last, mut pairs) = (-1.0, f64::INFINITY, 0);
    while pairs < LAG_PAIRS_MAX && 2 * pairs + 1 < n / 2 {
        let pair = (lagged(apart, 2 * pairs) + lagged(apart, 2 * pairs + 1)) / power;
        if pair <= 0.0 {
            break;
        }
        last = pair.min(last);
        tau += 2.0 * last;
        pairs += 1;
    }
    tau
}

/// The autocorrelation time of a first-order autoregressive process, its correlation corrected by
/// `(1 + 4r) / n`.
fn first_order(apart: &[f64], power: f64) -> f64 {
    let r = lagged(apart, 1) / power;
    let corrected = r + (1.0 + 4.0 * r) / apart.len() as f64;
    let r = corrected.clamp(0.0, CORRELATION_MAX);
    (1.0 + r) / (1.0 - r)
}

/// The share of all pairs in which the value of `second` is the higher one, ties counted half: the
/// measure of effect size of A. Vargha and H. D. Delaney (Journal of Educational and Behavioral
/// Statistics 25 (2000)). `None` when one side is empty.
pub(super) fn superiority(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let mut sorted = first.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins: f64 = second
        .iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let up_to = sorted.partition_point(|other| other <= value);
            f64::midpoint(below as f64, up_to as f64)
        })
        .sum();
    Some(wins / (first.len() as f64 * second.len() as f64))
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
