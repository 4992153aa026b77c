//! bombardier's `-o path:FILE`: a Go template over its test information.
//!
//! Must not know files. Invariant: the names and kinds of fields and functions are those of
//! bombardier 2.0.2; the raw histograms are refused when the template is parsed.

use std::rc::Rc;

use loadline_model::RunResult;

use super::figures::{self, Figures, Statistics};
use super::units::{binary, time_us};
use super::uuid::{self, Identity};
use super::{Client, Spec, Stop, nanoseconds};
use crate::go_template::{Host, Limits, Member, Object, Signature, Template, TemplateError, Value};

/// A parsed template for bombardier's report.
#[derive(Debug)]
pub struct ReportTemplate {
    template: Template,
}

impl ReportTemplate {
    /// Parses a template before the run starts.
    ///
    /// # Errors
    /// What is invalid or unsupported, with the line.
    pub fn parse(text: &str) -> Result<ReportTemplate, TemplateError> {
        let template = Template::parse::<Functions<'_, '_>>(text)?;
        for name in ["VisitAll", "Latencies", "Requests"] {
            if template.mentions(name) {
                let what = format!(".{name} is not supported: use LatenciesStats or RequestsStats");
                return Err(TemplateError::new(1, what));
            }
        }
        Ok(ReportTemplate { template })
    }

    /// Renders the report; `identity` is the source of its UUIDs.
    ///
    /// # Errors
    /// What could not be evaluated, with the line.
    pub fn render(
        &self,
        result: &RunResult,
        spec: &Spec,
        identity: &mut Identity<'_>,
    ) -> Result<String, TemplateError> {
        let data = Value::object(
            "internal.TestInfo",
            vec![
                ("Spec", spec_value(spec)),
                ("Result", result_value(result, spec)),
            ],
        );
        let mut functions = Functions {
            latencies: spec.latencies,
            identity,
        };
        self.template
            .render(&data, &mut functions, Limits::default())
    }
}

struct Functions<'a, 'b> {
    latencies: bool,
    identity: &'a mut Identity<'b>,
}

impl Host for Functions<'_, '_> {
    fn functions() -> &'static [Signature] {
        const fn exactly(name: &'static str, count: usize) -> Signature {
            Signature {
                name,
                min: count,
                max: Some(count),
            }
        }
        const ALL: &[Signature] = &[
            exactly("WithLatencies", 0),
            exactly("FormatBinary", 1),
            exactly("FormatTimeUs", 1),
            exactly("FormatTimeUsUint64", 1),
            Signature {
                name: "FloatsToArray",
                min: 0,
                max: None,
            },
            exactly("Multiply", 2),
            exactly("StringToBytes", 1),
            exactly("UUIDV1", 0),
            exactly("UUIDV2", 1),
            exactly("UUIDV3", 2),
            exactly("UUIDV4", 0),
            exactly("UUIDV5", 2),
        ];
        ALL
    }

    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        let argument = |at: usize| {
            arguments
                .get(at)
                .ok_or_else(|| "missing argument".to_owned())
        };
        Ok(match name {
            "WithLatencies" => Value::Bool(self.latencies),
            "FormatBinary" => Value::text(&binary(argument(0)?.as_float()?)),
            "FormatTimeUs" | "FormatTimeUsUint64" => {
                Value::text(&time_us(argument(0)?.as_float()?))
            }
            "FloatsToArray" => {
                let floats = arguments.iter().map(Value::as_float);
                Value::floats(floats.collect::<Result<Vec<f64>, String>>()?)
            }
            "Multiply" => Value::Float(argument(0)?.as_float()? * argument(1)?.as_float()?),
            "StringToBytes" => Value::Bytes(Rc::from(text_of(argument(0)?)?.as_bytes())),
            "UUIDV1" => Value::Uuid(self.identity.version_1()),
            "UUIDV2" => {
                let domain = argument(0)?.as_int()?;
                let domain = u8::try_from(domain).map_err(|_| format!("{domain} is not a byte"))?;
                Value::Uuid(self.identity.version_2(domain))
            }
            "UUIDV3" => Value::Uuid(uuid::version_3(
                &uuid_of(argument(0)?)?,
                text_of(argument(1)?)?,
            )),
            "UUIDV4" => Value::Uuid(self.identity.version_4()),
            _ => Value::Uuid(uuid::version_5(
                &uuid_of(argument(0)?)?,
                text_of(argument(1)?)?,
            )),
        })
    }
}

fn text_of(value: &Value) -> Result<&str, String> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(format!("wrong type {}; expected string", other.type_name())),
    }
}

fn uuid_of(value: &Value) -> Result<[u8; 16], String> {
    match value {
        Value::Uuid(bytes) => Ok(*bytes),
        other => Err(format!(
            "wrong type {}; expected uuid.UUID",
            other.type_name()
        )),
    }
}

