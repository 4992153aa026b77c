//! Destinations of a run's results while it runs: the outputs of `--out`.
//!
//! Two kinds of sink: those of every single value get batches of values through their own channel, those of
//! events get the run's events. Must not know layouts or protocols. Invariants: data that an output lost, and
//! delays of the run by outputs, are reported at the end; the channel ends with [`Outputs::finish`], whatever
//! still measures.

mod closing;
mod describe;
mod ending;
mod events;
mod fan;
mod files;
mod influxdb;
mod opentelemetry;
mod prometheus;
mod samples;
mod statsd;
mod values;
mod variables;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use loadline_engine::batches::ValueSender;
use loadline_metric::MetricRegistry;
use loadline_model::audit::{AUDITS_VARIABLE, AuditedOutput};
use loadline_model::sample::TaggedValues;
use loadline_model::{RunEvent, TestPlan};
use loadline_output::{OnTrouble, SinkReport};

use crate::Env;
use crate::k6::{K6Error, OutputKind, OutputSpec};
use crate::terminal::signals;
use closing::End;
use ending::Closed;
use events::{EventOutput, EventReport};
use influxdb::Version;
use values::{Start, ValueOutput};

pub(crate) use fan::Fan;
pub(crate) use files::files_of;
pub(crate) use samples::Conversion;

/// Batches of values between the workers and each output: a second of heavy load.
const BATCHES: usize = 256;

/// Values recorded with the same tags at the same time.
type Values = Vec<TaggedValues>;

/// The input for starting outputs.
pub(crate) struct Wanted<'a> {
    /// The values of `--out`, in order.
    pub(crate) specs: &'a [OutputSpec],
    /// The name of the run, such as that of its script.
    pub(crate) name: &'a str,
    /// The plan.
    pub(crate) plan: &'a Arc<TestPlan>,
    /// The metrics of the values.
    pub(crate) registry: &'a Arc<MetricRegistry>,
    /// Variables with the outputs' settings.
    pub(crate) env: &'a Env,
    /// Called, with one line, when an output starts to fail.
    pub(crate) on_trouble: OnTrouble,
    /// Called, with one line, for useful information.
    pub(crate) on_note: OnTrouble,
    /// Whether receivers that support it are audited at the end.
    pub(crate) audits: bool,
}

/// The outputs of a run.
pub(crate) struct Outputs {
    /// The only sender of the values' channel: it keeps the outputs of values running.
    channel: Option<Arc<SyncSender<Values>>>,
    values: Vec<Named<ValueOutput>>,
    events: Vec<Named<EventOutput>>,
    /// Passes every batch to each of several outputs.
    fan: Option<Fan>,
    /// Called, with one line, for useful information.
    on_note: OnTrouble,
    /// Where the outcomes of audits are left; `None`: nowhere.
    audits_file: Option<PathBuf>,
}

/// An output with its name in messages.
struct Named<T> {
    name: String,
    output: T,
}

impl<T> Named<T> {
    fn map<U>(self, wrap: impl FnOnce(T) -> U) -> Named<U> {
        Named {
            name: self.name,
            output: wrap(self.output),
        }
    }
}

/// The outcome of an output or of the fan.
enum Ended {
    Values(SinkReport),
    Events(EventReport),
    /// How long each output of values was waited for; `None`: the measuring thread panicked.
    Fan(Option<Vec<u64>>),
}

