//! Where every single value of a script run goes: one thread per `--out`.
//!
//! Must not know layouts. Invariant: what an output could not write is told at the end, with an exit
//! code of its own.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use loadline_metric::{MetricId, MetricRegistry};
use loadline_model::TestPlan;
use loadline_model::snapshot::TaggedValues;
use loadline_model::system_tags::SystemTag;
use loadline_model::threshold_plan::ThresholdPlan;
use loadline_output::k6_csv::{CsvOptions, TimeFormat};
use loadline_output::k6_lines::{
    Destination, LineSink, MetricDescription, SubMetricDescription, ThresholdDescription,
};
use loadline_output::{k6_csv, k6_json};

use crate::Env;
use crate::k6::duration::GoDuration;
use crate::k6::{K6Error, OutputKind, OutputSpec};

/// Batches of values between the workers and each output: a second of heavy load.
const BATCHES: usize = 256;

/// The outputs of a run.
pub(crate) struct Outputs {
    /// Each with its name for messages.
    sinks: Vec<(String, LineSink)>,
    /// Hands every batch to each of several sinks.
    fan: Option<thread::JoinHandle<()>>,
}

type Values = Vec<TaggedValues>;

/// Starts the outputs; gives where the run is to send its values, if anywhere.
///
/// # Errors
/// A file that cannot be written, or a setting that means nothing.
pub(crate) fn start(
    specs: &[OutputSpec],
    plan: &Arc<TestPlan>,
    registry: &Arc<MetricRegistry>,
    env: &Env,
) -> Result<(Outputs, Option<SyncSender<Values>>), K6Error> {
    let mut sinks = Vec::new();
    let mut senders = Vec::new();
    for spec in specs {
        let (sender, receiver) = sync_channel(BATCHES);
        sinks.push(start_one(spec, receiver, plan, registry, env)?);
        senders.push(sender);
    }
    let (fan, sender) = match senders.len() {
        0 => (None, None),
        1 => (None, senders.pop()),
        _ => {
            let (sender, receiver) = sync_channel(BATCHES);
            let fan = thread::Builder::new()
                .name("outputs".to_owned())
                .spawn(move || hand_out(&receiver, &senders))
                .map_err(|error| K6Error::other(format!("no thread for outputs: {error}")))?;
            (Some(fan), Some(sender))
        }
    };
    Ok((Outputs { sinks, fan }, sender))
}

fn hand_out(receiver: &Receiver<Values>, senders: &[SyncSender<Values>]) {
    while let Ok(batch) = receiver.recv() {
        for sender in senders {
            // An output that ended has said why.
            drop(sender.send(batch.clone()));
        }
    }
}

fn start_one(
    spec: &OutputSpec,
    receiver: Receiver<Values>,
    plan: &Arc<TestPlan>,
    registry: &Arc<MetricRegistry>,
    env: &Env,
) -> Result<(String, LineSink), K6Error> {
    let (registry, thresholds) = (Arc::clone(registry), Arc::clone(plan));
    let describe = move |metric| describe(metric, &registry, &thresholds.script_thresholds);
    let argument = spec.argument.as_deref().unwrap_or_default();
    let started = match spec.kind {
        OutputKind::Json => {
            let destination = destination(argument)?;
            k6_json::start(destination, receiver, describe)
        }
        OutputKind::Csv => {
            let (file, options) = csv_settings(argument, plan, env)?;
            k6_csv::start(destination(&file)?, options, receiver, describe)
        }
    };
    let sink =
        started.map_err(|error| K6Error::other(format!("no thread for outputs: {error}")))?;
    Ok((describe_output(spec), sink))
}

/// `json (out.json)`, as the head of the run names it.
pub(crate) fn describe_output(spec: &OutputSpec) -> String {
    let kind = match spec.kind {
        OutputKind::Json => "json",
        OutputKind::Csv => "csv",
    };
    let argument = spec.argument.as_deref().unwrap_or_default();
    match argument.split_once('?').map_or(argument, |(file, _)| file) {
        "" | "-" => format!("{kind} (stdout)"),
        file => format!("{kind} ({file})"),
    }
}

