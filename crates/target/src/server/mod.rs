//! Starting and stopping the server.
//!
//! It must not know endpoints. Invariants: after `serve` returns, every listener accepts; after `join`
//! returns, no thread of the server is left.
//!
//! Connections are accepted from one listening socket per address and handed to the worker with the fewest
//! open connections. Listeners of their own per worker (`SO_REUSEPORT`) were rejected: the kernel spreads
//! connections by hash, and with the few dozen long connections of a load test one core then serves twice
//! as many as another, which would show as two populations of response times.

mod body;
mod connection;
mod http;
mod service;
mod timer;
mod transport;
mod worker;

use crate::clock::Clock;
use crate::config::TargetConfig;
use crate::error::TargetError;
use crate::queueing::QueueRegistry;
use crate::routes::RouteTable;
use crate::state::ServerState;
use crate::testbed::TestbedPart;
use crate::tls::{Identity, make_identity};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, watch};

pub(crate) use body::AnswerBody;
pub(crate) use service::collect;
pub(crate) use timer::Timer;
pub(crate) use worker::Worker;

/// A running server. Dropping it stops the server without waiting.
pub struct Running {
    address: SocketAddr,
    tls_address: Option<SocketAddr>,
    ca_pem: Option<String>,
    stop: watch::Sender<bool>,
    shared: Arc<ServerState>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// The address for plain HTTP, with the actual port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The address for HTTPS; `None` without TLS.
    #[must_use]
    pub fn tls_addr(&self) -> Option<SocketAddr> {
        self.tls_address
    }

    /// PEM of the certificate authority that signed the server's certificate; `None` without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// What the server is in a testbed.
    pub(crate) fn part(&self) -> Option<&TestbedPart> {
        self.shared.part.as_ref()
    }

    /// Accepts no more connections, lets running requests finish (see [`TargetConfig::graceful_stop`]), then
    /// ends the threads. Returns immediately; further calls have no effect.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits for the server to end after [`Running::stop`].
    pub fn join(mut self) {
        for thread in self.threads.drain(..) {
            // A panic of a worker has been printed by its thread; the others still have to be waited for.
            drop(thread.join());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts the server on its own threads.
///
/// # Errors
/// An address is in use, a file is invalid or missing, the certificate cannot be generated, or threads or file
/// descriptors are exhausted. Nothing is left running.
pub fn serve(config: TargetConfig) -> Result<Running, TargetError> {
    serve_as(config, None)
}

/// Starts the server as a part of a testbed, or on its own.
///
/// # Errors
/// As [`serve`].
pub(crate) fn serve_as(
    config: TargetConfig,
    part: Option<TestbedPart>,
) -> Result<Running, TargetError> {
    let threads = config.threads.map_or_else(available_cores, usize::from);
    let routes = match &config.routes {
        Some(path) => RouteTable::read(path)?,
        None => RouteTable::default(),
    };
    let identity = config.tls.as_ref().map(make_identity).transpose()?;
    let plain = listen(config.listen)?;
    let tls = config
        .tls
        .as_ref()
        .map(|tls| listen(tls.listen))
        .transpose()?;
    let address = local(&plain, config.listen)?;
    let tls_address = tls
        .as_ref()
        .map(|listener| local(listener, address))
        .transpose()?;
    let (stop, stopped) = watch::channel(false);
    let shared = Arc::new(ServerState {
        clock: Arc::new(Clock::start()),
        queues: QueueRegistry::new(config.limits.service_queues, config.seed),
        recorders: (0..threads).map(|_| Arc::default()).collect(),
        open: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
        routes,
        part,
        config,
    });
    let ca_pem = identity.as_ref().map(|identity| identity.ca_pem.clone());
    let mut running = Running {
        address,
        tls_address,
        ca_pem,
        stop,
        shared: Arc::clone(&shared),
        threads: Vec::new(),
    };
    start_workers(&shared, (plain, tls), identity, &stopped, &mut running)?;
    Ok(running)
}

fn start_workers(
    shared: &Arc<ServerState>,
    listeners: (TcpListener, Option<TcpListener>),
    identity: Option<Identity>,
    stopped: &watch::Receiver<bool>,
    running: &mut Running,
) -> Result<(), TargetError> {
    let acceptor = identity.map(|identity| identity.acceptor);
    let channels: Vec<_> = shared
        .open
        .iter()
        .map(|_| mpsc::channel(worker::HANDED_OVER_MAX))
        .collect();
    let (senders, receivers): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let mut accepting = Some(worker::Accepting { listeners, senders });
    for (index, incoming) in receivers.into_iter().enumerate() {
        let seat = worker::Seat {
            index,
            shared: Arc::clone(shared),
            incoming,
            accepting: accepting.take(),
            tls: acceptor.clone(),
            stopped: stopped.clone(),
        };
        let thread = worker::start(seat).map_err(TargetError::Worker)?;
        running.threads.push(thread);
    }
    Ok(())
}

/// As many threads as this process may use cores.
fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Opens a port for many connections at once.
///
/// # Errors
/// When the address is taken or does not exist.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, TargetError> {
    use socket2::{Domain, Socket, Type};
    // Enough for a client that opens ten thousand connections at once; the kernel caps it by somaxconn.
    const BACKLOG: i32 = 16_384;
    let open = || -> std::io::Result<TcpListener> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        // On Windows the option would let two servers share the port.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    open().map_err(|source| TargetError::Listen { address, source })
}

fn local(listener: &TcpListener, asked: SocketAddr) -> Result<SocketAddr, TargetError> {
    listener.local_addr().map_err(|source| TargetError::Listen {
        address: asked,
        source,
    })
}
