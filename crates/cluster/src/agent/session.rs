//! An agent's stream with its coordinator, and with the next one.
//!
//! Must not know what the engine does. Invariants: clock questions are answered immediately; a live agent sends
//! something several times per second.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use loadline_engine::{platform, runtime};
use loadline_model::Nanos;
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};
use tonic::transport::{Channel, Endpoint};

use super::archive::Arriving;
use super::line::{Line, Outgoing};
use super::outlet::Outlet;
use super::parting::{Parting, Why};
use super::standing_in;
use super::work::{Control, GoingOn, LiveView, Work};
use super::{Agent, AgentError, AgentSettings, Assignment, Ended, TRY_EVERY};
use crate::coordinator::{MESSAGE_MAX, Recipe, WINDOW};
use crate::generated::coordination_client::CoordinationClient;
use crate::generated::from_agent::What;
use crate::generated::to_agent::What as Told;
use crate::generated::{
    Batch, ClockAnswer, HandOver, Hello, Order, Part, Refusal, StandIn, Start, Welcome,
};
use crate::message::command_of;

/// Time limit of one attempt.
const TRY_LIMIT: Duration = Duration::from_secs(5);
/// Maximum commands that are kept for another coordinator.
const ORDERS_MAX: usize = 1_000;
/// Batches of single values in flight.
const BATCHES_UNDER_WAY: usize = 4;
/// How often counters are sent.
const LIVE_EVERY: Duration = Duration::from_millis(200);

/// Takes part in a test to its end; returns how it ended. `patience`: how long to wait for the coordinator;
/// `stands_in`: the request to run the share of a lost agent, `None` for its own part.
///
/// # Errors
/// Why the agent's part ended early.
pub(super) fn attend(
    agent: &Arc<Agent>,
    patience: Duration,
    stands_in: Option<StandIn>,
) -> Result<Ended, AgentError> {
    let settings = &agent.settings;
    let prepare = agent.prepare;
    let endpoint = endpoint_of(settings)?;
    let runtime = runtime::builder().and_then(|mut builder| builder.build());
    let runtime = runtime.map_err(|error| refused_by_system(&error))?;
    let (control, controlled) = channel();
    let outgoing = Outgoing::default();
    let live = LiveView::default();
    let parting = Arc::<Parting>::default();
    let work = Work {
        control: controlled,
        outgoing: outgoing.clone(),
        live: live.clone(),
        parting: Arc::clone(&parting),
    };
    let worker = thread::Builder::new()
        .name("agent".to_owned())
        .spawn(move || work.run_guarded(prepare))
        .map_err(|error| refused_by_system(&error))?;
    let mut session = Session {
        agent,
        settings,
        stands_in,
        endpoint,
        control,
        outgoing,
        live,
        parting,
        line: None,
        job: None,
        welcome: None,
        start: None,
        orders: Vec::new(),
        orders_heard: 0,
        delivers: false,
        orphaned_at: None,
    };
    let ended = runtime.block_on(session.attend(patience));
    // The engine stops when the session drops its end of the controls.
    drop(session);
    drop(runtime);
    // Its panic was reported.
    drop(worker.join());
    ended
}

fn refused_by_system(error: &std::io::Error) -> AgentError {
    AgentError::Unable(format!("cannot start a thread: {error}"))
}

/// One part in one test, over successive connections.
struct Session<'a> {
    agent: &'a Arc<Agent>,
    settings: &'a AgentSettings,
    /// For whom the agent stands in; `None`: the part is its own.
    stands_in: Option<StandIn>,
    endpoint: Endpoint,
    control: Sender<Control>,
    outgoing: Outgoing,
    live: LiveView,
    /// How the agent leaves during the test.
    parting: Arc<Parting>,
    line: Option<Line>,
    /// The job whose archive is not complete yet.
    job: Option<Arriving>,
    /// The agent's part.
    welcome: Option<Welcome>,
    /// How the test started, if it has.
    start: Option<Start>,
    /// The first commands of the run.
    orders: Vec<Order>,
    orders_heard: u64,
    /// Whether single values are delivered: the load waits for their receiver.
    delivers: bool,
    /// When the coordinator was lost.
    orphaned_at: Option<u64>,
}

