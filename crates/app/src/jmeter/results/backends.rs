//! Backend Listeners: send metrics of samples to a metrics store while the test runs.
//!
//! Each has a sending thread. Must not know points and lines. Invariant: a receiver never blocks the run: an
//! unavailable one is reported once, and what it refuses is lost; for a slow one intervals are put together.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_java::numbers::long_or_zero;
use loadline_java::oro::Oro;
use loadline_output::influxdb::Poster;
use loadline_report::jmeter::backend::{InfluxNames, Percentiles, Started, Tally, graphite};
use loadline_run::steps::StepsState;
use loadline_steps::host::World as _;
use loadline_steps::listener::{BackendKind, BackendListener, Heard, Listener};
use loadline_steps::program::Program;
use loadline_steps::scope::Scope;

use crate::jmeter::plan_file::warn;
use crate::jmeter::world::{World, now_ms};

/// Maximum number of intervals queued for a receiver.
const WAITING_MAX: usize = 8;
/// Timeout of a Graphite receiver.
const PATIENCE: Duration = Duration::from_secs(3);

/// All Backend Listeners of a plan.
pub(crate) struct Backends {
    all: Vec<Backend>,
    /// By the listener's index in the program.
    listeners: Vec<Option<usize>>,
    state: Arc<StepsState>,
    /// Set when the run has ended: after that, a failed receiver is not retried.
    has_ended: Arc<AtomicBool>,
}

/// One of the listeners.
struct Backend {
    name: String,
    world: Arc<World>,
    /// Whether it was reported that its receiver is slow.
    is_slow: bool,
    form: Form,
    labels: Labels,
    percentiles: Percentiles,
    tally: Tally,
    interval_ms: i64,
    due_ms: i64,
    sender: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
}

/// The format that it writes.
enum Form {
    Influx(InfluxNames),
    /// With the prefix of names.
    Graphite(String),
}

/// Which labels are reported separately.
enum Labels {
    None,
    Listed(Vec<String>),
    Matching(Box<Oro>),
}

impl Labels {
    fn has(&self, label: &str) -> bool {
        match self {
            Labels::None => false,
            Labels::Listed(labels) => labels.iter().any(|one| one == label),
            Labels::Matching(pattern) => pattern.contains(label).unwrap_or(false),
        }
    }
}

/// The connection of a backend to its receiver.
enum Way {
    Http(Box<Poster>),
    Udp(String),
    Tcp(String, Option<TcpStream>),
}

impl Way {
    fn send(&mut self, text: &str) -> Result<(), String> {
        match self {
            Way::Http(poster) => poster.post(text.as_bytes()),
            Way::Udp(to) => UdpSocket::bind(("0.0.0.0", 0))
                .and_then(|socket| socket.send_to(text.as_bytes(), to.as_str()))
                .map(drop)
                .map_err(|why| why.to_string()),
            Way::Tcp(to, connection) => {
                let made = match connection.take() {
                    Some(made) => Ok(made),
                    None => connect(to),
                };
                let sent = made.and_then(|mut made| {
                    made.write_all(text.as_bytes())?;
                    *connection = Some(made);
                    Ok(())
                });
                sent.map_err(|why| why.to_string())
            }
        }
    }
}

fn connect(to: &str) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::NotFound.into();
    for address in to.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(made) => {
                made.set_write_timeout(Some(PATIENCE))?;
                return Ok(made);
            }
            Err(why) => last = why,
        }
    }
    Err(last)
}

