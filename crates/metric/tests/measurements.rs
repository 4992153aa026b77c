//! Measurements of script runs: however a run is split into workers and seconds, the sum equals one recorder
//! that saw everything, and percentiles are those of the sorted values.

use std::sync::Arc;

use loadline_metric::measurements::{FirstSeen, SeriesPlan};
use loadline_metric::threshold::MetricSelector;
use loadline_metric::{
    Aggregated, BuiltIn, Contains, HttpTimes, Measurements, MeasurementsDelta, MetricId,
    MetricRegistry, MetricType, NotFinite, TagSet,
};
use proptest::prelude::*;

/// One action of a script.
#[derive(Clone, Debug)]
enum Deed {
    Http {
        waiting: u64,
        failed: Option<bool>,
    },
    /// Small, so that even sums of squares are exact whatever their order.
    Value {
        metric: u32,
        value: u16,
    },
    Check {
        name: u8,
        passed: bool,
    },
    Group,
}

/// An action with its place and time.
#[derive(Clone, Debug)]
struct Done {
    deed: Deed,
    scenario: u8,
    group: u8,
}

const KINDS: [MetricType; 4] = [
    MetricType::Counter,
    MetricType::Gauge,
    MetricType::Rate,
    MetricType::Trend,
];

fn registry() -> Arc<MetricRegistry> {
    let registry = MetricRegistry::new();
    for kind in KINDS {
        registry
            .declare(&format!("own_{kind}"), kind, Contains::Default)
            .expect("a good name");
    }
    Arc::new(registry)
}

fn full_plan() -> SeriesPlan {
    let selectors = ["http_req_duration{scenario:0}", "own_trend{group:::1}"];
    let selectors = selectors.map(|text| text.parse::<MetricSelector>().expect("a good selector"));
    SeriesPlan {
        by_scenario: true,
        by_group: true,
        by_tag: Some("scenario".to_owned()),
        ..SeriesPlan::for_thresholds(&selectors, false)
    }
}

fn record(into: &mut Measurements, done: &Done, at_ns: u64) {
    let path = match done.group {
        0 => String::new(),
        group => format!("::{group}"),
    };
    let scenario = done.scenario.to_string();
    let tags: TagSet = [("scenario", &*scenario), ("group", &*path)]
        .into_iter()
        .collect();
    match done.deed {
        Deed::Http { waiting, failed } => {
            let times = HttpTimes {
                waiting,
                ..HttpTimes::default()
            };
            into.record_http(&times, failed, at_ns, &tags);
        }
        Deed::Value { metric, value } => {
            let metric = MetricId(BuiltIn::ALL.len() as u32 + metric);
            into.record(metric, f64::from(value), at_ns, &tags)
                .expect("whole numbers are finite");
        }
        Deed::Check { name, passed } => {
            into.check(passed, at_ns, &tags.with("check", name.to_string()));
        }
        Deed::Group => into.record_ns(BuiltIn::GroupDuration.id(), 1, at_ns, &tags),
    }
}

fn deeds() -> impl Strategy<Value = Vec<Done>> {
    let deed = prop_oneof![
        (0u64..10_000_000, any::<Option<bool>>())
            .prop_map(|(waiting, failed)| Deed::Http { waiting, failed }),
        (0u32..4, any::<u16>()).prop_map(|(metric, value)| Deed::Value { metric, value }),
        (0u8..4, any::<bool>()).prop_map(|(name, passed)| Deed::Check { name, passed }),
        Just(Deed::Group),
    ];
    let done = (deed, 0u8..3, 0u8..3).prop_map(|(deed, scenario, group)| Done {
        deed,
        scenario,
        group,
    });
    prop::collection::vec(done, 0..80)
}

fn merged(parts: impl IntoIterator<Item = MeasurementsDelta>) -> MeasurementsDelta {
    parts
        .into_iter()
        .fold(MeasurementsDelta::default(), |mut sum, part| {
            sum.merge(part);
            sum
        })
}

/// Running numbers differ between workers; here the timestamps define the order.
fn without_running_numbers(mut delta: MeasurementsDelta) -> MeasurementsDelta {
    let forget = |first: &mut FirstSeen| first.order = 0;
    let sections = delta.scenarios.values_mut().chain([&mut delta.root]);
    for group in sections.flat_map(|section| section.groups.values_mut()) {
        forget(&mut group.first);
        let checks = group.checks.values_mut();
        checks.for_each(|check| forget(&mut check.first));
    }
    delta
}

