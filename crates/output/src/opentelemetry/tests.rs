//! Requests decoded by another protobuf implementation, and collectors over HTTP and gRPC.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use loadline_metric::{
    Aggregated, Contains, Gauge, MetricType, Rate, TagSet, TimeTrend, ValueCounter, ValueTrend,
};
use loadline_model::RunEvent;
use proptest::prelude::*;
use prost::Message;
use ureq::http::{HeaderMap, Response};

use super::encode::{Envelope, Span, request};
use super::{OtlpProtocol, OtlpReport, OtlpSettings, OtlpSink};
use crate::fixture;
use crate::push::TlsSettings;
use crate::series::{Series, SeriesFamily};

/// The messages as in the service's definition.
mod wire {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Request {
        #[prost(message, repeated, tag = "1")]
        pub(super) resource_metrics: Vec<ResourceMetrics>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ResourceMetrics {
        #[prost(message, optional, tag = "1")]
        pub(super) resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub(super) scope_metrics: Vec<ScopeMetrics>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Resource {
        #[prost(message, repeated, tag = "1")]
        pub(super) attributes: Vec<KeyValue>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct KeyValue {
        #[prost(string, tag = "1")]
        pub(super) key: String,
        #[prost(message, optional, tag = "2")]
        pub(super) value: Option<AnyValue>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct AnyValue {
        #[prost(string, optional, tag = "1")]
        pub(super) string_value: Option<String>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ScopeMetrics {
        #[prost(message, repeated, tag = "2")]
        pub(super) metrics: Vec<Metric>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Metric {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(string, tag = "3")]
        pub(super) unit: String,
        #[prost(message, optional, tag = "5")]
        pub(super) gauge: Option<Numbers>,
        #[prost(message, optional, tag = "7")]
        pub(super) sum: Option<Numbers>,
        #[prost(message, optional, tag = "10")]
        pub(super) histogram: Option<Histograms>,
    }
    /// A gauge, or a sum.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Numbers {
        #[prost(message, repeated, tag = "1")]
        pub(super) data_points: Vec<NumberPoint>,
        #[prost(int32, tag = "2")]
        pub(super) temporality: i32,
        #[prost(bool, tag = "3")]
        pub(super) is_monotonic: bool,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct NumberPoint {
        #[prost(message, repeated, tag = "7")]
        pub(super) attributes: Vec<KeyValue>,
        #[prost(fixed64, tag = "2")]
        pub(super) start: u64,
        #[prost(fixed64, tag = "3")]
        pub(super) time: u64,
        #[prost(double, optional, tag = "4")]
        pub(super) as_double: Option<f64>,
        #[prost(sfixed64, optional, tag = "6")]
        pub(super) as_int: Option<i64>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Histograms {
        #[prost(message, repeated, tag = "1")]
        pub(super) data_points: Vec<HistogramPoint>,
        #[prost(int32, tag = "2")]
        pub(super) temporality: i32,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct HistogramPoint {
        #[prost(message, repeated, tag = "1")]
        pub(super) attributes: Vec<KeyValue>,
        #[prost(fixed64, tag = "2")]
        pub(super) start: u64,
        #[prost(fixed64, tag = "4")]
        pub(super) count: u64,
        #[prost(double, optional, tag = "5")]
        pub(super) sum: Option<f64>,
        #[prost(sint32, tag = "6")]
        pub(super) scale: i32,
        #[prost(fixed64, tag = "7")]
        pub(super) zero_count: u64,
        #[prost(message, optional, tag = "8")]
        pub(super) positive: Option<Buckets>,
        #[prost(message, optional, tag = "9")]
        pub(super) negative: Option<Buckets>,
        #[prost(double, optional, tag = "12")]
        pub(super) min: Option<f64>,
        #[prost(double, optional, tag = "13")]
        pub(super) max: Option<f64>,
    }
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Buckets {
        #[prost(sint32, tag = "1")]
        pub(super) offset: i32,
        #[prost(uint64, repeated, tag = "2")]
        pub(super) counts: Vec<u64>,
    }
}

const SPAN: Span = Span {
    start_unix_ns: 1_000,
    until_unix_ns: 2_000,
};

fn encoded(name: &str, contains: Contains, value: Aggregated, tags: &TagSet) -> wire::Metric {
    let series = Series {
        family: Arc::new(SeriesFamily {
            name: name.into(),
            kind: MetricType::Counter,
            contains,
            is_own: false,
        }),
        value,
        changed: 1,
        number: 0,
    };
    let envelope = Envelope {
        resource: vec![("service.name".to_owned(), "k6".to_owned())],
        prefix: "p.".to_owned(),
    };
    let bytes = request(&envelope, SPAN, std::iter::once((tags, &series)));
    let mut read = wire::Request::decode(&*bytes).expect("it is a request");
    let mut resource = read.resource_metrics.remove(0);
    let attributes = resource.resource.expect("there is one").attributes;
    assert_eq!(pairs(&attributes), [("service.name", "k6")]);
    resource.scope_metrics.remove(0).metrics.remove(0)
}

fn pairs(attributes: &[wire::KeyValue]) -> Vec<(&str, &str)> {
    let pair = |one: &wire::KeyValue| -> (&str, &str) {
        // Both live as long as the list.
        let value = attributes
            .iter()
            .find(|other| other.key == one.key)
            .and_then(|other| other.value.as_ref()?.string_value.as_deref());
        let key = attributes.iter().find(|other| other.key == one.key);
        (key.map_or("", |key| &key.key), value.unwrap_or_default())
    };
    attributes.iter().map(pair).collect()
}

#[test]
fn counters_gauges_and_rates_are_numbers() {
    let tags = TagSet::new().with("group", "").with("method", "GET");
    let mut counter = ValueCounter::default();
    counter.add(210.5).unwrap();
    let metric = encoded(
        "data_sent",
        Contains::Data,
        Aggregated::Counter(counter),
        &tags,
    );
    assert_eq!((&*metric.name, &*metric.unit), ("p.data_sent", "By"));
    let sum = metric.sum.expect("it is a sum");
    assert_eq!((sum.temporality, sum.is_monotonic), (2, true));
    let point = &sum.data_points[0];
    assert_eq!(pairs(&point.attributes), [("method", "GET")]);
    assert_eq!((point.start, point.time), (1_000, 2_000));
    assert_eq!((point.as_double, point.as_int), (Some(210.5), None));

    let mut gauge = Gauge::default();
    gauge.set(0.0, 1).unwrap();
    let metric = encoded("vus", Contains::Default, Aggregated::Gauge(gauge), &tags);
    let gauge = metric.gauge.expect("it is a gauge");
    assert_eq!(gauge.data_points[0].as_double, Some(0.0));

    let mut rate = Rate::default();
    rate.record_n(3, 10);
    let metric = encoded("checks", Contains::Default, Aggregated::Rate(rate), &tags);
    assert_eq!(metric.name, "p.checks.total");
    let points = metric.sum.expect("it is a sum").data_points;
    let told: Vec<_> = points
        .iter()
        .map(|point| (pairs(&point.attributes)[1].1, point.as_int))
        .collect();
    assert_eq!(told, [("nonzero", Some(3)), ("zero", Some(7))]);
}

#[test]
fn times_are_histograms_in_milliseconds() {
    let mut trend = TimeTrend::new();
    for ns in [0, 1_000_000, 2_000_000, 2_000_000] {
        trend.record(ns);
    }
    let metric = encoded(
        "http_req_duration",
        Contains::Time,
        Aggregated::Times(trend),
        &TagSet::new(),
    );
    assert_eq!(metric.unit, "ms");
    let histogram = metric.histogram.expect("it is a histogram");
    assert_eq!(histogram.temporality, 2);
    let point = &histogram.data_points[0];
    assert_eq!(
        (point.count, point.zero_count, point.sum),
        (4, 1, Some(5.0))
    );
    assert_eq!(
        (point.min, point.max, point.scale),
        (Some(0.0), Some(2.0), 7)
    );
    let buckets = point.positive.as_ref().expect("there are some");
    assert_eq!(
        buckets.counts.len(),
        129,
        "a doubling in 128 buckets, and the last"
    );
    assert_eq!((buckets.counts[0], buckets.counts[128]), (1, 2));
    assert!(point.negative.is_none());
}

proptest! {
    #[test]
    fn every_value_is_in_a_bucket_that_holds_it(
        values in proptest::collection::vec(-1e9..1e9_f64, 1..40),
    ) {
        let mut trend = ValueTrend::new();
        for value in &values {
            trend.record(*value).unwrap();
        }
        let metric = encoded("t1", Contains::Default, Aggregated::Values(trend), &TagSet::new());
        let point = metric.histogram.expect("it is a histogram").data_points.remove(0);
        prop_assert_eq!(point.count, values.len() as u64);
        let mut counted = point.zero_count;
        for (buckets, sign) in [(point.positive, 1.0), (point.negative, -1.0)] {
            let Some(buckets) = buckets else { continue };
            prop_assert!(buckets.counts.len() <= 160);
            counted += buckets.counts.iter().sum::<u64>();
            let base = 2_f64.powf(2_f64.powi(-point.scale));
            // A value differs from its bucket by less than a thousandth.
            let bound = |at: usize, near: f64| base.powf((buckets.offset + at as i32) as f64) * near;
            for (at, count) in buckets.counts.iter().enumerate() {
                let inside = values.iter().filter(|value| {
                    let value = **value * sign;
                    value > bound(at, 0.999) && value <= bound(at + 1, 1.001)
                });
                prop_assert!(inside.count() as u64 >= *count);
            }
        }
        prop_assert_eq!(counted, values.len() as u64);
    }
}

fn settings(protocol: OtlpProtocol, url: String) -> OtlpSettings {
    OtlpSettings {
        protocol,
        url,
        headers: vec![("API-Key".to_owned(), "secret".to_owned())],
        tls: TlsSettings::default(),
        interval: Duration::from_secs(3_600),
        resource: Vec::new(),
        prefix: String::new(),
    }
}

/// Exports three seconds of a run; returns the report and the messages.
fn exported(settings: OtlpSettings) -> (OtlpReport, Vec<String>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_trouble = Arc::new(move |why: &str| tell.lock().unwrap().push(why.to_owned()));
    let sink = OtlpSink::start(settings, on_trouble).unwrap();
    sink.event(&fixture::started());
    for number in 0..3 {
        sink.event(&fixture::second(number));
    }
    let report = sink.finish();
    let told = told.lock().unwrap().clone();
    (report, told)
}

/// Totals of sums in a request, by metric.
fn totals(body: &[u8]) -> BTreeMap<String, f64> {
    let read = wire::Request::decode(body).expect("it is a request");
    let metrics = read
        .resource_metrics
        .iter()
        .flat_map(|of| &of.scope_metrics);
    let metrics = metrics.flat_map(|scope| &scope.metrics);
    let total = |metric: &wire::Metric| {
        let points = &metric.sum.as_ref()?.data_points;
        let sum = points.iter().filter_map(|point| point.as_double).sum();
        Some((metric.name.clone(), sum))
    };
    metrics.filter_map(total).collect()
}

fn requests_of_three_seconds() -> f64 {
    let sum = fixture::sum_of(3);
    sum.statuses.rows().map(|(_, count)| *count as f64).sum()
}

/// An HTTP collector with these responses; stores the last head and message.
fn http_collector(
    answers: Vec<(&'static str, &'static [u8])>,
) -> (String, thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let mut last = (String::new(), Vec::new());
        for (status, said) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap().to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            let close = format!(
                "Connection: close\r\nContent-Length: {}\r\n\r\n",
                said.len()
            );
            write!(stream, "HTTP/1.1 {status}\r\n{close}").unwrap();
            stream.write_all(said).unwrap();
            last = (head, body);
        }
        last
    });
    (url, server)
}

#[test]
fn a_collector_over_http_that_was_busy_ends_with_the_totals() {
    let (url, server) = http_collector(vec![("503 Busy", b""), ("200 OK", b"")]);
    let (report, told) = exported(settings(OtlpProtocol::Http, url));
    assert_eq!((report.lost, report.error), (0, None));
    assert_eq!(told, ["the server answered 503"]);
    let (head, body) = server.join().unwrap();
    assert!(head.starts_with("post /v1/metrics "), "{head}");
    assert!(head.contains("api-key: secret"), "{head}");
    assert_eq!(totals(&body)["http_reqs"], requests_of_three_seconds());
}

/// A gRPC collector that answers calls with these statuses (three-digit ones are HTTP statuses without gRPC),
/// and stores the last message.
fn collector(statuses: Vec<&'static str>) -> (String, thread::JoinHandle<Vec<u8>>) {
    collector_that_says(statuses, Bytes::new())
}

/// The same, with this message in its responses.
fn collector_that_says(
    statuses: Vec<&'static str>,
    message: Bytes,
) -> (String, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut last = Vec::new();
            let mut statuses = statuses.into_iter();
            while let Some(call) = connection.accept().await {
                let (request, answer) = call.unwrap();
                let (status, done) = (statuses.next().unwrap(), statuses.len() == 0);
                let answered = answer_call(request, answer, status, &message);
                last = drive(&mut connection, answered).await;
                if done {
                    connection.graceful_shutdown();
                }
            }
            last
        })
    });
    (url, server)
}

