//! The trend of times, in integer nanoseconds.
//!
//! Must not know clocks. Invariant: count, sum, sum of squares, minimum and maximum are exact, so merging is exact,
//! associative and commutative.

use super::distribution::Distribution;
use crate::Histogram;
use crate::sum::Squares;

/// A distribution of times in ns.
///
/// Counts and sums saturate; they never wrap. Two trends are equal when the same times were recorded.
/// Serialized as `{"histogram":…,"sum":"<decimal>","squares":"<hexadecimal>","min":n,"max":n,"raw":[…]}`.
/// `min`, `max` and `raw` are omitted when empty. The sums are text because they exceed what JSON readers keep
/// exactly.
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

    /// Clears all values; keeps the histogram's memory for reuse.
    pub fn clear(&mut self) {
        self.sum = 0;
        self.squares = Squares::default();
        self.distribution.clear();
    }

    /// A copy with memory for non-empty buckets only, as a worker sends every second.
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

    /// The time in ns at quantile `q` (clamped to 0..=1; NaN counts as 0); `None` when empty.
    ///
    /// k6's definition: the value at rank `q * (n - 1)`, interpolated between two ranks. Exact up to
    /// [`super::RAW_VALUES_MAX`] values and within 0.068 % beyond; always exact at 0 (the minimum) and 1 (the
    /// maximum).
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.distribution.quantiles(&[q])?.pop()
    }

    /// Several quantiles at once; cheaper than one call each. `None` when empty.
    #[must_use]
    pub fn quantiles(&self, wanted: &[f64]) -> Option<Vec<f64>> {
        self.distribution.quantiles(wanted)
    }

    /// How many times are at most `ns`: exact while raw values are kept, otherwise to within the bucket of
    /// `ns`.
    #[must_use]
    pub fn count_at_or_below(&self, ns: u64) -> u64 {
        self.counts_per_bound(&[ns as f64])[0]
    }

    /// Counts times per row of a table with these ascending upper bounds (inclusive, in ns). The result has one
    /// entry more than there are bounds, for the times above the last. Without raw values, each bucket counts
    /// as a whole, at its midpoint.
    #[must_use]
    pub fn counts_per_bound(&self, upper_bounds: &[f64]) -> Vec<u64> {
        self.distribution.counts_per_bound(upper_bounds)
    }

    /// Visits each time with its count; without raw values, bucket midpoints between the exact extremes.
    pub(crate) fn for_each(&self, visit: impl FnMut(f64, u64)) {
        self.distribution.for_each(visit);
    }

    /// Bounds of a table with equal steps: the smallest time, then `steps` more up to the largest. Empty
    /// without values.
    #[must_use]
    pub fn equal_width_bounds(&self, steps: usize) -> Vec<f64> {
        self.distribution.equal_width_bounds(steps)
    }

    /// The raw times in recording order; `None` after more than [`super::RAW_VALUES_MAX`] times.
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
