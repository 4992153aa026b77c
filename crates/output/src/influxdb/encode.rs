//! Points: `measurement,tag=value field="text",value=1 1795280847503584142`.
//!
//! Source: the line protocol of InfluxDB's documentation, and points of k6 v2.2.0. Must not know
//! HTTP. Invariant: a value is one line, whatever its tags hold; tags without a value are left out,
//! since the protocol has none.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;

use loadline_go::json::push_decimal;
use loadline_metric::{MetricId, TagSet};
use loadline_model::sample::TaggedValues;

use super::instants::Instants;
use super::settings::{FieldKind, Precision};

use crate::k6_lines::{Lines, MetricDescription, Rendered};

/// Encodes points.
#[derive(Debug)]
pub(super) struct Points {
    fields: Vec<(String, FieldKind)>,
    precision: Precision,
    /// Measurements by metric; empty: not looked up yet.
    names: Vec<String>,
    /// The text between measurement and value.
    middles: Rendered,
    instants: Instants,
}

impl Points {
    pub(super) fn new(fields: Vec<(String, FieldKind)>, precision: Precision) -> Points {
        Points {
            fields,
            precision,
            names: Vec::new(),
            middles: Rendered::default(),
            instants: Instants::default(),
        }
    }

    /// The instant in the precision's unit. If that is fine enough, it is unique within a series.
    fn instant(&mut self, series: u64, unix_ns: u64) -> u64 {
        let at = unix_ns / self.precision.unit_ns();
        match self.precision {
            Precision::Nanosecond | Precision::Microsecond => self.instants.take(series, at),
            _ => at,
        }
    }
}

impl Lines for Points {
    fn head(&mut self, _out: &mut Vec<u8>) {}

    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        let Some((first, _)) = values.values.first() else {
            return;
        };
        let fields = &self.fields;
        let middle = self.middles.of(values, |tags, metadata, text| {
            push_middle(fields, tags, metadata, text);
        });
        let mut hasher = DefaultHasher::new();
        (first.0, middle).hash(&mut hasher);
        let middle = middle.to_owned();
        let instant = self.instant(hasher.finish(), values.time_unix_ns);
        for (metric, value) in &values.values {
            let place = metric.0 as usize;
            if self.names.len() <= place {
                self.names.resize(place + 1, String::new());
            }
            if self.names[place].is_empty() {
                let name = describe(*metric).definition.name;
                push_escaped(&name, &mut self.names[place]);
            }
            out.extend(self.names[place].as_bytes());
            out.extend(middle.as_bytes());
            push_decimal(*value, out);
            writeln!(out, " {instant}").expect("a vector takes all bytes");
        }
    }
}

/// `,tag=value field="text",value=`.
fn push_middle(
    fields: &[(String, FieldKind)],
    tags: &TagSet,
    metadata: Option<&TagSet>,
    out: &mut String,
) {
    let kind_of = |name: &str| fields.iter().find(|(field, _)| field == name);
    let with_value = || tags.iter().filter(|(_, value)| !value.is_empty());
    for (name, value) in with_value().filter(|(name, _)| kind_of(name).is_none()) {
        out.push(',');
        push_escaped(name, out);
        out.push('=');
        push_escaped(value, out);
    }
    out.push(' ');
    let metadata = metadata.into_iter().flat_map(TagSet::iter);
    for (name, value) in with_value().chain(metadata) {
        let Some((_, kind)) = kind_of(name) else {
            continue;
        };
        push_escaped(name, out);
        out.push('=');
        push_field(value, *kind, out);
        out.push(',');
    }
    out.push_str("value=");
}

fn push_field(value: &str, kind: FieldKind, out: &mut String) {
    let written = match kind {
        FieldKind::Int => value.parse::<i64>().ok().map(|value| format!("{value}i")),
        FieldKind::Float => {
            let number = value.parse::<f64>().ok().filter(|value| value.is_finite());
            number.map(|value| value.to_string())
        }
        FieldKind::Bool => value.parse::<bool>().ok().map(|value| value.to_string()),
        FieldKind::Text => None,
    };
    match written {
        Some(written) => out.push_str(&written),
        None => push_text(value, out),
    }
}

/// A text field: in quotes, on one line.
fn push_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // The backslash stands for itself.
                out.push('\\');
                push_control(c, out);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Escapes a measurement, the name or value of a tag, or the name of a field.
///
/// The protocol escapes commas, spaces and equal signs with a backslash, and cannot represent a backslash
/// before one of them or at the end; such a backslash becomes a slash. Line ends and other control characters
/// are escaped as in Go.
fn push_escaped(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ',' | ' ' | '=' => out.extend(['\\', c]),
            '\\' if matches!(chars.peek(), None | Some(',' | ' ' | '=' | '\\')) => out.push('/'),
            c if c.is_control() => push_control(c, out),
            c => out.push(c),
        }
    }
}

fn push_control(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes all text"),
    }
}
