//! Every metric by its full set of tags, for outputs that keep series.
//!
//! Must not know which tags exist. Invariants: recording into a known set of tags allocates nothing; a metric's
//! series beyond the limit share one overflow series, which carries the run's tags and `overflow:true`, and no
//! other metric is affected; a set without new values holds no memory except its tags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::distinct::fold;
use super::values::{Accumulator, Accumulators};
use crate::series::overflow_tags;
use crate::{Aggregated, Explosion, MetricId, MetricRegistry, TagSet, Tagged};

/// The values of each set of tags, in order of metrics. Lists, not trees: most sets have few metrics, and a
/// tree node has room for eleven aggregates, which are large.
pub type SeriesValues = BTreeMap<TagSet, Vec<(MetricId, Aggregated)>>;

/// Recently used sets that are cached; a power of two.
const RECENT: usize = 256;
/// Marks a free slot in the cache of recent sets.
const NO_SET: u32 = u32::MAX;

/// One set of tags and its metrics.
#[derive(Debug)]
struct Set {
    tags: TagSet,
    /// The tags as received, to compare them without single look-ups.
    text: Arc<[u8]>,
    /// The metrics that have a series with these tags; of an HTTP exchange only the first.
    metrics: Vec<MetricId>,
    values: Accumulators,
}

impl Set {
    #[inline]
    fn has(&self, metric: MetricId) -> bool {
        self.values.has(metric) || self.metrics.contains(&metric)
    }
}

/// The series of one worker.
#[derive(Debug)]
pub(super) struct TaggedSeries {
    /// Limit on the series of one metric.
    cap: usize,
    /// Number of series, by metric.
    made: Vec<usize>,
    sets: Vec<Set>,
    // Ordered, not hashed: tag values that come from a target cannot provoke collisions.
    places: BTreeMap<Arc<[u8]>, u32>,
    by_tags: BTreeMap<TagSet, u32>,
    /// Names and values, each stored once.
    strings: BTreeSet<Arc<str>>,
    recent: Box<[u32; RECENT]>,
    text: Vec<u8>,
    rest: Accumulators,
    /// The tags of the overflow series.
    rest_tags: TagSet,
    pub(super) explosion: Option<Explosion>,
}

impl TaggedSeries {
    pub(super) fn new(cap: usize, run_tags: &TagSet) -> TaggedSeries {
        TaggedSeries {
            cap,
            made: Vec::new(),
            sets: Vec::new(),
            places: BTreeMap::new(),
            by_tags: BTreeMap::new(),
            strings: BTreeSet::new(),
            recent: Box::new([NO_SET; RECENT]),
            text: Vec::new(),
            rest: Accumulators::default(),
            rest_tags: overflow_tags(run_tags),
            explosion: None,
        }
    }

    /// The accumulators for a set of tags in which the metric has a series.
    #[inline]
    pub(super) fn of(
        &mut self,
        metric: MetricId,
        tags: &dyn Tagged,
        registry: &MetricRegistry,
    ) -> &mut Accumulators {
        self.text.clear();
        let text = &mut self.text;
        tags.each_tag(&mut |name, value| {
            // Lengths distinguish `a=bc` from `ab=c`.
            text.extend((name.len() as u32).to_le_bytes());
            text.extend(name.as_bytes());
            text.extend((value.len() as u32).to_le_bytes());
            text.extend(value.as_bytes());
        });
        let slot = (fold(0, &self.text) >> 40) as usize % RECENT;
        let recent = self.recent[slot];
        if let Some(set) = self.sets.get(recent as usize)
            && *set.text == *self.text
            && set.has(metric)
        {
            return &mut self.sets[recent as usize].values;
        }
        match self.look_up(metric, tags, registry) {
            Some(place) => {
                self.recent[slot] = place;
                &mut self.sets[place as usize].values
            }
            None => &mut self.rest,
        }
    }

    /// One metric's accumulator.
    #[inline]
    pub(super) fn metric(
        &mut self,
        metric: MetricId,
        tags: &dyn Tagged,
        registry: &MetricRegistry,
    ) -> &mut Accumulator {
        self.of(metric, tags, registry).of(metric, registry)
    }

