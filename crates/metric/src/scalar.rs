//! The metric kinds without a distribution: summary, counter, gauge, rate.
//!
//! Must not know where values come from. Invariant: every kind merges associatively and commutatively
//! (`ValueCounter` to within rounding), and integer totals saturate instead of wrapping.

use crate::sum::CompensatedSum;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A value was NaN or infinite, which no metric can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

impl NotFinite {
    #[inline]
    pub(crate) fn check(value: f64) -> Result<(), Self> {
        if value.is_finite() { Ok(()) } else { Err(Self) }
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a metric value must be a finite number")
    }
}

impl std::error::Error for NotFinite {}

/// Count, sum, minimum and maximum of times in ns, without a distribution: for the phases of a request.
///
/// Serialized as `{"count", "sum", "min", "max"}`. The extremes are `null` without a value; the sum is
/// truncated to 64 bits, which hold 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SummaryFields", into = "SummaryFields")]
pub struct Summary {
    count: u64,
    sum: u128,
    /// Meaningful only when `count > 0`.
    min: u64,
    max: u64,
}

#[derive(Serialize, Deserialize)]
struct SummaryFields {
    count: u64,
    sum: u64,
    min: Option<u64>,
    max: Option<u64>,
}

impl From<Summary> for SummaryFields {
    fn from(summary: Summary) -> Self {
        Self {
            count: summary.count(),
            sum: u64::try_from(summary.sum()).unwrap_or(u64::MAX),
            min: summary.min(),
            max: summary.max(),
        }
    }
}

impl From<SummaryFields> for Summary {
    fn from(fields: SummaryFields) -> Self {
        Self {
            count: fields.count,
            sum: u128::from(fields.sum),
            min: fields.min.unwrap_or_default(),
            max: fields.max.unwrap_or_default(),
        }
    }
}

impl Summary {
    /// Records one time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.min = if self.count == 0 {
            ns
        } else {
            self.min.min(ns)
        };
        self.max = self.max.max(ns);
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(u128::from(ns));
    }

    /// Adds all that `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Times recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum, in ns.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest time in ns; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest time in ns; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean in ns; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A sum of whole numbers: requests, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    total: u64,
}

impl Counter {
    /// Adds `n`; saturates at `u64::MAX`.
    #[inline]
    pub fn add(&mut self, n: u64) {
        self.total = self.total.saturating_add(n);
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.add(other.total);
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Resets to 0.
    pub fn clear(&mut self) {
        self.total = 0;
    }
}

/// A sum of arbitrary values: a script's custom counter. Compensated, so that the order hardly matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueCounter {
    total: CompensatedSum,
}

impl ValueCounter {
    /// Adds `value`; the total saturates at ±`f64::MAX`.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities; nothing is added.
    pub fn add(&mut self, value: f64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        self.total.add(value);
        Ok(())
    }

    /// Adds what `other` summed.
    pub fn merge(&mut self, other: &Self) {
        self.total.merge(&other.total);
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total.value()
    }

    /// Resets to 0.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The last value with the smallest and the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    seen: Option<Seen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    last: f64,
    last_at_ns: u64,
    min: f64,
    max: f64,
}

impl Gauge {
    /// Sets the value as of `at_ns`, nanoseconds since the run's start.
    ///
    /// The latest time wins, whatever the order of the calls; at the same time, the larger value wins.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities; the gauge keeps its value.
    pub fn set(&mut self, value: f64, at_ns: u64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        let one = Seen {
            last: value,
            last_at_ns: at_ns,
            min: value,
            max: value,
        };
        self.merge(&Self { seen: Some(one) });
        Ok(())
    }

    /// Makes its last value older than any value set from now on.
    pub fn put_before_start(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.last_at_ns = 0;
        }
    }

    /// Merges `other`; the later of the two last values wins.
    pub fn merge(&mut self, other: &Self) {
        let (Some(mine), Some(theirs)) = (self.seen, other.seen) else {
            self.seen = self.seen.or(other.seen);
            return;
        };
        let theirs_is_last = (theirs.last_at_ns, theirs.last) > (mine.last_at_ns, mine.last);
        let last = if theirs_is_last { theirs } else { mine };
        self.seen = Some(Seen {
            min: mine.min.min(theirs.min),
            max: mine.max.max(theirs.max),
            ..last
        });
    }

    /// The value set last; `None` when never set.
    #[must_use]
    pub fn last(&self) -> Option<f64> {
        self.seen.map(|seen| seen.last)
    }

    /// The smallest value; `None` when never set.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.seen.map(|seen| seen.min)
    }

    /// The largest value; `None` when never set.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.seen.map(|seen| seen.max)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.seen = None;
    }
}

