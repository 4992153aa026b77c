//! hey's `-o TEMPLATE`: a Go template over its report.
//!
//! Must not know where the samples were kept. Invariant: the names and kinds of fields are those of
//! hey 0.1.5's report.

use std::rc::Rc;

use loadline_model::RunResult;
use loadline_model::sample::Sample;

use super::figures::{Bucket, Figures};
use super::{BAR, BAR_CELLS, number};
use crate::go_json;
use crate::go_template::{Host, Limits, List, Signature, Template, TemplateError, Value};

/// A parsed template for hey's report.
#[derive(Debug)]
pub struct ReportTemplate {
    template: Template,
}

/// The fields that hold one value for every response.
const PER_ANSWER: &[&str] = &[
    "Lats",
    "ConnLats",
    "DnsLats",
    "ReqLats",
    "ResLats",
    "DelayLats",
    "Offsets",
    "StatusCodes",
];

impl ReportTemplate {
    /// Parses a template before the run starts.
    ///
    /// # Errors
    /// What is invalid or unsupported, with the line.
    pub fn parse(text: &str) -> Result<ReportTemplate, TemplateError> {
        Ok(ReportTemplate {
            template: Template::parse::<Functions>(text)?,
        })
    }

    /// Whether it shows individual responses, so that samples have to be kept.
    #[must_use]
    pub fn needs_samples(&self) -> bool {
        self.template.uses_whole_data()
            || PER_ANSWER.iter().any(|name| self.template.mentions(name))
    }

    /// The report with its line end; `samples` in order of completion, empty if not needed.
    ///
    /// # Errors
    /// What could not be evaluated, with the line.
    pub fn render(&self, result: &RunResult, samples: &[Sample]) -> Result<String, TemplateError> {
        let data = data(&Figures::of(result), samples);
        let text = self
            .template
            .render(&data, &mut Functions, Limits::default())?;
        Ok(text + "\n")
    }
}

struct Functions;

impl Host for Functions {
    fn functions() -> &'static [Signature] {
        const ONE: &[Signature] = &[
            Signature {
                name: "formatNumber",
                min: 1,
                max: Some(1),
            },
            Signature {
                name: "formatNumberInt",
                min: 1,
                max: Some(1),
            },
            Signature {
                name: "histogram",
                min: 1,
                max: Some(1),
            },
            Signature {
                name: "jsonify",
                min: 1,
                max: Some(1),
            },
        ];
        ONE
    }

    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let argument = arguments.first().ok_or("missing argument")?;
        let text = match name {
            "formatNumber" => number(argument.as_float()?),
            "formatNumberInt" => argument.as_int()?.to_string(),
            "jsonify" => go_json::encode(argument),
            _ => histogram(argument)?,
        };
        Ok(Value::text(&text))
    }
}

/// The bars of a list of buckets.
fn histogram(buckets: &Value) -> Result<String, String> {
    let rows = match buckets {
        Value::Nil => Vec::new(),
        Value::List(list) => (0..list.len()).filter_map(|at| list.get(at)).collect(),
        other => {
            return Err(format!(
                "wrong type {}; expected []Bucket",
                other.type_name()
            ));
        }
    };
    let rows = rows
        .iter()
        .map(mark_and_count)
        .collect::<Result<Vec<(f64, u64)>, String>>()?;
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let line = |(mark, count): &(f64, u64)| {
        let cells = (u128::from(*count) * u128::from(BAR_CELLS) + u128::from(most / 2))
            .checked_div(u128::from(most))
            .unwrap_or(0);
        format!("  {mark:.3} [{count}]\t|{}\n", BAR.repeat(cells as usize))
    };
    Ok(rows.iter().map(line).collect())
}

fn mark_and_count(bucket: &Value) -> Result<(f64, u64), String> {
    let Value::Object(object) = bucket else {
        return Err(format!(
            "wrong type {}; expected Bucket",
            bucket.type_name()
        ));
    };
    let field = |wanted: &str| {
        let found = object
            .fields()
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value);
        found.ok_or_else(|| format!("wrong type {}; expected Bucket", object.type_name))
    };
    let count = u64::try_from(field("Count")?.as_int()?).unwrap_or(0);
    Ok((field("Mark")?.as_float()?, count))
}

