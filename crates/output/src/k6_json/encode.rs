//! Lines of JSON with k6's keys in k6's order and Go's text forms.
//!
//! Measured on k6 v2.2.0. Must not know files. Invariant: what all values of a tag set or of a metric share is
//! encoded once.

use loadline_go::json::{HtmlEscape, push_number, push_string};
use loadline_metric::{MetricId, TagSet};
use loadline_model::sample::TaggedValues;

use crate::k6_lines::{
    Lines, MetricDescription, Rendered, SubMetricDescription, push_rfc3339_nano,
};

/// Makes lines of JSON.
#[derive(Debug, Default)]
pub(super) struct JsonLines {
    /// Start of the lines of each metric, by its id; empty: the metric's own line was not written yet.
    beginnings: Vec<String>,
    endings: Rendered,
    time: Vec<u8>,
}

impl Lines for JsonLines {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        let ending = self.endings.of(values, ending);
        self.time.clear();
        push_rfc3339_nano(values.time_unix_ns, &mut self.time);
        for (metric, value) in &values.values {
            let place = metric.0 as usize;
            if self.beginnings.len() <= place {
                self.beginnings.resize(place + 1, String::new());
            }
            if self.beginnings[place].is_empty() {
                let description = describe(*metric);
                out.extend(metric_line(&description).as_bytes());
                self.beginnings[place] = beginning(&description.definition.name);
            }
            out.extend(self.beginnings[place].as_bytes());
            out.extend(&self.time);
            out.extend(b"\",\"value\":");
            push_number(*value, out);
            out.extend(ending.as_bytes());
        }
    }
}

fn beginning(name: &str) -> String {
    let mut out = String::from("{\"metric\":");
    push_text(name, &mut out);
    out.push_str(",\"type\":\"Point\",\"data\":{\"time\":\"");
    out
}

fn ending(tags: &TagSet, metadata: Option<&TagSet>, out: &mut String) {
    out.push_str(",\"tags\":");
    push_tags(tags, out);
    if let Some(metadata) = metadata.filter(|metadata| !metadata.is_empty()) {
        out.push_str(",\"metadata\":");
        push_tags(metadata, out);
    }
    out.push_str("}}\n");
}

fn push_tags(tags: &TagSet, out: &mut String) {
    push_list(tags.iter(), ['{', '}'], out, |(name, value), out| {
        push_text(name, out);
        out.push(':');
        push_text(value, out);
    });
}

fn push_list<T>(
    items: impl IntoIterator<Item = T>,
    [open, close]: [char; 2],
    out: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    out.push(open);
    for (at, item) in items.into_iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        each(item, out);
    }
    out.push(close);
}

fn metric_line(metric: &MetricDescription) -> String {
    let definition = &metric.definition;
    let mut out = String::from("{\"type\":\"Metric\",\"data\":{\"name\":");
    push_text(&definition.name, &mut out);
    out.push_str(",\"type\":");
    push_text(definition.kind.name(), &mut out);
    out.push_str(",\"contains\":");
    push_text(definition.contains.name(), &mut out);
    out.push_str(",\"thresholds\":");
    push_list(
        &metric.thresholds,
        ['[', ']'],
        &mut out,
        |threshold, out| {
            if !threshold.abort_on_fail {
                push_text(&threshold.source, out);
                return;
            }
            out.push_str("{\"threshold\":");
            push_text(&threshold.source, out);
            out.push_str(",\"abortOnFail\":true,\"delayAbortEval\":");
            match &threshold.delay_abort_eval {
                Some(delay) => push_text(delay, out),
                None => out.push_str("null"),
            }
            out.push('}');
        },
    );
    out.push_str(",\"submetrics\":");
    push_sub_metrics(&definition.name, &metric.sub_metrics, &mut out);
    out.push_str("},\"metric\":");
    push_text(&definition.name, &mut out);
    out.push_str("}\n");
    out
}

fn push_sub_metrics(name: &str, subs: &[SubMetricDescription], out: &mut String) {
    if subs.is_empty() {
        out.push_str("null");
        return;
    }
    push_list(subs, ['[', ']'], out, |sub, out| {
        out.push_str("{\"name\":");
        push_text(&format!("{name}{{{}}}", sub.suffix), out);
        out.push_str(",\"suffix\":");
        push_text(&sub.suffix, out);
        out.push_str(",\"tags\":");
        push_tags(&sub.tags, out);
        out.push('}');
    });
}

/// A string; these lines need not be safe inside HTML.
fn push_text(text: &str, out: &mut String) {
    push_string(text, HtmlEscape::Off, out);
}