fn destination(file: &str) -> Result<Destination, K6Error> {
    if file.is_empty() || file == "-" {
        return Ok(Destination::stream(io::stdout()));
    }
    Destination::create(Path::new(file))
        .map_err(|error| K6Error::other(format!("the output {file} cannot be written: {error}")))
}

/// The file and the layout of a CSV output: `file?saveInterval=1s&timeFormat=unix`, over `K6_CSV_*`.
fn csv_settings(
    argument: &str,
    plan: &TestPlan,
    env: &Env,
) -> Result<(String, CsvOptions), K6Error> {
    let (file, query) = argument.split_once('?').unwrap_or((argument, ""));
    let mut file = file.to_owned();
    let mut time_format = env.get("K6_CSV_TIME_FORMAT").unwrap_or("unix").to_owned();
    if file.is_empty() {
        env.get("K6_CSV_FILENAME")
            .unwrap_or_default()
            .clone_into(&mut file);
    }
    for pair in query.split(['&', ',']).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            // Rows are written as they come: there is no interval to wait for.
            Some(("saveInterval", _)) => {}
            Some(("timeFormat", value)) => value.clone_into(&mut time_format),
            Some(("fileName", value)) => value.clone_into(&mut file),
            _ => {
                return Err(K6Error::other(format!(
                    "unknown setting {pair:?} of the output csv; there are saveInterval, \
                     timeFormat and fileName"
                )));
            }
        }
    }
    let time_format: TimeFormat = time_format
        .parse()
        .map_err(|error: k6_csv::UnknownTimeFormat| K6Error::other(error.to_string()))?;
    let system_tags = plan
        .script
        .as_deref()
        .map(|script| script.series.system_tags);
    let columns = system_tags.unwrap_or_default();
    let tag_columns = columns
        .iter()
        .filter(|tag| !matches!(tag, SystemTag::Vu | SystemTag::Iter))
        .map(|tag| tag.name().to_owned())
        .collect();
    Ok((
        file,
        CsvOptions {
            tag_columns,
            time_format,
        },
    ))
}

fn describe(
    metric: MetricId,
    registry: &MetricRegistry,
    thresholds: &[ThresholdPlan],
) -> MetricDescription {
    let definition = registry.get(metric);
    let definition = definition.expect("a value's metric was declared before the value");
    let of_metric = thresholds
        .iter()
        .filter(|threshold| *threshold.selector().metric == *definition.name);
    let mut own = Vec::new();
    let mut sub_metrics: Vec<SubMetricDescription> = Vec::new();
    for threshold in of_metric {
        match threshold.suffix() {
            None => own.push(ThresholdDescription {
                source: threshold.condition.source.to_string(),
                abort_on_fail: threshold.abort_on_fail,
                delay_abort_eval: told_delay(threshold.delay_abort_eval),
            }),
            Some(suffix) if sub_metrics.iter().all(|known| known.suffix != suffix) => {
                sub_metrics.push(SubMetricDescription {
                    suffix: suffix.to_owned(),
                    tags: threshold.selector().tags,
                });
            }
            Some(_) => {}
        }
    }
    MetricDescription {
        definition,
        thresholds: own,
        sub_metrics,
    }
}

/// A delay as k6 tells it; `None`: there is none.
fn told_delay(delay: Duration) -> Option<String> {
    let milliseconds = delay.as_secs_f64() * 1e3;
    (!delay.is_zero()).then(|| GoDuration::from_milliseconds(milliseconds).to_string())
}

impl Outputs {
    /// Waits for the last line; gives what could not be written. The run's sender must be gone.
    pub(crate) fn finish(self) -> Vec<String> {
        if let Some(fan) = self.fan
            && fan.join().is_err()
        {
            return vec!["the outputs' thread failed; this is a defect of loadline".to_owned()];
        }
        let told = self.sinks.into_iter().map(|(name, sink)| {
            let report = sink.finish();
            let error = report.error?;
            Some(format!(
                "the output {name} lost {} values: {error}",
                report.lost
            ))
        });
        told.flatten().collect()
    }
}