/// Sends until there is nothing more, or until nobody waits for a receiver that accepts nothing; reports its
/// first error.
fn send(
    texts: &Receiver<String>,
    has_ended: &AtomicBool,
    mut take: impl FnMut(&str) -> Result<(), String>,
    tell: impl Fn(&str),
) {
    let mut is_told = false;
    for text in texts {
        let Err(why) = take(&text) else { continue };
        if !std::mem::replace(&mut is_told, true) {
            tell(&why);
        }
        if has_ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// The arguments of a listener, evaluated.
struct Arguments(Vec<(String, String)>);

impl Arguments {
    fn text(&self, name: &str, default: &str) -> String {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or_else(|| default.to_owned(), |(_, value)| value.trim().to_owned())
    }

    fn is_true(&self, name: &str) -> bool {
        self.text(name, "false").eq_ignore_ascii_case("true")
    }

    fn is_true_or_missing(&self, name: &str) -> bool {
        self.text(name, "true").eq_ignore_ascii_case("true")
    }
}

impl Backends {
    /// Starts the backends of a program, and sends their initial data.
    pub(crate) fn start(
        program: &Program,
        (state, world): (Arc<StepsState>, Arc<World>),
        scope: &mut Scope<'_>,
    ) -> Backends {
        let mut backends = Backends {
            all: Vec::new(),
            listeners: Vec::new(),
            state,
            has_ended: Arc::default(),
        };
        for listener in &program.listeners {
            let mut place = None;
            if let Listener::Backend(listener) = listener {
                match Backend::start(listener, (&world, &backends.has_ended), scope) {
                    Ok(backend) => {
                        backends.all.push(backend);
                        place = Some(backends.all.len() - 1);
                    }
                    Err(why) => {
                        warn(
                            &world,
                            &format!("{}: nothing is sent: {why}", listener.name),
                        );
                    }
                }
            }
            backends.listeners.push(place);
        }
        backends
    }

    /// Counts a sample for every listener that receives it.
    pub(super) fn take(&mut self, heard: &Heard) {
        for id in &*heard.listeners {
            if let Some(place) = self.listeners.get(*id).copied().flatten() {
                let backend = &mut self.all[place];
                let is_listed = backend.labels.has(&heard.sample.label);
                let (at_work, _, _) = self.state.threads();
                backend.tally.add(&heard.sample, is_listed, at_work);
            }
        }
    }

    /// Sends the intervals that have ended.
    pub(super) fn look(&mut self) {
        if self.all.is_empty() {
            return;
        }
        let now_ms = now_ms();
        let threads = self.threads();
        for backend in self.all.iter_mut().filter(|one| one.due_ms <= now_ms) {
            backend.due_ms = now_ms + backend.interval_ms;
            backend.tell(threads, "");
        }
    }

    /// Sends the rest, and waits until it has been sent.
    pub(super) fn finish(&mut self) {
        let threads = self.threads();
        self.has_ended.store(true, Ordering::Relaxed);
        for backend in &mut self.all {
            let text = backend.event("ended") + &backend.text(threads);
            if let Some(sender) = backend.sender.take() {
                // Now there is time to wait; a receiver that failed has been reported.
                drop(sender.send(text));
            }
        }
        for backend in &mut self.all {
            if let Some(thread) = backend.thread.take() {
                // A sender that failed has already reported it.
                drop(thread.join());
            }
        }
    }

    fn threads(&self) -> Started {
        let (_, started, finished) = self.state.threads();
        Started { started, finished }
    }
}

impl Backend {
    fn start(
        listener: &BackendListener,
        (world, has_ended): (&Arc<World>, &Arc<AtomicBool>),
        scope: &mut Scope<'_>,
    ) -> Result<Backend, String> {
        let given = listener.arguments.iter();
        let given = given.map(|(name, value)| (name.clone(), value.evaluate(scope).into_owned()));
        let arguments = Arguments(given.collect());
        let (form, labels, mut way) = match listener.kind {
            BackendKind::Influx => influx(&arguments)?,
            BackendKind::Graphite => of_graphite(&arguments)?,
        };
        let (property, default) = match form {
            Form::Influx(_) => ("backend_influxdb.send_interval", 5),
            Form::Graphite(_) => ("backend_graphite.send_interval", 1),
        };
        let interval_s = world.property(property);
        let interval_s = interval_s.map_or(default, |text| long_or_zero(text.trim()));
        let interval_ms = interval_s.clamp(1, 86_400) * 1000;
        let (sender, texts) = sync_channel(WAITING_MAX);
        let told_by = Arc::clone(world);
        let (name, world, has_ended) = (
            listener.name.clone(),
            Arc::clone(world),
            Arc::clone(has_ended),
        );
        let tell = move |why: &str| {
            let told = format!("{name}: the receiver of a Backend Listener took nothing: {why}");
            warn(&world, &told);
        };
        let thread = thread::Builder::new()
            .name("backend".to_owned())
            .spawn(move || send(&texts, &has_ended, |text| way.send(text), tell))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        let mut backend = Backend {
            name: listener.name.clone(),
            world: told_by,
            is_slow: false,
            form,
            labels,
            percentiles: Percentiles::read(&arguments.text("percentiles", "99;95;90")),
            tally: Tally::default(),
            interval_ms,
            due_ms: now_ms() + interval_ms,
            sender: Some(sender),
            thread: Some(thread),
        };
        if matches!(backend.form, Form::Influx(_)) {
            let event = backend.event("started");
            backend.tell(Started::default(), &event);
        }
        Ok(backend)
    }

    fn event(&self, what: &str) -> String {
        match &self.form {
            Form::Influx(names) => names.event(what, now_ms()),
            Form::Graphite(_) => String::new(),
        }
    }

    /// The data since the last interval ended.
    fn text(&self, threads: Started) -> String {
        let now_ms = now_ms();
        match &self.form {
            Form::Influx(names) => names.points(&self.tally, &self.percentiles, threads, now_ms),
            Form::Graphite(prefix) => {
                let of_interval = (&self.tally, &self.percentiles, threads);
                graphite(prefix, of_interval, now_ms / 1000)
            }
        }
    }

    /// Sends the data since the last interval ended, after `before`, and ends the interval. If too much is waiting
    /// for the receiver, the interval continues instead.
    fn tell(&mut self, threads: Started, before: &str) {
        let told = self.text(threads);
        let Some(sender) = &self.sender else { return };
        match sender.try_send(format!("{before}{told}")) {
            // A sender is gone only when the run has ended.
            Ok(()) | Err(TrySendError::Disconnected(_)) => self.tally.end_interval(),
            Err(TrySendError::Full(_)) if std::mem::replace(&mut self.is_slow, true) => {}
            Err(TrySendError::Full(_)) => {
                let told = format!(
                    "{}: the receiver of a Backend Listener is slow: several intervals are sent as one",
                    self.name
                );
                warn(&self.world, &told);
            }
        }
    }
}

fn matching(pattern: &str) -> Result<Labels, String> {
    let compiled = Oro::compile(pattern).map_err(|fault| format!("{pattern:?}: {}", fault.0))?;
    Ok(Labels::Matching(Box::new(compiled)))
}

fn influx(arguments: &Arguments) -> Result<(Form, Labels, Way), String> {
    let url = arguments.text("influxdbUrl", "");
    let sender = arguments.text("influxdbMetricsSender", "");
    let way = match sender.rsplit('.').next().unwrap_or_default() {
        "HttpMetricsSender" => {
            let token = arguments.text("influxdbToken", "");
            let token = Some(token.as_str()).filter(|token| !token.is_empty());
            Way::Http(Box::new(Poster::new(&url, token)?))
        }
        "UdpMetricsSender" => Way::Udp(url),
        other => return Err(format!("influxdbMetricsSender {other:?} is not known")),
    };
    let labels = match arguments.is_true("summaryOnly") {
        true => Labels::None,
        false => matching(&arguments.text("samplersRegex", ".*"))?,
    };
    let tags = arguments.0.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix("TAG_")?;
        (!value.trim().is_empty()).then(|| (name.to_owned(), value.trim().to_owned()))
    });
    let names = InfluxNames {
        measurement: arguments.text("measurement", "jmeter"),
        application: arguments.text("application", ""),
        title: arguments.text("testTitle", "Test"),
        event_tags: arguments.text("eventTags", ""),
        tags: tags.collect(),
    };
    Ok((Form::Influx(names), labels, way))
}

