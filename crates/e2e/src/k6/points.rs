//! The samples of a run, read from its `-o json=…` file: their count and sum by metric and tag set.
//!
//! Must not know when a sample was taken. Invariant: values that measure time or bytes on the wire are not
//! kept, only their number.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::normal::{self, Places};

/// Emitted once a second: their number depends on time.
const BY_THE_CLOCK: [&str; 2] = ["vus", "vus_max"];
/// The timings of every request, each as frequent as requests.
const REQUEST_TIMES: [&str; 7] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
    "http_req_duration",
];
/// Metrics with measured values.
const MEASURED: [&str; 4] = [
    "iteration_duration",
    "group_duration",
    "data_sent",
    "data_received",
];

/// Whether the values of a metric are measured times or sizes.
pub(crate) fn is_measured(metric: &str) -> bool {
    MEASURED.contains(&metric) || REQUEST_TIMES.contains(&metric)
}

/// Whether a metric is emitted once a second.
pub(crate) fn is_by_the_clock(metric: &str) -> bool {
    BY_THE_CLOCK.contains(&metric)
}

#[derive(Default)]
struct Metric {
    kind: String,
    points: BTreeMap<String, (u64, f64)>,
}

/// Reads the lines of the file.
///
/// # Panics
/// A line is not JSON.
pub(crate) fn read(lines: &str, places: &Places, uncounted: &[String]) -> Value {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("every line of the output is JSON");
        let name = line["metric"].as_str().unwrap_or_default().to_owned();
        if is_by_the_clock(&name) {
            continue;
        }
        let metric = metrics.entry(name).or_default();
        let data = &line["data"];
        if line["type"] == "Metric" {
            let word = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
            metric.kind = format!("{} of {}", word("type"), word("contains"));
        } else {
            let point = metric.points.entry(tag_set(data, places)).or_default();
            point.0 += 1;
            point.1 += data["value"].as_f64().unwrap_or_default();
        }
    }
    fold_request_times(&mut metrics);
    let told = metrics
        .into_iter()
        .map(|(name, metric)| {
            let told = if uncounted.contains(&name) {
                json!({"kind": metric.kind})
            } else {
                tell(&name, &metric)
            };
            (name, told)
        })
        .collect::<Map<_, _>>();
    Value::Object(told)
}

/// The timings of requests are removed if each has one sample per request.
fn fold_request_times(metrics: &mut BTreeMap<String, Metric>) {
    let counts = |metric: &Metric| -> Vec<(String, u64)> {
        let points = metric.points.iter();
        points
            .map(|(tags, (count, _))| (tags.clone(), *count))
            .collect()
    };
    let Some(requests) = metrics.get("http_reqs").map(counts) else {
        return;
    };
    for name in REQUEST_TIMES {
        let as_expected = metrics
            .get(name)
            .is_some_and(|metric| metric.kind == "trend of time" && counts(metric) == requests);
        if as_expected {
            metrics.remove(name);
        }
    }
}

fn tell(name: &str, metric: &Metric) -> Value {
    let points = metric.points.iter();
    let points: Map<String, Value> = points
        .map(|(tags, (count, sum))| {
            let told = if is_measured(name) {
                count.to_string()
            } else {
                format!("{count}, sum {}", normal::number(*sum))
            };
            (tags.clone(), Value::String(told))
        })
        .collect();
    json!({"kind": metric.kind, "points": points})
}

fn tag_set(data: &Value, places: &Places) -> String {
    let mut told = pairs(&data["tags"]).join(",");
    let metadata = pairs(&data["metadata"]);
    if !metadata.is_empty() {
        told = format!("{told} | {}", metadata.join(","));
    }
    normal::text(&told, places)
}

fn pairs(tags: &Value) -> Vec<String> {
    let tags = tags.as_object().into_iter().flatten();
    let mut pairs: Vec<String> = tags
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        })
        .collect();
    pairs.sort();
    pairs
}
