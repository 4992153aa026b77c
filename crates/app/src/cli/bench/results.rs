//! Options: checks, thresholds, files and displays of results.
//!
//! Must not know sinks or terminals. Invariant: one declaration per option.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgGroup, Args};
use loadline_metric::threshold::Threshold;
use loadline_model::Check;

use crate::cli::values;
use crate::k6::OutputSpec;

/// What is judged, kept and shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results", group = ArgGroup::new("served").args(["web", "address"]).multiple(true))]
pub struct ResultArgs {
    /// Check that a response must pass to count as goodput (repeatable) [default: status 200 to 399]
    ///
    /// Forms: status=200, status=2xx, status!=500, header:NAME, header:NAME=TEXT, header:NAME=~REGEX,
    /// body=TEXT, body~REGEX, body!~REGEX, json:PATH, json:PATH=VALUE, json:PATH=~REGEX, json:PATH>N,
    /// size>N, size=N, time<50ms.
    #[arg(long, value_name = "CHECK", value_parser = Check::parse)]
    pub expect: Vec<Check>,
    /// Fail with exit code 99 unless this condition holds at the end (repeatable)
    ///
    /// As in p(99)<50ms, response_time:p(95)<100ms, error_rate<1%, goodput>500.
    #[arg(long, value_name = "CONDITION", value_parser = threshold)]
    pub threshold: Vec<Threshold>,
    /// Break results down by the value of a response header: header:NAME
    #[arg(long, value_name = "WHAT", value_parser = by)]
    pub by: Option<String>,
    /// Write the JSON result to a file; - writes only the result to standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write a self-contained HTML report with charts
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write charts to DIR as SVG and PNG: throughput, percentiles, heat map, generator
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// Serve a live page of the run [without a value: 127.0.0.1:5665]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true,
        default_missing_value = "127.0.0.1:5665")]
    pub web: Option<String>,
    /// Serve a REST API that can stop the run: docs/control.md
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// Token that clients of the live page and the REST API must send; off disables it [default: $LOADLINE_CONTROL_TOKEN,
    /// else none on loopback and random elsewhere]
    #[arg(long, value_name = "TOKEN", requires = "served")]
    pub control_token: Option<String>,
    /// Accept this host name for the live page and the REST API; * accepts any (repeatable) [default:
    /// $LOADLINE_CONTROL_HOSTS]
    #[arg(long, value_name = "NAME", requires = "served")]
    pub control_host: Vec<String>,
    /// Add compressed HdrHistogram V2 data (base64) to the JSON result
    #[arg(long, requires = "json")]
    pub hdr: bool,
    /// Write every sample to a CSV file; - writes only the samples to standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Send results to an output during the run (repeatable)
    ///
    /// json=FILE, csv=FILE, FILE.ndjson.zst, jtl=FILE, junit=FILE, influxdb=URL, influxdb-v2=URL,
    /// statsd=HOST:PORT, dogstatsd=HOST:PORT, prometheus-rw=URL, opentelemetry=URL; see docs/outputs.md for
    /// settings.
    #[arg(short = 'o', long, value_name = "TYPE[=ARGUMENT]", value_parser = OutputSpec::parse)]
    pub out: Vec<OutputSpec>,
    /// Fail the run when an output lost data
    #[arg(long, env = "LOADLINE_STRICT_OUTPUTS", value_parser = FalseyValueParser::new())]
    pub strict_outputs: bool,
    /// After the run, verify that Prometheus received everything that was measured
    #[arg(long, env = "LOADLINE_AUDIT", value_parser = FalseyValueParser::new())]
    pub audit: bool,
    /// Write the run's journal here, for `loadline report` after a crash [default: a file in
    /// $LOADLINE_STATE or the user's state directory, removed after a clean end]
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<String>,
    /// Write no journal
    #[arg(long)]
    pub no_journal: bool,
    /// Add a label NAME=VALUE to the result (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    pub label: Vec<(String, String)>,
    /// Tag everything sent to outputs, to tell runs apart (repeatable)
    ///
    /// For example --tag testid=nightly-7: the dashboards in deploy/grafana select runs by testid.
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    pub tag: Vec<(String, String)>,
    /// Show a full-screen dashboard: charts, errors, thresholds; q stops, ? lists the keys
    #[arg(long, conflicts_with = "quiet")]
    pub tui: bool,
    /// Hide the progress
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Disable colors
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
