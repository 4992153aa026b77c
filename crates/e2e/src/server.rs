//! A threaded server: one thread accepts, plus one per connection.
//!
//! Must not know what is served. Invariant: when the server is dropped, its port is free, its connections are
//! cut, and all of its threads have ended.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock;

/// Handles each connection; when it returns, successfully or not, the connection is closed.
type Serve = dyn Fn(&TcpStream, &Stop) -> io::Result<()> + Send + Sync;

/// The stop signal of a server for its handlers.
#[derive(Default)]
pub struct Stop {
    asked: Mutex<bool>,
    bell: Condvar,
}

impl Stop {
    /// Sleeps; returns `false` if the server must end.
    pub fn pause(&self, time: Duration) -> bool {
        let asked = lock(&self.asked);
        let waited = self.bell.wait_timeout_while(asked, time, |asked| !*asked);
        let (asked, _) = waited.expect("no thread panics with this lock");
        !*asked
    }

    /// Waits until the server must end.
    pub fn wait(&self) {
        while self.pause(Duration::from_secs(3600)) {}
    }

    fn ask(&self) {
        *lock(&self.asked) = true;
        self.bell.notify_all();
    }

    fn is_asked(&self) -> bool {
        *lock(&self.asked)
    }
}

struct Shared {
    serve: Box<Serve>,
    stop: Stop,
    /// Connections being served, so that they can be cut.
    open: Mutex<HashMap<u64, Arc<TcpStream>>>,
    accepted: AtomicU64,
}

/// A server on its own port.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// No port can be listened on.
    pub fn start(
        serve: impl Fn(&TcpStream, &Stop) -> io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        Server::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), serve)
    }

    /// Serves at an address; a port that was closed a moment ago may still be occupied, so it is retried for a
    /// while.
    ///
    /// # Panics
    /// The address cannot be listened on.
    pub fn start_at(
        address: SocketAddr,
        serve: impl Fn(&TcpStream, &Stop) -> io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        let listener = clock::wait_for(Duration::from_secs(5), || TcpListener::bind(address).ok());
        let listener = listener.unwrap_or_else(|| panic!("{address} can be listened on"));
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            serve: Box::new(serve),
            stop: Stop::default(),
            open: Mutex::default(),
            accepted: AtomicU64::new(0),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Server {
            address,
            shared,
            acceptor: Some(acceptor),
        }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// A URL on this server.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.ask();
        // Wakes the acceptor; if it is unreachable it has ended already.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            // A server that panicked has already failed the test.
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept() else {
            break;
        };
        if shared.stop.is_asked() {
            break;
        }
        shared.accepted.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(stream);
        lock(&shared.open).insert(number, Arc::clone(&stream));
        threads.retain(|thread: &JoinHandle<()>| !thread.is_finished());
        let shared = Arc::clone(shared);
        threads.push(std::thread::spawn(move || {
            // Many of these connections are meant to be closed by the other side.
            let _ = (shared.serve)(&stream, &shared.stop);
            lock(&shared.open).remove(&number);
        }));
    }
    for stream in lock(&shared.open).values() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Ports below the system's ephemeral ports, one of which might occupy a free port before its server does.
const PORTS: Range<u16> = 12_000..32_000;

/// A currently unused port of 127.0.0.1.
///
/// # Panics
/// No port is available.
#[must_use]
pub fn free_port() -> u16 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let length = u32::from(PORTS.end - PORTS.start);
    // Tests in different processes start far from one another.
    let first = std::process::id().wrapping_mul(769);
    let ports = std::iter::repeat_with(|| {
        let number = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        PORTS.start + (number % length) as u16
    });
    let mut free = ports
        .take(length as usize)
        .filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.next().expect("a port is free")
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics with this lock")
}
