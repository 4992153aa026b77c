//! One request and its answer on an HTTP/1.1 connection of a script.
//!
//! Reads go into a buffer that all connections of a worker share. Must not know why a request is
//! sent. Invariant: a connection is only used again after an answer that was read whole and left
//! nothing behind.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use loadline_model::Nanos;
use loadline_script::hop::HopTls;
use loadline_wire::{Limits, RequestKind, ResponseParser, Reuse, State};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::received::Received;
use crate::clock::Clock;
use crate::exchange::Instants;
use crate::net::{Failure, Stage, Stream};
use crate::vu::slot::{Stop, Watch};

/// Go's bounds on an answer's head: ten megabytes, however many lines.
const LIMITS: Limits = Limits {
    head_bytes: 10 << 20,
    header_count: 100_000,
    interim_count: 64,
    chunk_line_bytes: 4 * 1024,
    trailer_bytes: 64 * 1024,
};

/// What an exchange borrows from its client.
pub(super) struct Around<'a> {
    pub(super) clock: &'a Clock,
    pub(super) watch: &'a Watch<'a>,
    pub(super) scratch: &'a RefCell<Box<[u8]>>,
}

/// The bytes of a request.
pub(super) struct Message<'a> {
    pub(super) kind: RequestKind,
    /// The head, and a short body behind it.
    pub(super) head: &'a [u8],
    /// A body that is not behind the head.
    pub(super) body: &'a [u8],
}

/// Why an exchange has no answer.
pub(super) enum Broken {
    Stopped(Stop),
    Failed {
        failure: Failure,
        /// Whether the connection just ended: no byte of an answer came.
        is_silent: bool,
        /// Whether not even a byte of the request could be sent.
        is_unsent: bool,
    },
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Broken {
        Broken::Stopped(stop)
    }
}

/// One connection.
pub(super) struct Http1 {
    stream: Stream,
    parser: ResponseParser,
    pub(super) remote: SocketAddr,
    pub(super) tls: Option<HopTls>,
    /// Requests sent on it so far.
    pub(super) requests: u64,
}

impl Http1 {
    pub(super) fn new(stream: Stream, remote: SocketAddr, tls: Option<HopTls>) -> Http1 {
        Http1 {
            stream,
            parser: ResponseParser::new(LIMITS),
            remote,
            tls,
            requests: 0,
        }
    }

    /// Whether the peer has closed, or sent something, while nothing was asked; costs no system
    /// call when nothing has happened.
    pub(super) fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0_u8; 1];
        let mut buffer = ReadBuf::new(&mut byte);
        Pin::new(&mut self.stream)
            .poll_read(cx, &mut buffer)
            .is_ready()
    }

    /// Sends a message and reads its answer; gives whether the connection serves again.
    pub(super) async fn exchange(
        &mut self,
        around: &Around<'_>,
        message: Message<'_>,
        received: &mut Received,
        instants: &mut Instants,
    ) -> Result<bool, Broken> {
        self.requests += 1;
        self.parser.start(message.kind);
        let mut sent = 0;
        let mut sending = self.send_all(around, message.head, &mut sent).await;
        if sending.is_ok() && !message.body.is_empty() {
            sending = self.send_all(around, message.body, &mut sent).await;
        }
        instants.sent = around.clock.now();
        instants.sent_bytes = sent as u64;
        let unsent = match sending {
            Ok(()) => None,
            Err(Sending::Stopped(stop)) => return Err(stop.into()),
            Err(Sending::Failed(error)) => Some(error),
        };
        let outcome = poll_fn(|cx| self.poll_answer(cx, around, received, instants)).await;
        match (outcome, unsent) {
            (Ok(reuse), None) => Ok(reuse == Reuse::KeepAlive),
            // The peer answered without reading the whole request: an answer it is.
            (Ok(_), Some(_)) => Ok(false),
            (Err(Broken::Failed { is_silent, .. }), Some(error)) => Err(Broken::Failed {
                failure: self.broken_stream(Stage::Sending, &error),
                is_silent,
                is_unsent: sent == 0,
            }),
            (Err(broken), _) => Err(broken),
        }
    }

    async fn send_all(
        &mut self,
        around: &Around<'_>,
        bytes: &[u8],
        sent: &mut usize,
    ) -> Result<(), Sending> {
        let mut left = bytes;
        poll_fn(|cx| {
            around.watch.check(cx).map_err(Sending::Stopped)?;
            while !left.is_empty() {
                match ready!(Pin::new(&mut self.stream).poll_write(cx, left)) {
                    Ok(0) => {
                        let broken = io::Error::from_raw_os_error(libc::EPIPE);
                        return Poll::Ready(Err(Sending::Failed(broken)));
                    }
                    Ok(length) => {
                        left = &left[length..];
                        *sent += length;
                    }
                    Err(error) => return Poll::Ready(Err(Sending::Failed(error))),
                }
            }
            let flushed = Pin::new(&mut self.stream).poll_flush(cx);
            flushed.map_err(Sending::Failed)
        })
        .await
    }

    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        around: &Around<'_>,
        received: &mut Received,
        instants: &mut Instants,
    ) -> Poll<Result<Reuse, Broken>> {
        loop {
            around.watch.check(cx)?;
            let mut scratch = around.scratch.borrow_mut();
            let mut buffer = ReadBuf::new(&mut scratch);
            let outcome = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let bytes = buffer.filled();
            let now = around.clock.now();
            let began = instants.first_byte != Nanos::ZERO;
            if !bytes.is_empty() && !began {
                instants.first_byte = now;
            }
            instants.done = now;
            let failed = |failure| Broken::Failed {
                failure,
                is_silent: !began && bytes.is_empty(),
                is_unsent: false,
            };
            match outcome {
                // TLS that ends without its closing message ends like anything else, as in Go.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Err(error) => {
                    let failure = self.broken_stream(Stage::Reading, &error);
                    return Poll::Ready(Err(failed(failure)));
                }
                Ok(()) => {}
            }
            match self.take_bytes(bytes, received) {
                Ok(Some(reuse)) => return Poll::Ready(Ok(reuse)),
                Ok(None) => {}
                Err(failure) => return Poll::Ready(Err(failed(failure))),
            }
        }
    }

    /// Feeds what was read to the parser; an empty read is the end of the stream.
    #[inline]
    fn take_bytes(
        &mut self,
        bytes: &[u8],
        received: &mut Received,
    ) -> Result<Option<Reuse>, Failure> {
        if bytes.is_empty() {
            let ended = self.parser.finish();
            return ended
                .map(|()| Some(Reuse::Close))
                .map_err(|error| Failure::wire(&error));
        }
        let progress = self
            .parser
            .feed(bytes, received)
            .map_err(|error| Failure::wire(&error))?;
        Ok(match progress.state {
            // Bytes beyond the end belong to no answer: k6 takes the answer and drops the
            // connection.
            State::Done { .. } if progress.consumed < bytes.len() => Some(Reuse::Close),
            State::Done { reuse } => Some(reuse),
            _ => None,
        })
    }

    #[cold]
    fn broken_stream(&self, stage: Stage, error: &io::Error) -> Failure {
        Failure::on_connection(stage, error, self.stream.local_addr()).at(Some(self.remote))
    }
}

/// Why not all of a request could be sent.
enum Sending {
    Stopped(Stop),
    Failed(io::Error),
}
