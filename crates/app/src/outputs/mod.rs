//! Where a run's results go while it lasts: what `--out` asks for.
//!
//! Two kinds of sink: those of every single value get batches of values through a channel of their
//! own, those of events are told what the run tells. Must not know layouts or protocols. Invariant:
//! what an output lost, and how long outputs held the run up, is told at the end.

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

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use loadline_metric::MetricRegistry;
use loadline_model::snapshot::TaggedValues;
use loadline_model::{RunEvent, TestPlan};
use loadline_output::{OnTrouble, SinkReport};

use crate::Env;
use crate::k6::{K6Error, OutputKind, OutputSpec};
use ending::Closed;
use events::EventOutput;
use influxdb::Version;
use values::{Start, ValueOutput};

pub(crate) use fan::Fan;
pub(crate) use samples::Conversion;

/// Batches of values between the workers and each output: a second of heavy load.
const BATCHES: usize = 256;

/// Values recorded under the same tags at a time.
type Values = Vec<TaggedValues>;

/// What outputs are started from.
pub(crate) struct Wanted<'a> {
    /// What `--out` says, in its order.
    pub(crate) specs: &'a [OutputSpec],
    /// What the run is called, such as its script's name.
    pub(crate) name: &'a str,
    /// What will be done.
    pub(crate) plan: &'a Arc<TestPlan>,
    /// The metrics of the values.
    pub(crate) registry: &'a Arc<MetricRegistry>,
    /// Variables with the outputs' settings.
    pub(crate) env: &'a Env,
    /// Told, in one line, when an output begins to fail.
    pub(crate) on_trouble: OnTrouble,
    /// Told, in one line, what is good to know.
    pub(crate) on_note: OnTrouble,
    /// Whether a receiver that can be asked is asked at the end what it has.
    pub(crate) audits: bool,
}

/// The outputs of a run.
pub(crate) struct Outputs {
    values: Vec<Named<ValueOutput>>,
    events: Vec<Named<EventOutput>>,
    /// Hands every batch to each of several outputs.
    fan: Option<Fan>,
}

/// An output under its name for messages.
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

/// Starts the outputs; gives where the run is to send its values, if anywhere.
///
/// # Errors
/// A file that cannot be written, or a setting that means nothing.
pub(crate) fn start(wanted: &Wanted<'_>) -> Result<(Outputs, Option<SyncSender<Values>>), K6Error> {
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
    let outputs = Outputs {
        values,
        events,
        fan,
    };
    Ok((outputs, sender))
}

/// An output that was started.
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
    K6Error::other(format!("no thread for outputs: {error}"))
}

/// What is told when the output of this name begins to fail.
fn trouble(wanted: &Wanted<'_>, name: &str) -> OnTrouble {
    let (tell, name) = (Arc::clone(&wanted.on_trouble), name.to_owned());
    Arc::new(move |why| tell(&format!("the output {name} is in trouble: {why}")))
}

impl Outputs {
    /// The outputs by kind and place, as the head of a run lists them.
    pub(crate) fn names(&self) -> Vec<String> {
        let events = self.events.iter().map(|named| named.name.clone());
        let values = self.values.iter().map(|named| named.name.clone());
        values.chain(events).collect()
    }

    /// Tells the outputs of events what happened.
    pub(crate) fn event(&mut self, event: &RunEvent) {
        for named in &mut self.events {
            named.output.event(event);
        }
    }

    /// Waits for the last value; gives what is to be told. The run's sender must be gone.
    /// `held_up_ns`: how long full channels held the workers up, all of them together.
    pub(crate) fn finish(self, held_up_ns: u64) -> Closed {
        let values = self.values.len();
        let waited_ns = match self.fan {
            None => Some(vec![held_up_ns; values]),
            Some(fan) => fan.finish(),
        };
        let values = self.values.into_iter();
        let values: Vec<Named<SinkReport>> =
            values.map(|named| named.map(ValueOutput::finish)).collect();
        let events = self.events.into_iter();
        let events = events.map(|named| named.map(EventOutput::finish));
        Closed::of(&values, &events.collect::<Vec<_>>(), held_up_ns, waited_ns)
    }
}
