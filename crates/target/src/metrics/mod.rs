//! The server's own metrics: counted per worker, summed on request.
//!
//! It must not know sockets. Invariant: the number of series is bounded by paths × methods × codes; beyond
//! [`SERIES_MAX`] on one worker, new ones count under code `other`, so nothing is lost.

mod histogram;
mod process;
mod protobuf;
mod text;

use crate::endpoints::{ENDPOINTS, Endpoint};
use crate::reply::Reply;
use crate::request::Request;
use crate::state::ServerState;
use http::{Method, StatusCode, header};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

pub(crate) use histogram::ServiceTimes;

/// Maximum request series per worker.
const SERIES_MAX: usize = 4_096;
/// Methods with their own label; all others are `other`.
const METHODS: [&str; 9] = [
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT",
];
/// Replaces the status in series beyond the limit.
const CODE_OTHER: u16 = u16::MAX;

/// What requests are counted under: a built-in path or a route of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PathId(u16);

impl PathId {
    /// A built-in path.
    pub(crate) fn endpoint(endpoint: Endpoint) -> Self {
        Self(endpoint as u16)
    }

    /// The route of that position in the routes file.
    pub(crate) fn route(position: usize) -> Self {
        Self(u16::try_from(ENDPOINTS.len() + position).unwrap_or(u16::MAX))
    }

    fn label(self, shared: &ServerState) -> &str {
        match ENDPOINTS.get(usize::from(self.0)) {
            Some(endpoint) => endpoint.template,
            None => shared
                .routes
                .pattern(usize::from(self.0) - ENDPOINTS.len())
                .unwrap_or("other"),
        }
    }
}

/// What distinguishes one count of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SeriesKey {
    path: PathId,
    method: u8,
    code: u16,
}

/// The counts of one worker.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    series: Vec<(SeriesKey, u64)>,
    slots: HashMap<SeriesKey, usize>,
    /// The slot used last: most load tests ask for one thing all the time.
    last: usize,
    times: BTreeMap<PathId, Box<ServiceTimes>>,
}

impl Recorder {
    /// Counts one request; code 0 means that it was deliberately left without a response.
    pub(crate) fn record(&self, path: PathId, method: &Method, code: u16, elapsed_ns: u64) {
        let method = METHODS.iter().position(|name| *name == method.as_str());
        let method = method.unwrap_or(METHODS.len()) as u8;
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.count(SeriesKey { path, method, code });
        counts.times.entry(path).or_default().record(elapsed_ns);
    }
}

impl Counts {
    fn count(&mut self, key: SeriesKey) {
        if let Some((last, count)) = self.series.get_mut(self.last)
            && *last == key
        {
            *count += 1;
            return;
        }
        let full = self.series.len() >= SERIES_MAX && !self.slots.contains_key(&key);
        let key = if full {
            SeriesKey {
                code: CODE_OTHER,
                ..key
            }
        } else {
            key
        };
        let next = self.series.len();
        self.last = *self.slots.entry(key).or_insert(next);
        if self.last == next {
            self.series.push((key, 0));
        }
        self.series[self.last].1 += 1;
    }
}

/// One metric with all its series.
pub(crate) struct Family {
    name: &'static str,
    help: &'static str,
    kind: ExposedKind,
    series: Vec<Series>,
}

/// Labels of a series, in the order in which they are shown.
pub(crate) type Labels = Vec<(&'static str, String)>;

impl Family {
    /// Counters.
    pub(crate) fn counter(
        name: &'static str,
        help: &'static str,
        series: Vec<(Labels, f64)>,
    ) -> Self {
        Self::numbers(name, help, ExposedKind::Counter, series)
    }

    /// Gauges.
    pub(crate) fn gauge(
        name: &'static str,
        help: &'static str,
        series: Vec<(Labels, f64)>,
    ) -> Self {
        Self::numbers(name, help, ExposedKind::Gauge, series)
    }

    /// Histograms of times.
    pub(crate) fn times(
        name: &'static str,
        help: &'static str,
        series: Vec<(Labels, ServiceTimes)>,
    ) -> Self {
        let series = series.into_iter().map(|(labels, times)| Series {
            labels,
            value: Value::Times(Box::new(times)),
        });
        Self {
            name,
            help,
            kind: ExposedKind::Histogram,
            series: series.collect(),
        }
    }

    fn numbers(
        name: &'static str,
        help: &'static str,
        kind: ExposedKind,
        series: Vec<(Labels, f64)>,
    ) -> Self {
        let series = series.into_iter().map(|(labels, value)| Series {
            labels,
            value: Value::Number(value),
        });
        Self {
            name,
            help,
            kind,
            series: series.collect(),
        }
    }
}

/// Families in the text format.
pub(crate) fn as_text(families: &[Family]) -> Reply {
    Reply::full(StatusCode::OK, text::CONTENT_TYPE, text::encode(families))
}

/// Resident memory of this process; `None` if the system does not report it.
pub(crate) fn resident_bytes() -> Option<u64> {
    process::usage().map(|usage| usage.resident_bytes)
}

/// The kinds of metric that are exposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExposedKind {
    Counter,
    Gauge,
    Histogram,
}

