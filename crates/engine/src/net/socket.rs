//! The byte streams that requests travel on, and the count of their bytes.
//!
//! Must not know TLS settings or HTTP. Invariant: every byte that passes a socket is counted once,
//! below TLS, so that the counts are what was on the wire.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use crate::platform::{TcpFacts, tcp_facts};

/// Bytes that passed the sockets of a worker, or of one virtual user of it.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    sent: Cell<u64>,
    received: Cell<u64>,
    /// Where the same bytes count too.
    whole: Option<Rc<WireBytes>>,
}

impl WireBytes {
    /// A count of its own whose bytes count in `whole` too.
    pub(crate) fn within(whole: Rc<WireBytes>) -> WireBytes {
        WireBytes {
            whole: Some(whole),
            ..WireBytes::default()
        }
    }

    #[inline]
    fn add(&self, sent: u64, received: u64) {
        self.sent.set(self.sent.get() + sent);
        self.received.set(self.received.get() + received);
        if let Some(whole) = &self.whole {
            whole.add(sent, received);
        }
    }

    /// What was sent and received since the last call.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }
}

enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// First bytes received that are remembered: enough to tell an answer in clear text from TLS.
const FIRST_BYTES: usize = 5;

/// A socket that counts.
pub(crate) struct Socket {
    kind: Kind,
    bytes: Rc<WireBytes>,
    first: [u8; FIRST_BYTES],
    first_count: u8,
}

impl Socket {
    pub(crate) fn tcp(stream: TcpStream, bytes: Rc<WireBytes>) -> Socket {
        Socket {
            kind: Kind::Tcp(stream),
            bytes,
            first: [0; FIRST_BYTES],
            first_count: 0,
        }
    }

    #[cfg(unix)]
    pub(crate) fn unix(stream: UnixStream, bytes: Rc<WireBytes>) -> Socket {
        Socket {
            kind: Kind::Unix(stream),
            bytes,
            first: [0; FIRST_BYTES],
            first_count: 0,
        }
    }

    /// The first bytes that came, up to five.
    pub(crate) fn first_bytes(&self) -> &[u8] {
        &self.first[..usize::from(self.first_count)]
    }

    /// This end's address; `None` when it has none any more.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match &self.kind {
            Kind::Tcp(stream) => stream.local_addr().ok(),
            #[cfg(unix)]
            Kind::Unix(_) => None,
        }
    }

    #[cold]
    fn remember_first(&mut self, received: &[u8]) {
        let have = usize::from(self.first_count);
        let room = received.len().min(FIRST_BYTES - have);
        self.first[have..have + room].copy_from_slice(&received[..room]);
        self.first_count += room as u8;
    }

    fn facts(&self) -> Option<TcpFacts> {
        match &self.kind {
            Kind::Tcp(stream) => tcp_facts(stream),
            #[cfg(unix)]
            Kind::Unix(_) => None,
        }
    }
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = match &mut self.kind {
            Kind::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            #[cfg(unix)]
            Kind::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        let received = &buffer.filled()[before..];
        self.bytes.add(0, received.len() as u64);
        if usize::from(self.first_count) < FIRST_BYTES {
            self.remember_first(received);
        }
        outcome
    }
}

impl AsyncWrite for Socket {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = match &mut self.kind {
            Kind::Tcp(stream) => Pin::new(stream).poll_write(cx, data),
            #[cfg(unix)]
            Kind::Unix(stream) => Pin::new(stream).poll_write(cx, data),
        };
        if let Poll::Ready(Ok(sent)) = &outcome {
            self.bytes.add(*sent as u64, 0);
        }
        outcome
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.kind {
            Kind::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            #[cfg(unix)]
            Kind::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// A plain or encrypted stream.
pub(crate) enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

impl Stream {
    /// This end's address; `None` when it has none any more.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match self {
            Stream::Plain(socket) => socket.local_addr(),
            Stream::Tls(stream) => stream.get_ref().0.local_addr(),
        }
    }

    /// What the kernel knows of the connection.
    pub(crate) fn facts(&self) -> Option<TcpFacts> {
        match self {
            Stream::Plain(socket) => socket.facts(),
            Stream::Tls(stream) => stream.get_ref().0.facts(),
        }
    }
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, data),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    #[inline]
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, pieces),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