    /// The index of the set whose text was just built; `None` when the metric is at its limit.
    fn look_up(
        &mut self,
        metric: MetricId,
        tags: &dyn Tagged,
        registry: &MetricRegistry,
    ) -> Option<u32> {
        let mut set = TagSet::new();
        let known = self.places.get(&*self.text).copied().or_else(|| {
            let strings = &mut self.strings;
            tags.each_tag(&mut |name, value| {
                let (name, value) = (shared(strings, name), shared(strings, value));
                set.set(name, value);
            });
            // The same tags may arrive in another order.
            self.by_tags.get(&set).copied()
        });
        if let Some(place) = known
            && self.sets[place as usize].has(metric)
        {
            return known;
        }
        let number = metric.0 as usize;
        if self.made.len() <= number {
            self.made.resize(number + 1, 0);
        }
        if self.made[number] >= self.cap {
            if self.explosion.is_none() {
                self.explosion = Some(self.explain(metric, registry));
            }
            return None;
        }
        self.made[number] += 1;
        let place = known.unwrap_or_else(|| self.make(set));
        self.sets[place as usize].metrics.push(metric);
        Some(place)
    }

    fn make(&mut self, tags: TagSet) -> u32 {
        let place = self.sets.len() as u32;
        let text: Arc<[u8]> = self.text.as_slice().into();
        self.places.insert(Arc::clone(&text), place);
        self.by_tags.insert(tags.clone(), place);
        self.sets.push(Set {
            tags,
            text,
            metrics: Vec::new(),
            values: Accumulators::default(),
        });
        place
    }

    /// Which tag of the metric's series has the most values.
    fn explain(&self, metric: MetricId, registry: &MetricRegistry) -> Explosion {
        let sets = self.sets.iter().filter(|set| set.metrics.contains(&metric));
        let name = registry.get(metric).map(|metric| metric.name);
        Explosion::of(name.unwrap_or_default(), sets.map(|set| &set.tags))
    }

    /// Takes what was recorded since the last call.
    pub(super) fn take(&mut self) -> SeriesValues {
        let mut taken = SeriesValues::new();
        for set in &mut self.sets {
            let values = set.values.take_or_free();
            if !values.is_empty() {
                taken.insert(set.tags.clone(), values);
            }
        }
        let rest = self.rest.take_listed();
        if !rest.is_empty() {
            // A script may have given these tags itself.
            let place = taken.entry(self.rest_tags.clone()).or_default();
            merge_list(place, rest);
        }
        taken
    }
}

fn shared(strings: &mut BTreeSet<Arc<str>>, text: &str) -> Arc<str> {
    if let Some(known) = strings.get(text) {
        return Arc::clone(known);
    }
    let text: Arc<str> = text.into();
    strings.insert(Arc::clone(&text));
    text
}

/// Merges series into others.
pub(super) fn merge_tagged(into: &mut SeriesValues, from: SeriesValues) {
    for (tags, values) in from {
        merge_list(into.entry(tags).or_default(), values);
    }
}

