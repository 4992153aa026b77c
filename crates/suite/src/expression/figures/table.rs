//! The figures that are not from a distribution, as a table.
//!
//! Must not know expressions. Invariant: names are unique, and each has one declaration.
// tidy: table

use loadline_model::RunResult;
use loadline_model::civil::Civil;
use loadline_model::words::command_line;
use serde::Serialize;

use super::read::{check_passes, checks, delivered, failed, finished, generator};
use super::{Dimension, Figure, Read};
use crate::runner::figures::{first_and_last_hour, time_to_first_success, time_to_plateau};

const fn number(
    name: &'static str,
    dimension: Dimension,
    what: &'static str,
    read: fn(&RunResult) -> Option<f64>,
) -> Figure {
    Figure {
        name,
        what,
        read: Read::Number(dimension, read),
    }
}

const fn text(name: &'static str, what: &'static str, read: fn(&RunResult) -> String) -> Figure {
    Figure {
        name,
        what,
        read: Read::Text(read),
    }
}

pub(super) fn find(name: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|figure| figure.name == name)
}

/// The name under which a value is written in data.
fn word<T: Serialize>(value: &T) -> String {
    let written = serde_json::to_value(value).ok();
    let text = written.as_ref().and_then(serde_json::Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Over the measured time, per second.
fn per_second(run: &RunResult, count: u64) -> Option<f64> {
    let seconds = run.totals.measured_ns as f64 / 1e9;
    (seconds > 0.0).then(|| count as f64 / seconds)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Every named figure, in the order of the user documentation.
pub static FIGURES: &[Figure] = &[
    number(
        "rps",
        Dimension::RATE,
        "completed requests per second over the whole measured time",
        |run| Some(run.totals.rates.average),
    ),
    number(
        "steady",
        Dimension::RATE,
        "completed requests per second while the load was held",
        |run| run.totals.rates.steady,
    ),
    number(
        "goodput",
        Dimension::RATE,
        "good requests per second over the whole measured time",
        |run| Some(run.totals.rates.goodput),
    ),
    number(
        "max_rps",
        Dimension::RATE,
        "completed requests in the best second",
        |run| run.totals.rates.max_1s,
    ),
    number(
        "max_5s",
        Dimension::RATE,
        "completed requests per second in the best five seconds in a row",
        |run| run.totals.rates.max_5s,
    ),
    number(
        "offered",
        Dimension::RATE,
        "iterations planned per second (open model)",
        |run| run.totals.rates.offered,
    ),
    number(
        "started",
        Dimension::RATE,
        "requests started per second",
        |run| Some(run.totals.rates.started),
    ),
    number(
        "delivered",
        Dimension::NUMBER,
        "share of the planned iterations that started (open model)",
        delivered,
    ),
    number(
        "requests",
        Dimension::NUMBER,
        "requests that were answered or failed",
        |run| Some(finished(run) as f64),
    ),
    number(
        "completed",
        Dimension::NUMBER,
        "requests answered whole",
        |run| Some(run.totals.seen.counts.completed as f64),
    ),
    number(
        "good",
        Dimension::NUMBER,
        "requests answered whole and passing every check",
        |run| Some(run.totals.seen.counts.good as f64),
    ),
    number("failed", Dimension::NUMBER, "requests that failed", |run| {
        Some(failed(run) as f64)
    }),
    number(
        "interrupted",
        Dimension::NUMBER,
        "requests cut short by the end of the run",
        |run| Some(run.totals.seen.counts.interrupted as f64),
    ),
    number(
        "lost",
        Dimension::NUMBER,
        "requests started by agents that were lost",
        |run| Some(run.totals.seen.counts.lost as f64),
    ),
    number(
        "dropped",
        Dimension::NUMBER,
        "iterations due without a free virtual user",
        |run| Some(run.totals.seen.counts.dropped as f64),
    ),
    number(
        "error_rate",
        Dimension::NUMBER,
        "share of requests that failed or got a wrong response",
        |run| run.totals.seen.counts.outcomes().error_share(),
    ),
    number(
        "good_share",
        Dimension::NUMBER,
        "share of good requests",
        |run| share(run.totals.seen.counts.good, finished(run)),
    ),
    number("data_sent", Dimension::BYTES, "bytes sent", |run| {
        Some(run.totals.seen.counts.bytes_sent as f64)
    }),
    number(
        "data_received",
        Dimension::BYTES,
        "bytes received, heads included",
        |run| Some(run.totals.seen.counts.bytes_received as f64),
    ),
    number(
        "sent_per_s",
        Dimension::BYTE_RATE,
        "bytes sent per second",
        |run| per_second(run, run.totals.seen.counts.bytes_sent),
    ),
    number(
        "received_per_s",
        Dimension::BYTE_RATE,
        "bytes received per second",
        |run| per_second(run, run.totals.seen.counts.bytes_received),
    ),
    number(
        "throughput",
        Dimension::BYTE_RATE,
        "bytes sent and received per second",
        |run| {
            let counts = &run.totals.seen.counts;
            per_second(run, counts.bytes_sent + counts.bytes_received)
        },
    ),
    number(
        "body_size",
        Dimension::BYTES,
        "mean length of the bodies received",
        |run| {
            let counts = &run.totals.seen.counts;
            (counts.completed > 0).then(|| counts.body_bytes as f64 / counts.completed as f64)
        },
    ),
    number(
        "duration",
        Dimension::TIME,
        "the measured time, warm-up left out",
        |run| Some(run.totals.measured_ns as f64 / 1e9),
    ),
    number(
        "elapsed",
        Dimension::TIME,
        "from the start of the run to its last response",
        |run| Some(run.totals.elapsed_ns as f64 / 1e9),
    ),
    number("vus", Dimension::NUMBER, "peak number of busy VUs", |run| {
        Some(run.totals.active_vus_max as f64)
    }),
    number(
        "vus_planned",
        Dimension::NUMBER,
        "most virtual users of the plan",
        |run| Some(f64::from(run.plan.max_vus())),
    ),
    number(
        "checks",
        Dimension::NUMBER,
        "share of checks that held",
        checks,
    ),
    number(
        "check_passes",
        Dimension::NUMBER,
        "checks that held",
        |run| check_passes(run).map(|(passes, _)| passes as f64),
    ),
    number(
        "check_fails",
        Dimension::NUMBER,
        "checks that failed",
        |run| check_passes(run).map(|(_, fails)| fails as f64),
    ),
    number(
        "thresholds_failed",
        Dimension::NUMBER,
        "thresholds that were crossed",
        |run| Some(run.thresholds.iter().filter(|held| !held.passed).count() as f64),
    ),
    number(
        "time_to_first_success",
        Dimension::TIME,
        "from the start of the run to its first good response, to the second",
        time_to_first_success,
    ),
    number(
        "plateau_rps",
        Dimension::RATE,
        "the level that the rate settled on",
        |run| time_to_plateau(run).map(|found| found.1),
    ),
    number(
        "time_to_plateau",
        Dimension::TIME,
        "from the start of the load until the rate had settled",
        |run| time_to_plateau(run).map(|found| found.0),
    ),
    number(
        "first_hour.rps",
        Dimension::RATE,
        "completed requests per second in the first hour of two or more",
        |run| first_and_last_hour(run).map(|(first, _)| first.throughput),
    ),
    number(
        "last_hour.rps",
        Dimension::RATE,
        "completed requests per second in the last hour of two or more",
        |run| first_and_last_hour(run).map(|(_, last)| last.throughput),
    ),
    number(
        "first_hour.p99",
        Dimension::TIME,
        "mean of the seconds' p99, weighted by requests, in the first hour of two or more",
        |run| first_and_last_hour(run).and_then(|(first, _)| Some(first.p99_ms? / 1e3)),
    ),
    number(
        "last_hour.p99",
        Dimension::TIME,
        "mean of the seconds' p99, weighted by requests, in the last hour of two or more",
        |run| first_and_last_hour(run).and_then(|(_, last)| Some(last.p99_ms? / 1e3)),
    ),
    number(
        "first_hour.error_rate",
        Dimension::NUMBER,
        "share of requests that failed or got a wrong response in the first hour of two or more",
        |run| first_and_last_hour(run).and_then(|(first, _)| first.outcomes.error_share()),
    ),
    number(
        "last_hour.error_rate",
        Dimension::NUMBER,
        "share of requests that failed or got a wrong response in the last hour of two or more",
        |run| first_and_last_hour(run).and_then(|(_, last)| last.outcomes.error_share()),
    ),
    number(
        "generator.cpu",
        Dimension::CORES,
        "most cores that the generator used in a second",
        |run| generator(run, |used| used.cpu_cores),
    ),
    number(
        "generator.cpu_avg",
        Dimension::CORES,
        "cores that the generator used in the mean",
        |run| run.totals.cpu_cores(),
    ),
    number(
        "generator.memory",
        Dimension::BYTES,
        "most resident memory of the generator",
        |run| Some(run.totals.rss_max_bytes as f64),
    ),
    number(
        "rate_error",
        Dimension::NUMBER,
        "half width of the 95 % interval of the mean rate within the run, as a share",
        |run| run.verdict.rate_error,
    ),
    number(
        "saturation.offered",
        Dimension::RATE,
        "offered load at the saturation point",
        |run| run.verdict.saturation.map(|knee| knee.offered),
    ),
    number(
        "saturation.throughput",
        Dimension::RATE,
        "highest completed rate beyond it",
        |run| run.verdict.saturation.map(|knee| knee.throughput),
    ),
    text("verdict.headline", "the verdict in one sentence", |run| {
        run.verdict.headline.clone()
    }),
    text("verdict.limit", "who limited the run", |run| {
        word(&run.verdict.limit)
    }),
    text(
        "verdict.delivery",
        "whether the load was delivered",
        |run| word(&run.verdict.delivery),
    ),
    text("stop", "why the run ended", |run| word(&run.totals.stop)),
    text("started_at", "when the run began", |run| {
        Civil::of_unix_s(run.totals.started_unix_ms / 1000).to_string()
    }),
    text("command", "the command line of the run", |run| {
        command_line(&run.environment.command)
    }),
    text("loadline", "the version that made the run", |run| {
        run.environment.loadline.clone()
    }),
    text("system", "the generator's operating system", |run| {
        run.environment.system.clone()
    }),
    text("host", "the generator's host", |run| {
        run.environment.host.clone()
    }),
    text("processor", "the generator's processor", |run| {
        run.environment.processor.clone()
    }),
];
