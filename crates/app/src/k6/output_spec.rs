//! The values of `--out`: the output and its argument.
//!
//! Must not know what an output does. Invariant: the names of outputs are only defined in [`OutputKind::ALL`].

use serde_json::Value;

const EXPERIMENTAL_PROMETHEUS_RW: &str = "experimental-prometheus-rw";
/// The name of k6's extension for `InfluxDB` 2, in whose addresses the path is the bucket.
const XK6_INFLUXDB: &str = "xk6-influxdb";

/// Destinations of results during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Comma-separated values, as k6 writes them.
    Csv,
    /// StatsD with DogStatsD's tags.
    DogStatsd,
    /// InfluxDB, version 1.
    Influx,
    /// InfluxDB, version 2 and 3.
    InfluxV2,
    /// JSON lines, as k6 writes them.
    Json,
    /// JMeter's results.
    Jtl,
    /// Thresholds and checks as JUnit XML.
    Junit,
    /// OpenTelemetry.
    OpenTelemetry,
    /// Prometheus remote write.
    PrometheusRw,
    /// StatsD.
    Statsd,
}

impl OutputKind {
    /// Every kind, in the order of their names.
    pub const ALL: [OutputKind; 10] = [
        OutputKind::Csv,
        OutputKind::DogStatsd,
        OutputKind::Influx,
        OutputKind::InfluxV2,
        OutputKind::Json,
        OutputKind::Jtl,
        OutputKind::Junit,
        OutputKind::OpenTelemetry,
        OutputKind::PrometheusRw,
        OutputKind::Statsd,
    ];

    /// The name before `=`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OutputKind::Csv => "csv",
            OutputKind::DogStatsd => "dogstatsd",
            OutputKind::Influx => "influxdb",
            OutputKind::InfluxV2 => "influxdb-v2",
            OutputKind::Json => "json",
            OutputKind::Jtl => "jtl",
            OutputKind::Junit => "junit",
            OutputKind::OpenTelemetry => "opentelemetry",
            OutputKind::PrometheusRw => "prometheus-rw",
            OutputKind::Statsd => "statsd",
        }
    }

    /// The key of its settings in the JSON options file; `None`: it has none there.
    #[must_use]
    pub fn section(self) -> Option<&'static str> {
        match self {
            OutputKind::PrometheusRw => Some(EXPERIMENTAL_PROMETHEUS_RW),
            _ => None,
        }
    }

    fn of(name: &str) -> Option<OutputKind> {
        match name {
            XK6_INFLUXDB => Some(OutputKind::InfluxV2),
            // k6's own name, and that of the extension before it.
            EXPERIMENTAL_PROMETHEUS_RW | "xk6-prometheus-rw" => Some(OutputKind::PrometheusRw),
            // k6's older name.
            "experimental-opentelemetry" => Some(OutputKind::OpenTelemetry),
            name => OutputKind::ALL.into_iter().find(|kind| kind.name() == name),
        }
    }

    /// Whether it receives series by all their tags instead of single values.
    #[must_use]
    pub fn wants_series(self) -> bool {
        matches!(self, OutputKind::PrometheusRw | OutputKind::OpenTelemetry)
    }

    fn is_file(self) -> bool {
        match self {
            OutputKind::Csv | OutputKind::Json | OutputKind::Jtl | OutputKind::Junit => true,
            OutputKind::DogStatsd
            | OutputKind::Influx
            | OutputKind::InfluxV2
            | OutputKind::OpenTelemetry
            | OutputKind::PrometheusRw
            | OutputKind::Statsd => false,
        }
    }
}

/// File name suffixes that define the format.
const NDJSON: [&str; 3] = [".ndjson", ".ndjson.gz", ".ndjson.zst"];

/// One `--out` option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// The kind of output.
    pub kind: OutputKind,
    /// The text after `=`; `None`: there is none.
    pub argument: Option<String>,
    /// Its settings in the JSON options file; `None`: there are none.
    pub section: Option<Value>,
}

impl OutputSpec {
    /// Whether it writes to standard output.
    #[must_use]
    pub fn is_to_stdout(&self) -> bool {
        self.kind.is_file() && matches!(self.argument.as_deref(), None | Some("" | "-"))
    }

