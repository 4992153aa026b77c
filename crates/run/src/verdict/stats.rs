//! The statistics that the verdict needs: medians, and confidence by batch means.
//!
//! Must not know the meaning of the numbers. Invariant: no result is NaN.

use loadline_metric::{TimeTrend, student};

/// Number of batches into which the seconds are grouped: enough for a t quantile close to the normal one, and
/// long enough that neighbouring batches are nearly independent (Law and Kelton, "Simulation Modeling and
/// Analysis", batch means).
const BATCHES: usize = 20;
/// The probability that the interval misses the mean.
const MISS: f64 = 0.05;
/// Minimum number of values for a statement about their spread.
const VALUES_MIN: usize = 5;

/// Half width of the 95 % confidence interval of the mean, as a share of it; `None` for fewer than
/// five values or a mean of zero.
pub(super) fn relative_half_width(values: &[f64]) -> Option<f64> {
    let batches = batch_means(values);
    if batches.len() < VALUES_MIN {
        return None;
    }
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let variance = batches
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0);
    let half_width = student::two_sided_quantile(MISS, n - 1.0) * (variance / n).sqrt();
    (mean > 0.0).then(|| half_width / mean)
}

/// Means of consecutive batches of equal size; values that do not fill a batch are dropped at the front.
fn batch_means(values: &[f64]) -> Vec<f64> {
    if values.len() < 2 * BATCHES {
        return values.to_vec();
    }
    let size = values.len() / BATCHES;
    let skipped = values.len() - size * BATCHES;
    values[skipped..]
        .chunks(size)
        .map(|batch| batch.iter().sum::<f64>() / size as f64)
        .collect()
}

/// Mean and standard deviation; `None` for fewer than two values.
pub(super) fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    Some((mean, (squares.sum::<f64>() / (n - 1.0)).sqrt()))
}

/// The middle value; `None` if there are no values.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The share of the values that are greater than the one before; zero for fewer than two.
pub(super) fn rising_share(values: &[f64]) -> f64 {
    let rises = values.windows(2).filter(|pair| pair[1] > pair[0]).count();
    rises as f64 / values.len().saturating_sub(1).max(1) as f64
}

/// How many values are greater than `ns`.
pub(super) fn longer_than(time: &TimeTrend, ns: u64) -> u64 {
    time.count() - time.count_at_or_below(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_width_is_that_of_the_textbook() {
        // Mean 10, standard deviation sqrt(2.5), five values: 2.776 * 1.5811 / 2.2361 / 10.
        let half_width = relative_half_width(&[8.0, 9.0, 10.0, 11.0, 12.0]).unwrap();
        assert!((half_width - 0.19629).abs() < 1e-4, "{half_width}");
        assert_eq!(relative_half_width(&[1.0; 4]), None);
        assert_eq!(relative_half_width(&[0.0; 9]), None);
    }

    #[test]
    fn many_values_become_twenty_batches() {
        let values: Vec<f64> = (0..45).map(f64::from).collect();
        let means = batch_means(&values);
        assert_eq!(means.len(), 20);
        assert_eq!(
            means[0], 5.5,
            "five values at the front are left out, then pairs"
        );
    }

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([]), None);
    }
}
