//! The accumulators of one part of a run, by metric.
//!
//! Must not know tags. Invariant: a metric gets an accumulator when first recorded; it is handed out only if
//! something was recorded since the last take.

use std::collections::BTreeMap;

use crate::{Aggregated, BuiltIn, MetricId, MetricRegistry, NotFinite};

/// Aggregates by metric.
pub type MetricValues = BTreeMap<MetricId, Aggregated>;

/// One metric's accumulator.
#[derive(Debug)]
pub(super) struct Accumulator {
    /// Whether something was recorded since the last take.
    touched: bool,
    value: Aggregated,
}

impl Accumulator {
    /// An accumulator for a metric; an unknown metric gets a counter.
    pub(super) fn of(metric: MetricId, registry: &MetricRegistry) -> Accumulator {
        let definition = registry
            .get(metric)
            .unwrap_or_else(|| BuiltIn::HttpReqs.definition());
        let exact_time = (metric.0 as usize) < BuiltIn::ALL.len();
        Accumulator {
            touched: false,
            value: Aggregated::empty(definition.kind, definition.contains, exact_time),
        }
    }

    pub(super) fn record(&mut self, value: f64, at_ns: u64) -> Result<(), NotFinite> {
        self.value.record(value, at_ns)?;
        self.touched = true;
        Ok(())
    }

    /// Records a time measured by the engine: in ns for exact times, in milliseconds for everything else.
    #[inline]
    pub(super) fn record_ns(&mut self, ns: u64) {
        self.touched = true;
        match &mut self.value {
            Aggregated::Times(trend) => trend.record(ns),
            other => other
                .record(ns as f64 / 1e6, 0)
                .expect("a whole number of nanoseconds is finite"),
        }
    }

    /// Counts an event; for a rate, records whether it happened.
    #[inline]
    pub(super) fn record_one(&mut self, happened: bool) {
        self.touched = true;
        match &mut self.value {
            Aggregated::Rate(rate) => rate.record(happened),
            other => other
                .record(f64::from(u8::from(happened)), 0)
                .expect("zero and one are finite"),
        }
    }

    /// Takes what was recorded since the last call; keeps the memory for reuse.
    pub(super) fn take(&mut self) -> Option<Aggregated> {
        std::mem::take(&mut self.touched).then(|| self.value.take())
    }
}

/// Accumulators by the metric's number.
#[derive(Debug, Default)]
pub(super) struct Accumulators {
    // Boxed: most parts of a run use few metrics, and an accumulator is large.
    by_number: Vec<Option<Box<Accumulator>>>,
}

impl Accumulators {
    #[inline]
    pub(super) fn of(&mut self, metric: MetricId, registry: &MetricRegistry) -> &mut Accumulator {
        let place = metric.0 as usize;
        if !self.has(metric) {
            self.make(metric, registry);
        }
        self.by_number[place]
            .as_mut()
            .expect("it was there or was just made")
    }

    /// Whether the metric has an accumulator.
    #[inline]
    pub(super) fn has(&self, metric: MetricId) -> bool {
        matches!(self.by_number.get(metric.0 as usize), Some(Some(_)))
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, metric: MetricId, registry: &MetricRegistry) {
        let place = metric.0 as usize;
        if self.by_number.len() <= place {
            self.by_number.resize_with(place + 1, || None);
        }
        self.by_number[place] = Some(Box::new(Accumulator::of(metric, registry)));
    }

    /// Takes what was recorded since the last call.
    pub(super) fn take(&mut self) -> MetricValues {
        self.taken().collect()
    }

    fn taken(&mut self) -> impl Iterator<Item = (MetricId, Aggregated)> {
        let all = self.by_number.iter_mut().enumerate();
        all.filter_map(|(number, accumulator)| {
            let value = accumulator.as_mut()?.take()?;
            Some((MetricId(number as u32), value))
        })
    }

    /// Like [`Self::take`], but frees accumulators without new values: for many series of which few are busy.
    pub(super) fn take_or_free(&mut self) -> Vec<(MetricId, Aggregated)> {
        for accumulator in &mut self.by_number {
            if accumulator.as_ref().is_some_and(|known| !known.touched) {
                *accumulator = None;
            }
        }
        self.take_listed()
    }

    /// Takes what was recorded since the last call, in order of metrics; the list has no spare capacity.
    pub(super) fn take_listed(&mut self) -> Vec<(MetricId, Aggregated)> {
        let touched = self.by_number.iter().flatten();
        let count = touched.filter(|known| known.touched).count();
        let mut listed = Vec::with_capacity(count);
        listed.extend(self.taken());
        listed
    }
}

/// Merges values into others, metric by metric.
pub(super) fn merge_values(into: &mut MetricValues, from: MetricValues) {
    for (metric, value) in from {
        merge_value(into, metric, value);
    }
}

pub(super) fn merge_value(into: &mut MetricValues, metric: MetricId, value: Aggregated) {
    use std::collections::btree_map::Entry;
    match into.entry(metric) {
        Entry::Vacant(place) => {
            place.insert(value);
        }
        Entry::Occupied(mut known) => known.get_mut().merge(&value),
    }
}