    /// The file that it names; `None`: it writes elsewhere, or variables name the file.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        let argument = self.argument.as_deref().filter(|_| self.kind.is_file())?;
        let settings = || {
            argument
                .split(',')
                .find_map(|pair| pair.strip_prefix("fileName="))
        };
        let file = match (self.kind, argument.split_once('?')) {
            (OutputKind::Csv, Some((file, _))) => file,
            (OutputKind::Csv, None) if argument.contains('=') => settings()?,
            _ => argument,
        };
        Some(file).filter(|file| !matches!(*file, "" | "-"))
    }

    /// Reads the value of `--out`: `KIND`, `KIND=ARGUMENT`, or the name of an `.ndjson` file.
    ///
    /// # Errors
    /// k6's message, with the outputs available here.
    pub fn parse(text: &str) -> Result<OutputSpec, String> {
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument.to_owned())),
            None => (text, None),
        };
        if let Some(kind) = OutputKind::of(name) {
            let argument = match name {
                XK6_INFLUXDB => argument.map(|address| bucket_as_parameter(&address)),
                _ => argument,
            };
            return Ok(OutputSpec {
                kind,
                argument,
                section: None,
            });
        }
        if NDJSON.iter().any(|ending| text.ends_with(ending)) {
            return Ok(OutputSpec {
                kind: OutputKind::Json,
                argument: Some(text.to_owned()),
                section: None,
            });
        }
        let known = OutputKind::ALL.map(OutputKind::name).join(", ");
        Err(format!(
            "invalid output type '{name}', available types are: {known}, and files named *.ndjson, \
             *.ndjson.gz or *.ndjson.zst"
        ))
    }
}

/// An address of the extension with its path as the parameter that it is here.
fn bucket_as_parameter(address: &str) -> String {
    let (front, query) = address.split_once('?').unwrap_or((address, ""));
    let begin = front.find("://").map_or(0, |at| at + "://".len());
    let Some((host, bucket)) = front[begin..].split_once('/') else {
        return address.to_owned();
    };
    // Letters that mean something else in a query.
    let bucket = bucket.replace('+', "%2B").replace('&', "%26");
    let bucket = format!("bucket={bucket}");
    let mut given = vec![query, &bucket];
    given.retain(|part| !matches!(*part, "" | "bucket="));
    let scheme_and_host = format!("{}{host}", &front[..begin]);
    match given.is_empty() {
        true => scheme_and_host,
        false => format!("{scheme_and_host}?{}", given.join("&")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (OutputKind, Option<String>) {
        let spec = OutputSpec::parse(text).expect("it is an output");
        (spec.kind, spec.argument)
    }

    #[test]
    fn kinds_arguments_and_files() {
        for kind in OutputKind::ALL {
            assert_eq!(parse(kind.name()), (kind, None));
        }
        let file = |name: &str| (OutputKind::Json, Some(name.to_owned()));
        assert_eq!(parse("json=a.json"), file("a.json"));
        assert_eq!(parse("out.ndjson.zst"), file("out.ndjson.zst"));
        assert_eq!(parse("b=1/out.ndjson"), file("b=1/out.ndjson"));
        assert_eq!(parse("xk6-influxdb").0, OutputKind::InfluxV2);
        assert_eq!(parse("xk6-prometheus-rw").0, OutputKind::PrometheusRw);
        for (given, read) in [
            ("http://h:8086", "http://h:8086"),
            ("http://h:8086/", "http://h:8086"),
            ("http://h:8086/demo", "http://h:8086?bucket=demo"),
            (
                "https://h/my+b&c?pushInterval=2s",
                "https://h?pushInterval=2s&bucket=my%2Bb%26c",
            ),
        ] {
            let of_extension = parse(&format!("xk6-influxdb={given}"));
            assert_eq!(of_extension.1.as_deref(), Some(read));
        }
        // By our own name the path is the server's.
        assert_eq!(
            parse("influxdb-v2=http://h/demo").1.as_deref(),
            Some("http://h/demo")
        );
        let k6s = parse("experimental-prometheus-rw=http://h/w");
        assert_eq!(k6s.0, OutputKind::PrometheusRw);
        assert_eq!(
            parse("influxdb=http://h/db?a=b").1.as_deref(),
            Some("http://h/db?a=b")
        );
        let error = OutputSpec::parse("kafka=x").expect_err("it is not here");
        assert!(
            error.starts_with("invalid output type 'kafka', available types are: csv, "),
            "{error}"
        );
    }
}
