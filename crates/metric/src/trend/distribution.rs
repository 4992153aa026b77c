//! What both trends share: the histogram, the raw values while there are few, the minimum and the maximum.
//!
//! Must not know sums. Invariant: `raw` holds all values or none.

use crate::Histogram;
use std::cmp::Ordering;

/// Raw values kept per aggregate. Up to this count, percentiles agree with k6 to the digit; beyond it, 8 KB per
/// series would outweigh most histograms.
pub const RAW_VALUES_MAX: usize = 1_024;

/// A recordable type: `u64` nanoseconds or finite `f64`.
pub(super) trait Value: Copy + PartialOrd {
    const SMALLEST: Self;
    const LARGEST: Self;
    fn as_f64(self) -> f64;
    fn order(&self, other: &Self) -> Ordering;
    fn record_into(self, histogram: &mut Histogram, n: u64);
}

impl Value for u64 {
    const SMALLEST: Self = Self::MIN;
    const LARGEST: Self = Self::MAX;

    fn as_f64(self) -> f64 {
        self as f64
    }

    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    #[inline]
    fn record_into(self, histogram: &mut Histogram, n: u64) {
        histogram.record_u64_n(self, n);
    }
}

impl Value for f64 {
    const SMALLEST: Self = Self::MIN;
    const LARGEST: Self = Self::MAX;

    fn as_f64(self) -> f64 {
        self
    }

    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }

    #[inline]
    fn record_into(self, histogram: &mut Histogram, n: u64) {
        histogram
            .record_f64_n(self, n)
            .expect("a value trend takes finite values only");
    }
}

#[derive(Clone, Debug)]
pub(super) struct Distribution<V> {
    pub(super) histogram: Histogram,
    /// All values in recording order; empty after more than [`RAW_VALUES_MAX`].
    pub(super) raw: Vec<V>,
    /// While empty, `min` is the largest possible value and `max` the smallest, so that recording needs no
    /// special case.
    min: V,
    max: V,
}

impl<V: Value> Default for Distribution<V> {
    fn default() -> Self {
        Self {
            histogram: Histogram::new(),
            raw: Vec::new(),
            min: V::LARGEST,
            max: V::SMALLEST,
        }
    }
}

impl<V: Value> Distribution<V> {
    /// Rebuilds a distribution; `None` when the parts contradict each other. `extent` must be given exactly
    /// when there are values, and a non-empty `raw` must hold all of them.
    pub(super) fn from_parts(
        histogram: Histogram,
        raw: Vec<V>,
        extent: Option<(V, V)>,
    ) -> Option<Self> {
        let (min, max) = extent.unwrap_or((V::LARGEST, V::SMALLEST));
        let extent_fits =
            histogram.is_empty() == extent.is_none() && (extent.is_none() || min <= max);
        let raw_fits = raw.is_empty()
            || (raw.len() <= RAW_VALUES_MAX
                && raw.len() as u64 == histogram.count()
                && raw.iter().all(|value| (min..=max).contains(value)));
        (extent_fits && raw_fits).then_some(Self {
            histogram,
            raw,
            min,
            max,
        })
    }

    #[inline]
    pub(super) fn record(&mut self, value: V, n: u64) {
        if self.has_all_raw() {
            self.keep_raw(value, n);
        }
        if n == 0 {
            return;
        }
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        value.record_into(&mut self.histogram, n);
    }

    #[cold]
    #[inline(never)]
    fn keep_raw(&mut self, value: V, n: u64) {
        match usize::try_from(n) {
            Ok(n) if n <= RAW_VALUES_MAX - self.raw.len() => {
                self.raw.extend(std::iter::repeat_n(value, n));
            }
            _ => self.raw = Vec::new(),
        }
    }

    #[inline]
    pub(super) fn has_all_raw(&self) -> bool {
        self.raw.len() as u64 == self.count()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let all_raw = self.has_all_raw() && other.has_all_raw();
        if all_raw && self.raw.len() + other.raw.len() <= RAW_VALUES_MAX {
            self.raw.extend_from_slice(&other.raw);
        } else {
            self.raw = Vec::new();
        }
        self.min = if other.min < self.min {
            other.min
        } else {
            self.min
        };
        self.max = if other.max > self.max {
            other.max
        } else {
            self.max
        };
        self.histogram.merge(&other.histogram);
    }

    pub(super) fn clear(&mut self) {
        self.histogram.clear();
        self.raw.clear();
        (self.min, self.max) = (V::LARGEST, V::SMALLEST);
    }

