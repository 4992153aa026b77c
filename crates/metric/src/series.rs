//! Series, and the bounded map that holds them.
//!
//! Must not know which aggregates the series carry. Invariant: the map never holds more than its cap of series plus
//! one overflow series per metric (at most [`MAX_OVERFLOW_SERIES`]), and no value vanishes uncounted.

use crate::tags::{OVERFLOW_TAG, TagSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Series a map holds unless told otherwise: at 300 bytes to 30 KB each, what a generator can still afford.
pub const DEFAULT_SERIES_CAP: usize = 100_000;
/// Overflow series a map holds: one per metric; more metrics than this are not made by a person.
pub const MAX_OVERFLOW_SERIES: usize = 1_000;

/// What names a series: a metric and tags.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// The metric's name.
    pub metric: Arc<str>,
    /// Empty for the metric's total.
    pub tags: TagSet,
}

impl SeriesKey {
    /// The series of `metric` with these tags.
    pub fn new(metric: impl Into<Arc<str>>, tags: TagSet) -> Self {
        Self {
            metric: metric.into(),
            tags,
        }
    }
}

/// `metric{tag:value}`
impl fmt::Display for SeriesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.metric, self.tags)
    }
}

/// Why a map overflowed: the tag with the most values when the cap was first met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explosion {
    /// The metric whose series first found no place.
    pub metric: Arc<str>,
    /// Of that series' tags the one with the most distinct values in the map; `None` when it has no tags.
    pub tag: Option<Arc<str>>,
    /// Distinct values of that tag at that moment.
    pub values: usize,
}

/// Series with their aggregates, in order of their keys.
///
/// A new series beyond the cap is recorded in the overflow series of its metric, `metric{overflow:true}`. Which
/// series came first decides which have their own place, so merging maps that overflowed depends on the order.
#[derive(Clone, Debug)]
pub struct SeriesMap<V> {
    // Ordered, not hashed: equal runs give equal output, and tag values from a target cannot provoke collisions.
    series: BTreeMap<SeriesKey, V>,
    overflow: BTreeMap<Arc<str>, V>,
    cap: usize,
    overflowed: u64,
    refused: u64,
    explosion: Option<Explosion>,
}

impl<V> Default for SeriesMap<V> {
    fn default() -> Self {
        Self::with_cap(DEFAULT_SERIES_CAP)
    }
}

impl<V> SeriesMap<V> {
    /// An empty map for at most `cap` series, overflow series not counted.
    #[must_use]
    pub fn with_cap(cap: usize) -> Self {
        Self {
            series: BTreeMap::new(),
            overflow: BTreeMap::new(),
            cap,
            overflowed: 0,
            refused: 0,
            explosion: None,
        }
    }

    /// The aggregate to record into for `key`: its own, or beyond the cap its metric's overflow series.
    ///
    /// `make` gives a new series' empty aggregate. `None` when even the overflow series have no place left,
    /// which is counted by [`Self::refused`].
    pub fn entry(&mut self, key: &SeriesKey, make: impl FnOnce() -> V) -> Option<&mut V> {
        if self.series.len() < self.cap {
            // One look-up more than needed for a new series saves the copy of the key for a known one.
            if !self.series.contains_key(key) {
                self.series.insert(key.clone(), make());
            }
            return self.series.get_mut(key);
        }
        if self.series.contains_key(key) {
            return self.series.get_mut(key);
        }
        self.overflow_entry(key, make)
    }

    fn overflow_entry(&mut self, key: &SeriesKey, make: impl FnOnce() -> V) -> Option<&mut V> {
        if self.explosion.is_none() {
            self.explosion = Some(self.explain(key));
        }
        let known = self.overflow.contains_key(&key.metric);
        if !known && self.overflow.len() >= MAX_OVERFLOW_SERIES {
            self.refused = self.refused.saturating_add(1);
            return None;
        }
        self.overflowed = self.overflowed.saturating_add(1);
        Some(
            self.overflow
                .entry(Arc::clone(&key.metric))
                .or_insert_with(make),
        )
    }

    fn explain(&self, key: &SeriesKey) -> Explosion {
        let of_metric = || {
            self.series
                .keys()
                .filter(|other| other.metric == key.metric)
        };
        let widest = key.tags.as_slice().iter().map(|(name, _)| {
            let values: BTreeSet<_> = of_metric()
                .filter_map(|other| other.tags.get(name))
                .collect();
            (values.len(), Arc::clone(name))
        });
        let (values, tag) = widest
            .max()
            .map_or((0, None), |(values, tag)| (values, Some(tag)));
        Explosion {
            metric: Arc::clone(&key.metric),
            tag,
            values,
        }
    }

