//! The trend of arbitrary finite values: a script's custom trends.
//!
//! Must not know units. Invariant: it holds finite values only; sums are compensated, so the order of merging
//! changes them by rounding at most.

use super::distribution::Distribution;
use crate::sum::CompensatedSum;
use crate::{Histogram, NotFinite};

/// A distribution of finite `f64` values.
///
/// Two trends are equal when the same values were recorded and the sums agree to the last bit. Serialized as
/// `{"histogram":…,"sum":[s,e],"squares":[s,e],"min":v,"max":v,"raw":[…]}`; a sum is `s + e`, where `e` is the
/// rounding error. `min`, `max` and `raw` are omitted when empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueTrend {
    pub(super) distribution: Distribution<f64>,
    pub(super) sum: CompensatedSum,
    pub(super) squares: CompensatedSum,
}

impl ValueTrend {
    /// An empty trend; allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one value.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities; nothing is recorded.
    pub fn record(&mut self, value: f64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        self.sum.add(value);
        self.squares.add_product(value, value);
        self.distribution.record(value, 1);
        Ok(())
    }

    /// Records a value `n` times.
    ///
    /// # Errors
    /// As for [`Self::record`].
    pub fn record_n(&mut self, value: f64, n: u64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        self.sum.add_product(value, n as f64);
        self.squares.add_product(value * value, n as f64);
        self.distribution.record(value, n);
        Ok(())
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        self.distribution.merge(&other.distribution);
    }

    /// Clears all values; keeps the histogram's memory for reuse.
    pub fn clear(&mut self) {
        self.sum = CompensatedSum::default();
        self.squares = CompensatedSum::default();
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

    /// Values recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.distribution.count()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Sum; 0 when empty, at most `f64::MAX` in magnitude.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum.value()
    }

    /// Smallest value, exact; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.distribution.extent().map(|(min, _)| min)
    }

    /// Largest value, exact; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.distribution.extent().map(|(_, max)| max)
    }

    /// Mean; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum() / self.count() as f64)
    }

    /// Population standard deviation; `None` when empty. Not meaningful for magnitudes beyond 1e150, whose
    /// squares leave the range of `f64`.
    #[must_use]
    pub fn stddev(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.squares.stddev(self.count(), &self.sum))
    }

    /// The value at quantile `q`, defined as in [`super::TimeTrend::quantile`]; `None` when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.distribution.quantiles(&[q])?.pop()
    }

    /// Several quantiles at once; cheaper than one call each. `None` when empty.
    #[must_use]
    pub fn quantiles(&self, wanted: &[f64]) -> Option<Vec<f64>> {
        self.distribution.quantiles(wanted)
    }

    /// How many values are at most `value`: exact while raw values are kept, otherwise to within the bucket of
    /// `value`.
    #[must_use]
    pub fn count_at_or_below(&self, value: f64) -> u64 {
        self.counts_per_bound(&[value])[0]
    }

    /// Counts values per row of a table with these ascending upper bounds (inclusive). The result has one entry
    /// more than there are bounds, for the values above the last. Without raw values, each bucket counts as a
    /// whole, at its midpoint.
    #[must_use]
    pub fn counts_per_bound(&self, upper_bounds: &[f64]) -> Vec<u64> {
        self.distribution.counts_per_bound(upper_bounds)
    }

    /// Bounds of a table with equal steps: the smallest value, then `steps` more up to the largest. Empty
    /// without values.
    #[must_use]
    pub fn equal_width_bounds(&self, steps: usize) -> Vec<f64> {
        self.distribution.equal_width_bounds(steps)
    }

    /// The raw values in recording order; `None` after more than [`super::RAW_VALUES_MAX`] values.
    #[must_use]
    pub fn raw_values(&self) -> Option<&[f64]> {
        self.distribution
            .has_all_raw()
            .then_some(&*self.distribution.raw)
    }

    /// The histogram of the values.
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
