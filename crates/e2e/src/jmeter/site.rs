//! A server that keeps every byte it is asked, by connection, and answers by the path.
//!
//! Must not know who asks. Invariant: an answer depends on what was asked of this site alone, never on time; a
//! request is kept before it is answered.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::certificates::{Authority, Validity};
use crate::server::{Server, Stop, lock};
use crate::web;

use super::answers::{Answer, answer};

/// The requests of each connection, in the order in which the first of each came.
type Asked = Arc<Mutex<Vec<Vec<Vec<u8>>>>>;

/// A site that listens.
pub(super) struct Site {
    server: Server,
    asked: Asked,
}

#[derive(Clone, Default)]
struct Shared {
    asked: Asked,
    /// Requests of `/count` so far.
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

    /// Starts one that speaks TLS, with a certificate that nobody trusts.
    pub(super) fn start_tls() -> Site {
        let shared = Shared::default();
        let asked = Arc::clone(&shared.asked);
        let identity = Authority::new("nobody").sign("127.0.0.1", Validity::Now);
        let server = identity.serve_by(&[], move |stream, stop| serve(stream, stop, &shared));
        Site { server, asked }
    }

    /// The port that it listens on.
    pub(super) fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Takes what was asked so far.
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
    // What was taken is not added to.
    if let Some(requests) = asked.get_mut(number) {
        requests.push(request);
    }
}