fn of_graphite(arguments: &Arguments) -> Result<(Form, Labels, Way), String> {
    let sender = arguments.text("graphiteMetricsSender", "TextGraphiteMetricsSender");
    if !sender.ends_with("TextGraphiteMetricsSender") {
        return Err(format!(
            "graphiteMetricsSender {sender:?}: only text is sent"
        ));
    }
    let host = arguments.text("graphiteHost", "");
    let port = arguments.text("graphitePort", "2003");
    let list = arguments.text("samplersList", "");
    let is_pattern = arguments.is_true("useRegexpForSamplersList");
    let labels = match (arguments.is_true_or_missing("summaryOnly"), is_pattern) {
        (true, _) => Labels::None,
        (false, true) => matching(&list)?,
        (false, false) => Labels::Listed(list.split(';').map(str::to_owned).collect()),
    };
    let prefix = arguments.text("rootMetricsPrefix", "jmeter.");
    let way = Way::Tcp(format!("{host}:{port}"), None);
    Ok((Form::Graphite(prefix), labels, way))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use loadline_steps::sample::Sample;

    use super::*;
    use crate::Env;
    use crate::jmeter::world::LogTo;

    /// How often sending three texts was tried, and what was reported.
    fn tried(has_ended: bool) -> (usize, Vec<String>) {
        let (sender, texts) = sync_channel(WAITING_MAX);
        for text in ["a", "b", "c"] {
            sender.send(text.to_owned()).expect("there is room");
        }
        drop(sender);
        let (tries, told) = (RefCell::new(0), RefCell::new(Vec::new()));
        send(
            &texts,
            &has_ended.into(),
            |_| {
                *tries.borrow_mut() += 1;
                Err("away".to_owned())
            },
            |why| told.borrow_mut().push(why.to_owned()),
        );
        (tries.into_inner(), told.into_inner())
    }

    #[test]
    fn a_receiver_that_takes_nothing_is_tried_once_when_the_run_has_ended() {
        assert_eq!(tried(false), (3, vec!["away".to_owned()]));
        assert_eq!(tried(true), (1, vec!["away".to_owned()]));
    }

    #[test]
    fn what_a_slow_receiver_has_no_room_for_is_in_the_next_interval() {
        let (sender, texts) = sync_channel(1);
        let world = World::of("p.jmx", BTreeMap::new(), &Env::default(), LogTo::Nowhere);
        let mut backend = Backend {
            name: "B".to_owned(),
            world: Arc::new(world),
            is_slow: false,
            form: Form::Graphite("j.".to_owned()),
            labels: Labels::None,
            percentiles: Percentiles::read("90"),
            tally: Tally::default(),
            interval_ms: 1000,
            due_ms: 0,
            sender: Some(sender),
            thread: None,
        };
        let mut counts = Vec::new();
        for is_taken in [false, true, true] {
            backend.tally.add(&Sample::default(), false, 1);
            backend.tell(Started::default(), "");
            let texts = is_taken.then(|| texts.recv().expect("it was sent"));
            let lines = texts.iter().flat_map(|text| text.lines());
            let count = lines.filter(|line| line.starts_with("j.all.a.count"));
            counts.extend(count.filter_map(|line| line.split(' ').nth(1)?.parse::<u32>().ok()));
        }
        assert_eq!((counts, backend.is_slow), (vec![1, 2], true));
    }
}