/// Drives a connection until a call on it is answered.
async fn drive(
    connection: &mut h2::server::Connection<tokio::net::TcpStream, Bytes>,
    answered: impl Future<Output = Vec<u8>>,
) -> Vec<u8> {
    let mut answered = std::pin::pin!(answered);
    std::future::poll_fn(|context| {
        if let std::task::Poll::Ready(body) = answered.as_mut().poll(context) {
            return std::task::Poll::Ready(body);
        }
        let _ = connection.poll_closed(context);
        std::task::Poll::Pending
    })
    .await
}

async fn answer_call(
    request: ureq::http::Request<h2::RecvStream>,
    mut answer: h2::server::SendResponse<Bytes>,
    status: &str,
    said: &[u8],
) -> Vec<u8> {
    let path = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    assert_eq!(request.uri().path(), path);
    assert_eq!(request.headers()["content-type"], "application/grpc");
    assert_eq!(request.headers()["api-key"], "secret");
    let mut body = request.into_body();
    let mut message = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        message.extend(chunk);
    }
    assert_eq!(message[0], 0, "it is not packed");
    let length = u32::from_be_bytes(message[1..5].try_into().unwrap());
    assert_eq!(length as usize, message.len() - 5);
    if status.len() == 3 {
        let head = Response::builder().status(status).body(()).unwrap();
        let mut stream = answer.send_response(head, false).unwrap();
        stream.send_data("<html>".into(), true).unwrap();
        return message.split_off(5);
    }
    let head = Response::builder().header("content-type", "application/grpc");
    let mut stream = answer.send_response(head.body(()).unwrap(), false).unwrap();
    let length = u32::try_from(said.len()).unwrap().to_be_bytes();
    let frame = [&[0], &length[..], said].concat();
    stream.send_data(frame.into(), false).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.parse().unwrap());
    stream.send_trailers(trailers).unwrap();
    message.split_off(5)
}

