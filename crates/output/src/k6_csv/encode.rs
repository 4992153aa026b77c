//! Rows with k6's columns: metric, time, value, a column per system tag, other tags, metadata.
//!
//! Measured on k6 v2.2.0; fields are quoted by the rules of Go's `encoding/csv`. Must not know
//! files. Invariant: other tags and metadata are in the order of their names (k6 has no order).

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use loadline_metric::{MetricId, TagSet};
use loadline_model::sample::TaggedValues;

use crate::k6_lines::{Lines, MetricDescription, Rendered, push_rfc3339, push_rfc3339_nano};

/// How a row's time is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970, truncated.
    #[default]
    Unix,
    /// Milliseconds since 1970, truncated.
    UnixMilli,
    /// Microseconds since 1970, truncated.
    UnixMicro,
    /// Nanoseconds since 1970.
    UnixNano,
    /// RFC 3339 in whole seconds, UTC.
    Rfc3339,
    /// RFC 3339 with decimals, UTC.
    Rfc3339Nano,
}

/// An unknown time format; the text is k6's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTimeFormat(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownTimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not belong to TimeFormat values", self.0)
    }
}

impl std::error::Error for UnknownTimeFormat {}

impl FromStr for TimeFormat {
    type Err = UnknownTimeFormat;

    /// Takes the names of `K6_CSV_TIME_FORMAT`.
    fn from_str(name: &str) -> Result<TimeFormat, UnknownTimeFormat> {
        Ok(match name {
            "unix" => TimeFormat::Unix,
            "unix_milli" => TimeFormat::UnixMilli,
            "unix_micro" => TimeFormat::UnixMicro,
            "unix_nano" => TimeFormat::UnixNano,
            "rfc3339" => TimeFormat::Rfc3339,
            "rfc3339_nano" => TimeFormat::Rfc3339Nano,
            other => return Err(UnknownTimeFormat(other.to_owned())),
        })
    }
}

impl TimeFormat {
    fn push(self, unix_ns: u64, out: &mut Vec<u8>) {
        let per = match self {
            TimeFormat::Unix => 1_000_000_000,
            TimeFormat::UnixMilli => 1_000_000,
            TimeFormat::UnixMicro => 1_000,
            TimeFormat::UnixNano => 1,
            TimeFormat::Rfc3339 => return push_rfc3339(unix_ns, out),
            TimeFormat::Rfc3339Nano => return push_rfc3339_nano(unix_ns, out),
        };
        write!(out, "{}", unix_ns / per).expect("a vector takes all bytes");
    }
}

/// How rows are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// Tags that have a column: the enabled system tags without `vu` and `iter`, in the order of
    /// their names.
    pub tag_columns: Vec<String>,
    /// How times are written.
    pub time_format: TimeFormat,
}

/// Makes rows.
#[derive(Debug)]
pub(super) struct CsvLines {
    options: CsvOptions,
    /// The metric's field by its id; empty: not looked up yet.
    names: Vec<String>,
    endings: Rendered,
    time: Vec<u8>,
}

impl CsvLines {
    pub(super) fn new(options: CsvOptions) -> CsvLines {
        CsvLines {
            options,
            names: Vec::new(),
            endings: Rendered::default(),
            time: Vec::new(),
        }
    }
}

impl Lines for CsvLines {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend(b"metric_name,timestamp,metric_value");
        for tag in &self.options.tag_columns {
            out.push(b',');
            out.extend(tag.as_bytes());
        }
        out.extend(b",extra_tags,metadata\n");
    }

    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        let columns = &self.options.tag_columns;
        let ending = self.endings.of(values, |tags, metadata, text| {
            ending(columns, tags, metadata, text);
        });
        self.time.clear();
        self.time.push(b',');
        self.options
            .time_format
            .push(values.time_unix_ns, &mut self.time);
        for (metric, value) in &values.values {
            let place = metric.0 as usize;
            if self.names.len() <= place {
                self.names.resize(place + 1, String::new());
            }
            if self.names[place].is_empty() {
                push_field(&describe(*metric).definition.name, &mut self.names[place]);
            }
            out.extend(self.names[place].as_bytes());
            out.extend(&self.time);
            write!(out, ",{value:.6}").expect("a vector takes all bytes");
            out.extend(ending.as_bytes());
        }
    }
}

fn ending(columns: &[String], tags: &TagSet, metadata: Option<&TagSet>, out: &mut String) {
    for column in columns {
        out.push(',');
        push_field(tags.get(column).unwrap_or(""), out);
    }
    let others = tags
        .iter()
        .filter(|(name, _)| !columns.iter().any(|column| column == name));
    out.push(',');
    push_field(&pairs(others), out);
    out.push(',');
    push_field(
        &metadata.map_or_else(String::new, |metadata| pairs(metadata.iter())),
        out,
    );
    out.push('\n');
}

fn pairs<'a>(tags: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<String> = tags
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

fn push_field(field: &str, out: &mut String) {
    let needs_quotes = field == "\\."
        || field.contains([',', '"', '\r', '\n'])
        || field.starts_with(char::is_whitespace);
    if needs_quotes {
        out.push('"');
        out.push_str(&field.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(field);
    }
}
