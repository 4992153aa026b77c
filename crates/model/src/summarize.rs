//! Builds the summary of a test from its measurements.
//!
//! Must not know layouts, nor how thresholds are evaluated. Invariant: every metric that was seen is in the
//! summary, and so is every metric that a threshold names, with zeros if necessary.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loadline_metric::measurements::{
    ByTagDelta, CheckCounts, FirstSeen, GroupDelta, MetricValues, Reasons, SectionDelta,
};
use loadline_metric::{
    Aggregated, BuiltIn, MeasurementsDelta, MetricDefinition, MetricId, OVERFLOW_TAG, TagSet,
};

use crate::secret::redacted_text;
use crate::test_summary::{
    ByTag, CheckSummary, MetricSummary, Section, TestSummary, ThresholdSummary,
};

/// The thresholds under one key of the options, and their results.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldThresholds {
    /// The metric's id.
    pub metric: MetricId,
    /// The definition of the metric.
    pub definition: MetricDefinition,
    /// The tags of a sub-metric; `None` for the metric itself.
    pub tags: Option<TagSet>,
    /// The text between the braces of the key, as written; `None` for the metric itself.
    pub suffix: Option<Arc<str>>,
    /// The thresholds, in the order of the script.
    pub thresholds: Vec<ThresholdSummary>,
}

impl TestSummary {
    /// The summary of the measurements of a run with this duration. `by_tag` is the tag by whose values
    /// requests were counted.
    #[must_use]
    pub fn of(
        seen: &MeasurementsDelta,
        duration_ns: u64,
        by_tag: Option<&str>,
        held: &[HeldThresholds],
    ) -> TestSummary {
        let order = order_of_checks(seen);
        let mut root = section(seen, &seen.root, &order);
        root.metrics = metrics_with_thresholds(seen, held);
        let scenarios = seen.scenarios.iter();
        TestSummary {
            duration_ns,
            root,
            scenarios: scenarios
                .map(|(name, part)| (name.to_string(), section(seen, part, &order)))
                .collect(),
            by_tag: by_tag
                .zip(seen.by_tag.as_ref())
                .map(|(tag, rows)| rows_by_tag(seen, tag, rows)),
        }
    }

    /// The metrics and sub-metrics with a failed threshold, in alphabetical order: those that k6 lists at the
    /// end of a test.
    #[must_use]
    pub fn crossed(&self) -> Vec<String> {
        let metrics = self.root.metrics.iter();
        let crossed = metrics.filter(|metric| metric.thresholds.iter().any(|held| !held.passed));
        let mut keys: Vec<String> = crossed.map(MetricSummary::key).collect();
        keys.sort();
        keys
    }
}

/// The rank of every check in the order in which they were first seen.
fn order_of_checks(seen: &MeasurementsDelta) -> BTreeMap<FirstSeen, u64> {
    let sections = seen.scenarios.values().chain([&seen.root]);
    let firsts: BTreeSet<FirstSeen> = sections
        .flat_map(|section| section.groups.values())
        .flat_map(|group| group.checks.values())
        .map(|check| check.first)
        .collect();
    firsts.into_iter().zip(0..).collect()
}

fn section(
    seen: &MeasurementsDelta,
    part: &SectionDelta,
    order: &BTreeMap<FirstSeen, u64>,
) -> Section {
    let mut tree = Node::default();
    for (path, group) in &part.groups {
        tree.place(path).own = Some(group);
    }
    Section {
        metrics: metrics(seen, &part.values),
        ..tree.section(seen, order)
    }
}

/// A group and its subgroups.
#[derive(Default)]
struct Node<'a> {
    own: Option<&'a GroupDelta>,
    within: BTreeMap<&'a str, Node<'a>>,
}