fn merge_list(into: &mut Vec<(MetricId, Aggregated)>, from: Vec<(MetricId, Aggregated)>) {
    if into.is_empty() {
        *into = from;
        return;
    }
    for (metric, value) in from {
        match into.binary_search_by_key(&metric, |(known, _)| *known) {
            Ok(at) => into[at].1.merge(&value),
            Err(at) => {
                into.reserve_exact(1);
                into.insert(at, (metric, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuiltIn, Contains, MetricType, OVERFLOW_TAG};

    fn tags(n: usize) -> TagSet {
        TagSet::new()
            .with("name", n.to_string())
            .with("status", "200")
    }

    fn count(values: &[(MetricId, Aggregated)]) -> f64 {
        match values {
            [(metric, Aggregated::Counter(counter))] if *metric == BuiltIn::HttpReqs.id() => {
                counter.total()
            }
            other => panic!("{other:?}"),
        }
    }

    fn record(series: &mut TaggedSeries, registry: &MetricRegistry, tags: &dyn Tagged) {
        let metric = BuiltIn::HttpReqs.id();
        series.metric(metric, tags, registry).record_one(true);
    }

    #[test]
    fn every_set_has_its_place_however_many_there_are() {
        let registry = MetricRegistry::new();
        let mut series = TaggedSeries::new(10_000, &TagSet::new());
        for _ in 0..2 {
            for n in 0..3 * RECENT {
                record(&mut series, &registry, &tags(n));
            }
        }
        let taken = series.take();
        assert_eq!(taken.len(), 3 * RECENT);
        assert!(taken.values().all(|values| count(values) == 2.0));
        assert!(series.take().is_empty());
        record(&mut series, &registry, &tags(7));
        let again = series.take();
        assert_eq!(again.keys().collect::<Vec<_>>(), [&tags(7)]);
    }

    /// The tags in another order.
    struct Backwards(TagSet);

    impl Tagged for Backwards {
        fn tag(&self, name: &str) -> Option<&str> {
            self.0.get(name)
        }

        fn each_tag(&self, each: &mut dyn FnMut(&str, &str)) {
            let all: Vec<_> = self.0.iter().collect();
            all.iter().rev().for_each(|(name, value)| each(name, value));
        }
    }

    #[test]
    fn the_order_of_tags_is_nothing() {
        let registry = MetricRegistry::new();
        let mut series = TaggedSeries::new(10, &TagSet::new());
        record(&mut series, &registry, &tags(1));
        record(&mut series, &registry, &Backwards(tags(1)));
        let taken = series.take();
        assert_eq!((taken.len(), count(&taken[&tags(1)])), (1, 2.0));
    }

    #[test]
    fn beyond_the_limit_sets_share_a_place_and_the_tag_is_named() {
        let registry = MetricRegistry::new();
        let run = TagSet::new().with("testid", "7");
        let mut series = TaggedSeries::new(5, &run);
        for n in 0..20 {
            record(&mut series, &registry, &tags(n).with("testid", "7"));
        }
        let taken = series.take();
        let overflow = run.with(OVERFLOW_TAG, "true");
        assert_eq!((taken.len(), count(&taken[&overflow])), (6, 15.0));
        let explosion = series.explosion.clone().expect("there was one");
        assert_eq!(explosion.tag.as_deref(), Some("name"));
        assert_eq!(explosion.values, 5);
        let mut whole = SeriesValues::new();
        merge_tagged(&mut whole, taken.clone());
        merge_tagged(&mut whole, taken);
        assert_eq!(
            whole.values().map(|values| count(values)).sum::<f64>(),
            40.0
        );
    }

    #[test]
    fn only_the_metric_that_overflows_shares_a_place() {
        let registry = MetricRegistry::new();
        let wide = registry.declare("wide", MetricType::Counter, Contains::Default);
        let wide = wide.expect("the name is free");
        let mut series = TaggedSeries::new(5, &TagSet::new());
        for n in 0..20 {
            let id = TagSet::new().with("id", n.to_string());
            series.metric(wide, &id, &registry).record_one(true);
        }
        for n in 0..4 {
            record(&mut series, &registry, &tags(n));
        }
        // A set that another metric created first counts for this metric too.
        let known = TagSet::new().with("id", "0");
        record(&mut series, &registry, &known);
        let taken = series.take();
        for n in 0..4 {
            assert_eq!(count(&taken[&tags(n)]), 1.0);
        }
        let metrics = |tags: &TagSet| -> Vec<MetricId> {
            taken[tags].iter().map(|(metric, _)| *metric).collect()
        };
        assert_eq!(metrics(&known), [BuiltIn::HttpReqs.id(), wide]);
        let overflow = TagSet::new().with(OVERFLOW_TAG, "true");
        assert_eq!(metrics(&overflow), [wide]);
        let told = series.explosion.expect("there was one").to_string();
        assert!(
            told.contains("metric wide") && told.contains("`id`"),
            "{told}"
        );
    }
}
