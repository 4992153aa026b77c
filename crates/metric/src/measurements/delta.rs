//! What was measured in an interval: workers send it, `run` merges it, and a journal keeps it.
//!
//! Must not know how it was recorded. Invariants: merging is associative; a metric, check or group appears only
//! if it was seen; anything beyond a limit goes to an overflow entry and is counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tagged::merge_tagged;
use super::values::{MetricValues, merge_value, merge_values};
use super::{DistinctSeries, Reasons, SeriesValues};
use crate::{
    Aggregated, BuiltIn, DEFAULT_SERIES_CAP, Explosion, MetricDefinition, MetricId, NotFinite,
    OVERFLOW_TAG, TagSet,
};

/// When something was first seen; earlier is smaller. Things that one worker saw at the same instant are
/// ordered by its running number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FirstSeen {
    /// Nanoseconds from the start of the run.
    pub at_ns: u64,
    /// The worker's running number.
    pub order: u64,
}

/// How often a check passed and failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCounts {
    /// When it was first evaluated.
    pub first: FirstSeen,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}

/// What was measured under a group's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDelta {
    /// When it was first entered.
    pub first: FirstSeen,
    /// Its metrics; empty unless asked for.
    pub values: MetricValues,
    /// Its checks by name.
    pub checks: BTreeMap<Arc<str>, CheckCounts>,
}

/// What was measured in the whole test or in a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SectionDelta {
    /// Metrics.
    pub values: MetricValues,
    /// Groups by path; the empty path holds everything outside of groups.
    pub groups: BTreeMap<Arc<str>, GroupDelta>,
}

/// HTTP metrics by the value of one tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByTagDelta {
    /// Metrics by value.
    pub rows: BTreeMap<Arc<str>, MetricValues>,
    /// Failure reasons by value; no entry without failures.
    #[serde(default)]
    pub reasons: BTreeMap<Arc<str>, Reasons>,
    /// Metrics of the values beyond the limit.
    pub rest: MetricValues,
    /// Requests whose value was beyond the limit.
    pub overflowed: u64,
}

/// Every metric of an interval, by its full set of tags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesDelta {
    /// Definitions of the script's own metrics in here.
    pub definitions: BTreeMap<MetricId, MetricDefinition>,
    /// The values.
    pub values: SeriesValues,
}

impl SeriesDelta {
    /// The definition of a metric in here; `None` if it was not seen and is not built in.
    #[must_use]
    pub fn definition(&self, metric: MetricId) -> Option<MetricDefinition> {
        definition_of(metric, &self.definitions)
    }
}

fn definition_of(
    metric: MetricId,
    own: &BTreeMap<MetricId, MetricDefinition>,
) -> Option<MetricDefinition> {
    match BuiltIn::ALL.get(metric.0 as usize) {
        Some(built_in) => Some(built_in.definition()),
        None => own.get(&metric).cloned(),
    }
}

/// What was measured in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasurementsDelta {
    /// Definitions of the script's own metrics in here.
    pub definitions: BTreeMap<MetricId, MetricDefinition>,
    /// The whole test.
    pub root: SectionDelta,
    /// Each scenario separately; empty unless requested.
    pub scenarios: BTreeMap<Arc<str>, SectionDelta>,
    /// Sub-metrics.
    #[serde(with = "as_list")]
    pub submetrics: BTreeMap<(MetricId, TagSet), Aggregated>,
    /// By the requested tag; `None` if no tag was requested or nothing was seen.
    pub by_tag: Option<ByTagDelta>,
    /// Every metric by its full set of tags; empty unless requested. Only intervals have it; the whole does not
    /// keep it.
    #[serde(skip)]
    pub by_all_tags: SeriesValues,
    /// The series seen: in an interval, at least the new ones. Empty unless requested.
    #[serde(skip)]
    pub distinct: DistinctSeries,
    /// What exceeded its limit of values; `None` when everything fit.
    pub explosion: Option<Explosion>,
}

/// The name of the overflow entry for checks.
pub(super) fn overflow_name() -> Arc<str> {
    format!("{{{OVERFLOW_TAG}:true}}").into()
}

impl MeasurementsDelta {
    /// The definition of a metric in here; `None` if it was not seen and is not built in.
    #[must_use]
    pub fn definition(&self, metric: MetricId) -> Option<MetricDefinition> {
        definition_of(metric, &self.definitions)
    }

    /// Takes the series out; `None` when there are none.
    #[must_use]
    pub fn take_series(&mut self) -> Option<SeriesDelta> {
        (!self.by_all_tags.is_empty()).then(|| SeriesDelta {
            definitions: self.definitions.clone(),
            values: std::mem::take(&mut self.by_all_tags),
        })
    }

