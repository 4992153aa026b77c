//! One aggregate of any metric kind.
//!
//! Must not know names or tags. Invariant: an aggregate never changes its kind, and merging two of different
//! kinds changes nothing.

use crate::threshold::Aggregate;
use crate::{Contains, Gauge, MetricType, NotFinite, Rate, TimeTrend, ValueCounter, ValueTrend};
use serde::{Deserialize, Serialize};

/// The aggregate of a metric's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregated {
    /// A sum.
    Counter(ValueCounter),
    /// Last, smallest and largest value.
    Gauge(Gauge),
    /// Share of non-zero values.
    Rate(Rate),
    /// A distribution of a script's own values, in the metric's unit.
    Values(ValueTrend),
    /// A distribution of times measured by the engine, in whole nanoseconds.
    Times(TimeTrend),
}

impl Aggregated {
    /// An empty aggregate for a metric. `exact_time`: the engine measures it in nanoseconds.
    #[must_use]
    pub fn empty(kind: MetricType, contains: Contains, exact_time: bool) -> Aggregated {
        match kind {
            MetricType::Counter => Aggregated::Counter(ValueCounter::default()),
            MetricType::Gauge => Aggregated::Gauge(Gauge::default()),
            MetricType::Rate => Aggregated::Rate(Rate::default()),
            MetricType::Trend if exact_time && contains == Contains::Time => {
                Aggregated::Times(TimeTrend::new())
            }
            MetricType::Trend => Aggregated::Values(ValueTrend::new()),
        }
    }

    /// Records a value in the metric's unit (times in milliseconds), seen at `at_ns`.
    ///
    /// # Errors
    /// [`NotFinite`]; nothing is recorded.
    pub fn record(&mut self, value: f64, at_ns: u64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        match self {
            Aggregated::Counter(counter) => counter.add(value),
            Aggregated::Gauge(gauge) => gauge.set(value, at_ns),
            Aggregated::Rate(rate) => {
                rate.record(value != 0.0);
                Ok(())
            }
            Aggregated::Values(trend) => trend.record(value),
            Aggregated::Times(trend) => {
                trend.record((value.max(0.0) * 1e6).round() as u64);
                Ok(())
            }
        }
    }

    /// Takes what was recorded; a distribution keeps its memory for reuse.
    #[must_use]
    pub fn take(&mut self) -> Aggregated {
        match self {
            Aggregated::Counter(counter) => Aggregated::Counter(std::mem::take(counter)),
            Aggregated::Gauge(gauge) => Aggregated::Gauge(std::mem::take(gauge)),
            Aggregated::Rate(rate) => Aggregated::Rate(std::mem::take(rate)),
            Aggregated::Values(trend) => {
                let taken = Aggregated::Values(trend.compact_copy());
                trend.clear();
                taken
            }
            Aggregated::Times(trend) => {
                let taken = Aggregated::Times(trend.compact_copy());
                trend.clear();
                taken
            }
        }
    }

    /// The aggregate in the form in which thresholds evaluate it.
    #[must_use]
    pub fn for_threshold(&self) -> Aggregate<'_> {
        match self {
            Aggregated::Counter(counter) => Aggregate::ValueCounter(counter),
            Aggregated::Gauge(gauge) => Aggregate::Gauge(gauge),
            Aggregated::Rate(rate) => Aggregate::Rate(rate),
            Aggregated::Values(trend) => Aggregate::Values(trend),
            Aggregated::Times(trend) => Aggregate::Times(trend),
        }
    }

    /// Merges another aggregate of the same kind.
    pub fn merge(&mut self, other: &Aggregated) {
        match (self, other) {
            (Aggregated::Counter(mine), Aggregated::Counter(theirs)) => mine.merge(theirs),
            (Aggregated::Gauge(mine), Aggregated::Gauge(theirs)) => mine.merge(theirs),
            (Aggregated::Rate(mine), Aggregated::Rate(theirs)) => mine.merge(theirs),
            (Aggregated::Values(mine), Aggregated::Values(theirs)) => mine.merge(theirs),
            (Aggregated::Times(mine), Aggregated::Times(theirs)) => mine.merge(theirs),
            _ => {}
        }
    }
}
