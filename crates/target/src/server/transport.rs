//! The byte stream of a connection: plain or TLS.
//!
//! It must not know HTTP. Invariant: while a write is blocked, the connection's record says since when, so that
//! the worker's sweep can close clients that never read.

use super::connection::Connection;
use crate::testbed::{CounterSlot, Tally};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// A stream and the record of its connection.
pub(crate) struct Transport {
    stream: Stream,
    connection: Arc<Connection>,
    /// Where bytes are counted, in a testbed.
    tally: Option<Arc<Tally>>,
}

/// The two kinds of stream.
pub(crate) enum Stream {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS on TCP.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// Joins a stream, its record, and the counters of a testbed.
    pub(crate) fn new(
        stream: Stream,
        connection: Arc<Connection>,
        tally: Option<Arc<Tally>>,
    ) -> Self {
        Self {
            stream,
            connection,
            tally,
        }
    }

    /// Makes the coming close a reset: nothing that is still unsent will be sent.
    pub(crate) fn reset_on_close(&self) {
        let tcp = match &self.stream {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0,
        };
        // A socket that refuses the option is closed the ordinary way.
        drop(socket2::SockRef::from(tcp).set_linger(Some(Duration::ZERO)));
    }

    fn noted<T>(&self, result: Poll<T>) -> Poll<T> {
        self.connection.note_write(result.is_pending());
        result
    }

    fn written(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let (Some(tally), Poll::Ready(Ok(bytes))) = (&self.tally, &result) {
            tally.add(CounterSlot::BytesOut, *bytes as u64);
        }
        self.noted(result)
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Stream::Tls(tls) => Pin::new(tls).poll_read(cx, buffer),
        };
        if let Some(tally) = &self.tally {
            tally.add(
                CounterSlot::BytesIn,
                (buffer.filled().len() - before) as u64,
            );
        }
        result
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(cx, buffer),
            Stream::Tls(tls) => Pin::new(tls).poll_write(cx, buffer),
        };
        self.written(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, buffers),
            Stream::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, buffers),
        };
        self.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(tcp) => tcp.is_write_vectored(),
            Stream::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Tls(tls) => {
                let result = Pin::new(tls).poll_flush(cx);
                self.noted(result)
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