    /// The values of a metric, or of a sub-metric if `tags` are given; `None` when there are none.
    #[must_use]
    pub fn get(&self, metric: MetricId, tags: &TagSet) -> Option<&Aggregated> {
        if tags.is_empty() {
            self.root.values.get(&metric)
        } else {
            self.submetrics.get(&(metric, tags.clone()))
        }
    }

    /// Makes the gauges, checks and groups of `setup()` older than those of the run, whose clock starts after
    /// it.
    pub fn put_before_start(&mut self) {
        let scenarios = self.scenarios.values_mut();
        for section in scenarios.chain([&mut self.root]) {
            for group in section.groups.values_mut() {
                group.first.at_ns = 0;
                for check in group.checks.values_mut() {
                    check.first.at_ns = 0;
                }
            }
        }
        let values = self.root.values.values_mut();
        for value in values.chain(self.submetrics.values_mut()) {
            if let Aggregated::Gauge(gauge) = value {
                gauge.put_before_start();
            }
        }
    }

    /// Sets a gauge of the whole test, which no single worker can see.
    ///
    /// # Errors
    /// [`NotFinite`]; nothing is recorded.
    pub fn set_gauge(&mut self, metric: BuiltIn, value: f64, at_ns: u64) -> Result<(), NotFinite> {
        let mut gauge = Aggregated::empty(metric.kind(), metric.contains(), false);
        gauge.record(value, at_ns)?;
        merge_value(&mut self.root.values, metric.id(), gauge);
        Ok(())
    }

    /// Merges another interval or worker.
    pub fn merge(&mut self, other: MeasurementsDelta) {
        self.definitions.extend(other.definitions);
        self.root.merge(other.root);
        for (name, section) in other.scenarios {
            self.scenarios.entry(name).or_default().merge(section);
        }
        for (key, value) in other.submetrics {
            match self.submetrics.get_mut(&key) {
                Some(known) => known.merge(&value),
                None => {
                    self.submetrics.insert(key, value);
                }
            }
        }
        if let Some(rows) = other.by_tag {
            self.by_tag.get_or_insert_default().merge(rows);
        }
        merge_tagged(&mut self.by_all_tags, other.by_all_tags);
        self.distinct.merge(other.distinct);
        self.explosion = self.explosion.take().or(other.explosion);
    }
}

impl SectionDelta {
    pub(super) fn merge(&mut self, other: SectionDelta) {
        merge_values(&mut self.values, other.values);
        for (path, group) in other.groups {
            self.merge_group(path, group);
        }
    }

    pub(super) fn merge_group(&mut self, path: Arc<str>, group: GroupDelta) {
        match self.groups.get_mut(&path) {
            Some(known) => known.merge(group),
            None => {
                self.groups.insert(path, group);
            }
        }
    }
}

impl GroupDelta {
    pub(super) fn new(first: FirstSeen) -> GroupDelta {
        GroupDelta {
            first,
            values: MetricValues::new(),
            checks: BTreeMap::new(),
        }
    }

    fn merge(&mut self, other: GroupDelta) {
        self.first = self.first.min(other.first);
        merge_values(&mut self.values, other.values);
        for (name, counts) in other.checks {
            let full = self.checks.len() >= DEFAULT_SERIES_CAP;
            let name = if full && !self.checks.contains_key(&name) {
                overflow_name()
            } else {
                name
            };
            match self.checks.get_mut(&name) {
                Some(known) => known.merge(&counts),
                None => {
                    self.checks.insert(name, counts);
                }
            }
        }
    }
}

impl CheckCounts {
    fn merge(&mut self, other: &CheckCounts) {
        self.first = self.first.min(other.first);
        self.passes = self.passes.saturating_add(other.passes);
        self.fails = self.fails.saturating_add(other.fails);
    }
}

impl ByTagDelta {
    fn merge(&mut self, other: ByTagDelta) {
        for (value, values) in other.rows {
            let full = self.rows.len() >= DEFAULT_SERIES_CAP;
            match self.rows.get_mut(&value) {
                Some(known) => merge_values(known, values),
                None if !full => {
                    self.rows.insert(value, values);
                }
                None => merge_values(&mut self.rest, values),
            }
        }
        for (value, reasons) in other.reasons {
            if self.rows.contains_key(&value) {
                self.reasons.entry(value).or_default().merge(&reasons);
            }
        }
        merge_values(&mut self.rest, other.rest);
        self.overflowed = self.overflowed.saturating_add(other.overflowed);
    }
}

/// JSON object keys must be strings, so the map is written as a list of its entries.
mod as_list {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{Aggregated, MetricId, TagSet};

    type Submetrics = BTreeMap<(MetricId, TagSet), Aggregated>;

    pub(super) fn serialize<S: Serializer>(map: &Submetrics, to: S) -> Result<S::Ok, S::Error> {
        map.iter().collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Submetrics, D::Error> {
        let entries = Vec::<((MetricId, TagSet), Aggregated)>::deserialize(from)?;
        Ok(entries.into_iter().collect())
    }
}
