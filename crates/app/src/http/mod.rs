//! The small HTTP server of a running test, for the REST API and the live page, each on a separate thread.
//!
//! Must not know what is served. Invariants: nothing here runs on a worker's thread; connections, bodies and
//! waits are bounded, and a client that does not read its response is disconnected.

mod address;
mod connection;
mod guard;

use std::io;
#[cfg(test)]
use std::net::SocketAddr;
use std::net::TcpListener;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::HeaderName;
use loadline_engine::runtime;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

use connection::{Guarded, Seat};
use guard::Guard;
pub(crate) use guard::{AccessSettings, Refusal, TokenChoice, random_word};

/// Concurrent connections; more wait to be accepted, and take the place of one that has asked nothing.
const CONNECTIONS_MAX: usize = 64;
/// How long responses in flight may take after the test has ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// Pause after a failed accept, which means that file descriptors are exhausted.
const AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(50);

/// A request.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) body: &'a [u8],
    /// Cuts the connection when notified.
    pub(crate) cut: &'a Arc<Notify>,
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `None`: there is no body.
    pub(crate) content_type: Option<&'static str>,
    pub(crate) headers: Vec<(HeaderName, &'static str)>,
    pub(crate) body: String,
}

impl Answer {
    /// A response with a body.
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<String>) -> Answer {
        Answer {
            content_type: Some(content_type),
            body: body.into(),
            ..Answer::empty(status)
        }
    }

    /// A response without a body.
    pub(crate) fn empty(status: u16) -> Answer {
        Answer {
            status,
            content_type: None,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// The same with an additional header field.
    pub(crate) fn with(mut self, name: HeaderName, value: &'static str) -> Answer {
        self.headers.push((name, value));
        self
    }
}

/// The result of a request.
pub(crate) enum Work {
    /// The response is ready.
    Done(Answer),
    /// It takes long, and is computed on a separate thread.
    Later(Box<dyn FnOnce() -> Answer + Send>),
    /// A stream: after the response's head comes everything from the channel, until that ends.
    Stream(Answer, mpsc::Receiver<Bytes>),
}

/// A service that responds to requests.
pub(crate) trait Service: Send + Sync + 'static {
    /// The response to a request that the guard accepted; must not block.
    fn answer(self: &Arc<Self>, asked: &Asked<'_>) -> Work;

    /// The response to a request that the guard refuses.
    fn refused(&self, why: Refusal) -> Answer;

    /// The response to a body that is too long, or was cut off.
    fn too_large(&self) -> Answer;

    /// The response to a body that does not arrive in time.
    fn too_slow(&self) -> Answer;

    /// The response to an internal error.
    fn broken(&self) -> Answer;
}

/// A server, which serves until this is dropped.
pub(crate) struct Server {
    url: String,
    token: Option<String>,
    #[cfg(test)]
    address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to listen at `host:port`, on a thread with this name.
    ///
    /// # Errors
    /// Why it cannot listen there, with the text of Go's `net.Listen`.
    pub(crate) fn start(
        name: &'static str,
        address: &str,
        access: &AccessSettings,
        service: Arc<impl Service>,
    ) -> Result<Server, String> {
        let guard = Guard::new(address, access)?;
        let listener = address::listen(address)?;
        let told = |error: io::Error| format!("listen tcp {address}: {error}");
        listener.set_nonblocking(true).map_err(told)?;
        let bound = listener.local_addr().map_err(told)?;
        let (stop, stopped) = watch::channel(false);
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (url, token) = (guard.url(bound), guard.token().map(str::to_owned));
        let guarded = Arc::new(Guarded::new(guard, service));
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve_on_this_thread(listener, guarded, stopped, &ready))
            .map_err(told)?;
        // A thread that panicked has sent nothing, and serves nothing.
        let begun = is_ready.recv();
        begun
            .unwrap_or_else(|_| Err(io::Error::other("its thread failed")))
            .map_err(told)?;
        Ok(Server {
            url,
            token,
            #[cfg(test)]
            address: bound,
            stop,
            thread: Some(thread),
        })
    }

    /// The URL to open, with its token if one is required.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The required token; `None`: none.
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Where it listens.
    #[cfg(test)]
    fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A server that panicked has nothing more to send.
            drop(thread.join());
        }
    }
}

/// Serves until stopped; `ready` is told whether it can.
fn serve_on_this_thread(
    listener: TcpListener,
    service: Arc<Guarded<impl Service>>,
    stopped: watch::Receiver<bool>,
    ready: &Sender<io::Result<()>>,
) {
    // Whoever started this thread waits for the answer.
    let answer = |told| drop(ready.send(told));
    let runtime = match runtime::local() {
        Ok(runtime) => runtime,
        Err(error) => return answer(Err(error)),
    };
    runtime.block_on(async {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => {
                answer(Ok(()));
                serve(listener, service, stopped).await;
            }
            Err(error) => answer(Err(error)),
        }
    });
}

