//! One worker: a thread with its own event loop, timer, randomness and metrics.
//!
//! It must not know HTTP. Invariant: on the path of a request, workers only share the queues of `/service` and
//! read-only data.

use super::connection::Connection;
use super::http;
use super::timer::Timer;
use crate::metrics::Recorder;
use crate::random::Dice;
use crate::state::ServerState;
use crate::testbed::{CounterSlot, Tally};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsAcceptor;

/// Connections that wait for a worker to take them over; more wait in the kernel's backlog.
pub(super) const HANDED_OVER_MAX: usize = 1_024;
/// How often overdue connections are looked for.
const SWEEP: Duration = Duration::from_secs(1);
/// The pause after a failed accept, which is mostly a lack of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(20);
/// How often a stopping worker looks whether its connections have ended.
const STOP_POLL: Duration = Duration::from_millis(5);

/// A connection on its way to its worker.
pub(super) struct Handover {
    stream: TcpStream,
    peer: SocketAddr,
    tls: bool,
}

/// What the accepting worker owns.
pub(super) struct Accepting {
    pub(super) listeners: (TcpListener, Option<TcpListener>),
    pub(super) senders: Vec<mpsc::Sender<Handover>>,
}

/// Everything a worker starts with.
pub(super) struct Seat {
    pub(super) index: usize,
    pub(super) shared: Arc<ServerState>,
    pub(super) incoming: mpsc::Receiver<Handover>,
    pub(super) accepting: Option<Accepting>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// One worker, as its connections see it.
pub(crate) struct Worker {
    index: usize,
    pub(crate) shared: Arc<ServerState>,
    pub(crate) timer: Arc<Timer>,
    pub(crate) recorder: Arc<Recorder>,
    pub(super) tls: Option<TlsAcceptor>,
    dice: Mutex<Dice>,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next_id: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    stopping: bool,
}

/// Starts the thread of one worker.
///
/// # Errors
/// When the thread or its event loop cannot be made.
pub(super) fn start(seat: Seat) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let worker = {
        let _inside = runtime.enter();
        Arc::new(Worker::new(&seat)?)
    };
    std::thread::Builder::new()
        .name(format!("target-{}", seat.index))
        .spawn(move || runtime.block_on(worker.run(seat)))
}

impl Worker {
    fn new(seat: &Seat) -> io::Result<Self> {
        let shared = Arc::clone(&seat.shared);
        let seed = shared.config.seed.wrapping_add(seat.index as u64);
        Ok(Self {
            index: seat.index,
            timer: Arc::new(Timer::new(Arc::clone(&shared.clock))?),
            recorder: Arc::clone(&shared.recorders[seat.index]),
            tls: seat.tls.clone(),
            dice: Mutex::new(Dice::seeded(seed)),
            connections: Mutex::default(),
            shared,
        })
    }

    /// The worker's randomness; never held across a wait.
    pub(crate) fn dice(&self) -> MutexGuard<'_, Dice> {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters of a testbed, where the server is part of one.
    pub(super) fn tally(&self) -> Option<&Arc<Tally>> {
        self.shared.part.as_ref()?.tally.as_ref()
    }

