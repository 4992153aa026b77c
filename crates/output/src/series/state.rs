//! Series with their sums, and when each last changed.
//!
//! Must not know who reads them. Invariant: what is read is the sum of everything that was added.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_metric::{
    Aggregated, BuiltIn, Contains, Explosion, MetricId, MetricType, MetricValues, OVERFLOW_TAG,
    SeriesDelta, TagSet, overflow_tags,
};
use loadline_model::observation::ResourceSample;
use loadline_model::result::Row;
use loadline_model::{RunEvent, Snapshot};

use super::engine;

/// Gauges of the whole run, which only carry its tags.
const WHOLE: [BuiltIn; 2] = [BuiltIn::Vus, BuiltIn::VusMax];

/// What a series measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesFamily {
    /// The metric's name.
    pub name: Arc<str>,
    /// How its values are aggregated.
    pub kind: MetricType,
    /// What its values mean.
    pub contains: Contains,
    /// Whether it is loadline's own, rather than a metric of k6 or of a script.
    pub is_own: bool,
}

/// One series.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it measures.
    pub family: Arc<SeriesFamily>,
    /// Everything since the start of the run.
    pub value: Aggregated,
    /// The number of the addition that last changed it; additions are numbered from 1.
    pub changed: u64,
    /// Its running number, from 0, usable as an index by readers.
    pub number: usize,
}

/// A metric within a set of tags. Loadline's own come after the script's, those of observers last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Script(MetricId),
    Own(&'static str),
    /// A name in `SeriesState::observed`, by its index.
    Observed(usize),
}

/// A metric of a script's run, and how many series it has.
#[derive(Debug)]
struct ScriptFamily {
    family: Arc<SeriesFamily>,
    series: usize,
}

/// The series of a run.
#[derive(Debug, Default)]
pub struct SeriesState {
    /// Lists, since most sets have few series and tree nodes are large.
    sets: BTreeMap<TagSet, Vec<(Key, Series)>>,
    scripts: BTreeMap<Key, ScriptFamily>,
    /// What observers read, by the metric's name.
    observed: BTreeMap<Arc<str>, (Key, Arc<SeriesFamily>)>,
    additions: u64,
    made: usize,
    started_unix_ms: u64,
    until_ns: u64,
    /// Whether series by all tags are received: then the sums over them are not kept.
    is_tagged: bool,
    /// Maximum series of one metric of a script; further ones are counted together.
    series_max: usize,
    explosion: Option<Explosion>,
    /// Whether it was reported; the run itself reports a worker that has too many.
    is_explosion_told: bool,
    engine: engine::Sums,
}