    pub(super) fn compact_copy(&self) -> Self {
        let histogram = self.histogram.compact_copy();
        Self {
            histogram,
            raw: self.raw.clone(),
            ..*self
        }
    }

    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.histogram.count()
    }

    pub(super) fn extent(&self) -> Option<(V, V)> {
        (self.count() > 0).then_some((self.min, self.max))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.histogram.heap_bytes() + self.raw.capacity() * size_of::<V>()
    }

    /// The values at these quantiles, as k6 defines them: the value at rank `q * (n - 1)` of the sorted values,
    /// interpolated linearly between two ranks. `q` is clamped to 0..=1; NaN counts as 0.
    pub(super) fn quantiles(&self, wanted: &[f64]) -> Option<Vec<f64>> {
        let (min, max) = self.extent()?;
        let sorted = self.sorted_raw();
        let last = self.count() - 1;
        let value_at = |rank: u64| match sorted.get(rank as usize) {
            Some(value) => value.as_f64(),
            None if rank == 0 => min.as_f64(),
            None if rank >= last => max.as_f64(),
            None => {
                let middle = self.histogram.midpoint_at_rank(rank);
                middle.map_or(max.as_f64(), |value| {
                    value.clamp(min.as_f64(), max.as_f64())
                })
            }
        };
        let quantile = |&q: &f64| {
            let position = if q > 0.0 {
                q.min(1.0) * last as f64
            } else {
                0.0
            };
            let rank = (position as u64).min(last);
            let low = value_at(rank);
            let fraction = position - position.floor();
            if fraction > 0.0 {
                low + (value_at((rank + 1).min(last)) - low) * fraction
            } else {
                low
            }
        };
        Some(wanted.iter().map(quantile).collect())
    }

    /// Counts the values in each interval between ascending upper bounds (inclusive), with one extra entry for
    /// the values above the last. Uses the raw values when all are kept; otherwise each bucket counts as a
    /// whole, at its midpoint (clamped to the extent).
    pub(super) fn counts_per_bound(&self, upper_bounds: &[f64]) -> Vec<u64> {
        let mut counts = vec![0u64; upper_bounds.len() + 1];
        self.for_each(|value, n| {
            let row = upper_bounds.partition_point(|&bound| bound < value);
            counts[row] = counts[row].saturating_add(n);
        });
        counts
    }

    /// Calls `visit` with each value and its count: the raw values when all are kept; otherwise the exact
    /// minimum and maximum, and bucket midpoints (clamped to the extent) for the rest.
    pub(super) fn for_each(&self, mut visit: impl FnMut(f64, u64)) {
        let Some((min, max)) = self.extent() else {
            return;
        };
        if self.has_all_raw() {
            return self.raw.iter().for_each(|value| visit(value.as_f64(), 1));
        }
        let (min, max) = (min.as_f64(), max.as_f64());
        visit(min, 1);
        let (mut skip, mut left) = (1, self.count().saturating_sub(2));
        for (middle, n) in self.histogram.ascending() {
            let inner = (n - std::mem::take(&mut skip)).min(left);
            left -= inner;
            visit(middle.clamp(min, max), inner);
        }
        if self.count() > 1 {
            visit(max, 1);
        }
    }

    /// `steps` equal steps from the smallest to the largest value, as `steps + 1` bounds; the first is the
    /// smallest value. Empty without values.
    pub(super) fn equal_width_bounds(&self, steps: usize) -> Vec<f64> {
        let Some((min, max)) = self.extent() else {
            return Vec::new();
        };
        let (min, max) = (min.as_f64(), max.as_f64());
        let width = max / steps.max(1) as f64 - min / steps.max(1) as f64;
        let mut bounds: Vec<f64> = (0..steps)
            .map(|i| (min + width * i as f64).min(max))
            .collect();
        bounds.push(max);
        bounds
    }

    fn sorted_raw(&self) -> Vec<V> {
        let mut sorted = if self.has_all_raw() {
            self.raw.clone()
        } else {
            Vec::new()
        };
        sorted.sort_unstable_by(V::order);
        sorted
    }
}

/// Equal when the same values were recorded, in any order.
impl<V: Value> PartialEq for Distribution<V> {
    fn eq(&self, other: &Self) -> bool {
        self.histogram == other.histogram
            && self.extent() == other.extent()
            && self.sorted_raw() == other.sorted_raw()
    }
}
