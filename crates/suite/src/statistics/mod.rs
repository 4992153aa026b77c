//! Statistics of repetitions: median, interval, speed-up.
//!
//! Intervals come from the variance between runs, never from the seconds within one: a run is one observation.
//! Must not know expressions or documents. Invariant: a single run has no interval, and no result is infinite
//! or NaN.

use loadline_metric::student;

/// The chance that an interval misses the truth.
const MISS: f64 = 0.05;

/// A value over repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median of the runs.
    pub median: f64,
    /// The 95 % interval; `None` with fewer than two runs of anything that the value depends on.
    pub interval: Option<Interval>,
    /// How many runs it is of.
    pub runs: usize,
}

/// Interval of the true value with 95 % confidence, if runs are normally distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The middle value, or the mean of the two middle ones; `None` without values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[middle - 1], upper))
}

/// Median and interval of repetitions; `None` without any.
///
/// The interval is that of the mean (Student, Biometrika 6, 1908), extended to the median if that is outside.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    combined(&[values])
}

/// Median and interval of a value that depends on several rows, each with its own repetitions.
///
/// Each part holds what the value is with each run of one row, the other rows being at their median; so a part's
/// variance is what that row contributes (propagation of errors to the first order). The degrees of freedom of the
/// sum are those of F. E. Satterthwaite, Biometrics Bulletin 2, 1946. The value is the median of the first part;
/// `None` where that is empty.
#[must_use]
pub fn combined(parts: &[&[f64]]) -> Option<Estimate> {
    let own = parts.first()?;
    let median = median(own)?;
    let center = mean(own);
    let runs = own.len();
    let interval = || {
        let (mut variance, mut spread) = (0.0, 0.0);
        for part in parts {
            let share = variance_of(part)? / part.len() as f64;
            variance += share;
            spread += share * share / (part.len() - 1) as f64;
        }
        // Without spread there is no fraction to take; runs that agree to the last digit have no width.
        let degrees = if spread > 0.0 {
            variance * variance / spread
        } else {
            1.0
        };
        let half = student::two_sided_quantile(MISS, degrees.max(1.0)) * variance.sqrt();
        half.is_finite().then(|| Interval {
            low: (center - half).min(median),
            high: (center + half).max(median),
        })
    };
    let interval = interval();
    median.is_finite().then_some(Estimate {
        median,
        interval,
        runs,
    })
}

/// Speed-up: the ratio of two rows' rates, with the interval from both rows' runs; `None` without runs or if
/// the first rate is zero.
#[must_use]
pub fn speed_up(before: &[f64], after: &[f64]) -> Option<Estimate> {
    let base = median(before).filter(|base| *base != 0.0)?;
    let now = median(after)?;
    let by_after: Vec<f64> = after.iter().map(|rate| rate / base).collect();
    let by_before: Vec<f64> = before.iter().map(|rate| now / rate).collect();
    combined(&[&by_after, &by_before])
}

/// The mean; zero of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Of the population that the values are a sample of; `None` for fewer than two.
pub(crate) fn variance_of(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_run_is_called_one() {
        let one = estimate(&[5.0]).expect("there is a run");
        assert_eq!((one.median, one.interval, one.runs), (5.0, None, 1));
        assert_eq!(estimate(&[]), None);
        assert_eq!(
            speed_up(&[2.0], &[6.0, 6.2]).expect("a ratio").interval,
            None
        );
    }

    #[test]
    fn the_interval_is_students() {
        // Mean 10, deviation 1, three runs: 4.303 / sqrt(3).
        let found = estimate(&[9.0, 10.0, 11.0]).expect("three runs");
        let interval = found.interval.expect("three runs have an interval");
        assert_eq!(found.median, 10.0);
        assert!((interval.high - 10.0 - 4.303 / 3_f64.sqrt()).abs() < 1e-3);
        let same = estimate(&[4.0, 4.0]).and_then(|found| found.interval);
        assert_eq!(
            same,
            Some(Interval {
                low: 4.0,
                high: 4.0
            })
        );
    }

    #[test]
    fn a_speed_up_carries_the_spread_of_both_sides() {
        let (before, after) = ([10.0, 10.2, 9.8], [30.0, 27.0, 28.5]);
        let gain = speed_up(&before, &after).expect("a ratio");
        assert_eq!(gain.median, 2.85);
        let wide = gain.interval.expect("three runs on either side");
        let narrow = estimate(&[3.0, 2.7, 2.85]).and_then(|found| found.interval);
        let narrow = narrow.expect("three runs");
        assert!(wide.low < 2.85 && wide.high > 2.85);
        // More is known of the degrees of freedom, and more varies.
        assert!(wide.high - wide.low < (narrow.high - narrow.low) * 1.1);
        assert_eq!(speed_up(&[0.0], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn the_median_lies_within_its_interval(values in prop::collection::vec(-1e9..1e9_f64, 2..20)) {
            let found = estimate(&values).expect("there are runs");
            let interval = found.interval.expect("there are two");
            prop_assert!(interval.low <= found.median && found.median <= interval.high);
        }

        #[test]
        fn the_order_of_runs_does_not_matter(values in prop::collection::vec(1.0..1e3_f64, 3..9), turn in 0_usize..9) {
            let mut turned = values.clone();
            turned.rotate_left(turn % values.len());
            let (one, other) = (estimate(&values).expect("runs"), estimate(&turned).expect("runs"));
            prop_assert_eq!(one.median, other.median);
            let (one, other) = (one.interval.expect("two"), other.interval.expect("two"));
            prop_assert!((one.low - other.low).abs() < 1e-6 && (one.high - other.high).abs() < 1e-6);
        }
    }
}
