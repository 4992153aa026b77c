//! The byte streams of requests, their byte counts, and their read delay.
//!
//! Must not know TLS settings or HTTP. Invariant: every byte through a socket is counted once, below TLS, so
//! the counts are those on the wire.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use loadline_metric::Summary;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use crate::platform::{TcpFacts, poll_read_stamped, stamp_arrivals, tcp_facts};

/// Bytes through the sockets of a worker, or of one of its virtual users.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    sent: Cell<u64>,
    received: Cell<u64>,
    /// How late a worker's sockets are read; a virtual user's count there.
    delays: ReadDelays,
    /// Where the same bytes count too.
    whole: Option<Rc<WireBytes>>,
}

/// Read delays of a worker: how long data waits in the kernel until the worker reads it. Reads are sampled
/// evenly, about the same number in each interval, however many there are.
#[derive(Debug, Default)]
struct ReadDelays {
    seen: RefCell<Summary>,
    reads: Cell<u64>,
    /// Every n-th read is sampled; zero: each.
    every: Cell<u64>,
}

impl ReadDelays {
    /// Reads to sample in an interval.
    const SAMPLES: u64 = 64;
    /// At least one in this many reads is sampled, however few there were before.
    const EVERY_MAX: u64 = 256;

    #[inline]
    fn poll_read(
        &self,
        stream: &mut TcpStream,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = match self.is_next_sampled() {
            true => poll_read_stamped(stream, cx, buffer).map_ok(|delay_ns| self.record(delay_ns)),
            false => Pin::new(stream).poll_read(cx, buffer),
        };
        if outcome.is_ready() {
            self.reads.set(self.reads.get() + 1);
        }
        outcome
    }

    #[inline]
    fn is_next_sampled(&self) -> bool {
        let every = self.every.get();
        every <= 1 || self.reads.get().is_multiple_of(every)
    }

    fn record(&self, delay_ns: Option<u64>) {
        if let Some(delay_ns) = delay_ns {
            self.seen.borrow_mut().record(delay_ns);
        }
    }

    fn take(&self) -> Summary {
        let every = (self.reads.take() / ReadDelays::SAMPLES).min(ReadDelays::EVERY_MAX);
        self.every.set(every);
        self.seen.take()
    }
}

impl WireBytes {
    /// A separate count whose bytes also count in `whole`.
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

    /// Bytes sent and received since the last call.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    /// Read delays since the last call, in nanoseconds.
    pub(crate) fn take_read_delays(&self) -> Summary {
        self.delays.take()
    }

    #[inline]
    fn delays(&self) -> &ReadDelays {
        match &self.whole {
            Some(whole) => whole.delays(),
            None => &self.delays,
        }
    }
}

enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// First received bytes that are remembered: enough to distinguish plain text from TLS.
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
        stamp_arrivals(&stream);
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

    /// The first bytes received, up to five.
    pub(crate) fn first_bytes(&self) -> &[u8] {
        &self.first[..usize::from(self.first_count)]
    }

    /// The local address; `None` if there is none any more.
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
        let Socket { kind, bytes, .. } = &mut *self;
        let outcome = match kind {
            Kind::Tcp(stream) => bytes.delays().poll_read(stream, cx, buffer),
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
    /// The local address; `None` if there is none any more.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match self {
            Stream::Plain(socket) => socket.local_addr(),
            Stream::Tls(stream) => stream.get_ref().0.local_addr(),
        }
    }

    /// The kernel's data on the connection.
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Two sockets that are connected, the first of which counts.
    async fn pair(bytes: &Rc<WireBytes>) -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stream = TcpStream::connect(address).await.expect("connected");
        let (peer, _) = listener.accept().await.expect("accepted");
        (Socket::tcp(stream, Rc::clone(bytes)), peer)
    }

    fn block_on<T>(act: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        runtime.expect("a runtime").block_on(act)
    }

    #[test]
    fn bytes_and_read_delays_of_a_user_count_on_its_worker() {
        block_on(async {
            let worker = Rc::new(WireBytes::default());
            let user = Rc::new(WireBytes::within(Rc::clone(&worker)));
            let (mut socket, mut peer) = pair(&user).await;
            socket.write_all(b"ask").await.expect("sent");
            peer.read_exact(&mut [0; 3]).await.expect("received");
            // The kernel starts to stamp with some delay.
            let mut answers = 0;
            while answers < 10_000 && worker.delays.seen.borrow().count() == 0 {
                peer.write_all(b"answer").await.expect("sent");
                let mut answer = [0; 6];
                socket.read_exact(&mut answer).await.expect("received");
                assert_eq!(&answer, b"answer");
                answers += 1;
            }
            drop(peer);
            assert_eq!(socket.read(&mut [0; 6]).await.expect("the end"), 0);
            assert_eq!(user.take(), (3, 6 * answers));
            assert_eq!(worker.take(), (3, 6 * answers));
            assert_eq!(user.take_read_delays().count(), 0);
            let known = u64::from(cfg!(target_os = "linux"));
            assert_eq!(worker.take_read_delays().count(), known);
        });
    }

    #[test]
    fn of_many_reads_about_as_many_are_sampled_as_of_few() {
        let delays = ReadDelays::default();
        let sampled = |reads: u64| {
            (0..reads)
                .filter(|_| {
                    let sampled = delays.is_next_sampled();
                    delays.reads.set(delays.reads.get() + 1);
                    sampled
                })
                .count()
        };
        assert_eq!(
            sampled(1_280),
            1_280,
            "nothing is known of the first interval"
        );
        delays.take();
        assert_eq!(sampled(1_280), 64);
        delays.take();
        assert_eq!(sampled(10), 1, "fewer than before");
        delays.take();
        assert_eq!(sampled(10), 10);
    }
}