/// The report about outputs, with that of the fan last; `None`: it was not waited for.
fn closed(names: Vec<String>, ended: Vec<Option<Ended>>, held_up_ns: u64) -> Closed {
    let (mut values, mut events, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut audits = Vec::new();
    let mut waited_ns = Some(Vec::new());
    let names = names.into_iter().map(Some).chain([None]);
    for (name, ended) in names.zip(ended) {
        match (name, ended) {
            (Some(name), Some(Ended::Values(output))) => values.push(Named { name, output }),
            (Some(name), Some(Ended::Events(report))) => {
                audits.extend(report.audit.map(|audit| AuditedOutput {
                    output: name.clone(),
                    audit,
                }));
                events.push(Named {
                    name,
                    output: report.failure,
                });
            }
            (_, Some(Ended::Fan(waited))) => waited_ns = waited,
            (Some(name), _) => left.push(name),
            (None, _) => {}
        }
    }
    let mut closed = Closed::of(&values, &events, held_up_ns, waited_ns);
    closed.audits = audits;
    if !left.is_empty() {
        // The output that was waited for most is unknown if some are missing.
        closed.held_up = None;
    }
    closed
        .lost
        .extend(left.iter().map(|name| ending::left(name)));
    closed
}

/// Refuses an audit that has nothing to check. In the environment it is a setting for all runs, also for those
/// without the output.
///
/// # Errors
/// The audit was requested by its flag, and no output can be audited.
pub(crate) fn check_audit(specs: &[OutputSpec], audits: bool, env: &Env) -> Result<(), String> {
    let can_be = |spec: &OutputSpec| matches!(spec.kind, OutputKind::PrometheusRw);
    match audits && !env.is_on("LOADLINE_AUDIT") && !specs.iter().any(can_be) {
        true => {
            Err("--audit needs an output that it can check; add -o prometheus-rw=URL".to_owned())
        }
        false => Ok(()),
    }
}

/// Starts the outputs; returns the sender for the run's values, if any output uses them.
///
/// # Errors
/// An unwritable file, or an invalid setting.
pub(crate) fn start(wanted: &Wanted<'_>) -> Result<(Outputs, Option<ValueSender>), K6Error> {
    let (mut values, mut events, mut senders) = (Vec::new(), Vec::new(), Vec::new());
    for spec in wanted.specs {
        match start_one(spec, wanted)? {
            Started::Values(named, sender) => {
                values.push(named);
                senders.push(sender);
            }
            Started::Events(named) => events.push(named),
        }
    }
    let (fan, sender) = match senders.len() {
        0 => (None, None),
        1 => (None, senders.pop()),
        _ => {
            let (sender, receiver) = sync_channel(BATCHES);
            let fan = Fan::start(receiver, senders).map_err(|error| no_thread(&error))?;
            (Some(fan), Some(sender))
        }
    };
    let channel = sender.map(Arc::new);
    let way = channel.as_ref().map(ValueSender::into_channel);
    let outputs = Outputs {
        channel,
        values,
        events,
        fan,
        on_note: Arc::clone(&wanted.on_note),
        audits_file: wanted.env.get(AUDITS_VARIABLE).map(PathBuf::from),
    };
    Ok((outputs, way))
}

/// A started output.
enum Started {
    Values(Named<ValueOutput>, SyncSender<Values>),
    Events(Named<EventOutput>),
}

fn start_one(spec: &OutputSpec, wanted: &Wanted<'_>) -> Result<Started, K6Error> {
    let (sender, receiver) = sync_channel(BATCHES);
    let start = Start {
        spec,
        receiver,
        wanted,
    };
    let named = match spec.kind {
        OutputKind::Junit => return EventOutput::junit(spec, wanted).map(Started::Events),
        OutputKind::OpenTelemetry => {
            let named = opentelemetry::start(spec, wanted)?;
            return Ok(Started::Events(named.map(EventOutput::OpenTelemetry)));
        }
        OutputKind::PrometheusRw => {
            let named = prometheus::start(spec, wanted)?;
            return Ok(Started::Events(named.map(EventOutput::Prometheus)));
        }
        OutputKind::Csv => start.csv(),
        OutputKind::DogStatsd => start.statsd(true),
        OutputKind::Influx => start.influx(Version::V1),
        OutputKind::InfluxV2 => start.influx(Version::V2),
        OutputKind::Json => start.json(),
        OutputKind::Jtl => start.jtl(),
        OutputKind::Statsd => start.statsd(false),
    };
    Ok(Started::Values(named?, sender))
}

fn no_thread(error: &std::io::Error) -> K6Error {
    K6Error::other(format!("cannot start a thread for outputs: {error}"))
}

/// The report when the output with this name starts to fail.
fn trouble(wanted: &Wanted<'_>, name: &str) -> OnTrouble {
    let (tell, name) = (Arc::clone(&wanted.on_trouble), name.to_owned());
    Arc::new(move |why| tell(&format!("the output {name} is failing: {why}")))
}

impl Outputs {
    /// The outputs by kind and destination, as listed in the header of a run.
    pub(crate) fn names(&self) -> Vec<String> {
        let events = self.events.iter().map(|named| named.name.clone());
        let values = self.values.iter().map(|named| named.name.clone());
        values.chain(events).collect()
    }

    /// Passes an event to the outputs of events.
    pub(crate) fn event(&mut self, event: &RunEvent) {
        for named in &mut self.events {
            named.output.event(event);
        }
    }

    /// Closes the channel of values and waits until its content is written; returns the report. `held_up_ns`:
    /// how long full channels delayed the workers, in total.
    pub(crate) fn finish(self, held_up_ns: u64) -> Closed {
        drop(self.channel);
        let count = self.values.len();
        let names = self.values.iter().map(|named| named.name.clone());
        let names = names.chain(self.events.iter().map(|named| named.name.clone()));
        let names: Vec<String> = names.collect();
        let mut ends: Vec<End<Ended>> = Vec::new();
        for Named { output, .. } in self.values {
            ends.push(Box::new(|| Ended::Values(output.finish())));
        }
        for Named { output, .. } in self.events {
            ends.push(Box::new(|| Ended::Events(output.finish())));
        }
        let fan = self.fan;
        ends.push(Box::new(move || {
            Ended::Fan(match fan {
                None => Some(vec![held_up_ns; count]),
                Some(fan) => fan.finish(),
            })
        }));
        let ended = closing::end_all(ends, &signals::impatience(), |slow| {
            let slow = slow.iter().filter_map(|index| names.get(*index));
            (self.on_note)(&ending::waiting_for(slow));
        });
        let mut closed = closed(names, ended, held_up_ns);
        if let Some(file) = self.audits_file
            && !closed.audits.is_empty()
        {
            closed.leave_audits(&file);
        }
        closed
    }
}