    /// Which of the workers it is, from 0.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    async fn run(self: Arc<Self>, seat: Seat) {
        tokio::spawn(Arc::clone(&self.timer).drive());
        tokio::spawn(Arc::clone(&self).sweep());
        tokio::spawn(Arc::clone(&self).take_over(seat.incoming));
        let accepting = seat
            .accepting
            .map(|a| self.accept_all(a))
            .unwrap_or_default();
        let mut stopped = seat.stopped;
        // An error means that the handle is gone, which is a request to stop as well.
        let _ = stopped.wait_for(|stopped| *stopped).await;
        for task in accepting {
            task.abort();
        }
        self.end_connections().await;
    }

    fn accept_all(self: &Arc<Self>, accepting: Accepting) -> Vec<tokio::task::JoinHandle<()>> {
        let Accepting {
            listeners: (plain, tls),
            senders,
        } = accepting;
        [(Some(plain), false), (tls, true)]
            .into_iter()
            .filter_map(|(listener, tls)| listener.map(|listener| (listener, tls)))
            .map(|(listener, tls)| {
                tokio::spawn(Arc::clone(self).accept(listener, senders.clone(), tls))
            })
            .collect()
    }

    async fn accept(
        self: Arc<Self>,
        listener: TcpListener,
        senders: Vec<mpsc::Sender<Handover>>,
        tls: bool,
    ) {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
            return;
        };
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.dispatch(stream, peer, tls, &senders).await,
                Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
            }
        }
    }

    /// Gives a new connection to the worker with the fewest, or closes it when there are too many.
    async fn dispatch(
        self: &Arc<Self>,
        stream: tokio::net::TcpStream,
        peer: SocketAddr,
        tls: bool,
        senders: &[mpsc::Sender<Handover>],
    ) {
        let open = |index: usize| self.shared.open[index].load(Relaxed);
        let all: usize = (0..senders.len()).map(open).sum();
        if all >= self.shared.config.limits.connections {
            return;
        }
        let fewest = (0..senders.len())
            .min_by_key(|i| open(*i))
            .unwrap_or(self.index);
        self.shared.open[fewest].fetch_add(1, Relaxed);
        if fewest == self.index {
            self.spawn(stream, peer, tls);
            return;
        }
        let handed = match stream.into_std() {
            Ok(stream) => senders[fewest]
                .send(Handover { stream, peer, tls })
                .await
                .is_ok(),
            Err(_) => false,
        };
        if !handed {
            self.shared.open[fewest].fetch_sub(1, Relaxed);
        }
    }

    async fn take_over(self: Arc<Self>, mut incoming: mpsc::Receiver<Handover>) {
        while let Some(Handover { stream, peer, tls }) = incoming.recv().await {
            match tokio::net::TcpStream::from_std(stream) {
                Ok(stream) => self.spawn(stream, peer, tls),
                Err(_) => drop(self.shared.open[self.index].fetch_sub(1, Relaxed)),
            }
        }
    }

    /// Serves a connection, already counted as open, in a separate task.
    fn spawn(self: &Arc<Self>, stream: tokio::net::TcpStream, peer: SocketAddr, tls: bool) {
        let seat = Registered::new(Arc::clone(self));
        if let Some(tally) = self.tally() {
            tally.add(CounterSlot::Connections, 1);
        }
        tokio::spawn(async move {
            // An answer must leave at once; a socket that refuses the option still works.
            drop(stream.set_nodelay(true));
            http::drive(&seat.worker, &seat.connection, stream, peer, tls).await;
        });
    }

    /// Ends connections that are idle, stalled or never finish a head.
    async fn sweep(self: Arc<Self>) {
        loop {
            tokio::time::sleep(SWEEP).await;
            let now_ns = self.shared.clock.now_ns();
            let connections = self.connections();
            connections
                .by_id
                .values()
                .filter(|connection| connection.is_overdue(now_ns, &self.shared.config.limits))
                .for_each(|connection| connection.ask_to_abort());
        }
    }

    async fn end_connections(&self) {
        {
            let mut connections = self.connections();
            connections.stopping = true;
            connections
                .by_id
                .values()
                .for_each(|connection| connection.ask_to_finish());
        }
        let all_ended = async {
            while !self.connections().by_id.is_empty() {
                tokio::time::sleep(STOP_POLL).await;
            }
        };
        // What is left after the graceful stop is dropped with the runtime.
        let _ = tokio::time::timeout(self.shared.config.graceful_stop, all_ended).await;
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place in its worker's books; dropping it takes the connection out of them.
struct Registered {
    worker: Arc<Worker>,
    connection: Arc<Connection>,
    id: u64,
}

impl Registered {
    fn new(worker: Arc<Worker>) -> Self {
        let connection = Arc::new(Connection::new(Arc::clone(&worker.shared.clock)));
        let id = {
            let mut connections = worker.connections();
            connections.next_id += 1;
            let id = connections.next_id;
            connections.by_id.insert(id, Arc::clone(&connection));
            if connections.stopping {
                connection.ask_to_finish();
            }
            id
        };
        Self {
            worker,
            connection,
            id,
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.worker.connections().by_id.remove(&self.id);
        self.worker.shared.open[self.worker.index].fetch_sub(1, Relaxed);
    }
}