impl<'a> Node<'a> {
    /// The node of a path; missing parents are created.
    fn place(&mut self, path: &'a str) -> &mut Node<'a> {
        match path.strip_prefix("::") {
            None => self,
            Some(names) => names
                .split("::")
                .fold(self, |node, name| node.within.entry(name).or_default()),
        }
    }

    fn first(&self) -> Option<FirstSeen> {
        let own = self.own.map(|group| group.first);
        let within = self.within.values().filter_map(Node::first);
        within.chain(own).min()
    }

    fn section(&self, seen: &MeasurementsDelta, order: &BTreeMap<FirstSeen, u64>) -> Section {
        let mut within: Vec<_> = self.within.iter().collect();
        within.sort_by_key(|(_, node)| node.first());
        let groups = within
            .into_iter()
            .map(|(name, node)| ((*name).to_owned(), node.section(seen, order)))
            .collect();
        let Some(own) = self.own else {
            return Section {
                groups,
                ..Section::default()
            };
        };
        Section {
            metrics: metrics(seen, &own.values),
            checks: checks(own, order),
            groups,
        }
    }
}

fn checks(group: &GroupDelta, order: &BTreeMap<FirstSeen, u64>) -> Vec<CheckSummary> {
    let summary = |(name, counts): (&Arc<str>, &CheckCounts)| CheckSummary {
        name: name.to_string(),
        first_seen: order.get(&counts.first).copied().unwrap_or(u64::MAX),
        passes: counts.passes,
        fails: counts.fails,
    };
    let mut checks: Vec<_> = group.checks.iter().map(summary).collect();
    checks.sort_by_key(|check| check.first_seen);
    checks
}

fn metrics(seen: &MeasurementsDelta, values: &MetricValues) -> Vec<MetricSummary> {
    let whole = |(metric, values): (&MetricId, &Aggregated)| {
        Some(MetricSummary {
            definition: seen.definition(*metric)?,
            tags: None,
            suffix: None,
            values: values.clone(),
            thresholds: Vec::new(),
        })
    };
    values.iter().filter_map(whole).collect()
}

/// The metrics of the whole test, each followed by its sub-metrics: first those with thresholds, in the order
/// of the script, then the others that were seen.
fn metrics_with_thresholds(
    seen: &MeasurementsDelta,
    held: &[HeldThresholds],
) -> Vec<MetricSummary> {
    let mut definitions: BTreeMap<MetricId, MetricDefinition> = held
        .iter()
        .map(|held| (held.metric, held.definition.clone()))
        .collect();
    let seen_metrics = seen.root.values.keys().copied();
    let of_submetrics = seen.submetrics.keys().map(|(metric, _)| *metric);
    for metric in seen_metrics.chain(of_submetrics) {
        if let Some(definition) = seen.definition(metric) {
            definitions.insert(metric, definition);
        }
    }
    let mut metrics = Vec::new();
    for (metric, definition) in definitions {
        let of_metric = || held.iter().filter(|held| held.metric == metric);
        metrics.push(MetricSummary {
            values: value_of(seen, metric, &definition, None),
            thresholds: of_metric()
                .filter(|held| held.tags.is_none())
                .flat_map(|held| held.thresholds.clone())
                .collect(),
            tags: None,
            suffix: None,
            definition: definition.clone(),
        });
        let with_tags = of_metric().filter(|held| held.tags.is_some());
        metrics.extend(with_tags.map(|held| MetricSummary {
            values: value_of(seen, metric, &definition, held.tags.as_ref()),
            definition: definition.clone(),
            tags: held.tags.clone(),
            suffix: held.suffix.clone(),
            thresholds: held.thresholds.clone(),
        }));
        let besides = seen.submetrics.iter().filter(|((of, tags), _)| {
            *of == metric && of_metric().all(|held| held.tags.as_ref() != Some(tags))
        });
        metrics.extend(besides.map(|((_, tags), values)| MetricSummary {
            definition: definition.clone(),
            tags: Some(tags.clone()),
            suffix: None,
            values: values.clone(),
            thresholds: Vec::new(),
        }));
    }
    metrics
}

/// The measured values, or empty ones.
fn value_of(
    seen: &MeasurementsDelta,
    metric: MetricId,
    definition: &MetricDefinition,
    tags: Option<&TagSet>,
) -> Aggregated {
    let found = match tags {
        None => seen.root.values.get(&metric),
        Some(tags) => seen.get(metric, tags),
    };
    let is_built_in = (metric.0 as usize) < BuiltIn::ALL.len();
    found
        .cloned()
        .unwrap_or_else(|| Aggregated::empty(definition.kind, definition.contains, is_built_in))
}

fn rows_by_tag(seen: &MeasurementsDelta, tag: &str, by_tag: &ByTagDelta) -> ByTag {
    let mut rows: Vec<_> = by_tag.rows.iter().collect();
    rows.sort_by_key(|(_, values)| Reverse(requests(values)));
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(value, values)| (redacted_text(value).into_owned(), metrics(seen, values)))
        .collect();
    if by_tag.overflowed > 0 {
        let name = format!("{{{OVERFLOW_TAG}:true}}");
        rows.push((name, metrics(seen, &by_tag.rest)));
    }
    ByTag {
        tag: tag.to_owned(),
        rows,
        overflowed: by_tag.overflowed,
        failures: by_tag.reasons.iter().map(failures_of).collect(),
        over_time: None,
    }
}

/// A value of the tag, and the failure reasons of its requests, the most frequent first.
fn failures_of((value, reasons): (&Arc<str>, &Reasons)) -> (String, Vec<(String, u64)>) {
    let redacted = |text: &str| redacted_text(text).into_owned();
    let reasons = reasons.each();
    let mut told: Vec<(String, u64)> = reasons.map(|(why, count)| (redacted(why), count)).collect();
    told.sort_by_key(|(_, count)| Reverse(*count));
    (redacted(value), told)
}