/// One series of a metric.
struct Series {
    labels: Vec<(&'static str, String)>,
    value: Value,
}

/// The value of a series.
enum Value {
    Number(f64),
    Times(Box<ServiceTimes>),
}

/// The answer of `/metrics`: protobuf where the client asks for it, text otherwise.
pub(crate) fn expose(shared: &ServerState, request: &Request) -> Reply {
    let families = gather(shared);
    let accept = request.header(header::ACCEPT).unwrap_or_default();
    if accept.contains("application/vnd.google.protobuf") {
        let body = protobuf::encode(&families);
        Reply::full(StatusCode::OK, protobuf::CONTENT_TYPE, body)
    } else {
        Reply::full(StatusCode::OK, text::CONTENT_TYPE, text::encode(&families))
    }
}

fn gather(shared: &ServerState) -> Vec<Family> {
    let mut requests: BTreeMap<SeriesKey, u64> = BTreeMap::new();
    let mut times: BTreeMap<PathId, Box<ServiceTimes>> = BTreeMap::new();
    for recorder in &shared.recorders {
        let counts = recorder.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, count) in &counts.series {
            *requests.entry(*key).or_default() += count;
        }
        for (path, worker_times) in &counts.times {
            times.entry(*path).or_default().merge(worker_times);
        }
    }
    let requests = requests
        .into_iter()
        .map(|(key, count)| request_series(shared, key, count));
    let times = times.into_iter().map(|(path, times)| Series {
        labels: vec![("path", path.label(shared).to_owned())],
        value: Value::Times(times),
    });
    let mut families = vec![
        Family {
            name: "loadline_target_requests_total",
            help: "Requests by path template, method and status; code 0 had no response, as asked.",
            kind: ExposedKind::Counter,
            series: requests.collect(),
        },
        Family {
            name: "loadline_target_service_time_seconds",
            help: "Time from the whole request head to the start of the response.",
            kind: ExposedKind::Histogram,
            series: times.collect(),
        },
    ];
    families.extend(gauges(shared));
    if let Some(part) = &shared.part {
        families.extend(part.families());
    }
    families
}

fn request_series(shared: &ServerState, key: SeriesKey, count: u64) -> Series {
    let method = METHODS
        .get(usize::from(key.method))
        .copied()
        .unwrap_or("other");
    let code = if key.code == CODE_OTHER {
        "other".to_owned()
    } else {
        key.code.to_string()
    };
    Series {
        labels: vec![
            ("path", key.path.label(shared).to_owned()),
            ("method", method.to_owned()),
            ("code", code),
        ],
        value: Value::Number(count as f64),
    }
}

fn gauges(shared: &ServerState) -> Vec<Family> {
    let open: usize = shared.open.iter().map(|open| open.load(Relaxed)).sum();
    let waiting = shared.queues.waiting(shared.clock.now_ns());
    let mut families = vec![
        single(
            "loadline_target_connections",
            "Open connections.",
            ExposedKind::Gauge,
            open as f64,
        ),
        single(
            "loadline_target_service_waiting",
            "Requests waiting in the /service queues.",
            ExposedKind::Gauge,
            waiting as f64,
        ),
    ];
    if let Some(usage) = process::usage() {
        families.push(single(
            "process_cpu_seconds_total",
            "User and system time of the process.",
            ExposedKind::Counter,
            usage.cpu_seconds,
        ));
        families.push(single(
            "process_resident_memory_bytes",
            "Resident memory of the process.",
            ExposedKind::Gauge,
            usage.resident_bytes as f64,
        ));
    }
    families
}

fn single(name: &'static str, help: &'static str, kind: ExposedKind, value: f64) -> Family {
    let series = vec![Series {
        labels: Vec::new(),
        value: Value::Number(value),
    }];
    Family {
        name,
        help,
        kind,
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_capped_and_nothing_is_lost() {
        let mut counts = Counts::default();
        let path = PathId::endpoint(Endpoint::Status);
        for i in 0..10_000_u16 {
            counts.count(SeriesKey {
                path,
                method: 0,
                code: i,
            });
        }
        counts.count(SeriesKey {
            path,
            method: 0,
            code: 5,
        });
        assert_eq!(counts.series.len(), SERIES_MAX + 1);
        assert_eq!(
            counts.series.iter().map(|(_, count)| count).sum::<u64>(),
            10_001
        );
        assert_eq!(counts.series[5].1, 2);
    }
}
