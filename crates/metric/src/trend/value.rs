//! The trend of any finite values: a script's custom trends.
//!
//! Must not know units. Invariant: only finite values are inside; sums are compensated, so that merging in another
//! order differs by rounding at most.

use super::distribution::Distribution;
use crate::sum::CompensatedSum;
use crate::{Histogram, NotFinite};

/// A distribution of finite `f64` values.
///
/// Equality means that the same values were recorded and that the sums agree to the last bit. Serialized as
/// `{"histogram":…,"sum":[s,e],"squares":[s,e],"min":v,"max":v,"raw":[…]}`, where a sum is `s + e` and `e` what
/// rounding lost; `min`, `max` and `raw` are left out when empty.
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

    /// Forgets everything and keeps the histogram's memory for the next values.
    pub fn clear(&mut self) {
        self.sum = CompensatedSum::default();
        self.squares = CompensatedSum::default();
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

    /// The value at quantile `q`; defined as for [`super::TimeTrend::quantile`]. `None` when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.distribution.quantiles(&[q])?.pop()
    }

    /// Several quantiles at once, cheaper than one by one; `None` when empty.
    #[must_use]
    pub fn quantiles(&self, wanted: &[f64]) -> Option<Vec<f64>> {
        self.distribution.quantiles(wanted)
    }

    /// How many values are at most `value`: exact while raw values are kept, else to within the bucket around it.
    #[must_use]
    pub fn count_at_or_below(&self, value: f64) -> u64 {
        self.counts_per_bound(&[value])[0]
    }

    /// Values per row of a table with these ascending upper bounds (inclusive); one entry more than bounds, for
    /// the values above them all. Beyond the raw values each bucket counts whole, at its midpoint.
    #[must_use]
    pub fn counts_per_bound(&self, upper_bounds: &[f64]) -> Vec<u64> {
        self.distribution.counts_per_bound(upper_bounds)
    }

    /// The bounds of a table of equal steps: the smallest value, then `steps` more up to the largest.
    /// Empty when there are no values.
    #[must_use]
    pub fn equal_width_bounds(&self, steps: usize) -> Vec<f64> {
        self.distribution.equal_width_bounds(steps)
    }

    /// The raw values in the order they came; `None` once there were more than [`super::RAW_VALUES_MAX`].
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