async fn serve(
    listener: tokio::net::TcpListener,
    service: Arc<Guarded<impl Service>>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut open = tokio::task::JoinSet::new();
    let mut seats: Vec<Weak<Seat>> = Vec::new();
    loop {
        while open.try_join_next().is_some() {}
        seats.retain(|seat| seat.strong_count() > 0);
        if open.len() >= CONNECTIONS_MAX {
            let mut seated = seats.iter().filter_map(Weak::upgrade);
            // The one that has been silent longest.
            if let Some(seat) = seated.find(|seat| !seat.has_asked()) {
                seat.cut();
            }
            open.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let seat = Rc::new(Seat::default());
                    seats.push(Rc::downgrade(&seat));
                    let service = Arc::clone(&service);
                    let served = connection::serve(stream, seat, service, stopped.clone());
                    open.spawn_local(served);
                }
                Err(_) => tokio::time::sleep(AFTER_FAILED_ACCEPT).await,
            },
            _ = stopped.changed() => break,
        }
    }
    let all_answered = async { while open.join_next().await.is_some() {} };
    // Responses that take longer are abandoned with the process.
    drop(timeout(LAST_ANSWERS, all_answered).await);
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::Mutex;

    use super::*;

    /// Responds to `/whole` at once, to `/later` on another thread and to anything else without an end; keeps
    /// the means to continue and cut the stream.
    #[derive(Default)]
    struct Echo {
        streams: Mutex<Vec<(mpsc::Sender<Bytes>, Arc<Notify>)>>,
    }

    impl Service for Echo {
        fn answer(self: &Arc<Self>, asked: &Asked<'_>) -> Work {
            let told = format!("{} {}", asked.method, asked.body.len());
            match asked.path {
                "/whole" => Work::Done(Answer::new(200, "text/plain", told)),
                "/later" => Work::Later(Box::new(move || Answer::new(202, "text/plain", told))),
                _ => {
                    let (sender, channel) = mpsc::channel(1);
                    let cut = Arc::clone(asked.cut);
                    let mut streams = self.streams.lock().expect("nobody panicked");
                    streams.push((sender, cut));
                    Work::Stream(Answer::new(200, "text/plain", ""), channel)
                }
            }
        }

        fn refused(&self, _why: Refusal) -> Answer {
            Answer::empty(403)
        }

        fn too_large(&self) -> Answer {
            Answer::empty(413)
        }

        fn too_slow(&self) -> Answer {
            Answer::empty(408)
        }

        fn broken(&self) -> Answer {
            Answer::empty(500)
        }
    }

    fn start() -> (Server, Arc<Echo>) {
        let echo = Arc::new(Echo::default());
        let server = Server::start(
            "echo",
            "127.0.0.1:0",
            &AccessSettings::default(),
            Arc::clone(&echo),
        );
        (server.expect("a free port"), echo)
    }

    fn ask(server: &Server, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(server.address()).expect("it listens");
        let request = format!("{head} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// The received text until it contains `end`, or the connection ends.
    fn until(stream: &mut TcpStream, end: &str) -> String {
        let mut told = Vec::new();
        let mut byte = [0];
        while !String::from_utf8_lossy(&told).contains(end) {
            match stream.read(&mut byte) {
                Ok(1) => told.push(byte[0]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&told).into_owned()
    }

    #[test]
    fn answers_are_whole_now_or_later() {
        let (server, _) = start();
        let told = until(&mut ask(&server, "POST /whole?a=1"), "POST 3");
        assert!(told.starts_with("HTTP/1.1 200 OK"), "{told}");
        let told = until(&mut ask(&server, "GET /later"), "GET 3");
        assert!(told.starts_with("HTTP/1.1 202 Accepted"), "{told}");
    }

    #[test]
    fn a_stream_goes_on_until_it_ends_or_is_cut() {
        let (server, echo) = start();
        let mut reader = ask(&server, "GET /stream");
        let head = until(&mut reader, "\r\n\r\n");
        assert!(head.contains("chunked"), "{head}");
        let (sender, cut) = echo.streams.lock().expect("it is there").remove(0);
        sender
            .blocking_send(Bytes::from_static(b"one"))
            .expect("it listens");
        assert!(until(&mut reader, "one").ends_with("one"));
        cut.notify_one();
        assert!(!until(&mut reader, "never").contains("\r\n0\r\n\r\n"));
        // The connection is closed, and so is the channel of its data.
        let gone = sender.blocking_send(Bytes::from_static(b"two"));
        let more = sender.blocking_send(Bytes::from_static(b"three"));
        assert!(gone.is_err() || more.is_err());
        let mut ended = ask(&server, "GET /stream");
        until(&mut ended, "\r\n\r\n");
        drop(echo.streams.lock().expect("it is there").remove(0));
        assert_eq!(until(&mut ended, "0\r\n\r\n"), "0\r\n\r\n");
    }

    #[test]
    fn who_asks_nothing_keeps_nobody_out() {
        let (server, _) = start();
        let silent: Vec<_> = (0..CONNECTIONS_MAX + 6)
            .map(|_| TcpStream::connect(server.address()).expect("it listens"))
            .collect();
        let mut reader = ask(&server, "GET /whole");
        let patience = Some(Duration::from_secs(3));
        reader.set_read_timeout(patience).expect("a socket");
        assert!(until(&mut reader, "GET 3").contains("GET 3"));
        drop(silent);
    }

    #[test]
    fn a_server_that_is_dropped_waits_for_nobody() {
        let (server, _echo) = start();
        let mut reader = ask(&server, "GET /stream");
        until(&mut reader, "\r\n\r\n");
        drop(server);
        until(&mut reader, "never");
    }
}
