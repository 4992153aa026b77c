//! Connections of the stand-in: accepted, decrypted, authenticated by token or certificate, and served one request
//! after another.
//!
//! Must not know responses. Invariant: when the stand-in is dropped every thread of it ends.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::http::{Answer, Request, begin_chunks, chunk};
use super::log::shown;
use super::routes::{self, Reply};
use super::state::State;
use super::{TOKEN, portforward};

/// How often a waiting stream checks whether the stand-in has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(super) type Connection = StreamOwned<ServerConnection, TcpStream>;

/// What the threads share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<Inner>,
    changed: Condvar,
    sockets: Mutex<Vec<TcpStream>>,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    is_over: bool,
}

impl Shared {
    /// Changes the state, and wakes those that wait for changes.
    pub(super) fn change<T>(&self, how: impl FnOnce(&mut State) -> T) -> T {
        let result = how(&mut lock(&self.state).state);
        self.changed.notify_all();
        result
    }

    /// Reads the state.
    pub(super) fn look<T>(&self, how: impl FnOnce(&State) -> T) -> T {
        how(&lock(&self.state).state)
    }

    /// Waits until a check finds something; `None`: the stand-in ended.
    fn wait<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let mut inner = lock(&self.state);
        loop {
            if inner.is_over {
                return None;
            }
            if let Some(found) = look(&inner.state) {
                return Some(found);
            }
            let waited = self.changed.wait_timeout(inner, LOOK_EVERY);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn end(&self, address: SocketAddr) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
        for socket in lock(&self.sockets).drain(..) {
            // It may be closed already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(TcpStream::connect(address));
    }

    pub(super) fn keep(&self, socket: &TcpStream) {
        if let Ok(socket) = socket.try_clone() {
            lock(&self.sockets).push(socket);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens on a free port.
pub(super) fn start(shared: &Arc<Shared>, config: Arc<ServerConfig>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for socket in listener.incoming() {
            if lock(&shared.state).is_over {
                return;
            }
            let Ok(socket) = socket else { continue };
            shared.keep(&socket);
            let (shared, config) = (Arc::clone(&shared), Arc::clone(&config));
            thread::spawn(move || {
                let Ok(connection) = ServerConnection::new(config) else {
                    return;
                };
                let mut stream = StreamOwned::new(connection, socket);
                // The client went, or does not trust us.
                let _ = serve(&shared, &mut stream);
                stream.conn.send_close_notify();
                let _ = stream.flush();
                let _ = stream.sock.shutdown(Shutdown::Both);
            });
        }
    });
    address
}

fn serve(shared: &Shared, stream: &mut Connection) -> io::Result<()> {
    stream.sock.set_nodelay(true)?;
    while let Some(request) = Request::read(stream)? {
        let is_known = stream
            .conn
            .peer_certificates()
            .is_some_and(|chain| !chain.is_empty())
            || request.header("authorization") == Some(&format!("Bearer {TOKEN}"));
        let reply = shared.change(|state| {
            state
                .requests
                .push(format!("{} {}", request.method, request.target));
            state.headers.clone_from(&request.headers);
            match is_known {
                true => routes::reply(state, &request),
                false => Reply::Answer(routes::unauthorized()),
            }
        });
        match reply {
            Reply::Answer(answer) => answer.write(stream)?,
            Reply::Follow {
                key,
                has_stamp,
                from,
                start,
            } => {
                return follow(shared, stream, &key, has_stamp, from, start);
            }
            Reply::Forward { pod, port } => {
                return portforward::serve(shared, stream, &request, &pod, port);
            }
        }
    }
    Ok(())
}

/// Sends lines of a log as they come, until the container ends.
fn follow(
    shared: &Shared,
    stream: &mut Connection,
    key: &[String; 3],
    has_stamp: bool,
    mut from: usize,
    start: u32,
) -> io::Result<()> {
    let mut has_begun = false;
    loop {
        let new = shared.wait(|state| {
            let log = state.logs.get(key)?;
            if log.start != start {
                // Output between the last check and the end belongs to the previous log.
                let rest = log.previous.iter().flatten().skip(from);
                return Some((
                    rest.map(|line| shown(line, has_stamp)).collect::<Vec<_>>(),
                    true,
                ));
            }
            let lines = log.lines.iter().skip(from);
            let lines: Vec<String> = lines.map(|line| shown(line, has_stamp)).collect();
            (!lines.is_empty()).then_some((lines, false))
        });
        let Some((lines, is_over)) = new else {
            return Ok(());
        };
        // A kubelet starts its response with the first line.
        if !std::mem::replace(&mut has_begun, true) {
            begin_chunks(stream, "text/plain")?;
        }
        from += lines.len();
        for line in lines {
            chunk(stream, line.as_bytes())?;
        }
        if is_over {
            return chunk(stream, b"");
        }
    }
}

/// Responds once, to clients that cannot be served.
pub(super) fn refuse(stream: &mut Connection, answer: &Answer) -> io::Result<()> {
    answer.write(stream)
}
