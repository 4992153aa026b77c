//! The coordinator's network side: connections to messages and back.
//!
//! Must not decide anything. Invariants: messages of a link reach the roster in order; a link that the roster
//! does not know is closed; nothing blocks while the roster is locked.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Sender, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use loadline_engine::batches::ValueSender;
use loadline_engine::live::LiveCounters;
use loadline_engine::{PlannedArrivals, WorkerReport, platform, runtime};
use loadline_metric::MetricRegistry;
use loadline_model::TestPlan;
use loadline_model::sample::Sample;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

use super::door;
use super::fleet::ResultTaker;
use super::jobs::Told;
use super::outbound::{Outbound, Sending};
use super::roster::{Act, Link, Lost, Roster};
use super::words::Words;
use crate::batch::{samples_received, values_received};
use crate::generated::coordination_server::{Coordination, CoordinationServer};
use crate::generated::from_agent::What as Said;
use crate::generated::to_agent::What;
use crate::generated::{Batch, FromAgent, Taken};
use crate::identity::Identity;
use crate::share::share_of;

/// Maximum bytes of one message: a second of many series.
pub(crate) const MESSAGE_MAX: usize = 64 << 20;
/// Maximum bytes in flight on a stream.
pub(crate) const WINDOW: u32 = 4 << 20;
/// How often the time is checked.
const TICK: Duration = Duration::from_millis(200);
/// How late that may be on a busy machine; if later, the process was suspended.
const LATE_MAX: Duration = Duration::from_millis(500);

/// The send queue of one link.
type Outgoing = mpsc::UnboundedSender<Outbound>;

/// State shared by the server and the run.
pub(super) struct Shared {
    pub(super) roster: Mutex<Roster>,
    /// Notified when an agent is ready or lost.
    pub(super) changed: Condvar,
    pub(super) live: Vec<Arc<LiveCounters>>,
    pub(super) recipe: Told,
    /// The receiver of each value of a script, and the existing metrics.
    pub(super) values: Option<(ValueSender, Arc<MetricRegistry>)>,
    /// The receiver of each request, while the run keeps the channel open.
    pub(super) samples: Option<Weak<SyncSender<Vec<Sample>>>>,
    /// The receiver of results of a plan of steps, likewise.
    pub(super) results: Option<Weak<ResultTaker>>,
    /// The whole plan.
    pub(super) plan: Arc<TestPlan>,
    /// The number of agents that run it.
    pub(super) agents: u32,
    pub(super) reports: Sender<WorkerReport>,
    pub(super) words: Words,
    pub(super) links: Mutex<Links>,
}

/// The open links.
#[derive(Default)]
pub(super) struct Links {
    open: BTreeMap<Link, Outgoing>,
    next: Link,
}

impl Shared {
    pub(super) fn roster(&self) -> MutexGuard<'_, Roster> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any link is open.
    pub(super) fn has_links(&self) -> bool {
        !self.links().open.is_empty()
    }

    /// Lets the roster decide, and performs its acts.
    pub(super) fn decide(&self, ask: impl FnOnce(&mut Roster) -> Vec<Act>) {
        let mut roster = self.roster();
        let acts = ask(&mut roster);
        // While the roster is locked, so that its acts keep their order.
        self.carry_out(acts);
        for (share, counters) in (0..).zip(&self.live) {
            counters.show(&roster.live_of(share));
        }
        drop(roster);
        self.changed.notify_all();
    }

    /// Passes a message from a link to the roster: its cost does not grow with the number of agents, each of which
    /// sends several per second.
    fn hear(&self, link: Link, said: Said) {
        let now = platform::monotonic_ns();
        let mut roster = self.roster();
        let before = roster.share_at(link);
        let acts = roster.heard(now, link, said);
        self.carry_out(acts);
        // An agent that is lost because of its message has no seat any more.
        let share = before.or_else(|| roster.share_at(link));
        if let Some((share, counters)) =
            share.and_then(|share| Some((share, self.live.get(share as usize)?)))
        {
            counters.show(&roster.live_of(share));
        }
        drop(roster);
        self.changed.notify_all();
    }

