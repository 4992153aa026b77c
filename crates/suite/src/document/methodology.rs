//! How the figures were obtained: versions, machine, protocol, sizes, durations, load, limits, commands.
//!
//! Derived from the results themselves, so it cannot differ from what was done. Must not know kinds of
//! documents. Invariant: each fact once, in the order of the rows.

use loadline_model::client::Protocol;
use loadline_model::executor::Executor;
use loadline_model::observation::{Aggregation, Span, limited_by};
use loadline_model::request::BodySource;
use loadline_model::words::command_line;
use loadline_model::{Behaviour, RunResult, Scenario};

use super::contention;
use crate::expression::{Dimension, Quantity, Value};
use crate::format::{Blank, Format, ListStyle};
use crate::outcome::{RowOutcome, SuiteOutcome};

/// Maximum distinct values shown per fact; further ones are only counted.
const DISTINCT_MAX: usize = 12;

/// One fact.
pub(super) struct MethodologyFact {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
    /// Whether the values are commands.
    pub(super) is_code: bool,
}

pub(super) fn entries(outcome: &SuiteOutcome) -> Vec<MethodologyFact> {
    let runs: Vec<&RunResult> = outcome
        .rows
        .iter()
        .flat_map(|row| &row.runs)
        .map(|run| &*run.result)
        .collect();
    // The version is told of the runs: it may be another one than that of the suite.
    let is_own = |name: &str| !["state", "loadline"].contains(&name);
    let facts = outcome.facts.iter().filter(|(name, _)| is_own(name));
    let mut entries = vec![
        entry(
            "Suite",
            facts.map(|(name, value)| format!("{name}: {value}")),
        ),
        entry(
            "Made with",
            runs.iter()
                .map(|run| format!("loadline {}", run.environment.loadline)),
        ),
        entry("Load generator", runs.iter().map(|run| machine(run))),
        entry(
            "Limits of the generator",
            runs.iter().flat_map(|run| generator_limits(run)),
        ),
        entry(
            "Contention of the generator",
            contention::of_generator(&runs).into_iter(),
        ),
        entry("Protocol", runs.iter().map(|run| protocol(run))),
        entry("Request body", runs.iter().flat_map(|run| bodies(run))),
        entry(
            "Response body",
            sizes(&runs, |run| {
                let counts = &run.totals.seen.counts;
                (counts.completed > 0).then(|| counts.body_bytes as f64 / counts.completed as f64)
            }),
        ),
        entry(
            "Load",
            runs.iter()
                .flat_map(|run| run.plan.scenarios.iter().map(load)),
        ),
        entry(
            "Measured duration of a run",
            runs.iter().map(|run| measured_time(run)),
        ),
        entry("Repetitions", outcome.rows.iter().filter_map(repetitions)),
        entry(
            "Observed limits",
            runs.iter().flat_map(|run| service_limits(run)),
        ),
        entry(
            "Observed contention",
            contention::of_services(&runs).into_iter(),
        ),
    ];
    let mut commands = entry(
        "Commands",
        runs.iter()
            .map(|run| command_line(&run.environment.command)),
    );
    commands.is_code = true;
    entries.push(commands);
    entries.retain(|entry| !entry.values.is_empty());
    entries
}

fn measured_time(run: &RunResult) -> String {
    let warm_up = run.plan.warm_up.as_secs_f64();
    let measured = span(run.totals.measured_ns as f64 / 1e9);
    if warm_up > 0.0 {
        format!("{measured}, after {} of warm-up", span(warm_up))
    } else {
        measured
    }
}

fn repetitions(row: &RowOutcome) -> Option<String> {
    match row.runs.len() {
        0 => None,
        1 => Some("one run of a row".to_owned()),
        runs => Some(format!("{runs} runs of a row")),
    }
}