    /// The aggregate of a series; `None` when it has no place of its own.
    #[must_use]
    pub fn get(&self, key: &SeriesKey) -> Option<&V> {
        self.series.get(key)
    }

    /// The series with a place of their own, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&SeriesKey, &V)> {
        self.series.iter()
    }

    /// The overflow series, by metric; their keys carry the tag `overflow:true`.
    pub fn overflow(&self) -> impl Iterator<Item = (SeriesKey, &V)> {
        self.overflow.iter().map(|(metric, value)| {
            (
                SeriesKey::new(Arc::clone(metric), TagSet::new().with(OVERFLOW_TAG, "true")),
                value,
            )
        })
    }

    /// All aggregates, overflow series included, for clearing after a snapshot.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.series.values_mut().chain(self.overflow.values_mut())
    }

    /// Series with a place of their own.
    #[must_use]
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// Whether nothing has a place, overflow series included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.overflow.is_empty()
    }

    /// How often a value went to an overflow series.
    #[must_use]
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// How often [`Self::entry`] found no place at all.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// What made the map overflow; `None` while it has not.
    #[must_use]
    pub fn explosion(&self) -> Option<&Explosion> {
        self.explosion.as_ref()
    }
}

impl<V: Default> SeriesMap<V> {
    /// Merges another map's series with `combine`; what finds no place goes to the overflow series.
    pub fn merge(&mut self, other: &Self, combine: impl Fn(&mut V, &V)) {
        for (key, value) in &other.series {
            if let Some(mine) = self.entry(key, V::default) {
                combine(mine, value);
            }
        }
        for (metric, value) in &other.overflow {
            if self.overflow.contains_key(metric) || self.overflow.len() < MAX_OVERFLOW_SERIES {
                combine(self.overflow.entry(Arc::clone(metric)).or_default(), value);
            } else {
                self.refused = self.refused.saturating_add(1);
            }
        }
        self.overflowed = self.overflowed.saturating_add(other.overflowed);
        self.refused = self.refused.saturating_add(other.refused);
        self.explosion = self.explosion.take().or_else(|| other.explosion.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counter;

    fn key(metric: &str, url: usize) -> SeriesKey {
        let tags = TagSet::new()
            .with("method", "GET")
            .with("url", format!("/{url}"));
        SeriesKey::new(metric, tags)
    }

    fn filled(cap: usize, urls: usize) -> SeriesMap<Counter> {
        let mut map = SeriesMap::with_cap(cap);
        for url in 0..urls {
            map.entry(&key("http_reqs", url), Counter::default)
                .expect("there is room")
                .add(1);
        }
        map
    }

    fn total(map: &SeriesMap<Counter>) -> u64 {
        let own: u64 = map.iter().map(|(_, counter)| counter.total()).sum();
        own + map
            .overflow()
            .map(|(_, counter)| counter.total())
            .sum::<u64>()
    }

    #[test]
    fn beyond_the_cap_values_go_to_the_overflow_series() {
        let map = filled(10, 25);
        assert_eq!((map.len(), map.overflowed(), total(&map)), (10, 15, 25));
        let (overflow, _) = map.overflow().next().expect("there is one");
        assert_eq!(overflow.to_string(), "http_reqs{overflow:true}");
    }

    #[test]
    fn the_tag_that_exploded_is_named() {
        let explosion = filled(10, 11).explosion().cloned().expect("it overflowed");
        assert_eq!(explosion.tag.as_deref(), Some("url"));
        assert_eq!(explosion.values, 10);
        assert_eq!(filled(10, 10).explosion(), None);
    }

    #[test]
    fn known_series_keep_their_place_when_full() {
        let mut map = filled(10, 25);
        map.entry(&key("http_reqs", 3), Counter::default)
            .expect("it is known")
            .add(1);
        assert_eq!(map.get(&key("http_reqs", 3)).map(Counter::total), Some(2));
        assert_eq!(map.overflowed(), 15);
    }

    #[test]
    fn overflow_series_are_bounded_too() {
        let mut map = SeriesMap::with_cap(0);
        for metric in 0..MAX_OVERFLOW_SERIES + 5 {
            if let Some(counter) = map.entry(&key(&format!("m{metric}"), 0), Counter::default) {
                counter.add(1);
            }
        }
        assert_eq!(total(&map), MAX_OVERFLOW_SERIES as u64);
        assert_eq!(map.refused(), 5);
    }

    #[test]
    fn merging_loses_nothing() {
        let mut map = filled(10, 8);
        map.merge(&filled(20, 30), |mine, theirs| mine.merge(theirs));
        assert_eq!((map.len(), total(&map)), (10, 38));
        assert!(map.explosion().is_some());
    }
}
