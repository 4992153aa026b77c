//! Where a run's results go while it lasts: what `--out` asks for.
//!
//! Two kinds of sink: those of every single value get batches of values through a channel of their
//! own, those of events are told what the run tells. Must not know layouts or protocols. Invariants:
//! what an output lost, and how long outputs held the run up, is told at the end; the channel ends when
//! [`Outputs::finish`] says so, whoever still measures.

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

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use loadline_engine::batches::ValueSender;
use loadline_metric::MetricRegistry;
use loadline_model::sample::TaggedValues;
use loadline_model::{RunEvent, TestPlan};
use loadline_output::{OnTrouble, SinkReport};

use crate::Env;
use crate::k6::{K6Error, OutputKind, OutputSpec};
use crate::terminal::signals;
use closing::End;
use ending::Closed;
use events::EventOutput;
use influxdb::Version;
use values::{Start, ValueOutput};

pub(crate) use fan::Fan;
pub(crate) use files::files_of;
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
    /// The one sending end of the values' channel: what keeps the outputs of values running.
    channel: Option<Arc<SyncSender<Values>>>,
    values: Vec<Named<ValueOutput>>,
    events: Vec<Named<EventOutput>>,
    /// Hands every batch to each of several outputs.
    fan: Option<Fan>,
    /// Told, in one line, what is good to know.
    on_note: OnTrouble,
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

/// What ended.
enum Ended {
    Values(SinkReport),
    Events(Option<String>),
    /// How long each output of values was waited for; `None`: the thread that knew failed.
    Fan(Option<Vec<u64>>),
}

/// What is to be told of outputs, the fan behind them; `None`: it was not waited for.
fn closed(names: Vec<String>, ended: Vec<Option<Ended>>, held_up_ns: u64) -> Closed {
    let (mut values, mut events, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut waited_ns = Some(Vec::new());
    let names = names.into_iter().map(Some).chain([None]);
    for (name, ended) in names.zip(ended) {
        match (name, ended) {
            (Some(name), Some(Ended::Values(output))) => values.push(Named { name, output }),
            (Some(name), Some(Ended::Events(output))) => events.push(Named { name, output }),
            (_, Some(Ended::Fan(waited))) => waited_ns = waited,
            (Some(name), _) => left.push(name),
            (None, _) => {}
        }
    }
    let mut closed = Closed::of(&values, &events, held_up_ns, waited_ns);
    if !left.is_empty() {
        // Who was waited for most is not known without all of them.
        closed.held_up = None;
    }
    closed
        .lost
        .extend(left.iter().map(|name| ending::left(name)));
    closed
}

/// Starts the outputs; gives the way of the run's values to them, if any wants some.
///
/// # Errors
/// A file that cannot be written, or a setting that means nothing.
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
    };
    Ok((outputs, way))
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
    Arc::new(move |why| tell(&format!("the output {name} is failing: {why}")))
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

    /// Closes the channel of values and waits until what is in it is written; gives what is to be told.
    /// `held_up_ns`: how long full channels held the workers up, all of them together.
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
        closed(names, ended, held_up_ns)
    }
}
