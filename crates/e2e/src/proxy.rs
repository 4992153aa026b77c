//! An HTTP proxy that records its requests: plain requests and CONNECT tunnels.
//!
//! Must not know what passes through. Invariant: a request is recorded before it is forwarded.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use crate::server::{Server, lock};
use crate::web::Request;

/// A proxy and its records.
pub struct Proxy {
    server: Server,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// One request to the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its request line.
    pub line: String,
    /// The credentials given with it; `None` if there are none.
    pub authorization: Option<String>,
}

impl Proxy {
    /// Starts a proxy on a free port.
    #[must_use]
    pub fn start() -> Proxy {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let server = Server::start(move |stream, _| forward(stream, &seen));
        Proxy { server, asked }
    }

    /// Starts one that refuses every request.
    #[must_use]
    pub fn refusing() -> Proxy {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let server = Server::start(move |stream, _| {
            crate::web::serve(stream, |request| {
                remember(request, &seen);
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n".to_vec()
            })
        });
        Proxy { server, asked }
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url("/")
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The requests so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }
}

fn remember(request: &Request, asked: &Mutex<Vec<Asked>>) {
    lock(asked).push(Asked {
        line: request.head.lines().next().unwrap_or_default().to_owned(),
        authorization: request.header("proxy-authorization").map(str::to_owned),
    });
}

/// Serves one connection: a tunnel, or one request whose response ends with the connection.
fn forward(mut client: &TcpStream, asked: &Mutex<Vec<Asked>>) -> io::Result<()> {
    let Some(request) = Request::read(&mut client)? else {
        return Ok(());
    };
    remember(&request, asked);
    if request.word(0) == "CONNECT" {
        let upstream = TcpStream::connect(request.word(1))?;
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        return tunnel(client, &upstream);
    }
    let rest = request.word(1).strip_prefix("http://").unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut upstream = TcpStream::connect(host)?;
    let headers = request.head.lines().skip(1);
    let kept = headers.filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !["connection", "proxy-authorization"].contains(&name.to_ascii_lowercase().as_str())
    });
    let lines: Vec<&str> = kept.collect();
    let method = request.word(0);
    let head = format!(
        "{method} /{path} HTTP/1.1\r\n{}\r\nConnection: close\r\n\r\n",
        lines.join("\r\n")
    );
    upstream.write_all(head.as_bytes())?;
    upstream.write_all(&request.body)?;
    io::copy(&mut upstream, &mut client)?;
    Ok(())
}

/// A server at an address that forwards each connection; when dropped, it cuts them.
#[must_use]
pub fn relay(at: SocketAddr, to: String) -> Server {
    relay_without(0..0, at, to)
}

/// The same, which cuts connections with these numbers, counted from 0, at once.
#[must_use]
pub fn relay_without(cut: Range<usize>, at: SocketAddr, to: String) -> Server {
    let number = AtomicUsize::new(0);
    Server::start_at(at, move |stream, _| {
        match cut.contains(&number.fetch_add(1, Relaxed)) {
            true => Ok(()),
            false => tunnel(stream, &TcpStream::connect(&to)?),
        }
    })
}

/// Copies both ways until both ends are closed.
fn tunnel(client: &TcpStream, upstream: &TcpStream) -> io::Result<()> {
    let pass = |mut from: &TcpStream, mut to: &TcpStream| {
        let copied = io::copy(&mut from, &mut to);
        // A closed socket needs no shutdown.
        let _ = to.shutdown(Shutdown::Write);
        copied
    };
    std::thread::scope(|scope| {
        scope.spawn(|| pass(client, upstream));
        pass(upstream, client)
    })?;
    Ok(())
}
