//! Messages: `k6.http_req_duration:0.348768|ms|#method:GET,status:200`.
//!
//! Source: the protocol of StatsD's and DogStatsD's documentation, and k6's former output. Must not
//! know sockets. Invariant: a value is one message, and one line, whatever its tags hold.

use std::io::Write as _;

use loadline_metric::{MetricDefinition, MetricId, MetricType, TagSet};
use loadline_model::sample::TaggedValues;

use crate::k6_lines::{Lines, MetricDescription, Rendered};

/// Encodes messages.
#[derive(Debug)]
pub(super) struct Messages {
    namespace: String,
    /// Tags that are omitted; `None`: no tags at all.
    blocked_tags: Option<Vec<String>>,
    /// Metrics by id; `None`: not looked up yet.
    metrics: Vec<Option<MetricDefinition>>,
    endings: Rendered,
}

impl Messages {
    pub(super) fn new(namespace: String, blocked_tags: Option<Vec<String>>) -> Messages {
        Messages {
            namespace,
            blocked_tags,
            metrics: Vec::new(),
            endings: Rendered::default(),
        }
    }
}

impl Lines for Messages {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        let blocked = self.blocked_tags.as_deref();
        let ending = self.endings.of(values, |tags, metadata, text| {
            push_tags(blocked, tags, metadata, text);
        });
        for (metric, value) in &values.values {
            let place = metric.0 as usize;
            if self.metrics.len() <= place {
                self.metrics.resize(place + 1, None);
            }
            let metric = self.metrics[place].get_or_insert_with(|| describe(*metric).definition);
            out.extend(self.namespace.as_bytes());
            push_message(metric, *value, values.tags.get("check"), out);
            out.extend(ending.as_bytes());
            out.push(b'\n');
        }
    }
}

/// `name:value|type`. A check counts passes and failures, under its own name.
fn push_message(metric: &MetricDefinition, value: f64, check: Option<&str>, out: &mut Vec<u8>) {
    let name = &metric.name;
    let written = match (metric.kind, check) {
        (MetricType::Counter, _) => write!(out, "{name}:{value}|c"),
        (MetricType::Gauge, _) => write!(out, "{name}:{value}|g"),
        (MetricType::Trend, _) => write!(out, "{name}:{value}|ms"),
        (MetricType::Rate, Some(check)) => {
            let fate = if value == 0.0 { "fail" } else { "pass" };
            let check = plain(check, &[':', '|', '@', '#']);
            write!(out, "check.{check}.{fate}:1|c")
        }
        (MetricType::Rate, None) => write!(out, "{name}:{value}|c"),
    };
    written.expect("a vector takes all bytes");
}

/// `|#name:value,other:value`, or nothing.
fn push_tags(
    blocked: Option<&[String]>,
    tags: &TagSet,
    metadata: Option<&TagSet>,
    out: &mut String,
) {
    let Some(blocked) = blocked else { return };
    let all = tags
        .iter()
        .chain(metadata.into_iter().flat_map(TagSet::iter));
    let told = all.filter(|(name, value)| {
        !value.is_empty() && !blocked.iter().any(|blocked| blocked == name)
    });
    for (at, (name, value)) in told.enumerate() {
        out.push_str(if at == 0 { "|#" } else { "," });
        out.push_str(&plain(name, &[':', '|', ',', '#', '@']));
        out.push(':');
        // A colon in a value is not special; addresses contain one.
        out.push_str(&plain(value, &['|', ',']));
    }
}

/// The text with underscores in place of special characters, since the protocol has no escapes.
fn plain(text: &str, special: &[char]) -> String {
    let is_special = |c: char| c.is_control() || special.contains(&c);
    text.replace(is_special, "_")
}
