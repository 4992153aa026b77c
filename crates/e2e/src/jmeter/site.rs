//! A server that records every byte of its requests, by connection, and responds by path.
//!
//! Must not know the client. Invariant: a response only depends on the requests to this site, never on time; a
//! request is recorded before the response.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::certificates::{Authority, Validity};
use crate::server::{Server, Stop, lock};
use crate::web;

use super::answers::{Answer, answer};

/// The requests of each connection, in the order of their first requests.
type Asked = Arc<Mutex<Vec<Vec<Vec<u8>>>>>;

/// A listening site.
pub(super) struct Site {
    server: Server,
    asked: Asked,
}

#[derive(Clone, Default)]
struct Shared {
    asked: Asked,
    /// Requests for `/count` so far.
    counted: Arc<AtomicU64>,
}

impl Site {
    /// Starts one on 127.0.0.1.
    pub(super) fn start() -> Site {
        let shared = Shared::default();
        let asked = Arc::clone(&shared.asked);
        let server = Server::start(move |stream, stop| {
            stream.set_nodelay(true)?;
            let mut stream = stream;
            serve(&mut stream, stop, &shared)
        });
        Site { server, asked }
    }

    /// Starts one with TLS, with an untrusted certificate.
    pub(super) fn start_tls() -> Site {
        let shared = Shared::default();
        let asked = Arc::clone(&shared.asked);
        let identity = Authority::new("nobody").sign("127.0.0.1", Validity::Now);
        let server = identity.serve_by(&[], move |stream, stop| serve(stream, stop, &shared));
        Site { server, asked }
    }

    /// Its port.
    pub(super) fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Takes the requests so far.
    pub(super) fn take(&self) -> Vec<Vec<Vec<u8>>> {
        std::mem::take(&mut *lock(&self.asked))
    }
}

fn serve(stream: &mut (impl Read + Write), stop: &Stop, shared: &Shared) -> io::Result<()> {
    let mut number = None;
    loop {
        let mut request = match web::read_head_bytes(stream) {
            Ok(Some(head)) => head,
            Ok(None) => break,
            Err(why) => {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
                return Err(why);
            }
        };
        let head = String::from_utf8_lossy(&request).into_owned();
        let start = request.len();
        let whole = web::read_body_bytes(stream, &mut request);
        let body = request[start..].to_vec();
        keep(&shared.asked, &mut number, request);
        whole?;
        let request = web::Request { head, body };
        let answer = answer(&request, || {
            shared.counted.fetch_add(1, Ordering::Relaxed) + 1
        });
        let Answer {
            bytes,
            after_ms,
            closes,
        } = answer;
        if after_ms > 0 && !stop.pause(Duration::from_millis(after_ms)) {
            break;
        }
        stream.write_all(&bytes)?;
        if closes || request.header("connection") == Some("close") {
            break;
        }
    }
    Ok(())
}

fn keep(asked: &Asked, number: &mut Option<usize>, request: Vec<u8>) {
    let mut asked = lock(asked);
    let number = *number.get_or_insert_with(|| {
        asked.push(Vec::new());
        asked.len() - 1
    });
    // Requests that were taken are not extended.
    if let Some(requests) = asked.get_mut(number) {
        requests.push(request);
    }
}