fn entry(name: &'static str, values: impl Iterator<Item = String>) -> MethodologyFact {
    let mut distinct: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for value in values.filter(|value| !value.is_empty()) {
        if distinct.contains(&value) {
            continue;
        }
        if distinct.len() < DISTINCT_MAX {
            distinct.push(value);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        distinct.push("and others".to_owned());
    }
    MethodologyFact {
        name,
        values: distinct,
        is_code: false,
    }
}

fn written(format: &str, amount: f64, dimension: Dimension) -> String {
    let format: Format = format
        .parse()
        .expect("formats of this file are read in its tests");
    let mut out = String::new();
    let value = [Value::Number(Quantity { amount, dimension })];
    format.write(&value, &Blank::Empty, &ListStyle::default(), &mut out);
    out
}

fn span(seconds: f64) -> String {
    written("{:~1clock}", seconds, Dimension::TIME)
}

fn bytes(amount: f64) -> String {
    written("{:=3 auto}", amount, Dimension::BYTES)
}

fn machine(run: &RunResult) -> String {
    let of = &run.environment;
    let cores = written("{:~2}", of.cores, Dimension::NUMBER);
    let known = [
        of.system.clone(),
        of.processor.clone(),
        format!("{cores} cores"),
    ];
    let known: Vec<String> = known.into_iter().filter(|text| !text.is_empty()).collect();
    known.join(", ")
}

fn generator_limits(run: &RunResult) -> Vec<String> {
    let of = &run.environment;
    let memory = of
        .memory_limit_bytes
        .map(|limit| format!("memory {}", bytes(limit as f64)));
    let files = of.open_files_max.map(|limit| format!("{limit} open files"));
    memory.into_iter().chain(files).collect()
}

fn protocol(run: &RunResult) -> String {
    let name = match run.plan.client.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Negotiate { .. } => "HTTP/2 where offered, else HTTP/1.1",
        Protocol::Http2 { .. } => "HTTP/2",
    };
    let kept = if run.plan.client.keep_alive {
        "connections kept alive"
    } else {
        "a new connection for each request"
    };
    format!("{name}, {kept}")
}

fn bodies(run: &RunResult) -> Vec<String> {
    let mixes = run.plan.scenarios.iter().filter_map(Scenario::requests);
    let requests = mixes.flat_map(|mix| &mix.requests);
    let declared: Vec<String> = requests.filter_map(|request| body(&request.body)).collect();
    if !declared.is_empty() || run.summary.is_none() {
        return declared;
    }
    let counts = &run.totals.seen.counts;
    let mean = (counts.started > 0).then(|| counts.bytes_sent as f64 / counts.started as f64);
    mean.map(|mean| {
        format!(
            "{} sent per request on average, its head included",
            bytes(mean)
        )
    })
    .into_iter()
    .collect()
}

fn body(source: &BodySource) -> Option<String> {
    match source {
        BodySource::None => None,
        BodySource::Bytes { length, .. } | BodySource::StreamBytes { length, .. } => {
            Some(bytes(*length as f64))
        }
        BodySource::Template { template } => Some(format!(
            "varying, from a text of {}",
            bytes(template.source().len() as f64)
        )),
        BodySource::StreamFile { path } => Some(format!("the file {}", path.display())),
    }
}

/// The range of a size over all runs.
fn sizes(
    runs: &[&RunResult],
    of: impl Fn(&RunResult) -> Option<f64>,
) -> std::option::IntoIter<String> {
    let all = || runs.iter().filter_map(|run| of(run));
    let range = all().reduce(f64::min).zip(all().reduce(f64::max));
    let told = range.map(|(least, most)| {
        let (least, most) = (bytes(least), bytes(most));
        if least == most {
            format!("{most} on average")
        } else {
            format!("{least} to {most} on average")
        }
    });
    told.into_iter()
}

fn load(scenario: &Scenario) -> String {
    let executor = &scenario.executor;
    if let Behaviour::Steps(_) = scenario.behaviour {
        return format!("{} threads of {}", executor.max_vus(), scenario.name);
    }
    let users = match executor.max_vus() {
        1 => "1 VU".to_owned(),
        vus => format!("{vus} VUs"),
    };
    let size = match executor.peak_rate() {
        Some(rate) => format!(
            "{} at most, {users}",
            written("{:~2 /s}", rate, Dimension::RATE)
        ),
        None => users,
    };
    let stages = match executor {
        Executor::RampingVus { stages, .. } => stages
            .iter()
            .map(|stage| format!("{} in {}", stage.target, span(stage.duration.as_secs_f64())))
            .collect(),
        _ => Vec::new(),
    };
    let mut parts = vec![executor.name().to_owned(), size];
    if !stages.is_empty() {
        parts.push(stages.join(", then "));
    }
    if let Some(iterations) = executor.planned_iterations() {
        parts.push(format!("{iterations} iterations"));
    } else if let Some(time) = executor.duration() {
        parts.push(span(time.as_secs_f64()));
    }
    parts.join(", ")
}

fn service_limits(run: &RunResult) -> Vec<String> {
    let limits = run
        .observations
        .series
        .iter()
        .filter_map(|series| Some((series, limited_by(&series.metric)?)));
    let told = limits.filter_map(|(series, what)| {
        let amount = series.aggregate(Aggregation::Last, Span::ALL)?;
        let dimension = Dimension::of_metric(&series.metric).unwrap_or(Dimension::NUMBER);
        let amount = match dimension {
            Dimension::BYTES => written("{:=3 autoi}", amount, dimension),
            Dimension::CORES => written("{:~3 cores}", amount, dimension),
            _ => written("{:~3}", amount, Dimension::NUMBER),
        };
        Some(format!("{}: {what} {amount}", series.component))
    });
    told.collect()
}
