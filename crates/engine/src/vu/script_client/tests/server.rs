//! Servers that follow a list of acts on each connection.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::url::Origin;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// One thing that a server does on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// Reads a request.
    Read,
    Send(&'static [u8]),
    /// Responds to every request, for ever.
    Answer(&'static str),
    /// Lets time pass.
    Pause(Duration),
    /// Ends the connection abruptly.
    Reset,
    /// Does nothing more, and keeps the connection.
    Hold,
}

/// What a server saw.
#[derive(Default)]
pub(super) struct Seen {
    connections: Cell<usize>,
    last_peer: Cell<Option<SocketAddr>>,
    requests: RefCell<Vec<String>>,
    body_bytes: Cell<usize>,
    asked: Notify,
}

/// A server; its connections end after the acts.
pub(super) struct Server {
    pub(super) origin: Arc<Origin>,
    pub(super) address: SocketAddr,
    seen: Rc<Seen>,
}

impl Server {
    /// Each connection follows the next list; the last serves all that come after.
    pub(super) async fn start<const N: usize>(lists: [Vec<Act>; N]) -> Server {
        let (listener, address) = listen().await;
        let seen = Rc::new(Seen::default());
        let notes = Rc::clone(&seen);
        tokio::task::spawn_local(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let number = notes.connections.get();
                notes.connections.set(number + 1);
                notes.last_peer.set(Some(peer));
                let acts = lists[number.min(N - 1)].clone();
                let notes = Rc::clone(&notes);
                tokio::task::spawn_local(async move { follow(stream, &acts, &notes).await });
            }
        });
        Server {
            origin: super::origin(&format!("http://{address}/")),
            address,
            seen,
        }
    }

    /// Responds to every request in the same way.
    pub(super) async fn answering(text: &'static str) -> Server {
        Server::start([vec![Act::Answer(text)]]).await
    }

    pub(super) fn connections(&self) -> usize {
        self.seen.connections.get()
    }

    /// The other end of the last connection.
    pub(super) fn last_peer(&self) -> Option<SocketAddr> {
        self.seen.last_peer.get()
    }

    /// The heads of the requests so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.seen.requests.borrow().clone()
    }

    pub(super) fn body_bytes(&self) -> usize {
        self.seen.body_bytes.get()
    }

    /// Waits until a request has arrived.
    pub(super) fn first_request(&self) -> impl Future<Output = ()> + use<> {
        let seen = Rc::clone(&self.seen);
        async move {
            while seen.requests.borrow().is_empty() {
                seen.asked.notified().await;
            }
        }
    }
}

pub(super) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback has a free port");
    let address = listener.local_addr().expect("it listens");
    (listener, address)
}

async fn follow(mut stream: TcpStream, acts: &[Act], seen: &Seen) {
    for act in acts {
        match act {
            Act::Read => {
                read(&mut stream, seen).await;
            }
            Act::Send(bytes) => stream.write_all(bytes).await.expect("the client listens"),
            Act::Answer(text) => {
                answer_all(&mut stream, text, seen).await;
            }
            Act::Pause(time) => tokio::time::sleep(*time).await,
            Act::Reset => {
                let stream = socket2::SockRef::from(&stream);
                let now = Some(Duration::ZERO);
                stream.set_linger(now).expect("a socket may be reset");
                return;
            }
            Act::Hold => std::future::pending().await,
        }
    }
}

/// Answers every request of a connection.
pub(super) async fn answer_all(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    text: &str,
    seen: &Seen,
) {
    while read(stream, seen).await {
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads a request with its body; false at the end.
async fn read(stream: &mut (impl AsyncRead + Unpin), seen: &Seen) -> bool {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.split("Content-Length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
    let mut body = bytes.len() - end;
    while body < length.unwrap_or(0) {
        let mut piece = [0; 16_384];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return false,
            Ok(more) => body += more,
        }
    }
    seen.body_bytes.set(seen.body_bytes.get() + body);
    seen.requests.borrow_mut().push(head);
    seen.asked.notify_waiters();
    true
}