impl Session<'_> {
    async fn attend(&mut self, patience: Duration) -> Result<Ended, AgentError> {
        let mut channel = tokio::select! {
            channel = join(&self.endpoint, &self.settings.join, patience) => channel?,
            () = told_to_leave(self.settings) => return Err(AgentError::Left),
        };
        loop {
            let why = match self.attend_over(channel).await {
                Err(AgentError::CoordinatorLost { why, .. }) if self.goes_on() => why,
                outcome => return outcome,
            };
            self.outgoing.disconnect();
            self.line = None;
            if self.orphaned_at.is_none() {
                self.orphaned_at = Some(platform::monotonic_ns());
                self.note(&format!(
                    "the coordinator is gone: {why}; the load continues for at most {} s, unless the agent can rejoin",
                    self.settings.orphan_grace.as_secs_f64()
                ));
            }
            channel = self.rejoin(&why).await?;
        }
    }

    /// Whether the load continues without a coordinator.
    fn goes_on(&self) -> bool {
        self.start.is_some() && !self.delivers && !self.settings.orphan_grace.is_zero()
    }

    /// For how long it still continues.
    fn grace_left(&self) -> Option<Duration> {
        if self.agent.stand_ins.is_over() {
            return None;
        }
        let orphaned_at = self.orphaned_at.unwrap_or_else(platform::monotonic_ns);
        let tried = platform::monotonic_ns().saturating_sub(orphaned_at);
        let left = self.settings.orphan_grace;
        left.checked_sub(Duration::from_nanos(tried))
    }

    fn grace_is_over(&self, why: &str) -> AgentError {
        let grace = self.settings.orphan_grace.as_secs_f64();
        AgentError::CoordinatorLost {
            why: format!("{why}; it did not come back within {grace} s"),
            may_join_anew: false,
        }
    }

    fn is_to_leave(&self) -> bool {
        self.settings.leave.load(Relaxed)
    }

    /// Why the agent may exit now: it was asked to leave or crashed, and its measurements have arrived.
    fn may_go(&self) -> Option<Why> {
        let now = platform::monotonic_ns();
        if self.is_to_leave() && self.parting.begin(Why::Stopped, now) {
            match self.start {
                Some(_) => self.pass(Control::Leave),
                None => self.parting.done(),
            }
        }
        self.parting.over(now)
    }

    /// Gives the part back, so that another takes it over without waiting for this agent.
    async fn leave(&self, why: Why) -> Result<Ended, AgentError> {
        self.say(self.live.told());
        self.say(What::Refusal(Refusal { why: why.words() }));
        // The message is sent before the connection closes.
        tokio::time::sleep(LIVE_EVERY).await;
        Err(why.into())
    }

    /// Reconnects while the load may continue.
    async fn rejoin(&self, why: &str) -> Result<Channel, AgentError> {
        loop {
            if self.is_to_leave() {
                return Err(AgentError::Left);
            }
            tokio::time::sleep(TRY_EVERY).await;
            let left = self.grace_left().ok_or_else(|| self.grace_is_over(why))?;
            let connect = self.endpoint.connect();
            if let Ok(Ok(channel)) = tokio::time::timeout(left.min(TRY_LIMIT), connect).await {
                return Ok(channel);
            }
        }
    }

    /// Takes part over one connection.
    async fn attend_over(&mut self, channel: Channel) -> Result<Ended, AgentError> {
        let (sender, to_send) = mpsc::unbounded_channel();
        let line = Line {
            to: sender,
            secrets: Arc::clone(&self.outgoing.secrets),
        };
        line.say(What::Hello(self.hello()));
        self.line = Some(line);
        let mut client = CoordinationClient::new(channel)
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        let stream = client.attend(UnboundedReceiverStream::new(to_send)).await;
        let mut told = stream.map_err(|why| self.gone(why.message()))?.into_inner();
        let mut ticks = tokio::time::interval(LIVE_EVERY);
        let parting = Arc::clone(&self.parting);
        loop {
            if let Some(why) = self.may_go() {
                return self.leave(why).await;
            }
            tokio::select! {
                biased;
                message = told.message() => {
                    let message = message.map_err(|why| self.gone(why.message()))?;
                    let message = message.ok_or_else(|| self.gone("it closed the connection"))?;
                    if let Some(what) = message.what
                        && let Some(ended) = self.heed(what)?
                    {
                        return Ok(ended);
                    }
                }
                () = parting.changed.notified() => {}
                _ = ticks.tick() => {
                    if self.orphaned_at.is_some() && self.grace_left().is_none() {
                        return Err(self.grace_is_over("it does not answer"));
                    }
                    self.say(self.live.told());
                }
            }
        }
    }

    /// The first message over a connection.
    fn hello(&self) -> Hello {
        let part = self.welcome.as_ref().map(|welcome| Part {
            run: welcome.run.clone(),
            test: welcome.test.clone(),
            number: welcome.number,
            generation: welcome.generation,
            orders: self.orders_heard,
        });
        let name = self.stands_in.as_ref().map(|asked| asked.name.clone());
        Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.unwrap_or_else(|| self.settings.name.clone()),
            process: self.agent.process.clone(),
            can_stand_in: self.stands_in.is_none(),
            stands_in: self.stands_in.clone(),
            grace_ms: u64::try_from(self.settings.orphan_grace.as_millis()).unwrap_or(u64::MAX),
            part: part.filter(|_| self.start.is_some()),
            archive: self.agent.archive.digest(),
            pod: self.settings.place.pod.clone(),
            node: self.settings.place.node.clone(),
        }
    }

    fn say(&self, what: What) {
        if let Some(line) = &self.line {
            line.say(what);
        }
    }

    fn gone(&self, why: &str) -> AgentError {
        AgentError::CoordinatorLost {
            why: why.to_owned(),
            may_join_anew: self.start.is_some() && self.delivers,
        }
    }

    /// Handles a message; returns how the test ended if it was the last.
    fn heed(&mut self, what: Told) -> Result<Option<Ended>, AgentError> {
        match what {
            Told::Clock(question) => {
                let at_ns = platform::monotonic_ns();
                let number = question.number;
                self.say(What::Clock(ClockAnswer { number, at_ns }));
            }
            Told::Job(job) => {
                let arriving = Arriving::new(job, &self.agent.archive);
                self.job = Some(arriving.map_err(AgentError::Unable)?);
                self.begin_if_whole()?;
            }
            Told::Program(chunk) => {
                if let Some(arriving) = &mut self.job {
                    arriving.take(&chunk.bytes);
                }
                self.begin_if_whole()?;
            }
            Told::Start(start) => self.begin(start),
            Told::Order(order) => {
                if let Some(command) = command_of(&order) {
                    self.pass(Control::Order(command));
                }
                self.orders_heard += 1;
                if self.orders.len() < ORDERS_MAX {
                    self.orders.push(order);
                }
            }
            Told::Received(received) => self.pass(Control::Received(received.number)),
            Told::Ending(ending) => {
                return Ok(Some(Ended {
                    exit_code: u8::try_from(ending.exit_code).unwrap_or(u8::MAX),
                    text: ending.text,
                }));
            }
            Told::Refusal(refusal) => return Err(AgentError::Refused(refusal.why)),
            Told::Welcome(welcome) => self.welcomed(welcome),
            Told::Phase(phase) => self.pass(Control::Phase(phase)),
            Told::Stop(stop) => self.pass(Control::Stop(stop)),
            // An agent that stands in is not asked.
            Told::StandIn(asked) if self.stands_in.is_none() => {
                standing_in::begin(self.agent, asked);
            }
            Told::StandIn(_) => {}
        }
        Ok(None)
    }

    /// Shows a note to the agent's user.
    fn note(&self, text: &str) {
        match &self.stands_in {
            None => (self.settings.on_note)(text),
            Some(asked) => (self.settings.on_note)(&standing_in::said(asked, text)),
        }
    }

    /// The coordinator knows the agent: from now on messages are received.
    fn welcomed(&mut self, welcome: Welcome) {
        let Some(line) = self.line.clone() else {
            return;
        };
        if self.orphaned_at.take().is_some() {
            self.note("the coordinator is back");
        }
        if !welcome.note.is_empty() {
            self.note(&welcome.note);
        }
        let how = match &welcome.back {
            None => GoingOn::First,
            Some(back) if back.is_anew => GoingOn::Anew(Box::new(self.hand_over())),
            Some(back) => GoingOn::From(back.next_report),
        };
        self.welcome = Some(welcome);
        self.outgoing.connect(line.clone());
        self.pass(Control::Link(line, how));
    }

    /// What another coordinator needs to continue the test.
    fn hand_over(&self) -> HandOver {
        let start = self.start.clone().unwrap_or_default();
        HandOver {
            at_ns: start.at_ns,
            from_ns: start.from_ns,
            data: start.data,
            kept: start.kept,
            orders: self.orders.clone(),
            ..HandOver::default()
        }
    }

    /// The run starts; if it has started already, another coordinator continues it.
    fn begin(&mut self, start: Start) {
        if self.start.is_some() {
            return self.pass(Control::GoOn);
        }
        let data = start.data.as_deref().map(Arc::from);
        self.pass(Control::Start(start.at_ns, Nanos(start.from_ns), data));
        self.start = Some(start);
    }

    /// Notifies the engine; an engine that has ended needs nothing.
    fn pass(&self, control: Control) {
        drop(self.control.send(control));
    }

    fn begin_if_whole(&mut self) -> Result<(), AgentError> {
        let Some(arriving) = self.job.take_if(|arriving| arriving.is_whole()) else {
            return Ok(());
        };
        let arrived = arriving.finish(&self.agent.archive);
        let (job, archive) = arrived.map_err(AgentError::Unable)?;
        let part = self.welcome.as_ref();
        let (number, agents) = part.map_or((0, 1), |part| (part.number, part.agents));
        let recipe = Recipe {
            plan: job.recipe,
            archive,
            wants_values: job.wants_values,
            wants_samples: job.wants_samples,
            wants_results: job.wants_results,
        };
        let mut outlet = self.outlet(&recipe)?;
        self.delivers = outlet.is_open();
        let assignment = Assignment {
            recipe,
            number,
            agents,
            data: Arc::default(),
            log: Arc::new(self.outgoing.clone()),
            secrets: Arc::clone(&self.outgoing.secrets),
            values: outlet.values(),
            samples: outlet.samples(),
            results: outlet.results(),
        };
        self.pass(Control::Do(Box::new(assignment), outlet));
        Ok(())
    }

    /// Opens the channels for single values that a job needs.
    fn outlet(&self, recipe: &Recipe) -> Result<Outlet, AgentError> {
        let (to, batches) = mpsc::channel(BATCHES_UNDER_WAY);
        let mut outlet = Outlet::open(recipe, &to).map_err(|error| refused_by_system(&error))?;
        if outlet.is_open() {
            let (endpoint, control) = (self.endpoint.clone(), self.control.clone());
            let at = self.settings.join.clone();
            let (open, way) = channel();
            outlet.await_way(way);
            tokio::spawn(async move {
                let delivered = deliver(&endpoint, &at, batches, open).await;
                // An engine that has ended needs no reply.
                drop(control.send(Control::Delivered(delivered)));
            });
        }
        Ok(outlet)
    }
}