fn spec_value(spec: &Spec) -> Value {
    let optional = |text: &Option<String>| Value::text(text.as_deref().unwrap_or_default());
    let header = |(key, value): &(String, String)| {
        let fields = vec![("Key", Value::text(key)), ("Value", Value::text(value))];
        Value::object("internal.Header", fields)
    };
    let (kind, requests, duration) = match spec.stop {
        Stop::Duration(duration) => (1, 0, nanoseconds(duration)),
        Stop::Requests(requests) => (2, requests, 0),
    };
    let client = match spec.client {
        Client::FastHttp => 0,
        Client::NetHttp1 => 1,
        Client::NetHttp2 => 2,
    };
    let fields = [
        ("NumberOfConnections", Value::Uint(spec.connections)),
        ("TestType", Value::Int(kind)),
        ("NumberOfRequests", Value::Uint(requests)),
        ("TestDuration", Value::Duration(duration)),
        ("Method", Value::text(&spec.method)),
        ("URL", url_value(&spec.url)),
        (
            "Headers",
            Value::list(spec.headers.iter().map(header).collect()),
        ),
        ("Body", Value::text(&spec.body)),
        ("BodyFilePath", optional(&spec.body_file)),
        ("CertPath", optional(&spec.certificate_file)),
        ("KeyPath", optional(&spec.key_file)),
        ("Stream", Value::Bool(spec.stream)),
        ("Timeout", Value::Duration(nanoseconds(spec.timeout))),
        ("ClientType", Value::Int(client)),
        ("Rate", spec.rate.map_or(Value::Nil, Value::Uint)),
    ];
    let answers = [
        ("RequestURL", Value::text(&spec.url)),
        ("IsTimedTest", Value::Bool(kind == 1)),
        ("IsTestWithNumberOfReqs", Value::Bool(kind == 2)),
        ("IsFastHTTP", Value::Bool(client == 0)),
        ("IsNetHTTPV1", Value::Bool(client == 1)),
        ("IsNetHTTPV2", Value::Bool(client == 2)),
    ];
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name, Member::Field(value)));
    let methods = answers
        .into_iter()
        .map(|(name, value)| (name, constant(value)));
    structure(
        "internal.Spec",
        fields.chain(methods).collect(),
        None,
        false,
    )
}

fn url_value(url: &str) -> Value {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (path, query) = rest[end..].split_once('?').unwrap_or((&rest[end..], ""));
    let members = vec![
        ("Scheme", Member::Field(Value::text(scheme))),
        ("Host", Member::Field(Value::text(&rest[..end]))),
        ("Path", Member::Field(Value::text(path))),
        ("RawQuery", Member::Field(Value::text(query))),
        ("String", constant(Value::text(url))),
    ];
    structure("url.URL", members, Some(url.to_owned()), true)
}

fn structure(
    type_name: &'static str,
    members: Vec<(&'static str, Member)>,
    text: Option<String>,
    pointer: bool,
) -> Value {
    Value::Object(Rc::new(Object {
        type_name,
        members,
        text,
        pointer,
    }))
}

/// A method without arguments.
fn constant(value: Value) -> Member {
    Member::Method(Rc::new(move |arguments| match arguments {
        [] => Ok(value.clone()),
        _ => Err(format!(
            "wrong number of args: want 0 got {}",
            arguments.len()
        )),
    }))
}

fn result_value(result: &RunResult, spec: &Spec) -> Value {
    let figures = Figures::of(result, spec);
    let error = |(text, count): &(String, u64)| {
        let fields = vec![("Error", Value::text(text)), ("Count", Value::Uint(*count))];
        Value::object("internal.ErrorWithCount", fields)
    };
    let [s1, s2, s3, s4, s5] = figures.statuses;
    let fields = [
        ("BytesRead", Value::Int(figures.bytes_read as i64)),
        ("BytesWritten", Value::Int(figures.bytes_written as i64)),
        ("TimeTaken", Value::Duration(figures.elapsed_ns as i64)),
        ("Req1XX", Value::Uint(s1)),
        ("Req2XX", Value::Uint(s2)),
        ("Req3XX", Value::Uint(s3)),
        ("Req4XX", Value::Uint(s4)),
        ("Req5XX", Value::Uint(s5)),
        ("Others", Value::Uint(figures.others)),
        (
            "Errors",
            Value::list(figures.errors.iter().map(error).collect()),
        ),
    ];
    let time = result.totals.seen.service_time();
    let latencies = move |arguments: &[Value]| {
        let statistics = figures::latencies(&time, &shares(arguments)?);
        Ok(statistics.map_or(Value::Nil, |s| {
            statistics_value("internal.LatenciesStats", &s, Value::Uint)
        }))
    };
    let windows = result.totals.window_rates.clone();
    let rates = move |arguments: &[Value]| {
        let statistics = figures::rates(&windows, &shares(arguments)?);
        Ok(statistics.map_or(Value::Nil, |s| {
            statistics_value("internal.RequestsStats", &s, Value::Float)
        }))
    };
    let mut members: Vec<(&'static str, Member)> = fields
        .into_iter()
        .map(|(name, value)| (name, Member::Field(value)))
        .collect();
    members.push(("Throughput", constant(Value::Float(figures.throughput()))));
    members.push(("LatenciesStats", Member::Method(Rc::new(latencies))));
    members.push(("RequestsStats", Member::Method(Rc::new(rates))));
    structure("internal.Results", members, None, false)
}

/// The one argument of the statistics: a list of shares.
fn shares(arguments: &[Value]) -> Result<Vec<f64>, String> {
    match arguments {
        [Value::List(list)] => (0..list.len())
            .filter_map(|at| list.get(at))
            .map(|value| value.as_float())
            .collect(),
        _ => Err("want one list of floats (FloatsToArray)".to_owned()),
    }
}

fn statistics_value<T: Copy>(
    type_name: &'static str,
    statistics: &Statistics<T>,
    value: impl Fn(T) -> Value,
) -> Value {
    let row = |(share, at): &(f64, T)| (Value::Float(*share), value(*at));
    let members = vec![
        ("Mean", Member::Field(Value::Float(statistics.mean))),
        ("Stddev", Member::Field(Value::Float(statistics.stdev))),
        ("Max", Member::Field(Value::Float(statistics.max))),
        (
            "Percentiles",
            Member::Field(Value::Map(Rc::new(
                statistics.percentiles.iter().map(row).collect(),
            ))),
        ),
    ];
    structure(type_name, members, None, true)
}
