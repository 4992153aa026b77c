//! Where a worker of a script run records metrics, sub-metrics, checks and groups.
//!
//! Must not know who records, nor when the values are taken. Invariants: recording a known metric, check or
//! group allocates nothing; every value of a metric counts once in the whole, and once in every sub-metric
//! whose tags it carries.

mod checks;
mod delta;
mod distinct;
mod http;
mod pairs;
mod plan;
mod reasons;
mod tagged;
mod values;

use std::sync::Arc;

pub use delta::{
    ByTagDelta, CheckCounts, FirstSeen, GroupDelta, MeasurementsDelta, SectionDelta, SeriesDelta,
};
pub use distinct::DistinctSeries;
pub use http::HttpTimes;
pub use plan::{EXPECTED_RESPONSE_TAG, SeriesPlan};
pub use reasons::{OTHER_REASONS, REASONS_MAX, Reasons};
pub use tagged::SeriesValues;
pub use values::MetricValues;

use crate::{BuiltIn, MetricId, MetricRegistry, NotFinite, TagSet, Tagged};
use checks::Checks;
use distinct::SeriesCounter;
use http::ByTag;
use pairs::Pairs;
use tagged::TaggedSeries;
use values::{Accumulator, Accumulators, merge_values};

const SCENARIO_TAG: &str = "scenario";
const GROUP_TAG: &str = "group";
const CHECK_TAG: &str = "check";

/// One part of a run with metrics of its own; the whole is the sum of its parts.
#[derive(Debug, Default)]
struct Part {
    scenario: Option<Arc<str>>,
    /// `None` when groups are not kept apart.
    group: Option<Arc<str>>,
    first_at_ns: u64,
    values: Accumulators,
}

/// A sub-metric.
#[derive(Debug)]
struct Submetric {
    metric: MetricId,
    tags: TagSet,
    values: Accumulator,
}

/// The measurements of one worker of a script run.
#[derive(Debug)]
pub struct Measurements {
    registry: Arc<MetricRegistry>,
    by_scenario: bool,
    by_group: bool,
    series_cap: usize,
    parts: Vec<Part>,
    /// Index of each part by scenario and group.
    part_places: Pairs,
    last_part: usize,
    submetrics: Vec<Submetric>,
    /// Indices of the sub-metrics, by metric.
    submetrics_of: Vec<Vec<usize>>,
    by_tag: Option<ByTag>,
    by_all_tags: Option<TaggedSeries>,
    counter: Option<SeriesCounter>,
    checks: Checks,
}

impl Measurements {
    /// Empty measurements. Sub-metrics of unknown metrics are ignored.
    #[must_use]
    pub fn new(plan: &SeriesPlan, registry: Arc<MetricRegistry>) -> Measurements {
        let mut measurements = Measurements {
            by_scenario: plan.by_scenario,
            by_group: plan.by_group,
            series_cap: plan.series_cap,
            parts: Vec::new(),
            part_places: Pairs::default(),
            last_part: 0,
            submetrics: Vec::new(),
            submetrics_of: Vec::new(),
            by_tag: ByTag::of(plan),
            by_all_tags: (plan.by_all_tags)
                .then(|| TaggedSeries::new(plan.series_cap, &plan.run_tags)),
            counter: plan.counts_series.then(SeriesCounter::default),
            checks: Checks::new(plan.series_cap),
            registry,
        };
        if !plan.by_scenario && !plan.by_group {
            measurements.parts.push(Part::default());
        }
        for selector in &plan.submetrics {
            if let Some((metric, _)) = measurements.registry.by_name(&selector.metric) {
                measurements.add_submetric(metric, &selector.tags);
            }
        }
        measurements
    }

    fn add_submetric(&mut self, metric: MetricId, tags: &TagSet) {
        let number = metric.0 as usize;
        if self.submetrics_of.len() <= number {
            self.submetrics_of.resize_with(number + 1, Vec::new);
        }
        self.submetrics_of[number].push(self.submetrics.len());
        self.submetrics.push(Submetric {
            metric,
            tags: tags.clone(),
            values: Accumulator::of(metric, &self.registry),
        });
    }

