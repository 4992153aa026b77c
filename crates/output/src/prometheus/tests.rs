//! Requests as another protobuf implementation reads them, and a misbehaving receiver.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_metric::{BuiltIn, HttpTimes, Measurements, MetricRegistry, SeriesPlan, TagSet};
use loadline_model::RunEvent;
use prost::Message;

use super::encode::{stale, v1, v2};
use super::points::{Point, Points, Value};
use super::settings::{TrendForm, TrendStat};
use crate::fixture;
use crate::series::SeriesState;

/// The messages of `prometheus/prompb` and of `io.prometheus.write.v2`, as far as they are used.
mod wire {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct WriteRequest {
        #[prost(message, repeated, tag = "1")]
        pub(super) timeseries: Vec<TimeSeries>,
        #[prost(message, repeated, tag = "3")]
        pub(super) metadata: Vec<MetricMetadata>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct TimeSeries {
        #[prost(message, repeated, tag = "1")]
        pub(super) labels: Vec<Label>,
        #[prost(message, repeated, tag = "2")]
        pub(super) samples: Vec<Sample>,
        #[prost(message, repeated, tag = "4")]
        pub(super) histograms: Vec<Histogram>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Label {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(string, tag = "2")]
        pub(super) value: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Sample {
        #[prost(double, tag = "1")]
        pub(super) value: f64,
        #[prost(int64, tag = "2")]
        pub(super) timestamp: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Histogram {
        #[prost(uint64, optional, tag = "1")]
        pub(super) count: Option<u64>,
        #[prost(double, tag = "3")]
        pub(super) sum: f64,
        #[prost(sint32, tag = "4")]
        pub(super) schema: i32,
        #[prost(double, tag = "5")]
        pub(super) zero_threshold: f64,
        #[prost(uint64, optional, tag = "6")]
        pub(super) zero_count: Option<u64>,
        #[prost(message, repeated, tag = "11")]
        pub(super) positive_spans: Vec<BucketSpan>,
        #[prost(sint64, repeated, tag = "12")]
        pub(super) positive_deltas: Vec<i64>,
        #[prost(int32, tag = "14")]
        pub(super) reset_hint: i32,
        #[prost(int64, tag = "15")]
        pub(super) timestamp: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct BucketSpan {
        #[prost(sint32, tag = "1")]
        pub(super) offset: i32,
        #[prost(uint32, tag = "2")]
        pub(super) length: u32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct MetricMetadata {
        #[prost(int32, tag = "1")]
        pub(super) r#type: i32,
        #[prost(string, tag = "2")]
        pub(super) metric_family_name: String,
        #[prost(string, tag = "4")]
        pub(super) help: String,
        #[prost(string, tag = "5")]
        pub(super) unit: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Request {
        #[prost(string, repeated, tag = "4")]
        pub(super) symbols: Vec<String>,
        #[prost(message, repeated, tag = "5")]
        pub(super) timeseries: Vec<TimeSeries2>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct TimeSeries2 {
        #[prost(uint32, repeated, tag = "1")]
        pub(super) labels_refs: Vec<u32>,
        #[prost(message, repeated, tag = "2")]
        pub(super) samples: Vec<Sample>,
        #[prost(message, repeated, tag = "3")]
        pub(super) histograms: Vec<Histogram>,
        #[prost(message, optional, tag = "5")]
        pub(super) metadata: Option<Metadata2>,
        #[prost(int64, tag = "6")]
        pub(super) created_timestamp: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Metadata2 {
        #[prost(int32, tag = "1")]
        pub(super) r#type: i32,
        #[prost(uint32, tag = "3")]
        pub(super) help_ref: u32,
        #[prost(uint32, tag = "4")]
        pub(super) unit_ref: u32,
    }
}

const STARTED_MS: u64 = 1_800_000_000_000;

/// What a worker of a script measures in a second: `requests` of them, in `ms` each.
fn second(worker: &mut Measurements, number: u64, requests: u64, ms: u64) -> [RunEvent; 2] {
    let tags = TagSet::new()
        .with("status", "200")
        .with("bad-label", "x")
        .with("group", "");
    for _ in 0..requests {
        let times = HttpTimes {
            waiting: ms * 1_000_000,
            ..HttpTimes::default()
        };
        worker.record_http(&times, Some(false), number, &tags);
    }
    let mut seen = worker.take();
    let series = seen.take_series().expect("they were asked for");
    let RunEvent::Second { row, delta } = fixture::second(number) else {
        unreachable!("it is a second");
    };
    [
        RunEvent::Series(Arc::new(series)),
        RunEvent::Second { row, delta },
    ]
}

fn worker() -> Measurements {
    let plan = SeriesPlan {
        by_all_tags: true,
        ..SeriesPlan::default()
    };
    Measurements::new(&plan, Arc::new(MetricRegistry::new()))
}

/// The state of a script run that has just started.
fn begun() -> SeriesState {
    let mut state = SeriesState::default();
    let RunEvent::Started {
        plan, environment, ..
    } = fixture::started()
    else {
        unreachable!("it is the start");
    };
    let mut plan = plan.as_ref().clone();
    plan.script = Some(Arc::default());
    state.add(&RunEvent::Started {
        plan: Arc::new(plan),
        environment,
        started_unix_ms: STARTED_MS,
    });
    state
}

fn named<'a>(points: &'a [Point], name: &str) -> Vec<&'a Point> {
    let is_it = |point: &&Point| point.identity.family.name == name;
    points.iter().filter(is_it).collect()
}

/// The points of two seconds, pushed one by one.
fn two_pushes(form: &TrendForm) -> [Vec<Point>; 2] {
    let (mut state, mut worker, mut points) = (begun(), worker(), Points::new(form));
    [(0, 3, 10), (1, 1, 40)].map(|(number, requests, ms)| {
        for event in second(&mut worker, number, requests, ms) {
            state.add(&event);
        }
        taken(&mut points, &state)
    })
}

fn taken(points: &mut Points, state: &SeriesState) -> Vec<Point> {
    let mut taken = Vec::new();
    points.take(state, |point| taken.push(point));
    taken
}

#[test]
fn version_1_tells_sums_and_native_histograms() {
    let [first, later] = two_pushes(&TrendForm::Native(1.1));
    let families: Vec<_> = first.iter().map(|point| &*point.identity.family).collect();
    let read = wire::WriteRequest::decode(&*v1(&first, &families).body).expect("it is one");
    let series = |read: &wire::WriteRequest, name: &str| {
        let is_it = |series: &&wire::TimeSeries| series.labels[0].value == name;
        read.timeseries
            .iter()
            .find(is_it)
            .cloned()
            .expect("it is there")
    };
    let requests = series(&read, "k6_http_reqs_total");
    let labels: Vec<_> = requests
        .labels
        .iter()
        .map(|label| (label.name.as_str(), label.value.as_str()))
        .collect();
    assert_eq!(
        labels,
        [
            ("__name__", "k6_http_reqs_total"),
            ("bad_label", "x"),
            ("status", "200")
        ]
    );
    // A counter starts at zero when the run starts.
    let told: Vec<_> = requests
        .samples
        .iter()
        .map(|s| (s.value, s.timestamp))
        .collect();
    let at = |s: u64| (STARTED_MS + 1_000 * s) as i64;
    assert_eq!(told, [(0.0, at(0)), (3.0, at(1))]);
    let duration = series(&read, "k6_http_req_duration_seconds");
    let [zero, first_told] = &duration.histograms[..] else {
        panic!("{duration:?}");
    };
    assert_eq!(
        (zero.count, zero.reset_hint, zero.timestamp),
        (Some(0), 1, at(0))
    );
    assert_eq!((first_told.count, first_told.schema), (Some(3), 3));
    assert!((first_told.sum - 0.03).abs() < 1e-12);
    // 10 ms lies in (2^(-54/8), 2^(-53/8)]: number -53.
    assert_eq!(first_told.positive_spans[0].offset, -53);
    assert_eq!(first_told.positive_deltas, [3]);
    assert_eq!(first_told.zero_threshold, 2.938_735_877_055_719e-39);
    let blocked = series(&read, "k6_http_req_blocked_seconds");
    assert_eq!(blocked.histograms[1].zero_count, Some(3));
    let described = read
        .metadata
        .iter()
        .find(|m| m.metric_family_name == "k6_http_reqs_total");
    assert_eq!(described.map(|m| m.r#type), Some(1));

    let read = wire::WriteRequest::decode(&*v1(&later, &[]).body).expect("it is one");
    let requests = series(&read, "k6_http_reqs_total");
    assert_eq!(
        (requests.samples.len(), requests.samples[0].value),
        (1, 4.0)
    );
    let duration = series(&read, "k6_http_req_duration_seconds");
    assert_eq!(
        duration.histograms[0].positive_deltas.iter().sum::<i64>(),
        1
    );
    assert_eq!(duration.histograms[0].count, Some(4));
}

#[test]
fn version_2_tells_the_same_with_symbols_and_the_start() {
    let [points, _] = two_pushes(&TrendForm::Native(1.1));
    let encoded = v2(&points, STARTED_MS as i64);
    let read = wire::Request::decode(&*encoded.body).expect("it is one");
    assert_eq!(read.symbols[0], "");
    let text = |reference: u32| read.symbols[reference as usize].as_str();
    let mut told = BTreeMap::new();
    for series in &read.timeseries {
        let labels: Vec<_> = series.labels_refs.iter().map(|r| text(*r)).collect();
        let name = labels[1].to_owned();
        assert_eq!(labels[0], "__name__");
        let metadata = series.metadata.clone().expect("each is described");
        assert!(text(metadata.help_ref).contains(" "));
        told.insert(name, (series.clone(), metadata));
    }
    let (requests, metadata) = &told["k6_http_reqs_total"];
    assert_eq!(metadata.r#type, 1);
    assert_eq!(requests.created_timestamp, STARTED_MS as i64);
    assert_eq!(requests.samples[1].value, 3.0);
    let (duration, metadata) = &told["k6_http_req_duration_seconds"];
    assert_eq!((metadata.r#type, text(metadata.unit_ref)), (3, "seconds"));
    assert_eq!(duration.histograms[1].count, Some(3));
    let (memory, metadata) = &told["loadline_generator_memory_bytes"];
    assert_eq!((metadata.r#type, memory.created_timestamp), (2, 0));
    let samples: usize = read
        .timeseries
        .iter()
        .map(|series| series.samples.len() + series.histograms.len())
        .sum();
    assert_eq!(samples as u64, encoded.samples);
}

#[test]
fn statistics_of_trends_are_gauges_in_seconds_and_counts_are_counts() {
    let p99 = TrendStat::Percentile(99.0, "p99".to_owned());
    let form = TrendForm::Stats(vec![TrendStat::Count, TrendStat::Avg, p99, TrendStat::Max]);
    let [first, later] = two_pushes(&form);
    let value = |points: &[Point], ending: &str| {
        let found = named(points, &format!("k6_http_req_duration_{ending}"));
        match found[0].value {
            Value::Number(number) => number,
            Value::Histogram(_) => panic!("a gauge was asked for"),
        }
    };
    assert_eq!(value(&first, "count"), 3.0);
    assert!((value(&first, "p99") - 0.01).abs() < 1e-9);
    assert_eq!(value(&later, "count"), 4.0);
    assert!((value(&later, "avg") - 0.0175).abs() < 1e-9);
    assert!((value(&later, "max") - 0.04).abs() < 1e-9);
}

#[test]
fn only_what_changed_is_told_and_everything_from_time_to_time() {
    let (mut state, mut worker) = (begun(), worker());
    let mut points = Points::new(&TrendForm::Native(1.1));
    let mut told = Vec::new();
    for number in 0..62 {
        if number == 0 {
            for event in second(&mut worker, 0, 1, 5) {
                state.add(&event);
            }
        } else {
            state.add(&fixture::second(number));
        }
        let told_now = taken(&mut points, &state);
        assert!(taken(&mut points, &state).is_empty(), "no time has passed");
        if !named(&told_now, "k6_http_reqs_total").is_empty() {
            told.push(number);
        }
    }
    assert_eq!(told, [0, 60]);
    let instants = points.instants();
    assert_eq!(instants.len(), 63, "each second, and the zero before");
    assert!(instants.iter().is_sorted());
    points.tell_again();
    assert_eq!(
        named(&taken(&mut points, &state), "k6_http_reqs_total").len(),
        1
    );
}

#[test]
fn what_ends_within_a_millisecond_of_what_was_told_is_told_at_the_end() {
    let mut state = begun();
    let mut points = Points::new(&TrendForm::Native(1.1));
    state.add(&fixture::second(0));
    let before = taken(&mut points, &state);
    let RunEvent::Second { mut row, delta } = fixture::second(1) else {
        unreachable!("it is a second");
    };
    row.span_ns = 300_000;
    row.generator.cpu_cores = 0.25;
    state.add(&RunEvent::Second { row, delta });
    assert!(taken(&mut points, &state).is_empty(), "no time has passed");
    points.tell_rest();
    let rest = taken(&mut points, &state);
    let cpu = |points: &[Point]| named(points, "loadline_generator_cpu_cores")[0].clone();
    assert_eq!(cpu(&rest).value, Value::Number(0.25));
    assert_eq!(cpu(&rest).at_ms, cpu(&before).at_ms + 1);
    // Queries ask for that millisecond.
    points.tell_again();
    assert_eq!(cpu(&taken(&mut points, &state)).at_ms, cpu(&rest).at_ms);
}

#[test]
fn a_run_without_a_script_has_k6s_request_metrics() {
    let mut state = SeriesState::default();
    state.add(&fixture::started());
    let mut points = Points::new(&TrendForm::Native(1.1));
    state.add(&fixture::second(0));
    let told_now = taken(&mut points, &state);
    assert!(!named(&told_now, "k6_http_req_duration_seconds").is_empty());
    assert!(!named(&told_now, "k6_http_reqs_total").is_empty());
    assert_eq!(named(&told_now, "k6_vus").len(), 1);
    assert_eq!(named(&told_now, "loadline_generator_cpu_cores").len(), 1);
    assert_eq!(BuiltIn::HttpReqs.name(), "http_reqs");
}

#[test]
fn the_end_of_a_series_is_prometheus_own_number() {
    let Value::Number(number) = stale() else {
        panic!("it is a number");
    };
    assert_eq!(number.to_bits(), 0x7ff0_0000_0000_0002);
}
