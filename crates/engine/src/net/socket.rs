//! The byte streams that requests travel on, and the count of their bytes.
//!
//! Must not know TLS settings or HTTP. Invariant: every byte that passes a socket is counted once,
//! below TLS, so that the counts are what was on the wire.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use crate::platform::{TcpFacts, tcp_facts};

/// Bytes that passed the sockets of a worker.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl WireBytes {
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

/// A socket that counts.
pub(crate) struct Socket {
    kind: Kind,
    bytes: Rc<WireBytes>,
}

impl Socket {
    pub(crate) fn tcp(stream: TcpStream, bytes: Rc<WireBytes>) -> Socket {
        Socket {
            kind: Kind::Tcp(stream),
            bytes,
        }
    }

    #[cfg(unix)]
    pub(crate) fn unix(stream: UnixStream, bytes: Rc<WireBytes>) -> Socket {
        Socket {
            kind: Kind::Unix(stream),
            bytes,
        }
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
        let received = &self.bytes.received;
        received.set(received.get() + (buffer.filled().len() - before) as u64);
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
            self.bytes.sent.set(self.bytes.sent.get() + *sent as u64);
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