fn data(figures: &Figures, samples: &[Sample]) -> Value {
    let mut fields = vec![
        ("AvgTotal", Value::Float(figures.sum_seconds)),
        ("Fastest", Value::Float(figures.fastest)),
        ("Slowest", Value::Float(figures.slowest)),
        ("Average", Value::Float(figures.average)),
        ("Rps", Value::Float(figures.requests_per_second)),
    ];
    fields.extend(averages(figures));
    fields.extend(per_answer(samples));
    fields.extend(totals(figures));
    Value::object("requester.Report", fields)
}

/// hey calls the fastest value of a phase its maximum, and the slowest its minimum.
fn averages(figures: &Figures) -> Vec<(&'static str, Value)> {
    vec![
        ("AvgConn", Value::Float(figures.connection.average)),
        ("AvgDNS", Value::Float(figures.dns.average)),
        ("AvgReq", Value::Float(figures.request.average)),
        ("AvgRes", Value::Float(figures.response.average)),
        ("AvgDelay", Value::Float(figures.delay.average)),
        ("ConnMax", Value::Float(figures.connection.fastest)),
        ("ConnMin", Value::Float(figures.connection.slowest)),
        ("DnsMax", Value::Float(figures.dns.fastest)),
        ("DnsMin", Value::Float(figures.dns.slowest)),
        ("ReqMax", Value::Float(figures.request.fastest)),
        ("ReqMin", Value::Float(figures.request.slowest)),
        ("ResMax", Value::Float(figures.response.fastest)),
        ("ResMin", Value::Float(figures.response.slowest)),
        ("DelayMax", Value::Float(figures.delay.fastest)),
        ("DelayMin", Value::Float(figures.delay.slowest)),
    ]
}

fn per_answer(samples: &[Sample]) -> Vec<(&'static str, Value)> {
    let answers = || samples.iter().filter(|sample| sample.error.is_none());
    let seconds = |of: fn(&Sample) -> u64| {
        Value::floats(answers().map(|sample| of(sample) as f64 / 1e9).collect())
    };
    let statuses = answers().map(|sample| i64::from(sample.status)).collect();
    vec![
        ("Lats", seconds(|sample| sample.service_ns)),
        (
            "ConnLats",
            seconds(|sample| sample.dns_ns + sample.connect_ns),
        ),
        ("DnsLats", seconds(|sample| sample.dns_ns)),
        ("ReqLats", seconds(|sample| sample.sending_ns)),
        ("ResLats", seconds(|sample| sample.receiving_ns)),
        ("DelayLats", seconds(|sample| sample.waiting_ns)),
        ("Offsets", seconds(|sample| sample.start_ns)),
        ("StatusCodes", Value::List(Rc::new(List::Ints(statuses)))),
    ]
}

fn totals(figures: &Figures) -> Vec<(&'static str, Value)> {
    let error = |(text, count): &(String, u64)| (Value::text(text), Value::Int(*count as i64));
    let status =
        |(status, count): &(u16, u64)| (Value::Int(i64::from(*status)), Value::Int(*count as i64));
    let row = |(percentage, seconds): &(u64, f64)| {
        let fields = vec![
            ("Percentage", Value::Int(*percentage as i64)),
            ("Latency", Value::Float(*seconds)),
        ];
        Value::object("requester.LatencyDistribution", fields)
    };
    let answers = figures.answers.max(1) as f64;
    let bucket = |bucket: &Bucket| {
        let fields = vec![
            ("Mark", Value::Float(bucket.mark)),
            ("Count", Value::Int(bucket.count as i64)),
            ("Frequency", Value::Float(bucket.count as f64 / answers)),
        ];
        Value::object("requester.Bucket", fields)
    };
    // Go's report has nothing here if there was no response.
    let unless_empty = |value: Value| {
        if figures.answers == 0 {
            Value::Nil
        } else {
            value
        }
    };
    vec![
        ("Total", Value::Duration(figures.total_ns as i64)),
        (
            "ErrorDist",
            Value::Map(Rc::new(figures.errors.iter().map(error).collect())),
        ),
        (
            "StatusCodeDist",
            unless_empty(Value::Map(Rc::new(
                figures.statuses.iter().map(status).collect(),
            ))),
        ),
        ("SizeTotal", Value::Int(figures.bytes as i64)),
        ("SizeReq", Value::Int(figures.bytes_per_answer as i64)),
        ("NumRes", Value::Int(figures.requests as i64)),
        (
            "LatencyDistribution",
            unless_empty(Value::list(figures.distribution.iter().map(row).collect())),
        ),
        (
            "Histogram",
            unless_empty(Value::list(figures.histogram.iter().map(bucket).collect())),
        ),
    ]
}
