//! The trend of times, in integer nanoseconds.
//!
//! Must not know clocks. Invariant: count, sum, sum of squares, minimum and maximum are exact, so merging is exact,
//! associative and commutative.

use super::distribution::Distribution;
use crate::Histogram;
use crate::sum::Squares;

/// A distribution of times in ns.
///
/// Counts and sums stop at their largest value; they never wrap. Equality means that the same times were recorded.
/// Serialized as `{"histogram":…,"sum":"<decimal>","squares":"<hexadecimal>","min":n,"max":n,"raw":[…]}`; `min`,
/// `max` and `raw` are left out when empty, and the sums are text since they exceed what JSON readers keep exactly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeTrend {
    pub(super) distribution: Distribution<u64>,
    pub(super) sum: u128,
    pub(super) squares: Squares,
}

impl TimeTrend {
    /// An empty trend; allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.sum = self.sum.saturating_add(u128::from(ns));
        self.squares.add(ns);
        self.distribution.record(ns, 1);
    }

    /// Records a time `n` times.
    pub fn record_n(&mut self, ns: u64, n: u64) {
        self.sum = self.sum.saturating_add(u128::from(ns) * u128::from(n));
        self.squares.add_n(ns, n);
        self.distribution.record(ns, n);
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.squares.merge(&other.squares);
        self.distribution.merge(&other.distribution);
    }

    /// Forgets everything and keeps the histogram's memory for the next values.
    pub fn clear(&mut self) {
        self.sum = 0;
        self.squares = Squares::default();
        self.distribution.clear();
    }

    /// A copy that holds memory for non-empty buckets only: what a worker sends on each second.
    #[must_use]
    pub fn compact_copy(&self) -> Self {
        Self {
            distribution: self.distribution.compact_copy(),
            ..*self
        }
    }

    /// Times recorded.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u64 {
        self.distribution.count()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Exact sum, in ns.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest time in ns, exact; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        self.distribution.extent().map(|(min, _)| min)
    }

    /// Largest time in ns, exact; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.distribution.extent().map(|(_, max)| max)
    }

    /// Mean in ns; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// Population standard deviation in ns, from exact sums; `None` when empty.
    #[must_use]
    pub fn stddev(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.squares.stddev(self.count(), self.sum))
    }

    /// The time in ns at quantile `q` (0..=1, held within; NaN counts as 0); `None` when empty.
    ///
    /// k6's definition: the value at rank `q * (n - 1)`, interpolated between two ranks. Exact up to
    /// [`super::RAW_VALUES_MAX`] values, within 0.068 % beyond; the minimum at 0 and the maximum at 1 always.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.distribution.quantiles(&[q])?.pop()
    }

    /// Several quantiles at once, cheaper than one by one; `None` when empty.
    #[must_use]
    pub fn quantiles(&self, wanted: &[f64]) -> Option<Vec<f64>> {
        self.distribution.quantiles(wanted)
    }

    /// How many times are at most `ns`: exact while raw values are kept, else to within the bucket around `ns`.
    #[must_use]
    pub fn count_at_or_below(&self, ns: u64) -> u64 {
        self.counts_per_bound(&[ns as f64])[0]
    }

    /// Times per row of a table with these ascending upper bounds (inclusive, in ns); one entry more than
    /// bounds, for the times above them all. Beyond the raw values each bucket counts whole, at its midpoint.
    #[must_use]
    pub fn counts_per_bound(&self, upper_bounds: &[f64]) -> Vec<u64> {
        self.distribution.counts_per_bound(upper_bounds)
    }

    /// The times with how often they occur; beyond the raw values, bucket midpoints between the exact extremes.
    pub(crate) fn for_each(&self, visit: impl FnMut(f64, u64)) {
        self.distribution.for_each(visit);
    }

    /// The bounds of a table of equal steps: the smallest time, then `steps` more up to the largest.
    /// Empty when there are no values.
    #[must_use]
    pub fn equal_width_bounds(&self, steps: usize) -> Vec<f64> {
        self.distribution.equal_width_bounds(steps)
    }

    /// The raw times in the order they came; `None` once there were more than [`super::RAW_VALUES_MAX`].
    #[must_use]
    pub fn raw_values(&self) -> Option<&[u64]> {
        self.distribution
            .has_all_raw()
            .then_some(&*self.distribution.raw)
    }

    /// The histogram of the times.
    #[must_use]
    pub fn histogram(&self) -> &Histogram {
        &self.distribution.histogram
    }

    /// Memory held on the heap, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.distribution.heap_bytes()
    }
}