#[test]
fn a_collector_over_grpc_that_was_busy_ends_with_the_totals() {
    let (url, server) = collector(vec!["14", "0"]);
    let (report, told) = exported(settings(OtlpProtocol::Grpc, url));
    assert_eq!((report.lost, report.error), (0, None));
    assert_eq!(told, ["the collector answered with status 14 of gRPC: "]);
    let body = server.join().unwrap();
    assert_eq!(totals(&body)["http_reqs"], requests_of_three_seconds());
}

#[test]
fn a_collector_behind_something_that_fails_is_tried_again() {
    let (url, server) = collector(vec!["503", "0"]);
    let (report, told) = exported(settings(OtlpProtocol::Grpc, url));
    assert_eq!((report.lost, report.error), (0, None));
    assert_eq!(told, ["the collector answered 503"]);
    let body = server.join().unwrap();
    assert_eq!(totals(&body)["http_reqs"], requests_of_three_seconds());
}

/// `partial_success` with 300 points rejected.
const PARTLY: &[u8] = b"\x0a\x09\x08\xac\x02\x12\x04full";

#[test]
fn points_that_a_collector_rejects_are_counted_and_told_over_grpc() {
    let said = Bytes::from_static(PARTLY);
    let (url, server) = collector_that_says(vec!["0"], said);
    let (report, told) = exported(settings(OtlpProtocol::Grpc, url));
    assert_eq!((report.lost, report.rejected), (0, 300));
    assert_eq!(report.error.as_deref(), Some("full"));
    assert_eq!(told, ["the collector rejected 300 points: full"]);
    let body = server.join().unwrap();
    assert_eq!(
        totals(&body)["http_reqs"],
        requests_of_three_seconds(),
        "nothing was sent twice"
    );
}