    /// Records a value in the metric's unit (times in milliseconds); `at_ns` is the time from the start of the
    /// run.
    ///
    /// # Errors
    /// [`NotFinite`]; nothing is recorded.
    pub fn record(
        &mut self,
        metric: MetricId,
        value: f64,
        at_ns: u64,
        tags: &dyn Tagged,
    ) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        self.list(metric, value != 0.0, at_ns, tags);
        self.each_place(metric, at_ns, tags, |place| {
            place
                .record(value, at_ns)
                .expect("the value was found finite");
        });
        Ok(())
    }

    /// Records a time measured by the engine.
    pub fn record_ns(&mut self, metric: MetricId, ns: u64, at_ns: u64, tags: &dyn Tagged) {
        self.list(metric, true, at_ns, tags);
        self.each_place(metric, at_ns, tags, |place| place.record_ns(ns));
    }

    /// Adds `n` to a built-in counter.
    pub fn count(&mut self, metric: BuiltIn, n: u64, at_ns: u64, tags: &dyn Tagged) {
        self.each_place(metric.id(), at_ns, tags, |place| {
            place
                .record(n as f64, at_ns)
                .expect("a whole number is finite");
        });
    }

    /// Records the result of a check. It is listed by its tags `check` and `group`.
    pub fn check(&mut self, passed: bool, at_ns: u64, tags: &dyn Tagged) {
        let metric = BuiltIn::Checks.id();
        self.list(metric, passed, at_ns, tags);
        self.each_place(metric, at_ns, tags, |place| place.record_one(passed));
    }

    /// Lists the check or group that a value belongs to. As in k6, the value's tags decide, whoever recorded
    /// it; a value without them is not listed.
    #[inline]
    fn list(&mut self, metric: MetricId, held: bool, at_ns: u64, tags: &dyn Tagged) {
        let is_check = metric == BuiltIn::Checks.id();
        if !is_check && metric != BuiltIn::GroupDuration.id() {
            return;
        }
        let group = tags.tag(GROUP_TAG).map(group_path);
        let scenario = self.scenario_of(tags);
        let name = tags.tag(CHECK_TAG).filter(|_| is_check);
        match (name, group) {
            (Some(name), group) => {
                let group = group.unwrap_or_default();
                self.checks.check(scenario, group, name, held, at_ns);
            }
            // A check without its name still makes its group known.
            (None, Some(group)) if !is_check || !group.is_empty() => {
                self.checks.group(scenario, group, at_ns);
            }
            (None, _) => {}
        }
    }

    /// Takes what was recorded since the last call; keeps the memory for reuse.
    #[must_use]
    pub fn take(&mut self) -> MeasurementsDelta {
        let mut delta = MeasurementsDelta::default();
        for part in &mut self.parts {
            part.take_into(&mut delta);
        }
        for submetric in &mut self.submetrics {
            if let Some(values) = submetric.values.take() {
                let key = (submetric.metric, submetric.tags.clone());
                delta.submetrics.insert(key, values);
            }
        }
        self.checks.take_into(&mut delta);
        if let Some(by_tag) = &mut self.by_tag {
            by_tag.take_into(&mut delta);
        }
        if let Some(series) = &mut self.by_all_tags {
            delta.by_all_tags = series.take();
            delta.explosion = delta.explosion.or_else(|| series.explosion.clone());
        }
        if let Some(counter) = &mut self.counter {
            delta.distinct = counter.take();
        }
        delta.explosion = delta.explosion.or_else(|| self.checks.explosion.clone());
        self.define_own(&mut delta);
        delta
    }

    fn define_own(&self, delta: &mut MeasurementsDelta) {
        let first_own = MetricId(BuiltIn::ALL.len() as u32);
        for (metric, _) in delta.root.values.range(first_own..) {
            if let Some(definition) = self.registry.get(*metric) {
                delta.definitions.insert(*metric, definition);
            }
        }
    }

    fn scenario_of<'a>(&self, tags: &'a dyn Tagged) -> Option<&'a str> {
        if self.by_scenario {
            tags.tag(SCENARIO_TAG)
        } else {
            None
        }
    }

    /// Calls `record` with every accumulator that a value belongs to.
    #[inline]
    fn each_place(
        &mut self,
        metric: MetricId,
        at_ns: u64,
        tags: &dyn Tagged,
        mut record: impl FnMut(&mut Accumulator),
    ) {
        let part = self.part_of(tags, at_ns);
        record(self.parts[part].values.of(metric, &self.registry));
        if let Some(places) = self.submetrics_of.get(metric.0 as usize) {
            for place in places {
                let submetric = &mut self.submetrics[*place];
                if tags.has_all(&submetric.tags) {
                    record(&mut submetric.values);
                }
            }
        }
        if let Some(series) = &mut self.by_all_tags {
            record(series.metric(metric, tags, &self.registry));
        }
        if let Some(counter) = &mut self.counter {
            counter.saw(metric, tags);
        }
    }

    #[inline]
    fn part_of(&mut self, tags: &dyn Tagged, at_ns: u64) -> usize {
        if self.by_scenario || self.by_group {
            self.part_by_tags(tags, at_ns)
        } else {
            0
        }
    }

    fn part_by_tags(&mut self, tags: &dyn Tagged, at_ns: u64) -> usize {
        let scenario = self.scenario_of(tags);
        let group = if self.by_group {
            tags.tag(GROUP_TAG).map(group_path)
        } else {
            None
        };
        let is_it = |part: &Part| part.is_of(scenario, group);
        if self.parts.get(self.last_part).is_some_and(is_it) {
            return self.last_part;
        }
        self.last_part = match self.part_places.find(scenario, group) {
            Some(place) => place,
            None => self.make_part(scenario, group, at_ns),
        };
        self.last_part
    }

    /// Beyond the limit, metrics of groups are recorded under their scenario only.
    fn make_part(&mut self, scenario: Option<&str>, group: Option<&str>, at_ns: u64) -> usize {
        let group = group.filter(|_| self.parts.len() < self.series_cap);
        if let Some(place) = self.part_places.find(scenario, group) {
            return place;
        }
        self.part_places.insert(scenario, group, self.parts.len());
        self.parts.push(Part {
            scenario: scenario.map(Into::into),
            group: group.map(Into::into),
            first_at_ns: at_ns,
            values: Accumulators::default(),
        });
        self.parts.len() - 1
    }
}