/// Delivers all single values over a separate connection, once `open` was told that it is there; an error says why not.
async fn deliver(
    endpoint: &Endpoint,
    at: &str,
    batches: mpsc::Receiver<Batch>,
    open: Sender<()>,
) -> Result<(), String> {
    let channel = join(endpoint, at, TRY_LIMIT).await;
    let channel = channel.map_err(|error| error.to_string())?;
    // An engine that has ended needs no way.
    let _ = open.send(());
    let mut client = CoordinationClient::new(channel)
        .max_decoding_message_size(MESSAGE_MAX)
        .max_encoding_message_size(MESSAGE_MAX);
    let taken = client.deliver(ReceiverStream::new(batches)).await;
    taken.map(drop).map_err(|why| why.message().to_owned())
}

/// The endpoint of the coordinator.
fn endpoint_of(settings: &AgentSettings) -> Result<Endpoint, AgentError> {
    let unreachable = |why: String| AgentError::Unreachable(format!("{}: {why}", settings.join));
    let host = settings.join.rsplit_once(':').map(|(host, _)| host);
    let host = host.ok_or_else(|| unreachable("a host and a port are required".to_owned()))?;
    let endpoint = Endpoint::from_shared(format!("https://{}", settings.join))
        .map_err(|error| unreachable(error.to_string()))?
        .connect_timeout(TRY_LIMIT)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    let endpoint = match is_on_this_machine(&settings.join) {
        true => endpoint,
        false => endpoint
            .http2_keep_alive_interval(Duration::from_secs(1))
            .keep_alive_timeout(Duration::from_secs(3)),
    };
    endpoint
        .tls_config(settings.identity.client(host))
        .map_err(|error| unreachable(in_full(&error)))
}

