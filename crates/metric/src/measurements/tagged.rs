//! Every metric by all of its tags: what outputs that keep series ask for.
//!
//! Must not know which tags exist. Invariants: recording into a set of tags that was met before
//! allocates nothing; sets beyond the limit share one place, `{overflow:true}`, and are counted; what
//! was not recorded since the last time holds no memory but its tags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::values::{Accumulator, Accumulators, MetricValues, merge_values};
use crate::{Explosion, MetricId, MetricRegistry, OVERFLOW_TAG, TagSet, Tagged};

/// Metrics by their tags.
pub type SeriesValues = BTreeMap<TagSet, MetricValues>;

/// Sets looked up lately; a power of two.
const RECENT: usize = 256;
/// Marks a place in the table of recent sets that nothing has taken.
const NO_SET: u32 = u32::MAX;

/// One set of tags and its metrics.
#[derive(Debug)]
struct Set {
    tags: TagSet,
    /// The tags as they came, for comparing without looking them up one by one.
    text: Arc<[u8]>,
    values: Accumulators,
}

/// The series of one worker.
#[derive(Debug)]
pub(super) struct TaggedSeries {
    cap: usize,
    sets: Vec<Set>,
    // Ordered, not hashed: values of tags that come from a target cannot provoke collisions.
    places: BTreeMap<Arc<[u8]>, u32>,
    by_tags: BTreeMap<TagSet, u32>,
    /// Names and values, each once.
    strings: BTreeSet<Arc<str>>,
    recent: Box<[u32; RECENT]>,
    text: Vec<u8>,
    rest: Accumulators,
    overflowed: u64,
    pub(super) explosion: Option<Explosion>,
}

impl TaggedSeries {
    pub(super) fn new(cap: usize) -> TaggedSeries {
        TaggedSeries {
            cap,
            sets: Vec::new(),
            places: BTreeMap::new(),
            by_tags: BTreeMap::new(),
            strings: BTreeSet::new(),
            recent: Box::new([NO_SET; RECENT]),
            text: Vec::new(),
            rest: Accumulators::default(),
            overflowed: 0,
            explosion: None,
        }
    }

    /// The accumulators of a set of tags.
    #[inline]
    pub(super) fn of(&mut self, tags: &dyn Tagged) -> &mut Accumulators {
        self.text.clear();
        let text = &mut self.text;
        tags.each_tag(&mut |name, value| {
            // Lengths keep `a=bc` and `ab=c` apart.
            text.extend((name.len() as u32).to_le_bytes());
            text.extend(name.as_bytes());
            text.extend((value.len() as u32).to_le_bytes());
            text.extend(value.as_bytes());
        });
        let slot = fold(&self.text) as usize % RECENT;
        let recent = self.recent[slot];
        if let Some(set) = self.sets.get(recent as usize)
            && *set.text == *self.text
        {
            return &mut self.sets[recent as usize].values;
        }
        match self.look_up(tags) {
            Some(place) => {
                self.recent[slot] = place;
                &mut self.sets[place as usize].values
            }
            None => {
                self.overflowed += 1;
                &mut self.rest
            }
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
        self.of(tags).of(metric, registry)
    }

    /// The place of the set whose text was just made; `None` when there is none left.
    fn look_up(&mut self, tags: &dyn Tagged) -> Option<u32> {
        if let Some(place) = self.places.get(&*self.text) {
            return Some(*place);
        }
        let mut set = TagSet::new();
        let strings = &mut self.strings;
        tags.each_tag(&mut |name, value| {
            let (name, value) = (shared(strings, name), shared(strings, value));
            set.set(name, value);
        });
        // The same tags may come in another order.
        if let Some(place) = self.by_tags.get(&set) {
            return Some(*place);
        }
        if self.sets.len() >= self.cap {
            if self.explosion.is_none() {
                self.explosion = Some(self.explain());
            }
            return None;
        }
        let place = self.sets.len() as u32;
        let text: Arc<[u8]> = self.text.as_slice().into();
        self.places.insert(Arc::clone(&text), place);
        self.by_tags.insert(set.clone(), place);
        self.sets.push(Set {
            tags: set,
            text,
            values: Accumulators::default(),
        });
        Some(place)
    }

    /// Which tag has the most values.
    fn explain(&self) -> Explosion {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for set in &self.sets {
            for (name, value) in set.tags.iter() {
                values.entry(name).or_default().insert(value);
            }
        }
        let widest = values.iter().map(|(name, values)| (values.len(), *name));
        let (values, tag) = widest
            .max()
            .map_or((0, None), |(values, tag)| (values, Some(tag)));
        Explosion {
            metric: crate::BuiltIn::HttpReqs.name().into(),
            tag: tag.map(Arc::from),
            values,
        }
    }

    /// What was recorded since the last time.
    pub(super) fn take(&mut self) -> SeriesValues {
        let mut taken = SeriesValues::new();
        for set in &mut self.sets {
            let values = set.values.take_or_free();
            if !values.is_empty() {
                taken.insert(set.tags.clone(), values);
            }
        }
        let rest = self.rest.take();
        if !rest.is_empty() {
            taken.insert(TagSet::new().with(OVERFLOW_TAG, "true"), rest);
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

/// Adds series to others. Those that come beyond the limit go to the overflow series.
pub(super) fn merge_tagged(into: &mut SeriesValues, from: SeriesValues, cap: usize) {
    for (tags, values) in from {
        let full = into.len() > cap && !into.contains_key(&tags);
        let tags = match full {
            true => TagSet::new().with(OVERFLOW_TAG, "true"),
            false => tags,
        };
        merge_values(into.entry(tags).or_default(), values);
    }
}

/// Mixes a text into a number that spreads well enough for a table of recent entries.
#[inline]
fn fold(text: &[u8]) -> u32 {
    let mut mixed = 0_u64;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        mixed =
            (mixed.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    for byte in rest {
        mixed = (mixed.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (mixed >> 40) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggregated, BuiltIn};

    fn tags(n: usize) -> TagSet {
        TagSet::new()
            .with("name", n.to_string())
            .with("status", "200")
    }

    fn count(values: &MetricValues) -> f64 {
        match &values[&BuiltIn::HttpReqs.id()] {
            Aggregated::Counter(counter) => counter.total(),
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
        let mut series = TaggedSeries::new(10_000);
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

    /// Tags in an order of their own.
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
        let mut series = TaggedSeries::new(10);
        record(&mut series, &registry, &tags(1));
        record(&mut series, &registry, &Backwards(tags(1)));
        let taken = series.take();
        assert_eq!((taken.len(), count(&taken[&tags(1)])), (1, 2.0));
    }

    #[test]
    fn beyond_the_limit_sets_share_a_place_and_the_tag_is_named() {
        let registry = MetricRegistry::new();
        let mut series = TaggedSeries::new(5);
        for n in 0..20 {
            record(&mut series, &registry, &tags(n));
        }
        let taken = series.take();
        let overflow = TagSet::new().with(OVERFLOW_TAG, "true");
        assert_eq!((taken.len(), count(&taken[&overflow])), (6, 15.0));
        let explosion = series.explosion.clone().expect("there was one");
        assert_eq!(explosion.tag.as_deref(), Some("name"));
        assert_eq!(explosion.values, 5);
        let mut whole = SeriesValues::new();
        merge_tagged(&mut whole, taken.clone(), 5);
        merge_tagged(&mut whole, taken, 5);
        assert_eq!(whole.values().map(count).sum::<f64>(), 40.0);
    }
}