    fn carry_out(&self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Say(link, what) => self.say(link, what),
                Act::Employ(link, held) => {
                    let (job, archive) = self.recipe.to(&held);
                    self.say(link, What::Job(job));
                    self.send(link, Outbound::Archive(archive));
                }
                Act::Close(link) => drop(self.links().open.remove(&link)),
                // A run that no longer listens has ended.
                Act::Tell(report) => drop(self.reports.send(report)),
                Act::Lose(number, lost) => {
                    if lost.is_awaited {
                        self.words.lost(lost.name.clone());
                    }
                    drop(self.reports.send(self.lost(number, lost)));
                }
                Act::Log(line) => self.words.log(line),
                Act::Note(text) => self.words.note(text),
            }
        }
    }

    /// Reports a lost agent to the run.
    fn lost(&self, number: u32, lost: Lost) -> WorkerReport {
        let share = share_of((*self.plan).clone(), number, self.agents);
        let planned = share.and_then(|plan| PlannedArrivals::of(&plan, lost.from));
        WorkerReport::Lost {
            workers: lost.workers,
            why: lost.why,
            begun: lost.begun,
            unended: lost.unended,
            planned: planned.ok(),
            is_awaited: lost.is_awaited,
            is_unsettled: lost.is_unsettled,
        }
    }

    /// Passes single values to their receiver.
    fn take(&self, mut batch: Batch) -> Result<(), String> {
        if let Some((values, registry)) = &self.values
            && !batch.values.is_empty()
        {
            // Outputs that have ended accept nothing more, and have said why.
            let _ = values.send(values_received(&mut batch, registry)?);
        }
        let samples = self.samples.as_ref().and_then(Weak::upgrade);
        if let Some(samples) = samples
            && !batch.samples.is_empty()
        {
            let _ = samples.send(samples_received(&mut batch)?);
        }
        let results = self.results.as_ref().and_then(Weak::upgrade);
        if let Some(results) = results
            && !batch.results.is_empty()
        {
            results(&batch.results)?;
        }
        Ok(())
    }

    fn say(&self, link: Link, what: What) {
        self.send(link, Outbound::Say(what));
    }

    fn send(&self, link: Link, what: Outbound) {
        if let Some(outgoing) = self.links().open.get(&link) {
            // The other half of a closed link reports it.
            drop(outgoing.send(what));
        }
    }

    fn open(&self) -> (Link, mpsc::UnboundedReceiver<Outbound>) {
        let (outgoing, receiver) = mpsc::unbounded_channel();
        let mut links = self.links();
        let link = links.next;
        links.next += 1;
        links.open.insert(link, outgoing);
        (link, receiver)
    }
}

struct Desk(Arc<Shared>);

#[tonic::async_trait]
impl Coordination for Desk {
    type AttendStream = Sending;

    async fn attend(
        &self,
        request: Request<Streaming<FromAgent>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let (link, receiver) = self.0.open();
        tokio::spawn(listen(Arc::clone(&self.0), link, request.into_inner()));
        Ok(Response::new(Sending::new(receiver)))
    }

    async fn deliver(&self, request: Request<Streaming<Batch>>) -> Result<Response<Taken>, Status> {
        let mut batches = request.into_inner();
        while let Some(batch) = batches.message().await? {
            let shared = Arc::clone(&self.0);
            // The receiver may be slow: only this link waits.
            let taken = tokio::task::spawn_blocking(move || shared.take(batch)).await;
            let taken = taken.map_err(|error| Status::internal(error.to_string()))?;
            taken.map_err(Status::invalid_argument)?;
        }
        Ok(Response::new(Taken {}))
    }
}

/// Handles the messages of a link to its end.
async fn listen(shared: Arc<Shared>, link: Link, mut incoming: Streaming<FromAgent>) {
    while let Ok(Some(message)) = incoming.message().await {
        if let Some(said) = message.what {
            shared.hear(link, said);
        }
    }
    let now = platform::monotonic_ns();
    shared.decide(|roster| roster.closed(now, link));
    shared.links().open.remove(&link);
}

/// A running server; it ends when dropped.
pub(super) struct Serving {
    pub(super) address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

/// Starts serving.
pub(super) fn serve(
    shared: Arc<Shared>,
    listen: SocketAddr,
    identity: &Identity,
) -> io::Result<Serving> {
    let listener = TcpListener::bind(listen)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let server = Server::builder()
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .http2_keepalive_interval(Some(Duration::from_secs(1)))
        .http2_keepalive_timeout(Some(Duration::from_secs(3)))
        .tls_config(identity.server())
        .map_err(io::Error::other)?;
    let (stop, stopped) = oneshot::channel();
    let runtime = runtime::builder()?.build()?;
    let serve = async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let desk = CoordinationServer::new(Desk(Arc::clone(&shared)))
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        let connections = door::connections(listener, Arc::clone(&shared));
        let serving = server.serve_with_incoming(desk, connections);
        tokio::select! {
            served = serving => served.map_err(io::Error::other),
            () = watch_time(&shared) => Ok(()),
            _ = stopped => Ok(()),
        }
    };
    thread::Builder::new()
        .name("coordinator".to_owned())
        .spawn(move || drop(runtime.block_on(serve)))?;
    Ok(Serving {
        address,
        _stop: stop,
    })
}

async fn watch_time(shared: &Shared) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut due = platform::monotonic_ns();
    loop {
        ticks.tick().await;
        let now = platform::monotonic_ns();
        let late = now.saturating_sub(due);
        due = now + TICK.as_nanos() as u64;
        shared.decide(|roster| {
            if late > LATE_MAX.as_nanos() as u64 {
                roster.stood_still(late);
            }
            roster.tick(now)
        });
    }
}