/// Whether a coordinator is on this machine: the system tells of its end, and one that says nothing is stopped and goes on later.
fn is_on_this_machine(join: &str) -> bool {
    let at = join.parse::<SocketAddr>();
    at.is_ok_and(|at| at.ip().is_loopback())
}

/// Waits until the agent has to leave.
async fn told_to_leave(settings: &AgentSettings) {
    while !settings.leave.load(Relaxed) {
        tokio::time::sleep(LIVE_EVERY).await;
    }
}

/// Connects, and retries while the coordinator is not reachable yet.
async fn join(endpoint: &Endpoint, at: &str, patience: Duration) -> Result<Channel, AgentError> {
    let unreachable = |why: String| AgentError::Unreachable(format!("{at}: {why}"));
    let give_up_at = platform::monotonic_ns() + patience.as_nanos() as u64;
    loop {
        match endpoint.connect().await {
            Ok(channel) => return Ok(channel),
            Err(error) if platform::monotonic_ns() >= give_up_at || !is_passing(&error) => {
                return Err(unreachable(in_full(&error)));
            }
            Err(_) => tokio::time::sleep(TRY_EVERY).await,
        }
    }
}

/// Whether waiting may help: the coordinator does not listen yet, or its name does not resolve yet.
fn is_passing(error: &tonic::transport::Error) -> bool {
    !in_full(error).contains("certificate")
}

/// An error with its causes.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_at_an_address_of_loopback_is_on_this_machine() {
        for (join, is_here) in [
            ("127.0.0.1:6570", true),
            ("127.9.9.9:6570", true),
            ("[::1]:6570", true),
            ("10.0.0.1:6570", false),
            ("loadline-coordinator:6570", false),
        ] {
            assert_eq!(is_on_this_machine(join), is_here, "{join}");
        }
    }
}