#[test]
fn points_that_a_collector_rejects_are_counted_and_told_over_http() {
    let (url, server) = http_collector(vec![("200 OK", PARTLY)]);
    let (report, told) = exported(settings(OtlpProtocol::Http, url));
    assert_eq!((report.lost, report.rejected), (0, 300));
    assert_eq!(report.error.as_deref(), Some("full"));
    assert_eq!(told, ["the collector rejected 300 points: full"]);
    drop(server.join().unwrap());
}

#[test]
fn what_ends_within_a_millisecond_of_the_last_export_has_the_next_one() {
    let (url, server) = http_collector(vec![("200 OK", PARTLY), ("200 OK", b"")]);
    let (tell, told) = std::sync::mpsc::channel();
    let often = OtlpSettings {
        interval: Duration::from_millis(10),
        ..settings(OtlpProtocol::Http, url)
    };
    let on_trouble = Arc::new(move |why: &str| tell.send(why.to_owned()).unwrap());
    let sink = OtlpSink::start(often, on_trouble).unwrap();
    let started = fixture::started();
    sink.event(&started);
    sink.event(&fixture::second(0));
    told.recv_timeout(Duration::from_secs(20))
        .expect("an export");
    let RunEvent::Second { mut row, delta } = fixture::second(1) else {
        unreachable!("it is a second");
    };
    row.span_ns = 300_000;
    sink.event(&RunEvent::Second { row, delta });
    let report = sink.finish();
    assert_eq!(report.lost, 0);
    let RunEvent::Started {
        started_unix_ms, ..
    } = started
    else {
        unreachable!("it is the start");
    };
    let (_, body) = server.join().unwrap();
    let read = wire::Request::decode(&*body).expect("it is a request");
    let scope = &read.resource_metrics[0].scope_metrics[0];
    let sum = scope.metrics.iter().find_map(|metric| metric.sum.as_ref());
    let time = sum.expect("a sum").data_points[0].time;
    assert_eq!(time / 1_000_000, started_unix_ms + 1_001);
}

#[test]
fn what_a_collector_refuses_for_good_or_never_answers_is_told() {
    let (url, server) = collector(vec!["3"]);
    let (report, _) = exported(settings(OtlpProtocol::Grpc, url));
    assert_eq!(report.lost, report.series);
    assert!(report.error.is_some_and(|why| why.contains("status 3")));
    drop(server.join().unwrap());

    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let (report, told) = exported(settings(OtlpProtocol::Grpc, url));
    assert!(report.lost > 0 && report.error.is_some());
    assert_eq!(told.len(), 1, "{told:?}");
}

/// The port for OTLP over HTTP is one above that for gRPC.
#[test]
fn a_collector_that_does_not_speak_grpc_is_told_with_its_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let refusal = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
            // Read first, like a server, so that only the request is refused.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(refusal);
            while stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
        }
    });
    let (report, _) = exported(settings(OtlpProtocol::Grpc, url));
    let why = report.error.expect("nothing arrived");
    assert!(why.contains("does not speak gRPC"), "{why}");
}