fn requests(values: &MetricValues) -> u64 {
    match values.get(&BuiltIn::HttpReqs.id()) {
        Some(Aggregated::Counter(counter)) => counter.total() as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::threshold::MetricSelector;
    use loadline_metric::{
        Contains, HttpTimes, Measurements, MetricRegistry, MetricType, SeriesPlan,
    };

    use super::*;

    fn tags(text: &[(&str, &str)]) -> TagSet {
        text.iter().copied().collect()
    }

    fn names(section: &Section) -> (Vec<&str>, Vec<&str>) {
        let checks = section.checks.iter().map(|check| &*check.name);
        let groups = section.groups.iter().map(|(name, _)| &**name);
        (checks.collect(), groups.collect())
    }

    #[test]
    fn groups_and_checks_are_in_the_order_of_their_first_sight_over_all_workers() {
        let check = |worker: &mut Measurements, group, name, passed, at_ns| {
            worker.check(passed, at_ns, &tags(&[("group", group), ("check", name)]));
        };
        let left = |worker: &mut Measurements, group, at_ns| {
            let metric = BuiltIn::GroupDuration.id();
            worker.record_ns(metric, 1, at_ns, &tags(&[("group", group)]));
        };
        for swapped in [false, true] {
            let mut workers =
                [(); 2].map(|()| Measurements::new(&SeriesPlan::default(), Arc::default()));
            check(&mut workers[0], "", "late", true, 50);
            left(&mut workers[0], "::z", 60);
            left(&mut workers[0], "::z::inner", 61);
            check(&mut workers[0], "::z", "deep", false, 62);
            check(&mut workers[1], "", "first", true, 10);
            check(&mut workers[1], "", "second", true, 10);
            check(&mut workers[1], "", "late", false, 11);
            check(&mut workers[1], "::a::lonely", "x", true, 70);
            let mut deltas = workers.map(|mut worker| worker.take());
            if swapped {
                deltas.reverse();
            }
            let [mut all, other] = deltas;
            all.merge(other);
            let root = TestSummary::of(&all, 1, None, &[]).root;
            assert_eq!(
                names(&root),
                (vec!["first", "second", "late"], vec!["z", "a"])
            );
            assert_eq!((root.checks[2].passes, root.checks[2].fails), (1, 1));
            assert_eq!(names(&root.groups[0].1), (vec!["deep"], vec!["inner"]));
            assert_eq!(names(&root.groups[1].1), (vec![], vec!["lonely"]));
            assert_eq!(root.groups[0].1.checks[0].first_seen, 3);
        }
    }

    #[test]
    fn what_a_threshold_names_is_there_without_a_value_and_others_are_not() {
        let registry: Arc<MetricRegistry> = Arc::default();
        let own = registry
            .declare("own", MetricType::Counter, Contains::Default)
            .expect("a good name");
        let plan = SeriesPlan::for_thresholds([&MetricSelector::whole("own")], true);
        let mut seen = Measurements::new(&plan, Arc::clone(&registry));
        let failed = tags(&[("expected_response", "false")]);
        seen.record_http(&HttpTimes::default(), Some(true), 5, &failed);
        let held = HeldThresholds {
            metric: own,
            definition: registry.get(own).expect("just declared"),
            tags: Some(tags(&[("a", "b")])),
            suffix: Some("a:b".into()),
            thresholds: vec![ThresholdSummary {
                source: "count>0".into(),
                observed: Some(0.0),
                passed: false,
            }],
        };
        let all = seen.take();
        let summary = TestSummary::of(&all, 1, None, std::slice::from_ref(&held));
        let keys: Vec<_> = summary
            .root
            .metrics
            .iter()
            .map(MetricSummary::key)
            .collect();
        assert!(keys.ends_with(&["own".to_owned(), "own{a:b}".to_owned()]));
        assert_eq!(summary.crossed(), ["own{a:b}"]);
        assert!(!keys.contains(&"http_req_duration{expected_response:true}".to_owned()));
        let expected = tags(&[("expected_response", "true")]);
        seen.record_http(&HttpTimes::default(), Some(false), 6, &expected);
        let summary = TestSummary::of(&seen.take(), 1, None, &[]);
        let keys: Vec<_> = summary
            .root
            .metrics
            .iter()
            .map(MetricSummary::key)
            .collect();
        assert!(keys.contains(&"http_req_duration{expected_response:true}".to_owned()));
    }

    #[test]
    fn a_table_by_tag_has_the_most_asked_first_and_says_what_found_no_place() {
        let plan = SeriesPlan {
            by_tag: Some("name".to_owned()),
            series_cap: 2,
            ..SeriesPlan::default()
        };
        let mut seen = Measurements::new(&plan, Arc::default());
        for (name, times) in [("a", 1), ("b", 3), ("c", 2), ("d", 2)] {
            for _ in 0..times {
                seen.record_http(&HttpTimes::default(), None, 1, &tags(&[("name", name)]));
            }
        }
        let all = seen.take();
        let explosion = all.explosion.clone().expect("two values found no place");
        assert_eq!(
            (explosion.tag.as_deref(), explosion.values),
            (Some("name"), 2)
        );
        let table = TestSummary::of(&all, 1, Some("name"), &[])
            .by_tag
            .expect("it was asked for");
        let values: Vec<_> = table.rows.iter().map(|(value, _)| &**value).collect();
        assert_eq!(values, ["b", "a", "{overflow:true}"]);
        assert_eq!(table.overflowed, 4);
    }
}
