//! Options: what is judged, kept and shown.
//!
//! Must not know sinks or terminals. Invariant: one declaration per option.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use loadline_metric::threshold::Threshold;
use loadline_model::Check;

use crate::cli::values;
use crate::k6::OutputSpec;

/// What is judged, kept and shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// What an answer must satisfy to count as goodput (repeatable) [default: a status from 200 to 399]
    ///
    /// Forms: status=200, status=2xx, status!=500, header:NAME, header:NAME=TEXT, header:NAME=~REGEX,
    /// body=TEXT, body~REGEX, body!~REGEX, json:PATH, json:PATH=VALUE, json:PATH=~REGEX, json:PATH>N,
    /// size>N, size=N, time<50ms.
    #[arg(long, value_name = "CHECK", value_parser = Check::parse)]
    pub expect: Vec<Check>,
    /// What must hold at the end, else exit code 99 (repeatable)
    ///
    /// As in p(99)<50ms, response_time:p(95)<100ms, error_rate<1%, goodput>500.
    #[arg(long, value_name = "CONDITION", value_parser = threshold)]
    pub threshold: Vec<Threshold>,
    /// Count answers and times for each value of a response header: header:NAME
    #[arg(long, value_name = "WHAT", value_parser = by)]
    pub by: Option<String>,
    /// Write the JSON result to a file; - writes it, and nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the report as one HTML file, with charts
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write each chart into this folder as SVG and as PNG: throughput, percentiles, heatmap, generator
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// Serve a live page of the run at this address [without a value: 127.0.0.1:5665]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true,
        default_missing_value = "127.0.0.1:5665")]
    pub web: Option<String>,
    /// What the live page wants to be sent; off: nothing [default: $LOADLINE_CONTROL_TOKEN, else made
    /// anew, but nothing on loopback]
    #[arg(long, value_name = "TOKEN", requires = "web")]
    pub control_token: Option<String>,
    /// A further name that the live page may be called by; *: any (repeatable) [default:
    /// $LOADLINE_CONTROL_HOSTS]
    #[arg(long, value_name = "NAME", requires = "web")]
    pub control_host: Vec<String>,
    /// In the JSON result, each time metric also as compressed HdrHistogram V2 in base64
    #[arg(long, requires = "json")]
    pub hdr: bool,
    /// Write every sample to a CSV file; - writes them, and nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Send results there while the run lasts (repeatable)
    ///
    /// json=FILE, csv=FILE, FILE.ndjson.zst, jtl=FILE, junit=FILE, influxdb=URL, influxdb-v2=URL,
    /// statsd=HOST:PORT, dogstatsd=HOST:PORT, prometheus-rw=URL, opentelemetry=URL; docs/outputs.md has
    /// their settings.
    #[arg(short = 'o', long, value_name = "TYPE[=ARGUMENT]", value_parser = OutputSpec::parse)]
    pub out: Vec<OutputSpec>,
    /// Fail at the end when an output of --out lost something
    #[arg(long, env = "LOADLINE_STRICT_OUTPUTS", value_parser = FalseyValueParser::new())]
    pub strict_outputs: bool,
    /// Ask Prometheus at the end whether it has what was measured
    #[arg(long, env = "LOADLINE_AUDIT", value_parser = FalseyValueParser::new())]
    pub audit: bool,
    /// Journal of the run, for `loadline report` after a crash [default: a file in $LOADLINE_STATE or
    /// the user's folder of states, removed after a clean end]
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<String>,
    /// No journal
    #[arg(long)]
    pub no_journal: bool,
    /// Label NAME=VALUE carried into the result (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    pub label: Vec<(String, String)>,
    /// Tag NAME=VALUE of everything that outputs get, so that a receiver tells runs apart (repeatable)
    ///
    /// As in --tag testid=nightly-7, by which the dashboards of deploy/grafana choose runs.
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    pub tag: Vec<(String, String)>,
    /// Show the run on the whole screen: charts, errors, thresholds; q stops, ? tells the keys
    #[arg(long, conflicts_with = "quiet")]
    pub tui: bool,
    /// No progress
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// No colours
    #[arg(long)]
    pub no_color: bool,
}

fn threshold(text: &str) -> Result<Threshold, String> {
    text.parse()
        .map_err(|error: loadline_metric::threshold::ParseError| error.to_string())
}

fn by(text: &str) -> Result<String, String> {
    let name = text
        .strip_prefix("header:")
        .ok_or_else(|| format!("{text:?} is not known; write header:NAME"))?;
    values::header_name(name).map(|()| name.to_owned())
}
