//! Thresholds of script runs in virtual time: when they are evaluated, what they end, and k6's messages for
//! invalid ones.

use loadline_metric::{HttpTimes, Measurements, SeriesPlan};

use super::*;

const SECOND: u64 = Nanos::PER_SECOND;

/// Key, condition, and with `abortOnFail` the seconds of `delayAbortEval`.
type Written<'a> = (&'a str, &'a str, Option<u64>);

fn plans(thresholds: &[Written<'_>]) -> Vec<ThresholdPlan> {
    let parsed = |(key, condition, delay): &Written<'_>| {
        let wait = Duration::from_secs(delay.unwrap_or(0));
        ThresholdPlan::parse(key, condition, delay.is_some(), wait).expect("it can be read")
    };
    thresholds.iter().map(parsed).collect()
}

/// A run with one set of values per second.
struct Run {
    thresholds: ScriptThresholds,
    seen: Measurements,
    total: MeasurementsDelta,
    at_ns: u64,
}

impl Run {
    fn new(thresholds: &[Written<'_>]) -> Run {
        let plans = plans(thresholds);
        let selectors: Vec<_> = plans.iter().map(ThresholdPlan::selector).collect();
        let registry: Arc<MetricRegistry> = Arc::default();
        for (name, kind) in [("own_time", MetricType::Trend), ("zz", MetricType::Counter)] {
            registry
                .declare(
                    name,
                    kind,
                    if kind == MetricType::Trend {
                        Contains::Time
                    } else {
                        Contains::Default
                    },
                )
                .expect("a good name");
        }
        Run {
            thresholds: ScriptThresholds::new(&plans, false, &registry).expect("they suit"),
            seen: Measurements::new(&SeriesPlan::for_thresholds(&selectors, true), registry),
            total: MeasurementsDelta::default(),
            at_ns: 0,
        }
    }

    /// Adds requests of these durations in milliseconds, and ends the second.
    fn second(&mut self, ms: &[u64]) -> Option<Vec<String>> {
        for ms in ms {
            let times = HttpTimes {
                waiting: ms * 1_000_000,
                ..HttpTimes::default()
            };
            let tags = TagSet::new().with("status", if *ms > 100 { "500" } else { "200" });
            let failed = Some(*ms > 100);
            self.seen.record_http(&times, failed, self.at_ns, &tags);
        }
        let part = self.seen.take();
        self.total.merge(part.clone());
        self.at_ns += SECOND;
        let at = Part {
            span_ns: SECOND,
            until_ns: self.at_ns,
        };
        let elapsed = Duration::from_nanos(self.at_ns);
        let crossed = self
            .thresholds
            .told(Some(&part), Some(&self.total), at, elapsed)?;
        Some(crossed.iter().map(ToString::to_string).collect())
    }

    /// Key, condition, value and outcome of each.
    fn finish(&mut self) -> Vec<(String, Option<f64>, bool)> {
        let elapsed = Duration::from_nanos(self.at_ns);
        let held = self.thresholds.finish(&self.total, elapsed);
        held.iter()
            .flat_map(|(key, held)| {
                let told =
                    |t: &ThresholdSummary| (format!("{key} {}", t.source), t.observed, t.passed);
                held.thresholds.iter().map(told).collect::<Vec<_>>()
            })
            .collect()
    }
}

fn told(text: &str, observed: Option<f64>, passed: bool) -> (String, Option<f64>, bool) {
    (text.to_owned(), observed, passed)
}

#[test]
fn the_whole_run_is_looked_at_every_two_seconds_and_the_end_decides() {
    let mut run = Run::new(&[
        ("http_req_duration", "max<100", Some(0)),
        ("http_reqs", "count<2", None),
    ]);
    assert_eq!(run.second(&[50, 900]), None);
    let crossed = run.second(&[]).expect("the largest is too large");
    assert_eq!(crossed, ["http_req_duration", "http_reqs"]);
    assert_eq!(run.second(&[]), None);
    assert!(run.second(&[]).is_some());
    let outcomes = run.finish();
    let expected = [
        told("http_req_duration max<100", Some(900.0), false),
        told("http_reqs count<2", Some(2.0), false),
    ];
    assert_eq!(outcomes, expected);
}

#[test]
fn a_threshold_that_failed_on_the_way_may_hold_in_the_end() {
    let mut run = Run::new(&[("http_req_failed", "rate<0.3", None)]);
    run.second(&[900]);
    assert_eq!(run.second(&[50]), None);
    run.second(&[50, 50]);
    assert_eq!(
        run.finish(),
        [told("http_req_failed rate<0.3", Some(0.25), true)]
    );
}

#[test]
fn an_abort_waits_for_its_time() {
    let mut run = Run::new(&[("http_req_failed", "rate<0.5", Some(4))]);
    let ends: Vec<bool> = (0..8).map(|_| run.second(&[900]).is_some()).collect();
    // The delay must have passed, not just been reached.
    assert_eq!(ends, [false, false, false, false, false, true, false, true]);
}

#[test]
fn without_values_nothing_ends_a_run_and_k6s_rule_decides_at_its_end() {
    let mut run = Run::new(&[
        ("http_reqs", "count>1", Some(0)),
        ("http_req_duration{status:200}", "p(95)<1", Some(0)),
        ("checks", "rate>0.9", Some(0)),
        ("zz", "rate<1", Some(0)),
    ]);
    assert!((0..4).all(|_| run.second(&[]).is_none()));
    let expected = [
        told("http_reqs count>1", Some(0.0), false),
        told("http_req_duration{status:200} p(95)<1", None, true),
        told("checks rate>0.9", None, true),
        told("zz rate<1", Some(0.0), true),
    ];
    assert_eq!(run.finish(), expected);
}

#[test]
fn sub_metrics_hold_the_samples_with_their_tags() {
    let mut run = Run::new(&[
        ("http_req_duration{status:500}", "max>=900", None),
        ("http_req_duration{ status : '200' }", "max<100", None),
    ]);
    run.second(&[50, 900]);
    let expected = [
        told("http_req_duration{status:500} max>=900", Some(900.0), true),
        told(
            "http_req_duration{status : '200'} max<100",
            Some(50.0),
            true,
        ),
    ];
    assert_eq!(run.finish(), expected);
}

#[test]
fn a_window_that_failed_stays_failed_and_may_end_the_run() {
    let mut run = Run::new(&[
        ("http_req_duration", "max[2s]<100", Some(2)),
        ("http_reqs", "rate[3s]>0", None),
    ]);
    let seconds: [&[u64]; 6] = [&[50], &[50], &[900], &[], &[], &[]];
    let ends = seconds.map(|second| run.second(second));
    let ended: Vec<bool> = ends.iter().map(Option::is_some).collect();
    assert_eq!(ended, [false, false, true, true, false, false]);
    let expected = [
        told("http_req_duration max[2s]<100", Some(900.0), false),
        told("http_reqs rate[3s]>0", Some(0.0), false),
    ];
    assert_eq!(run.finish(), expected);
}

#[test]
fn times_of_a_script_take_units_too() {
    let mut run = Run::new(&[
        ("own_time", "avg<0.2s", None),
        ("own_time", "avg>=150ms", None),
    ]);
    let own = MetricId(BuiltIn::ALL.len() as u32);
    run.seen
        .record(own, 150.0, 1, &TagSet::new())
        .expect("a finite time");
    run.second(&[]);
    let expected = [
        told("own_time avg<0.2s", Some(150.0), true),
        told("own_time avg>=150ms", Some(150.0), true),
    ];
    assert_eq!(run.finish(), expected);
}

#[test]
fn what_cannot_be_evaluated_is_refused_in_k6s_words() {
    let refused = |key: &str, condition: &str| {
        let plans = plans(&[(key, condition, None)]);
        let thresholds = ScriptThresholds::new(&plans, false, &MetricRegistry::new());
        thresholds.err().unwrap_or_default()
    };
    assert_eq!(
        refused("nope{a:b}", "p(95)<1"),
        "invalid threshold defined on nope{a:b}; reason: no metric name \"nope{a:b}\" found"
    );
    assert_eq!(
        refused("http_reqs{a:b}", "p(95)<1"),
        "invalid threshold \"p(95)<1\" applied on metric http_reqs{a:b}; reason: unsupported aggregation method \
         p on metric of type counter. supported aggregation methods for this metric are: count, rate"
    );
    assert_eq!(
        refused("iteration_duration", "count<1"),
        "invalid threshold \"count<1\" applied on metric iteration_duration; reason: unsupported aggregation \
         method count on metric of type trend. supported aggregation methods for this metric are: avg, min, max, \
         med, p"
    );
    assert!(refused("http_reqs", "count<1s").contains("is not a time"));
}

#[test]
fn dropped_iterations_fail_a_run_only_if_asked() {
    let registry = MetricRegistry::new();
    let dropped = |fail_on_drop| {
        let mut thresholds =
            ScriptThresholds::new(&[], fail_on_drop, &registry).expect("nothing to refuse");
        let mut seen = Measurements::new(&SeriesPlan::default(), Arc::default());
        seen.count(BuiltIn::DroppedIterations, 3, 1, &TagSet::new());
        thresholds.finish(&seen.take(), Duration::from_secs(1))
    };
    assert!(dropped(false).is_empty());
    let (_, held) = &dropped(true)[0];
    assert!(!held.thresholds[0].passed);
}

#[test]
fn a_key_without_conditions_is_told_and_must_exist() {
    let plan = |key: &str| ThresholdPlan::without_condition(key).expect("a good key");
    let mut thresholds = ScriptThresholds::new(&[plan("http_reqs{a: b }")], false, &Arc::default())
        .expect("it is there");
    let held = thresholds.finish(&MeasurementsDelta::default(), Duration::from_secs(1));
    let (key, held) = &held[0];
    assert_eq!((&**key, held.thresholds.len()), ("http_reqs{a: b}", 0));
    let refused = ScriptThresholds::new(&[plan("nope")], false, &Arc::default()).err();
    assert_eq!(
        refused.as_deref(),
        Some("invalid threshold defined on nope; reason: no metric name \"nope\" found")
    );
}
