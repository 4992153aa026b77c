//! Lines of JSON with k6's keys in k6's order and Go's texts.
//!
//! Measured on k6 v2.2.0. Must not know files. Invariant: what is the same for all values of a tag
//! set, or of a metric, is made once.

use loadline_metric::{MetricId, TagSet};
use loadline_model::snapshot::TaggedValues;

use crate::k6_lines::{
    Lines, MetricDescription, Rendered, SubMetricDescription, push_decimal, push_rfc3339_nano,
};

/// Makes lines of JSON.
#[derive(Debug, Default)]
pub(super) struct JsonLines {
    /// What a line of each metric begins with, by its number; empty: its own line was not written.
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

/// A text as Go's `encoding/json` writes it when it need not be safe within HTML.
fn push_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..'\u{20}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number as Go's `encoding/json` writes it: the shortest digits that read back the same, with an
/// exponent below 1e-6 and from 1e21 on.
fn push_number(value: f64, out: &mut Vec<u8>) {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        push_decimal(value, out);
        return;
    }
    let text = format!("{value:e}");
    match magnitude < 1.0 {
        true => out.extend(text.as_bytes()),
        false => out.extend(text.replacen('e', "e+", 1).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        push_number(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_gos() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.348_768, "0.348768"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (100.5, "100.5"),
            (-0.5, "-0.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (999_999_999.999_999, "999999999.999999"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
        ] {
            assert_eq!(written(value), text);
        }
    }
}
