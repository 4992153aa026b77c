//! Values read from recorded output of k6 v2.2.0; for the tests of the line formats.
//!
//! `tests/golden/k6-2.2.0/record.sh` recorded the files. Must not know how lines are made. Invariant: values
//! are in the order of the file.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use loadline_metric::{MetricDefinition, MetricId, TagSet};
use loadline_model::sample::TaggedValues;
use serde_json::Value;

use super::{Lines, MetricDescription, SubMetricDescription, ThresholdDescription};

pub(crate) fn recorded(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/k6-2.2.0")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The recorded metrics, by number, and values.
pub(crate) struct Recorded {
    pub(crate) metrics: Vec<MetricDescription>,
    pub(crate) values: Vec<TaggedValues>,
}

fn tags(value: &Value) -> TagSet {
    let tags: BTreeMap<String, String> = serde_json::from_value(value.clone()).unwrap();
    TagSet::from(tags)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

impl Recorded {
    /// Reads `samples.jsonl`.
    pub(crate) fn read() -> Recorded {
        let mut read = Recorded {
            metrics: Vec::new(),
            values: Vec::new(),
        };
        for line in recorded("samples.jsonl").lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["type"] == "Metric" {
                read.metrics.push(description(&line["data"]));
            } else {
                let value = read.value(&line);
                read.values.push(value);
            }
        }
        read
    }

    fn value(&self, line: &Value) -> TaggedValues {
        let data = &line["data"];
        let name = line["metric"].as_str().unwrap();
        let metric = self
            .metrics
            .iter()
            .position(|metric| *metric.definition.name == *name);
        TaggedValues {
            request: None,
            time_unix_ns: unix_ns(data["time"].as_str().unwrap()),
            tags: Arc::new(tags(&data["tags"])),
            metadata: data
                .get("metadata")
                .map(|metadata| Arc::new(tags(metadata))),
            values: vec![(
                MetricId(metric.unwrap() as u32),
                data["value"].as_f64().unwrap(),
            )],
        }
    }

    /// All lines of the values.
    pub(crate) fn lines(&self, mut lines: impl Lines) -> String {
        let mut out = Vec::new();
        lines.head(&mut out);
        for values in &self.values {
            let mut describe = |id: MetricId| self.metrics[id.0 as usize].clone();
            lines.append(values, &mut describe, &mut out);
        }
        String::from_utf8(out).unwrap()
    }
}

/// Nanoseconds of a time on the day of the recording.
fn unix_ns(time: &str) -> u64 {
    let (day, clock) = time.trim_end_matches('Z').split_once('T').unwrap();
    assert_eq!(day, DAY, "record.sh ran on another day: change this one");
    let parts: Vec<f64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
    let whole = (parts[0] * 3_600.0 + parts[1] * 60.0) as u64 * 1_000_000_000;
    DAY_UNIX_S * 1_000_000_000 + whole + (parts[2] * 1e9).round() as u64
}

const DAY: &str = "2026-11-21";
const DAY_UNIX_S: u64 = 1_795_219_200;

fn description(data: &Value) -> MetricDescription {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let threshold = |t: &Value| ThresholdDescription {
        source: t
            .as_str()
            .map_or_else(|| text(&t["threshold"]), str::to_owned),
        abort_on_fail: t["abortOnFail"] == true,
        delay_abort_eval: t["delayAbortEval"].as_str().map(str::to_owned),
    };
    let sub_metric = |sub: &Value| SubMetricDescription {
        suffix: text(&sub["suffix"]),
        tags: tags(&sub["tags"]),
    };
    MetricDescription {
        definition: MetricDefinition {
            name: text(&data["name"]).into(),
            kind: serde_json::from_value(data["type"].clone()).unwrap(),
            contains: serde_json::from_value(data["contains"].clone()).unwrap(),
        },
        thresholds: list(&data["thresholds"]).iter().map(threshold).collect(),
        sub_metrics: list(&data["submetrics"]).iter().map(sub_metric).collect(),
    }
}