/// The path from the first group that was entered: anything before it was put into the tag by the script
/// itself.
#[inline]
fn group_path(tag: &str) -> &str {
    match tag.is_empty() || tag.starts_with("::") {
        true => tag,
        false => tag.find("::").map_or("", |at| &tag[at..]),
    }
}

/// Whether two texts are equal. Empty texts are not compared byte by byte: their pointers are dangling, and
/// reading there with masked vector instructions takes 100 ns.
#[inline]
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

#[inline]
fn is_same_if_any(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => true,
        _ => false,
    }
}

impl Part {
    #[inline]
    fn is_of(&self, scenario: Option<&str>, group: Option<&str>) -> bool {
        is_same_if_any(self.scenario.as_deref(), scenario)
            && is_same_if_any(self.group.as_deref(), group)
    }

    /// Adds what was recorded to the whole, to its scenario, and to its group in both.
    fn take_into(&mut self, delta: &mut MeasurementsDelta) {
        let values = self.values.take();
        if values.is_empty() {
            return;
        }
        if let Some(scenario) = &self.scenario {
            let section = delta.scenarios.entry(Arc::clone(scenario)).or_default();
            self.add_to(section, values.clone());
        }
        self.add_to(&mut delta.root, values);
    }

    fn add_to(&self, section: &mut SectionDelta, values: MetricValues) {
        if let Some(group) = &self.group {
            // An entered group already has its order; this only covers values that carry the tag of a group
            // never entered.
            let first = FirstSeen {
                at_ns: self.first_at_ns,
                order: u64::MAX,
            };
            let mut delta = GroupDelta::new(first);
            merge_values(&mut delta.values, values.clone());
            section.merge_group(Arc::clone(group), delta);
        }
        merge_values(&mut section.values, values);
    }
}