impl SeriesState {
    /// Adds an event.
    pub fn add(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started {
                plan,
                started_unix_ms,
                ..
            } => {
                self.started_unix_ms = *started_unix_ms;
                self.is_tagged = plan.script.is_some();
                let script = plan.script.as_deref();
                self.series_max =
                    script.map_or(usize::MAX, |script| script.series.series_max as usize);
                self.engine.tags = plan.run_tags();
            }
            RunEvent::Series(delta) => {
                self.additions += 1;
                // Also plans of steps count by tags: what the engine counts would be there a second time.
                self.is_tagged = true;
                self.add_tagged(delta);
            }
            RunEvent::Second { row, delta } => {
                self.additions += 1;
                self.add_second(row, delta);
            }
            RunEvent::Resource(sample) => self.add_observed(sample),
            RunEvent::Before(_)
            | RunEvent::TearingDown { .. }
            | RunEvent::Around(_)
            | RunEvent::Mark(_)
            | RunEvent::Observer(_)
            | RunEvent::Finished(_) => {}
        }
    }

    /// Each worker limits its own series; here the limit applies to all of them.
    fn add_tagged(&mut self, delta: &SeriesDelta) {
        for (tags, values) in &delta.values {
            self.is_explosion_told |= tags.get(OVERFLOW_TAG).is_some();
            for (metric, value) in values {
                let key = Key::Script(*metric);
                let known = self.scripts.entry(key).or_insert_with(|| ScriptFamily {
                    family: script_family(delta, *metric),
                    series: 0,
                });
                let family = Arc::clone(&known.family);
                if known.series < self.series_max || self.has(tags, key) {
                    self.merge(tags, key, family, value);
                } else {
                    self.overflow(key, family, value);
                }
            }
        }
    }

    fn has(&self, tags: &TagSet, key: Key) -> bool {
        let set = self.sets.get(tags);
        set.is_some_and(|set| place_of(set, key).is_ok())
    }

    fn overflow(&mut self, key: Key, family: Arc<SeriesFamily>, value: &Aggregated) {
        if self.explosion.is_none() {
            let of_metric = self
                .sets
                .iter()
                .filter(|(_, set)| place_of(set, key).is_ok());
            let name = Arc::clone(&family.name);
            self.explosion = Some(Explosion::of(name, of_metric.map(|(tags, _)| tags)));
        }
        let tags = overflow_tags(&self.engine.tags);
        self.merge(&tags, key, family, value);
    }

    fn add_second(&mut self, row: &Row, delta: &Snapshot) {
        self.until_ns = row.at_ns + row.span_ns;
        if let Some(script) = &delta.script {
            self.add_whole(&script.root.values);
        }
        if !self.is_tagged {
            for (key, tags, family, value) in self.engine.requests(row, delta) {
                self.merge(&tags, key, family, &value);
            }
        }
        let run = self.engine.tags.clone();
        for (key, family, value) in engine::generator(row, delta) {
            self.merge(&run, key, family, &value);
        }
    }

    /// Sets the gauge for an observer's reading; readings before the load are only in the result.
    fn add_observed(&mut self, sample: &ResourceSample) {
        let Ok(at_ns) = u64::try_from(sample.at_ns) else {
            return;
        };
        self.additions += 1;
        let next = Key::Observed(self.observed.len());
        let known = self.observed.entry(Arc::clone(&sample.metric));
        let (key, family) = known.or_insert_with(|| (next, engine::observed(&sample.metric)));
        let (key, family) = (*key, Arc::clone(family));
        let tags = (self.engine.tags.clone())
            .with("observer", &*sample.observer)
            .with("component", &*sample.component);
        self.merge(&tags, key, family, &engine::gauge(sample.value, at_ns));
    }

    fn add_whole(&mut self, values: &MetricValues) {
        for metric in WHOLE {
            if let Some(value) = values.get(&metric.id()) {
                let key = Key::Script(metric.id());
                let family = engine::built_in(metric);
                let run = self.engine.tags.clone();
                self.merge(&run, key, family, value);
            }
        }
    }

    fn merge(&mut self, tags: &TagSet, key: Key, family: Arc<SeriesFamily>, value: &Aggregated) {
        let additions = self.additions;
        let set = match self.sets.get_mut(tags) {
            Some(set) => set,
            None => self.sets.entry(tags.clone()).or_default(),
        };
        match place_of(set, key) {
            Ok(at) => {
                let series = &mut set[at].1;
                series.value.merge(value);
                series.changed = additions;
            }
            Err(at) => {
                let series = Series {
                    family,
                    value: value.clone(),
                    changed: additions,
                    number: self.made,
                };
                self.made += 1;
                set.reserve_exact(1);
                set.insert(at, (key, series));
                if let Some(known) = self.scripts.get_mut(&key) {
                    known.series += 1;
                }
            }
        }
    }

    /// Explains why series of a metric are counted together although no worker had too many; once, otherwise
    /// `None`.
    #[must_use]
    pub fn new_explosion(&mut self) -> Option<String> {
        let explosion = self.explosion.as_ref()?;
        let is_told = std::mem::replace(&mut self.is_explosion_told, true);
        (!is_told).then(|| explosion.to_string())
    }

    /// Every series with its tags, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&TagSet, &Series)> {
        self.sets
            .iter()
            .flat_map(|(tags, set)| set.iter().map(move |(_, series)| (tags, series)))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.made
    }

    /// Whether nothing was reported yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// How often something was added.
    #[must_use]
    pub fn additions(&self) -> u64 {
        self.additions
    }

    /// Milliseconds since 1970 at the start of the run; `None` before it.
    #[must_use]
    pub fn started_unix_ms(&self) -> Option<u64> {
        (self.started_unix_ms > 0).then_some(self.started_unix_ms)
    }

    /// Milliseconds since 1970 up to which everything is included.
    #[must_use]
    pub fn until_unix_ms(&self) -> u64 {
        self.started_unix_ms + self.until_ns / 1_000_000
    }
}

fn place_of(set: &[(Key, Series)], key: Key) -> Result<usize, usize> {
    set.binary_search_by_key(&key, |(key, _)| *key)
}

fn script_family(delta: &SeriesDelta, metric: MetricId) -> Arc<SeriesFamily> {
    let definition = delta.definition(metric);
    let definition = definition.unwrap_or_else(|| BuiltIn::HttpReqs.definition());
    Arc::new(SeriesFamily {
        name: definition.name,
        kind: definition.kind,
        contains: definition.contains,
        is_own: false,
    })
}