proptest! {
    #[test]
    fn workers_and_seconds_sum_to_the_whole(deeds in deeds(), workers in 1usize..4, second in 1usize..20) {
        let registry = registry();
        let make = || Measurements::new(&full_plan(), Arc::clone(&registry));
        let mut whole = make();
        let mut parts: Vec<_> = (0..workers).map(|_| make()).collect();
        let mut told = Vec::new();
        for (number, done) in deeds.iter().enumerate() {
            record(&mut whole, done, number as u64);
            record(&mut parts[number % workers], done, number as u64);
            if number % second == 0 {
                told.extend(parts.iter_mut().map(Measurements::take));
            }
        }
        told.extend(parts.iter_mut().map(Measurements::take));
        let expected = without_running_numbers(whole.take());
        prop_assert!(without_running_numbers(merged(told.clone())) == expected);
        let later = told.split_off(told.len() / 2);
        let halves = [merged(told), merged(later)];
        prop_assert!(without_running_numbers(merged(halves)) == expected);
        let text = serde_json::to_string(&expected).expect("deltas are data");
        let read: MeasurementsDelta = serde_json::from_str(&text).expect("it reads back");
        prop_assert!(read == expected);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values(
        times in prop::collection::vec(1_000u64..60_000_000_000, 1..3_000),
        q in 0.0f64..=1.0,
    ) {
        let registry = registry();
        let plan = SeriesPlan::default();
        let mut workers = [(); 2].map(|()| Measurements::new(&plan, Arc::clone(&registry)));
        for (number, waiting) in times.iter().enumerate() {
            let times = HttpTimes { waiting: *waiting, ..HttpTimes::default() };
            workers[number % 2].record_http(&times, None, 0, &TagSet::new());
        }
        let all = merged(workers.iter_mut().map(Measurements::take));
        let duration = all.get(BuiltIn::HttpReqDuration.id(), &TagSet::new());
        let Some(Aggregated::Times(trend)) = duration else {
            return Err(TestCaseError::fail("the duration is an exact time"));
        };
        let mut sorted = times;
        sorted.sort_unstable();
        let exact = exact_quantile(&sorted, q);
        let told = trend.quantile(q).expect("there are values");
        let tolerance = if sorted.len() <= 1_024 { 0.0 } else { exact * 0.001 };
        prop_assert!((told - exact).abs() <= tolerance, "{told} is not {exact}");
    }
}

/// k6's definition: rank `q * (n - 1)`, interpolated between two ranks.
fn exact_quantile(sorted: &[u64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (low, fraction) = (position.floor() as usize, position.fract());
    let value = |rank: usize| sorted[rank.min(sorted.len() - 1)] as f64;
    if fraction > 0.0 {
        value(low) + (value(low + 1) - value(low)) * fraction
    } else {
        value(low)
    }
}

#[test]
fn what_is_not_asked_for_is_not_kept_and_what_is_not_seen_is_not_told() {
    let registry = registry();
    let mut seen = Measurements::new(&SeriesPlan::default(), Arc::clone(&registry));
    assert_eq!(seen.take(), MeasurementsDelta::default());
    let tags: TagSet = [("scenario", "a"), ("group", "::g")].into_iter().collect();
    seen.record(BuiltIn::DataSent.id(), 0.0, 1, &tags)
        .expect("zero is finite");
    let told = seen.take();
    assert_eq!(told.root.values.len(), 1);
    assert!(told.scenarios.is_empty() && told.root.groups.is_empty());
    let nothing = seen.record(BuiltIn::DataSent.id(), f64::NAN, 1, &tags);
    assert_eq!(nothing, Err(NotFinite));
    assert_eq!(seen.take(), MeasurementsDelta::default());
}

#[test]
fn a_script_may_add_to_a_built_in_time_in_milliseconds() {
    let mut seen = Measurements::new(&SeriesPlan::default(), registry());
    let duration = BuiltIn::HttpReqDuration.id();
    seen.record(duration, 2.5, 1, &TagSet::new())
        .expect("a finite time");
    let told = seen.take();
    let Some(Aggregated::Times(trend)) = told.get(duration, &TagSet::new()) else {
        panic!("the duration is an exact time");
    };
    assert_eq!((trend.count(), trend.max()), (1, Some(2_500_000)));
}

#[test]
fn checks_beyond_the_limit_share_one_place_and_the_tag_is_named() {
    let plan = SeriesPlan {
        series_cap: 3,
        ..SeriesPlan::default()
    };
    let mut seen = Measurements::new(&plan, registry());
    for number in 0..10 {
        let tags = TagSet::new().with("check", format!("check {number}"));
        seen.check(true, number, &tags);
    }
    let told = seen.take();
    let checks = &told.root.groups[""].checks;
    assert_eq!(checks.len(), 4);
    assert_eq!(checks["{overflow:true}"].passes, 7);
    let explosion = told.explosion.expect("it overflowed");
    assert_eq!(
        (explosion.tag.as_deref(), explosion.values),
        (Some("check"), 3)
    );
    for number in 0..10 {
        let tags = TagSet::new().with("check", "x");
        seen.check(true, 20, &tags.with("group", format!("::group {number}")));
    }
    let told = seen.take();
    let paths: Vec<_> = told.root.groups.keys().map(|path| &**path).collect();
    assert_eq!(paths, ["::group 0", "::group 1", "::{overflow:true}"]);
}

#[test]
fn a_metric_that_another_virtual_user_declared_is_recorded() {
    let registry = registry();
    let mut seen = Measurements::new(&SeriesPlan::default(), Arc::clone(&registry));
    let late = registry
        .declare("late", MetricType::Rate, Contains::Default)
        .expect("a good name");
    seen.record(late, 1.0, 1, &TagSet::new())
        .expect("one is finite");
    let told = seen.take();
    assert_eq!(told.definitions[&late].name.as_ref(), "late");
    assert!(matches!(told.root.values[&late], Aggregated::Rate(_)));
}