/// The share of non-zero values: failed requests, passed checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    nonzero: u64,
    total: u64,
}

impl Rate {
    /// Records one value, given as whether it is non-zero.
    #[inline]
    pub fn record(&mut self, nonzero: bool) {
        self.record_n(u64::from(nonzero), 1);
    }

    /// Records `total` values of which `nonzero` (at most `total`) are non-zero.
    #[inline]
    pub fn record_n(&mut self, nonzero: u64, total: u64) {
        self.nonzero = self.nonzero.saturating_add(nonzero.min(total));
        self.total = self.total.saturating_add(total);
    }

    /// Adds what `other` recorded.
    pub fn merge(&mut self, other: &Self) {
        self.record_n(other.nonzero, other.total);
    }

    /// Non-zero values recorded.
    #[must_use]
    pub fn nonzero(&self) -> u64 {
        self.nonzero
    }

    /// Values recorded.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The share, 0 to 1; `None` when empty.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.total > 0).then(|| self.nonzero as f64 / self.total as f64)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(times: &[u64]) -> Summary {
        let mut summary = Summary::default();
        times.iter().for_each(|&ns| summary.record(ns));
        summary
    }

    fn gauge(sets: &[(f64, u64)]) -> Gauge {
        let mut gauge = Gauge::default();
        sets.iter()
            .for_each(|&(value, at)| gauge.set(value, at).expect("finite"));
        gauge
    }

    #[test]
    fn empty_kinds_have_no_values() {
        assert_eq!(
            (Summary::default().min(), Summary::default().mean()),
            (None, None)
        );
        assert_eq!(Gauge::default().last(), None);
        assert_eq!(Rate::default().share(), None);
    }

    #[test]
    fn nothing_wraps() {
        let mut counter = Counter::default();
        counter.add(u64::MAX);
        counter.add(1);
        assert_eq!(counter.total(), u64::MAX);
        let mut rate = Rate::default();
        rate.record_n(9, 4);
        assert_eq!(rate.share(), Some(1.0));
    }

    #[test]
    fn values_that_are_not_finite_change_nothing() {
        let mut counter = ValueCounter::default();
        assert_eq!(counter.add(f64::NAN), Err(NotFinite));
        counter.add(0.5).unwrap();
        assert_eq!(counter.total(), 0.5);
        assert_eq!(Gauge::default().set(f64::INFINITY, 0), Err(NotFinite));
    }

    #[test]
    fn the_latest_gauge_value_wins_in_any_order() {
        assert_eq!(gauge(&[(3.0, 20), (7.0, 10)]).last(), Some(3.0));
        assert_eq!(
            gauge(&[(3.0, 20), (7.0, 20)]),
            gauge(&[(7.0, 20), (3.0, 20)])
        );
    }

    proptest! {
        #[test]
        fn merging_equals_recording_everything(
            a in prop::collection::vec((any::<u32>(), 0u64..5), 0..20),
            b in prop::collection::vec((any::<u32>(), 0u64..5), 0..20),
        ) {
            let all: Vec<_> = a.iter().chain(&b).copied().collect();
            let times = |part: &[(u32, u64)]| part.iter().map(|p| u64::from(p.0)).collect::<Vec<_>>();
            let sets = |part: &[(u32, u64)]| part.iter().map(|p| (f64::from(p.0), p.1)).collect::<Vec<_>>();
            for (first, second) in [(&a, &b), (&b, &a)] {
                let mut merged = summary(&times(first));
                merged.merge(&summary(&times(second)));
                prop_assert_eq!(merged, summary(&times(&all)));
                let mut merged = gauge(&sets(first));
                merged.merge(&gauge(&sets(second)));
                prop_assert_eq!(merged, gauge(&sets(&all)));
            }
        }
    }
}
